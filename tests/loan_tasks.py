"""Small tasks of the benchmark's form, on generated loan applications."""

import numpy as np

from otfairboost.benchmark.tasks import Task
from otfairboost.datasets import Dataset, make_loan_applications

SMALL = {"n_estimators": 20, "num_leaves": 15, "learning_rate": 0.1}


def loan_data(n_rows=2000, *, regression=False, n_groups=2):
    """Return loan applications as a data set; sex is among the features, and ``group`` has n_groups values."""
    import pandas as pd

    loans = make_loan_applications(n_rows, random_state=0)
    features = pd.DataFrame(loans.X, columns=list(loans.feature_names))
    features["male"] = (loans.sensitive_features == "male").astype(float)
    group = loans.sensitive_features.astype(object)
    if n_groups > 2:
        group = np.where(np.random.default_rng(0).random(n_rows) < 0.3, "third", group).astype(object)
    features["third"] = (group == "third").astype(float)
    target = np.log(features.pop("income")) if regression else pd.Series(loans.y)
    return Dataset(
        name="loans", task="regression" if regression else "classification", features=features, target=target,
        sensitive_features=pd.DataFrame({"group": group}), description="Loans.", preprocessing="None.",
        licence="", citation="", source="",
    )  # fmt: skip


def loan_task(*, n_groups=2, **changes):
    """Return a task on the loans; keywords replace fields of the task."""
    fields = {
        "name": "loans", "title": "Loans", "kind": "classification", "criterion": "demographic_parity",
        "attribute": "group", "performance": "pr_auc", "gap": "delta_dp", "multi_group": n_groups > 2,
    } | changes  # fmt: skip
    regression = fields["kind"] == "regression"
    return Task(loader=lambda home, max_rows: loan_data(regression=regression, n_groups=n_groups), **fields)


TASKS = {
    "dp": loan_task(),
    "eodds": loan_task(criterion="equalized_odds", gap="delta_eodds_sum"),
    "groups": loan_task(n_groups=3, gap="delta_max_dp"),
    "regression": loan_task(kind="regression", performance="one_minus_mae", gap="w2"),
    "balanced": loan_task(balanced=True, configurations="default", fairness_weight=10.0),
}


def split(task):
    """Return training and test rows."""
    data = task.load()
    index = np.arange(len(data.y))
    return data.take(index[index % 3 != 0]), data.take(index[index % 3 == 0])
