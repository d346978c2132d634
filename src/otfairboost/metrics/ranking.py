"""Gaps at the top of a ranking: who is among the best x percent."""

from typing import Any

import numpy as np

from otfairboost.metrics.inputs import Floats, read_floats, read_rows
from otfairboost.metrics.rates import Method, Rates
from otfairboost.metrics.registry import register


@register("score", greater_is_better=False, needs_groups=True)
def top_k_selection_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    top: float = 0.1,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    r"""Return the largest difference between the groups' selection rates if the best ``top`` of all rows are selected.

    .. math:: \max_s P(\text{selected} | S = s) - \min_s P(\text{selected} | S = s), \qquad P(\text{selected}) = top

    Rows are ranked all together, those without a group included. Of rows with equal scores at the limit each is
    selected with the same probability, so that exactly the share ``top`` is.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        Ignored.
    y_pred : array-like of shape (n_rows,)
        Scores; the highest are selected.
    sensitive_features, method, sample_weight
        As in :func:`otfairboost.metrics.demographic_parity_difference`.
    top : float, default=0.1
        Between 0 and 1.
    """
    if isinstance(top, bool) or not isinstance(top, int | float | np.integer | np.floating) or not 0 < top < 1:
        raise ValueError(f"top={top!r} must be a number between 0 and 1")
    score = read_floats("y_pred", y_pred)
    rows = read_rows(y_true, len(score), sensitive_features, sample_weight)
    weight = np.ones(len(score)) if sample_weight is None else read_floats("sample_weight", sample_weight)
    chosen = _chances(score, weight / weight.max(), top)[rows.counted]
    rates = Rates(rows.labels, rows.add_up(rows.weight * chosen), rows.add_up(rows.weight))
    return rates.difference(method)


def _chances(score: Floats, weight: Floats, top: float) -> Floats:
    """Return each row's probability to be among the best ``top`` of the weight."""
    _, position = np.unique(-score, return_inverse=True)  # the best first
    held = np.bincount(position, weight)
    before = np.concatenate([[0.0], np.cumsum(held)[:-1]])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num((top * held.sum() - before) / held, nan=0.0, posinf=1.0, neginf=0.0)
    return np.clip(share, 0.0, 1.0)[position]
