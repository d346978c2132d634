"""Sampling error: the bootstrap interval of any metric."""

from collections.abc import Mapping
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.binning import learn_edges
from otfairboost.columns import read_columns
from otfairboost.groups import encode_columns, encode_groups, factorize, refuse_many
from otfairboost.metrics.inputs import read_column, read_floats
from otfairboost.metrics.registry import Metric, find_metric

_FEW_KINDS = 64


class Interval(NamedTuple):
    """A metric with its sampling error.

    Attributes
    ----------
    value : float
        On the rows as they are.
    low, high : float
        Bounds that each hold with the confidence asked for.
    """

    value: float
    low: float
    high: float


def bootstrap_interval(
    metric: str | Metric,
    y_true: Any,
    score: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = 0.5,
    confidence: float = 0.95,
    n_resamples: int = 500,
    random_state: int | None = 0,
    control_features: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Interval:
    r"""Return a metric of scores with one-sided bounds for its sampling error.

    Rows are drawn anew, with replacement and within each group, so that groups keep their sizes. The bounds are the
    quantiles 1 - confidence and confidence of the metric on these samples. For a gap, which is never negative, the
    upper bound is safe: a sample's gap is larger than the population's on average.

    Parameters
    ----------
    metric : str or Metric
    y_true, score : array-like of shape (n_rows,)
        Labels 0 and 1 or values; probabilities or predictions. For metrics of several classes their numbers from 0, and
        probabilities of shape (n_rows, n_classes).
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare. Rows where it is missing are drawn as a group of their own.
    sample_weight : array-like of shape (n_rows,), optional
    threshold : float or None
        Label metrics see the decisions ``score >= threshold``.
    confidence : float
        Between 0.5 and 1.
    n_resamples : int
        How often rows are drawn.
    random_state : int or None
    control_features : array-like of shape (n_rows,) or (n_rows, n_columns), optional
        Of metrics that are conditional on them.
    options : mapping, optional
        Other arguments of the metric, such as ``target_bins``, ``top`` or ``attribute_weights``.

    Notes
    -----
    Rows that a metric cannot tell apart (equal label, decision or score, group, control features and weight) are drawn
    together, as one multinomial count. Decisions of a few groups need no row-wise work at all.
    """
    metric = find_metric("metric", metric, greater_is_better=False, needs_groups=True)
    if not 0.5 <= confidence < 1:
        raise ValueError(f"confidence={confidence!r} must lie between 0.5 and 1")
    if n_resamples < 1:
        raise ValueError(f"n_resamples={n_resamples!r} must be at least 1")
    if np.ndim(score) == 2:
        metric, score, threshold = _read_classes(metric, np.asarray(score, np.float64))
    scores, y = read_floats("score", score), read_column("y_true", y_true)
    if len(y) != len(scores):
        raise ValueError(f"y_true has {len(y)} rows, but score has {len(scores)}; both need the same number")
    columns, codes = _encode_groups(sensitive_features, len(scores))
    control = None if control_features is None else encode_columns(control_features, "control_features", len(scores))
    weight = np.ones(len(scores)) if sample_weight is None else read_floats("sample_weight", sample_weight)
    if len(weight) != len(scores):
        raise ValueError(
            f"sample_weight has {len(weight)} rows, but score has {len(scores)}; both need the same number"
        )
    if metric.kind == "label" and threshold is not None:
        scores, threshold = (scores >= threshold).astype(np.float64), 0.5
    if (weight < 0).any() or not (weight > 0).any():
        raise ValueError(
            f"sample_weight lies between {weight.min():g} and {weight.max():g}; no weight may be negative and at "
            "least one must be positive"
        )
    present = np.flatnonzero(weight > 0)  # the others are absent, and are not drawn
    parts = [codes] if control is None else [codes, control]
    kinds = _merge(present, y, scores, weight, parts)
    options = dict(options or {})
    if "target_bins" in signature(metric.function).parameters:  # of the rows as they are, not of each sample
        options["target_bins"] = learn_edges(y.astype(np.float64), options.get("target_bins", 5), weight)
    if control is not None:
        options["control_features"] = _mark_missing(control[kinds.row])
    features = _mark_missing(columns[kinds.row])

    def compute(times: NDArray[np.int64]) -> float:
        return metric.from_scores(
            y[kinds.row],
            scores[kinds.row],
            sensitive_features=features,
            sample_weight=times * weight[kinds.row],
            threshold=threshold,
            options=options,
        )

    rng = np.random.default_rng(random_state)
    groups_of_kinds = [_GroupSampler(kinds, code) for code in np.unique(kinds.codes)]
    samples = np.empty(n_resamples)
    for i in range(n_resamples):
        times = np.zeros_like(kinds.counts)
        for group in groups_of_kinds:
            times[group.kinds] = group.draw(rng)
        samples[i] = compute(times)
    low, high = np.nanquantile(samples, [1.0 - confidence, confidence])
    return Interval(compute(kinds.counts), float(low), float(high))


def _read_classes(metric: Metric, probability: NDArray[np.float64]) -> tuple[Metric, NDArray[np.float64], None]:
    """Return scores that tell rows of several classes apart, and the metric of such scores.

    Label metrics see the most probable class. For others a row's number stands for its probabilities.
    """
    if metric.kind == "label":
        return metric, np.argmax(probability, axis=1).astype(np.float64), None

    def of_numbers(y_true: Any, number: NDArray[np.float64], **arguments: Any) -> float:
        return metric.function(y_true, probability[number.astype(np.intp)], **arguments)

    return metric._replace(function=of_numbers), np.arange(len(probability), dtype=np.float64), None


class _Kinds(NamedTuple):
    """Rows that a metric can tell apart, by ascending score: one row of each, its group, and how many there are."""

    row: NDArray[np.intp]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]


def _encode_groups(sensitive_features: Any, n_rows: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the codes of each column, and one code for all of them together."""
    columns = read_columns(sensitive_features, "sensitive_features", n_rows=n_rows)
    if len(columns) == 1:
        codes = encode_groups(sensitive_features).codes
        return codes, codes
    parts = [factorize(column.values, column.missing, "sensitive_features") for column in columns]
    for part in parts:
        refuse_many(part, "sensitive_features")
    stacked = np.column_stack([part.codes for part in parts])
    return stacked, np.unique(stacked, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _mark_missing(codes: NDArray[np.int32]) -> NDArray[Any]:
    return np.where(codes < 0, np.nan, codes) if (codes < 0).any() else codes


def _merge(
    present: NDArray[np.intp],
    y: NDArray[Any],
    score: NDArray[np.float64],
    weight: NDArray[np.float64],
    codes: list[NDArray[np.int32]],
) -> _Kinds:
    label = np.unique(y[present], return_inverse=True)[1]
    columns: list[NDArray[Any]] = [score[present], *(one[present] for one in codes), label, weight[present]]
    order = np.lexsort(columns[::-1])
    sorted_columns = [column[order] for column in columns]
    differs = np.any([column[1:] != column[:-1] for column in sorted_columns], axis=0)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    row = present[order[starts]]
    return _Kinds(row, codes[0][row], np.diff(np.append(starts, len(order))))


class _GroupSampler:
    """Draws as many rows of a group as it has, with replacement."""

    def __init__(self, kinds: _Kinds, code: int) -> None:
        self.kinds = np.flatnonzero(kinds.codes == code)
        self._counts = kinds.counts[self.kinds]
        self._n_rows = int(self._counts.sum())
        self._kind_of_row = np.repeat(np.arange(len(self.kinds)), self._counts)

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return how often each kind is drawn."""
        if len(self.kinds) <= _FEW_KINDS:
            return rng.multinomial(self._n_rows, self._counts / self._n_rows)
        # The same, faster than one binomial for each of many kinds.
        rows = rng.integers(self._n_rows, size=self._n_rows)
        return np.bincount(self._kind_of_row[rows], minlength=len(self.kinds))
