"""Rates of decisions: selection, true positive and false positive rate, by group and overall."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from otfairboost.metrics.inputs import Floats, check_choice, read_labels, read_rows

Method = Literal["between_groups", "to_overall", "one_vs_rest"]

# The rows a rate is taken over: all (None), those whose true label is positive (True), or negative (False).
RATES: dict[str, bool | None] = {
    "selection_rate": None,
    "true_positive_rate": True,
    "false_positive_rate": False,
}


def group_rates(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    rate: str = "selection_rate",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> dict[Any, float]:
    """Return the rate of each group, by group label; NaN where a group has no row to take it over.

    ``rate`` is "selection_rate", "true_positive_rate" or "false_positive_rate"; the other parameters are
    those of :func:`otfairboost.metrics.demographic_parity_difference`. One group is enough here.
    """
    check_choice("rate", rate, RATES)
    (rates,) = read_rates([rate], y_true, y_pred, sensitive_features, sample_weight, pos_label, min_groups=1)
    return dict(zip(rates.labels, rates.by_group(undefined=np.nan).tolist(), strict=True))


def selection_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = 1) -> float:
    r"""Return :math:`P(\hat Y = 1)`, for Fairlearn's ``MetricFrame``; ``y_true`` is ignored."""
    return _read_overall("selection_rate", y_true, y_pred, sample_weight, pos_label)


def true_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = 1) -> float:
    r"""Return :math:`P(\hat Y = 1 | Y = 1)`, for Fairlearn's ``MetricFrame``; 0 without positive rows."""
    return _read_overall("true_positive_rate", y_true, y_pred, sample_weight, pos_label)


def false_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = 1) -> float:
    r"""Return :math:`P(\hat Y = 1 | Y = 0)`, for Fairlearn's ``MetricFrame``; 0 without negative rows."""
    return _read_overall("false_positive_rate", y_true, y_pred, sample_weight, pos_label)


class Rates(NamedTuple):
    """Of each group: the weight of the rows a rate is taken over, and of those of them that are selected."""

    labels: tuple[Any, ...]
    selected: Floats
    total: Floats

    def by_group(self, undefined: float = 0.0) -> Floats:
        """Return each group's rate; ``undefined`` where a group has no row to take it over."""
        return _divide(self.selected, self.total, undefined)

    def overall(self) -> float:
        """Return the rate of all groups together."""
        return float(_divide(self.selected.sum(keepdims=True), self.total.sum(keepdims=True))[0])

    def difference(self, method: str) -> float:
        """Return the largest distance of a group's rate to what it is compared with."""
        return float(np.abs(self.by_group() - self._reference(method)).max())

    def ratio(self, method: str) -> float:
        """Return the smallest ratio, lower over higher, of a group's rate and what it is compared with."""
        low, high = np.sort([self.by_group(), self._reference(method)], axis=0)
        return float(_divide(low, high, np.nan).min())

    def _reference(self, method: str) -> Floats:
        """Return what each group's rate is compared with."""
        check_choice("method", method, ("between_groups", "to_overall", "one_vs_rest"))
        if method == "one_vs_rest":
            others = 1.0 - np.eye(len(self.labels))
            return _divide(others @ self.selected, others @ self.total)
        return np.full(len(self.labels), self.overall() if method == "to_overall" else self.by_group().max())


def _divide(numerator: Floats, denominator: Floats, undefined: float = 0.0) -> Floats:
    """Divide; ``undefined`` where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, undefined), where=denominator > 0)


def read_rates(
    names: Iterable[str],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    pos_label: Any,
    min_groups: int = 2,
) -> list[Rates]:
    """Check the input and add up the weights behind each rate, by group."""
    decided, other_decision = read_labels("y_pred", y_pred, pos_label)
    rows = read_rows(y_true, len(decided), sensitive_features, sample_weight, min_groups)
    conditions = [RATES[name] for name in names]
    weights = [rows.weight for _ in conditions]
    if conditions != [None]:
        positive, other_label = read_labels("y_true", y_true, pos_label)
        if None not in (other_label, other_decision) and other_label != other_decision:
            raise ValueError(
                f"besides pos_label={pos_label!r} y_true has {other_label!r} and y_pred {other_decision!r}; "
                "both need the same two labels"
            )
        weights = [rows.weight * (positive[rows.counted] == condition) for condition in conditions]
    selected = decided[rows.counted]
    return [Rates(rows.labels, rows.add_up(weight * selected), rows.add_up(weight)) for weight in weights]


def _read_overall(name: str, y_true: Any, y_pred: Any, sample_weight: Any, pos_label: Any) -> float:
    everyone = np.zeros(len(y_pred))
    return read_rates([name], y_true, y_pred, everyone, sample_weight, pos_label, min_groups=1)[0].overall()
