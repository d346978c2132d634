r"""The smallest weight that keeps a gap under a target: a root search in few, dear and noisy measurements.

The gap falls about like :math:`g_0 / (1 + \lambda / s)` with the weight: a row's score goes :math:`\lambda` to
:math:`s` parts of the way towards the other groups', until sampling error is all that is left. The search interpolates
with this curve from a plain model on, and between two weights with a straight line in logarithms.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

MAX_FITS = 8
RANGE = 20.0
"""Weights up to this many times the start are tried."""
_TOLERANCE = 0.1
_NEAR = 1.1


class SearchStep(NamedTuple):
    """One weight that was tried.

    Attributes
    ----------
    fairness_weight : float
    gap : float
        Of the rows held out; infinite if training diverged.
    low, high : float
        Its bounds.
    """

    fairness_weight: float
    gap: float
    low: float
    high: float


class WeightSearch(NamedTuple):
    """What a search found.

    Attributes
    ----------
    chosen : SearchStep
        The smallest weight whose bound is within the target; else that of the smallest bound.
    reached : bool
    history : tuple of SearchStep
        All that was tried, in order.
    """

    chosen: SearchStep
    reached: bool
    history: tuple[SearchStep, ...]


def search_weight(
    measure: Callable[[float], SearchStep],
    target: float,
    *,
    start: float,
    bounded: bool = True,
    max_fits: int = MAX_FITS,
) -> WeightSearch:
    """Find the smallest weight whose gap is at most ``target``.

    Parameters
    ----------
    measure : callable
        Takes a weight, returns its gap; may raise FloatingPointError if training diverges.
    target : float
        What the gap is to be at most; within a tenth below it the search is content.
    start : float
        The first positive weight. Weights up to 20 times this one are tried.
    bounded : bool
        Whether the gap's upper bound counts, or the gap itself.
    max_fits : int
        Measurements at most.
    """
    history: list[SearchStep] = []
    limit = RANGE * start

    def try_weight(weight: float) -> Trial:
        try:
            step = measure(weight)
        except FloatingPointError:
            step = SearchStep(weight, math.inf, math.inf, math.inf)
        history.append(step)
        return Trial(weight, step.high if bounded else step.gap)

    def result(weight: float, reached: bool) -> WeightSearch:
        chosen = next(step for step in history if step.fairness_weight == weight)
        return WeightSearch(chosen, reached, tuple(history))

    bracket = Bracket([try_weight(0.0)], [])
    if bracket.above[0].gap <= target:
        return result(0.0, True)
    weight = start
    while len(history) < max_fits:
        trial = try_weight(weight)
        if math.isinf(trial.gap):  # diverged: what is larger would as well
            limit = math.sqrt(max(bracket.above[-1].weight, start / RANGE) * weight)
        else:
            (bracket.within if trial.gap <= target else bracket.above).append(trial)
        if bracket.is_close(target) or (not bracket.within and bracket.above[-1].weight >= limit / _NEAR):
            break
        weight = bracket.between(target) if bracket.within else min(bracket.beyond(target), limit)
    if bracket.within:
        return result(bracket.within[-1].weight, True)
    return result(min(history, key=lambda step: step.high if bounded else step.gap).fairness_weight, False)


class Trial(NamedTuple):
    """A weight, and what is compared with the target there."""

    weight: float
    gap: float


class Bracket(NamedTuple):
    """Trials above and within the target; the last of each are the nearest."""

    above: list[Trial]
    within: list[Trial]

    def is_close(self, target: float) -> bool:
        """Return whether a smaller weight is not worth another fit."""
        if not self.within:
            return False
        within = self.within[-1]
        return within.gap >= (1.0 - _TOLERANCE) * target or within.weight <= _NEAR * self.above[-1].weight

    def beyond(self, target: float) -> float:
        """Return a weight that should be enough, while none was."""
        last, aim = self.above[-1], _aim(target)
        if last.weight == 0.0:  # all larger ones diverged so far
            return math.inf
        before = self.above[-2]
        if before.weight == 0.0:
            factor = 1.25 * _curve_weight(before.gap, last, aim) / last.weight
        else:
            steepness = math.log(before.gap / last.gap) / math.log(last.weight / before.weight)
            factor = (last.gap / aim) ** (1.0 / max(steepness, 0.1))
        return last.weight * min(max(factor, 1.5), 8.0)

    def between(self, target: float) -> float:
        """Return a weight between the last above and the last within the target."""
        low, high, aim = self.above[-1], self.within[-1], _aim(target)
        high = high._replace(gap=max(high.gap, 0.5 * target))  # far below, the curve has left its shape
        if low.weight == 0.0:
            return min(max(_curve_weight(low.gap, high, aim), high.weight / RANGE), high.weight / _NEAR)
        share = math.log(low.gap / aim) / math.log(low.gap / high.gap)
        if len(self.above) > 3 or len(self.within) > 3:  # noise, or a kink: halve
            share = 0.5 * (share + 0.5)
        return low.weight * (high.weight / low.weight) ** min(max(share, 0.15), 0.85)


def _curve_weight(plain: float, trial: Trial, gap: float) -> float:
    """Return the weight of a gap on the curve that starts at a plain model's gap and goes through a trial."""
    if trial.gap >= plain:
        return 2.0 * trial.weight
    scale = trial.weight / (plain / trial.gap - 1.0)
    return scale * (plain / gap - 1.0)


def _aim(target: float) -> float:
    return (1.0 - 0.5 * _TOLERANCE) * target
