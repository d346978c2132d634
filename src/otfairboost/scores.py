"""Scores: what the penalty compares, as a function of the response (a probability, or a prediction)."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from otfairboost.transport.grid import MakeGrid, robust_grid, unit_grid

Array = NDArray[Any]
Float = NDArray[np.float64]
IDENTITY, LOGISTIC = 0, 1


class ScoreMap(NamedTuple):
    r"""How a response becomes the score :math:`u` that the penalty compares.

    ``IDENTITY``: the response itself, which is the raw prediction :math:`F`. ``LOGISTIC``: the response is the
    probability :math:`\sigma(F)`, and :math:`u = \sigma(\kappa (F - F_0))`.

    Attributes
    ----------
    kind : int
        ``IDENTITY`` or ``LOGISTIC``.
    steepness : float
        :math:`\kappa`.
    origin : float
        :math:`F_0`.

    Notes
    -----
    Departure from the paper: it compares probabilities, :math:`\kappa = 1` and :math:`F_0 = 0`. A larger
    :math:`\kappa` makes differences near the decision threshold count for more than those far from it.
    """

    kind: int
    steepness: float
    origin: float

    @property
    def is_response(self) -> bool:
        """Return whether scores are responses, so that there is nothing to compute."""
        return self.kind == IDENTITY or (self.steepness == 1.0 and self.origin == 0.0)

    def write(self, response: Float, score: Float) -> None:
        """Write the scores of responses."""
        if self.is_response:
            score[:] = response
        else:
            _sharpen(response, self.steepness, math.exp(self.origin), score)

    def slope(self, score: Float) -> Float:
        """Return du/dF where the score is ``score``."""
        if self.kind == IDENTITY:
            return np.ones_like(score)
        return self.steepness * score * (1.0 - score)

    def curvature(self, score: Float, target: Float) -> Float:
        r"""Return the slope that a step from ``score`` towards ``target`` should reckon with.

        The larger of the tangent's slope and that of the secant, :math:`(u - t) / (F(u) - F(t))`. Where the score
        is saturated the tangent is nearly flat and a Newton step along it would overshoot by far; the secant leads
        to the target exactly. See ``docs/derivations/hessian.md``.
        """
        slope = self.slope(score)
        if self.kind == LOGISTIC:
            _raise_to_secant(score, target, self.steepness, slope)
        return slope

    @property
    def make_grid(self) -> MakeGrid:
        """Return the function that makes a grid for such scores."""
        return robust_grid if self.kind == IDENTITY else unit_grid


IDENTITY_SCORE = ScoreMap(IDENTITY, 1.0, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def _sharpen(p: Array, steepness: float, shift: float, score: Array) -> None:
    """Write 1 / (1 + (shift * (1 - p) / p)^steepness); whole powers by multiplication."""
    whole = int(steepness)
    if whole != steepness or whole > 64:
        whole = 0
    for i in range(len(p)):
        odds = shift * ((1.0 - p[i]) / p[i])
        if whole > 0:
            power = 1.0
            left = whole
            while left > 0:
                if left & 1:
                    power *= odds
                odds *= odds
                left >>= 1
        else:
            power = odds**steepness
        score[i] = 1.0 / (1.0 + power)


@njit(nogil=True, cache=True, error_model="numpy")
def _raise_to_secant(score: Array, target: Array, steepness: float, slope: Array) -> None:
    """Raise slopes to those of the secants where these are steeper: the target less saturated, or across the middle."""
    edge = 1e-15
    for i in range(len(score)):
        u = min(max(score[i], edge), 1.0 - edge)
        t = min(max(target[i], edge), 1.0 - edge)
        if t * (1.0 - t) > 1.05 * u * (1.0 - u) or abs(u - t) > 0.1:  # else nearly the same, or less steep
            secant = steepness * (u - t) / math.log(u * (1.0 - t) / (t * (1.0 - u)))
            slope[i] = max(slope[i], secant)


@njit(nogil=True, cache=True, inline="always")
def slope_at(u: float, kind: int, steepness: float) -> float:
    """Return du/dF where the score is u."""
    if kind == LOGISTIC:
        return steepness * u * (1.0 - u)
    return 1.0
