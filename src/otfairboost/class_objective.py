r"""The objective of several classes: loss plus a penalty on each class's probability.

.. math:: J(F) = \sum_i w_i\, \ell(y_i, F_i) + \lambda W \tfrac12 \sum_k P(u_k), \qquad u = \text{softmax}(\kappa F)

:math:`P(u_k)` is the penalty (:mod:`otfairboost.penalty`) of the scores of class k; :math:`\kappa` is ``focus``. Every
class counts the same, and with two classes the half makes J the binary objective. The chain rule and the curvature are
derived in ``docs/derivations/softmax.md``.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numba import njit

from otfairboost.losses import Offset, SoftmaxLoss
from otfairboost.losses.base import Array
from otfairboost.objective import FairObjective, Float32, Float64, ObjectiveValue
from otfairboost.penalty import Penalty
from otfairboost.penalty_sum import PenaltySum
from otfairboost.row_derivatives import HessianForm, RowDerivatives
from otfairboost.threads import merge_stages

_BLOCK = 256  # rows whose sums over the classes stay in the fastest cache


class ClassObjective(FairObjective):
    """Loss plus penalty of several classes on one set of rows.

    Raw predictions, gradient and hessian are of shape (n_rows, n_classes) as boosters have them, class-major in memory
    as in LightGBM.

    Parameters
    ----------
    loss : SoftmaxLoss
        The base loss.
    y : float32 array of shape (n_rows,)
        Class codes.
    weight, fairness_weight, hessian, n_jobs, offset, penalty_scale
        As in :class:`otfairboost.objective.FairObjective`; ``offset`` may have one value for each class.
    penalties : sequence of Penalty or PenaltySum
        One for each class, on the same rows.
    """

    loss: SoftmaxLoss

    def __init__(
        self,
        loss: SoftmaxLoss,
        y: Float32,
        weight: Float32,
        penalties: Sequence[Penalty | PenaltySum],
        fairness_weight: float,
        hessian: HessianForm,
        n_jobs: int = 1,
        offset: Offset = 0.0,
        penalty_scale: float = 0.5,
    ) -> None:
        super().__init__(loss, y, weight, penalties[0], fairness_weight, hessian, n_jobs, offset, penalty_scale)
        self.penalties = penalties
        self._steepness = penalties[0].score_map.steepness

    def derivatives(self, raw_prediction: Float64, *, overwrite: bool = False) -> tuple[Float32, Float32]:
        """Return gradient and hessian at these raw predictions, in buffers that the next call reuses.

        With ``overwrite`` the raw predictions are replaced by the scores, which saves 8 bytes a row and class.
        """
        raw = np.ascontiguousarray(raw_prediction.T)
        score = raw if overwrite else np.empty_like(raw)
        response = score if self._steepness == 1.0 else np.empty_like(raw)
        grad, hess = self._grad, self._hess

        def start_rows(index: int, start: int, stop: int) -> None:
            if not self.loss.write_rows(raw, self.offset, 1.0, response, start, stop):
                self.raise_diverged()
            if score is not response:
                self.loss.write_rows(raw, self.offset, self._steepness, score, start, stop)

        def finish_rows(pulls: Sequence[RowDerivatives], index: int, start: int, stop: int) -> None:
            scale = self.fairness_weight * self._total * self.penalty_scale
            # The buffers hold pull and stiffness of each class first.
            for k, rows in enumerate(pulls):
                rows.write_pulls(start, stop, scale, self.hessian.paper, grad[k], hess[k])
            apply_chain_rule(score, self._steepness, self.hessian, grad, hess, start, stop)
            if not self.loss.add_rows(self._y, response, self._weight, grad, hess, start, stop):
                self.raise_diverged()  # LightGBM would find no split and end without a word, its model in ruins

        with self._chunks.one_round():
            self._chunks.defer(start_rows)
            pulls = self._prepare(score)
            self._chunks.run(partial(finish_rows, pulls))
        self._iteration += 1
        return grad.T, hess.T

    def value(self, raw_prediction: Float64) -> ObjectiveValue:
        """Return mean loss and penalty at these raw predictions; the objective is loss + fairness_weight * penalty."""
        raw = np.ascontiguousarray((raw_prediction + self.offset).T)
        score = np.empty_like(raw)
        self.loss.write_rows(raw, 0.0, self._steepness, score, 0, raw.shape[1])
        penalty = sum(one.value(score[k], self._chunks) for k, one in enumerate(self.penalties))
        return ObjectiveValue(self.loss.value(self._y, raw, self._weight), self.penalty_scale * penalty)

    def _prepare(self, score: Float64) -> list[RowDerivatives]:
        """Bin one class after the other, and then do what is left of all of them together, so that no thread waits."""
        stages, rows = zip(*(one.start(score[k], self._chunks) for k, one in enumerate(self.penalties)), strict=True)
        self._chunks.run_stages(merge_stages(stages))
        return list(rows)


def apply_chain_rule(
    score: Float64, steepness: float, form: HessianForm, pull: Float32, stiffness: Float32, start: int, stop: int
) -> None:
    r"""Turn the pulls :math:`g_k` and stiffnesses :math:`b_k` of some rows' scores into gradient and hessian in F.

    .. math::
        \frac{\partial u_k}{\partial F_j} = \kappa u_k (\delta_{kj} - u_j), \qquad
        \frac{\partial P}{\partial F_j} = \kappa u_j \Bigl(g_j - \sum_k u_k g_k\Bigr), \qquad
        h_j = 2 f \sum_k b_k \Bigl|\frac{\partial u_k}{\partial F_j}\Bigr|
            = 2 f \kappa u_j \Bigl((1 - 2 u_j) b_j + \sum_k u_k b_k\Bigr)

    Arrays are of shape (n_classes, n_rows) and overwritten. The gradient is exact; the hessian bounds the whole
    Gauss-Newton matrix of a row by its diagonal (``docs/derivations/softmax.md``).
    """
    factor = 1.0 if form.paper else form.factor
    _chain(score, steepness, 2.0 * factor * steepness, pull, stiffness, start, stop)


@njit(nogil=True, cache=True)
def _chain(score: Array, steepness: float, factor: float, pull: Array, stiffness: Array, start: int, stop: int) -> None:
    pulls, stiffnesses = np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(start, stop, _BLOCK):
        # Slices, because an index that might count from the end keeps the compiler from using vectors.
        n = min(_BLOCK, stop - first)
        total_g, total_b = pulls[:n], stiffnesses[:n]
        total_g[:] = 0.0
        total_b[:] = 0.0
        for k in range(len(score)):
            u, g, b = score[k, first : first + n], pull[k, first : first + n], stiffness[k, first : first + n]
            for i in range(n):
                total_g[i] += u[i] * g[i]
                total_b[i] += u[i] * b[i]
        for k in range(len(score)):
            u, g, b = score[k, first : first + n], pull[k, first : first + n], stiffness[k, first : first + n]
            for i in range(n):
                g[i] = steepness * u[i] * (g[i] - total_g[i])
                curved = factor * u[i] * ((1.0 - 2.0 * u[i]) * b[i] + total_b[i])
                b[i] = curved if curved > 0.0 else 0.0  # it is, up to rounding
