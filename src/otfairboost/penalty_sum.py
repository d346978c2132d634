r"""The penalty of several attributes: a weighted sum of one penalty for each.

.. math:: P(u) = \sum_j a_j P_j(u)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from otfairboost.penalty import Penalty
from otfairboost.row_derivatives import HessianForm, RowDerivatives
from otfairboost.scores import ScoreMap
from otfairboost.threads import RowChunks, Stages, merge_stages

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]


class PenaltySum:
    """Penalties on the same rows and scores, added up.

    Parameters
    ----------
    parts : sequence of Penalty
        All of the same score map.
    weights : sequence of float
        :math:`a_j`.
    """

    def __init__(self, parts: Sequence[Penalty], weights: Sequence[float]) -> None:
        self.parts = tuple(parts)
        self.weights = tuple(float(weight) for weight in weights)

    @property
    def score_map(self) -> ScoreMap:
        """Return what is compared."""
        return self.parts[0].score_map

    def value(self, score: Float, chunks: RowChunks) -> float:
        """Return the penalty of these scores."""
        return sum(weight * part.value(score, chunks) for weight, part in zip(self.weights, self.parts, strict=True))

    def start(self, score: Float, chunks: RowChunks) -> tuple[Stages, RowDerivatives]:
        """Return what is left to do, and what adds the penalty's derivatives at these scores after that."""
        stages, rows = zip(*(part.start(score, chunks) for part in self.parts), strict=True)
        return merge_stages(stages), SummedDerivatives(rows, self.weights)


class SummedDerivatives(RowDerivatives):
    """Adds the derivatives of each penalty, times its weight."""

    def __init__(self, parts: Sequence[RowDerivatives], weights: Sequence[float]) -> None:
        self._parts, self._weights = parts, weights

    def gaps(self) -> Float:
        """Return the weighted sum of each row's distances from the targets."""
        return np.asarray(sum(weight * part.gaps() for weight, part in zip(self._weights, self._parts, strict=True)))

    def add(self, start: int, stop: int, scale: float, form: HessianForm, grad: Float32, hess: Float32) -> None:
        """Add ``scale`` times the derivatives of rows start to stop, in the raw prediction."""
        for weight, part in zip(self._weights, self._parts, strict=True):
            part.add(start, stop, scale * weight, form, grad, hess)

    def write_pulls(self, start: int, stop: int, scale: float, paper: bool, pull: Float32, stiffness: Float32) -> None:
        """Write gradient and stiffness of rows start to stop, in the score."""
        own_pull, own_stiffness = np.empty_like(pull), np.empty_like(stiffness)
        r = slice(start, stop)
        pull[r], stiffness[r] = 0.0, 0.0
        for weight, part in zip(self._weights, self._parts, strict=True):
            part.write_pulls(start, stop, scale * weight, paper, own_pull, own_stiffness)
            pull[r] += own_pull[r]
            stiffness[r] += own_stiffness[r]
