"""W1Post and W2Post: what is done to the scores of a plain model afterwards, with the group known at prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from otfairboost.benchmark.methods.base import Method, Parameters, refuse_regression
from otfairboost.benchmark.methods.parity_thresholds import fit_thresholds
from otfairboost.benchmark.methods.plain import predict, train_baseline
from otfairboost.benchmark.methods.score_repair import fit_repair
from otfairboost.benchmark.rows import Prediction, Rows

if TYPE_CHECKING:
    import lightgbm as lgb

    from otfairboost.benchmark.tasks import Task

NEEDS_LABELS = "equalized odds compares rows of the same label, which is not known at prediction"


class W1Post(Method):
    """One threshold for each group: the smallest error whose demographic parity gap has a bound (Xian et al. 2023).

    It decides and does not rank: the score is the distance to the group's threshold, and fair at that one only.
    """

    name = "w1_post"
    title = "W1Post"
    needs_s = True

    def extra_reason(self, task: Task) -> str | None:
        """Return that it decides between two labels, the same way for both."""
        if task.criterion != "demographic_parity":
            return NEEDS_LABELS
        return refuse_regression(task, "W1Post decides between labels; a regression has none")

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the bound on the gap, from the paper's space."""
        return {"gap_bound": float(rng.uniform(1e-4, 0.05))}

    def default(self, task: Task) -> Parameters:
        """Return the strictest bound."""
        return {"gap_bound": 0.0}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train the baseline, fit thresholds to its scores and apply them."""
        booster = train_baseline(task, shared, train, n_jobs, seed, shared_dataset)
        fitted = predict(booster, train, n_jobs)
        thresholds = fit_thresholds(fitted, train.s, own["gap_bound"], train.sample_weight)
        distance = predict(booster, test, n_jobs) - np.array([thresholds[group] for group in test.s])
        return Prediction(distance + 0.5, (distance >= 0).astype(np.int64))


class W2Post(Method):
    """Every group's scores moved to the groups' barycenter (Le Gouic et al. 2020, Chzhen et al. 2020).

    Notes
    -----
    The map is fitted on all training rows: of part of them it is noisier, and with several groups much so.
    """

    name = "w2_post"
    title = "W2Post"
    needs_s = True

    def extra_reason(self, task: Task) -> str | None:
        """Return that it makes whole distributions equal."""
        return None if task.criterion == "demographic_parity" else NEEDS_LABELS

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw how much of the difference is left.

        The paper's space ends at 0.05, next to full repair; half of the draws here come from there.
        """
        near = float(rng.uniform(1e-4, 0.05))
        far = float(rng.uniform(0.05, 0.5))
        return {"kept_difference": near if rng.random() < 0.5 else far}

    def default(self, task: Task) -> Parameters:
        """Return full repair."""
        return {"kept_difference": 0.0}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train the baseline, fit the map to its scores and apply it."""
        booster = train_baseline(task, shared, train, n_jobs, seed, shared_dataset)
        repair = fit_repair(predict(booster, train, n_jobs), train.s)
        score = predict(booster, test, n_jobs)
        kept = own["kept_difference"]
        return Prediction((1.0 - kept) * repair(score, test.s) + kept * score)
