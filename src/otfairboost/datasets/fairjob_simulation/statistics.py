"""What has been published about FairJob: the figures the simulation has to reproduce."""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Summary(NamedTuple):
    """Published summary of one column over all rows."""

    mean: float
    std: float
    min: float
    q25: float
    q50: float
    q75: float
    max: float


class PublishedStatistics(NamedTuple):
    """Published figures of the full FairJob data.

    Attributes
    ----------
    n_rows : int
    columns : tuple of str
        All 56 columns in file order.
    summaries : dict of str to Summary
    correlation_names : tuple of str
        The 53 columns of ``correlation``: all but the three identifiers.
    correlation : float array of shape (53, 53)
        Pearson correlations decoded from heat maps, exact to about 0.005 among the numeric columns and 0.008
        elsewhere (an entry of 0.004 there means "between 0 and 0.008").
    distinct : dict of str to int
        Numbers of users, impressions and products.
    category_codes_seen : dict of str to int
        Distinct codes of the categorical columns in a training split: a lower bound of those in all rows, whose
        upper bound is the largest code plus one.
    cross_table : int array of shape (2, 2, 2)
        Rows by protected_attribute, senior and click, exact.
    displayrandom_rows : int
    displayrandom_click_rate : float
    rank_pair_rows : int array of shape (20,)
        Rows whose rank is 1-2, 3-4, ..., 39-40, exact.
    clicks_by_rank : dict of int to int
        Clicks of rows that were not displayed at random, read off a figure (each +-5).
    """

    n_rows: int
    columns: tuple[str, ...]
    summaries: dict[str, Summary]
    correlation_names: tuple[str, ...]
    correlation: NDArray[np.float64]
    distinct: dict[str, int]
    category_codes_seen: dict[str, int]
    cross_table: NDArray[np.int64]
    displayrandom_rows: int
    displayrandom_click_rate: float
    rank_pair_rows: NDArray[np.int64]
    clicks_by_rank: dict[int, int]


@cache
def published_statistics() -> PublishedStatistics:
    """Read the figures that ship with the package."""
    text = files("otfairboost.datasets.fairjob_simulation").joinpath("statistics.json").read_text("utf-8")
    raw = json.loads(text)
    names = tuple(raw["correlation_names"])
    correlation = np.eye(len(names))
    for i, row in enumerate(raw["correlation_thousandths"]):
        correlation[i, :i] = correlation[:i, i] = np.asarray(row, dtype=float) / 1000
    return PublishedStatistics(
        n_rows=raw["n_rows"],
        columns=tuple(raw["columns"]),
        summaries={name: Summary(*figures) for name, figures in raw["summaries"].items()},
        correlation_names=names,
        correlation=correlation,
        distinct=raw["distinct"],
        category_codes_seen=raw["category_codes_seen"],
        cross_table=np.asarray(raw["cross_table"]["counts"]),
        displayrandom_rows=raw["displayrandom_rows"],
        displayrandom_click_rate=raw["displayrandom_click_rate"],
        rank_pair_rows=np.asarray(raw["rank_pair_rows"]),
        clicks_by_rank={int(rank): count for rank, count in raw["clicks_by_rank"].items()},
    )
