"""What a loss is."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Offset = float | Float64
Link = Literal["identity", "logit", "log", "softmax"]
ScoreSpace = Literal["response", "link"]
SCORE_SPACES: tuple[str, ...] = ("response", "link")


class Loss(ABC):
    """One loss.

    Attributes
    ----------
    name : str
        LightGBM's name of the objective.
    link : {"identity", "logit", "log", "softmax"}
        Of what response the raw prediction is the value.
    n_outputs : int
        Raw predictions of a row. Where there are several, arrays of raw predictions, responses and derivatives are
        of shape (n_outputs, n_rows).
    penalty_unit : float
        What a squared distance between responses is multiplied by to be comparable with the loss.
    average_slope : float
        The slope of the response in the raw prediction at the target's average.
    """

    name: ClassVar[str]
    link: Link = "identity"
    n_outputs: int = 1
    penalty_unit: float = 1.0
    average_slope: float = 1.0

    @property
    def model_line(self) -> str:
        """Return what a saved LightGBM model says of its objective."""
        return self.name

    def penalty_scale(self, space: ScoreSpace) -> float:
        """Return the factor of the squared distance between scores of this space.

        To first order a distance between raw predictions is one between responses over the link's slope, so with this
        factor a fairness weight means about the same in both spaces.
        """
        return self.penalty_unit * (self.average_slope**2 if space == "link" else 1.0)

    def check_target(self, y: Float32, name: str) -> None:  # noqa: B027
        """Raise for targets that the loss is not defined for; ``name`` is what to call them."""

    @abstractmethod
    def initial_score(self, y: Float32, weight: Float32) -> Offset:
        """Return the constant raw prediction to start from, as LightGBM's ``boost_from_average`` chooses it.

        One number, or one for each output where there are several.
        """

    def write_response(self, raw: Float64, offset: Any, response: Float64) -> bool:
        """Write the responses of raw predictions plus an offset; return whether all of these are finite.

        Here the response is the raw prediction itself.
        """
        return bool(_shift(raw, offset, response))

    def raw_prediction(self, response: Float64) -> Float64:
        """Return the raw predictions of responses."""
        return response

    @abstractmethod
    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write gradient and hessian of each row in its raw prediction, times its weight."""

    @abstractmethod
    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the loss of each row."""

    def value(self, y: Float32, raw: Float64, weight: Float32) -> float:
        """Return the weighted mean loss."""
        values = self.row_values(y, raw)
        return float(np.average(values, weights=weight if len(weight) else None))


def refuse_target(y: Float32, wrong: NDArray[np.bool_], name: str, objective: str, allowed: str) -> None:
    """Raise if any row's target is wrong, naming the first."""
    if wrong.any():
        raise ValueError(
            f"{name} must be {allowed} with objective={objective!r}, got {y[wrong][0]:g} "
            f"({np.count_nonzero(wrong)} such rows)"
        )


def weighted_mean(y: Float32, weight: Float32) -> float:
    """Return the mean in double precision."""
    return float(np.average(y.astype(np.float64), weights=weight if len(weight) else None))


def weighted_quantile(y: Float32, weight: Array, level: float) -> float:
    """Return a quantile: interpolated without weights, as LightGBM's; with weights the target where it is reached.

    With weights LightGBM's lies between that target and its neighbours.
    """
    if not len(weight):
        return float(np.quantile(y.astype(np.float64), level))
    order = np.argsort(y, kind="stable")
    cumulated = np.cumsum(weight[order], dtype=np.float64)
    return float(y[order[np.searchsorted(cumulated, level * cumulated[-1])]])


@njit(nogil=True, cache=True)
def _shift(raw: Array, offset: float, response: Array) -> bool:
    """Write raw predictions plus an offset; return whether all of these are finite."""
    infinite = 0
    for i in range(len(raw)):
        response[i] = raw[i] + offset
        infinite += not abs(response[i]) < np.inf
    return infinite == 0
