"""The frontier's numbers: metrics by weight and fold, and the points one may choose from them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.metrics.registry import Metric

Float = NDArray[np.float64]


class FrontierPoint(NamedTuple):
    """One weight of a frontier.

    Attributes
    ----------
    fairness_weight : float
    performance, gap : float
        Means over folds of the two metrics that the frontier trades.
    metrics : dict
        Means over folds of all metrics, by name.
    position : int
        Among the frontier's weights, and in its predictions.
    """

    fairness_weight: float
    performance: float
    gap: float
    metrics: dict[str, float]
    position: int


class FrontierNumbers(NamedTuple):
    """Metrics by weight and fold.

    Attributes
    ----------
    weights : array of shape (n_weights,)
        Ascending.
    metrics : tuple of Metric
    values : array of shape (n_weights, n_folds, n_metrics)
        NaN where a metric is undefined, or training diverged.
    """

    weights: Float
    metrics: tuple[Metric, ...]
    values: Float

    @property
    def names(self) -> tuple[str, ...]:
        """Return the metrics' names."""
        return tuple(metric.name for metric in self.metrics)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return columns weight, fold, metric, value: one row for each weight x fold x metric."""
        n_weights, n_folds, n_metrics = self.values.shape
        return {
            "fairness_weight": np.repeat(self.weights, n_folds * n_metrics),
            "fold": np.tile(np.repeat(np.arange(n_folds), n_metrics), n_weights),
            "metric": np.tile(np.array(self.names), n_weights * n_folds),
            "value": self.values.ravel(),
        }

    def find(self, argument: str, name: str) -> Metric:
        """Return the metric of that name, or raise with the names there are."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise ValueError(f"{argument}={name!r} was not computed; computed were {', '.join(map(repr, self.names))}")

    def means(self, name: str) -> Float:
        """Return the mean over folds of a metric, for each weight; NaN where one fold has none."""
        return self.values[:, :, self.names.index(name)].mean(axis=1)

    def points(self, performance: str, gap: str) -> list[FrontierPoint]:
        """Return one point for each weight at which both metrics are defined."""
        means = {name: self.means(name) for name in self.names}
        return [
            FrontierPoint(
                float(weight),
                float(means[performance][i]),
                float(means[gap][i]),
                {name: float(values[i]) for name, values in means.items()},
                i,
            )
            for i, weight in enumerate(self.weights)
            if np.isfinite(means[performance][i]) and np.isfinite(means[gap][i])
        ]


def goodness(metric: Metric, value: float) -> float:
    """Return a performance as the paper's Eq. (15) takes it: the value, or 1 less a loss."""
    return value if metric.greater_is_better else 1.0 - value


def pareto_points(points: Sequence[FrontierPoint], performance: Metric) -> list[FrontierPoint]:
    """Return the points that no other one beats in performance without losing in gap, by ascending gap.

    Of several equal points the one of the smallest weight stays.
    """
    front: list[FrontierPoint] = []
    best = -np.inf
    for point in sorted(points, key=lambda p: (p.gap, -goodness(performance, p.performance), p.fairness_weight)):
        good = goodness(performance, point.performance)
        if good > best:
            front.append(point)
            best = good
    return front


def knee_point(front: Sequence[FrontierPoint], performance: Metric) -> FrontierPoint:
    """Return the point of a Pareto front that lies farthest above the line between its ends.

    Both axes are scaled to the front's range. Beyond that point a gap point costs more performance than on average.
    """
    good = np.array([goodness(performance, point.performance) for point in front])
    gap = np.array([point.gap for point in front])
    return front[int(np.argmax(_scale(good) - _scale(gap)))]


def _scale(values: Float) -> Float:
    span = np.ptp(values)
    return (values - values.min()) / span if span > 0 else np.zeros(len(values))
