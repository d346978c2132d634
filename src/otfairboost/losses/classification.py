"""Losses of probabilities: the response is the sigmoid of the raw prediction."""

import math
from typing import Literal

import numpy as np
from numba import njit
from scipy import special

from otfairboost.losses.base import Array, Float32, Float64, Loss, refuse_target, weighted_mean
from otfairboost.losses.exponential import BLOCK, exponential


class LogLoss(Loss):
    r"""Binary log-loss, :math:`\log(1 + e^F) - y F`; hessian exact.

    Parameters
    ----------
    rate : float
        The base rate, which only says how steep probabilities are in log-odds on average.
    """

    name = "binary"
    link: Literal["logit"] = "logit"

    def __init__(self, rate: float = 0.5) -> None:
        self.average_slope = rate * (1.0 - rate)

    @classmethod
    def for_target(cls, y: Float32, weight: Float32) -> "LogLoss":
        """Return the loss with the base rate of this target."""
        return cls(weighted_mean(y, weight))

    @property
    def model_line(self) -> str:
        """Return what a saved LightGBM model says of its objective."""
        return "binary sigmoid:1" if self.name == "binary" else self.name

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the log-odds of the weighted base rate."""
        rate = weighted_mean(y, weight)
        rate = min(max(rate, 1e-15), 1.0 - 1e-15)
        return math.log(rate / (1.0 - rate))

    def write_response(self, raw: Float64, offset: float, response: Float64) -> bool:
        """Write probabilities; return whether all raw predictions are finite."""
        return bool(_write_probabilities(raw, offset, response))

    def raw_prediction(self, response: Float64) -> Float64:
        """Return log-odds; a probability of exactly 0 or 1 stays finite."""
        limits = np.finfo(np.float64)
        return np.asarray(special.logit(np.clip(response, limits.tiny, 1.0 - limits.epsneg)))

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write p - y and p (1 - p)."""
        _log_loss(y, response, weight, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the log-loss of each row."""
        return np.logaddexp(0.0, raw) - y * raw


class CrossEntropy(LogLoss):
    """The log-loss of targets that may be any share from 0 to 1."""

    name = "cross_entropy"

    def check_target(self, y: Float32, name: str) -> None:
        """Raise for targets that are no shares."""
        refuse_target(y, (y < 0) | (y > 1), name, self.name, "numbers from 0 to 1")


# Numba's cache does not see changes in what is inlined here: who edits exponential has to touch this file too.
@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _write_probabilities(raw: Array, offset: float, response: Array) -> bool:
    """Write 1 / (1 + exp(-F))."""
    infinite = 0
    block = np.empty(BLOCK)  # the response may take the place of the raw prediction
    for start in range(0, len(raw), BLOCK):
        n = min(BLOCK, len(raw) - start)
        for i in range(n):
            block[i] = -(raw[start + i] + offset)
        for i in range(n):
            infinite += not abs(block[i]) < np.inf
            response[start + i] = 1.0 / (1.0 + exponential(block[i]))
    return infinite == 0


@njit(nogil=True, cache=True)
def _log_loss(y: Array, p: Array, weight: Array, grad: Array, hess: Array) -> None:
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        grad[i] = w * (p[i] - y[i])
        hess[i] = w * p[i] * (1.0 - p[i])
