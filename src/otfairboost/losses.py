"""Base losses: value, gradient and hessian in the raw prediction. They know nothing of groups or trees.

Each carries LightGBM's name. Weights are a float32 array, empty where all rows weigh 1.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


class Loss(ABC):
    """One loss.

    Attributes
    ----------
    name : str
        LightGBM's name of the objective.
    model_line : str
        What a saved LightGBM model says of its objective.
    """

    name: ClassVar[str]
    model_line: ClassVar[str]

    @abstractmethod
    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the constant raw prediction to start from, as LightGBM's ``boost_from_average`` chooses it."""

    def write_response(self, raw: Float64, offset: float, response: Float64) -> bool:
        """Write the responses of raw predictions plus an offset; return whether all of these are finite.

        Here the response is the raw prediction itself.
        """
        np.add(raw, offset, out=response)
        return bool(np.isfinite(response).all())

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


class LogLoss(Loss):
    r"""Binary log-loss, :math:`\log(1 + e^F) - y F`; hessian exact."""

    name = "binary"
    model_line = "binary sigmoid:1"

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the log-odds of the weighted base rate."""
        rate = _weighted_mean(y, weight)
        rate = min(max(rate, 1e-15), 1.0 - 1e-15)
        return math.log(rate / (1.0 - rate))

    def write_response(self, raw: Float64, offset: float, response: Float64) -> bool:
        """Write probabilities; return whether all raw predictions are finite."""
        return bool(_write_probabilities(raw, offset, response))

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write p - y and p (1 - p)."""
        _log_loss(y, response, weight, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the log-loss of each row."""
        return np.logaddexp(0.0, raw) - y * raw


class SquaredError(Loss):
    r"""Half the squared error, :math:`(F - y)^2 / 2`; hessian exact."""

    name = "regression"
    model_line = "regression"

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted mean."""
        return _weighted_mean(y, weight)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write F - y and 1."""
        _huber(y, response, weight, math.inf, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return half the squared error of each row."""
        return 0.5 * np.square(raw - y)


class HuberLoss(Loss):
    """Squared error up to a residual of ``alpha``, linear beyond; hessian 1 throughout, as in LightGBM."""

    name = "huber"
    model_line = "huber"

    def __init__(self, alpha: float = 0.9) -> None:
        if not (math.isfinite(alpha) and alpha > 0):
            raise ValueError(f"alpha={alpha!r} of objective='huber' must be a positive number")
        self.alpha = float(alpha)

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted mean."""
        return _weighted_mean(y, weight)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write the clipped residual and 1."""
        _huber(y, response, weight, self.alpha, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the Huber loss of each row."""
        residual = np.abs(raw - y)
        return np.where(residual <= self.alpha, 0.5 * residual * residual, self.alpha * (residual - 0.5 * self.alpha))


class AbsoluteError(Loss):
    r"""Absolute error times a constant unit, :math:`s\,|F - y|`.

    Parameters
    ----------
    unit : float
        :math:`s`, the target's mean absolute deviation from its median. With it both the loss and the squared
        distance of the penalty are in the square of the target's unit, so that a fairness weight means the same
        whether the target is in cents or in dollars.

    Notes
    -----
    LightGBM renews each leaf to the median of its residuals, which a custom objective cannot. Instead the hessian is
    :math:`s / \max(|r|, 0.3 s)`. For large residuals that is the curvature of the quadratic that touches the loss and
    lies above it, so that a leaf's value is a step of iteratively reweighted least squares towards that median. The
    bound was chosen so that training and test errors follow those of LightGBM from 30 to 300 trees; without one, leaves
    move too slowly. The gradient is the sign of the residual, smoothed below a hundredth of the unit.
    """

    name = "regression_l1"
    model_line = "regression_l1"

    def __init__(self, unit: float) -> None:
        self.unit = float(unit) if unit > 0 else 1.0

    @classmethod
    def for_target(cls, y: Float32, weight: Float32) -> "AbsoluteError":
        """Return the loss with the unit of this target."""
        return cls(_weighted_mean(np.abs(y - _weighted_median(y, weight)).astype(np.float32), weight))

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted median."""
        return _weighted_median(y, weight)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write the residual's sign and the curvature described above."""
        _absolute(y, response, weight, self.unit, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the absolute error of each row, times the unit."""
        return self.unit * np.abs(raw - y)


def _weighted_mean(y: Float32, weight: Float32) -> float:
    return float(np.average(y.astype(np.float64), weights=weight if len(weight) else None))


def _weighted_median(y: Float32, weight: Float32) -> float:
    if not len(weight):
        return float(np.median(y))
    order = np.argsort(y, kind="stable")
    cumulated = np.cumsum(weight[order], dtype=np.float64)
    return float(y[order][np.searchsorted(cumulated, 0.5 * cumulated[-1])])


_LOG2_E = math.log2(math.e)
_LN2_HIGH, _LN2_LOW = (
    0.693147180369123816490,
    1.90821492927058770002e-10,
)  # ln 2; the first ends in 21 zero bits
_ROUND = 1.5 * 2.0**52  # a float near this has no room for fractions: its last bits are a whole number
_TAYLOR = tuple(1.0 / math.factorial(k) for k in range(14))


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _write_probabilities(raw: Array, offset: float, response: Array) -> bool:
    """Write 1 / (1 + exp(-F)), with an exponential of our own that the compiler turns into vector instructions.

    exp(x) = 2^n exp(r) with n whole and abs(r) <= ln(2) / 2, where 13 Taylor terms are exact to the last bit or two.
    """
    infinite = 0
    for i in range(len(raw)):
        x = -(raw[i] + offset)
        infinite += not abs(x) < np.inf
        x = x if x < 700.0 else 700.0  # also catches NaN
        x = x if x > -700.0 else -700.0
        shifted = x * _LOG2_E + _ROUND
        n = shifted - _ROUND
        r = (x - n * _LN2_HIGH) - n * _LN2_LOW
        total = _TAYLOR[13]
        for k in range(12, -1, -1):
            total = total * r + _TAYLOR[k]
        power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
        response[i] = 1.0 / (1.0 + total * power)
    return infinite == 0


@njit(nogil=True, cache=True)
def _log_loss(y: Array, p: Array, weight: Array, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        grad[i] = w * (p[i] - y[i])
        hess[i] = w * p[i] * (1.0 - p[i])


@njit(nogil=True, cache=True)
def _huber(y: Array, response: Array, weight: Array, alpha: float, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        grad[i] = w * min(max(response[i] - y[i], -alpha), alpha)
        hess[i] = w


@njit(nogil=True, cache=True)
def _absolute(y: Array, response: Array, weight: Array, unit: float, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        r = response[i] - y[i]
        grad[i] = w * unit * r / max(abs(r), 0.01 * unit)
        hess[i] = w * unit / max(abs(r), 0.3 * unit)
