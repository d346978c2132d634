"""XGBoost's part of a prepared fit."""

import math
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import narwhals.dependencies as nwd
import xgboost as xgb

from otfairboost.boosters.xgboost import EvaluationSet, Stopping, TrainedBooster, estimate_base_score, train_booster
from otfairboost.boosters.xgboost_parameters import read_number, refuse_parameters
from otfairboost.estimators.evaluation import Evaluator
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.prepared import EvaluationRows
from otfairboost.estimators.task import Task
from otfairboost.estimators.xgboost_metrics import is_own, name_of, rises
from otfairboost.objective import FairObjective

MAX_KEPT_ENTRIES = 2**26
"""Numbers in a training set up to which rows are kept beside their bins: half a gigabyte."""


class XGBoostTrainer:
    """Trains XGBoost; see :class:`otfairboost.estimators.prepared.Trainer`.

    Parameters
    ----------
    estimator : xgboost.XGBModel
        With all parameters.
    train : Rows
    objective_name : str
        XGBoost's objective.
    verbose, init_model
        As in ``xgboost.train``.
    """

    def __init__(
        self,
        estimator: xgb.XGBModel,
        train: Rows,
        objective_name: str,
        *,
        verbose: Any,
        init_model: xgb.Booster | None,
    ) -> None:
        self.params = {
            name: value
            for name, value in estimator.get_xgb_params().items()
            if name not in ("objective", "eval_metric")
        }
        if train.target.n_outputs > 1:
            self.params["num_class"] = train.target.n_outputs
        self.is_continued = init_model is not None
        self._estimator = estimator
        self._objective_name = objective_name
        self._train_rows = train._replace(groups=None)
        self._verbose = verbose
        self._init_model = init_model
        self._keeps_rows = _count_entries(train.X) <= MAX_KEPT_ENTRIES and estimator.device in (None, "cpu")
        self._train_matrix: xgb.DMatrix | None = None
        self._turn = threading.Lock()  # XGBoost writes into a matrix that it trains on

    def construct(self) -> None:
        """Bin the rows now, and not at the first training."""
        self._make_train_matrix()

    def computes(self, metric: Any) -> bool:
        """Return whether XGBoost computes this metric: all of its own, because it knows link and base score."""
        return isinstance(metric, str) and not is_own(metric)

    def refuse_parameters(self) -> None:
        """Raise for parameters that do not go together with the penalty."""
        refuse_parameters(self.params)

    def read_seed(self) -> int:
        """Return the seed among the parameters."""
        return int(read_number(self.params, "random_state", 0))

    def train(
        self,
        task: Task,
        objective: FairObjective | None,
        metrics: Sequence[Any],
        evaluations: Sequence[tuple[EvaluationRows, Evaluator]],
    ) -> TrainedBooster:
        """Train a booster."""
        estimator = self._estimator
        params = dict(self.params)
        if objective is not None and params.get("base_score") is None and not self.is_continued:
            y, weight = self._train_rows.target.values, self._train_rows.weight
            params["base_score"] = estimate_base_score(params, self._objective_name, y, weight)
        with self._turn, xgb.config_context(verbosity=estimator.verbosity):
            train_matrix = self._make_train_matrix()
            return train_booster(
                params,
                train_matrix,
                estimator.get_num_boosting_rounds(),
                loss=task.loss,
                objective_name=self._objective_name,
                objective=objective,
                settings=task.settings,
                metrics=[metric for metric in metrics if self.computes(metric)],
                evaluation_sets=[
                    EvaluationSet(one.name, self._make_evaluation_matrix(one.rows, train_matrix), evaluator)
                    for one, evaluator in evaluations
                ],
                stopping=self._read_stopping(metrics),
                callbacks=estimator.callbacks or (),
                verbose=self._verbose,
                init_model=self._init_model,
            )

    def _read_stopping(self, metrics: Sequence[Any]) -> Stopping | None:
        rounds = self._estimator.early_stopping_rounds
        if rounds is None:
            return None
        last = metrics[-1] if metrics else None
        return Stopping(rounds, None if last is None else name_of(last), rises(last))

    def _make_train_matrix(self) -> xgb.DMatrix:
        if self._train_matrix is None:
            rows = self._train_rows
            categories = None
            if self._init_model is not None and nwd.is_into_dataframe(rows.X):
                categories = self._init_model.get_categories()
            self._train_matrix = self._make_matrix(
                rows, categories, ref=None, feature_weights=self._estimator.feature_weights
            )
            self._train_rows = rows._replace(X=None)  # they are in bins now
        return self._train_matrix

    def _make_evaluation_matrix(self, rows: Rows, train_matrix: xgb.DMatrix) -> xgb.DMatrix:
        if rows.target is self._train_rows.target:  # the training rows themselves
            return train_matrix
        categories = train_matrix.get_categories() if nwd.is_into_dataframe(rows.X) else None
        return self._make_matrix(rows, categories, ref=train_matrix)

    def _make_matrix(self, rows: Rows, categories: Any, **arguments: Any) -> xgb.DMatrix:
        """Return the rows as a matrix of XGBoost; ``categories`` are those that codes must agree with.

        XGBoost's estimators bin rows as they read them, to save memory. Keeping them too, 8 bytes an entry, gives the
        same bins in less time; data that are not large get that.
        """
        estimator = self._estimator
        is_coded = categories is not None and not categories.empty()
        make = partial(_make_plain_matrix, estimator) if self._keeps_rows else estimator._create_dmatrix
        return make(
            data=rows.X,
            label=rows.target.values,
            weight=rows.weight if len(rows.weight) else None,
            base_margin=rows.init_score,
            missing=estimator.missing,
            enable_categorical=estimator.enable_categorical,
            feature_types=categories if is_coded else estimator.feature_types,
            **arguments,
        )


def _count_entries(X: Any) -> int:
    return int(X.nnz) if hasattr(X, "nnz") else math.prod(X.shape)


def _make_plain_matrix(estimator: xgb.XGBModel, *, ref: xgb.DMatrix | None, **arguments: Any) -> xgb.DMatrix:
    """Return a matrix that is binned when it is first trained on; so it needs no other one to take the bins from."""
    return xgb.DMatrix(**arguments, nthread=estimator.n_jobs)
