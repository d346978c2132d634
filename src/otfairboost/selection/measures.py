"""What held-out scores are measured by: the metrics, and the two of them that are traded."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from otfairboost.metrics.gaps import find_gap
from otfairboost.metrics.registry import Metric, find_metric
from otfairboost.selection.rows import HeldOutRows

_CLASSIFIER_METRICS = ("average_precision", "roc_auc", "log_loss", "accuracy", "demographic_parity_difference",
                       "equalized_odds_difference", "wasserstein_distance")  # fmt: skip
_REGRESSOR_METRICS = ("mean_absolute_error", "mean_squared_error", "kolmogorov_smirnov", "wasserstein_distance")


class Measures(NamedTuple):
    """Metrics of held-out scores.

    Attributes
    ----------
    metrics : tuple of Metric
        All of them, the next two first.
    performance, gap : Metric
        The two that are traded.
    threshold : float or None
        The score from which on a row is selected; None in regression.
    """

    metrics: tuple[Metric, ...]
    performance: Metric
    gap: Metric
    threshold: float | None

    def compute(self, metric: Metric, rows: HeldOutRows, scores: NDArray[np.float64]) -> float:
        """Return one metric."""
        return metric.from_scores(
            rows.y,
            scores,
            sensitive_features=rows.sensitive_features,
            sample_weight=rows.sample_weight,
            threshold=self.threshold,
            options={**rows.options, "control_features": rows.control_features},
        )

    def compute_all(self, rows: HeldOutRows, scores: NDArray[np.float64]) -> list[float]:
        """Return every metric, in order."""
        return [self.compute(metric, rows, scores) for metric in self.metrics]

    def refuse_impossible(self, folds: Sequence[HeldOutRows]) -> None:
        """Raise before training for metrics that the held-out rows do not have."""
        for number, rows in enumerate(folds):
            for metric in self.metrics:
                try:
                    metric.from_scores(
                        rows.y,
                        rows.y.astype(np.float64),
                        sensitive_features=rows.groups.decode()  # labels, for messages
                        if rows.attribute_codes is None
                        else rows.attribute_codes,
                        sample_weight=rows.sample_weight,
                        threshold=self.threshold,
                        options={**rows.options, "control_features": rows.control_features},
                    )
                except ValueError as error:
                    raise ValueError(f"{metric.name} cannot be computed on fold {number}: {error}") from error


def find_measures(estimator: Any, metrics: Any, performance: Any, gap: Any) -> Measures:
    """Return the metrics that are asked for by name, or the defaults of a classifier or regressor for None."""
    classification = is_classifier(estimator)
    defaults = _CLASSIFIER_METRICS if classification else _REGRESSOR_METRICS
    if isinstance(metrics, str):
        raise TypeError(f"metrics={metrics!r} must be a list of names")
    performance = defaults[0] if performance is None else performance
    performance = find_metric("performance", performance, greater_is_better=True, needs_groups=False)
    if not isinstance(gap, Metric):
        fairness = getattr(estimator, "fairness", "demographic_parity")
        gap = find_gap(
            "gap", gap, fairness=fairness, classification=classification,
            top=getattr(estimator, "focus_quantile", None) is not None,
            summed=getattr(estimator, "multi_attribute", None) == "sum",
        )  # fmt: skip
    others = [
        find_metric("metrics", name, greater_is_better=False, needs_groups=True)
        for name in (defaults if metrics is None else metrics)
    ]
    everything = tuple({metric.name: metric for metric in (performance, gap, *others)}.values())
    for metric in everything:
        if metric.kind == "label" and not classification:
            raise ValueError(f"{metric.name!r} compares decisions, but a regressor has scores only")
        if metric.classes == "many":
            raise ValueError(f"{metric.name!r} is for more than two classes, which a frontier does not take")
    threshold = getattr(estimator, "decision_threshold", 0.5) if classification else None
    return Measures(everything, performance, gap, threshold)
