"""Gaps inside strata: among rows of equal control features, or of a similar target."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from otfairboost.binning import check_bins, cut, encode_column, find_bins, learn_edges
from otfairboost.columns import read_columns
from otfairboost.criteria import MAX_STRATA
from otfairboost.groups import Groups, intersect
from otfairboost.metrics.distributions import kolmogorov_smirnov, wasserstein_distance
from otfairboost.metrics.inputs import check_choice, read_column, read_floats, read_rows
from otfairboost.metrics.parity import demographic_parity_difference
from otfairboost.metrics.rates import Method
from otfairboost.metrics.registry import register

Agg = Literal["worst_case", "mean"]


@register("label", greater_is_better=False, needs_groups=True)
def conditional_demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    control_features: Any,
    control_bins: Any = None,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Agg = "worst_case",
    pos_label: Any = 1,
) -> float:
    r"""Return the demographic parity difference among rows of equal control features.

    .. math:: \max_c [ \max_s P(\hat Y = 1 | S = s, C = c) - \min_s P(\hat Y = 1 | S = s, C = c) ]

    Fairlearn's ``MetricFrame(..., control_features=...).difference()`` has one such number for each c. Strata with
    fewer than two groups have none, and do not count.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, method, sample_weight, pos_label
        As in :func:`otfairboost.metrics.demographic_parity_difference`.
    control_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Several columns form one stratum per combination; rows where one is missing do not count.
    control_bins : int, sequence of float or dict, optional
        Cuts numeric control features into that many quantiles, or at these edges; a dict has them by column.
    agg : {"worst_case", "mean"}
        The largest of the strata's gaps, or their mean weighted by the strata.
    """
    strata = _read_strata(control_features, control_bins, len(read_column("y_pred", y_pred)))
    keywords = {"method": method, "pos_label": pos_label}
    return _aggregate(
        demographic_parity_difference, strata, y_true, y_pred, sensitive_features, sample_weight, agg, keywords
    )


@register("score", greater_is_better=False, needs_groups=True)
def conditional_wasserstein_distance(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    control_features: Any,
    control_bins: Any = None,
    sample_weight: Any = None,
    agg: Agg = "worst_case",
) -> float:
    """Return :func:`otfairboost.metrics.wasserstein_distance` among rows of equal control features.

    Parameters are those of :func:`conditional_demographic_parity_difference`; ``y_pred`` are scores.
    """
    strata = _read_strata(control_features, control_bins, len(read_column("y_pred", y_pred)))
    return _aggregate(wasserstein_distance, strata, y_true, y_pred, sensitive_features, sample_weight, agg)


@register("score", greater_is_better=False, needs_groups=True)
def conditional_kolmogorov_smirnov(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    control_features: Any,
    control_bins: Any = None,
    sample_weight: Any = None,
    agg: Agg = "worst_case",
) -> float:
    """Return :func:`otfairboost.metrics.kolmogorov_smirnov` among rows of equal control features.

    Parameters are those of :func:`conditional_demographic_parity_difference`; ``y_pred`` are scores.
    """
    strata = _read_strata(control_features, control_bins, len(read_column("y_pred", y_pred)))
    return _aggregate(kolmogorov_smirnov, strata, y_true, y_pred, sensitive_features, sample_weight, agg)


@register("score", greater_is_better=False, needs_groups=True)
def binned_equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    target_bins: Any = 5,
    sample_weight: Any = None,
    agg: Agg = "worst_case",
) -> float:
    r"""Return how far regression is from equalized odds: the groups' largest CDF difference given the target's bin.

    .. math:: \max_k \max_s \sup_\tau
        | P(\hat Y \leq \tau | S = s, Y \in I_k) - P(\hat Y \leq \tau | S \neq s, Y \in I_k) |

    The definition that the paper has in its source for infinitesimal intervals, on bins :math:`I_k` of the target.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        A continuous target.
    y_pred : array-like of shape (n_rows,)
        Predictions.
    sensitive_features, sample_weight, agg
        As in :func:`conditional_demographic_parity_difference`.
    target_bins : int or sequence of float, default=5
        Bins of as many rows each, or the edges between them.
    """
    strata = _bin_target(y_true, target_bins, sample_weight)
    return _aggregate(kolmogorov_smirnov, strata, y_true, y_pred, sensitive_features, sample_weight, agg)


@register("score", greater_is_better=False, needs_groups=True)
def binned_equalized_odds_wasserstein(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    target_bins: Any = 5,
    sample_weight: Any = None,
    agg: Agg = "worst_case",
) -> float:
    """Return :func:`otfairboost.metrics.wasserstein_distance` among rows of the same bin of the target.

    Parameters are those of :func:`binned_equalized_odds_difference`.
    """
    strata = _bin_target(y_true, target_bins, sample_weight)
    return _aggregate(wasserstein_distance, strata, y_true, y_pred, sensitive_features, sample_weight, agg)


def _read_strata(features: Any, bins: Any, n_rows: int) -> Groups:
    check_bins("control_bins", bins)
    columns = read_columns(features, "control_features")
    if len(columns[0].values) != n_rows:
        raise ValueError(
            f"control_features has {len(columns[0].values)} rows, but y_pred has {n_rows}; both need the same number"
        )
    own = find_bins("control_bins", bins, [column.name for column in columns])
    strata = intersect(
        [encode_column(column, one, "control_features")[0] for column, one in zip(columns, own, strict=True)]
    )
    if len(strata.labels) > MAX_STRATA:
        raise ValueError(
            f"control_features has {len(strata.labels)} distinct values, at most {MAX_STRATA} make sense as strata; "
            "cut continuous ones into intervals with control_bins, or give a coarser feature"
        )
    return strata


def _bin_target(y_true: Any, bins: Any, sample_weight: Any) -> Groups:
    check_bins("target_bins", bins)
    y = read_floats("y_true", y_true)
    weight = None if sample_weight is None else read_floats("sample_weight", sample_weight)
    if weight is not None and len(weight) != len(y):
        raise ValueError(f"sample_weight has {len(weight)} rows, but y_true has {len(y)}; both need the same number")
    return cut(y, learn_edges(y, bins, weight))


def _aggregate(
    metric: Callable[..., float],
    strata: Groups,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    agg: str,
    keywords: dict[str, Any] | None = None,
) -> float:
    """Return one number of a metric's values in the strata that hold two groups."""
    check_choice("agg", agg, ("worst_case", "mean"))
    predicted = read_column("y_pred", y_pred)
    rows = read_rows(y_true, len(predicted), sensitive_features, sample_weight)
    true = None if y_true is None else read_column("y_true", y_true)[rows.counted]
    predicted, codes = predicted[rows.counted], strata.codes[rows.counted]
    values, weights = [], []
    for code in range(len(strata.labels)):
        inside = codes == code
        if len(np.unique(rows.codes[inside])) < 2:
            continue
        values.append(
            metric(
                None if true is None else true[inside],
                predicted[inside],
                sensitive_features=rows.codes[inside],
                sample_weight=rows.weight[inside],
                **(keywords or {}),
            )
        )
        weights.append(rows.weight[inside].sum())
    if not values:
        raise ValueError(f"none of the {len(strata.labels)} strata holds two groups, so none can be compared")
    return float(max(values) if agg == "worst_case" else np.average(values, weights=weights))
