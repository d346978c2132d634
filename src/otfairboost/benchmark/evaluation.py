"""All metrics of a prediction, by the names that tables and the store use."""

from typing import Any

import numpy as np

from otfairboost import metrics
from otfairboost.benchmark.rows import Prediction

THRESHOLD = 0.5

_SCORE_GAPS = {"ks": metrics.kolmogorov_smirnov, "w2": metrics.wasserstein_distance}
_LABEL_GAPS = {
    "delta_dp": metrics.demographic_parity_difference,
    "disparate_impact": metrics.demographic_parity_ratio,
    "delta_max_dp": metrics.one_vs_rest_demographic_parity,
    "delta_eodds_sum": metrics.equalized_odds_sum,
    "delta_eodds_max": metrics.equalized_odds_difference,
}
CLASSIFICATION_METRICS = ("pr_auc", "roc_auc", "accuracy", *_LABEL_GAPS, *_SCORE_GAPS)
REGRESSION_METRICS = ("mae", "one_minus_mae", "mse", *_SCORE_GAPS)


def evaluate_classification(y: Any, prediction: Prediction, s: Any, sample_weight: Any = None) -> dict[str, float]:
    """Return ranking quality and accuracy, gaps of the decisions, and distances between the groups' scores.

    Disparate impact is 1 where nobody is selected: then all groups are treated alike.
    """
    weight = {"sample_weight": sample_weight}
    y, score = np.asarray(y).astype(np.int64), np.asarray(prediction.score, dtype=np.float64)
    label = (score >= THRESHOLD).astype(np.int64) if prediction.label is None else np.asarray(prediction.label)
    values = {
        "pr_auc": metrics.average_precision(y, score, **weight),
        "roc_auc": metrics.roc_auc(y, score, **weight),
        "accuracy": metrics.accuracy(y, label, **weight),
    }
    values |= {name: gap(y, label, sensitive_features=s, **weight) for name, gap in _LABEL_GAPS.items()}
    if not label.any():
        values["disparate_impact"] = 1.0
    return values | {name: gap(y, score, sensitive_features=s, **weight) for name, gap in _SCORE_GAPS.items()}


def evaluate_regression(y: Any, prediction: Prediction, s: Any, sample_weight: Any = None) -> dict[str, float]:
    """Return errors, and distances between the groups' predictions."""
    weight = {"sample_weight": sample_weight}
    error = metrics.mean_absolute_error(y, prediction.score, **weight)
    values = {
        "mae": error,
        "one_minus_mae": 1.0 - error,
        "mse": metrics.mean_squared_error(y, prediction.score, **weight),
    }
    return values | {
        name: gap(y, prediction.score, sensitive_features=s, **weight) for name, gap in _SCORE_GAPS.items()
    }
