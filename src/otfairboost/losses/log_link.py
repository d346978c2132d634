r"""Losses of counts and amounts: the response is the exponential of the raw prediction.

All three are deviances of variance :math:`\mu^\rho` (up to terms in y alone): :math:`\rho` is 1 for Poisson, 2 for
gamma and between the two for Tweedie. Their curvature in the response is :math:`\mu^{-\rho}` around :math:`\mu = y`,
while that of half a squared error is 1. A squared distance between groups is therefore multiplied by
:math:`\bar y^{-\rho}`: a fairness weight then means the same as with squared error, whatever the target's unit.
"""

import math
from typing import Any, Literal

import numpy as np
from numba import njit

from otfairboost.losses.base import Array, Float32, Float64, Loss, refuse_target, weighted_mean
from otfairboost.losses.exponential import BLOCK, LARGEST, exponential


class LogLinkLoss(Loss):
    """What the three have in common.

    Parameters
    ----------
    average : float
        The target's mean.
    power : float
        That of the variance.
    """

    link: Literal["log"] = "log"

    def __init__(self, average: float, power: float) -> None:
        self.power = float(power)
        self.average_slope = max(float(average), 1e-30)
        self.penalty_unit = self.average_slope**-self.power

    @classmethod
    def for_target(cls, y: Float32, weight: Float32, **parameters: Any) -> "LogLinkLoss":
        """Return the loss with the mean of this target."""
        return cls(weighted_mean(y, weight), **parameters)

    def check_target(self, y: Float32, name: str) -> None:
        """Raise for negative targets, and where all are zero."""
        refuse_target(y, y < 0, name, self.name, "numbers >= 0")
        if not y.any() and name == "y":
            raise ValueError(f"y is zero for every row; with objective={self.name!r} at least one must be positive")

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the logarithm of the weighted mean."""
        return math.log(weighted_mean(y, weight))

    def write_response(self, raw: Float64, offset: float, response: Float64) -> bool:
        """Write exponentials; return whether these and the raw predictions are finite."""
        return bool(_write_exponentials(raw, offset, response))

    def raw_prediction(self, response: Float64) -> Float64:
        """Return logarithms; a response of 0 stays finite."""
        return np.log(np.maximum(response, np.finfo(np.float64).tiny))


class PoissonLoss(LogLinkLoss):
    r"""Poisson deviance of counts, :math:`e^F - y F`.

    The hessian is the exact one, :math:`e^F`, times :math:`e^{\delta}` with :math:`\delta` LightGBM's
    ``poisson_max_delta_step``, which slows steps down as in LightGBM.
    """

    name = "poisson"

    def __init__(self, average: float, poisson_max_delta_step: float = 0.7) -> None:
        if not (math.isfinite(poisson_max_delta_step) and poisson_max_delta_step > 0):
            raise ValueError(
                f"poisson_max_delta_step={poisson_max_delta_step!r} of objective='poisson' must be a positive number"
            )
        super().__init__(average, 1.0)
        self.poisson_max_delta_step = float(poisson_max_delta_step)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write exp(F) - y and exp(F + delta)."""
        _poisson(y, response, weight, math.exp(self.poisson_max_delta_step), grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the loss of each row."""
        return np.exp(raw) - y * raw


class GammaLoss(LogLinkLoss):
    r"""Gamma deviance of positive amounts, :math:`y e^{-F} + F`; hessian exact."""

    name = "gamma"

    def __init__(self, average: float) -> None:
        super().__init__(average, 2.0)

    def check_target(self, y: Float32, name: str) -> None:
        """Raise for targets that are not positive."""
        refuse_target(y, y <= 0, name, self.name, "positive numbers")

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write 1 - y exp(-F) and y exp(-F)."""
        _gamma(y, response, weight, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the loss of each row."""
        return y * np.exp(-raw) + raw


class TweedieLoss(LogLinkLoss):
    r"""Tweedie deviance of amounts with many zeros; hessian exact.

    .. math:: \frac{e^{(2 - \rho) F}}{2 - \rho} - y\,\frac{e^{(1 - \rho) F}}{1 - \rho}

    with :math:`\rho` ``tweedie_variance_power``; at :math:`\rho = 1` the Poisson deviance, its limit up to a constant.
    """

    name = "tweedie"

    def __init__(self, average: float, tweedie_variance_power: float = 1.5) -> None:
        if not 1 <= tweedie_variance_power < 2:
            raise ValueError(
                f"tweedie_variance_power={tweedie_variance_power!r} of objective='tweedie' must be a number from 1 to "
                "below 2"
            )
        super().__init__(average, tweedie_variance_power)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write both derivatives of the formula above."""
        _tweedie(y, response, weight, self.power, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the loss of each row."""
        first = 1.0 - self.power
        of_target = y * raw if first == 0.0 else y * np.exp(first * raw) / first
        return np.exp((1.0 + first) * raw) / (1.0 + first) - of_target


# Numba's cache does not see changes in what is inlined here: who edits exponential has to touch this file too.
@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _write_exponentials(raw: Array, offset: float, response: Array) -> bool:
    """Write exp(F); return whether F is a number, and not so large that this overflows."""
    infinite = 0
    block = np.empty(BLOCK)  # the response may take the place of the raw prediction
    for start in range(0, len(raw), BLOCK):
        n = min(BLOCK, len(raw) - start)
        for i in range(n):
            block[i] = raw[start + i] + offset
        for i in range(n):
            infinite += not block[i] < LARGEST
            infinite += not block[i] > -np.inf
            response[start + i] = exponential(block[i])
    return infinite == 0


@njit(nogil=True, cache=True)
def _poisson(y: Array, response: Array, weight: Array, factor: float, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        grad[i] = w * (response[i] - y[i])
        hess[i] = w * factor * response[i]


@njit(nogil=True, cache=True, error_model="numpy")
def _gamma(y: Array, response: Array, weight: Array, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        ratio = y[i] / response[i]
        grad[i] = w * (1.0 - ratio)
        hess[i] = w * ratio


@njit(nogil=True, cache=True, error_model="numpy")
def _tweedie(y: Array, response: Array, weight: Array, rho: float, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        # Half powers, as LightGBM's default has, by roots: a tenth of the time.
        of_target = 1.0 / math.sqrt(response[i]) if rho == 1.5 else response[i] ** (1.0 - rho)
        of_response = of_target * response[i]
        of_target *= y[i]
        grad[i] = w * (of_response - of_target)
        hess[i] = w * ((2.0 - rho) * of_response - (1.0 - rho) * of_target)
