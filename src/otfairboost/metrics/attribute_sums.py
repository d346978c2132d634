r"""Several sensitive attributes, each compared on its own: the sum of one gap for each column.

.. math:: \sum_j a_j \, gap_j

Unlike with intersections, a row whose value is missing in one column still counts in the others.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from otfairboost.columns import read_columns
from otfairboost.groups import factorize
from otfairboost.metrics.distributions import kolmogorov_smirnov, wasserstein_distance
from otfairboost.metrics.parity import demographic_parity_difference, equalized_odds_difference
from otfairboost.metrics.registry import Metric, find_metric, register


def sum_over_attributes(
    metric: str | Metric | Callable[..., float],
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    attribute_weights: Any = None,
    **arguments: Any,
) -> float:
    """Return the sum of a metric over the columns of ``sensitive_features``.

    Parameters
    ----------
    metric : str, Metric or callable
        What to compute for each column; decisions or scores as it takes them.
    y_true, y_pred
        As in the metric.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Each column is an attribute of its own.
    attribute_weights : sequence or dict, optional
        Of each column, in order or by name; 1 by default.
    **arguments
        Of the metric, such as ``sample_weight`` or ``control_features``.
    """
    function = find_metric("metric", metric, greater_is_better=False, needs_groups=True).function
    columns = read_columns(sensitive_features, "sensitive_features")
    names = [column.name for column in columns]
    if attribute_weights is None:
        weights = [1.0] * len(columns)
    elif isinstance(attribute_weights, Mapping):
        if set(attribute_weights) != set(names):
            raise ValueError(f"attribute_weights has the columns {list(attribute_weights)}, sensitive_features {names}")
        weights = [attribute_weights[name] for name in names]
    else:
        weights = list(attribute_weights)
        if len(weights) != len(columns):
            raise ValueError(f"attribute_weights has {len(weights)} entries, sensitive_features {len(columns)} columns")
    total = 0.0
    for column, weight in zip(columns, weights, strict=True):
        codes = factorize(column.values, column.missing, "sensitive_features").codes
        total += float(weight) * function(
            y_true, y_pred, sensitive_features=np.where(codes < 0, np.nan, codes), **arguments
        )
    return total


@register("label", greater_is_better=False, needs_groups=True)
def summed_demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    attribute_weights: Any = None,
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    """Return the sum over columns of :func:`otfairboost.metrics.demographic_parity_difference`."""
    return sum_over_attributes(
        demographic_parity_difference, y_true, y_pred, sensitive_features=sensitive_features,
        attribute_weights=attribute_weights, sample_weight=sample_weight, pos_label=pos_label,
    )  # fmt: skip


@register("label", greater_is_better=False, needs_groups=True)
def summed_equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    attribute_weights: Any = None,
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    """Return the sum over columns of :func:`otfairboost.metrics.equalized_odds_difference`."""
    return sum_over_attributes(
        equalized_odds_difference, y_true, y_pred, sensitive_features=sensitive_features,
        attribute_weights=attribute_weights, sample_weight=sample_weight, pos_label=pos_label,
    )  # fmt: skip


@register("score", greater_is_better=False, needs_groups=True)
def summed_wasserstein_distance(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, attribute_weights: Any = None, sample_weight: Any = None
) -> float:
    """Return the sum over columns of :func:`otfairboost.metrics.wasserstein_distance`."""
    return sum_over_attributes(
        wasserstein_distance, y_true, y_pred, sensitive_features=sensitive_features,
        attribute_weights=attribute_weights, sample_weight=sample_weight,
    )  # fmt: skip


@register("score", greater_is_better=False, needs_groups=True)
def summed_kolmogorov_smirnov(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, attribute_weights: Any = None, sample_weight: Any = None
) -> float:
    """Return the sum over columns of :func:`otfairboost.metrics.kolmogorov_smirnov`."""
    return sum_over_attributes(
        kolmogorov_smirnov, y_true, y_pred, sensitive_features=sensitive_features,
        attribute_weights=attribute_weights, sample_weight=sample_weight,
    )  # fmt: skip
