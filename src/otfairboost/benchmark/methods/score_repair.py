"""Moving the scores of all groups to their barycenter."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Repair(NamedTuple):
    r"""The map :math:`T(f, s) = \sum_b p_b Q_b(F_s(f))` (Chzhen et al. 2020, Eq. 3).

    Attributes
    ----------
    scores : dict
        Ascending scores of each group.
    shares : dict
        Each group's share of the rows.
    """

    scores: dict[Any, Floats]
    shares: dict[Any, float]

    def __call__(self, score: Floats, s: NDArray) -> Floats:
        """Return the images of scores of rows of these groups."""
        image = np.empty(len(score))
        unknown = set(s) - self.scores.keys()
        if unknown:
            raise ValueError(f"s holds groups that were not seen in training: {', '.join(sorted(map(str, unknown)))}")
        for group, seen in self.scores.items():
            rows = s == group
            level = _mid_rank(seen, score[rows])
            image[rows] = sum(self.shares[other] * _quantile(self.scores[other], level) for other in self.scores)
        return image


def fit_repair(score: Floats, s: NDArray) -> Repair:
    """Fit the map to scores and their groups."""
    groups = sorted(set(s))
    return Repair(
        {group: np.sort(score[s == group]) for group in groups}, {group: float(np.mean(s == group)) for group in groups}
    )


def _mid_rank(ascending: Floats, values: Floats) -> Floats:
    """Return the distribution function, at a jump its middle: equal scores stay equal and keep their mean level."""
    below = np.searchsorted(ascending, values, side="left")
    up_to = np.searchsorted(ascending, values, side="right")
    return (below + up_to) / (2.0 * len(ascending))


def _quantile(ascending: Floats, level: Floats) -> Floats:
    """Return the quantiles; the i-th of n values has the level (i - 1/2) / n, and between them it is linear."""
    n = len(ascending)
    return np.interp(level, (np.arange(n) + 0.5) / n, ascending)
