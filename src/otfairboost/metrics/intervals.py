"""Sampling error: the bootstrap interval of any metric."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.groups import encode_groups
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

    Notes
    -----
    Rows that a metric cannot tell apart (equal label, decision or score, group and weight) are drawn together, as one
    multinomial count. Decisions of a few groups need no row-wise work at all.
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
    groups = encode_groups(sensitive_features, n_rows=len(scores))
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
    present = weight > 0  # the others are absent, and are not drawn
    kinds = _merge(y[present], scores[present], groups.codes[present], weight[present])
    missing = kinds.codes < 0
    codes = np.where(missing, np.nan, kinds.codes) if missing.any() else kinds.codes

    def compute(times: NDArray[np.int64]) -> float:
        return metric.from_scores(
            kinds.y, kinds.score, sensitive_features=codes, sample_weight=times * kinds.weight, threshold=threshold
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
    """Rows that a metric can tell apart, by ascending score, and how many there are of each."""

    y: NDArray[Any]
    score: NDArray[np.float64]
    codes: NDArray[np.int32]
    weight: NDArray[np.float64]
    counts: NDArray[np.int64]


def _merge(
    y: NDArray[Any], score: NDArray[np.float64], codes: NDArray[np.int32], weight: NDArray[np.float64]
) -> _Kinds:
    label = np.unique(y, return_inverse=True)[1]
    order = np.lexsort((weight, label, codes, score))
    columns = [column[order] for column in (score, codes, label, weight)]
    differs = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    first = order[starts]
    return _Kinds(y[first], score[first], codes[first], weight[first], np.diff(np.append(starts, len(order))))


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
