r"""The fairness penalty: groups x strata x transport, as value, gradient and hessian in the scores.

.. math:: P(u) = \sum_k \pi_k D_k

with :math:`D_k` the groups' squared distance inside stratum k (:mod:`otfairboost.comparison`) and :math:`\pi_k` the
stratum's share of the weight.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from otfairboost.comparison import GroupMeasures, MultiGroup, Pull, Transport, distance, needs_rests, pulls
from otfairboost.plan import Comparison, Plan
from otfairboost.scores import ScoreMap, curvature_at, slope_at
from otfairboost.threads import RowChunks, Stages
from otfairboost.transport import exact, histogram, kernels
from otfairboost.transport.exact import Ties, row_images, transport_images
from otfairboost.transport.histogram import Histogram, ScoreBinner, Scratch, read_cells, read_rests
from otfairboost.transport.kde import smoothed_images
from otfairboost.transport.measure import Measure, MeasuredSample, measure_sample, mix

Array = NDArray[Any]
Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Moves = dict[int, tuple[Measure, Float]]
"""By cell: its distribution, and where the atoms of this are pulled to."""
TransportName = Literal["histogram", "exact", "kde"]
TRANSPORTS: tuple[str, ...] = ("histogram", "exact", "kde")

TABLE_ENTRY = np.dtype(
    [("centre", "f8"), ("target", "f8"), ("slope", "f4"), ("reach", "f4"), ("curvature", "f4"), ("", "f4")]
)
"""What a table says of the rows of a cell and bin: the line they follow, and the slope that a step reckons with."""

_LARGEST, _LARGEST32 = float(np.finfo(np.float64).max), float(np.finfo(np.float32).max)


class AnyPenalty(Protocol):
    """What an objective needs of a penalty: one :class:`Penalty`, or one that is made of others."""

    @property
    def score_map(self) -> ScoreMap:
        """Return which scores it is given."""

    def value(self, score: Float, chunks: RowChunks) -> float:
        """Return the penalty of these scores."""

    def prepare(self, score: Float, chunks: RowChunks) -> "RowDerivatives":
        """Return what adds the derivatives at these scores, which may be overwritten, chunk by chunk."""


class Penalty:
    """The penalty on one set of rows.

    Parameters
    ----------
    plan : Plan
        Which rows are compared.
    score_map : ScoreMap
        What a score is; decides the grid and the hessian's guard.
    multi_group, transport, ties, bandwidth, n_bins
        As the estimators' parameters of these names.
    reduce : callable
        Sums an array over workers; the identity on one machine. The only step that knows about a cluster.
    scratch : Scratch, optional
        Shared with other penalties of the same plan, whose scores are binned one after the other.
    """

    def __init__(
        self,
        plan: Plan,
        score_map: ScoreMap,
        *,
        multi_group: MultiGroup = "one_vs_rest",
        transport: TransportName = "histogram",
        ties: Ties = "average",
        bandwidth: float = 0.1,
        n_bins: int = 24576,
        reduce: Callable[[Float], Float] = lambda array: array,
        scratch: Scratch | None = None,
    ) -> None:
        if ties != "average" and any(len(comparison.cells) > 2 for comparison in plan.comparisons):
            raise ValueError(f"ties={ties!r} compares two groups; for more groups use ties='average'")
        self.plan = plan
        self.score_map = score_map
        self.multi_group = multi_group
        self.transport = transport
        self.ties = ties
        images = partial(smoothed_images, bandwidth=bandwidth) if transport == "kde" else transport_images
        self.n_bins = n_bins
        self._transport = Transport(images, (exact if transport == "exact" else histogram).extend_image)
        self._binner = ScoreBinner(
            plan.cell, plan.weight, plan.n_cells, score_map.make_grid, n_bins, reduce,
            same_bounds=any(needs_rests(multi_group, len(comparison.cells)) for comparison in plan.comparisons),
            scratch=scratch,
        )  # fmt: skip
        self._table = np.empty((plan.n_cells, 0), TABLE_ENTRY)
        self._strength = np.zeros(plan.n_cells)

    def value(self, score: Float, chunks: RowChunks) -> float:
        """Return the penalty of these scores."""
        if self.transport == "exact":
            measured = [(comparison, stratum) for comparison, stratum, *_ in self._exact_strata(score)]
        else:
            binned = self._binner.bin(score, chunks)
            cells = read_cells(binned, chunks)
            measured = [(one, self._read_stratum(one, binned, cells)) for one in self.plan.comparisons]
        return sum(comparison.share * distance(self.multi_group, stratum) for comparison, stratum in measured)

    def prepare(self, score: Float, chunks: RowChunks) -> "RowDerivatives":
        """Return what adds the penalty's derivatives at these scores, chunk by chunk."""
        stages, rows = self.start(score, chunks)
        chunks.run_stages(stages)
        return rows

    def start(self, score: Float, chunks: RowChunks) -> tuple[Stages, "RowDerivatives"]:
        """Return what is left to do before :meth:`prepare`'s result can be used, and that result."""
        if self.transport == "exact":
            return [], self._prepare_rows(score)
        return self._start_tables(score, chunks)

    def targets(self, score: Float, chunks: RowChunks) -> Float:
        """Return where the penalty pulls each row's score; rows that are not compared stay."""
        return score - self.prepare(score, chunks).gaps()

    def _read_stratum(self, comparison: Comparison, histogram: Histogram, cells: list[Measure]) -> GroupMeasures:
        has_rests = needs_rests(self.multi_group, len(comparison.cells))
        rests = read_rests(histogram.take(comparison.cells)) if has_rests else []
        return GroupMeasures([cells[c] for c in comparison.cells], rests, comparison.weights, comparison.shares)

    def _start_tables(self, score: Float, chunks: RowChunks) -> tuple[Stages, "RowDerivatives"]:
        histogram = self._binner.bin(score, chunks, follow=True)
        n_bins = histogram.sums.shape[1]
        if not self._table.shape[1]:
            self._table = np.empty((self.plan.n_cells, self.n_bins), TABLE_ENTRY)
        table = self._table[:, :n_bins]
        cells = read_cells(histogram, chunks)
        moves: Moves = {}
        comparisons = self.plan.comparisons
        stages: Stages = [
            [partial(self._find_moves, comparison, histogram, cells, moves) for comparison in comparisons],
            [partial(self._write_table, cell, moves, table) for comparison in comparisons for cell in comparison.cells],
        ]
        return stages, TableDerivatives(self, score, self._strength, self._binner.bins, table)

    def _find_moves(self, comparison: Comparison, histogram: Histogram, cells: list[Measure], moves: Moves) -> None:
        """Find where each cell of a stratum is pulled to, and how strongly."""
        stratum = self._read_stratum(comparison, histogram, cells)
        pulled = pulls(self.multi_group, stratum, self._transport)
        for cell, group, pull in zip(comparison.cells, stratum.groups, pulled, strict=True):
            moves[cell] = group, pull.target
            self._strength[cell] = comparison.share * pull.strength

    def _write_table(self, cell: int, moves: Moves, table: Array) -> None:
        group, target = moves[cell]
        _write_entries(group.atoms, target, self.score_map.kind, self.score_map.steepness, table[cell])

    def _exact_strata(
        self, score: Float
    ) -> Iterator[tuple[Comparison, GroupMeasures, list[MeasuredSample], list[NDArray[np.intp]]]]:
        weight = self.plan.weight
        for comparison in self.plan.comparisons:
            rows = [np.flatnonzero(self.plan.cell == cell) for cell in comparison.cells]
            samples = [measure_sample(score[r], weight[r] if len(weight) else None) for r in rows]
            measures = [sample.measure for sample in samples]
            rests: list[Measure] = []
            if needs_rests(self.multi_group, len(measures)):
                for g in range(len(measures)):
                    others = [h for h in range(len(measures)) if h != g]
                    rests.append(mix([measures[h] for h in others], comparison.weights[others]))
            stratum = GroupMeasures(measures, rests, comparison.weights, comparison.shares)
            yield comparison, stratum, samples, rows

    def _prepare_rows(self, score: Float) -> "RowDerivatives":
        target = score.copy()
        for comparison, stratum, samples, rows in self._exact_strata(score):
            if self.ties != "average":
                row_pulls = self._one_sided_pulls(stratum, samples)
            else:
                row_pulls = [
                    pull._replace(target=pull.target[sample.atom_of_row])
                    for pull, sample in zip(pulls(self.multi_group, stratum, self._transport), samples, strict=True)
                ]
            for cell, r, pull in zip(comparison.cells, rows, row_pulls, strict=True):
                target[r] = pull.target
                self._strength[cell] = comparison.share * pull.strength
        return TargetDerivatives(self, score, self._strength, target, self.score_map.curvature(score, target))

    def _one_sided_pulls(self, stratum: GroupMeasures, samples: list[MeasuredSample]) -> list[Pull]:
        """Return the paper's one-sided derivatives; images are per row because slots of one block may differ."""
        (a, b), (sample_a, sample_b) = stratum.groups, samples
        return [
            Pull(float(2.0 / stratum.weights[0]), row_images(sample_a, b, self.ties)),
            Pull(float(2.0 / stratum.weights[1]), row_images(sample_b, a, self.ties)),
        ]


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

    def __init__(self, penalty: Penalty, score: Float, strength: Float) -> None:
        self._score = score
        self._cell = penalty.plan.cell
        self._weight = penalty.plan.weight
        self._kind, self._steepness, _ = penalty.score_map
        self._strength = strength

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


class TableDerivatives(RowDerivatives):
    """Reads targets from a table of bins."""

    def __init__(self, penalty: Penalty, score: Float, strength: Float, bins: NDArray[np.uint16], table: Array) -> None:
        super().__init__(penalty, score, strength)
        self._bins, self._table = bins, table

    def gaps(self) -> Float:
        """Return each row's score less its target; 0 for rows that are not compared."""
        entry = self._table[self._cell, self._bins]
        rise = np.clip((self._score - entry["centre"]) * entry["slope"], -entry["reach"], entry["reach"])
        gaps = self._score - entry["target"] - rise
        return np.where(self._cell >= 0, gaps, 0.0)

    def add(self, start: int, stop: int, scale: float, form: HessianForm, grad: Float32, hess: Float32) -> None:
        """Add ``scale`` times the derivatives of rows start to stop, in the raw prediction."""
        r = slice(start, stop)
        _add_from_table(
            self._score[r], self._cell[r], self._weight[r], self._bins[r], self._table, scale * self._strength,
            self._kind, self._steepness, form.factor, form.paper, grad[r], hess[r],
        )  # fmt: skip

    def write_pulls(self, start: int, stop: int, scale: float, paper: bool, pull: Float32, stiffness: Float32) -> None:
        """Write gradient and stiffness of rows start to stop, in the score."""
        r = slice(start, stop)
        _write_from_table(
            self._score[r], self._cell[r], self._weight[r], self._bins[r], self._table, scale * self._strength,
            self._kind, self._steepness, paper, pull[r], stiffness[r],
        )  # fmt: skip


class TargetDerivatives(RowDerivatives):
    """Holds each row's own target."""

    def __init__(self, penalty: Penalty, score: Float, strength: Float, target: Float, curvature: Float) -> None:
        super().__init__(penalty, score, strength)
        self._target, self._curvature = target, curvature

    def gaps(self) -> Float:
        """Return each row's score less its target; 0 for rows that are not compared."""
        return self._score - self._target

    def add(self, start: int, stop: int, scale: float, form: HessianForm, grad: Float32, hess: Float32) -> None:
        """Add ``scale`` times the derivatives of rows start to stop, in the raw prediction."""
        r = slice(start, stop)
        _add_from_targets(
            self._score[r], self._cell[r], self._weight[r], self._target[r], self._curvature[r],
            scale * self._strength, self._kind, self._steepness, form.factor, form.paper, grad[r], hess[r],
        )  # fmt: skip

    def write_pulls(self, start: int, stop: int, scale: float, paper: bool, pull: Float32, stiffness: Float32) -> None:
        """Write gradient and stiffness of rows start to stop, in the score."""
        r = slice(start, stop)
        _write_from_targets(
            self._score[r], self._cell[r], self._weight[r], self._target[r], self._curvature[r],
            scale * self._strength, self._kind, self._steepness, paper, pull[r], stiffness[r],
        )  # fmt: skip


@njit(nogil=True, cache=True, inline="always")
def _within(x: float, largest: float) -> float:
    x = x if x < largest else largest
    return x if x > -largest else -largest


# Numba's cache does not see changes in what is called here: who edits scores.slope_at and curvature_at or
# kernels.line_of and along has to touch this file too, or old machine code stays in use.
@njit(nogil=True, cache=True, error_model="numpy")
def _write_entries(atoms: Array, image: Array, kind: int, steepness: float, entries: Array) -> None:
    """Write a cell's part of the table; what overflows is the largest number instead."""
    for b in range(len(entries)):
        centre, target, slope, reach = kernels.line_of(b, atoms, image)
        entries[b].centre = _within(centre, _LARGEST)
        entries[b].target = _within(target, _LARGEST)
        entries[b].slope = _within(slope, _LARGEST32)
        entries[b].reach = _within(reach, _LARGEST32)
        entries[b].curvature = curvature_at(centre, target, kind, steepness)


@njit(nogil=True, cache=True)
def _add_from_table(
    score: Array, cell: Array, weight: Array, bins: Array, table: Array,
    strength: Array, kind: int, steepness: float, factor: float, paper: bool, grad: Array, hess: Array,
) -> None:  # fmt: skip
    weighted = len(weight) > 0
    for i in range(len(score)):
        c = cell[i]
        if c >= 0:
            u = score[i]
            entry = table[c, bins[i]]
            gap = u - entry.target - kernels.along(u - entry.centre, entry.slope, entry.reach)
            slope = slope_at(u, kind, steepness)
            pull = strength[c] * (weight[i] if weighted else 1.0) * slope
            grad[i] += pull * gap
            hess[i] += pull if paper else pull * factor * max(slope, entry.curvature)


@njit(nogil=True, cache=True)
def _add_from_targets(
    score: Array, cell: Array, weight: Array, target: Array, curvature: Array,
    strength: Array, kind: int, steepness: float, factor: float, paper: bool, grad: Array, hess: Array,
) -> None:  # fmt: skip
    weighted = len(weight) > 0
    for i in range(len(score)):
        c = cell[i]
        if c >= 0:
            u = score[i]
            slope = slope_at(u, kind, steepness)
            pull = strength[c] * (weight[i] if weighted else 1.0) * slope
            grad[i] += pull * (u - target[i])
            hess[i] += pull if paper else pull * factor * max(slope, curvature[i])


@njit(nogil=True, cache=True)
def _write_from_table(
    score: Array, cell: Array, weight: Array, bins: Array, table: Array,
    strength: Array, kind: int, steepness: float, paper: bool, pull: Array, stiffness: Array,
) -> None:  # fmt: skip
    weighted = len(weight) > 0
    for i in range(len(score)):
        c = cell[i]
        pull[i] = stiffness[i] = 0.0
        if c >= 0:
            u = score[i]
            entry = table[c, bins[i]]
            a = strength[c] * (weight[i] if weighted else 1.0)
            pull[i] = a * (u - entry.target - kernels.along(u - entry.centre, entry.slope, entry.reach))
            stiffness[i] = a if paper else a * max(slope_at(u, kind, steepness), entry.curvature)


@njit(nogil=True, cache=True)
def _write_from_targets(
    score: Array, cell: Array, weight: Array, target: Array, curvature: Array,
    strength: Array, kind: int, steepness: float, paper: bool, pull: Array, stiffness: Array,
) -> None:  # fmt: skip
    weighted = len(weight) > 0
    for i in range(len(score)):
        c = cell[i]
        pull[i] = stiffness[i] = 0.0
        if c >= 0:
            u = score[i]
            a = strength[c] * (weight[i] if weighted else 1.0)
            pull[i] = a * (u - target[i])
            stiffness[i] = a if paper else a * max(slope_at(u, kind, steepness), curvature[i])
