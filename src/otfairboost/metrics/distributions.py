"""Score metrics: how far apart the groups' score distributions are."""

from collections.abc import Callable
from typing import Any

import numpy as np

from otfairboost.metrics.inputs import Bools, Floats, read_floats, read_rows
from otfairboost.metrics.registry import register
from otfairboost.transport import measure_sample, wasserstein_squared


@register("score", greater_is_better=False, needs_groups=True)
def wasserstein_distance(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    r"""Return the Wasserstein-2 distance between the groups' score distributions, not squared.

    .. math:: \max_s W_2(\mu_s, \mu_{\neg s})

    With two groups this is their distance; with more, the largest distance of a group to all others together.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        Ignored.
    y_pred : array-like of shape (n_rows,)
        Scores: probabilities of the positive class, or predictions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights, not negative.

    Returns
    -------
    float
        In the unit of the scores; 0 means equal distributions.

    References
    ----------
    The paper, Eq. (8).
    """
    return _compare_one_vs_rest(_distance, y_true, y_pred, sensitive_features, sample_weight)


@register("score", greater_is_better=False, needs_groups=True)
def kolmogorov_smirnov(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    r"""Return the largest difference between the groups' cumulative score distributions.

    .. math:: D_{KS} = \max_s \sup_\tau | P(\hat Y \leq \tau | S = s) - P(\hat Y \leq \tau | S \neq s) |

    The largest :func:`otfairboost.metrics.one_vs_rest_demographic_parity` that any threshold gives. Parameters are
    those of :func:`wasserstein_distance`. The paper, "Evaluation Metrics", regression.
    """
    return _compare_one_vs_rest(_largest_cdf_gap, y_true, y_pred, sensitive_features, sample_weight)


@register("score", greater_is_better=False, needs_groups=True)
def normalized_wasserstein(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    r"""Return the squared Wasserstein-2 distance relative to the spread of the scores.

    .. math:: \max_s \frac{W_2^2(\mu_s, \mu_{\neg s})}{\sigma_s^2 + \sigma_{\neg s}^2}

    Parameters are those of :func:`wasserstein_distance`. The variances have no n - 1 correction. Where both
    sides are constant: 0 if they are equal, else infinity. The paper, appendix "Empirical Convergence".
    """
    return _compare_one_vs_rest(_relative_cost, y_true, y_pred, sensitive_features, sample_weight)


def _compare_one_vs_rest(
    compare: Callable[[Floats, Floats, Bools], float],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
) -> float:
    """Return the largest ``compare(score, weight, member)`` over the groups; the scores are ascending."""
    score = read_floats("y_pred", y_pred)
    rows = read_rows(y_true, len(score), sensitive_features, sample_weight)
    score = score[rows.counted]
    order = np.argsort(score, kind="stable")
    score, weight, codes = score[order], rows.weight[order], rows.codes[order]
    n_compared = 1 if len(rows.labels) == 2 else len(rows.labels)  # of two groups, each is the other's rest
    return max(compare(score, weight, codes == code) for code in range(n_compared))


def _cost(score: Floats, weight: Floats, member: Bools) -> float:
    return wasserstein_squared(score[member], score[~member], weight[member], weight[~member])


def _distance(score: Floats, weight: Floats, member: Bools) -> float:
    return float(np.sqrt(_cost(score, weight, member)))


def _relative_cost(score: Floats, weight: Floats, member: Bools) -> float:
    cost = _cost(score, weight, member)
    sides = [measure_sample(score[side], weight[side]).measure for side in (member, ~member)]
    if all(len(side.atoms) == 1 for side in sides):
        return np.inf if cost > 0 else 0.0
    return cost / sum(side.variance() for side in sides)


def _largest_cdf_gap(score: Floats, weight: Floats, member: Bools) -> float:
    inside, outside = np.cumsum(np.where(member, weight, 0.0)), np.cumsum(np.where(member, 0.0, weight))
    gap = np.abs(inside / inside[-1] - outside / outside[-1])
    last_of_equal = np.append(score[1:] > score[:-1], True)  # where the value of a CDF stands
    return float(gap[last_of_equal].max())
