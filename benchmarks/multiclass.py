"""Figures of several classes: fit time over plain LightGBM's, same parameters.

    python -m benchmarks.multiclass --output output/multiclass.json

Ratios are medians of interleaved repeats in one run. The machine should be idle. ``--small`` runs every measurement on
few rows, to see that it works; its figures mean nothing.
"""

import warnings
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from benchmarks.core import seconds
from benchmarks.figures import Figure, make_parser, measure_all
from otfairboost import FairLGBMClassifier


class Sizes(NamedTuple):
    """How much to measure."""

    rows: int = 300_000
    features: int = 30
    classes: int = 5
    groups: int = 4
    trees: int = 100
    repeats: int = 3


SMALL = Sizes(3000, 5, 3, 2, 4, 1)


def make_data(n_rows: int, n_features: int, n_classes: int, n_groups: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return X, y and groups that depend on each other; all features tell about the classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    groups = np.clip(np.floor((X[:, 0] + rng.normal(size=n_rows)) * n_groups / 4 + n_groups / 2), 0, n_groups - 1)
    effect = rng.normal(size=(n_features, n_classes)) / np.sqrt(np.arange(1, n_features + 1))[:, None]
    raw = X @ effect + X[:, 1:2] * X[:, 2:3] * np.linspace(-1, 1, n_classes)
    y = np.argmax(raw + rng.gumbel(size=raw.shape), axis=1)
    return X, y.astype(np.int8), groups.astype(np.int8)


def fit_ratios(sizes: Sizes) -> Iterator[Figure]:
    """Fit time over plain LightGBM's softmax, both criteria."""
    parameters = {"n_estimators": sizes.trees, "num_leaves": 31, "verbosity": -1, "n_jobs": -1}
    X, y, groups = make_data(sizes.rows, sizes.features, sizes.classes, sizes.groups)
    models = {
        name: FairLGBMClassifier(fairness=fairness, fairness_weight=5.0, **parameters)
        for name, fairness in (
            ("fit_ratio_multiclass", "demographic_parity"),
            ("fit_ratio_multiclass_equalized_odds", "equalized_odds"),
        )
    }
    few = slice(0, 2000)
    for model in models.values():  # compile before the clock runs
        model.fit(X[few], y[few], sensitive_features=groups[few])
    times: dict[str, list[float]] = {name: [] for name in ("plain", *models)}
    for _ in range(sizes.repeats):
        times["plain"].append(seconds(lambda: lgb.LGBMClassifier(**parameters).fit(X, y)))
        for name, model in models.items():
            times[name].append(seconds(lambda: model.fit(X, y, sensitive_features=groups)))  # noqa: B023
    detail = (
        f"{sizes.rows} rows x {sizes.features}, {sizes.classes} classes, {sizes.groups} groups, {sizes.trees} rounds, "
        f"{sizes.repeats} repeats; plain fit {median(times['plain']):.2f} s"
    )
    for name in models:
        ratio = median(fair / plain for fair, plain in zip(times[name], times["plain"], strict=True))
        yield Figure(name, ratio, 1.35 if name == "fit_ratio_multiclass" else None, detail=detail)


MEASUREMENTS = (fit_ratios,)


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Measure, print, write."""
    options = make_parser(__doc__, MEASUREMENTS, "output/multiclass.json").parse_args(arguments)
    return measure_all(options, MEASUREMENTS, SMALL if options.small else Sizes())


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    main()
