"""Normal scores of users, impressions and rows, correlated as the Gaussian copula wants them."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from otfairboost.datasets.fairjob_simulation.copula import latent_correlation
from otfairboost.datasets.fairjob_simulation.marginals import Marginal, column_marginal
from otfairboost.datasets.fairjob_simulation.population import Floats, Integers, Population
from otfairboost.datasets.fairjob_simulation.statistics import published_statistics

BINARY_COLUMNS = ("protected_attribute", "senior", "displayrandom")
USER_COLUMNS = ("protected_attribute", *(f"cat{i}" for i in range(6)))
IMPRESSION_COLUMNS = ("displayrandom", *(f"num{i}" for i in range(16, 51)))
PRODUCT_COLUMNS = ("cat7", "cat10", "cat6", "cat11", "cat9", "cat12", "cat8")
"""Product categories, those most correlated with user features first."""
ROW_COLUMNS = ("senior", "rank", *PRODUCT_COLUMNS)

LASTING_SHARE = 0.8
"""Share of a numeric column's variance (beyond what the user's categories explain) that stays with the user; the
rest changes from impression to impression. Not published."""


class Latent(NamedTuple):
    """Standard normal scores by column: one per user, per impression or per row."""

    user: dict[str, Floats]
    impression: dict[str, Floats]
    row: dict[str, Floats]


@cache
def column_marginals() -> dict[str, Marginal]:
    """Return the distribution of every column that takes part in the copula."""
    published = published_statistics()
    marginals = {}
    for name in (*USER_COLUMNS, *IMPRESSION_COLUMNS, *ROW_COLUMNS):
        if name in BINARY_COLUMNS:
            values, share = np.array([0.0, 1.0]), published.summaries[name].mean
            marginals[name] = Marginal(values, values, np.array([0.0, 1 - share, 1.0]))
        else:
            marginals[name] = column_marginal(name, published)
    return marginals


@cache
def copula_correlation() -> Floats:
    """Return the latent correlations of the columns, in the order of `column_marginals`."""
    published = published_statistics()
    marginals = column_marginals()
    order = [published.correlation_names.index(name) for name in marginals]
    return latent_correlation(marginals, published.correlation[np.ix_(order, order)])


def draw_latent(population: Population, random: np.random.Generator) -> Latent:
    """Draw normal scores whose correlation over the rows is the copula's.

    The user's own columns come first. The columns of an impression are their regression on these plus a residual,
    of which a share stays with the user and the rest is drawn anew in each impression. The columns of a row are
    the regression on all of these plus a residual of the row.
    """
    correlation = copula_correlation()
    n_user, n_impression = len(USER_COLUMNS), len(IMPRESSION_COLUMNS)
    rows_of_impression = np.bincount(population.impression_of_row)
    rows_of_user = np.bincount(population.user_of_row)

    coefficient, residual = _regression(correlation[: n_user + n_impression, : n_user + n_impression], n_user)
    own = _draw(correlation[:n_user, :n_user], rows_of_user, random)
    lasting = _draw(residual, rows_of_user, random)
    passing = _draw(residual, rows_of_impression, random)
    user = population.user_of_impression
    impression = (own @ coefficient.T + np.sqrt(LASTING_SHARE) * lasting)[user]
    impression += np.sqrt(1 - LASTING_SHARE) * passing

    coefficient, residual = _regression(correlation, n_user + n_impression)
    known = np.concatenate([own[user], impression], axis=1) @ coefficient.T
    noise = random.standard_normal((len(population.impression_of_row), len(ROW_COLUMNS)))
    noise[:, ROW_COLUMNS.index("rank")] = _stratified_normal(rows_of_impression, random)
    row = known[population.impression_of_row] + noise @ np.linalg.cholesky(residual).T
    return Latent(
        dict(zip(USER_COLUMNS, own.T, strict=True)),
        dict(zip(IMPRESSION_COLUMNS, impression.T, strict=True)),
        dict(zip(ROW_COLUMNS, row.T, strict=True)),
    )


def _regression(correlation: Floats, n_given: int) -> tuple[Floats, Floats]:
    """Return coefficients and residual covariance of the later columns given the first ``n_given``."""
    cross = correlation[n_given:, :n_given]
    coefficient: Floats = np.linalg.solve(correlation[:n_given, :n_given], cross.T).T.astype(np.float64)
    return coefficient, correlation[n_given:, n_given:] - coefficient @ cross.T


def _draw(covariance: Floats, size: Integers, random: np.random.Generator) -> Floats:
    """Draw normal vectors, one an item, whose covariance over the rows is exactly ``covariance``."""
    draws = random.standard_normal((len(size), len(covariance)))
    share = size / size.sum()
    if len(size) > 2 * len(covariance):  # too few items have no full covariance to correct
        draws -= share @ draws
        draws = solve_triangular(np.linalg.cholesky((draws.T * share) @ draws), draws.T, lower=True).T
    return draws @ np.linalg.cholesky(covariance).T


def _stratified_normal(size: Integers, random: np.random.Generator) -> Floats:
    """Draw a score for each row, spread evenly inside an impression: its products have different ranks."""
    n_rows = int(size.sum())
    impression = np.repeat(np.arange(len(size)), size)
    order = np.lexsort((random.random(n_rows), impression))
    place = np.empty(n_rows)
    place[order] = np.arange(n_rows) - np.repeat(np.cumsum(size) - size, size)
    return ndtri((place + random.uniform(1e-9, 1 - 1e-9, n_rows)) / size[impression])
