"""FairXGBoost: a penalty on the group that is better off (Ravichandran et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from scipy import special

from otfairboost.benchmark.methods.base import Method, Parameters, refuse_regression
from otfairboost.benchmark.methods.plain import predict, train_lightgbm
from otfairboost.benchmark.rows import Prediction, Rows
from otfairboost.benchmark.spaces import log_uniform

XGBOOST_MIN_CHILD_WEIGHT = 1.0

Objective = Callable[[NDArray, lgb.Dataset], tuple[NDArray, NDArray]]

if TYPE_CHECKING:
    from otfairboost.benchmark.tasks import Task


class FairXGBoost(Method):
    r"""Log loss of the labels less :math:`\mu` times the log loss of belonging to the advantaged group.

    .. math:: g_i = (p_i - y_i) - \mu (p_i - a_i), \quad h_i = (1 - \mu) p_i (1 - p_i)

    with :math:`a_i` = 1 in the group with the higher share of positive labels: its scores are pushed down, those of the
    other group up. The penalty is added to LightGBM, the engine of all other methods here, instead of XGBoost.

    Notes
    -----
    Less a log loss, the objective has no lower bound: next to probabilities of 0 and 1 the hessian vanishes and the
    gradient does not. What holds it is XGBoost's least sum of hessians in a leaf, 1 by default; LightGBM's is 0.001.
    """

    name = "fair_xgboost"
    title = "FairXGBoost"

    def extra_reason(self, task: Task) -> str | None:
        """Return what the penalty cannot express."""
        if task.criterion != "demographic_parity":
            return "FairXGBoost has demographic parity only"
        if task.multi_group:
            return "FairXGBoost has two groups, of which one is better off"
        return refuse_regression(task, "FairXGBoost is a classifier")

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the penalty's weight; the authors try 0 to 0.8."""
        return {"mu": log_uniform(rng, 0.02, 0.8)}

    def default(self, task: Task) -> Parameters:
        """Return that the weight follows from the labels."""
        return {"mu": None}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train and predict."""
        mu = label_gap(train) if own["mu"] is None else own["mu"]
        objective = penalised_log_loss(train, mu)
        params = {**shared, "min_child_weight": XGBOOST_MIN_CHILD_WEIGHT}
        booster = train_lightgbm(objective, params, train, n_jobs, seed, shared_dataset)
        return Prediction(special.expit(predict(booster, test, n_jobs)))


def penalised_log_loss(train: Rows, mu: float) -> Objective:
    """Return gradient and hessian as LightGBM asks for them."""
    advantaged = (train.s == advantaged_group(train)).astype(np.float64)
    weight = 1.0 if train.sample_weight is None else train.sample_weight  # a function of ours has to apply them

    def derivatives(raw: NDArray, _: lgb.Dataset) -> tuple[NDArray, NDArray]:
        probability = special.expit(raw)
        gradient = (probability - train.y) - mu * (probability - advantaged)
        hessian = (1.0 - mu) * probability * (1.0 - probability)
        return weight * gradient, weight * hessian

    return derivatives


def advantaged_group(train: Rows) -> object:
    """Return the group with the higher share of positive labels."""
    rates = _label_rates(train)
    return max(rates, key=rates.__getitem__)


def label_gap(train: Rows) -> float:
    """Return the difference of the groups' shares of positive labels: with it their mean targets are equal."""
    rates = _label_rates(train).values()
    return max(rates) - min(rates)


def _label_rates(train: Rows) -> dict[str, float]:
    weight = np.ones(len(train.y)) if train.sample_weight is None else train.sample_weight
    rows = {group: train.s == group for group in sorted(set(train.s))}
    return {group: float(np.average(train.y[member], weights=weight[member])) for group, member in rows.items()}
