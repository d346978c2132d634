"""OT-FairBoost, as the paper describes it and as this package does it by default."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from otfairboost.benchmark.methods.base import Method, Parameters
from otfairboost.benchmark.methods.plain import estimator_parameters
from otfairboost.benchmark.rows import Prediction, Rows
from otfairboost.benchmark.spaces import FIXED, log_uniform
from otfairboost.estimators import FairLGBMClassifier, FairLGBMRegressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import lightgbm as lgb

    from otfairboost.benchmark.tasks import Task


def _fit_predict(
    task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int
) -> Prediction:
    params = {"fairness": task.criterion, **estimator_parameters(shared, n_jobs, seed), **own}
    model: Any
    if task.kind == "classification":
        # Weights of labels are a way to train; the gap is that of the rows as they are. They count in the loss alone.
        model = FairLGBMClassifier(**params, class_weight=train.label_weights())
        score = model.fit(train.X, train.y, sensitive_features=train.s).predict_proba(test.X)[:, 1]
    else:
        model = FairLGBMRegressor(**params)
        model.fit(train.X, train.y, sample_weight=train.sample_weight, sensitive_features=train.s)
        score = model.predict(test.X)
    return Prediction(np.asarray(score, dtype=np.float64))


class PaperOTFairBoost(Method):
    r"""OT-FairBoost in the paper's form.

    The distributions are smoothed by kernels, the hessian is the full curvature times the link's derivative, scores
    are compared as they are and regression has the squared error. The spaces are those of the paper's appendix.

    Notes
    -----
    The paper's objective is the *sum* of the losses plus :math:`\lambda W_2^2`. Taken literally, the penalty would
    vanish beside 27,000 rows at its largest :math:`\lambda` of 20. Its figures come out if :math:`\lambda` weighs the
    penalty against the *mean* loss; this is what ``fairness_weight`` does, so :math:`\lambda` is passed on as it is.
    The bandwidth, 0.01 to 2, is read as SciPy's ``gaussian_kde`` reads it: a factor of the standard deviation.
    """

    name = "otfairboost_paper"
    title = "OT-FairBoost (paper's form)"

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the penalty's weight and the bandwidth."""
        return {"fairness_weight": log_uniform(rng, 0.1, 20.0), "bandwidth": float(rng.uniform(0.01, 2.0))}

    def default(self, task: Task) -> Parameters:
        """Return the task's weight."""
        return {"fairness_weight": task.fairness_weight}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train and predict."""
        form = {"transport": "kde", "fairness_hessian": "paper", "focus": 1.0}
        return _fit_predict(task, shared, {**form, **own}, train, test, n_jobs, seed)


class Stretch(NamedTuple):
    """A part of the way from a plain model to a fair one.

    Attributes
    ----------
    share : float
        Of the configurations.
    focuses : tuple of float
        Equally likely.
    products : pair of float
        Range of ``fairness_weight`` times ``focus``: a larger focus needs less weight, by about the same factor.
    dampings : pair of float
        Range of that product times ``fairness_hessian``, which says how much slower the trees learn near the decision.
    """

    share: float
    focuses: tuple[float, ...]
    products: tuple[float, float]
    dampings: tuple[float, float]


_MORE_CELLS = (
    Stretch(0.3, (1.0, 2.0), (0.1, 5.0), (3.0, 7.0)),
    Stretch(0.5, (1.0, 2.0), (5.0, 16.0), (3.0, 7.0)),
)
STRETCHES = {
    "delta_dp": (
        Stretch(0.3, (2.0,), (0.05, 2.5), (1.5, 4.0)),
        Stretch(0.5, (2.0, 4.0), (2.5, 8.0), (1.5, 4.0)),
        Stretch(0.2, (8.0,), (8.0, 25.0), (8.0, 25.0)),
    ),
    "delta_eodds_sum": (*_MORE_CELLS, Stretch(0.2, (4.0,), (16.0, 50.0), (16.0, 50.0))),
    "delta_max_dp": (*_MORE_CELLS, Stretch(0.2, (1.0, 2.0), (16.0, 50.0), (8.0, 25.0))),
}
"""By a task's gap: some of the way, where the gap becomes small without much harm, and beyond.

Where labels or several groups share the penalty it takes about twice the weight, and small groups have few rows near
the decision for a focus to look at.
"""

# The multiples of this number, without their whole part, are spread evenly however many there are.
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def _sample_at(place: float, rng: np.random.Generator, task: Task) -> Parameters:
    """Return the parameters at a place, from 0 to 1, of the way to a fair model; the rest is drawn."""
    for stretch in STRETCHES[task.gap]:
        if place < stretch.share:
            break
        place -= stretch.share
    low, high = stretch.products
    product = low * (high / low) ** (place / stretch.share)
    focus = float(rng.choice(stretch.focuses))
    factor = log_uniform(rng, *stretch.dampings) / product
    hessian = max(factor, 2.0 * FIXED["learning_rate"])  # at least what does not overshoot
    return {"fairness_weight": product / focus, "focus": focus, "fairness_hessian": hessian}


class OTFairBoost(Method):
    """OT-FairBoost with this package's defaults, over what its users may choose.

    Classification searches how much the penalty looks at the decision (``focus``) and how much its curvature slows the
    trees down there (``fairness_hessian``), which keeps a thousand of them from learning too much. Regression is judged
    by the absolute error and searches the robust losses. Most weights are where the gap is small; the others show the
    way there, which a front has to cover too.
    """

    name = "otfairboost"
    title = "OT-FairBoost (ours)"

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the weight, and what the kind of task has to choose besides."""
        if task.kind == "classification":
            return _sample_at(rng.random(), rng, task)
        objective = str(rng.choice(["huber", "regression_l1"]))
        width = {"alpha": log_uniform(rng, 0.03, 0.15)} if objective == "huber" else {}
        weight = log_uniform(rng, *((1.5, 30.0) if rng.random() < 0.7 else (0.05, 1.5)))
        return {"fairness_weight": weight, "objective": objective, **width}

    def sample_all(self, streams: Sequence[np.random.Generator], task: Task) -> list[Parameters]:
        """Draw one configuration from each stream; in classification their weights are spread evenly."""
        if task.kind != "classification":
            return super().sample_all(streams, task)
        first = streams[0].random()
        return [_sample_at((first + i * _GOLDEN) % 1.0, rng, task) for i, rng in enumerate(streams)]

    def default(self, task: Task) -> Parameters:
        """Return the task's weight."""
        return {"fairness_weight": task.fairness_weight}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train and predict."""
        return _fit_predict(task, shared, own, train, test, n_jobs, seed)
