"""Performance metrics: scikit-learn's, with the signature of the fairness metrics."""

from typing import Any

from sklearn import metrics as sklearn_metrics

from otfairboost.metrics.inputs import read_floats, read_labels
from otfairboost.metrics.registry import register


@register("score", greater_is_better=True, needs_groups=False)
def average_precision(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    """Return the average precision (PR AUC) of scores; ``sensitive_features`` is ignored."""
    positive, score = read_labels("y_true", y_true, pos_label)[0], read_floats("y_pred", y_pred)
    return float(sklearn_metrics.average_precision_score(positive, score, sample_weight=sample_weight))


@register("score", greater_is_better=True, needs_groups=False)
def roc_auc(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    """Return the area under the ROC curve of scores; ``sensitive_features`` is ignored."""
    positive, score = read_labels("y_true", y_true, pos_label)[0], read_floats("y_pred", y_pred)
    return float(sklearn_metrics.roc_auc_score(positive, score, sample_weight=sample_weight))


@register("score", greater_is_better=False, needs_groups=False)
def log_loss(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    """Return the log loss of the positive class's probabilities; ``sensitive_features`` is ignored."""
    positive, score = read_labels("y_true", y_true, pos_label)[0], read_floats("y_pred", y_pred)
    return float(sklearn_metrics.log_loss(positive, score, sample_weight=sample_weight, labels=[False, True]))


@register("label", greater_is_better=True, needs_groups=False, classes="any")
def accuracy(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> float:
    """Return the share of right labels; ``sensitive_features`` is ignored."""
    return float(sklearn_metrics.accuracy_score(y_true, y_pred, sample_weight=sample_weight))


@register("score", greater_is_better=False, needs_groups=False)
def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None
) -> float:
    """Return the mean absolute error; ``sensitive_features`` is ignored."""
    return float(sklearn_metrics.mean_absolute_error(y_true, y_pred, sample_weight=sample_weight))


@register("score", greater_is_better=False, needs_groups=False)
def mean_squared_error(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> float:
    """Return the mean squared error; ``sensitive_features`` is ignored."""
    return float(sklearn_metrics.mean_squared_error(y_true, y_pred, sample_weight=sample_weight))
