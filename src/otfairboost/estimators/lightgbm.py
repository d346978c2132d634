"""LightGBM's estimators with a fairness penalty."""

from collections.abc import Callable, Sequence
from typing import Any

import lightgbm as lgb
import numpy as np

from otfairboost.boosters.lightgbm_parameters import read_flag, read_number
from otfairboost.criteria import Target
from otfairboost.estimators.documentation import document
from otfairboost.estimators.inputs import Float32
from otfairboost.estimators.lightgbm_model import FairLGBMModel
from otfairboost.estimators.native_metrics import CLASSIFIER_METRICS, REGRESSOR_METRICS
from otfairboost.estimators.targets import encode_labels, read_labels, read_values
from otfairboost.losses import (
    AbsoluteError,
    CrossEntropy,
    FairLoss,
    GammaLoss,
    HuberLoss,
    LogLoss,
    Loss,
    PercentageError,
    PoissonLoss,
    QuantileLoss,
    SoftmaxLoss,
    SquaredError,
    TweedieLoss,
)


class FairLGBMClassifier(FairLGBMModel, lgb.LGBMClassifier):
    """LightGBM's classifier with a fairness penalty."""

    _native_metrics = CLASSIFIER_METRICS

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        if like is not None:
            return encode_labels(y, self._le, name)
        self._le, target = read_labels(y, name)
        self._classes = self._le.classes_
        self._n_classes = len(self._classes)
        self._class_map = {label: code for code, label in enumerate(self._classes)}
        if self.objective is None:
            self._objective = None  # that of an earlier fit does not count
        return target

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        if self._n_classes > 2:
            self._refuse_objective(("multiclass", "softmax"), f"with {self._n_classes} classes is 'multiclass'")
            return SoftmaxLoss(self._n_classes)
        if self._objective in ("cross_entropy", "xentropy"):
            return CrossEntropy.for_target(y, weight)
        self._refuse_objective(("binary",), "are 'binary' and 'cross_entropy'")
        return LogLoss.for_target(y, weight)

    def _refuse_objective(self, known: tuple[str, ...], allowed: str) -> None:
        if self._objective not in known:
            raise ValueError(
                f"objective={self._objective!r} is not available with fairness_weight > 0 or fairness metrics; "
                f"allowed {allowed}"
            )

    def _label_weights(self, target: Target, params: dict[str, Any]) -> tuple[float, float]:
        if self._objective != "binary":
            return 1.0, 1.0  # as in LightGBM
        positive = read_number(params, "scale_pos_weight", 1.0)
        if not read_flag(params, "is_unbalance", False):
            return 1.0, positive
        if positive != 1.0:
            raise ValueError(f"is_unbalance and scale_pos_weight={positive:g} exclude each other; set one of them")
        n_positive = int(np.count_nonzero(target.values))
        ratio = (len(target.values) - n_positive) / n_positive
        return (1.0, ratio) if ratio > 1.0 else (1.0 / ratio, 1.0)


class FairLGBMRegressor(FairLGBMModel, lgb.LGBMRegressor):
    """LightGBM's regressor with a fairness penalty."""

    _native_metrics = REGRESSOR_METRICS

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Any = None,
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
        """Fit the model; arguments are those of the classifier, without ``eval_class_weight``."""
        return super().fit(
            X, y, sample_weight, init_score, eval_set, eval_names, eval_sample_weight, None, eval_init_score,
            eval_metric, feature_name, categorical_feature, callbacks, init_model,
            sensitive_features=sensitive_features, eval_sensitive_features=eval_sensitive_features,
            eval_X=eval_X, eval_y=eval_y, control_features=control_features,
            eval_control_features=eval_control_features,
        )  # fmt: skip

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        return read_values(y, name, warn=like is None)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        metric = REGRESSOR_METRICS.get(self._objective) if isinstance(self._objective, str) else None
        make = _REGRESSOR_LOSSES.get(metric.name) if metric is not None else None
        if make is None:
            raise ValueError(
                f"objective={self._objective!r} is not available with fairness_weight > 0 or fairness metrics; allowed "
                "are 'regression', 'regression_l1', 'huber', 'fair', 'quantile', 'mape', 'poisson', 'gamma', 'tweedie' "
                "and 'cross_entropy'"
            )
        return make(params, y, weight)


# By the name of the metric that LightGBM has of the same objective, whose aliases are the same.
_REGRESSOR_LOSSES: dict[str, Callable[[dict[str, Any], Float32, Float32], Loss]] = {
    "l2": lambda params, y, weight: SquaredError(),
    "rmse": lambda params, y, weight: SquaredError(),
    "l1": lambda params, y, weight: AbsoluteError.for_target(y, weight),
    "huber": lambda params, y, weight: HuberLoss(read_number(params, "alpha", 0.9)),
    "fair": lambda params, y, weight: FairLoss(read_number(params, "fair_c", 1.0)),
    "quantile": lambda params, y, weight: QuantileLoss.for_target(y, weight, read_number(params, "alpha", 0.9)),
    "mape": lambda params, y, weight: PercentageError.for_target(y, weight),
    "poisson": lambda params, y, weight: PoissonLoss.for_target(
        y, weight, poisson_max_delta_step=read_number(params, "poisson_max_delta_step", 0.7)
    ),
    "gamma": lambda params, y, weight: GammaLoss.for_target(y, weight),
    "tweedie": lambda params, y, weight: TweedieLoss.for_target(
        y, weight, tweedie_variance_power=read_number(params, "tweedie_variance_power", 1.5)
    ),
    "cross_entropy": lambda params, y, weight: CrossEntropy.for_target(y, weight),
}


for _estimator in (FairLGBMClassifier, FairLGBMRegressor):
    document(_estimator, engine="LightGBM", booster="booster_ : lightgbm.Booster")
