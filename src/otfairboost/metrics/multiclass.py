r"""Metrics of more than two classes: those of two, of one class against the others, and the worst or mean of them.

Label metrics take predicted classes, of any labels. Score metrics take probabilities of shape (n_rows, n_classes),
their columns in the order of ``labels``.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from otfairboost.metrics.distributions import kolmogorov_smirnov, wasserstein_distance
from otfairboost.metrics.inputs import Floats, check_choice, read_column
from otfairboost.metrics.parity import demographic_parity_difference, demographic_parity_ratio
from otfairboost.metrics.rates import Method, read_rates
from otfairboost.metrics.registry import Metric, find_metric, register

Aggregate = Literal["worst_case", "mean"]


def metric_by_class(
    metric: str | Metric | Callable[..., float],
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    labels: Sequence[Any] | None = None,
    **arguments: Any,
) -> dict[Any, float]:
    """Return a metric of two classes for each class against all others together, by class.

    Parameters
    ----------
    metric : str, Metric or callable
        A name in ``METRICS`` of a metric of two classes, or a function of scores.
    y_true : array-like of shape (n_rows,) or None
        True classes; None for metrics that ignore them.
    y_pred : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted classes for label metrics, probabilities for score metrics.
    sensitive_features, sample_weight
        As in the metric.
    labels : sequence, optional
        The classes; of probabilities in the order of their columns. By default those of ``y_true`` and, where these are
        labels, of ``y_pred``, sorted.
    **arguments
        Of the metric.
    """
    metric = find_metric("metric", metric, greater_is_better=False, needs_groups=True)
    if metric.classes == "many":
        raise ValueError(f"metric={metric.name!r} is one of several classes already; give one of two classes")
    keywords = {"sensitive_features": sensitive_features, **arguments}
    if sample_weight is not None:
        keywords["sample_weight"] = sample_weight
    true = None if y_true is None else _read_classes("y_true", y_true)
    if metric.kind == "label":
        columns, classes = _read_classes("y_pred", y_pred), labels
        if classes is None:
            classes = _sort_labels(columns, true)
        predictions = [(columns == label).astype(int) for label in classes]
    else:
        probability = read_probabilities(y_pred)
        classes = _name_columns(probability, true, labels)
        predictions = list(probability.T)
    return {
        label: float(metric.function(None if true is None else (true == label).astype(int), prediction, **keywords))
        for label, prediction in zip(classes, predictions, strict=True)
    }


@register("label", greater_is_better=False, needs_groups=True, classes="many")
def multiclass_demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    r"""Return the largest difference between the groups' rates of any predicted class.

    .. math:: \max_k [ \max_s P(\hat Y = k | S = s) - \min_s P(\hat Y = k | S = s) ]

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        True classes. They only say which classes there are, which the mean is taken over.
    y_pred : array-like of shape (n_rows,)
        Predicted classes.
    sensitive_features, method, sample_weight
        As in :func:`otfairboost.metrics.demographic_parity_difference`.
    agg : {"worst_case", "mean"}
        The largest over the classes, or their mean.
    """
    by_class = metric_by_class(
        demographic_parity_difference, y_true, y_pred,
        sensitive_features=sensitive_features, sample_weight=sample_weight, method=method,
    )  # fmt: skip
    return _aggregate(by_class.values(), agg, max)


@register("label", greater_is_better=False, needs_groups=True, classes="many")
def multiclass_demographic_parity_mean(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> float:
    """Return :func:`multiclass_demographic_parity_difference` with ``agg="mean"``."""
    return multiclass_demographic_parity_difference(
        y_true, y_pred, sensitive_features=sensitive_features, sample_weight=sample_weight, agg="mean"
    )


@register("label", greater_is_better=True, needs_groups=True, classes="many")
def multiclass_demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    r"""Return the smallest ratio between the groups' rates of any predicted class.

    .. math:: \min_k [ \min_s P(\hat Y = k | S = s) \, / \, \max_s P(\hat Y = k | S = s) ]

    Parameters are those of :func:`multiclass_demographic_parity_difference`. Classes that nobody is put into have no
    ratio and do not count.
    """
    by_class = metric_by_class(
        demographic_parity_ratio, y_true, y_pred,
        sensitive_features=sensitive_features, sample_weight=sample_weight, method=method,
    )  # fmt: skip
    return _aggregate([value for value in by_class.values() if not np.isnan(value)], agg, min)


@register("label", greater_is_better=False, needs_groups=True, classes="many")
def multiclass_equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    r"""Return the largest difference between the groups' rates of any predicted class among rows of any true class.

    .. math:: \max_{y, k} [ \max_s P(\hat Y = k | Y = y, S = s) - \min_s P(\hat Y = k | Y = y, S = s) ]

    Parameters are those of :func:`multiclass_demographic_parity_difference`, with ``y_true`` the true classes; the mean
    is over pairs of true and predicted class. As in Fairlearn a group without rows of a true class has a rate of 0
    there. With two classes this is :func:`otfairboost.metrics.equalized_odds_difference`.
    """
    true, predicted = _read_classes("y_true", y_true), _read_classes("y_pred", y_pred)
    if len(true) != len(predicted):
        raise ValueError(f"y_true has {len(true)} rows, but y_pred has {len(predicted)}; both need the same number")
    keywords = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, "pos_label": 1}
    weight = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    values = []
    for label in _sort_labels(true):
        for decision in _sort_labels(predicted, true):
            indicators = (true == label).astype(int), (predicted == decision).astype(int)
            (rates,) = read_rates(["true_positive_rate"], *indicators, **keywords)
            if weight[true == label].any():
                values.append(rates.difference(method))
    return _aggregate(values, agg, max)


@register("score", greater_is_better=False, needs_groups=True, classes="many")
def multiclass_wasserstein_distance(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, agg: Aggregate = "worst_case"
) -> float:
    r"""Return the largest Wasserstein-2 distance between the groups' probabilities of any class.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        Ignored.
    y_pred : array-like of shape (n_rows, n_classes)
        Probabilities.
    sensitive_features, sample_weight
        As in :func:`otfairboost.metrics.wasserstein_distance`.
    agg : {"worst_case", "mean"}
        The largest over the classes, or their mean.
    """
    keywords = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    return _aggregate(_by_column(wasserstein_distance, y_true, y_pred, **keywords), agg, max)


@register("score", greater_is_better=False, needs_groups=True, classes="many")
def multiclass_wasserstein_mean(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> float:
    """Return :func:`multiclass_wasserstein_distance` with ``agg="mean"``."""
    return multiclass_wasserstein_distance(
        y_true, y_pred, sensitive_features=sensitive_features, sample_weight=sample_weight, agg="mean"
    )


@register("score", greater_is_better=False, needs_groups=True, classes="many")
def multiclass_kolmogorov_smirnov(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, agg: Aggregate = "worst_case"
) -> float:
    """Return the largest difference between the groups' cumulative distributions of any class's probability.

    Parameters are those of :func:`multiclass_wasserstein_distance`.
    """
    keywords = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    return _aggregate(_by_column(kolmogorov_smirnov, y_true, y_pred, **keywords), agg, max)


@register("score", greater_is_better=False, needs_groups=False, classes="many")
def multiclass_log_loss(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, labels: Any = None
) -> float:
    """Return the log loss of probabilities; ``sensitive_features`` is ignored.

    ``labels`` are the classes in the order of the columns: by default those of ``y_true``, sorted, or the numbers of
    the columns if ``y_true`` holds such numbers.
    """
    probability, true = read_probabilities(y_pred), _read_classes("y_true", y_true)
    classes = _name_columns(probability, true, labels)
    codes = {label: code for code, label in enumerate(classes)}
    unknown = [label for label in _sort_labels(true) if label not in codes]
    if unknown:
        raise ValueError(f"y_true holds {unknown}, but y_pred has the columns {classes}")
    if len(true) != len(probability):
        raise ValueError(f"y_true has {len(true)} rows, but y_pred has {len(probability)}; both need the same number")
    own = probability[np.arange(len(true)), [codes[label] for label in true.tolist()]]
    # Relative to the sum, which in single precision is not quite 1.
    own = np.maximum(own / probability.sum(axis=1), np.finfo(np.float64).eps)
    return float(np.average(-np.log(own), weights=sample_weight))


def read_probabilities(values: Any) -> Floats:
    """Return probabilities as an array of at least one row and two columns."""
    probability = np.asarray(values, dtype=np.float64)
    if probability.ndim != 2 or probability.shape[0] == 0 or probability.shape[1] < 2:
        raise ValueError(
            f"y_pred has shape {probability.shape}; allowed is one column for each class, such as predict_proba(X)"
        )
    return probability


def _by_column(metric: Callable[..., float], y_true: Any, y_pred: Any, **keywords: Any) -> list[float]:
    return [metric(y_true, column, **keywords) for column in read_probabilities(y_pred).T]


def _aggregate(values: Any, agg: str, worst: Callable[[list[float]], float]) -> float:
    check_choice("agg", agg, ("worst_case", "mean"))
    values = list(values)
    if not values:
        return np.nan
    return float(worst(values) if agg == "worst_case" else np.mean(values))


def _read_classes(name: str, values: Any) -> NDArray[Any]:
    """Return one column of labels; refuse fractions, which are scores."""
    labels = read_column(name, values)
    missing = labels != labels if labels.dtype.kind == "f" else [label is None for label in labels.tolist()]
    if np.any(missing):
        raise ValueError(f"{name} holds missing values; every row needs a class")
    if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        raise ValueError(f"{name} holds {labels[labels != np.floor(labels)][0]:g}; allowed are classes, not scores")
    return labels


def _sort_labels(*columns: NDArray[Any] | None) -> list[Any]:
    present = [set(column.tolist()) for column in columns if column is not None]
    return sorted(set().union(*present), key=lambda label: (isinstance(label, str), label))


def _name_columns(probability: Floats, true: NDArray[Any] | None, labels: Sequence[Any] | None) -> list[Any]:
    """Return the class of each column."""
    n_columns = probability.shape[1]
    if labels is not None:
        classes = list(labels)
    elif true is None:
        classes = list(range(n_columns))
    else:
        classes = _sort_labels(true)
        if len(classes) != n_columns and set(classes) <= set(range(n_columns)):
            classes = list(range(n_columns))
    if len(classes) != n_columns:
        raise ValueError(f"y_pred has {n_columns} columns for the classes {classes}; give labels, one for each column")
    return classes
