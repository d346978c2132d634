"""Which product a row shows: rows with similar product features become rows of one product."""

import numpy as np
from numpy.typing import NDArray

from otfairboost.datasets.fairjob_simulation.population import Floats, Integers, apportion


def group_rows(
    features: Floats, parts: NDArray[np.bool_], popularity: Integers, random: np.random.Generator
) -> Integers:
    """Divide rows into products of similar features and given popularity.

    Rows are halved again and again along one feature after the other, like the leaves of a k-d tree, until each
    cell is one product.

    Parameters
    ----------
    features : float array of shape (n_rows, n_features)
        Latent features, the most important one first.
    parts : bool array of shape (n_rows,)
        Rows of different parts never share a product.
    popularity : int array of shape (n_products,)
        How many rows each product should have, approximately: no product is shared between the parts.
    random : numpy.random.Generator

    Returns
    -------
    int array of shape (n_rows,)
        Product of each row; every product has at least one row.
    """
    shuffled = random.permutation(len(popularity))
    product = np.empty(len(features), dtype=np.int64)
    start = 0
    shares = apportion(len(popularity), np.array([np.sum(~parts), np.sum(parts)], dtype=float))
    for part, n_products in zip((False, True), shares, strict=True):
        rows = np.flatnonzero(parts == part)
        items = shuffled[start : start + n_products]
        start += n_products
        if len(rows):
            leaves = _halve(features[rows], apportion(len(rows), popularity[items].astype(float), at_least=1))
            product[rows] = items[leaves]
    return product


def _halve(features: Floats, sizes: Integers) -> Integers:
    """Return a leaf for each row so that leaf i has ``sizes[i]`` rows, close to each other in all features."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    breaks = np.array([0, len(sizes)])
    order = np.arange(len(features))
    level = 0
    while np.diff(breaks).max() > 1:
        cell = np.repeat(np.arange(len(breaks) - 1), np.diff(ends[breaks]))
        values = features[order, level % features.shape[1]]
        order = order[np.lexsort((values, cell))]
        breaks = np.unique(np.concatenate([breaks, (breaks[:-1] + breaks[1:]) // 2]))
        level += 1
    leaf = np.empty(len(features), dtype=np.int64)
    leaf[order] = np.repeat(np.arange(len(sizes)), sizes)
    return leaf


def representative_rows(product: Integers, n_products: int, random: np.random.Generator) -> Integers:
    """Return one row of each product, at random."""
    shuffled = random.permutation(len(product))
    rows = np.empty(n_products, dtype=np.int64)
    rows[product[shuffled]] = shuffled
    return rows


def separate_repeats(
    product: Integers, impression: Integers, parts: NDArray[np.bool_], random: np.random.Generator
) -> Integers:
    """Exchange products between rows of one part until no impression shows a product twice.

    Products keep their numbers of rows. After 100 rounds what is left stays: a few products cannot always do it.
    """
    separated = product.copy()
    for _ in range(100):
        key = impression * (int(product.max()) + 1) + separated
        order = np.argsort(key, kind="stable")
        repeats = order[1:][np.diff(key[order]) == 0]
        if len(repeats) == 0:
            break
        free = np.ones(len(product), dtype=bool)
        free[repeats] = False
        for part in (False, True):
            rows = repeats[parts[repeats] == part]
            candidates = np.flatnonzero(free & (parts == part))
            rows = rows[: len(candidates)]
            partners = random.choice(candidates, size=len(rows), replace=False)
            separated[rows], separated[partners] = separated[partners], separated[rows]
    return separated
