"""The figures of one model: performance and gaps, with intervals where the rows give them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost import metrics
from otfairboost.metrics.inputs import Floats
from otfairboost.metrics.rate_intervals import LEVEL, Bounds, gap_interval, mean_interval, wilson_interval

N_BINS = 400
N_DRAWS = 200


class Measure(NamedTuple):
    """A figure and the ends of its 95% interval (None where there is none)."""

    value: float
    low: float | None = None
    high: float | None = None


class MeasureName(NamedTuple):
    """How a figure is called on the page, and which way is better."""

    key: str
    label: str
    short: str
    kind: str  # "performance" or "gap"
    greater_is_better: bool
    in_points: bool  # a share, shown in percent or percentage points


NAMES = {
    name.key: name
    for name in (
        MeasureName("average_precision", "Ranking quality (PR AUC)", "PR AUC", "performance", True, False),
        MeasureName("roc_auc", "Ranking quality (ROC AUC)", "ROC AUC", "performance", True, False),
        MeasureName("accuracy", "Right decisions (accuracy)", "accuracy", "performance", True, True),
        MeasureName("mean_absolute_error", "Mean absolute error", "MAE", "performance", False, False),
        MeasureName("mean_squared_error", "Mean squared error", "MSE", "performance", False, False),
        MeasureName("demographic_parity_difference", "Gap in selection rates", "selection gap", "gap", False, True),
        MeasureName("true_positive_rate_difference", "Gap in true positive rates", "TPR gap", "gap", False, True),
        MeasureName("false_positive_rate_difference", "Gap in false positive rates", "FPR gap", "gap", False, True),
        MeasureName(
            "equalized_odds_difference", "Equalized odds gap (larger of the two)", "odds gap", "gap", False, True
        ),
        MeasureName("kolmogorov_smirnov", "Largest gap at any threshold (KS)", "KS", "gap", False, True),
        MeasureName("wasserstein_distance", "Distance between score distributions (W2)", "W2", "gap", False, False),
    )
}

# The labels among which a gap compares decisions; None: all rows. Of several gaps the larger counts.
_GAPS: dict[str, tuple[float | None, ...]] = {
    "demographic_parity_difference": (None,),
    "true_positive_rate_difference": (1.0,),
    "false_positive_rate_difference": (0.0,),
    "equalized_odds_difference": (1.0, 0.0),
}


def measure_scores(
    y: Floats | None, score: Floats, codes: NDArray[Any], *, threshold: float, classification: bool
) -> dict[str, Measure]:
    """Return all figures of one model.

    Parameters
    ----------
    y : array of shape (n_rows,) or None
        0 and 1, or a continuous target; None if unknown.
    score : array of shape (n_rows,)
    codes : int array of shape (n_rows,)
        Groups; no row is without one.
    threshold : float
        Score from which on a row is selected.
    classification : bool
        Whether ``y`` holds labels.
    """
    found: dict[str, Measure] = {}
    groups: dict[str, Any] = {"sensitive_features": codes}
    if y is not None and not classification:
        error = y - score
        found["mean_absolute_error"] = _mean(np.abs(error))
        found["mean_squared_error"] = _mean(error**2)
    if y is not None and classification:
        found |= _measure_labels(y, score, codes, threshold)
    if classification:
        decision = (score >= threshold).astype(int)
        for name in _GAPS if y is not None else ("demographic_parity_difference",):
            value = metrics.get_metric(name).function(decision if y is None else y, decision, **groups)
            found[name] = Measure(value, *_gap_ends(name, y, decision, codes))
    for name in ("kolmogorov_smirnov", "wasserstein_distance"):
        found[name] = Measure(metrics.get_metric(name).function(None, score, **groups))
    return found


def _measure_labels(y: Floats, score: Floats, codes: NDArray[Any], threshold: float) -> dict[str, Measure]:
    right = (score >= threshold) == (y > 0)
    found = {"accuracy": Measure(float(right.mean()), *wilson_interval(right.sum(), len(right)))}
    if y.min() == y.max():
        return found
    draws = _draw_binned(y, score)
    for name, of_bins in (("average_precision", _binned_average_precision), ("roc_auc", _binned_roc_auc)):
        value = metrics.get_metric(name).function(y, score)
        found[name] = Measure(value, *_bootstrap_ends(value, of_bins, draws))
    return found


def _mean(values: Floats) -> Measure:
    return Measure(float(values.mean()), *mean_interval(values))


def _gap_ends(name: str, y: Floats | None, decision: NDArray[Any], codes: NDArray[Any]) -> Bounds:
    """Return the interval of a gap between rates; of equalized odds, that of the rate with the larger gap."""
    candidates = []
    for label in _GAPS[name]:
        rows = np.ones(len(codes), bool) if label is None or y is None else y == label
        total = np.bincount(codes[rows], minlength=codes.max() + 1)
        selected = np.bincount(codes[rows], weights=decision[rows], minlength=codes.max() + 1)
        rates = np.divide(selected, total, out=np.zeros(len(total)), where=total > 0)
        candidates.append((float(np.ptp(rates)), gap_interval(selected, total)))
    return max(candidates, key=lambda one: one[0])[1]


def _draw_binned(y: Floats, score: Floats) -> Floats:
    """Return the counts of each label in bins of descending score: those seen, then Poisson bootstrap draws of them.

    Shape (1 + n_draws, 2, n_bins). Rows are independent, so the count of every cell is one Poisson variable, and the
    cost does not grow with the number of rows.
    """
    edges = np.unique(np.quantile(score, np.arange(1, N_BINS) / N_BINS))
    codes = len(edges) - np.searchsorted(edges, score, side="right")
    seen = np.array([np.bincount(codes[y == label], minlength=len(edges) + 1) for label in (0, 1)], dtype=np.float64)
    drawn = np.random.default_rng(0).poisson(seen, size=(N_DRAWS, *seen.shape))
    return np.concatenate([seen[None], drawn])


def _bootstrap_ends(value: float, of_bins: Callable[[Floats], Floats], draws: Floats) -> Bounds:
    """Return the percentile interval, moved by what binning changes."""
    binned = of_bins(draws)
    ends = np.quantile(binned[1:], [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]) - binned[0] + value
    return Bounds(*(float(end) for end in np.clip(ends, 0.0, 1.0)))


def _binned_roc_auc(counts: Floats) -> Floats:
    negative, positive = counts[:, 0], counts[:, 1]
    above = np.cumsum(positive, axis=1) - positive / 2  # of equal scores half are ranked right
    return (negative * above).sum(axis=1) / np.maximum(negative.sum(axis=1) * positive.sum(axis=1), 1)


def _binned_average_precision(counts: Floats) -> Floats:
    positive, selected = counts[:, 1], np.cumsum(counts.sum(axis=1), axis=1)
    precision = np.cumsum(positive, axis=1) / np.maximum(selected, 1)
    return (positive * precision).sum(axis=1) / np.maximum(positive.sum(axis=1), 1)
