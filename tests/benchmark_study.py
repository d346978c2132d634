"""A small study for the tests of the benchmark: generated data, and methods that succeed, fail, crash and hang."""

import os
import time

import numpy as np
import pandas as pd

from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.methods.base import Method
from otfairboost.benchmark.methods.plain import Baseline
from otfairboost.benchmark.profiles import Profile
from otfairboost.benchmark.protocol import fingerprint
from otfairboost.benchmark.rows import Prediction
from otfairboost.benchmark.store import Key, Result, Run
from otfairboost.benchmark.tasks import Task
from otfairboost.datasets import make_loan_applications
from otfairboost.datasets.result import Dataset

PROFILE = Profile("tiny", 3, 2, None, 60.0, None, (0.5, 5.0))
N_ROWS = 400


def load_loans(data_home, max_rows):
    loans = make_loan_applications(N_ROWS, random_state=0)
    features = pd.DataFrame(np.nan_to_num(loans.X), columns=list(loans.feature_names))
    features["sex"] = (loans.sensitive_features == "male").astype(float)
    return Dataset(
        name="loans", features=features, target=pd.Series(loans.y), task="classification",
        description="Generated loans.",
        sensitive_features=pd.DataFrame({"sex": loans.sensitive_features}), preprocessing="None.",
        licence="", citation="", source="",
    )  # fmt: skip


def load_amounts(data_home, max_rows):
    """The same people with a continuous target."""
    data = load_loans(data_home, max_rows)
    rng = np.random.default_rng(1)
    amount = data.features["income"].to_numpy() * (1 + 0.1 * rng.standard_normal(N_ROWS))
    target = pd.Series((amount - amount.min()) / np.ptp(amount))
    return Dataset(**{**data.__dict__, "target": target, "task": "regression"})


_LOANS = {"kind": "classification", "criterion": "demographic_parity", "attribute": "sex", "loader": load_loans}
LOANS = Task(name="tennessee_dp", title="Loans", performance="pr_auc", gap="delta_dp", **_LOANS)
ODDS = Task(
    name="tennessee_eodds", title="Loans, odds", performance="pr_auc", gap="delta_eodds_sum",
    **{**_LOANS, "criterion": "equalized_odds"},
)  # fmt: skip
AMOUNTS = Task(
    name="communities_dp", title="Amounts", performance="one_minus_mae", gap="w2",
    **{**_LOANS, "kind": "regression", "loader": load_amounts},
)  # fmt: skip
# Named like tasks of the paper, whose figures then stand beside theirs.


class Few(Baseline):
    """The baseline with a few trees, and a dial that does something."""

    name = "baseline"

    def sample(self, rng, task):
        return {"fairness_weight": float(rng.uniform(0, 1))}

    def default(self, task):
        return {"fairness_weight": 1.0}

    def fit_predict(self, task, shared, own, train, test, n_jobs, seed, shared_dataset=None):
        few = {**shared, "n_estimators": 4}
        found = super().fit_predict(task, few, own, train, test, n_jobs, seed, shared_dataset)
        shrunk = 0.5 + (found.score - 0.5) / (1 + own["fairness_weight"])
        return Prediction(found.score, None, (found, Prediction(shrunk)))


class _Other(Method):
    title = "Other"

    def sample(self, rng, task):
        return {"draw": float(rng.uniform())}

    def default(self, task):
        return {}


class Slow(_Other):
    name = "w2_post"

    def fit_predict(self, task, shared, own, train, test, n_jobs, seed, shared_dataset=None):
        time.sleep(0.15)
        return Prediction(np.random.default_rng(seed).uniform(0.1, 0.9, len(test.y)))


class Raising(_Other):
    name = "fair_gs"

    def fit_predict(self, task, shared, own, train, test, n_jobs, seed, shared_dataset=None):
        raise ZeroDivisionError("no such luck")


class Crashing(_Other):
    name = "fair_eg"

    def fit_predict(self, task, shared, own, train, test, n_jobs, seed, shared_dataset=None):
        os._exit(7)


class Hanging(_Other):
    name = "w1_post"

    def fit_predict(self, task, shared, own, train, test, n_jobs, seed, shared_dataset=None):
        time.sleep(60)


class Incapable(_Other):
    name = "fairgbm"

    def extra_reason(self, task):
        return "it cannot"

    def fit_predict(self, task, shared, own, train, test, n_jobs, seed, shared_dataset=None):
        raise AssertionError


def comparable(results):
    """Return what must be the same in two runs: all but times of day and durations."""
    return [(r.key, r.parameters, r.metrics, r.error) for r in results]


def make_run(task=LOANS, profile=PROFILE, **information):
    """Return what a store says about a task's results."""
    about = {
        "command": "otfairboost benchmark run", "started": "2026-01-01", "python": "3.11", "machine": "any",
        "n_rows": N_ROWS, "n_features": 9, "groups": {"female": 200, "male": 200}, "simulated": False, "data": "Loans.",
    }  # fmt: skip
    return Run(task.name, fingerprint(task, profile, 0, task.load()), {**about, **information})


def make_result(method, configuration, split, values, *, study="search", own=None, error=None, seconds=1.0):
    """Return a stored fit with given metrics: {fold: [metrics, ...]} or the metrics of the split's only fold."""
    if error is None and not isinstance(next(iter(values.values())), list):
        values = {split: [values]}
    parameters = {"shared": {"num_leaves": 20 + configuration}, "own": own or {}, "seed": 1}
    return Result(
        Key(study, method, configuration, split), parameters, values, seconds, seconds, error, "2026-01-01T00:00:00"
    )


def invent_metrics(rng, task=LOANS):
    """Return random metrics of a task."""
    if task.kind == "regression":
        mae = rng.uniform(0.1, 0.2)
        return {"mae": mae, "one_minus_mae": 1 - mae, "mse": mae**2, "ks": rng.uniform(), "w2": rng.uniform(0, 0.3)}
    names = ("pr_auc", "roc_auc", "delta_dp", "delta_max_dp", "delta_eodds_sum", "delta_eodds_max", "disparate_impact")
    return {name: float(rng.uniform(0.1, 0.9)) for name in names}


def invent_results(rng, *, task=LOANS, methods=tuple(METHODS), n_configurations=4, n_folds=3, nested=False):
    """Return a full set of random results."""
    results = []
    for method in methods:
        for configuration in range(n_configurations):
            for fold in range(n_folds):
                results.append(make_result(method, configuration, str(fold), invent_metrics(rng, task)))
            if nested:
                for i in range(n_folds):
                    for j in range(i + 1, n_folds):
                        pair = {str(fold): [invent_metrics(rng, task)] for fold in (i, j)}
                        results.append(make_result(method, configuration, f"{i}+{j}", pair))
        if method.startswith("otfairboost"):
            for index, weight in enumerate((0.5, 5.0)):
                for fold in range(n_folds):
                    own = {"fairness_weight": weight}
                    metrics = invent_metrics(rng, task)
                    results.append(make_result(method, index, str(fold), metrics, study="weights", own=own))
    return results
