"""Scores: what the penalty compares, as a function of the response (a probability, or a prediction) or of its link."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from otfairboost.losses.exponential import BLOCK
from otfairboost.transport.grid import MakeGrid, robust_grid, unit_grid

Array = NDArray[Any]
Float = NDArray[np.float64]
IDENTITY, LOGISTIC, EXPONENTIAL, LINK = 0, 1, 2, 3

_EDGE = 1e-15  # probabilities closer than this to 0 or 1 have no logit to go by


class ScoreMap(NamedTuple):
    r"""How a response becomes the score :math:`u` that the penalty compares.

    ``IDENTITY``: the response itself, which is the raw prediction :math:`F`. ``LOGISTIC``: the response is the
    probability :math:`\sigma(F)`, and :math:`u = \sigma(\kappa (F - F_0))`. ``EXPONENTIAL``: the response is
    :math:`u = e^F`. ``LINK``: the score is the raw prediction itself, whatever the response.

    Attributes
    ----------
    kind : int
        ``IDENTITY``, ``LOGISTIC``, ``EXPONENTIAL`` or ``LINK``.
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

    @property
    def is_response(self) -> bool:
        """Return whether scores are responses, so that there is nothing to compute."""
        return self.kind != LINK and self.steepness == 1.0 and self.origin == 0.0

    @property
    def is_raw(self) -> bool:
        """Return whether scores are raw predictions where responses are not."""
        return self.kind == LINK

    def write(self, response: Float, score: Float) -> None:
        """Write the scores of responses; those of ``LINK`` are not a function of these."""
        if self.is_response:
            score[:] = response
        else:
            _sharpen(response, self.steepness, math.exp(self.origin), score)

    def curvature(self, score: Float, target: Float) -> Float:
        r"""Return the slope that a step from ``score`` towards ``target`` should reckon with.

        The larger of the tangent's slope and that of the secant, :math:`(u - t) / (F(u) - F(t))`. Where the score
        is saturated the tangent is nearly flat and a Newton step along it would overshoot by far; the secant leads
        to the target exactly. See ``docs/derivations/hessian.md``.
        """
        curvature = np.empty(len(score))
        _write_curvatures(score, target, self.kind, self.steepness, curvature)
        return curvature

    @property
    def make_grid(self) -> MakeGrid:
        """Return the function that makes a grid for such scores."""
        return unit_grid if self.kind == LOGISTIC else robust_grid


IDENTITY_SCORE = ScoreMap(IDENTITY, 1.0, 0.0)
EXPONENTIAL_SCORE = ScoreMap(EXPONENTIAL, 1.0, 0.0)
LINK_SCORE = ScoreMap(LINK, 1.0, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def _sharpen(p: Array, steepness: float, shift: float, score: Array) -> None:
    """Write 1 / (1 + (shift * (1 - p) / p)^steepness); whole powers by multiplication, of many rows at a time."""
    whole = int(steepness)
    if whole != steepness or whole > 64:
        whole = 0
    odds, power = np.empty(BLOCK), np.empty(BLOCK)  # the scores may take the place of p
    for start in range(0, len(p), BLOCK):
        n = min(BLOCK, len(p) - start)
        for i in range(n):
            odds[i] = shift * ((1.0 - p[start + i]) / p[start + i])
            power[i] = 1.0
        left = whole
        while left > 0:
            if left & 1:
                for i in range(n):
                    power[i] *= odds[i]
            left >>= 1
            if left > 0:
                for i in range(n):
                    odds[i] *= odds[i]
        if whole == 0:
            for i in range(n):
                power[i] = odds[i] ** steepness
        for i in range(n):
            score[start + i] = 1.0 / (1.0 + power[i])


@njit(nogil=True, cache=True, inline="always")
def slope_at(u: float, kind: int, steepness: float) -> float:
    """Return du/dF where the score is u."""
    if kind == LOGISTIC:
        return steepness * u * (1.0 - u)
    return u if kind == EXPONENTIAL else 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_at(u: float, t: float, kind: int, steepness: float) -> float:
    """Return the slope for a step from score u towards t: the tangent's, or the secant's where this is steeper."""
    slope = slope_at(u, kind, steepness)
    if kind == LOGISTIC:  # steeper if the target is less saturated, or across the middle
        u = u if u > _EDGE else _EDGE  # by comparisons: min and max have to care about NaN
        u = u if u < 1.0 - _EDGE else 1.0 - _EDGE
        t = t if t > _EDGE else _EDGE
        t = t if t < 1.0 - _EDGE else 1.0 - _EDGE
        if t * (1.0 - t) > 1.05 * u * (1.0 - u) or abs(u - t) > 0.1:  # else nearly the same, or less steep
            secant = steepness * (u - t) / math.log(u * (1.0 - t) / (t * (1.0 - u)))
            slope = secant if secant > slope else slope
    elif kind == EXPONENTIAL and t > 1.05 * u > 0.0:
        slope = (t - u) / math.log(t / u)
    return slope


@njit(nogil=True, cache=True, error_model="numpy")
def _write_curvatures(score: Array, target: Array, kind: int, steepness: float, curvature: Array) -> None:
    for i in range(len(score)):
        curvature[i] = curvature_at(score[i], target[i], kind, steepness)
