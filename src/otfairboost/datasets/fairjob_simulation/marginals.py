"""Distributions of single columns that have the published quartiles, extremes, mean and standard deviation.

A column is a list of cells: an interval of values, or one value, with a mass spread evenly over it. Quartiles fix
the mass of segments of cells; inside the segments a base shape is tilted by ``exp(a x + b x^2)`` until mean and
standard deviation agree. Of all distributions with these figures it is the one closest to the base shape in
relative entropy, and the two numbers a and b solve a convex problem.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from otfairboost.datasets.fairjob_simulation.statistics import PublishedStatistics, Summary

Array = NDArray[np.float64]

QUARTILE_ATOM = 0.004
"""Mass put on a quartile's own value, half of it on either side, so that a sample's quartile falls on it."""

MINIMUM_SHARE = 0.5
"""Base share of the minimum in a segment that starts at it: the numeric columns are inflated there."""

MAXIMUM_ROWS = 5
"""Rows that have the maximum of a numeric column in the full data: about one impression."""

CODE_SPREAD = 0.7
"""Standard deviation of the logarithm of a category's base frequency: few frequent codes, many rare ones."""

CODE_FLOOR = 3e-5
"""Least mass of a category code, about 30 rows of the full data, so that (nearly) every code occurs in them."""


class Marginal(NamedTuple):
    """Distribution as a quantile function, linear inside each cell.

    Attributes
    ----------
    lower, upper : float arrays of shape (n_cells,)
        Bounds of the cells, in increasing order; equal for a single value.
    cumulative : float array of shape (n_cells + 1,)
        Mass below each cell, from 0 to 1.
    """

    lower: Array
    upper: Array
    cumulative: Array

    def quantile(self, level: Array) -> Array:
        """Return the value below which the share ``level`` of the mass lies."""
        cell = np.searchsorted(self.cumulative[1:-1], level, side="right")
        start, end = self.cumulative[cell], self.cumulative[cell + 1]
        inside = np.divide(level - start, end - start, out=np.zeros_like(level), where=end > start)
        return self.lower[cell] + inside * (self.upper[cell] - self.lower[cell])


class Segment(NamedTuple):
    """Cells whose total mass is given: a floor for each, and how the rest is shared before tilting."""

    mass: float
    lower: Array
    upper: Array
    base: Array
    floor: float = 0.0


def column_marginal(name: str, published: PublishedStatistics) -> Marginal:
    """Return a distribution with the published figures of a column.

    Parameters
    ----------
    name : str
        ``"rank"``, a ``cat`` or a ``num`` column.
    published : PublishedStatistics

    Returns
    -------
    Marginal
    """
    summary = published.summaries[name]
    if name == "rank":
        return _rank_marginal(published)
    if name.startswith("cat"):
        return _tilt(_between_quartiles(summary, _code_segments(name, summary)), summary)
    levels = sorted({summary.min, summary.q25, summary.q50, summary.q75, summary.max})
    if len(levels) == 3 and np.isclose(levels[2] - levels[1], levels[1] - levels[0], rtol=1e-4):
        return _tilt([_atoms(1.0, np.array(levels))], summary)  # equal distances: 0, 1 and 2, standardised
    segments = _between_quartiles(summary, _interval_segments(summary))
    top = MAXIMUM_ROWS / published.n_rows
    segments[-1] = segments[-1]._replace(mass=segments[-1].mass - top)
    return _tilt([*segments, _atoms(top, np.array([summary.max]))], summary)


def identifier_marginal(summary: Summary, n_cells: int = 8) -> Marginal:
    """Return a distribution of rows over the range of an identifier, from cells of equal width in each quarter."""
    segments = []
    for low, high in pairwise((summary.min, summary.q25, summary.q50, summary.q75, summary.max)):
        edges = np.linspace(low, high, n_cells + 1)
        segments.append(Segment(0.25, edges[:-1], edges[1:], np.ones(n_cells)))
    return _tilt(segments, summary)


def _atoms(mass: float, values: Array) -> Segment:
    return Segment(mass, values, values, np.ones(len(values)))


def _rank_marginal(published: PublishedStatistics) -> Marginal:
    """Ranks in pairs of known mass; how a pair is shared follows from the mean."""
    shares = published.rank_pair_rows / published.rank_pair_rows.sum()
    pairs = [_atoms(share, np.array([2.0 * i + 1, 2.0 * i + 2])) for i, share in enumerate(shares)]
    return _tilt(pairs, published.summaries["rank"], n_moments=1)


def _between_quartiles(summary: Summary, segments: list[Segment]) -> list[Segment]:
    """Put the atoms of the three quartiles between four segments."""
    half = QUARTILE_ATOM / 2
    joined = [segments[0]._replace(mass=0.25 - half)]
    for quartile, segment in zip((summary.q25, summary.q50, summary.q75), segments[1:], strict=True):
        joined.append(_atoms(QUARTILE_ATOM, np.array([quartile])))
        joined.append(segment._replace(mass=0.25 - QUARTILE_ATOM))
    joined[-1] = joined[-1]._replace(mass=0.25 - half)
    return joined


def _code_segments(name: str, summary: Summary) -> list[Segment]:
    """All codes from 0 to the largest, of uneven but fixed base frequency."""
    random = np.random.default_rng(list(name.encode()))
    frequency = random.lognormal(sigma=CODE_SPREAD, size=int(summary.max) + 1)
    segments = []
    for low, high in pairwise((summary.min, summary.q25, summary.q50, summary.q75, summary.max)):
        codes = np.arange(int(low), int(high) + 1)
        values = codes.astype(float)
        segments.append(Segment(0.25, values, values, frequency[codes], CODE_FLOOR))
    return segments


def _interval_segments(summary: Summary) -> list[Segment]:
    """Intervals between the quartiles, an atom at the minimum, and a long tail above the upper quartile."""
    segments = []
    for low, high in pairwise((summary.min, summary.q25, summary.q50, summary.q75)):
        edges = np.linspace(low, high, 9 if high > low else 2)
        segments.append(_inflate_minimum(summary, edges, np.ones(len(edges) - 1)))
    excess = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 200)]) * (summary.max - summary.q75)
    scale = max(summary.q75 - summary.min, 0.5 * summary.std)
    survival = (1 + excess / scale) ** -3.0
    segments.append(_inflate_minimum(summary, summary.q75 + excess, -np.diff(survival)))
    return segments


def _inflate_minimum(summary: Summary, edges: Array, base: Array) -> Segment:
    if edges[0] > summary.min:
        return Segment(0.25, edges[:-1], edges[1:], base)
    atom = base.sum() * MINIMUM_SHARE / (1 - MINIMUM_SHARE)
    first = edges[:1]
    return Segment(0.25, np.append(first, edges[:-1]), np.append(first, edges[1:]), np.append(atom, base))


def _tilt(segments: list[Segment], summary: Summary, n_moments: int = 2) -> Marginal:
    """Tilt the base masses so that the mean (and the standard deviation) agree with the published ones.

    With t_k = (E[x], E[x^2]) of cell k, standardised, the tilted mass of a cell of segment s is, above its floor,
    m_k = mass_s b_k exp(a . t_k) / Z_s(a), and a minimises the convex function
    sum_s mass_s log Z_s(a) - a . target, whose gradient is the difference of the moments.
    """
    index = np.repeat(np.arange(len(segments)), [len(segment.base) for segment in segments])
    floor = np.array([segment.floor for segment in segments])[index]
    mass = np.array([segment.mass for segment in segments]) - np.bincount(index, floor)
    lower = np.concatenate([segment.lower for segment in segments])
    upper = np.concatenate([segment.upper for segment in segments])
    log_base = np.log(np.concatenate([segment.base for segment in segments]))

    low, high = (lower - summary.mean) / summary.std, (upper - summary.mean) / summary.std
    moment = np.stack([(low + high) / 2, (low**2 + low * high + high**2) / 3])[:n_moments]
    scale = moment.std(axis=1)
    moment = moment / scale[:, None]
    target = np.array([0.0, 1.0])[:n_moments] / scale - moment @ floor

    def tilted(tilt: Array) -> tuple[Array, float]:
        logits = log_base + tilt @ moment
        log_z = np.array([logsumexp(logits[index == s]) for s in range(len(mass))])
        return mass[index] * np.exp(logits - log_z[index]), float(mass @ log_z)

    def dual(tilt: Array) -> tuple[float, Array]:
        weight, value = tilted(tilt)
        return value - float(tilt @ target), moment @ weight - target

    def hessian(tilt: Array) -> Array:
        weight, _ = tilted(tilt)
        first = np.stack([np.bincount(index, row * weight) for row in moment])
        return (moment * weight) @ moment.T - (first / mass) @ first.T

    start = np.zeros(n_moments)
    solution = minimize(dual, start, jac=True, hess=hessian, method="trust-exact", options={"gtol": 1e-10})
    cumulative = np.cumsum(floor + tilted(solution.x)[0])
    return Marginal(lower, upper, np.append(0.0, cumulative / cumulative[-1]))
