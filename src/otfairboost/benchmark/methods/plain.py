"""Plain LightGBM: the baseline, and the model that post-processing starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from otfairboost.benchmark.methods.base import Method, Parameters
from otfairboost.benchmark.rows import Prediction, Rows

if TYPE_CHECKING:
    from otfairboost.benchmark.tasks import Task

N_ESTIMATORS = 100  # LightGBM's default


def lightgbm_parameters(shared: Parameters, n_jobs: int, seed: int) -> Parameters:
    """Return the shared parameters with those that make a fit repeatable.

    LightGBM otherwise times two ways to build histograms and takes the faster one, and sums over rows in an order
    that depends on the number of threads.
    """
    fixed = {"seed": seed, "num_threads": n_jobs, "verbosity": -1, "deterministic": True, "force_col_wise": True}
    return {**shared, **fixed}


def estimator_parameters(shared: Parameters, n_jobs: int, seed: int) -> Parameters:
    """Return the same for the classes with scikit-learn's interface."""
    params = lightgbm_parameters(shared, n_jobs, seed)
    return {**params, "random_state": params.pop("seed"), "n_jobs": params.pop("num_threads")}


def bin_rows(train: Rows) -> lgb.Dataset:
    """Return the training rows as LightGBM bins them; no parameter of the shared space has a part in it."""
    dataset = lgb.Dataset(train.X, label=train.y, weight=train.sample_weight, params=lightgbm_parameters({}, 1, 0))
    return dataset.construct()


def train_lightgbm(
    objective: str | Callable[..., Any],
    shared: Parameters,
    train: Rows,
    n_jobs: int,
    seed: int,
    shared_dataset: lgb.Dataset | None = None,
) -> lgb.Booster:
    """Train LightGBM with an objective of its own or a function."""
    params = lightgbm_parameters(shared, n_jobs, seed)
    n_rounds = params.pop("n_estimators", N_ESTIMATORS)
    dataset = bin_rows(train) if shared_dataset is None else shared_dataset
    return lgb.train({**params, "objective": objective}, dataset, n_rounds)


def train_baseline(
    task: Task, shared: Parameters, train: Rows, n_jobs: int, seed: int, shared_dataset: lgb.Dataset | None = None
) -> lgb.Booster:
    """Train what the baseline is, and what post-processing methods start from."""
    objective = "binary" if task.kind == "classification" else "regression"
    return train_lightgbm(objective, shared, train, n_jobs, seed, shared_dataset)


def predict(booster: lgb.Booster, rows: Rows, n_jobs: int) -> NDArray[np.float64]:
    """Return probabilities or predictions."""
    return np.asarray(booster.predict(rows.X, num_threads=n_jobs), dtype=np.float64)


class Baseline(Method):
    """LightGBM without any fairness."""

    name = "baseline"
    title = "Baseline"

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Return nothing: it has no parameters of its own."""
        return {}

    def default(self, task: Task) -> Parameters:
        """Return nothing: it has no parameters of its own."""
        return {}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train and predict."""
        booster = train_baseline(task, shared, train, n_jobs, seed, shared_dataset)
        return Prediction(predict(booster, test, n_jobs))
