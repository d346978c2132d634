r"""The objective: base loss plus fairness penalty, as a booster asks for it.

.. math:: J(F) = \sum_i w_i\, \ell(y_i, F_i) + \lambda W c P(u), \qquad W = \sum_i w_i

:math:`\lambda` is ``fairness_weight``; the factor :math:`W` makes it independent of the number of rows, and the
constant :math:`c` (``penalty_scale``, mostly 1) of the target's unit.
"""

from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numba import njit
from numpy.typing import NDArray

from otfairboost.losses import Loss, Offset
from otfairboost.penalty import AnyPenalty
from otfairboost.reduction import Reduce, alone
from otfairboost.row_derivatives import HessianForm, RowDerivatives
from otfairboost.threads import OpenMPTeam, RowChunks

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


class ObjectiveValue(NamedTuple):
    """The two parts of the objective, per unit of weight."""

    loss: float
    penalty: float


class FairObjective:
    """Loss plus penalty on one set of rows.

    Parameters
    ----------
    loss : Loss
        The base loss.
    y : float32 array of shape (n_rows,)
        The target.
    weight : float32 array of shape (n_rows,), or empty if all rows weigh 1
        Weights in the loss.
    penalty : AnyPenalty
        The penalty on the same rows.
    fairness_weight : float
        The paper's lambda.
    hessian : HessianForm
        The curvature the booster is told of the penalty.
    n_jobs : int
        Number of threads.
    offset : float or array of shape (n_outputs,)
        Constant to add to the raw predictions given: what the booster has not been told to start from.
    penalty_scale : float
        Factor of the penalty, from ``Loss.penalty_scale``.
    reduce : callable
        Sums an array over workers; the identity on one machine.
    """

    def __init__(
        self,
        loss: Loss,
        y: Float32,
        weight: Float32,
        penalty: AnyPenalty,
        fairness_weight: float,
        hessian: HessianForm,
        n_jobs: int = 1,
        offset: Offset = 0.0,
        penalty_scale: float = 1.0,
        reduce: Reduce = alone,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.fairness_weight = fairness_weight
        self.hessian = hessian
        self.offset = offset
        self.penalty_scale = penalty_scale
        self._y = y
        self._weight = weight
        self._reduce = reduce
        self._own_total = float(weight.sum(dtype=np.float64)) if len(weight) else float(len(y))
        self._total = float(reduce(np.array([self._own_total]))[0])
        self._chunks = RowChunks(len(y), n_jobs)
        shape = len(y) if loss.n_outputs == 1 else (loss.n_outputs, len(y))
        self._grad = np.empty(shape, np.float32)
        self._hess = np.empty(shape, np.float32)
        self._score: Float64 | None = None
        self._iteration = 0

    @property
    def n_rows(self) -> int:
        """Return the number of rows on this machine."""
        return len(self._y)

    def derivatives(self, raw_prediction: NDArray[Any], *, overwrite: bool = False) -> tuple[Float32, Float32]:
        """Return gradient and hessian at these raw predictions, in buffers that the next call reuses.

        Raw predictions may be of single precision. With ``overwrite``, those of double precision are replaced by the
        scores, which saves 8 bytes a row.
        """
        score = raw_prediction if overwrite else self._room()
        grad, hess = self._grad, self._hess
        score_map = self.penalty.score_map

        def start_rows(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            response = score[r] if score_map.is_response else np.empty(stop - start)
            if not self.loss.write_response(raw_prediction[r], self.offset, response):
                self.raise_diverged()
            if score_map.is_response:
                return
            self.loss.write_derivatives(self._y[r], response, self._weight[r], grad[r], hess[r])
            if score_map.is_raw:
                np.add(raw_prediction[r], self.offset, out=score[r])
            else:
                score_map.write(response, score[r])

        def write_loss(start: int, stop: int) -> None:
            r = slice(start, stop)
            self.loss.write_derivatives(self._y[r], score[r], self._weight[r], grad[r], hess[r])

        def add_penalty(rows: RowDerivatives, index: int, start: int, stop: int) -> None:
            scale = self.fairness_weight * self._total * self.penalty_scale
            rows.add(start, stop, scale, self.hessian, grad, hess)
            if not _all_finite(grad[start:stop], hess[start:stop]):
                self.raise_diverged()  # LightGBM would find no split and end without a word, its model in ruins

        with self._chunks.one_round():
            self._chunks.defer(start_rows)
            stages, rows = self.penalty.start(score, self._chunks)
            if score_map.is_response:
                # Threads that would wait for the transport between a few measures have something to do.
                first, *others = stages or [[]]
                stages = [[*first, *(partial(write_loss, *bounds) for bounds in self._chunks.bounds)], *others]
            self._chunks.run_stages(stages)
            self._chunks.run(partial(add_penalty, rows))
        self._iteration += 1
        return grad, hess

    def _room(self) -> Float64:
        """Return room for scores that stays from round to round: a new one would be mapped page by page each time."""
        if self._score is None:
            self._score = np.empty(self.n_rows)
        return self._score

    def value(self, raw_prediction: Float64) -> ObjectiveValue:
        """Return mean loss and penalty at these raw predictions; the objective is loss + fairness_weight * penalty."""
        raw = raw_prediction + self.offset
        score = raw
        if not self.penalty.score_map.is_raw:
            score = np.empty(len(raw))
            self.loss.write_response(raw, 0.0, score)
            self.penalty.score_map.write(score, score)
        penalty = self.penalty_scale * self.penalty.value(score, self._chunks)
        return ObjectiveValue(self._mean_loss(raw), penalty)

    def _mean_loss(self, raw: Float64) -> float:
        share = self._own_total / self._total
        own = self.loss.value(self._y, raw, self._weight) if share > 0.0 else 0.0  # a worker may have no rows
        return float(self._reduce(np.array([share * own]))[0])

    def run_on(self, team: OpenMPTeam | None) -> None:
        """Work on these threads from now on instead of on own ones."""
        self._chunks.team = team

    def close(self) -> None:
        """Let the threads go."""
        self._chunks.close()

    def raise_diverged(self) -> NoReturn:
        """Raise the error that says when training diverged and what to change."""
        raise FloatingPointError(
            f"raw predictions became NaN or infinite at iteration {self._iteration}: training diverged. "
            f"Lower learning_rate or fairness_weight (now {self.fairness_weight:g}), raise fairness_hessian "
            f"(now a factor of {self.hessian.factor:g}), or set max_delta_step or reg_lambda"
        )


@njit(nogil=True, cache=True)
def _all_finite(grad: NDArray[Any], hess: NDArray[Any]) -> bool:
    infinite = 0
    for i in range(len(grad)):
        infinite += not abs(grad[i]) < np.inf
        infinite += not abs(hess[i]) < np.inf
    return infinite == 0
