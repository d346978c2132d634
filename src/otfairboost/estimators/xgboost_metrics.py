"""Metrics during training with XGBoost: which are its own, which are ours, and which way is better."""

from collections.abc import Callable
from typing import Any

from otfairboost.estimators.evaluation import FAIR_OBJECTIVE, OBJECTIVE_METRICS, MetricRequest
from otfairboost.metrics import METRICS

DEFAULT_METRICS = {
    "binary:logistic": "logloss",
    "multi:softprob": "mlogloss",
    "reg:squarederror": "rmse",
    "reg:absoluteerror": "mae",
}


def is_own(metric: Any) -> bool:
    """Return whether a metric is a name of this package."""
    return isinstance(metric, str) and (metric in METRICS or metric in OBJECTIVE_METRICS)


def name_of(metric: Any) -> str:
    """Return what a metric is called in the history."""
    return metric if isinstance(metric, str) else metric.__name__


def rises(metric: Any) -> bool | None:
    """Return whether more is better; None where XGBoost knows or, as with its functions, assumes it."""
    if not is_own(metric):
        return None
    return metric in METRICS and METRICS[metric].greater_is_better


def complete_metrics(request: MetricRequest, objective: str, *, with_groups: bool) -> list[Any]:
    """Return names, then functions, with the defaults: what is trained, or XGBoost's metric where only it can be."""
    names = request.names
    if request.is_empty and with_groups:
        names = [FAIR_OBJECTIVE]
    elif not names:
        names = [DEFAULT_METRICS[objective]]
    return [*dict.fromkeys(names), *(wrap_function(function) for function in request.functions)]


def wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of XGBoost's estimators, ``function(y, score, sample_weight)``, as evaluators take it."""

    def compute(y: Any, score: Any, sample_weight: Any) -> tuple[str, float, bool]:
        arguments = {} if sample_weight is None else {"sample_weight": sample_weight}
        return compute.__name__, float(function(y, score, **arguments)), False

    compute.__name__ = getattr(function, "__name__", type(function).__name__)
    return compute
