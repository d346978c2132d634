r"""Confidence intervals of rates and of differences between them, in closed form.

They use :math:`z`, the normal quantile of the level, and nothing but counts: a page in a browser can do the same.
For any other metric there is :func:`otfairboost.metrics.intervals.bootstrap_interval`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.95
"""The level used wherever the caller does not say another."""


class Bounds(NamedTuple):
    """Both ends of an interval; scalars, or arrays of the shape of the counts."""

    low: Any
    high: Any


def wilson_interval(successes: ArrayLike, total: ArrayLike, *, level: float = LEVEL) -> Bounds:
    r"""Return Wilson's score interval of a proportion; NaN where the total is 0.

    .. math:: \frac{k + z^2/2}{n + z^2} \pm \frac{z}{n + z^2} \sqrt{\frac{k (n - k)}{n} + \frac{z^2}{4}}

    Parameters
    ----------
    successes, total : array-like
        Counts :math:`k` and :math:`n`.
    level : float, default=0.95
        Between 0 and 1.

    References
    ----------
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(total, np.float64))
    z = normal_quantile(level)
    n = np.where(n > 0, n, np.nan)
    middle = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(k * (n - k) / n + z * z / 4)
    # At the ends the exact limit is 0 or 1; rounding must not leave it.
    low, high = np.where(k == 0, 0.0 * n, middle - half), np.where(k == n, 1.0 + 0.0 * n, middle + half)
    return Bounds(*(float(end) if end.ndim == 0 else end for end in (low, high)))


def newcombe_interval(successes: tuple[float, float], totals: tuple[float, float], *, level: float = LEVEL) -> Bounds:
    r"""Return the interval of the difference of two independent proportions, first less second.

    .. math::
        \hat p_1 - \hat p_2 - \sqrt{(\hat p_1 - l_1)^2 + (u_2 - \hat p_2)^2},\quad
        \hat p_1 - \hat p_2 + \sqrt{(u_1 - \hat p_1)^2 + (\hat p_2 - l_2)^2}

    with :math:`[l, u]` Wilson's intervals.

    Parameters
    ----------
    successes, totals : pairs of numbers
        Counts.
    level : float, default=0.95

    References
    ----------
    R. G. Newcombe, Bounds estimation for the difference between independent proportions, 1998, method 10.
    """
    if min(totals) <= 0:
        return Bounds(float("nan"), float("nan"))
    (p1, p2), (one, two) = (
        [k / n for k, n in zip(successes, totals, strict=True)],
        [wilson_interval(k, n, level=level) for k, n in zip(successes, totals, strict=True)],
    )
    low = p1 - p2 - float(np.hypot(p1 - one.low, two.high - p2))
    high = p1 - p2 + float(np.hypot(one.high - p1, p2 - two.low))
    return Bounds(low, high)


def gap_interval(successes: ArrayLike, totals: ArrayLike, *, level: float = LEVEL) -> Bounds:
    """Return an interval of the largest difference between groups' rates.

    It is Newcombe's for the two groups with the lowest and the highest rate seen, cut at 0. With more than two groups
    the choice of the pair is part of chance: the interval is then a little too high and narrow.

    Parameters
    ----------
    successes, totals : array-like of shape (n_groups,)
        Counts; groups with a total of 0 are left out.
    level : float, default=0.95
    """
    k, n = np.asarray(successes, np.float64), np.asarray(totals, np.float64)
    k, n = k[n > 0], n[n > 0]
    if len(n) < 2:
        return Bounds(float("nan"), float("nan"))
    top, bottom = int(np.argmax(k / n)), int(np.argmin(k / n))
    if top == bottom:  # all rates are equal: the smallest groups say least
        top, bottom = (int(i) for i in np.argsort(n, kind="stable")[:2])
    low, high = newcombe_interval((k[top], k[bottom]), (n[top], n[bottom]), level=level)
    return Bounds(max(low, 0.0), max(high, 0.0))


def normal_quantile(level: float) -> float:
    """Return how many standard deviations to each side hold a share ``level`` of a normal distribution."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie between 0 and 1")
    return float(stats.norm.ppf(0.5 + level / 2))


def mean_interval(values: NDArray[np.float64], *, level: float = LEVEL) -> Bounds:
    """Return the normal interval of a mean; of no width for a single value."""
    half = normal_quantile(level) * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Bounds(float(values.mean()) - half, float(values.mean()) + half)
