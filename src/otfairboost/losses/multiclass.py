r"""The loss of several classes: the responses of a row are the softmax of its raw predictions.

Arrays are class-major, of shape (n_classes, n_rows), as LightGBM keeps them. Kernels take the whole arrays and a range
of rows, so that the compiler knows that rows lie side by side.
"""

from typing import Any, Literal

import numpy as np
from numba import njit
from scipy import special

from otfairboost.losses.base import Array, Float32, Float64, Loss
from otfairboost.losses.exponential import exponential

_BLOCK = 256  # rows whose sums over the classes stay in the fastest cache


class SoftmaxLoss(Loss):
    r"""Log-loss of several classes, :math:`\log \sum_k e^{F_k} - F_y`.

    The exact hessian's diagonal, :math:`p_k (1 - p_k)`, times a factor that slows steps down, because the classes'
    trees of one round do not know of each other: LightGBM's is :math:`K / (K - 1)`, XGBoost's 2.

    Parameters
    ----------
    n_classes : int
        Classes, which the target has as codes from 0.
    hessian_factor : float, optional
        The factor; by default LightGBM's.

    Notes
    -----
    ``penalty_unit`` is a half: with two classes both probabilities are equally far apart between groups, and half of
    the sum is the penalty of the binary loss.
    """

    name = "multiclass"
    link: Literal["softmax"] = "softmax"
    penalty_unit = 0.5

    def __init__(self, n_classes: int, hessian_factor: float | None = None) -> None:
        self.n_outputs = n_classes
        self.hessian_factor = n_classes / (n_classes - 1.0) if hessian_factor is None else hessian_factor

    @property
    def model_line(self) -> str:
        """Return what a saved LightGBM model says of its objective."""
        return f"multiclass num_class:{self.n_outputs}"

    def initial_score(self, y: Float32, weight: Float32) -> Float64:
        """Return the logarithm of each class's share."""
        mass = np.bincount(y.astype(np.intp), weight if len(weight) else None, minlength=self.n_outputs)
        return np.log(np.maximum(mass / mass.sum(), 1e-15))

    def write_response(self, raw: Float64, offset: Any, response: Float64) -> bool:
        """Write probabilities; return whether all raw predictions are finite."""
        return self.write_rows(raw, offset, 1.0, response, 0, raw.shape[1])

    def write_rows(self, raw: Float64, offset: Any, steepness: float, response: Float64, start: int, stop: int) -> bool:
        """Write the softmax of ``steepness`` times the raw predictions of some rows; return whether all are finite."""
        offsets = np.broadcast_to(np.asarray(offset, np.float64), self.n_outputs)
        return bool(_write_softmax(raw, np.ascontiguousarray(offsets), steepness, response, start, stop))

    def raw_prediction(self, response: Float64) -> Float64:
        """Return logarithms, which the softmax turns back; a probability of 0 stays finite."""
        return np.log(np.maximum(response, np.finfo(np.float64).tiny))

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write p_k - [y = k] and the factor times p_k (1 - p_k)."""
        grad[:] = hess[:] = 0.0
        self.add_rows(y, response, weight, grad, hess, 0, len(y))

    def add_rows(
        self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32, start: int, stop: int
    ) -> bool:
        """Add the derivatives of some rows to what is there; return whether the sums are finite."""
        return bool(_add_log_loss(y, response, weight, self.hessian_factor, grad, hess, start, stop))

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the log-loss of each row."""
        own = raw[y.astype(np.intp), np.arange(len(y))]
        return np.asarray(special.logsumexp(raw, axis=0) - own)


# Numba's cache does not see changes in what is inlined here: who edits exponential has to touch this file too.
@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _write_softmax(raw: Array, offset: Array, steepness: float, response: Array, start: int, stop: int) -> bool:
    """Write exp(c F_k) / sum_j exp(c F_j), c the steepness; ``response`` may be ``raw``."""
    infinite = 0
    tops, totals = np.empty(_BLOCK), np.empty(_BLOCK)
    powers = np.empty((len(raw), _BLOCK))  # not in the response, whose rows may be those that are read
    for first in range(start, stop, _BLOCK):
        # Slices, because an index that might count from the end keeps the compiler from using vectors.
        n = min(_BLOCK, stop - first)
        top, total = tops[:n], totals[:n]
        top[:] = -np.inf
        total[:] = 0.0
        for k in range(len(raw)):
            row, power, shift = raw[k, first : first + n], powers[k, :n], offset[k]
            for i in range(n):
                x = row[i] + shift
                infinite += not abs(x) < np.inf
                power[i] = x
            for i in range(n):
                top[i] = power[i] if power[i] > top[i] else top[i]
        for k in range(len(raw)):
            power = powers[k, :n]
            for i in range(n):
                power[i] = exponential(steepness * (power[i] - top[i]))
            for i in range(n):
                total[i] += power[i]
        for i in range(n):
            total[i] = 1.0 / total[i]
        for k in range(len(raw)):
            row, power = response[k, first : first + n], powers[k, :n]
            for i in range(n):
                row[i] = power[i] * total[i]
    return infinite == 0


@njit(nogil=True, cache=True)
def _add_log_loss(
    y: Array, p: Array, weight: Array, factor: float, grad: Array, hess: Array, start: int, stop: int
) -> bool:
    weighted = len(weight) > 0
    infinite = 0
    label = y[start:stop]
    for k in range(len(p)):
        probability, g, h = p[k, start:stop], grad[k, start:stop], hess[k, start:stop]
        for i in range(len(label)):
            w = weight[start + i] if weighted else 1.0
            own = 1.0 if label[i] == k else 0.0
            g[i] += w * (probability[i] - own)
            h[i] += w * factor * probability[i] * (1.0 - probability[i])
            infinite += not (abs(g[i]) < np.inf and h[i] < np.inf)
    return infinite == 0
