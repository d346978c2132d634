"""Metrics during training: the names a user can give as ``eval_metric``, and what they compute.

LightGBM's own metrics would see raw predictions without their offset. The two that do not mind, because they only rank,
stay with LightGBM; the others are computed here under its names.
"""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from otfairboost.boosters.lightgbm import RANKING_METRICS, EvalResult
from otfairboost.metrics import METRICS
from otfairboost.objective import FairObjective

Float = NDArray[np.float64]

FAIR_OBJECTIVE, BASE_LOSS, FAIRNESS_PENALTY = "fair_objective", "base_loss", "fairness_penalty"
OBJECTIVE_METRICS = (FAIR_OBJECTIVE, BASE_LOSS, FAIRNESS_PENALTY)


class _Constants(NamedTuple):
    """LightGBM parameters that its metrics read."""

    alpha: float = 0.9
    fair_c: float = 1.0


def _log_loss(y: Float, p: Float, _: _Constants) -> Float:
    return -special.xlogy(y, p) - special.xlog1py(1.0 - y, -p)


def _huber(y: Float, z: Float, c: _Constants) -> Float:
    d = np.abs(z - y)
    return np.where(d <= c.alpha, 0.5 * d * d, c.alpha * (d - 0.5 * c.alpha))


_ABSOLUTE = ("l1", lambda y, z, _: np.abs(z - y))
_SQUARED = ("l2", lambda y, z, _: np.square(z - y))
_MEANS: dict[str, tuple[str, Callable[[Float, Float, _Constants], Float]]] = {
    **dict.fromkeys(("l1", "mean_absolute_error", "mae", "regression_l1"), _ABSOLUTE),
    **dict.fromkeys(("l2", "mean_squared_error", "mse", "regression", "regression_l2"), _SQUARED),
}
_CLASSIFIER_METRICS = {
    **_MEANS,
    **dict.fromkeys(("binary_logloss", "binary", "logloss", "multi_logloss"), ("binary_logloss", _log_loss)),
    **dict.fromkeys(("cross_entropy", "xentropy"), ("cross_entropy", _log_loss)),
    **dict.fromkeys(("binary_error", "error", "multi_error"), ("binary_error", lambda y, p, _: (p > 0.5) != (y > 0.5))),
}
_REGRESSOR_METRICS = {
    **_MEANS,
    **dict.fromkeys(("rmse", "root_mean_squared_error", "l2_root"), ("rmse", _SQUARED[1])),
    **dict.fromkeys(
        ("mape", "mean_absolute_percentage_error"),
        ("mape", lambda y, z, _: np.abs(z - y) / np.maximum(1.0, np.abs(y))),
    ),
    "quantile": ("quantile", lambda y, z, c: np.maximum(c.alpha * (y - z), (c.alpha - 1.0) * (y - z))),
    "huber": ("huber", _huber),
    "fair": (
        "fair",
        lambda y, z, c: c.fair_c * np.abs(z - y) - c.fair_c**2 * np.log1p(np.abs(z - y) / c.fair_c),
    ),
}


def needs_groups(metric: Any) -> bool:
    """Return whether a metric reads sensitive features."""
    if not isinstance(metric, str) or metric not in METRICS:
        return metric in (FAIR_OBJECTIVE, FAIRNESS_PENALTY)
    return signature(METRICS[metric].function).parameters["sensitive_features"].default is Parameter.empty


def canonical_metric(metric: Any, *, classification: bool) -> Any:
    """Return LightGBM's main name of a metric, our own name, or the function itself; raise for unknown names."""
    if callable(metric) or metric in OBJECTIVE_METRICS:
        return metric
    native = _CLASSIFIER_METRICS if classification else _REGRESSOR_METRICS
    if metric in native:
        return native[metric][0]
    if (metric in RANKING_METRICS and classification) or metric in METRICS:
        return metric
    ranking = RANKING_METRICS if classification else ()
    raise ValueError(
        f"eval_metric {metric!r} is unknown or not available with fairness_weight > 0; allowed are a function and "
        f"{', '.join(sorted({*native, *ranking, *OBJECTIVE_METRICS, *METRICS}))}"
    )


class Evaluator:
    """Computes metrics on one set of rows from a booster's raw predictions.

    Parameters
    ----------
    metrics : sequence of str or callable
        Canonical names, or functions with the signature that LightGBM's estimators take.
    y : array of shape (n_rows,)
        Class codes or values.
    weight : array of shape (n_rows,), or empty if all rows weigh 1
    objective : FairObjective
        The objective on these rows; for rows without groups, that of other rows, from which link and offset are read.
    groups : array of shape (n_rows,) or None
        Group of each row, NaN where it is missing.
    decision_threshold : float or None
        Probability from which on a row is selected; None in regression.
    alpha, fair_c : float
        LightGBM's parameters of these names.
    name : str
        What to call the sensitive features in messages.
    """

    def __init__(
        self,
        metrics: Sequence[Any],
        y: NDArray[Any],
        weight: NDArray[Any],
        objective: FairObjective,
        groups: Float | None,
        decision_threshold: float | None,
        *,
        alpha: float,
        fair_c: float,
        name: str,
    ) -> None:
        for metric in metrics:
            if groups is None and needs_groups(metric):
                raise ValueError(f"{name} is missing; eval_metric {metric!r} needs the groups of the evaluation rows")
            if decision_threshold is None and metric in METRICS and METRICS[metric].kind == "label":
                raise ValueError(f"eval_metric {metric!r} compares decisions; a regressor has scores only")
        self._metrics = metrics
        self._y = np.asarray(y, dtype=np.float64)
        self._weight = np.asarray(weight, dtype=np.float64) if len(weight) else None
        self._objective = objective
        self._groups = groups
        self._threshold = decision_threshold
        self._constants = _Constants(alpha, fair_c)

    def __call__(self, predicted: Float) -> list[EvalResult]:
        """Return (name, value, greater is better) of each metric that is not LightGBM's to compute."""
        raw = predicted + self._objective.offset
        response = raw if self._threshold is None else special.expit(raw)
        results: list[EvalResult] = []
        for metric in self._metrics:
            if callable(metric):
                results += self._call(metric, response)
            elif metric in OBJECTIVE_METRICS:
                results.append((metric, self._objective_part(metric, predicted), False))
            elif metric not in RANKING_METRICS:
                results.append(self._named(metric, response))
        return results

    def _objective_part(self, metric: str, predicted: Float) -> float:
        value = self._objective.value(predicted)
        parts = {BASE_LOSS: value.loss, FAIRNESS_PENALTY: value.penalty}
        return parts.get(metric, value.loss + self._objective.fairness_weight * value.penalty)

    def _named(self, name: str, response: Float) -> EvalResult:
        native = _REGRESSOR_METRICS if self._threshold is None else _CLASSIFIER_METRICS
        if name in native:
            mean = np.average(native[name][1](self._y, response, self._constants), weights=self._weight)
            return name, float(np.sqrt(mean) if name == "rmse" else mean), False
        metric = METRICS[name]
        predicted = response
        if metric.kind == "label" and self._threshold is not None:
            predicted = (response >= self._threshold).astype(np.float64)
        value = metric.function(self._y, predicted, sensitive_features=self._groups, sample_weight=self._weight)
        return name, float(value), metric.greater_is_better

    def _call(self, metric: Callable[..., Any], response: Float) -> list[EvalResult]:
        count = len(signature(metric).parameters)
        if not 2 <= count <= 4:
            raise TypeError(f"an eval_metric function takes 2, 3 or 4 arguments, got one that takes {count}")
        result = metric(*(self._y, response, self._weight, None)[:count])
        return result if isinstance(result, list) else [result]
