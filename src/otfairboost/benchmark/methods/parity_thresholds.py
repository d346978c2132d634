"""The thresholds of least error whose selection rates differ by no more than a bound."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class _Group(NamedTuple):
    """Scores of a group, descending, and the cost of selecting the first k of them, less that of selecting none."""

    scores: Floats
    cost: Floats

    def at_rate(self, rate: Floats) -> Floats:
        """Return the cost at selection rates, linear between whole rows."""
        return np.interp(rate, np.arange(len(self.cost)) / len(self.scores), self.cost)

    def best_rate(self) -> float:
        """Return the rate of least cost."""
        return float(np.argmin(self.cost)) / len(self.scores)

    def threshold(self, rate: float) -> float:
        """Return the score from which on rows are selected, midway between the last selected and the next."""
        k = round(rate * len(self.scores))
        if k == 0:
            return float(np.nextafter(self.scores[0], np.inf))
        if k == len(self.scores):
            return float(self.scores[-1])
        return float((self.scores[k - 1] + self.scores[k]) / 2.0)


def fit_thresholds(
    probability: Floats, s: NDArray, gap_bound: float, sample_weight: Floats | None = None
) -> dict[Any, float]:
    r"""Return one threshold for each group.

    Selecting a row of probability p costs 1 - p, leaving it out costs p. A group's cost is convex in its selection
    rate, so for rates in a band :math:`[l, l + \text{bound}]` the best is each group's own best rate, clipped into it.
    What is left to search is l.

    Parameters
    ----------
    probability : ndarray of shape (n_rows,)
        Of the positive label.
    s : ndarray of shape (n_rows,)
        Groups.
    gap_bound : float
        Largest difference between two groups' selection rates, from 0 to 1. Rates are met to within half a row.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the costs; rates count rows.
    """
    if not 0 <= gap_bound <= 1:
        raise ValueError(f"gap_bound={gap_bound!r} must be between 0 and 1")
    weight = np.ones(len(probability)) if sample_weight is None else sample_weight
    groups = {}
    for label in sorted(set(s)):
        rows = np.flatnonzero(s == label)
        rows = rows[np.argsort(-probability[rows], kind="stable")]
        saved = weight[rows] * (1.0 - 2.0 * probability[rows])
        groups[label] = _Group(probability[rows], np.concatenate([[0.0], np.cumsum(saved)]))
    best = {label: group.best_rate() for label, group in groups.items()}
    # Costs are linear between multiples of one row: the best band begins or ends at one of them.
    steps = np.unique(np.concatenate([np.arange(len(g.scores) + 1) / len(g.scores) for g in groups.values()]))
    lower = np.unique(np.clip(np.concatenate([steps, steps - gap_bound]), 0.0, 1.0))
    cost = sum(group.at_rate(np.clip(best[label], lower, lower + gap_bound)) for label, group in groups.items())
    chosen = lower[np.argmin(cost)]
    rates = {label: float(np.clip(best[label], chosen, chosen + gap_bound)) for label in groups}
    return {label: group.threshold(rates[label]) for label, group in groups.items()}
