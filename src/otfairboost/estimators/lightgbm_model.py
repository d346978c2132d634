"""What LightGBM's fair estimators have in common: their parameters, and ``fit``."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import lightgbm as lgb
import numpy as np
from lightgbm.basic import LGBMDeprecationWarning
from sklearn.utils.validation import validate_data

from otfairboost.boosters.lightgbm import CLASS_RANKING_METRICS, TrainedBooster
from otfairboost.boosters.lightgbm_parameters import (
    drop_parameter,
    is_parameter,
    read_flag,
    read_number,
    read_parameter,
)
from otfairboost.criteria import Target
from otfairboost.estimators.evaluation import MetricRequest, read_request
from otfairboost.estimators.fair_model import FairModel
from otfairboost.estimators.inputs import FitArguments, Rows, read_evaluation_inputs, read_features
from otfairboost.estimators.lightgbm_inputs import check_columns, name_evaluation_set, read_callbacks, read_init_model
from otfairboost.estimators.lightgbm_training import LightGBMTrainer
from otfairboost.estimators.native_metrics import MULTICLASS_METRICS, Constants, NativeMetric
from otfairboost.estimators.prepared import PreparedFit
from otfairboost.estimators.task import Task, weigh_labels
from otfairboost.settings import FairnessSettings
from otfairboost.threads import count_threads


class FairLGBMModel(FairModel, lgb.LGBMModel):
    """The part of the estimators that comes before LightGBM's own among their bases."""

    _native_metrics: ClassVar[dict[str, NativeMetric]]

    # LightGBM's parameters are repeated for help(), completion and a short repr().
    def __init__(
        self,
        *,
        fairness: str | Callable[..., Any] = "demographic_parity",
        fairness_weight: float = 5.0,
        multi_group: Literal["one_vs_rest", "barycenter"] = "one_vs_rest",
        group_weighting: Any = "equal",
        transport: Literal["histogram", "exact", "kde"] = "histogram",
        ties: Literal["average", "right", "left"] = "average",
        bandwidth: float = 0.1,
        n_bins: int | None = None,
        focus: float = 1.0,
        decision_threshold: float = 0.5,
        fairness_hessian: float | Literal["auto", "paper"] = "auto",
        score_space: Literal["response", "link"] = "response",
        focus_quantile: float | None = None,
        sensitive_bins: Any = None,
        min_group_size: int | None = None,
        multi_attribute: Literal["intersection", "sum"] = "intersection",
        attribute_weights: Any = None,
        control_bins: Any = None,
        target_bins: Any = 5,
        max_gap: float | None = None,
        gap_metric: str | None = None,
        gap_cv: Any = 5,
        gap_confidence: float | None = 0.95,
        on_unreachable: Literal["warn", "raise"] = "warn",
        boosting_type: str = "gbdt",
        num_leaves: int = 31,
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200000,
        objective: str | Callable[..., Any] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            boosting_type=boosting_type, num_leaves=num_leaves, max_depth=max_depth, learning_rate=learning_rate,
            n_estimators=n_estimators, subsample_for_bin=subsample_for_bin, objective=objective,
            class_weight=class_weight, min_split_gain=min_split_gain, min_child_weight=min_child_weight,
            min_child_samples=min_child_samples, subsample=subsample, subsample_freq=subsample_freq,
            colsample_bytree=colsample_bytree, reg_alpha=reg_alpha, reg_lambda=reg_lambda,
            random_state=random_state, n_jobs=n_jobs, importance_type=importance_type, **kwargs,
        )  # fmt: skip
        self._set_own_parameters(locals())

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Any = None,
        eval_class_weight: Any = None,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Any = None,
        init_model: Any = None,
        *,
        sensitive_features: Any = None,
        eval_sensitive_features: Any = None,
        eval_X: Any = None,
        eval_y: Any = None,
        control_features: Any = None,
        eval_control_features: Any = None,
    ) -> Any:
        """Fit the model.

        Parameters
        ----------
        X, y, sample_weight, init_score, eval_names, eval_sample_weight, eval_class_weight, eval_init_score, \
        feature_name, categorical_feature, callbacks, init_model, eval_X, eval_y
            As in LightGBM's estimators. ``sample_weight`` counts in the loss and in the groups' score distributions,
            ``class_weight`` in the loss alone.
        eval_set : list of (X, y), optional
            Evaluation sets; the same as ``eval_X`` and ``eval_y``.
        eval_metric : str, callable or list of these, optional
            LightGBM's metrics, with which LightGBM's default metric comes along as in LightGBM, or any of
            ``"fair_objective"`` (what is trained: loss plus weighted penalty), ``"base_loss"``,
            ``"fairness_penalty"`` and the names in ``otfairboost.metrics.METRICS``, which come alone. Functions take
            probabilities or predictions, and come last. The default is ``"fair_objective"`` if all evaluation sets
            have groups, and LightGBM's otherwise. Early stopping follows metrics as in LightGBM; a gap alone is
            smallest where nothing has been learnt yet, so stop on ``"fair_objective"`` or ``"tradeoff_objective"``.
        sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
            The group of each row: strings, numbers or booleans; several columns form intersections. Rows where it is
            missing count in the loss and not in the penalty. Needed if ``fairness_weight`` > 0, never to predict.
        eval_sensitive_features : array-like or list of array-like, optional
            The same for each evaluation set.
        control_features : array-like of shape (n_rows,) or (n_rows, n_columns), optional
            With ``fairness="conditional_demographic_parity"`` or a function: groups are compared among rows of the same
            control features. Rows where one is missing count in the loss and not in the penalty.
        eval_control_features : array-like or list of array-like, optional
            The same for each evaluation set.

        Returns
        -------
        self
        """
        given = FitArguments(
            X, y, sample_weight, init_score, sensitive_features,
            read_evaluation_inputs(
                eval_set, eval_X, eval_y, eval_sample_weight, eval_class_weight, eval_init_score,
                eval_sensitive_features, eval_control_features=eval_control_features,
            ),
            eval_names, eval_metric, feature_name, categorical_feature, callbacks, init_model,
            control_features=control_features,
        )  # fmt: skip
        return self._fit_or_stay(given)

    def prepare_fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        control_features: Any = None,
    ) -> PreparedFit:
        """Read and bin rows for several fits that differ in ``fairness_weight`` alone.

        ``prepare_fit(X, y, ...).fit(weight)`` returns what a copy of this estimator is after
        ``set_params(fairness_weight=weight).fit(X, y, ...)``. Parameters are those of :meth:`fit`.
        """
        given = FitArguments(
            X, y, sample_weight, init_score, sensitive_features,
            feature_name=feature_name, categorical_feature=categorical_feature, control_features=control_features,
        )  # fmt: skip
        return self._prepare_copy(given)

    def _fit_plain(self, given: FitArguments) -> None:
        """Fit LightGBM's own estimator."""
        evaluations = given.evaluations
        arguments: dict[str, Any] = {}
        if evaluations:
            # As eval_set: the classifier does not translate labels in eval_y (LightGBM 4.7.0).
            arguments["eval_set"] = [(one.X, one.y) for one in evaluations]
            arguments["eval_sample_weight"] = [one.sample_weight for one in evaluations]
            arguments["eval_init_score"] = [one.init_score for one in evaluations]
            if any(one.class_weight is not None for one in evaluations):
                arguments["eval_class_weight"] = [one.class_weight for one in evaluations]
        eval_metric = given.eval_metric
        if isinstance(eval_metric, list | tuple):
            eval_metric = list(eval_metric)  # a list of its own: LightGBM's classifier writes into it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LGBMDeprecationWarning)  # of eval_set
            super().fit(
                given.X, given.y, sample_weight=given.sample_weight, init_score=given.init_score,
                eval_names=given.eval_names, eval_metric=eval_metric, feature_name=given.feature_name,
                categorical_feature=given.categorical_feature, callbacks=given.callbacks,
                init_model=given.init_model, **arguments,
            )  # fmt: skip

    def _check_columns(self, X: Any, name: str) -> None:
        check_columns(X, name)

    def _read_request(self, given: FitArguments) -> MetricRequest:
        """Return the metrics asked for; raise for misspelt parameters."""
        self._refuse_misspelt(name for name in self._other_params if not is_parameter(name))
        return read_request(given.eval_metric, read_parameter(self.get_params(), "metric"), self._native_metrics)

    def _complete_metrics(self, request: MetricRequest, target: Target, *, with_groups: bool) -> list[Any]:
        if target.n_outputs > 1:
            request = request._replace(native=MULTICLASS_METRICS, ranking=CLASS_RANKING_METRICS)
        return request.complete(base=str(self._objective), with_groups=with_groups)

    def _find_native_metrics(self, target: Target) -> dict[str, NativeMetric]:
        return self._native_metrics if target.n_outputs == 1 else MULTICLASS_METRICS

    def _name_evaluation_set(self, given: FitArguments, i: int, *, is_train: bool) -> str:
        return name_evaluation_set(given.eval_names, i, is_train=is_train)

    def _read_training_features(self, X: Any) -> Any:
        X = read_features(X, "X", partial(validate_data, self, reset=True), least=2)
        self.n_features_in_ = X.shape[1]
        return X

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Return the parameters that LightGBM is to see."""
        params = super()._process_params(stage=stage)
        return {name: value for name, value in params.items() if name not in self._own_parameters}

    def _make_trainer(self, given: FitArguments, train: Rows) -> LightGBMTrainer:
        init_model = read_init_model(given.init_model, train.target.n_outputs)
        callbacks = read_callbacks(given.callbacks)
        params = self._process_params(stage="fit")
        for name in ("objective", "metric"):
            drop_parameter(params, name)
        return LightGBMTrainer(
            params, self.n_estimators, train, feature_name=given.feature_name,
            categorical_feature=given.categorical_feature, callbacks=callbacks, init_model=init_model,
        )  # fmt: skip

    def _pose_task(self, settings: FairnessSettings, *, params: dict[str, Any], train: Rows, continued: bool) -> Task:
        y, label_weights = train.target.values, self._label_weights(train.target, params)
        loss = self._make_loss(params, y, weigh_labels(train, label_weights))
        loss.check_target(y, "y")
        # LightGBM's own objective, an initial score or model need no start from here.
        has_start = settings.fairness_weight == 0 or train.init_score is not None or continued
        starts_at_average = read_flag(params, "boost_from_average", True) and not has_start
        offset = loss.initial_score(y, train.weight) if starts_at_average else 0.0
        constants = {name: read_number(params, name, default) for name, default in Constants._field_defaults.items()}
        return Task(
            settings, loss, label_weights, offset=offset,
            learning_rate=read_number(params, "learning_rate", 0.1), n_jobs=count_threads(params["num_threads"]),
            native_metrics=self._find_native_metrics(train.target), constants=Constants(**constants),
        )  # fmt: skip

    def _keep_booster(self, prepared: PreparedFit, trained: TrainedBooster) -> None:
        assert isinstance(prepared.trainer, LightGBMTrainer)
        self._Booster, self._evals_result = trained
        self._n_features = self._Booster.num_feature()
        self._fitted_with_feature_names = prepared.trainer.train_set._has_non_default_feature_names
        self._best_iteration = self._Booster.best_iteration
        self._best_score = self._Booster.best_score
        self.fitted_ = True
