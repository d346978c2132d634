"""FairGBM: LightGBM under constraints on error rates (Cruz et al. 2022), by the authors' package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from otfairboost.benchmark.methods.base import Method, Parameters, refuse_regression
from otfairboost.benchmark.methods.plain import estimator_parameters
from otfairboost.benchmark.rows import Prediction, Rows
from otfairboost.benchmark.spaces import log_uniform
from otfairboost.extras import require

if TYPE_CHECKING:
    import lightgbm as lgb

    from otfairboost.benchmark.tasks import Task

NOT_ITS_PARAMETERS = ("deterministic",)  # of LightGBM 3.0, from which it was forked


class FairGBM(Method):
    """LightGBM with dual ascent on constraints of false negative and false positive rates.

    Notes
    -----
    The paper draws the multipliers' learning rate uniformly from 0.001 to 1. Training diverges without a word at large
    ones, so that most draws would be lost; drawn log-uniformly from 0.0001 to 1 it gets better results.
    """

    name = "fairgbm"
    title = "FairGBM"

    def extra_reason(self, task: Task) -> str | None:
        """Return that it knows error rates only; an unknown constraint would train without any."""
        if task.criterion != "equalized_odds":
            return "FairGBM constrains error rates; it has no demographic parity"
        return refuse_regression(task, "FairGBM is a classifier")

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the multipliers' learning rate."""
        return {"multiplier_learning_rate": log_uniform(rng, 1e-4, 1.0)}

    def default(self, task: Task) -> Parameters:
        """Return the package's default."""
        return {"multiplier_learning_rate": 0.1}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train and predict."""
        if train.sample_weight is not None:
            raise ValueError("sample_weight is given; FairGBM fails on weights that differ")
        package = require("fairgbm", "benchmark")
        params = estimator_parameters(shared, n_jobs, seed)
        for name in NOT_ITS_PARAMETERS:
            params.pop(name)
        model = package.FairGBMClassifier(constraint_type="FNR,FPR", **own, **params)
        # Data frames, to fit and to predict: the package cannot check arrays with scikit-learn 1.8 and later.
        _, groups = np.unique(train.s.astype(str), return_inverse=True)
        model.fit(train.X, train.y.astype(np.int64), constraint_group=groups)
        return Prediction(np.asarray(model.predict_proba(test.X), dtype=np.float64)[:, 1])
