"""Scores: what the penalty compares, as a function of the raw prediction."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import special

from otfairboost.transport.grid import UNIT_GRID, Grid, robust_grid

IDENTITY, LOGISTIC = 0, 1


class ScoreMap(NamedTuple):
    r"""How a raw prediction :math:`F` becomes the score :math:`u` that the penalty compares.

    ``IDENTITY``: :math:`u = F`. ``LOGISTIC``: :math:`u = \sigma(\kappa (F - F_0))`.

    Attributes
    ----------
    kind : int
        ``IDENTITY`` or ``LOGISTIC``.
    steepness : float
        :math:`\kappa`.
    origin : float
        :math:`F_0`.

    Notes
    -----
    Departure from the paper: it compares probabilities, :math:`\kappa = 1` and :math:`F_0 = 0`. A larger
    :math:`\kappa` makes differences near the decision threshold count for more than those far from it.
    """

    kind: int
    steepness: float
    origin: float

    def score(self, raw_prediction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of raw predictions."""
        score = np.empty(len(raw_prediction))
        write_scores(raw_prediction, self.kind, self.steepness, self.origin, score)
        return score

    def slope(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return du/dF where the score is ``score``."""
        if self.kind == IDENTITY:
            return np.ones_like(score)
        return self.steepness * score * (1.0 - score)

    def curvature(self, score: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Return the slope that a step from ``score`` towards ``target`` should reckon with.

        The larger of the tangent's slope and that of the secant, :math:`(u - t) / (F(u) - F(t))`. Where the score
        is saturated the tangent is nearly flat and a Newton step along it would overshoot by far; the secant leads
        to the target exactly. See ``docs/derivations/hessian.md``.
        """
        tangent = self.slope(score)
        if self.kind == IDENTITY:
            return tangent
        edge = 1e-15
        u, t = np.clip(score, edge, 1.0 - edge), np.clip(target, edge, 1.0 - edge)
        distance = special.logit(u) - special.logit(t)
        near = np.abs(distance) < 1e-6
        secant = self.steepness * (u - t) / np.where(near, 1.0, distance)
        return np.where(near, tangent, np.maximum(tangent, secant))

    def grid(self, score: NDArray[np.float64]) -> Grid:
        """Return the grid to bin these scores on."""
        return robust_grid(score) if self.kind == IDENTITY else UNIT_GRID


IDENTITY_SCORE = ScoreMap(IDENTITY, 1.0, 0.0)


@njit(nogil=True, cache=True)
def write_scores(raw: NDArray[Any], kind: int, steepness: float, origin: float, score: NDArray[Any]) -> bool:
    """Write the scores of raw predictions; return whether all of these are finite."""
    finite = True
    for i in range(len(raw)):
        f = raw[i]
        if not math.isfinite(f):
            finite = False
        if kind == LOGISTIC:
            score[i] = 1.0 / (1.0 + math.exp(-steepness * (f - origin)))
        else:
            score[i] = f
    return finite


@njit(nogil=True, cache=True, inline="always")
def slope_at(u: float, kind: int, steepness: float) -> float:
    """Return du/dF where the score is u."""
    if kind == LOGISTIC:
        return steepness * u * (1.0 - u)
    return 1.0
