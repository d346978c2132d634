"""Performance and fairness as one number."""

from collections.abc import Callable
from typing import Any

from otfairboost.metrics.inputs import read_floats, read_labels
from otfairboost.metrics.registry import Metric, find_metric, register


@register("score", greater_is_better=True, needs_groups=True)
def tradeoff_objective(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    alpha: float = 0.75,
    performance: str | Metric | Callable[..., float] = "average_precision",
    fairness: str | Metric | Callable[..., float] = "demographic_parity_difference",
    threshold: float = 0.5,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    r"""Return a weighted mean of performance and fairness; greater is better.

    .. math:: Obj_\alpha = \alpha \cdot Performance + (1 - \alpha) (1 - Fairness)

    The paper's Eq. (15), with its choices for classification as defaults. Its regression has
    ``performance="mean_absolute_error"``, which enters as 1 - MAE like any loss, and
    ``fairness="wasserstein_distance"``.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels, 0/1 or booleans unless ``pos_label`` is given, or a continuous target.
    y_score : array-like of shape (n_rows,)
        Probabilities of the positive class, or predictions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare. Rows where it is missing still count in the performance.
    alpha : float
        Share of the performance, from 0 to 1.
    performance, fairness : str, Metric or callable
        A name in ``METRICS``, or a callable on scores: a performance to be large, a fairness gap to be small.
    threshold : float
        Label metrics see the decisions ``y_score >= threshold``.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights, not negative.
    pos_label : scalar, optional
        The positive class in ``y_true``.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha!r} is not allowed; it must lie between 0 and 1")
    score = read_floats("y_score", y_score)
    if pos_label is not None:
        y_true = read_labels("y_true", y_true, pos_label)[0].astype(int)
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}

    def goodness(metric: Metric, **keywords: Any) -> float:
        y_pred = (score >= threshold).astype(int) if metric.kind == "label" else score
        value = metric.function(y_true, y_pred, **keywords)
        return value if metric.greater_is_better else 1.0 - value

    performance = find_metric("performance", performance, greater_is_better=True, needs_groups=False)
    fairness = find_metric("fairness", fairness, greater_is_better=False, needs_groups=True)
    parity = goodness(fairness, sensitive_features=sensitive_features, **weighted)
    return float(alpha * goodness(performance, **weighted) + (1.0 - alpha) * parity)
