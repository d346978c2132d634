"""All columns of the simulated data but the click."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.datasets.fairjob_simulation.latent import (
    IMPRESSION_COLUMNS,
    PRODUCT_COLUMNS,
    USER_COLUMNS,
    column_marginals,
    draw_latent,
)
from otfairboost.datasets.fairjob_simulation.marginals import MAXIMUM_ROWS
from otfairboost.datasets.fairjob_simulation.population import (
    Floats,
    Integers,
    apportion,
    choose_items,
    draw_population,
)
from otfairboost.datasets.fairjob_simulation.products import group_rows, representative_rows, separate_repeats
from otfairboost.datasets.fairjob_simulation.statistics import PublishedStatistics

Booleans = NDArray[np.bool_]

PROXY_COLUMNS = ("cat2", "cat3", "cat4", "cat5")
"""User categories whose codes tell something of the protected attribute, beyond the correlation with the code."""

PROXY_SHARE = 0.4
"""Correlation of the protected attribute's latent score with its proxy. Not published: calibrated, see `clicks`."""


class Features(NamedTuple):
    """Generated columns.

    Attributes
    ----------
    columns : dict of str to array of shape (n_rows,)
        All published columns but the click.
    proxy : float array of shape (n_rows,)
        Standardised part of the user's categories that goes with the protected attribute.
    """

    columns: dict[str, NDArray[Any]]
    proxy: Floats


def draw_features(n_rows: int, random: np.random.Generator, published: PublishedStatistics) -> Features:
    """Draw all columns but the click, rows of an impression next to each other.

    Parameters
    ----------
    n_rows : int
    random : numpy.random.Generator
    published : PublishedStatistics

    Returns
    -------
    Features
    """
    population = draw_population(n_rows, random, published)
    latent = draw_latent(population, random)
    user, impression = population.user_of_row, population.impression_of_row
    rows_of_user, rows_of_impression = np.bincount(user), np.bincount(impression)

    of_user = {name: _values(name, latent.user[name], rows_of_user) for name in USER_COLUMNS[1:]}
    proxy = _draw_proxy(of_user, rows_of_user, random)
    leaning = np.sqrt(1 - PROXY_SHARE**2) * latent.user["protected_attribute"] + PROXY_SHARE * proxy
    table = published.cross_table
    of_user["protected_attribute"] = choose_items(leaning, rows_of_user, round(n_rows * table[1].sum() / table.sum()))
    columns = {name: values[user] for name, values in of_user.items()}

    for name in IMPRESSION_COLUMNS[1:]:
        columns[name] = _values(name, latent.impression[name], rows_of_impression)[impression]
    n_random = round(n_rows * published.displayrandom_rows / published.n_rows)
    at_random = choose_items(latent.impression["displayrandom"], rows_of_impression, n_random)
    columns["displayrandom"] = at_random[impression]
    columns["senior"] = _choose_senior(columns["protected_attribute"], latent.row["senior"], table)
    columns["rank"] = _values("rank", latent.row["rank"], np.ones(n_rows, dtype=np.int64))

    shown = np.stack([latent.row[name] for name in PRODUCT_COLUMNS], axis=1)
    product = group_rows(shown, columns["senior"], population.product_popularity, random)
    rows_of_product = np.bincount(product, minlength=len(population.product_ids))
    representative = representative_rows(product, len(population.product_ids), random)
    product = separate_repeats(product, impression, columns["senior"], random)
    for j, name in enumerate(PRODUCT_COLUMNS):
        columns[name] = _values(name, shown[representative, j], rows_of_product)[product]

    columns["user_id"] = population.user_ids[user]
    columns["impression_id"] = population.impression_ids[impression]
    columns["product_id"] = population.product_ids[product]
    return Features(columns, proxy[user])


def _values(name: str, latent: Floats, size: Integers) -> NDArray[Any]:
    """Turn the scores of items into a column that has its published distribution over the rows."""
    numeric = name.startswith("num")
    order = np.argsort(latent, kind="stable")
    if numeric:  # the maximum, often far out, goes to an impression of few rows
        top = np.flatnonzero(size[order] <= 2 * MAXIMUM_ROWS)[-1:]
        order = np.concatenate([np.delete(order, top), order[top]])
    ends = np.cumsum(size[order])
    level = np.empty(len(latent))
    level[order] = (ends - size[order] / 2) / ends[-1]  # an item stands in the middle of its rows
    if not numeric:  # codes are bounded: the outermost items can take the extreme ones at any number of rows
        level = (level - level.min()) / max(np.ptp(level), 1e-12)
    values = column_marginals()[name].quantile(level)
    return values if numeric else values.astype(np.int32)


def _draw_proxy(of_user: dict[str, NDArray[Any]], size: Integers, random: np.random.Generator) -> Floats:
    """Give every code of the proxy columns an effect at random, unrelated to its number, and add them up."""
    total = np.zeros(len(size))
    for name in PROXY_COLUMNS:
        codes = of_user[name]
        total += random.standard_normal(int(codes.max()) + 1)[codes]
    share = size / size.sum()
    total -= share @ total
    return total / max(np.sqrt(share @ total**2), 1e-12)


def _choose_senior(group: NDArray[Any], latent: Floats, table: Integers) -> Booleans:
    """Choose the rows of senior jobs in each group of the protected attribute, as many as the cross table says."""
    senior = np.zeros(len(group), dtype=bool)
    for code in (0, 1):
        rows = np.flatnonzero(group == bool(code))
        n_senior = int(apportion(len(rows), table[code].sum(axis=1).astype(float))[1])
        senior[rows[np.argsort(-latent[rows], kind="stable")[:n_senior]]] = True
    return senior
