"""Choosing a point of a fitted frontier."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from otfairboost.metrics.intervals import Interval, bootstrap_interval
from otfairboost.metrics.registry import Metric
from otfairboost.selection.measures import Measures
from otfairboost.selection.points import FrontierNumbers, FrontierPoint, goodness, knee_point, pareto_points
from otfairboost.selection.rows import HeldOutRows


class FrontierChoices:
    """What a frontier offers once it is fitted.

    ``performance`` and ``gap`` are names of computed metrics to trade instead of the frontier's own, everywhere.
    """

    performance_: str
    gap_: str
    weights_: NDArray[np.float64]
    predictions_: NDArray[np.float32]
    held_out_: HeldOutRows
    _numbers: FrontierNumbers
    _measures: Measures

    def points(self, *, performance: str | None = None, gap: str | None = None) -> list[FrontierPoint]:
        """Return one point for each weight, ascending; without those where training diverged."""
        check_is_fitted(self)
        performance, gap = performance or self.performance_, gap or self.gap_
        self._numbers.find("performance", performance)
        self._numbers.find("gap", gap)
        return self._numbers.points(performance, gap)

    def pareto(self, *, performance: str | None = None, gap: str | None = None) -> list[FrontierPoint]:
        """Return the points that no other beats in performance without losing in gap, by ascending gap."""
        points = self.points(performance=performance, gap=gap)
        return pareto_points(points, self._find_performance(performance))

    def knee(self, *, performance: str | None = None, gap: str | None = None) -> FrontierPoint:
        """Return the point of the Pareto front that is farthest above the line between its ends."""
        return knee_point(self.pareto(performance=performance, gap=gap), self._find_performance(performance))

    def best(self, alpha: float = 0.75, *, performance: str | None = None, gap: str | None = None) -> FrontierPoint:
        """Return the point of the largest ``alpha * performance + (1 - alpha) * (1 - gap)``, the paper's Eq. (15).

        A loss enters as ``1 - loss``. Of equal points the one of the smallest weight is returned.
        """
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha={alpha!r} is not allowed; it must lie between 0 and 1")
        metric = self._find_performance(performance)
        return max(
            self.points(performance=performance, gap=gap),
            key=lambda p: alpha * goodness(metric, p.performance) + (1.0 - alpha) * (1.0 - p.gap),
        )

    def select(
        self,
        *,
        max_gap: float,
        metric: str | None = None,
        performance: str | None = None,
        confidence: float | None = None,
    ) -> FrontierPoint:
        """Return the point of the best performance whose gap is at most ``max_gap``.

        Parameters
        ----------
        max_gap : float
        metric : str, optional
            The gap's name; by default the frontier's.
        performance : str, optional
            What is to be best; by default the frontier's.
        confidence : float, optional
            Holds the upper bound of :meth:`interval` under ``max_gap``. By default it is the mean over folds.

        Raises
        ------
        ValueError
            If no weight keeps the gap; the message has the smallest one reached.
        """
        if not max_gap >= 0:
            raise ValueError(f"max_gap={max_gap!r} must be a number >= 0")
        good = self._find_performance(performance)
        points = self.points(performance=performance, gap=metric)
        reached = {}
        for point in sorted(points, key=lambda p: -goodness(good, p.performance)):
            bound = point.gap if confidence is None else self.interval(point, metric, confidence=confidence).high
            if bound <= max_gap:
                return point
            reached[bound] = point.fairness_weight
        smallest = min(reached)
        raise ValueError(
            f"max_gap={max_gap:g} is not reached: the smallest {metric or self.gap_} is {smallest:.4g}, at "
            f"fairness_weight={reached[smallest]:g}; allow a larger gap or add larger weights"
        )

    def interval(
        self, choice: float | FrontierPoint, metric: str | None = None, *, confidence: float = 0.95
    ) -> Interval:
        """Return a metric on all held-out rows together, with its sampling error.

        Parameters
        ----------
        choice : float or FrontierPoint
            A weight of the frontier.
        metric : str, optional
            By default the frontier's gap.
        confidence : float
            Of each bound.
        """
        check_is_fitted(self)
        if not hasattr(self, "predictions_"):
            raise ValueError("intervals need the held-out predictions; set keep_predictions=True and fit again")
        rows = self.held_out_
        return bootstrap_interval(
            self._numbers.find("metric", metric or self.gap_),
            rows.y,
            self.predictions_[self._position_of(choice)],
            sensitive_features=rows.sensitive_features,
            sample_weight=rows.sample_weight,
            threshold=self._measures.threshold,
            confidence=confidence,
            control_features=rows.control_features,
            options=rows.options,
        )

    def _find_performance(self, name: str | None) -> Metric:
        check_is_fitted(self)
        return self._numbers.find("performance", name or self.performance_)

    def _position_of(self, choice: float | FrontierPoint) -> int:
        weight = choice.fairness_weight if isinstance(choice, FrontierPoint) else choice
        found = np.flatnonzero(self.weights_ == weight)
        if not len(found):
            weights = ", ".join(f"{one:g}" for one in self.weights_)
            raise ValueError(f"fairness_weight={weight!r} is not on the frontier, whose weights are {weights}")
        return int(found[0])
