"""Which rows are clicked.

The probability of a click is proportional to ``exp(eta)`` inside each cell of protected attribute and senior,
whose numbers of clicks are published. eta is linear in the columns and free in the rank, with coefficients solved
so that the expected correlations of the click with the columns and the expected clicks by rank are the published
ones. What no published figure of a single column can show is added with fixed strengths, calibrated once on the
full size so that LightGBM does on the simulated data about what is published for it on the real data (figures in
`simulate_fairjob`): effects of single codes and users set how well it ranks and how much it overfits, the proxy
and the slope by group how far its selection rates differ.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from otfairboost.datasets.fairjob_simulation.features import Features
from otfairboost.datasets.fairjob_simulation.population import Floats, Integers, apportion
from otfairboost.datasets.fairjob_simulation.statistics import PublishedStatistics

Booleans = NDArray[np.bool_]
Columns = dict[str, NDArray[Any]]

CATEGORY_EFFECT = 0.28
"""Standard deviation, in log-odds, of a category code's own effect; 13 columns. Calibrated."""

USER_EFFECT = 0.3
"""Standard deviation, in log-odds, of a user's own effect. Calibrated."""

PROXY_EFFECT = -0.6
"""Log-odds for one standard deviation of the proxy of the protected attribute. Calibrated."""

GROUP_SLOPE = 0.07
"""Columns act this much stronger than on average in group 1 and weaker in group 0, as a share. Calibrated."""

RIDGE = 3e-3
"""Penalty on the coefficients: many numeric columns are nearly copies of each other. Calibrated."""

RANK_FEATURE, RANK_MOMENT, RANDOM_MOMENT = 5.0, 3.0, 2.0
"""Units of the rank's indicator, and of the shares of clicks by rank and by random display, in the fit."""

LAST_RANK = 22
"""Ranks from this one on count as one: hardly a click falls on them."""

FIT_ROWS = 100_000
"""Rows, chosen at random, on which the coefficients are solved."""

MAX_PROBABILITY = 0.9


def draw_clicks(features: Features, random: np.random.Generator, published: PublishedStatistics) -> Booleans:
    """Choose the clicked rows.

    Parameters
    ----------
    features : Features
    random : numpy.random.Generator
    published : PublishedStatistics

    Returns
    -------
    bool array of shape (n_rows,)
    """
    columns = features.columns
    group = columns["protected_attribute"].astype(np.int64)
    cell = 2 * group + columns["senior"]
    clicks = _clicks_by_cell(cell, published.cross_table)
    eta = PROXY_EFFECT * features.proxy + _draw_effects(columns, random)

    names = [name for name in published.correlation_names if name.startswith(("cat", "num"))]
    slope = np.where(group == 1, 1 + GROUP_SLOPE, 1 - GROUP_SLOPE)
    sample = random.permutation(len(group))[:FIT_ROWS]
    terms = np.stack([term[sample] for term in _terms(columns, names, slope)], axis=1)
    moments = np.stack([moment[sample] for moment in _moments(columns, names)], axis=1)
    expected = np.bincount(cell[sample], minlength=4) / np.maximum(np.bincount(cell, minlength=4), 1) * clicks
    coefficient = _solve(terms, moments, _targets(names, published), eta[sample], cell[sample], expected)
    for value, term in zip(coefficient, _terms(columns, names, slope), strict=True):
        eta += value * term
    return _choose_rows(eta, columns["rank"], cell, clicks, random)


def _clicks_by_cell(cell: Integers, table: Integers) -> Integers:
    """Return the clicks of the four cells, in the published proportion and never more than rows."""
    rows = np.bincount(cell, minlength=4)
    total = round(len(cell) * table[..., 1].sum() / table.sum())
    return np.minimum(apportion(total, table[..., 1].ravel().astype(float)), rows)


def _draw_effects(columns: Columns, random: np.random.Generator) -> Floats:
    """Draw the effects of single category codes and of single users."""
    effect = np.zeros(len(columns["user_id"]))
    for name, values in columns.items():
        if name == "user_id" or name.startswith("cat"):
            spread = USER_EFFECT if name == "user_id" else CATEGORY_EFFECT
            effect += spread * random.standard_normal(int(values.max()) + 1)[values]
    return effect


def _terms(columns: Columns, names: list[str], slope: Floats) -> Iterator[Floats]:
    """Yield what eta is linear in: compressed columns, indicators of the rank, random display."""
    for name in names:
        values = columns[name]
        yield slope * _standardise(np.log1p(values - values.min()) if name.startswith("num") else values)
    rank = np.minimum(columns["rank"], LAST_RANK)
    for place in range(1, LAST_RANK + 1):
        yield RANK_FEATURE * (rank == place)
    yield columns["displayrandom"].astype(float)


def _moments(columns: Columns, names: list[str]) -> Iterator[Floats]:
    """Yield what has a published mean over the clicked rows."""
    for name in names:
        yield _standardise(columns[name])
    rank = np.minimum(columns["rank"], LAST_RANK)
    for place in range(1, LAST_RANK + 1):
        yield RANK_MOMENT * (rank == place)
    yield RANDOM_MOMENT * columns["displayrandom"]


def _targets(names: list[str], published: PublishedStatistics) -> Floats:
    """Return the published means over the clicked rows.

    A standardised column has mean r sqrt((1 - p) / p) over the clicked rows, r its correlation with the click and
    p the share of clicks.
    """
    share = published.summaries["click"].mean
    correlation = dict(zip(published.correlation_names, published.correlation[0], strict=True))
    columns = [correlation[name] * np.sqrt((1 - share) / share) for name in names]
    by_rank = np.zeros(LAST_RANK)
    for rank, count in published.clicks_by_rank.items():
        by_rank[min(rank, LAST_RANK) - 1] += count
    rate = published.displayrandom_click_rate / share
    at_random = published.displayrandom_rows / published.n_rows * rate
    return np.array([*columns, *(RANK_MOMENT * by_rank / by_rank.sum()), RANDOM_MOMENT * at_random])


def _standardise(values: NDArray[Any]) -> Floats:
    centred = values - values.mean(dtype=np.float64)
    return centred / max(float(centred.std()), 1e-12)


def _solve(terms: Floats, moments: Floats, target: Floats, offset: Floats, cell: Integers, clicks: Floats) -> Floats:
    """Solve for the coefficients whose expected moments over the clicked rows are the targets, with a ridge."""
    total = clicks.sum()

    def weights(coefficient: Floats) -> Floats:
        eta = offset + terms @ coefficient
        weight = np.exp(eta - eta.max())
        return weight * (clicks / np.maximum(np.bincount(cell, weight, minlength=4), 1e-300))[cell]

    def residual(coefficient: Floats) -> Floats:
        return np.concatenate([weights(coefficient) @ moments / total - target, np.sqrt(RIDGE) * coefficient])

    def jacobian(coefficient: Floats) -> Floats:
        weight = weights(coefficient)
        centred = np.empty_like(terms)
        for k in range(4):
            rows = cell == k
            centred[rows] = terms[rows] - weight[rows] @ terms[rows] / max(clicks[k], 1e-300)
        slopes = (moments * weight[:, None]).T @ centred / total
        return np.concatenate([slopes, np.sqrt(RIDGE) * np.eye(len(coefficient))])

    start = np.zeros(terms.shape[1])
    return least_squares(residual, start, jac=jacobian, method="lm", xtol=1e-4, ftol=1e-4).x


def _choose_rows(
    eta: Floats, rank: NDArray[Any], cell: Integers, clicks: Integers, random: np.random.Generator
) -> Booleans:
    """Draw exactly the given number of clicks in each cell, with probabilities proportional to exp(eta).

    Systematic sampling along the rank: the clicks by rank are the expected ones up to rounding.
    """
    chosen = np.zeros(len(eta), dtype=bool)
    for k in np.flatnonzero(clicks):
        rows = random.permutation(np.flatnonzero(cell == k))
        rows = rows[np.argsort(rank[rows], kind="stable")]
        reached = np.cumsum(_inclusion_probability(eta[rows], int(clicks[k])))
        passed = np.floor(reached * (clicks[k] / reached[-1]) + random.uniform(0, 1 - 1e-9))
        chosen[rows] = np.diff(passed, prepend=0.0) > 0
    return chosen


def _inclusion_probability(eta: Floats, count: int) -> Floats:
    """Return probabilities proportional to exp(eta), bounded, whose sum is ``count``."""
    weight = np.exp(eta - eta.max())
    bounded = np.zeros(len(eta), dtype=bool)
    while True:
        left = count - MAX_PROBABILITY * bounded.sum()
        probability = np.where(bounded, MAX_PROBABILITY, weight * (left / weight[~bounded].sum()))
        above = probability > MAX_PROBABILITY
        if not above.any():
            return probability
        bounded |= above
