"""Rows read, checked and binned once, to be trained on at any fairness weight."""

import copy
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import lightgbm as lgb

from otfairboost.boosters.lightgbm import EvaluationSet, TrainedBooster, train_booster
from otfairboost.boosters.lightgbm_parameters import refuse_ignored_parameters
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.task import Task
from otfairboost.penalty import Plan
from otfairboost.settings import FairnessSettings


class EvaluationRows(NamedTuple):
    """Rows to report metrics on during training, and what LightGBM is to call them."""

    name: str
    rows: Rows


class PreparedFit:
    """One ``fit``, up to the training: what does not depend on ``fairness_weight``.

    It holds the rows' codes, LightGBM's binned data set and the plan of what is compared, so that fits at several
    weights share them. After :meth:`construct` several threads may call :meth:`fit` at once.

    Parameters
    ----------
    estimator : FairLGBMModel
        The estimator that has read the rows.
    params : dict
        LightGBM's parameters.
    train, train_set : Rows, lightgbm.Dataset
        The training rows.
    pose_task : callable
        ``pose_task(settings, params)`` returns the task on the training rows.
    metrics : sequence of str or callable
    evaluations : sequence of EvaluationRows
    callbacks, init_model
        As in ``lightgbm.train``.
    """

    def __init__(
        self,
        estimator: Any,
        params: dict[str, Any],
        train: Rows,
        train_set: lgb.Dataset,
        *,
        pose_task: Callable[[FairnessSettings, dict[str, Any]], Task],
        metrics: Sequence[Any],
        evaluations: Sequence[EvaluationRows],
        callbacks: Sequence[Callable[..., Any]],
        init_model: lgb.Booster | None,
    ) -> None:
        self._estimator = estimator
        self.params = params
        self.train_rows = train
        self.train_set = train_set
        self._pose_task = pose_task
        self._metrics = metrics
        self.evaluations = evaluations
        self._callbacks = callbacks
        self._init_model = init_model
        self._plan: Plan | None = None

    def construct(self) -> "PreparedFit":
        """Bin the rows and plan the comparisons now, and not at the first fit."""
        self.train_set.construct()
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

    def train(self, settings: FairnessSettings) -> TrainedBooster:
        """Train a booster with these settings, which differ from the estimator's in the weight at most."""
        if settings.fairness_weight > 0:
            refuse_ignored_parameters(self.params)
        task = self._pose_task(settings, self.params)
        with ExitStack() as threads:
            objective = None
            if settings.fairness_weight > 0:
                plan = self._plan_comparisons(settings)
                objective = threads.enter_context(closing(task.objective_on(self.train_rows, plan)))
            evaluation_sets = []
            for name, rows in self.evaluations:
                is_train = rows is self.train_rows
                evaluator = task.evaluator_on(rows, self._metrics, objective if is_train else None)
                threads.enter_context(closing(evaluator))
                dataset = self.train_set
                if not is_train:
                    dataset = make_dataset(rows, self.params, "auto", "auto", reference=self.train_set)
                evaluation_sets.append(EvaluationSet(name, dataset, evaluator))
            return train_booster(
                self.params,
                self.train_set,
                self._estimator.n_estimators,
                loss=task.loss,
                objective=objective,
                settings=settings,
                metrics=self._metrics,
                evaluation_sets=evaluation_sets,
                callbacks=self._callbacks,
                init_model=self._init_model,
            )

    def _plan_comparisons(self, settings: FairnessSettings) -> Plan:
        if self._plan is None:
            rows = self.train_rows
            assert rows.groups is not None
            self._plan = settings.plan(rows.target, rows.groups, rows.distribution_weight, name=rows.features_name)
        return self._plan


def make_dataset(
    rows: Rows, params: dict[str, Any], feature_name: Any, categorical_feature: Any, reference: Any = None
) -> lgb.Dataset:
    """Return the rows as LightGBM takes them."""
    return lgb.Dataset(
        rows.X,
        label=rows.target.values,
        weight=rows.weight if len(rows.weight) else None,
        init_score=rows.init_score,
        reference=reference,
        feature_name=feature_name,
        categorical_feature=categorical_feature,
        params={**params, "objective": "none"},
    )
