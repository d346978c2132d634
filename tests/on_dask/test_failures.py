"""A worker that dies or freezes: the client hears of it, in words and in time, and can train again."""

import os
import signal
import time

import numpy as np
import pytest
from benchmarks.faults import plant
from xgboost.collective import Config
from xgboost.core import XGBoostError

from on_dask.clustered import make_table, spread
from otfairboost.distributed import DaskFairXGBClassifier, WorkerLostError
from otfairboost.distributed.failures import explain, list_workers

TABLE = make_table(20_000)


def make_model(timeout=60):
    # A tracker whose workers are gone says so, when its own time is over, to whichever test then runs.
    return DaskFairXGBClassifier(
        n_estimators=8, max_depth=6, n_jobs=1, verbosity=0, coll_cfg=Config(timeout=timeout, tracker_timeout=3600)
    )


def fit(client, model, workers):
    rows = spread(client, TABLE, [12_000, 8_000], workers[:2])
    return model.fit(rows.X, rows.y, sensitive_features=rows.groups, verbose=False)


@pytest.mark.parametrize("fault", ["kill_in_objective", "kill_in_tree"])
def test_a_killed_worker_is_named_and_the_next_fit_works(client, workers, fault):
    model = fit(client, make_model(), workers)  # and everything is compiled
    before = model.get_booster()
    client.run(plant, fault, workers=[workers[1]])
    started = time.monotonic()
    with pytest.raises(WorkerLostError, match=f"worker {workers[1]} was lost during training: killed, out of memory"):
        fit(client, model, workers)
    assert time.monotonic() - started < 10
    assert model.get_booster() is before
    client.wait_for_workers(4, timeout=60)
    now = sorted(list_workers(client))
    again = fit(client, make_model(), now)
    assert sorted(again.rows_per_worker_) == [8000, 12_000]
    assert again.get_booster().num_boosted_rounds() == 8


def test_a_frozen_worker_is_named_at_the_timeout(client, workers):
    timeout = 4
    (pid,) = client.run(plant, "freeze", workers=[workers[1]]).values()
    started = time.monotonic()
    try:
        with pytest.raises(WorkerLostError, match=f"did not answer within {timeout} s, the timeout of coll_cfg"):
            fit(client, make_model(timeout), workers)
        assert timeout <= time.monotonic() - started < 4 * timeout
    finally:
        os.kill(pid, signal.SIGKILL)  # a frozen worker would hold up those that come after; a new one is started
    while workers[1] in list_workers(client):
        time.sleep(0.05)


def test_the_error_of_one_worker_is_heard_though_the_others_were_first(client, workers):
    def fail():
        from otfairboost.distributed import worker

        worker._ERRORS["run"] = FloatingPointError("training diverged")

    client.run(fail, workers=[workers[1]])
    broken = XGBoostError("[coll.cc:38] Ring allreduce failed")
    assert str(explain(broken, client, workers[:2], 1.0, "run")) == "training diverged"
    assert "the connection between workers broke" in str(explain(broken, client, workers[:2], 1.0, "run"))


def test_other_errors_stay_as_they_are(client, workers):
    error = FloatingPointError("training diverged")
    assert explain(error, client, workers, 1.0, "run") is error


def test_faults_are_planted_on_workers_alone():
    from otfairboost.objective import FairObjective

    assert FairObjective.derivatives.__module__ == "otfairboost.objective"
    assert len(np.unique(TABLE.groups)) == 2
