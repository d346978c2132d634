"""Who sees what: users have impressions, an impression shows several products, a row is one product shown."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.datasets.fairjob_simulation.marginals import identifier_marginal
from otfairboost.datasets.fairjob_simulation.statistics import PublishedStatistics, Summary

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ACTIVITY_SPREAD = {"user_id": 0.8, "impression_id": 0.5, "product_id": 1.0}
"""Standard deviation of the logarithm of how often a user, an impression or a product occurs; not published."""


class Population(NamedTuple):
    """Rows grouped by impression and impressions by user, before shuffling.

    Attributes
    ----------
    user_ids, impression_ids, product_ids : int arrays
        Identifiers of the users, impressions and products.
    user_of_impression : int array of shape (n_impressions,)
        Index into ``user_ids``.
    impression_of_row : int array of shape (n_rows,)
        Index into ``impression_ids``.
    product_popularity : int array of shape (n_products,)
        How many rows a product should have.
    """

    user_ids: Integers
    impression_ids: Integers
    product_ids: Integers
    user_of_impression: Integers
    impression_of_row: Integers
    product_popularity: Integers

    @property
    def user_of_row(self) -> Integers:
        """Index into ``user_ids`` of each row."""
        return self.user_of_impression[self.impression_of_row]


class Items(NamedTuple):
    """Users, impressions or products: identifiers in increasing order, and relative activity."""

    identifier: Integers
    activity: Floats


def draw_population(n_rows: int, random: np.random.Generator, published: PublishedStatistics) -> Population:
    """Draw users, impressions and products in the published proportions to the number of rows."""
    count = {name: max(1, round(distinct * n_rows / published.n_rows)) for name, distinct in published.distinct.items()}
    items = {
        name: _draw_items(n_items, random, published.summaries[name], ACTIVITY_SPREAD[name])
        for name, n_items in count.items()
    }
    impressions_of_user = _occurrences(count["impression_id"], items["user_id"], published.summaries["user_id"])
    user_of_impression = np.repeat(np.arange(count["user_id"]), impressions_of_user)
    rows_of_impression = _occurrences(n_rows, items["impression_id"], published.summaries["impression_id"])
    return Population(
        user_ids=items["user_id"].identifier,
        impression_ids=items["impression_id"].identifier,
        product_ids=items["product_id"].identifier,
        user_of_impression=random.permutation(user_of_impression),
        impression_of_row=np.repeat(np.arange(count["impression_id"]), rows_of_impression),
        product_popularity=_occurrences(n_rows, items["product_id"], published.summaries["product_id"]),
    )


def apportion(total: int, weights: Floats, *, at_least: int = 0) -> Integers:
    """Share ``total`` among items in proportion to their weights, in whole numbers (largest remainders)."""
    free = total - at_least * len(weights)
    if free < 0:
        raise ValueError(f"total={total} is less than {at_least} for each of {len(weights)} items")
    exact = free * (weights / weights.sum())
    counts = np.floor(exact).astype(np.int64)
    missing = free - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts + at_least


def choose_items(latent: Floats, size: Integers, total: int) -> NDArray[np.bool_]:
    """Choose items of large latent value whose sizes sum to ``total``.

    Items are taken in decreasing order of ``latent``; one that would exceed the total is passed over. What is
    missing at the end is made up by exchanging one item, if a pair of the right difference exists.
    """
    order = np.argsort(-latent, kind="stable")
    chosen = np.zeros(len(latent), dtype=bool)
    below = np.searchsorted(np.cumsum(size[order]), total, side="right")
    chosen[order[:below]] = True
    missing = total - int(size[order[:below]].sum())
    for item in order[below:]:
        if missing == 0:
            return chosen
        if size[item] <= missing:
            chosen[item] = True
            missing -= int(size[item])
    inside = {int(size[item]): item for item in np.flatnonzero(chosen)}
    for item in np.flatnonzero(~chosen):
        partner = inside.get(int(size[item]) - missing)
        if missing and partner is not None:
            chosen[item], chosen[partner] = True, False
            break
    return chosen


def _draw_items(n_items: int, random: np.random.Generator, summary: Summary, spread: float) -> Items:
    """Draw identifiers evenly over the published range, and how active each one is."""
    identifier = np.sort(random.choice(int(summary.max) + 1, size=n_items, replace=False))
    if n_items > 1:
        identifier[[0, -1]] = int(summary.min), int(summary.max)
    return Items(identifier, random.lognormal(sigma=spread, size=n_items))


def _occurrences(total: int, items: Items, summary: Summary) -> Integers:
    """Share ``total`` occurrences among items, at least one each, so that identifiers have the published summary."""
    marginal = identifier_marginal(summary)
    cell = np.searchsorted(marginal.upper[:-1], items.identifier, side="left")
    size = np.bincount(cell, minlength=len(marginal.upper))
    share = np.maximum(apportion(total, np.diff(marginal.cumulative) * (size > 0)), size)
    share[np.argmax(share - size)] += total - share.sum()
    counts = np.empty(len(cell), dtype=np.int64)
    for chosen in np.flatnonzero(size):
        inside = cell == chosen
        counts[inside] = apportion(int(share[chosen]), items.activity[inside], at_least=1)
    return counts
