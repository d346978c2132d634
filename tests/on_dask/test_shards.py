"""Rows that workers already have, under XGBoost's own collective: here a worker is a thread."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

from on_dask.clustered import make_table
from otfairboost import FairLGBMClassifier, FairXGBClassifier, FairXGBRegressor
from otfairboost.distributed import fit_shard

SMALL = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1, "verbosity": 0}
TABLE = make_table(1500)
SORTED = TABLE.take(np.argsort(TABLE.groups, kind="stable"))


def run(n_workers, work):
    """Return [work(index) of each worker], or raise what one of them raised."""
    tracker = RabitTracker(n_workers=n_workers, host_ip="127.0.0.1", timeout=60)
    tracker.start()
    waiting = threading.Thread(target=tracker.wait_for, daemon=True)
    waiting.start()

    def start(index):
        with CommunicatorContext(**tracker.worker_args(), dmlc_timeout=30, DMLC_TASK_ID=str(index)):
            return work(index)

    with ThreadPoolExecutor(n_workers) as pool:
        results = list(pool.map(start, range(n_workers)))
    waiting.join(30)
    return results


@pytest.mark.parametrize(("kind", "target"), [(FairXGBClassifier, "y"), (FairXGBRegressor, "wage")])
def test_trees_are_those_of_one_machine(kind, target):
    alone = kind(**SMALL).fit(TABLE.X, getattr(TABLE, target), sensitive_features=TABLE.groups)
    bounds = [0, 600, 600, 1500]  # the second has no rows

    def work(index):
        part = SORTED.take(slice(bounds[index], bounds[index + 1]))
        return fit_shard(kind(**SMALL), part.X, getattr(part, target), sensitive_features=part.groups)

    for model in run(3, work):
        assert sorted(model.rows_per_worker_) == [0, 600, 900]
        assert model.groups_ == ("a", "b")
        np.testing.assert_allclose(
            model.predict(TABLE.X, output_margin=True), alone.predict(TABLE.X, output_margin=True), atol=1e-4
        )


def test_all_workers_hear_of_one_workers_rows():
    def work(index):
        part = TABLE.take(slice(0, 100))
        groups = part.groups if index == 0 else part.groups[:-1]
        with pytest.raises(ValueError, match="worker 1: sensitive_features has 99 rows, but X has 100"):
            fit_shard(FairXGBClassifier(**SMALL), part.X, part.y, sensitive_features=groups)

    run(2, work)


@pytest.mark.parametrize(
    ("estimator", "kind", "message"),
    [
        (FairLGBMClassifier(), TypeError, "estimator is a FairLGBMClassifier; allowed are FairXGBClassifier and"),
        (FairXGBClassifier(transport="kde"), ValueError, "transport='kde' needs all rows in one place"),
        (FairXGBClassifier(fairness_weight=0), ValueError, "fairness_weight=0: fit_shard trains with a penalty"),
        (FairXGBRegressor(objective="reg:absoluteerror"), ValueError, "objective='reg:absoluteerror' is not available"),
    ],
)
def test_what_cannot_be_trained(estimator, kind, message):
    with pytest.raises(kind, match=message):
        fit_shard(estimator, TABLE.X, TABLE.y, sensitive_features=TABLE.groups)
