"""What LightGBM's fair estimators have in common: their parameters, and ``fit``."""

import difflib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import lightgbm as lgb
import numpy as np
from lightgbm.basic import LGBMDeprecationWarning
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples, validate_data

from otfairboost.boosters.lightgbm import TrainedBooster
from otfairboost.boosters.lightgbm_parameters import (
    drop_parameter,
    is_parameter,
    read_flag,
    read_parameter,
)
from otfairboost.criteria import Target
from otfairboost.estimators.evaluation import MetricRequest, read_request
from otfairboost.estimators.inputs import (
    EvaluationInput,
    FitArguments,
    Float32,
    Rows,
    check_columns,
    check_length,
    name_evaluation_set,
    read_callbacks,
    read_class_weight,
    read_evaluation_inputs,
    read_features,
    read_init_model,
    read_init_score,
    read_weight,
)
from otfairboost.estimators.native_metrics import NativeMetric
from otfairboost.estimators.prepared import EvaluationRows, PreparedFit, make_dataset
from otfairboost.estimators.target_gap import GapTarget, find_weight
from otfairboost.estimators.task import Task, weigh_labels
from otfairboost.groups import Groups, encode_groups
from otfairboost.losses import Loss
from otfairboost.settings import FairnessSettings
from otfairboost.weight_search import WeightSearch


class FairLGBMModel(lgb.LGBMModel):
    """The part of the estimators that comes before LightGBM's own among their bases."""

    _fairness_parameters: ClassVar[tuple[str, ...]] = tuple(FairnessSettings.__dataclass_fields__)
    _gap_parameters: ClassVar[tuple[str, ...]] = tuple(GapTarget.__dataclass_fields__)
    _native_metrics: ClassVar[dict[str, NativeMetric]]

    # LightGBM's parameters are repeated for help(), completion and a short repr().
    def __init__(
        self,
        *,
        fairness: str = "demographic_parity",
        fairness_weight: float = 5.0,
        multi_group: Literal["one_vs_rest", "barycenter"] = "one_vs_rest",
        group_weighting: Literal["equal", "size"] = "equal",
        transport: Literal["histogram", "exact", "kde"] = "histogram",
        ties: Literal["average", "right", "left"] = "average",
        bandwidth: float = 0.1,
        n_bins: int | None = None,
        focus: float = 1.0,
        decision_threshold: float = 0.5,
        fairness_hessian: float | Literal["auto", "paper"] = "auto",
        score_space: Literal["response", "link"] = "response",
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
        self.fairness = fairness
        self.fairness_weight = fairness_weight
        self.multi_group = multi_group
        self.group_weighting = group_weighting
        self.transport = transport
        self.ties = ties
        self.bandwidth = bandwidth
        self.n_bins = n_bins
        self.focus = focus
        self.decision_threshold = decision_threshold
        self.fairness_hessian = fairness_hessian
        self.score_space = score_space
        self.max_gap = max_gap
        self.gap_metric = gap_metric
        self.gap_cv = gap_cv
        self.gap_confidence = gap_confidence
        self.on_unreachable = on_unreachable

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

        Returns
        -------
        self
        """
        given = FitArguments(
            X, y, sample_weight, init_score, sensitive_features,
            read_evaluation_inputs(
                eval_set, eval_X, eval_y, eval_sample_weight, eval_class_weight, eval_init_score,
                eval_sensitive_features,
            ),
            eval_names, eval_metric, feature_name, categorical_feature, callbacks, init_model,
        )  # fmt: skip
        check_columns(X, "X")
        for i, one in enumerate(given.evaluations):
            check_columns(one.X, f"eval_X[{i}]")
        with _unchanged_on_error(self):
            self._fit(given)
        return self

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
    ) -> PreparedFit:
        """Read and bin rows for several fits that differ in ``fairness_weight`` alone.

        ``prepare_fit(X, y, ...).fit(weight)`` returns what a copy of this estimator is after
        ``set_params(fairness_weight=weight).fit(X, y, ...)``. Parameters are those of :meth:`fit`.
        """
        given = FitArguments(
            X, y, sample_weight, init_score, sensitive_features,
            feature_name=feature_name, categorical_feature=categorical_feature,
        )  # fmt: skip
        check_columns(X, "X")
        return clone(self)._prepare(given, self._settings(), self._read_request(given)).construct()

    def _fit(self, given: FitArguments) -> None:
        settings, target = self._settings(), self._gap_target()
        request = self._read_request(given)
        if settings.fairness_weight == 0 and not request.has_own and target.max_gap is None:
            self._fit_plain(given)
            return
        prepared = self._prepare(given, settings, request)
        search = None
        if target.max_gap is not None:
            search = find_weight(self, target, given, prepared)
            settings = replace(settings, fairness_weight=search.chosen.fairness_weight)
        self._keep_fit(prepared, prepared.train(settings), settings.fairness_weight, search)

    def _prepare(self, given: FitArguments, settings: FairnessSettings, request: MetricRequest) -> PreparedFit:
        """Validate and bin."""
        train = self._read_training_rows(given)
        evaluations = [
            train if one.X is given.X and one.y is given.y else self._read_evaluation_rows(one, i, train)
            for i, one in enumerate(given.evaluations)
        ]
        init_model = read_init_model(given.init_model)
        params = self._process_params(stage="fit")
        pose_task = partial(self._pose_task, train=train._replace(X=None), continued=init_model is not None)
        loss = pose_task(settings, params).loss  # raises for what cannot be trained
        for i, rows in enumerate(evaluations):
            loss.check_target(rows.target.values, f"eval_y[{i}]")
        for name in ("objective", "metric"):
            drop_parameter(params, name)
        return PreparedFit(
            self,
            params,
            train,
            make_dataset(train, params, given.feature_name, given.categorical_feature),
            pose_task=pose_task,
            metrics=request.complete(
                base=str(self._objective), with_groups=all(rows.groups is not None for rows in evaluations)
            ),
            evaluations=[
                EvaluationRows(name_evaluation_set(given.eval_names, i, is_train=rows is train), rows)
                for i, rows in enumerate(evaluations)
            ],
            callbacks=read_callbacks(given.callbacks),
            init_model=init_model,
        )

    def _keep_fit(
        self, prepared: PreparedFit, trained: TrainedBooster, weight: float, search: WeightSearch | None = None
    ) -> None:
        """Keep what LightGBM's own fit keeps, and what is ours."""
        self._Booster, self._evals_result = trained
        self._n_features = self._Booster.num_feature()
        self._fitted_with_feature_names = prepared.train_set._has_non_default_feature_names
        self._best_iteration = self._Booster.best_iteration
        self._best_score = self._Booster.best_score
        self.fitted_ = True
        self._keep_fairness(prepared.train_rows.groups, weight, search)

    def _fit_plain(self, given: FitArguments) -> None:
        """Fit LightGBM's own estimator."""
        features, evaluations = given.sensitive_features, given.evaluations
        groups = None if features is None else encode_groups(features, n_rows=_num_samples(given.X))
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
        self._keep_fairness(groups, 0.0)

    def _read_request(self, given: FitArguments) -> MetricRequest:
        """Return the metrics asked for; raise for misspelt parameters."""
        self._refuse_misspelt_parameters()
        return read_request(given.eval_metric, read_parameter(self.get_params(), "metric"), self._native_metrics)

    def _settings(self) -> FairnessSettings:
        return FairnessSettings(**{name: getattr(self, name) for name in self._fairness_parameters})

    def _gap_target(self) -> GapTarget:
        return GapTarget(**{name: getattr(self, name) for name in self._gap_parameters})

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Return the parameters that LightGBM is to see."""
        params = super()._process_params(stage=stage)
        own = {*self._fairness_parameters, *self._gap_parameters}
        return {name: value for name, value in params.items() if name not in own}

    def _refuse_misspelt_parameters(self) -> None:
        """Raise for what LightGBM would ignore and is nearly one of ours: the default would be used instead."""
        own = (*self._fairness_parameters, *self._gap_parameters)
        for name in self._other_params:
            meant = difflib.get_close_matches(name, own, n=1, cutoff=0.8)
            if meant and name not in own and not is_parameter(name):
                raise ValueError(f"{name} is not a parameter; {meant[0]} is")

    def _read_training_rows(self, given: FitArguments) -> Rows:
        features = given.sensitive_features
        if features is None and self.fairness_weight > 0:
            raise ValueError(
                f"sensitive_features is missing; with fairness_weight={self.fairness_weight} fit needs the group of "
                "each row (fairness_weight=0 trains the plain model)"
            )
        X = read_features(given.X, "X", partial(validate_data, self, reset=True), least=2)
        n_rows, self.n_features_in_ = X.shape
        target = self._read_target(given.y)
        check_length(target.values, n_rows, "y")
        weight = read_weight(given.sample_weight, n_rows, "sample_weight")
        return Rows(
            name="the training rows",
            features_name="sensitive_features",
            X=X,
            target=target,
            weight=read_class_weight(self.class_weight, target, weight, "class_weight").astype(np.float32),
            distribution_weight=weight.astype(np.float32),
            groups=None if features is None else encode_groups(features, n_rows=n_rows),
            init_score=read_init_score(given.init_score, n_rows, "init_score"),
        )

    def _read_evaluation_rows(self, given: EvaluationInput, i: int, train: Rows) -> Rows:
        X_name, features_name = f"eval_X[{i}]", f"eval_sensitive_features[{i}]"
        X = read_features(given.X, X_name, partial(check_array, input_name=X_name), least=1)
        if X.shape[1] != train.X.shape[1]:
            raise ValueError(f"{X_name} has {X.shape[1]} columns, but X has {train.X.shape[1]}")
        n_rows = X.shape[0]
        target = self._read_target(given.y, like=train.target, name=f"eval_y[{i}]")
        check_length(target.values, n_rows, f"eval_y[{i}]", other=X_name)
        weight = read_weight(given.sample_weight, n_rows, f"eval_sample_weight[{i}]", other=X_name)
        groups = None
        if given.sensitive_features is not None:
            labels = None if train.groups is None else train.groups.labels
            groups = encode_groups(given.sensitive_features, n_rows=n_rows, labels=labels, name=features_name)
        return Rows(
            name=f"evaluation set {i}",
            features_name=features_name,
            X=X,
            target=target,
            weight=read_class_weight(given.class_weight, target, weight, f"eval_class_weight[{i}]").astype(np.float32),
            distribution_weight=weight.astype(np.float32),
            groups=groups,
            init_score=read_init_score(given.init_score, n_rows, f"eval_init_score[{i}]", other=X_name),
        )

    def _pose_task(self, settings: FairnessSettings, params: dict[str, Any], train: Rows, *, continued: bool) -> Task:
        y, label_weights = train.target.values, self._label_weights(train.target, params)
        loss = self._make_loss(params, y, weigh_labels(train, label_weights))
        loss.check_target(y, "y")
        # LightGBM's own objective, an initial score or model need no start from here.
        has_start = settings.fairness_weight == 0 or train.init_score is not None or continued
        starts_at_average = read_flag(params, "boost_from_average", True) and not has_start
        offset = loss.initial_score(y, train.weight) if starts_at_average else 0.0
        return Task(settings, params, loss, label_weights, offset, self._native_metrics)

    def _keep_fairness(self, groups: Groups | None, weight: float, search: WeightSearch | None = None) -> None:
        for name in ("groups_", "gap_", "gap_interval_", "search_history_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.fairness_weight_ = float(weight)
        if groups is not None:
            self.groups_ = groups.labels
        if search is not None:
            self.gap_ = search.chosen.gap
            self.gap_interval_ = (search.chosen.low, search.chosen.high)
            self.search_history_ = search.history

    def _label_weights(self, target: Target, params: dict[str, Any]) -> tuple[float, float]:
        """Return LightGBM's weights of negative and positive rows."""
        return 1.0, 1.0

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        """Return the target; in the classes of another one if given."""
        raise NotImplementedError

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        """Return the loss that the parameter ``objective`` names."""
        raise NotImplementedError


@contextmanager
def _unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if something goes wrong: a fitted one stays fitted."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
