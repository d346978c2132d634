"""Metrics of all workers' rows, from sums that do not grow with their number.

A metric of this package takes rows. Here it gets a few thousand in place of all: the scores' histogram within each
group, label and decision, each bin as one row that weighs what its rows weigh and has the mean score of all. Rates
are then exact, and distances between score distributions nearly.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.estimators.evaluation import BASE_LOSS, FAIR_OBJECTIVE, FAIRNESS_PENALTY, OBJECTIVE_METRICS
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.task import Task, weigh_labels
from otfairboost.metrics import METRICS
from otfairboost.objective import FairObjective
from otfairboost.reduction import Reduce
from otfairboost.threads import RowChunks
from otfairboost.transport.grid import MIN_BINS, robust_grid
from otfairboost.transport.histogram import ScoreBinner

Float = NDArray[np.float64]
_BINS = 32768
"""In all cells together."""


class FewRows(NamedTuple):
    """Rows that stand for many."""

    y: Float
    score: Float
    groups: Float
    weight: Float


class GlobalEvaluator:
    """Computes metrics over the rows of all workers; every worker has to call it, and gets the same values.

    Parameters
    ----------
    metrics : sequence of str
        Names of this package.
    rows : Rows
        The worker's own rows.
    task : Task
    make_objective : callable or None
        Makes the objective on these rows; None if they have no groups.
    reduce : callable
        Sums an array over workers.
    """

    def __init__(
        self,
        metrics: Sequence[str],
        rows: Rows,
        task: Task,
        *,
        make_objective: Callable[[], FairObjective] | None,
        reduce: Reduce,
    ) -> None:
        self._metrics = metrics
        self._task = task
        self._reduce = reduce
        self._y = rows.target.values
        self._loss_weight = weigh_labels(rows, task.label_weights)
        self._threshold = None if rows.target.classes is None else task.settings.decision_threshold
        self._chunks = RowChunks(len(self._y), task.n_jobs)
        needed = any(metric in (FAIR_OBJECTIVE, FAIRNESS_PENALTY) for metric in metrics)
        self._objective = make_objective() if needed and make_objective is not None else None
        self._n_groups = 1 if rows.groups is None else len(rows.groups.parts[0].groups.labels)
        codes = np.zeros(len(self._y), np.int64) if rows.groups is None else rows.groups.kinds().astype(np.int64)
        if self._threshold is not None:
            codes = 2 * codes + (self._y > 0)
        self._codes, self._weight = codes, rows.weight

    def __call__(self, raw: Float) -> list[tuple[str, float]]:
        """Return (name, value) of each metric."""
        parts = {BASE_LOSS: self._mean_loss(raw)} if BASE_LOSS in self._metrics else {}
        if self._objective is not None:
            loss, penalty = self._objective.value(raw)
            parts[FAIRNESS_PENALTY] = penalty
            parts[FAIR_OBJECTIVE] = loss + self._objective.fairness_weight * penalty
        few = None
        if any(metric not in OBJECTIVE_METRICS for metric in self._metrics):
            few = self._summarise(raw)
        return [
            (metric, parts[metric] if few is None or metric in parts else self._compute(metric, few))
            for metric in self._metrics
        ]

    def close(self) -> None:
        """Let threads go."""
        self._chunks.close()
        if self._objective is not None:
            self._objective.close()

    def _mean_loss(self, raw: Float) -> float:
        weight = self._loss_weight
        values = self._task.loss.row_values(self._y, raw)
        own = [values @ weight, weight.sum(dtype=np.float64)] if len(weight) else [values.sum(), float(len(values))]
        total = self._reduce(np.array(own, np.float64))
        return float(total[0] / total[1])

    def _summarise(self, raw: Float) -> FewRows:
        score = np.empty_like(raw)
        self._task.loss.write_response(raw, 0.0, score)
        codes, n_cells = self._codes, self._n_groups
        if self._threshold is not None:
            codes, n_cells = 2 * codes + (score >= self._threshold), 4 * n_cells
        binner = ScoreBinner(
            codes.astype(np.int16), self._weight, n_cells, robust_grid, max(MIN_BINS, _BINS // n_cells), self._reduce
        )
        sums = binner.bin(score, self._chunks).sums
        cell, bins = np.nonzero(sums[:, :, 0] > 0)
        # The mean of all cells: equal scores stay equal, which ranks depend on.
        mass, moment, _ = sums.sum(axis=0).T
        weight, mean = sums[cell, bins, 0], (moment / np.maximum(mass, np.finfo(np.float64).tiny))[bins]
        if self._threshold is None:
            return FewRows(mean, mean, cell.astype(np.float64), weight)
        below = np.nextafter(self._threshold, 0.0)  # no rounding may change a decision
        mean = np.where(cell % 2, np.maximum(mean, self._threshold), np.minimum(mean, below))
        return FewRows((cell // 2 % 2).astype(np.float64), mean, (cell // 4).astype(np.float64), weight)

    def _compute(self, name: str, few: FewRows) -> float:
        metric = METRICS[name]
        value = metric.from_scores(
            few.y, few.score, sensitive_features=few.groups, sample_weight=few.weight, threshold=self._threshold
        )
        if np.isnan(value):  # undefined, such as a ratio where nobody is selected: early stopping must get past it
            value = -np.inf if metric.greater_is_better else np.inf
        return float(value)


def refuse_metrics(metrics: Sequence[Any], *, is_classifier: bool) -> None:
    """Raise for metrics that cannot be had from the workers' sums."""
    for metric in metrics:
        if not isinstance(metric, str):
            name = getattr(metric, "__name__", repr(metric))
            raise ValueError(
                f"eval_metric {name!r} is a function, which would see one worker's rows only; allowed are names"
            )
        if is_classifier or metric not in METRICS:
            continue
        if METRICS[metric].kind == "label":
            raise ValueError(f"eval_metric {metric!r} compares decisions, but a regressor has scores only")
        if not METRICS[metric].needs_groups or metric == "tradeoff_objective":
            raise ValueError(
                f"eval_metric {metric!r} reads targets and predictions row by row, which workers do not exchange; "
                "allowed are XGBoost's metrics, such as 'rmse' and 'mae', 'fair_objective', 'base_loss', "
                "'fairness_penalty', and distances between groups' scores"
            )
