"""Rows of few distinct values, and how they are laid out on the workers of a cluster."""

from typing import NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
from benchmarks.layout import lay_arrays, lay_out


class Table(NamedTuple):
    """Rows of features with few values each, two targets, groups and weights."""

    X: np.ndarray
    y: np.ndarray
    wage: np.ndarray
    groups: np.ndarray
    weight: np.ndarray

    def take(self, rows):
        return Table(*(column[rows] for column in self))


def make_table(n_rows=3000, seed=0, labels=("a", "b")):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, len(labels), n_rows)
    X = rng.integers(0, 9, (n_rows, 5)).astype(np.float32)
    X[:, 0] += 2 * code
    X[rng.random((n_rows, 5)) < 0.03] = np.nan
    filled = np.nan_to_num(X)
    raw = filled[:, 0] - 0.5 * filled[:, 1] + 0.1 * filled[:, 2] * filled[:, 3] - 4
    y = np.where(raw + rng.logistic(size=n_rows) > 0, "yes", "no")
    return Table(X, y, 10 + raw + rng.normal(size=n_rows), np.array(labels)[code], rng.integers(1, 4, n_rows) / 2)


def spread(client, table, lengths, workers, *, frames=False):
    """Return the table as collections in partitions of these lengths, each on the next of the workers in turn."""
    ends = np.cumsum(lengths)[:-1]
    columns = []
    for values in table:
        parts = np.split(values, ends)
        columns.append(lay_frames(client, parts, workers) if frames else lay_arrays(client, parts, workers))
    return Table(*columns)


def lay_frames(client, parts, workers, *, start=0):
    frames = []
    for part in parts:
        index = pd.RangeIndex(start, start + len(part))
        start += len(part)
        if part.ndim == 2:
            frames.append(pd.DataFrame(part, index, columns=[f"f{j}" for j in range(part.shape[1])]))
        else:
            frames.append(pd.Series(part, index, name="column"))
    return dd.from_delayed(lay_out(client, frames, workers), meta=frames[0].iloc[:0])
