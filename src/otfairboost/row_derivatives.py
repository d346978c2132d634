"""From where rows are pulled to, to the derivatives that a booster asks for."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from otfairboost.plan import Plan
from otfairboost.scores import EXPONENTIAL, LOGISTIC, ScoreMap, curvature_at, slope_at
from otfairboost.transport import kernels

Array = NDArray[Any]
Float = NDArray[np.float64]
Float32 = NDArray[np.float32]

TABLE_ENTRY = np.dtype(
    [("centre", "f8"), ("target", "f8"), ("slope", "f4"), ("reach", "f4"), ("curvature", "f4"), ("", "f4")]
)
"""What a table says of the rows of a cell and bin: the line they follow, and the slope that a step reckons with."""

_BLOCK = 1024  # rows whose gaps are looked up at a time, so that they stay close to the processor
_LARGEST, _LARGEST32 = float(np.finfo(np.float64).max), float(np.finfo(np.float32).max)


class HessianForm(NamedTuple):
    r"""The curvature that the booster is told.

    With :math:`a` a row's pull times its weight, :math:`u'` the score's slope and :math:`q \ge u'` its guarded
    slope (``ScoreMap.curvature``): :math:`a\, f\, u' q`, or, as the paper has it, :math:`a\, u'`.

    Attributes
    ----------
    factor : float
        :math:`f`; 1 is the Gauss-Newton term.
    paper : bool
        Whether to use the paper's form.
    """

    factor: float
    paper: bool


class RowDerivatives(ABC):
    """Adds the penalty's gradient and hessian to those of the loss, for any range of rows."""

    @abstractmethod
    def gaps(self) -> Float:
        """Return each row's score less its target; 0 for rows that are not compared."""

    @abstractmethod
    def add(self, start: int, stop: int, scale: float, form: HessianForm, grad: Float32, hess: Float32) -> None:
        """Add ``scale`` times the derivatives of rows start to stop, in the raw prediction."""

    @abstractmethod
    def write_pulls(self, start: int, stop: int, scale: float, paper: bool, pull: Float32, stiffness: Float32) -> None:
        """Write derivatives of rows start to stop in the score, for scores of several raw predictions.

        With :math:`a` as in :class:`HessianForm` times ``scale``: the gradient :math:`a (u - t)`, and the stiffness
        :math:`a q`, or :math:`a` in the paper's form. Both are 0 for rows that are not compared.
        """


class _PenaltyDerivatives(RowDerivatives):
    """The derivatives of one penalty."""

    def __init__(self, plan: Plan, score_map: ScoreMap, score: Float, strength: Float) -> None:
        self._score = score
        self._cell = plan.cell
        self._weight = plan.weight
        self._kind, self._steepness, _ = score_map
        self._strength = strength

    def add(self, start: int, stop: int, scale: float, form: HessianForm, grad: Float32, hess: Float32) -> None:
        """Add ``scale`` times the derivatives of rows start to stop, in the raw prediction."""
        self._read(slice(start, stop), scale, form, False, grad, hess)

    def write_pulls(self, start: int, stop: int, scale: float, paper: bool, pull: Float32, stiffness: Float32) -> None:
        """Write gradient and stiffness of rows start to stop, in the score."""
        r = slice(start, stop)
        pull[r], stiffness[r] = 0.0, 0.0
        self._read(r, scale, HessianForm(1.0, paper), True, pull, stiffness)

    @abstractmethod
    def _read(self, r: slice, scale: float, form: HessianForm, in_score: bool, first: Float32, second: Float32) -> None:
        """Find the gaps of some rows and add the derivatives in their scores, or in their raw predictions."""


class TableDerivatives(_PenaltyDerivatives):
    """Reads targets from a table of bins."""

    def __init__(
        self, plan: Plan, score_map: ScoreMap, score: Float, strength: Float, bins: NDArray[np.uint16], table: Array
    ) -> None:
        super().__init__(plan, score_map, score, strength)
        self._bins, self._table = bins, table

    def gaps(self) -> Float:
        """Return each row's score less its target; 0 for rows that are not compared."""
        entry = self._table[self._cell, self._bins]
        rise = np.clip((self._score - entry["centre"]) * entry["slope"], -entry["reach"], entry["reach"])
        gaps = self._score - entry["target"] - rise
        return np.where(self._cell >= 0, gaps, 0.0)

    def _read(self, r: slice, scale: float, form: HessianForm, in_score: bool, first: Float32, second: Float32) -> None:
        _read_table(
            self._score[r], self._cell[r], self._weight[r], self._bins[r], self._table, scale * self._strength,
            self._kind, self._steepness, form.factor, form.paper, in_score, first[r], second[r],
        )  # fmt: skip


class TargetDerivatives(_PenaltyDerivatives):
    """Holds each row's own target."""

    def __init__(
        self, plan: Plan, score_map: ScoreMap, score: Float, strength: Float, target: Float, curvature: Float
    ) -> None:
        super().__init__(plan, score_map, score, strength)
        self._target, self._curvature = target, curvature

    def gaps(self) -> Float:
        """Return each row's score less its target; 0 for rows that are not compared."""
        return self._score - self._target

    def _read(self, r: slice, scale: float, form: HessianForm, in_score: bool, first: Float32, second: Float32) -> None:
        cell, score = self._cell[r], self._score[r]
        pull = np.where(cell >= 0, scale * self._strength[cell], 0.0)
        if len(self._weight):
            pull *= self._weight[r]
        _finish(
            score, pull, score - self._target[r], self._curvature[r],
            self._kind, self._steepness, form.factor, form.paper, in_score, first[r], second[r],
        )  # fmt: skip


@njit(nogil=True, cache=True, inline="always")
def _within(x: float, largest: float) -> float:
    x = x if x < largest else largest
    return x if x > -largest else -largest


# Numba's cache does not see changes in what is called here: who edits scores.slope_at and curvature_at or
# kernels.line_of and along has to touch this file too, or old machine code stays in use.
@njit(nogil=True, cache=True, error_model="numpy")
def write_entries(atoms: Array, image: Array, kind: int, steepness: float, entries: Array) -> None:
    """Write a cell's part of the table; what overflows is the largest number instead."""
    for b in range(len(entries)):
        centre, target, slope, reach = kernels.line_of(b, atoms, image)
        entries[b].centre = _within(centre, _LARGEST)
        entries[b].target = _within(target, _LARGEST)
        entries[b].slope = _within(slope, _LARGEST32)
        entries[b].reach = _within(reach, _LARGEST32)
        entries[b].curvature = curvature_at(centre, target, kind, steepness)


@njit(nogil=True, cache=True)
def _read_table(
    score: Array, cell: Array, weight: Array, bins: Array, table: Array, strength: Array,
    kind: int, steepness: float, factor: float, paper: bool, in_score: bool, first: Array, second: Array,
) -> None:  # fmt: skip
    weighted, curved = len(weight) > 0, kind in (LOGISTIC, EXPONENTIAL)
    pull, gap, curvature = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, len(score), _BLOCK):
        r = slice(start, start + _BLOCK)
        u, own_cell, own_bins, own_weight = score[r], cell[r], bins[r], weight[r]
        for i in range(len(u)):
            c = own_cell[i]
            if c >= 0:
                entry = table[c, own_bins[i]]
                pull[i] = strength[c]
                rise = kernels.along(u[i] - entry.centre, entry.slope, np.float64(entry.reach))
                gap[i] = u[i] - entry.target - rise
                if curved:
                    curvature[i] = entry.curvature
            else:
                pull[i] = gap[i] = curvature[i] = 0.0
        if not curved:
            curvature[:] = 0.0
        if weighted:
            for i in range(len(u)):
                pull[i] *= own_weight[i]
        _finish(u, pull, gap, curvature, kind, steepness, factor, paper, in_score, first[r], second[r])


@njit(nogil=True, cache=True)
def _finish(
    score: Array, pull: Array, gap: Array, curvature: Array,
    kind: int, steepness: float, factor: float, paper: bool, in_score: bool, first: Array, second: Array,
) -> None:  # fmt: skip
    """Add derivatives in the score, or in the raw prediction, of rows whose gaps are known.

    A loop of its own, in which nothing is looked up: it is computed with vectors.
    """
    for i in range(len(score)):
        slope = slope_at(score[i], kind, steepness)
        guarded = factor * (slope if slope > curvature[i] else curvature[i])  # max has to care about NaN
        a = pull[i] * (1.0 if in_score else slope)
        first[i] += a * gap[i]
        second[i] += a * (1.0 if paper else guarded)
