r"""Focus on the top of a ranking: the penalty looks at a quantile of the scores in place of a fixed threshold.

Users who act on the top :math:`1 - q` of a list do not know their threshold in advance. In each round it is taken from
the raw predictions :math:`F` as they are, all rows together:

.. math:: t = \min \{ F_i : \sum_{j: F_j \le F_i} w_j \ge q \sum_j w_j \}, \qquad u = \sigma(\kappa (F - t) / s)

and the penalty compares the groups' distributions of :math:`u`. With large :math:`\kappa` that is the share of each
group above :math:`t`. Derivatives hold :math:`t` fixed: it moves little from one round to the next, and all rows share
it.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import special

from otfairboost.penalty import AnyPenalty
from otfairboost.reduction import Reduce, alone
from otfairboost.row_derivatives import RowDerivatives
from otfairboost.scores import LINK_SCORE
from otfairboost.threads import RowChunks, Stages

Array = NDArray[Any]
Float = NDArray[np.float64]

_DIGIT_BITS = 16
_DIGITS = 1 << _DIGIT_BITS
_SIGN = np.uint64(1 << 63)


class TopFocus:
    r"""A penalty on scores that are sharpened around a quantile of all of them.

    Parameters
    ----------
    penalty : AnyPenalty
        On scores of the kind ``LOGISTIC`` whose steepness is ``steepness``.
    level : float
        The quantile :math:`q`.
    steepness : float
        :math:`\kappa / s`.
    weight : float32 array of shape (n_rows,), or empty if all rows weigh 1
        Of all rows in the quantile, also those without a group.
    reduce : callable
        Sums an array over workers.

    Attributes
    ----------
    score_map : ScoreMap
        Says that this penalty is given raw predictions.
    threshold : float
        :math:`t`, after :meth:`start` or :meth:`value`.
    """

    score_map = LINK_SCORE

    def __init__(
        self,
        penalty: AnyPenalty,
        level: float,
        steepness: float,
        weight: NDArray[np.float32],
        reduce: Reduce = alone,
    ) -> None:
        self.penalty = penalty
        self.level = level
        self.steepness = steepness
        self.threshold = np.nan
        self._weight = weight
        self._reduce = reduce

    def value(self, score: Float, chunks: RowChunks) -> float:
        """Return the penalty of these raw predictions."""
        return self.penalty.value(self._sharpen(score, chunks, np.empty_like(score)), chunks)

    def start(self, score: Float, chunks: RowChunks) -> tuple[Stages, RowDerivatives]:
        """Return what is left to do, and what adds the derivatives at these raw predictions after that.

        These are overwritten by what is compared.
        """
        return self.penalty.start(self._sharpen(score, chunks, score), chunks)

    def _sharpen(self, raw: Float, chunks: RowChunks, out: Float) -> Float:
        self.threshold = find_quantile(raw, self._weight, self.level, chunks, self._reduce)

        def work(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            special.expit(self.steepness * (raw[r] - self.threshold), out=out[r])

        chunks.run(work)
        return out


def find_quantile(
    values: Float,
    weight: NDArray[np.float32],
    level: float,
    chunks: RowChunks,
    reduce: Reduce = alone,
) -> float:
    """Return the smallest value that, with all below it, holds the share ``level`` of the weight.

    Exact, in four passes without sorting: each finds the next 16 bits of the value from sums that can be added up over
    workers.
    """
    prefix, below, target = 0, 0.0, 0.0
    for digit in range(4):
        shift = np.uint64(64 - _DIGIT_BITS * (digit + 1))
        partial = np.zeros((max(len(chunks), 1), _DIGITS))

        def work(
            index: int, start: int, stop: int, sums: Float = partial, shift: np.uint64 = shift, digit: int = digit
        ) -> None:
            r = slice(start, stop)
            _sum_digits(values[r], weight[r], np.uint64(prefix), digit, shift, sums[index])  # noqa: B023

        chunks.run(work)
        sums = reduce(partial.sum(axis=0))
        if digit == 0:
            target = level * float(sums.sum()) * (1.0 - 1e-12)  # a share that rounding puts just above is reached
        reached = below + np.cumsum(sums)
        found = min(int(np.searchsorted(reached, target)), int(np.flatnonzero(sums)[-1]))
        below = float(reached[found] - sums[found])
        prefix = (prefix << _DIGIT_BITS) | found
    key = np.uint64(prefix)
    bits = key ^ _SIGN if key & _SIGN else ~key
    return float(np.array([bits], np.uint64).view(np.float64)[0])


@njit(nogil=True, cache=True)
def _sum_digits(values: Array, weight: Array, prefix: np.uint64, digit: int, shift: np.uint64, sums: Array) -> None:
    """Add weights by 16 bits of the values, as whole numbers of the same order, where those before equal ``prefix``."""
    weighted = len(weight) > 0
    sign = np.uint64(1 << 63)
    for i in range(len(values)):
        bits = np.float64(values[i]).view(np.uint64)
        key = ~bits if bits & sign else bits | sign
        if digit == 0 or key >> (shift + np.uint64(16)) == prefix:
            sums[(key >> shift) & np.uint64(0xFFFF)] += weight[i] if weighted else 1.0
