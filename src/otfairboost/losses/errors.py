"""Losses of residuals that are quadratic near zero: squared error, Huber's and the fair loss."""

import math

import numpy as np
from numba import njit

from otfairboost.losses.base import Array, Float32, Float64, Loss, weighted_mean


class SquaredError(Loss):
    r"""Half the squared error, :math:`(F - y)^2 / 2`; hessian exact."""

    name = "regression"

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted mean."""
        return weighted_mean(y, weight)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write F - y and 1."""
        _huber(y, response, weight, math.inf, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return half the squared error of each row."""
        return 0.5 * np.square(raw - y)


class HuberLoss(Loss):
    """Squared error up to a residual of ``alpha``, linear beyond; hessian 1 throughout, as in LightGBM."""

    name = "huber"

    def __init__(self, alpha: float = 0.9) -> None:
        if not (math.isfinite(alpha) and alpha > 0):
            raise ValueError(f"alpha={alpha!r} of objective='huber' must be a positive number")
        self.alpha = float(alpha)

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted mean."""
        return weighted_mean(y, weight)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write the clipped residual and 1."""
        _huber(y, response, weight, self.alpha, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the Huber loss of each row."""
        residual = np.abs(raw - y)
        return np.where(residual <= self.alpha, 0.5 * residual * residual, self.alpha * (residual - 0.5 * self.alpha))


class FairLoss(Loss):
    r"""The fair loss of robust statistics, :math:`c\,|r| - c^2 \log(1 + |r| / c)`; hessian exact.

    Its name has nothing to do with fairness between groups. ``fair_c`` is :math:`c`: the residual from which on the
    loss grows linearly rather than quadratically.
    """

    name = "fair"

    def __init__(self, fair_c: float = 1.0) -> None:
        if not (math.isfinite(fair_c) and fair_c > 0):
            raise ValueError(f"fair_c={fair_c!r} of objective='fair' must be a positive number")
        self.fair_c = float(fair_c)

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted mean."""
        return weighted_mean(y, weight)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write c r / (|r| + c) and (c / (|r| + c))^2."""
        _fair(y, response, weight, self.fair_c, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the fair loss of each row."""
        c, residual = self.fair_c, np.abs(raw - y)
        return c * residual - c * c * np.log1p(residual / c)


@njit(nogil=True, cache=True)
def _huber(y: Array, response: Array, weight: Array, alpha: float, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        r = response[i] - y[i]
        r = r if r < alpha else alpha  # min and max would have to care about NaN, and cost ten times as much
        grad[i] = w * (r if r > -alpha else -alpha)
        hess[i] = w


@njit(nogil=True, cache=True)
def _fair(y: Array, response: Array, weight: Array, c: float, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        r = response[i] - y[i]
        share = c / (abs(r) + c)
        grad[i] = w * r * share
        hess[i] = w * share * share
