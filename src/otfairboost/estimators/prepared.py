"""Rows read, checked and binned once, to be trained on at any fairness weight."""

import copy
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple, Protocol

from otfairboost.estimators.evaluation import Evaluator
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.task import Task
from otfairboost.objective import FairObjective
from otfairboost.plan import Plan
from otfairboost.settings import FairnessSettings


class EvaluationRows(NamedTuple):
    """Rows to report metrics on during training, and what the booster is to call them."""

    name: str
    rows: Rows


class Trainer(Protocol):
    """A booster's data set of the training rows, and how to train on it.

    Attributes
    ----------
    params : dict
        The booster's parameters.
    is_continued : bool
        Whether training continues another model.
    """

    params: dict[str, Any]
    is_continued: bool

    def construct(self) -> None:
        """Bin the rows now, and not at the first training."""

    def computes(self, metric: Any) -> bool:
        """Return whether the booster itself computes this metric, and rightly, with a custom objective."""

    def refuse_parameters(self) -> None:
        """Raise for parameters that the booster ignores, or gets wrong, with a custom objective."""

    def read_seed(self) -> int:
        """Return the seed among the parameters."""

    def train(
        self,
        task: Task,
        objective: FairObjective | None,
        metrics: Sequence[Any],
        evaluations: Sequence[tuple[EvaluationRows, Evaluator]],
    ) -> Any:
        """Train on the objective, or on the booster's own if None; return the booster and its history."""


class PreparedFit:
    """One ``fit``, up to the training: what does not depend on ``fairness_weight``.

    It holds the rows' codes, the booster's binned data set and the plan of what is compared, so that fits at several
    weights share them. After :meth:`construct` several threads may call :meth:`fit` at once.

    Parameters
    ----------
    estimator : FairModel
        The estimator that has read the rows.
    trainer : Trainer
        The booster's part.
    train : Rows
        The training rows.
    pose_task : callable
        ``pose_task(settings)`` returns the task on the training rows.
    metrics : sequence of str or callable
    evaluations : sequence of EvaluationRows
    """

    def __init__(
        self,
        estimator: Any,
        trainer: Trainer,
        train: Rows,
        *,
        pose_task: Callable[[FairnessSettings], Task],
        metrics: Sequence[Any],
        evaluations: Sequence[EvaluationRows],
    ) -> None:
        self._estimator = estimator
        self.trainer = trainer
        self.train_rows = train
        self._pose_task = pose_task
        self._metrics = metrics
        self.evaluations = evaluations
        self._plan: tuple[Plan, ...] | None = None

    def construct(self) -> "PreparedFit":
        """Bin the rows and plan the comparisons now, and not at the first fit."""
        self.trainer.construct()
        if not self.evaluations:
            self.train_rows = self.train_rows._replace(X=None)  # they are in bins now
        if self.train_rows.groups is not None:
            self._plan_comparisons(self._estimator._settings())
        return self

    def fit(self, fairness_weight: float) -> Any:
        """Return the estimator fitted at this weight: the same as if its ``fit`` had been called with all rows."""
        model = copy.copy(self._estimator)
        model.fairness_weight = fairness_weight
        model._keep_fit(self, self.train(model._settings()), fairness_weight)
        return model

    def train(self, settings: FairnessSettings) -> Any:
        """Train a booster with these settings, which differ from the estimator's in the weight at most."""
        if settings.fairness_weight > 0:
            self.trainer.refuse_parameters()
        task = self._pose_task(settings)
        own = [metric for metric in self._metrics if not self.trainer.computes(metric)]
        with ExitStack() as threads:
            objective = None
            if settings.fairness_weight > 0:
                plan = self._plan_comparisons(settings)
                objective = threads.enter_context(closing(task.objective_on(self.train_rows, plan)))
            evaluations = []
            for one in self.evaluations:
                evaluator = task.evaluator_on(one.rows, own, objective if one.rows is self.train_rows else None)
                threads.enter_context(closing(evaluator))
                evaluations.append((one, evaluator))
            return self.trainer.train(task, objective, self._metrics, evaluations)

    def _plan_comparisons(self, settings: FairnessSettings) -> tuple[Plan, ...]:
        if self._plan is None:
            rows = self.train_rows
            assert rows.groups is not None
            self._plan = settings.plan(rows.target, rows.groups, rows.distribution_weight, name=rows.features_name)
            if not any(one.rows is rows for one in self.evaluations):
                self.train_rows = rows._replace(groups=rows.groups.without_rows())  # the plan has them
        return self._plan
