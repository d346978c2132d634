"""The report in plain words: what the chosen model does to the groups, and what it is compared with."""

from otfairboost.report.data import ModelResult, Report
from otfairboost.report.measures import NAMES, Measure

_CRITERIA = {
    "demographic_parity": "everyone has the same chance to be selected, whatever the group (demographic parity)",
    "equalized_odds": "equally qualified people have the same chance, and so have the unqualified (equalized odds)",
    "true_positive_rate_parity": "qualified people have the same chance to be selected (equal opportunity)",
    "false_positive_rate_parity": "unqualified people have the same chance to be selected (predictive equality)",
}


def criterion_words(report: Report) -> str:
    """Return what the criterion means."""
    if report.task == "regression":
        return "predictions do not depend on the group (demographic parity)"
    return _CRITERIA.get(report.fairness, report.fairness)


def headline(report: Report) -> str:
    """Return what the chosen model does, in one sentence."""
    model = report.models[report.chosen]
    gap = model.measures[report.gap]
    if report.task == "regression":
        means = [(group.label, result.mean_score) for group, result in zip(report.groups, model.groups, strict=True)]
        (low_label, low), (high_label, high) = min(means, key=lambda one: one[1]), max(means, key=lambda one: one[1])
        return (
            f"{_quote(model.name)} predicts {low:.4g} on average for {_quote(low_label)} and {high:.4g} for "
            f"{_quote(high_label)}; above any value, the groups' shares differ by at most {_points(gap.value)}."
        )
    if report.fairness == "equalized_odds":
        return (
            f"Among people with the same outcome, {_quote(model.name)} selects the groups at rates that differ by at "
            f"most {_points(gap.value)}{_interval(gap)}."
        )
    return f"{_rates_sentence(report, model)}: a gap of {_points(gap.value)}{_interval(gap)}."


def comparison(report: Report) -> str:
    """Return how the chosen model stands to the reference, or nothing without one."""
    if report.reference is None:
        return ""
    model, other = report.models[report.chosen], report.models[report.reference]
    text = f"With {_quote(other.name)} the gap is {_points(other.measures[report.gap].value)}."
    if report.performance in model.measures and report.performance in other.measures:
        name = NAMES[report.performance]
        label = name.label[0].lower() + name.label[1:]
        before, after = (one.measures[report.performance].value for one in (other, model))
        text += f" The {label} is {_figure(before, name.in_points)} there and {_figure(after, name.in_points)} here."
    return text


def rates_by_group(report: Report, model: ModelResult) -> list[float]:
    """Return the rate that the criterion compares, of each group, at the threshold in use; NaN where undefined."""
    k, rates = report.threshold_index, []
    for group, result in zip(report.groups, model.groups, strict=True):
        positive = group.n_positive or 0
        if report.fairness == "true_positive_rate_parity":
            selected, total = int(result.selected_positive[k]), positive
        elif report.fairness == "false_positive_rate_parity":
            selected, total = int(result.selected_negative[k]), group.n_rows - positive
        else:
            selected, total = int(result.selected_negative[k] + result.selected_positive[k]), group.n_rows
        rates.append(selected / total if total else float("nan"))
    return rates


def _rates_sentence(report: Report, model: ModelResult) -> str:
    shown = [
        (rate, group.label)
        for rate, group in zip(rates_by_group(report, model), report.groups, strict=True)
        if rate == rate
    ]
    (low, low_label), (high, high_label) = min(shown), max(shown)
    whom = {
        "true_positive_rate_parity": " with a positive outcome",
        "false_positive_rate_parity": " with a negative outcome",
    }.get(report.fairness, "")
    if len(report.groups) == 2:
        return (
            f"{_quote(model.name)} selects {100 * low:.1f}% of {_quote(low_label)}{whom} and {100 * high:.1f}% of "
            f"{_quote(high_label)}{whom}"
        )
    return (
        f"{_quote(model.name)} selects between {100 * low:.1f}% ({_quote(low_label)}) and {100 * high:.1f}% "
        f"({_quote(high_label)}) of each group{whom}"
    )


def _quote(name: str) -> str:
    return f"“{name}”"


def _points(share: float) -> str:
    return f"{100 * share:.1f} percentage points"


def _interval(measure: Measure) -> str:
    if measure.low is None or measure.high is None or measure.low != measure.low:
        return ""
    return f" (95% interval {100 * measure.low:.1f} to {100 * measure.high:.1f})"


def _figure(value: float, in_points: bool) -> str:
    return f"{100 * value:.1f}%" if in_points else f"{value:.3f}"
