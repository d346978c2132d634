"""LightGBM's estimators with a fairness penalty."""

from collections.abc import Sequence
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
from otfairboost.losses import AbsoluteError, HuberLoss, LogLoss, Loss, SquaredError


class FairLGBMClassifier(FairLGBMModel, lgb.LGBMClassifier):
    """LightGBM's classifier with a fairness penalty."""

    _native_metrics = CLASSIFIER_METRICS

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: only the plain model takes more than two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.fairness_weight == 0
        return tags

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
        if self._objective != "binary":
            raise ValueError(
                f"objective={self._objective!r} is not available with fairness_weight > 0 or fairness metrics; "
                "allowed is 'binary'"
            )
        return LogLoss()

    def _label_weights(self, target: Target, params: dict[str, Any]) -> tuple[float, float]:
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
    ) -> Any:
        """Fit the model; arguments are those of the classifier, without ``eval_class_weight``."""
        return super().fit(
            X, y, sample_weight, init_score, eval_set, eval_names, eval_sample_weight, None, eval_init_score,
            eval_metric, feature_name, categorical_feature, callbacks, init_model,
            sensitive_features=sensitive_features, eval_sensitive_features=eval_sensitive_features,
            eval_X=eval_X, eval_y=eval_y,
        )  # fmt: skip

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        return read_values(y, name, warn=like is None)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        metric = REGRESSOR_METRICS.get(self._objective) if isinstance(self._objective, str) else None
        if metric is not None and metric.name in ("l2", "rmse"):
            return SquaredError()
        if metric is not None and metric.name == "l1":
            return AbsoluteError.for_target(y, weight)
        if metric is not None and metric.name == "huber":
            return HuberLoss(read_number(params, "alpha", 0.9))
        raise ValueError(
            f"objective={self._objective!r} is not available with fairness_weight > 0 or fairness metrics; "
            "allowed are 'regression', 'regression_l1' and 'huber'"
        )


for _estimator in (FairLGBMClassifier, FairLGBMRegressor):
    document(_estimator, engine="LightGBM", booster="booster_ : lightgbm.Booster")
