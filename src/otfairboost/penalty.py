r"""The fairness penalty: groups x strata x transport, as value, gradient and hessian in the scores.

.. math:: P(u) = \sum_k \pi_k D_k

with :math:`D_k` the groups' squared distance inside stratum k (:mod:`otfairboost.comparison`) and :math:`\pi_k` the
stratum's share of the weight.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from otfairboost.comparison import GroupMeasures, MultiGroup, Pull, Transport, distance, needs_rests, pulls
from otfairboost.plan import Comparison, Plan
from otfairboost.reduction import Reduce, alone
from otfairboost.row_derivatives import TABLE_ENTRY, RowDerivatives, TableDerivatives, TargetDerivatives, write_entries
from otfairboost.scores import ScoreMap
from otfairboost.threads import RowChunks, Stages
from otfairboost.transport import exact, histogram
from otfairboost.transport.exact import Ties, row_images, transport_images
from otfairboost.transport.grid import DEFAULT_BINS
from otfairboost.transport.histogram import Histogram, ScoreBinner, Scratch, read_cells, read_rests
from otfairboost.transport.kde import smoothed_images
from otfairboost.transport.measure import Measure, MeasuredSample, measure_sample, mix

Array = NDArray[Any]
Float = NDArray[np.float64]
Moves = dict[int, tuple[Measure, Float]]
"""By cell: its distribution, and where the atoms of this are pulled to."""
TransportName = Literal["histogram", "exact", "kde"]
TRANSPORTS: tuple[str, ...] = ("histogram", "exact", "kde")


class AnyPenalty(Protocol):
    """What an objective needs of a penalty: one :class:`Penalty`, or one that is made of others."""

    @property
    def score_map(self) -> ScoreMap:
        """Return which scores it is given."""

    def value(self, score: Float, chunks: RowChunks) -> float:
        """Return the penalty of these scores."""

    def start(self, score: Float, chunks: RowChunks) -> tuple[Stages, RowDerivatives]:
        """Return what is left to do, and what adds the derivatives at these scores, chunk by chunk, after that.

        The scores may be overwritten, and may be what deferred work writes (``RowChunks.defer``).
        """


def prepare(penalty: AnyPenalty, score: Float, chunks: RowChunks) -> RowDerivatives:
    """Return what adds a penalty's derivatives at these scores, chunk by chunk."""
    stages, rows = penalty.start(score, chunks)
    chunks.run_stages(stages)
    return rows


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
        n_bins: int = DEFAULT_BINS,
        reduce: Reduce = alone,
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

    def start(self, score: Float, chunks: RowChunks) -> tuple[Stages, RowDerivatives]:
        """Return what is left to do, and what adds the penalty's derivatives at these scores after that."""
        if self.transport == "exact":
            chunks.catch_up()
            return [], self._prepare_rows(score)
        return self._start_tables(score, chunks)

    def targets(self, score: Float, chunks: RowChunks) -> Float:
        """Return where the penalty pulls each row's score; rows that are not compared stay."""
        return score - prepare(self, score, chunks).gaps()

    def _read_stratum(self, comparison: Comparison, histogram: Histogram, cells: list[Measure]) -> GroupMeasures:
        has_rests = needs_rests(self.multi_group, len(comparison.cells))
        rests = read_rests(histogram.take(comparison.cells)) if has_rests else []
        return GroupMeasures([cells[c] for c in comparison.cells], rests, comparison.weights, comparison.shares)

    def _start_tables(self, score: Float, chunks: RowChunks) -> tuple[Stages, RowDerivatives]:
        histogram = self._binner.bin(score, chunks, follow=True)
        n_bins = histogram.parts.shape[2]
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
        return stages, TableDerivatives(self.plan, self.score_map, score, self._strength, self._binner.bins, table)

    def _find_moves(self, comparison: Comparison, histogram: Histogram, cells: list[Measure], moves: Moves) -> None:
        """Find where each cell of a stratum is pulled to, and how strongly."""
        stratum = self._read_stratum(comparison, histogram, cells)
        pulled = pulls(self.multi_group, stratum, self._transport)
        for cell, group, pull in zip(comparison.cells, stratum.groups, pulled, strict=True):
            moves[cell] = group, pull.target
            self._strength[cell] = comparison.share * pull.strength

    def _write_table(self, cell: int, moves: Moves, table: Array) -> None:
        group, target = moves[cell]
        write_entries(group.atoms, target, self.score_map.kind, self.score_map.steepness, table[cell])

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

    def _prepare_rows(self, score: Float) -> RowDerivatives:
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
        return TargetDerivatives(
            self.plan, self.score_map, score, self._strength, target, self.score_map.curvature(score, target)
        )

    def _one_sided_pulls(self, stratum: GroupMeasures, samples: list[MeasuredSample]) -> list[Pull]:
        """Return the paper's one-sided derivatives; images are per row because slots of one block may differ."""
        (a, b), (sample_a, sample_b) = stratum.groups, samples
        return [
            Pull(float(2.0 / stratum.weights[0]), row_images(sample_a, b, self.ties)),
            Pull(float(2.0 / stratum.weights[1]), row_images(sample_b, a, self.ties)),
        ]
