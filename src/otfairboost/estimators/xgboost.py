"""XGBoost's estimators with a fairness penalty."""

from typing import Any

import numpy as np
import xgboost as xgb
from sklearn.preprocessing import LabelEncoder

from otfairboost.boosters.xgboost_parameters import read_number
from otfairboost.criteria import Target
from otfairboost.estimators.documentation import document
from otfairboost.estimators.inputs import FitArguments, Float32, read_column
from otfairboost.estimators.targets import encode_labels, read_labels, read_values
from otfairboost.estimators.xgboost_model import FairXGBModel
from otfairboost.losses import AbsoluteError, LogLoss, Loss, SoftmaxLoss, SquaredError

_SWITCHED = (None, "binary:logistic")
"""Objectives in whose place XGBoost's classifier takes the one of several classes."""


class FairXGBClassifier(FairXGBModel, xgb.XGBClassifier):
    """XGBoost's classifier with a fairness penalty."""

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: only the plain model takes several labels at once."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.fairness_weight == 0
        return tags

    @property
    def classes_(self) -> Any:
        """Return the labels in sorted order; of a model loaded from a file, which has none, their numbers."""
        return super().classes_ if self._labels is None else self._labels

    def predict(self, X: Any, *, output_margin: bool = False, **arguments: Any) -> Any:
        """Return labels, or raw predictions; arguments are those of XGBoost's ``predict``."""
        predicted = super().predict(X, output_margin=output_margin, **arguments)
        if output_margin or self._labels is None or np.ndim(predicted) != 1:
            return predicted
        return self._labels[predicted]

    def load_model(self, fname: Any) -> None:
        """Load a model; see XGBoost's ``load_model``."""
        super().load_model(fname)
        self._keep_labels(None)

    @property
    def _labels(self) -> Any:
        encoder = self.__dict__.get("_encoder")
        return None if encoder is None else encoder.classes_

    def _keep_labels(self, encoder: LabelEncoder | None) -> None:
        self._encoder = encoder
        if encoder is not None:
            self.n_classes_ = len(encoder.classes_)

    def _fit_plain(self, given: FitArguments) -> None:
        self._keep_labels(None)
        y = np.asarray(given.y)
        if y.ndim > 1 and y.shape[1:] != (1,):  # several labels at once
            super()._fit_plain(given)
            return
        encoder = LabelEncoder().fit(read_column(given.y, "y", warn=True))
        codes = encoder.transform(read_column(given.y, "y"))
        evaluations = [
            one._replace(
                y=codes
                if one.y is given.y
                else encode_labels(one.y, encoder, self._argument_names.eval_y.format(i)).values
            )
            for i, one in enumerate(given.evaluations)
        ]
        super()._fit_plain(given._replace(y=codes, evaluations=evaluations))
        self._keep_labels(encoder)

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        if like is not None:
            return encode_labels(y, self._encoder, name)
        encoder, target = read_labels(y, name)
        self._keep_labels(encoder)
        return target

    def _name_objective(self, target: Target) -> str:
        several = target.n_outputs > 1 and self.objective in _SWITCHED
        return "multi:softprob" if several else str(self.objective)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        several = self.n_classes_ > 2
        allowed = "multi:softprob" if several else "binary:logistic"
        if self.objective != allowed and not (several and self.objective in _SWITCHED):
            raise ValueError(
                f"objective={self.objective!r} is not available with fairness_weight > 0 or fairness metrics; "
                f"allowed with {self.n_classes_ if several else 'two'} classes is {allowed!r}"
            )
        return SoftmaxLoss(self.n_classes_, hessian_factor=2.0) if several else LogLoss()

    def _label_weights(self, target: Target, params: dict[str, Any]) -> tuple[float, float]:
        if target.n_outputs > 1:
            return 1.0, 1.0  # as in XGBoost
        return 1.0, read_number(params, "scale_pos_weight", 1.0)


class FairXGBRegressor(FairXGBModel, xgb.XGBRegressor):
    """XGBoost's regressor with a fairness penalty."""

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: only the plain model takes more than one target."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.fairness_weight == 0
        return tags

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        return read_values(y, name, warn=like is None)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        if self.objective == "reg:squarederror":
            return SquaredError()
        if self.objective == "reg:absoluteerror":
            return AbsoluteError.for_target(y, weight)
        raise ValueError(
            f"objective={self.objective!r} is not available with fairness_weight > 0 or fairness metrics; "
            "allowed are 'reg:squarederror' and 'reg:absoluteerror'"
        )


for _estimator in (FairXGBClassifier, FairXGBRegressor):
    document(_estimator, engine="XGBoost", booster="_Booster : xgboost.Booster, from ``get_booster()``")
