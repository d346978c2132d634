"""Published figures of FairJob beside those of a data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from otfairboost.datasets.fairjob_simulation.statistics import PublishedStatistics, Summary, published_statistics
from otfairboost.datasets.frames import import_pandas
from otfairboost.datasets.result import Dataset

if TYPE_CHECKING:
    import pandas as pd


class Comparison(NamedTuple):
    """One published figure and the same figure of the data.

    Attributes
    ----------
    kind : str
        What sort of figure: ``"rows"``, ``"distinct"``, ``"codes"``, ``"mean"``, ..., ``"correlation"``,
        ``"cross table"``, ``"rank pair"``, ``"clicks by rank"``, ``"click rate"``.
    column : str
        Column, pair of columns or cell.
    published, generated : float
        Counts are in proportion to the number of rows.
    unit : float
        What the difference is measured in: the column's standard deviation for its summary, the published count
        for a count, 1 for a correlation and for a rate.
    """

    kind: str
    column: str
    published: float
    generated: float
    unit: float = 1.0


def fairjob_simulation_report(data: Dataset) -> pd.DataFrame:
    """Compare a data set with every published figure of FairJob.

    Parameters
    ----------
    data : Dataset
        What `simulate_fairjob` or `load_fairjob` returned, with ``protected_attribute`` among the features.

    Returns
    -------
    DataFrame
        One row for each figure: ``kind``, ``column``, ``published``, ``generated``, ``difference`` (generated
        minus published) and ``scaled`` (the difference in the unit that makes figures comparable, see
        `Comparison`). Published counts are scaled to the number of rows; the published correlations are exact to
        0.005 or 0.008 only, the clicks by rank to about 5.
    """
    pandas = import_pandas()
    published = published_statistics()
    frame = _columns(data, published)
    rows = [*_structure(frame, published), *_summaries(frame, published), *_correlations(frame, published)]
    rows += [*_tables(frame, published)]
    table = pandas.DataFrame(rows, columns=Comparison._fields)
    table["difference"] = table["generated"] - table["published"]
    table["scaled"] = table["difference"] / table["unit"]
    return table.drop(columns="unit")


def _columns(data: Dataset, published: PublishedStatistics) -> dict[str, np.ndarray]:
    """Return the published columns of a data set as numbers."""
    if not isinstance(data, Dataset):
        raise TypeError(f"data is a {type(data).__name__}; it must come from simulate_fairjob() or load_fairjob()")
    columns: dict[str, np.ndarray] = {}
    for name in published.columns:
        if name == data.target.name:
            values = data.target
        elif name in data.features:
            values = data.features[name]
        elif data.identifiers is not None and name in data.identifiers:
            values = data.identifiers[name]
        else:
            raise ValueError(f"data lacks the column {name}; the report needs all {len(published.columns)} of FairJob")
        columns[name] = np.asarray(values, dtype=np.float64)
    return columns


def _structure(frame: dict[str, np.ndarray], published: PublishedStatistics) -> Iterator[Comparison]:
    n_rows = len(frame["click"])
    yield Comparison("rows", "", n_rows, n_rows, n_rows)
    for name, count in published.distinct.items():
        expected = count * n_rows / published.n_rows
        yield Comparison("distinct", name, expected, len(np.unique(frame[name])), expected)
    for name, count in published.category_codes_seen.items():
        yield Comparison("codes", name, count, len(np.unique(frame[name])), count)


def _summaries(frame: dict[str, np.ndarray], published: PublishedStatistics) -> Iterator[Comparison]:
    for name, summary in published.summaries.items():
        values = frame[name]
        quantiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
        generated = Summary(values.mean(), values.std(), *quantiles)
        for field, figure, found in zip(Summary._fields, summary, generated, strict=True):
            yield Comparison(field, name, figure, float(found), summary.std)


def _correlations(frame: dict[str, np.ndarray], published: PublishedStatistics) -> Iterator[Comparison]:
    names = published.correlation_names
    with np.errstate(invalid="ignore", divide="ignore"):  # a column may be constant in few rows
        generated = np.corrcoef(np.stack([frame[name] for name in names]))
    for i, first in enumerate(names):
        for j in range(i):
            yield Comparison("correlation", f"{names[j]} {first}", published.correlation[i, j], generated[i, j])


def _tables(frame: dict[str, np.ndarray], published: PublishedStatistics) -> Iterator[Comparison]:
    share = len(frame["click"]) / published.n_rows
    group, senior, click = (frame[name].astype(int) for name in ("protected_attribute", "senior", "click"))
    found = np.bincount(4 * group + 2 * senior + click, minlength=8)
    for cell, (expected, count) in enumerate(zip(published.cross_table.ravel() * share, found, strict=True)):
        label = f"protected_attribute={cell // 4} senior={cell // 2 % 2} click={cell % 2}"
        yield Comparison("cross table", label, float(expected), float(count), float(expected))

    rank = frame["rank"].astype(int)
    by_rank = np.bincount(rank, minlength=2 * len(published.rank_pair_rows) + 1)[1:]
    for pair, expected in enumerate(published.rank_pair_rows * share):
        count = by_rank[2 * pair] + by_rank[2 * pair + 1]
        yield Comparison("rank pair", f"{2 * pair + 1}-{2 * pair + 2}", float(expected), float(count), float(expected))

    at_random = frame["displayrandom"] == 1
    expected = published.displayrandom_rows * share
    yield Comparison("rows", "displayrandom=1", expected, float(at_random.sum()), expected)
    rate = frame["click"][at_random].mean() if at_random.any() else np.nan
    yield Comparison("click rate", "displayrandom=1", published.displayrandom_click_rate, float(rate))
    clicks = np.bincount(rank[(click == 1) & ~at_random], minlength=len(by_rank) + 1)
    for place, count in published.clicks_by_rank.items():
        yield Comparison("clicks by rank", str(place), count * share, float(clicks[place]), count * share)
