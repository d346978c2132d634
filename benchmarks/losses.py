"""Figures of the losses: fit time over plain LightGBM's of the same objective, for each loss and criterion.

    python -m benchmarks.losses --output output/losses.json

Ratios are medians of interleaved repeats in one run. The machine should be idle. ``--small`` runs every measurement on
few rows, to see that it works; its figures mean nothing.
"""

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from benchmarks.core import seconds
from benchmarks.figures import Figure, make_parser, measure_all
from otfairboost import FairLGBMRegressor

WEIGHT = 5.0
REGRESSION_LIMIT = 1.2


class Sizes(NamedTuple):
    """How much to measure."""

    rows: int = 300_000
    features: int = 30
    trees: int = 100
    repeats: int = 5


SMALL = Sizes(2000, 5, 5, 1)


class LossTask(NamedTuple):
    """One loss to be timed.

    Attributes
    ----------
    objective : str
    target : callable
        Makes the target of a raw score.
    limit : float
        Of the ratio.
    n_groups : int
    plain, fair : type
        LightGBM's estimator and ours.
    """

    objective: str
    target: Callable[[NDArray[Any], np.random.Generator], NDArray[Any]]
    limit: float = REGRESSION_LIMIT
    n_groups: int = 2
    plain: Any = lgb.LGBMRegressor
    fair: Any = FairLGBMRegressor


def wage(raw: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return values with noise, all far from zero."""
    return 20.0 + raw + rng.normal(size=len(raw))


def count(raw: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return counts whose mean is near 1."""
    return rng.poisson(np.exp(np.clip(0.3 * raw, -3.0, 3.0))).astype(float)


def amount(raw: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return positive amounts."""
    return rng.gamma(2.0, np.exp(np.clip(0.3 * raw, -3.0, 3.0))) + 1e-3


def share(raw: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return shares from 0 to 1."""
    return 1.0 / (1.0 + np.exp(-raw - rng.normal(size=len(raw))))


# A classifier of several classes is one more entry: LossTask("multiclass", classes, 1.35, 4, LGBMClassifier, ...).
TASKS = (
    LossTask("regression", wage),
    LossTask("regression_l1", wage),
    LossTask("huber", wage),
    LossTask("fair", wage),
    LossTask("quantile", wage),
    LossTask("mape", wage),
    LossTask("poisson", count),
    LossTask("gamma", amount),
    LossTask("tweedie", amount),
    LossTask("cross_entropy", share),
)

# What else changes the work of a round, on squared error: reported without a limit.
VARIANTS: dict[str, dict[str, Any]] = {
    "equalized_odds": {"fairness": "equalized_odds"},
    "conditional_demographic_parity": {"fairness": "conditional_demographic_parity"},
    "focus_quantile": {"focus_quantile": 0.9, "focus": 4.0},
    "continuous_attribute": {"sensitive_bins": 4},
    "sum_of_two_attributes": {"multi_attribute": "sum", "sensitive_bins": {1: 4}},
}


def make_data(sizes: Sizes, n_groups: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return X, raw scores and groups that depend on each other; every feature tells about the score."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sizes.rows, sizes.features)).astype(np.float32)
    groups = np.clip(np.floor((X[:, 0] + rng.normal(size=sizes.rows)) * n_groups / 4 + n_groups / 2), 0, n_groups - 1)
    raw = X @ (1.0 / np.sqrt(np.arange(1, sizes.features + 1, dtype=np.float32))) + X[:, 1] * X[:, 2]
    return X, raw, groups.astype(np.int8)


def loss_ratios(sizes: Sizes) -> Iterator[Figure]:
    """Fit time over plain LightGBM's with the same objective and parameters."""
    parameters = {"n_estimators": sizes.trees, "num_leaves": 31, "verbosity": -1, "n_jobs": -1}
    for task in TASKS:
        X, raw, groups = make_data(sizes, task.n_groups)
        y = task.target(raw, np.random.default_rng(1))
        plain = task.plain(objective=task.objective, **parameters)
        fair = task.fair(objective=task.objective, fairness_weight=WEIGHT, **parameters)
        fair.fit(X[:2000], y[:2000], sensitive_features=groups[:2000])  # compile before the clock runs
        yield _compare(f"fit_ratio_{task.objective}", task.limit, sizes, plain, fair, X, y, sensitive_features=groups)


def weighted_ratio(sizes: Sizes) -> Iterator[Figure]:
    """Plain LightGBM with weights over without: what sums of hessians cost it, which are constant else."""
    X, raw, _ = make_data(sizes, 2)
    y = wage(raw, np.random.default_rng(1))
    weight = np.random.default_rng(2).uniform(0.99, 1.01, len(y))
    model = lgb.LGBMRegressor(n_estimators=sizes.trees, num_leaves=31, verbosity=-1, n_jobs=-1)
    yield _compare("plain_fit_ratio_weighted", None, sizes, model, model, X, y, sample_weight=weight)


def variant_ratios(sizes: Sizes) -> Iterator[Figure]:
    """Fit time over plain LightGBM's of criteria and attributes that take more work, on squared error."""
    parameters = {"n_estimators": sizes.trees, "num_leaves": 31, "verbosity": -1, "n_jobs": -1}
    X, raw, groups = make_data(sizes, 2)
    y = wage(raw, np.random.default_rng(1))
    age = 45.0 + 10.0 * X[:, 0] + np.random.default_rng(2).normal(scale=5.0, size=len(y))
    features = {"continuous_attribute": age, "sum_of_two_attributes": np.column_stack([groups, age])}
    for name, settings in VARIANTS.items():
        fit = {"sensitive_features": features.get(name, groups)}
        if name == "conditional_demographic_parity":
            fit["control_features"] = np.digitize(X[:, 3], [-0.7, 0.0, 0.7])
        fair = FairLGBMRegressor(fairness_weight=WEIGHT, **parameters, **settings)
        fair.fit(X[:2000], y[:2000], **{key: value[:2000] for key, value in fit.items()})
        yield _compare(f"fit_ratio_{name}", None, sizes, lgb.LGBMRegressor(**parameters), fair, X, y, **fit)


def _compare(
    name: str, limit: float | None, sizes: Sizes, plain: Any, fair: Any, X: NDArray[Any], y: NDArray[Any], **fit: Any
) -> Figure:
    ratios, base = [], 0.0
    for _ in range(sizes.repeats):
        base = seconds(lambda: plain.fit(X, y))
        ratios.append(seconds(lambda: fair.fit(X, y, **fit)) / base)
    detail = f"{sizes.rows} rows x {sizes.features}, {sizes.trees} trees, {sizes.repeats} repeats; plain {base:.2f} s"
    return Figure(name, median(ratios), limit, detail=detail)


MEASUREMENTS = (loss_ratios, weighted_ratio, variant_ratios)


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Measure, print, write."""
    options = make_parser(__doc__, MEASUREMENTS, "output/losses.json").parse_args(arguments)
    return measure_all(options, MEASUREMENTS, SMALL if options.small else Sizes())


if __name__ == "__main__":
    main()
