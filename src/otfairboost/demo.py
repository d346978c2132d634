"""The demonstration: a plain and a fair model on generated loan applications."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost import metrics
from otfairboost.datasets.synthetic import make_loan_applications
from otfairboost.estimators import FairLGBMClassifier
from otfairboost.plots.distributions import DistributionsInfo, distributions_info

_N_TRAIN = 30_000
_N_TEST = 20_000


class ModelSummary(NamedTuple):
    """One model on the test rows."""

    name: str
    accuracy: float
    pr_auc: float
    roc_auc: float
    selection_rates: dict[str, float]
    demographic_parity_difference: float
    demographic_parity_ratio: float
    equalized_odds_difference: float
    wasserstein_distance: float
    seconds: float
    distributions: DistributionsInfo


class DemoResult(NamedTuple):
    """The models side by side."""

    models: tuple[ModelSummary, ...]
    n_train: int
    n_test: int


def run_demo(*, fairness_weight: float = 5.0, random_state: int = 0, n_jobs: int | None = None) -> DemoResult:
    """Train LightGBM and the fair model with the same parameters, and measure both on fresh rows.

    Parameters
    ----------
    fairness_weight : float, default=5.0
        The fair model's dial.
    random_state : int, default=0
        Seed of the data and of both models.
    n_jobs : int, optional
        Threads.
    """
    X, y, sex, _ = make_loan_applications(_N_TRAIN + _N_TEST, random_state=random_state)
    train, test = slice(None, _N_TRAIN), slice(_N_TRAIN, None)
    parameters: dict[str, Any] = {"n_estimators": 200, "random_state": random_state, "n_jobs": n_jobs, "verbosity": -1}
    warm = FairLGBMClassifier(n_estimators=1, verbosity=-1)  # compile before the clock runs
    warm.fit(X[:500], y[:500], sensitive_features=sex[:500])
    candidates: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("LightGBM", FairLGBMClassifier(fairness_weight=0, **parameters), {}),  # nothing but LightGBM
        (
            f"fair, weight {fairness_weight:g}",
            FairLGBMClassifier(fairness_weight=fairness_weight, **parameters),
            {"sensitive_features": sex[train]},
        ),
    )
    summaries = []
    for name, model, fit_arguments in candidates:
        start = time.perf_counter()
        model.fit(X[train], y[train], **fit_arguments)
        seconds = time.perf_counter() - start
        score = np.asarray(model.predict_proba(X[test]))[:, 1]
        summaries.append(_summarise(name, y[test], score, sex[test], seconds))
    return DemoResult(tuple(summaries), _N_TRAIN, _N_TEST)


def _summarise(
    name: str, y: NDArray[np.int64], score: NDArray[np.float64], groups: NDArray[np.str_], seconds: float
) -> ModelSummary:
    decision = (score >= 0.5).astype(int)
    rates = metrics.group_rates(y, decision, sensitive_features=groups)
    return ModelSummary(
        name=name,
        accuracy=metrics.accuracy(y, decision),
        pr_auc=metrics.average_precision(y, score),
        roc_auc=metrics.roc_auc(y, score),
        selection_rates={str(label): rate for label, rate in rates.items()},
        demographic_parity_difference=metrics.demographic_parity_difference(y, decision, sensitive_features=groups),
        demographic_parity_ratio=metrics.demographic_parity_ratio(y, decision, sensitive_features=groups),
        equalized_odds_difference=metrics.equalized_odds_difference(y, decision, sensitive_features=groups),
        wasserstein_distance=metrics.wasserstein_distance(y, score, sensitive_features=groups),
        seconds=seconds,
        distributions=distributions_info(score, sensitive_features=groups, title=name),
    )
