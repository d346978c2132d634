"""Scorers: metrics in the form that scikit-learn's own searches take."""

from typing import Any

import sklearn
from sklearn.metrics import make_scorer

from otfairboost.metrics.registry import Metric, find_metric


def fairness_scorer(metric: str | Metric, *, sample_weight: bool = False, **arguments: Any) -> Any:
    """Return a scorer for ``GridSearchCV``, ``cross_validate`` and the like.

    Greater is better: gaps and losses are negated. ``sensitive_features``, given to the search's ``fit``, is routed to
    the scorer, and so is ``control_features`` where the metric has it; metadata routing must be enabled
    (``sklearn.set_config(enable_metadata_routing=True)``).

    Parameters
    ----------
    metric : str or Metric
        A name in ``METRICS``. Label metrics score ``predict``, the others ``predict_proba`` or, of a regressor,
        ``predict``.
    sample_weight : bool
        Whether rows are weighted in the metric; then ``sample_weight`` is routed as well.
    **arguments
        Of the metric, such as ``alpha`` of ``"tradeoff_objective"`` or ``pos_label``.
    """
    if not sklearn.get_config()["enable_metadata_routing"]:
        raise RuntimeError(
            "fairness_scorer needs metadata routing, to bring sensitive_features to the metric; run: "
            "sklearn.set_config(enable_metadata_routing=True)"
        )
    metric = find_metric("metric", metric, greater_is_better=False, needs_groups=True)
    scorer = make_scorer(
        metric.function,
        response_method="predict" if metric.kind == "label" else ("predict_proba", "predict"),
        greater_is_better=metric.greater_is_better,
        **arguments,
    )
    control = {"control_features": True} if metric.needs_control else {}
    return scorer.set_score_request(sensitive_features=True, sample_weight=sample_weight, **control)
