"""XGBoost's Dask estimators with a fairness penalty."""

from typing import Any

import dask.array as da
import numpy as np
from xgboost import dask as xgb_dask

from otfairboost.distributed.dask_model import DaskFairXGBModel
from otfairboost.estimators.documentation import document
from otfairboost.estimators.inputs import Float32
from otfairboost.estimators.xgboost import FairXGBClassifier, FairXGBRegressor
from otfairboost.losses import LogLoss, Loss, SquaredError


class DaskFairXGBClassifier(DaskFairXGBModel, xgb_dask.DaskXGBClassifier):
    """XGBoost's classifier on Dask with a fairness penalty."""

    _is_classifier = True
    _local_class = FairXGBClassifier
    _default_objective = "binary:logistic"

    def predict(self, X: Any, *, output_margin: bool = False, **arguments: Any) -> Any:
        """Return labels, or raw predictions, as a Dask collection; arguments are those of XGBoost's ``predict``."""
        predicted = super().predict(X, output_margin=output_margin, **arguments)
        if output_margin or np.array_equal(self.classes_, [0, 1]):
            return predicted
        classes = self.classes_
        if isinstance(predicted, da.Array):
            return da.map_blocks(_decode, predicted, classes, dtype=classes.dtype)
        return predicted.map_partitions(_decode_series, classes, meta=(None, classes.dtype))

    def _keep_labels(self, encoder: Any) -> None:
        self._encoder = encoder
        self.classes_ = encoder.classes_
        self.n_classes_ = len(encoder.classes_)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        if self._objective_name != self._default_objective:
            raise ValueError(f"objective={self.objective!r} is not available on Dask; allowed is 'binary:logistic'")
        return LogLoss()


class DaskFairXGBRegressor(DaskFairXGBModel, xgb_dask.DaskXGBRegressor):
    """XGBoost's regressor on Dask with a fairness penalty."""

    _is_classifier = False
    _local_class = FairXGBRegressor
    _default_objective = "reg:squarederror"

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        if self._objective_name != self._default_objective:
            raise ValueError(f"objective={self.objective!r} is not available on Dask; allowed is 'reg:squarederror'")
        return SquaredError()


def _decode(codes: Any, classes: Any) -> Any:
    return classes[codes]


def _decode_series(codes: Any, classes: Any) -> Any:
    return codes.map(dict(enumerate(classes)))


for _estimator in (DaskFairXGBClassifier, DaskFairXGBRegressor):
    document(_estimator, engine="XGBoost", booster="_Booster : xgboost.Booster, from ``get_booster()``")
