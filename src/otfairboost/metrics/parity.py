"""Label metrics: how far apart the groups' rates are."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from otfairboost.metrics.inputs import check_choice
from otfairboost.metrics.rates import Method, read_rates
from otfairboost.metrics.registry import register


@register("label", greater_is_better=False, needs_groups=True)
def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the largest difference between the groups' selection rates.

    .. math:: \Delta DP = \max_s P(\hat Y = 1 | S = s) - \min_s P(\hat Y = 1 | S = s)

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        True labels. Selection rates ignore them.
    y_pred : array-like of shape (n_rows,)
        Decisions: ``pos_label`` and one other label. Probabilities are refused.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare.
    method : {"between_groups", "to_overall", "one_vs_rest"}
        Compare the extreme groups with each other (the formula), each group with all rows together (these two
        as in Fairlearn), or each with all other groups together. The worst comparison counts.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights, not negative.
    pos_label : scalar
        The label that means "selected". Labels may be 0/1, booleans, -1/1 or strings.

    Returns
    -------
    float
        Between 0 (parity) and 1.

    References
    ----------
    The paper, Eq. (13), there for two groups.
    """
    (rates,) = read_rates(["selection_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.difference(method)


@register("label", greater_is_better=True, needs_groups=True)
def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the smallest ratio between the groups' selection rates (disparate impact).

    .. math:: DI = \min_s P(\hat Y = 1 | S = s) \, / \, \max_s P(\hat Y = 1 | S = s)

    Parameters are those of :func:`demographic_parity_difference`. 1 is parity; NaN, as in Fairlearn, where
    nobody is selected. The paper, Eq. (14), there for two groups.
    """
    (rates,) = read_rates(["selection_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.ratio(method)


@register("label", greater_is_better=False, needs_groups=True)
def true_positive_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the largest difference between the groups' true positive rates (equal opportunity).

    .. math:: \max_s P(\hat Y = 1 | Y = 1, S = s) - \min_s P(\hat Y = 1 | Y = 1, S = s)

    Parameters are those of :func:`demographic_parity_difference`. A group without positive rows has no such
    rate: as in Fairlearn it counts as 0, which can make the gap look large. :func:`group_rates` shows NaN.
    """
    (rates,) = read_rates(["true_positive_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.difference(method)


@register("label", greater_is_better=False, needs_groups=True)
def false_positive_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the largest difference between the groups' false positive rates (predictive equality).

    .. math:: \max_s P(\hat Y = 1 | Y = 0, S = s) - \min_s P(\hat Y = 1 | Y = 0, S = s)

    Parameters are those of :func:`demographic_parity_difference`. A group without negative rows counts as 0.
    """
    (rates,) = read_rates(["false_positive_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.difference(method)


@register("label", greater_is_better=False, needs_groups=True)
def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Literal["worst_case", "mean", "sum"] = "worst_case",
    pos_label: Any = 1,
) -> float:
    r"""Return the larger of :func:`true_positive_rate_difference` and :func:`false_positive_rate_difference`.

    .. math:: \max_y [ \max_s P(\hat Y = 1 | Y = y, S = s) - \min_s P(\hat Y = 1 | Y = y, S = s) ]

    Parameters are those of :func:`demographic_parity_difference`; ``agg`` makes one number of the two gaps:
    the larger, their mean (both as in Fairlearn) or their sum (:func:`equalized_odds_sum`).
    """
    aggregates: dict[str, Callable[[list[float]], Any]] = {"worst_case": max, "mean": np.mean, "sum": sum}
    check_choice("agg", agg, aggregates)
    odds = ["true_positive_rate", "false_positive_rate"]
    both = read_rates(odds, y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return float(aggregates[agg]([rates.difference(method) for rates in both]))


@register("label", greater_is_better=False, needs_groups=True)
def equalized_odds_sum(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    r"""Return the sum of :func:`true_positive_rate_difference` and :func:`false_positive_rate_difference`.

    .. math:: \Delta EOdds = \sum_y [ \max_s P(\hat Y = 1 | Y = y, S = s) - \min_s P(\hat Y = 1 | Y = y, S = s) ]

    Between 0 and 2. The paper, "Evaluation Metrics": its numbers come out by the sum, not by the larger gap.
    Parameters are those of :func:`demographic_parity_difference`.
    """
    keywords = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
    }
    return equalized_odds_difference(y_true, y_pred, agg="sum", **keywords)


@register("label", greater_is_better=False, needs_groups=True)
def one_vs_rest_demographic_parity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    r"""Return the largest gap between a group's selection rate and that of all other groups together.

    .. math:: \Delta_{max} DP = \max_s | P(\hat Y = 1 | S = s) - P(\hat Y = 1 | S \neq s) |

    :func:`demographic_parity_difference` with ``method="one_vs_rest"``, whose parameters it takes. The paper,
    "Evaluation Metrics", multi-class sensitive variable.
    """
    keywords = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
    }
    return demographic_parity_difference(y_true, y_pred, method="one_vs_rest", **keywords)
