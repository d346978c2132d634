"""The figures of a report as plain numbers: for model cards, ``--json`` and tables in a terminal."""

import math
from typing import Any

from otfairboost.metrics.rate_intervals import wilson_interval
from otfairboost.report.data import ModelResult, Report
from otfairboost.report.measures import Measure


def summarise(report: Report, model: int | None = None) -> dict[str, Any]:
    """Return one model's figures; those of the chosen one by default.

    Returns
    -------
    dict
        ``model``, ``task``, ``threshold``, ``n_rows``, ``measures`` (by name) and ``groups`` (by label). A figure is a
        dict of ``value`` and, where there is an interval, ``low`` and ``high``.
    """
    shown = report.models[report.chosen if model is None else model]
    return {
        "model": shown.name,
        "task": report.task,
        "fairness": report.fairness,
        "gap": report.gap,
        "threshold": report.threshold,
        "n_rows": report.n_rows,
        "n_without_group": report.n_without_group,
        "measures": {name: _figure(measure) for name, measure in shown.measures.items()},
        "groups": _groups(report, shown),
    }


def _groups(report: Report, model: ModelResult) -> dict[str, Any]:
    k, found = report.threshold_index, {}
    for group, result in zip(report.groups, model.groups, strict=True):
        positive, negative = int(result.selected_positive[k]), int(result.selected_negative[k])
        figures: dict[str, Any] = {"n_rows": group.n_rows, "mean_score": result.mean_score}
        figures["selection_rate"] = _rate(positive + negative, group.n_rows)
        if group.n_positive is not None:
            figures["n_positive"] = group.n_positive
            figures["true_positive_rate"] = _rate(positive, group.n_positive)
            figures["false_positive_rate"] = _rate(negative, group.n_rows - group.n_positive)
        if result.mean_absolute_error is not None:
            figures["mean_absolute_error"] = _figure(result.mean_absolute_error)
        found[group.label] = figures
    return found


def _rate(selected: int, total: int) -> dict[str, float | None]:
    return _figure(Measure(selected / total if total else math.nan, *wilson_interval(selected, total)))


def _figure(measure: Measure) -> dict[str, float | None]:
    value = measure.value if math.isfinite(measure.value) else None
    if measure.low is None or measure.high is None or not math.isfinite(measure.low):
        return {"value": value}
    return {"value": value, "low": measure.low, "high": measure.high}
