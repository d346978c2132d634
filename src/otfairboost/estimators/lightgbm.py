"""LightGBM's estimators with a fairness penalty."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import lightgbm as lgb
import narwhals as nw
import narwhals.dependencies as nwd
import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from otfairboost.boosters.lightgbm import (
    EvaluationSet,
    pop_parameter,
    read_parameter,
    refuse_ignored_parameters,
    train_booster,
)
from otfairboost.criteria import Target
from otfairboost.estimators.evaluation import FAIR_OBJECTIVE, Evaluator, canonical_metric, needs_groups
from otfairboost.groups import Groups, encode_groups
from otfairboost.losses import AbsoluteError, HuberLoss, LogLoss, Loss, SquaredError
from otfairboost.objective import FairObjective
from otfairboost.settings import FairnessSettings

Float32 = NDArray[np.float32]
UNIT_WEIGHT = np.empty(0, np.float32)


class _Rows(NamedTuple):
    """One set of rows, read and checked. Weights are empty where all rows weigh 1."""

    X: Any
    target: Target
    weight: Float32  # in the loss and in metrics
    distribution_weight: Float32  # in the groups' score distributions
    groups: Groups | None
    init_score: Any
    name: str  # of the sensitive features, for messages


class _FairLGBMModel:
    """What classifier and regressor have in common; comes before LightGBM's estimator among their bases."""

    _fairness_parameters: ClassVar[tuple[str, ...]] = tuple(FairnessSettings.__dataclass_fields__)
    _base_metric: ClassVar[str]

    def __init__(
        self,
        *,
        fairness: str = "demographic_parity",
        fairness_weight: float = 1.0,
        multi_group: Literal["one_vs_rest", "barycenter"] = "one_vs_rest",
        group_weighting: Literal["equal", "size"] = "equal",
        transport: Literal["histogram", "exact", "kde"] = "histogram",
        ties: Literal["average", "right", "left"] = "average",
        bandwidth: float = 0.1,
        n_bins: int | None = None,
        focus: float = 1.0,
        decision_threshold: float = 0.5,
        fairness_hessian: float | Literal["auto", "paper"] = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
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

    def _settings(self) -> FairnessSettings:
        return FairnessSettings(**{name: getattr(self, name) for name in self._fairness_parameters})

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Return the parameters that LightGBM is to see."""
        params = super()._process_params(stage=stage)
        return {name: value for name, value in params.items() if name not in self._fairness_parameters}

    def fit(
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
            LightGBM's metrics; ``"fair_objective"`` (what is trained: loss plus weighted penalty; the default),
            ``"base_loss"``, ``"fairness_penalty"``; any name in ``otfairboost.metrics.METRICS``. Early stopping follows
            them as in LightGBM.
        sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
            The group of each row: strings, numbers or booleans; several columns form intersections. Rows where it is
            missing count in the loss and not in the penalty. Needed if ``fairness_weight`` > 0, never to predict.
        eval_sensitive_features : array-like or list of array-like, optional
            The same for each evaluation set.

        Returns
        -------
        self
        """
        settings = self._settings()
        metrics = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
        if settings.fairness_weight == 0 and not any(map(needs_groups, metrics)):
            plain = {
                "sample_weight": sample_weight, "init_score": init_score, "eval_set": eval_set,
                "eval_names": eval_names, "eval_sample_weight": eval_sample_weight, "eval_init_score": eval_init_score,
                "eval_metric": eval_metric, "feature_name": feature_name, "categorical_feature": categorical_feature,
                "callbacks": callbacks, "init_model": init_model, "eval_X": eval_X, "eval_y": eval_y,
            }  # fmt: skip
            if eval_class_weight is not None:
                plain["eval_class_weight"] = eval_class_weight
            super().fit(X, y, **plain)
            return self

        # Validate.
        train = self._read_training_rows(X, y, sample_weight, init_score, sensitive_features)
        evals = [
            train if eval_X_i is X and eval_y_i is y else
            self._read_evaluation_rows(
                eval_X_i,
                eval_y_i,
                _item(eval_sample_weight, i, "eval_sample_weight"),
                _item(eval_class_weight, i, "eval_class_weight"),
                _item(eval_init_score, i, "eval_init_score"),
                _item(eval_sensitive_features, i, "eval_sensitive_features", alone=eval_count == 1),
                train,
                f"eval_sensitive_features[{i}]",
            )
            for eval_count, i, (eval_X_i, eval_y_i) in _numbered(_pair_evaluation_sets(eval_set, eval_X, eval_y))
        ]  # fmt: skip
        params, metric_names = self._read_params(eval_metric, with_groups=all(rows.groups for rows in evals))
        refuse_ignored_parameters(params)

        # Build the objective.
        from_average = bool(pop_parameter(params, "boost_from_average", True))
        loss_weight = self._loss_weight(train, params)
        loss = self._make_loss(params, train.target.values, loss_weight)
        starts_at_zero = init_score is not None or init_model is not None or not from_average
        offset = 0.0 if starts_at_zero else loss.initial_score(train.target.values, train.weight)

        def objective_on(rows: _Rows, weight: Float32) -> FairObjective:
            assert rows.groups is not None
            return settings.objective(
                loss, rows.target, rows.groups, weight, rows.distribution_weight, offset=offset, name=rows.name,
                learning_rate=float(read_parameter(params, "learning_rate", 0.1)), n_jobs=params["num_threads"],
            )  # fmt: skip

        objective = objective_on(train, loss_weight)

        # Train.
        train_set = _make_dataset(train, params, feature_name, categorical_feature)
        evaluation_sets = []
        for i, rows in enumerate(evals):
            is_train = rows is train
            own = objective if is_train or rows.groups is None else objective_on(rows, self._loss_weight(rows, params))
            evaluator = Evaluator(
                metric_names,
                rows.target.values,
                rows.weight,
                own,
                None if rows.groups is None else np.where(rows.groups.codes < 0, np.nan, rows.groups.codes),
                None if train.target.classes is None else settings.decision_threshold,
                alpha=float(read_parameter(params, "alpha", 0.9)),
                fair_c=float(read_parameter(params, "fair_c", 1.0)),
                name=rows.name,
            )
            name = eval_names[i] if eval_names is not None and i < len(eval_names) else f"valid_{i}"
            dataset = train_set if is_train else _make_dataset(rows, params, "auto", "auto", reference=train_set)
            evaluation_sets.append(
                EvaluationSet("training" if is_train and not eval_names else name, dataset, evaluator)
            )
        booster, history = train_booster(
            params,
            train_set,
            self.n_estimators,  # type: ignore[attr-defined]
            objective=objective,
            settings=settings,
            metrics=metric_names,
            evaluation_sets=evaluation_sets,
            callbacks=callbacks or (),
            init_model=init_model.booster_ if isinstance(init_model, lgb.LGBMModel) else init_model,
        )

        # Keep what LightGBM's own fit keeps.
        self._Booster = booster
        self._n_features = booster.num_feature()
        self._fitted_with_feature_names = train_set._has_non_default_feature_names
        self._evals_result = history
        self._best_iteration = booster.best_iteration
        self._best_score = booster.best_score
        self._objective = loss.name
        self.fitted_ = True
        self.groups_ = train.groups.labels  # type: ignore[union-attr]
        return self

    def _read_training_rows(self, X: Any, y: Any, sample_weight: Any, init_score: Any, features: Any) -> _Rows:
        if features is None:
            raise ValueError(
                f"sensitive_features is missing; with fairness_weight={self.fairness_weight} fit needs the group of "
                "each row (fairness_weight=0 trains the plain model)"
            )
        target = self._read_target(y)
        X = self._read_X(X, target.values)
        weight = _read_weight(sample_weight, len(target.values), "sample_weight")
        if len(weight) and not weight.any():
            raise ValueError("sample_weight is zero for every row; at least one must be positive")
        return _Rows(
            X,
            target,
            self._with_class_weight(weight, self.class_weight, y),  # type: ignore[attr-defined]
            weight,
            encode_groups(features, n_rows=len(target.values)),
            init_score,
            "sensitive_features",
        )

    def _read_evaluation_rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        class_weight: Any,
        init_score: Any,
        features: Any,
        train: _Rows,
        name: str,
    ) -> _Rows:
        assert train.groups is not None
        target = self._read_target(y, like=train.target)
        weight = _read_weight(sample_weight, len(target.values), "eval_sample_weight")
        groups = None
        if features is not None:
            groups = encode_groups(features, n_rows=len(target.values), labels=train.groups.labels, name=name)
        return _Rows(X, target, self._with_class_weight(weight, class_weight, y), weight, groups, init_score, name)

    def _read_X(self, X: Any, y: NDArray[Any]) -> Any:
        """Check X as LightGBM's estimators do: data frames go to LightGBM as they are."""
        if nwd.is_into_dataframe(X):
            shape = nw.from_native(X, eager_only=True).shape
            if shape[0] != len(y):
                raise ValueError(f"y has {len(y)} rows, but X has {shape[0]}")
            self.n_features_in_ = shape[1]
            return X
        return validate_data(
            self,
            X,
            y,
            reset=True,
            accept_sparse=True,
            ensure_all_finite=False,
            ensure_min_samples=2,
            y_numeric=False,
        )[0]

    def _read_params(self, eval_metric: Any, *, with_groups: bool) -> tuple[dict[str, Any], list[Any]]:
        """Return LightGBM's parameters without objective and metric, and the metrics in the order they count."""
        params = self._process_params(stage="fit")
        params.pop("objective")
        given = self.get_params()  # type: ignore[attr-defined]
        wanted = _as_list(eval_metric) + _as_list(read_parameter(given, "metric", None))
        pop_parameter(params, "metric", None)
        if not wanted:
            wanted = [FAIR_OBJECTIVE if with_groups else self._base_metric]
        names: list[Any] = []
        for metric in wanted:
            if metric in ("", "None", "na", "null", "custom"):
                continue
            name = canonical_metric(metric, classification=isinstance(self, lgb.LGBMClassifier))
            if name not in names:
                names.append(name)
        return params, names

    def _with_class_weight(self, weight: Float32, class_weight: Any, y: Any) -> Float32:
        if class_weight is None:
            return weight
        factor = compute_sample_weight(class_weight, _read_column(y, "y")).astype(np.float32)
        return factor * weight if len(weight) else factor

    def _loss_weight(self, rows: _Rows, params: dict[str, Any]) -> Float32:
        """Return the weights in the loss."""
        return rows.weight

    def _read_target(self, y: Any, like: Target | None = None) -> Target:
        raise NotImplementedError

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        raise NotImplementedError


class FairLGBMClassifier(_FairLGBMModel, lgb.LGBMClassifier):
    """LightGBM's classifier with a fairness penalty."""

    _base_metric = "binary_logloss"

    def _read_target(self, y: Any, like: Target | None = None) -> Target:
        column = _read_column(y, "y")
        if like is not None:
            unknown = sorted(set(np.unique(column).tolist()) - set(np.asarray(like.classes).tolist()), key=str)
            if unknown:
                raise ValueError(f"eval_set holds labels that were not seen in training: {unknown}")
            return Target(self._le.transform(column).astype(np.float32), like.classes)
        check_classification_targets(column)
        encoder = LabelEncoder().fit(column)
        if len(encoder.classes_) != 2:
            raise ValueError(
                f"y has {len(encoder.classes_)} classes, but fairness_weight > 0 needs exactly 2 (a binary target)"
            )
        self._le = encoder
        self._classes = encoder.classes_
        self._n_classes = 2
        self._class_map = {label: code for code, label in enumerate(encoder.classes_)}
        return Target(encoder.transform(column).astype(np.float32), tuple(encoder.classes_.tolist()))

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        name = self._objective or "binary"
        if name != "binary":
            raise ValueError(f"objective={name!r} is not available with fairness_weight > 0; allowed is 'binary'")
        return LogLoss()

    def _loss_weight(self, rows: _Rows, params: dict[str, Any]) -> Float32:
        """Return the weights in the loss, with LightGBM's weights of the positive class."""
        y = rows.target.values
        positive = float(read_parameter(params, "scale_pos_weight", 1.0))
        negative = 1.0
        if read_parameter(params, "is_unbalance", False):
            if positive != 1.0:
                raise ValueError("is_unbalance and scale_pos_weight cannot both be set")
            n_positive = int(np.count_nonzero(y))
            ratio = (len(y) - n_positive) / n_positive
            positive, negative = (ratio, 1.0) if ratio > 1.0 else (1.0, 1.0 / ratio)
        if positive == negative == 1.0:
            return rows.weight
        factor = np.where(y > 0, np.float32(positive), np.float32(negative))
        return factor * rows.weight if len(rows.weight) else factor


class FairLGBMRegressor(_FairLGBMModel, lgb.LGBMRegressor):
    """LightGBM's regressor with a fairness penalty."""

    _base_metric = "l2"

    def _read_target(self, y: Any, like: Target | None = None) -> Target:
        column = _read_column(y, "y")
        if column.dtype.kind not in "biuf":
            column = column.astype(np.float64)
        return Target(column.astype(np.float32), None)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        name = self._objective or "regression"
        if name in ("regression", "regression_l2", "l2", "mean_squared_error", "mse", "l2_root", "rmse"):
            return SquaredError()
        if name in ("regression_l1", "l1", "mean_absolute_error", "mae"):
            return AbsoluteError.for_target(y, weight)
        if name == "huber":
            return HuberLoss(float(read_parameter(params, "alpha", 0.9)))
        raise ValueError(
            f"objective={name!r} is not available with fairness_weight > 0; "
            "allowed are 'regression', 'regression_l1' and 'huber'"
        )


def _read_column(values: Any, name: str) -> NDArray[Any]:
    """Return a finite 1-D array."""
    series = nw.from_native(values, eager_only=True, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.null_count():
            raise ValueError(f"{name} contains {series.null_count()} missing values; it must have none")
        values = series.to_numpy()
    column = column_or_1d(values, warn=True)
    assert_all_finite(column, input_name=name)
    return column


def _read_weight(weight: Any, n_rows: int, name: str) -> Float32:
    if weight is None:
        return UNIT_WEIGHT
    column = _read_column(weight, name).astype(np.float32)
    if len(column) != n_rows:
        raise ValueError(f"{name} has {len(column)} rows, but there are {n_rows}")
    if (column < 0).any():
        raise ValueError(f"{name} must not be negative, got {column.min():g}")
    return column


def _make_dataset(
    rows: _Rows, params: dict[str, Any], feature_name: Any, categorical_feature: Any, reference: Any = None
) -> lgb.Dataset:
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


def _pair_evaluation_sets(eval_set: Any, eval_X: Any, eval_y: Any) -> list[tuple[Any, Any]]:
    if eval_set is not None:
        if eval_X is not None or eval_y is not None:
            raise ValueError("eval_set and eval_X, eval_y say the same; give one of them")
        return [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
    if (eval_X is None) != (eval_y is None):
        raise ValueError("eval_X and eval_y go together; only one of them is given")
    if eval_X is None:
        return []
    if isinstance(eval_X, tuple) != isinstance(eval_y, tuple) or (
        isinstance(eval_X, tuple) and len(eval_X) != len(eval_y)
    ):
        raise ValueError("eval_X and eval_y must both be tuples of the same length, or neither a tuple")
    return list(zip(eval_X, eval_y, strict=True)) if isinstance(eval_X, tuple) else [(eval_X, eval_y)]


def _numbered(pairs: list[tuple[Any, Any]]) -> list[tuple[int, int, tuple[Any, Any]]]:
    return [(len(pairs), i, pair) for i, pair in enumerate(pairs)]


def _item(collection: Any, i: int, name: str, *, alone: bool = False) -> Any:
    """Return the i-th evaluation set's entry of an ``eval_*`` argument."""
    if collection is None:
        return None
    if isinstance(collection, dict):
        return collection.get(i)
    if isinstance(collection, list | tuple) and not (alone and len(collection) != 1):
        return collection[i] if i < len(collection) else None
    if alone:
        return collection
    raise TypeError(f"{name} must be a list with one entry per evaluation set, got {type(collection).__name__}")


def _as_list(metric: Any) -> list[Any]:
    if metric is None:
        return []
    if isinstance(metric, str):
        return [part.strip() for part in metric.split(",")]
    return list(metric) if isinstance(metric, list | tuple | set) else [metric]
