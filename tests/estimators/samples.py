"""Generated rows that the estimators are tested on, and the settings that make LightGBM repeat itself."""

from typing import NamedTuple

import numpy as np

# One thread and one histogram layout: left to itself LightGBM takes the faster of two, which rounds differently.
STEADY = {"n_jobs": 1, "verbosity": -1, "deterministic": True, "force_col_wise": True, "random_state": 3}
SMALL = {**STEADY, "n_estimators": 12, "num_leaves": 8}
# So little fairness that only rounding can tell it from none, while all of the fair code runs.
ALMOST_PLAIN = 1e-30


class Sample(NamedTuple):
    """Rows, their target, their group and their weight."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    weight: np.ndarray

    def part(self, rows):
        return Sample(*(column[rows] for column in self))


def make_loans(n_rows=600, seed=0, *, groups=("blue", "green"), missing=0.05, proxy=1.5):
    """Return a binary target that depends on the group, which one feature tells the better the larger ``proxy`` is."""
    rng = np.random.default_rng(seed)
    code = rng.integers(len(groups), size=n_rows)
    X = rng.normal(size=(n_rows, 5))
    X[:, 3] += proxy * code
    X[:, 4] = rng.integers(0, 6, size=n_rows)
    raw = X[:, 0] - 0.5 * X[:, 1] * X[:, 2] + 1.5 * code + 0.5 * np.isin(X[:, 4], [1, 3]) - 0.6 * len(groups)
    y = (raw + rng.logistic(size=n_rows) > 0).astype(np.int64)
    X[:, :4][rng.random((n_rows, 4)) < missing] = np.nan
    return Sample(X, y, np.array(groups)[code], rng.integers(4, 17, size=n_rows) / 8)  # exact as float32


def make_wages(n_rows=600, seed=0, *, proxy=1.5):
    """Return a continuous target that depends on the group."""
    rng = np.random.default_rng(seed)
    loans = make_loans(n_rows, seed, proxy=proxy)
    code = (loans.groups == "green").astype(float)
    y = 20.0 + 3.0 * np.nan_to_num(loans.X[:, 0]) + 4.0 * code + loans.X[:, 4] + rng.normal(scale=2.0, size=n_rows)
    return loans._replace(y=y)


def make_grades(n_rows=600, seed=0, *, groups=("blue", "green")):
    """Return a target of three grades that depends on the group."""
    rng = np.random.default_rng(seed + 100)
    loans = make_loans(n_rows, seed, groups=groups)
    code = np.unique(loans.groups, return_inverse=True)[1]
    quality = np.nan_to_num(loans.X[:, 0]) + 1.2 * code + 0.3 * loans.X[:, 4] + rng.logistic(scale=0.5, size=n_rows)
    cuts = np.quantile(quality, [0.3, 0.75])
    return loans._replace(y=np.array(["fair", "good", "poor"])[[2, 0, 1]][np.searchsorted(cuts, quality)])


def trees_of(booster):
    """Return the model's trees as text, without the lines that hold parameters and sizes."""
    text = booster.model_to_string()
    return text[text.index("Tree=0\n") : text.index("end of trees")]
