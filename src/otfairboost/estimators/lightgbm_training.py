"""LightGBM's part of a prepared fit."""

from collections.abc import Callable, Sequence
from typing import Any

import lightgbm as lgb

from otfairboost.boosters.lightgbm import (
    CLASS_RANKING_METRICS,
    RANKING_METRICS,
    EvaluationSet,
    TrainedBooster,
    train_booster,
)
from otfairboost.boosters.lightgbm_dataset import SampledDataset
from otfairboost.boosters.lightgbm_parameters import read_number, refuse_ignored_parameters, sum_row_wise
from otfairboost.estimators.evaluation import Evaluator
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.prepared import EvaluationRows
from otfairboost.estimators.task import Task
from otfairboost.objective import FairObjective


class LightGBMTrainer:
    """Trains LightGBM; see :class:`otfairboost.estimators.prepared.Trainer`.

    Parameters
    ----------
    params, n_rounds, callbacks, init_model
        As in ``lightgbm.train``; ``params`` without objective and metric.
    train : Rows
    feature_name, categorical_feature
        As in ``lightgbm.Dataset``.
    """

    def __init__(
        self,
        params: dict[str, Any],
        n_rounds: int,
        train: Rows,
        *,
        feature_name: Any,
        categorical_feature: Any,
        callbacks: Sequence[Callable[..., Any]],
        init_model: lgb.Booster | None,
    ) -> None:
        self.params = params
        self.is_continued = init_model is not None
        self.train_set = make_dataset(train, params, feature_name, categorical_feature)
        self._shape = train.X.shape
        self._n_rounds = n_rounds
        self._train_rows = train._replace(X=None, groups=None)
        self._callbacks = callbacks
        self._init_model = init_model

    def construct(self) -> None:
        """Bin the rows now, and not at the first training."""
        self.train_set.construct()

    def computes(self, metric: Any) -> bool:
        """Return whether LightGBM computes this metric: those that only rank do not mind link and offset."""
        ranking = RANKING_METRICS if self._train_rows.target.n_outputs == 1 else CLASS_RANKING_METRICS
        return isinstance(metric, str) and metric in ranking

    def refuse_parameters(self) -> None:
        """Raise for parameters that LightGBM ignores, or gets wrong, with a custom objective."""
        refuse_ignored_parameters(self.params, self._train_rows.target.n_outputs)

    def read_seed(self) -> int:
        """Return the seed among the parameters."""
        return int(read_number(self.params, "seed", 0))

    def train(
        self,
        task: Task,
        objective: FairObjective | None,
        metrics: Sequence[Any],
        evaluations: Sequence[tuple[EvaluationRows, Evaluator]],
    ) -> TrainedBooster:
        """Train a booster."""
        return train_booster(
            self.params if objective is None else sum_row_wise(self.params, *self._shape),
            self.train_set,
            self._n_rounds,
            loss=task.loss,
            objective=objective,
            settings=task.settings,
            metrics=metrics,
            evaluation_sets=[
                EvaluationSet(one.name, self._make_evaluation_set(one.rows), evaluator)
                for one, evaluator in evaluations
            ],
            callbacks=self._callbacks,
            init_model=self._init_model,
        )

    def _make_evaluation_set(self, rows: Rows) -> lgb.Dataset:
        if rows.target is self._train_rows.target:  # the training rows themselves
            return self.train_set
        return make_dataset(rows, self.params, "auto", "auto", reference=self.train_set)


def make_dataset(
    rows: Rows, params: dict[str, Any], feature_name: Any, categorical_feature: Any, reference: Any = None
) -> lgb.Dataset:
    """Return the rows as LightGBM takes them."""
    return SampledDataset(
        rows.X,
        label=rows.target.values,
        weight=rows.weight if len(rows.weight) else None,
        init_score=rows.init_score,
        reference=reference,
        feature_name=feature_name,
        categorical_feature=categorical_feature,
        params={**params, "objective": "none"},
    )
