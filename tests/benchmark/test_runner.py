"""Whole runs: repeatable, resumable, and stopped by nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmark_study import (
    AMOUNTS,
    LOANS,
    ODDS,
    PROFILE,
    Crashing,
    Few,
    Hanging,
    Incapable,
    Raising,
    Slow,
    comparable,
)
from otfairboost.benchmark import runner
from otfairboost.benchmark.fitting import Fitter
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.protocol import Unit, plan
from otfairboost.benchmark.runner import run_task
from otfairboost.benchmark.store import Store, StoreError
from otfairboost.benchmark.tasks import get_task
from otfairboost.datasets import ChecksumError
from small_data_files import write

TESTS = Path(__file__).parents[1]

SCRIPT = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from benchmark_study import LOANS, PROFILE, Few, Slow
from otfairboost.benchmark.runner import run_task
if __name__ == "__main__":
    run_task(LOANS, [Few(), Slow()], PROFILE, sys.argv[1], n_jobs=1)
"""


def read(path):
    with Store(path) as store:
        return store.results(LOANS.name)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The results of a run in one piece, on one core."""
    path = tmp_path_factory.mktemp("run") / "results.sqlite"
    seen = []
    summary = run_task(LOANS, [Few(), Slow(), Incapable()], PROFILE, path, n_jobs=1, on_progress=seen.append)
    assert summary == (18, 0, 18)
    assert [progress.done for progress in seen] == list(range(19))
    assert seen[0].remaining_seconds is None
    assert seen[-1].remaining_seconds == 0
    assert all(later.remaining_seconds > 0 for later in seen[1:-1])
    return path


def test_killed_and_started_again_it_ends_with_the_same_results(tmp_path, undisturbed):
    script, path = tmp_path / "script.py", tmp_path / "results.sqlite"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(path)]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + 60
        while not path.exists() or len(read_if_ready(path)) < 2:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    half = read(path)
    assert 2 <= len(half) < 18
    assert run_task(LOANS, [Few(), Slow()], PROFILE, path, n_jobs=2) == (18, 0, 18 - len(half))
    # Another number of cores, another order, a break: the same bits.
    assert comparable(read(path)) == comparable(read(undisturbed))


def read_if_ready(path):
    try:
        return read(path)
    except StoreError:  # made, but still empty
        return []


def test_nothing_is_done_twice(undisturbed):
    assert run_task(LOANS, [Few(), Slow()], PROFILE, undisturbed, n_jobs=1) == (18, 0, 0)


class Wider(Few):
    """Draws other parameters than it did when the results were made."""

    def sample(self, rng, task):
        return {**super().sample(rng, task), "fairness_weight": 123.0}


def test_a_changed_search_space_is_refused(undisturbed):
    before = read(undisturbed)
    with pytest.raises(StoreError, match=r"other parameters than this version tries .*123\.0.* never mixed"):
        run_task(LOANS, [Wider(), Slow()], PROFILE, undisturbed, n_jobs=1)
    assert read(undisturbed) == before


def test_another_seed_or_profile_is_refused(undisturbed):
    before = undisturbed.read_bytes()
    with pytest.raises(StoreError, match="seed 0 there, 1 here"):
        run_task(LOANS, [Few()], PROFILE, undisturbed, seed=1)
    with pytest.raises(StoreError, match="n_folds 3 there, 4 here"):
        run_task(LOANS, [Few()], PROFILE._replace(n_folds=4), undisturbed)
    assert undisturbed.read_bytes() == before


def test_failures_are_recorded_and_stop_nothing(tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    profile = PROFILE._replace(n_configurations=1, timeout=10.0, fairness_weights=())

    def plan_first_fold(*arguments, **keywords):  # every crash and timeout costs the start of a process
        return [unit for unit in plan(*arguments, **keywords) if unit.key.split == "0"]

    monkeypatch.setattr(runner, "plan", plan_first_fold)
    methods = [Raising(), Crashing(), Hanging(), Few()]
    assert run_task(LOANS, methods, profile, path, n_jobs=1) == (4, 3, 4)
    errors = {result.key.method: result.error for result in read(path)}
    assert errors["fair_gs"].endswith("ZeroDivisionError: no such luck")
    assert errors["fair_eg"] == "the process ended with exit code 7"
    assert errors["w1_post"] == "timed out after 10 seconds"
    assert errors["baseline"] is None
    assert run_task(LOANS, methods, profile, path) == (4, 3, 0)  # not tried again
    assert run_task(LOANS, [Raising()], profile, path, retry_failed=True) == (1, 1, 1)  # unless asked to


def test_changed_data_leave_no_store(tmp_path):
    write(tmp_path / "communities_crime/communities.data", "1,2,3\n")
    with pytest.raises(ChecksumError, match=r"communities\.data has changed"):
        run_task(get_task("communities_dp"), [Few()], PROFILE, tmp_path / "x.sqlite", data_home=tmp_path)
    assert not (tmp_path / "x.sqlite").exists()


def make_small(unit):
    """Return the same fit with few trees."""
    own = {name: min(value, 3) if name in {"grid_size", "max_iter"} else value for name, value in unit.own.items()}
    return Unit(unit.key, {**unit.shared, "n_estimators": 5}, own, unit.seed)


@pytest.mark.parametrize("task", [LOANS, ODDS, AMOUNTS], ids=lambda task: task.title)
def test_every_method_runs(task):
    able = [method for method in METHODS.values() if method.extra_reason(task) is None]
    profile = PROFILE._replace(n_configurations=1, fairness_weights=(), n_folds=3)
    fitter = Fitter(task, able, profile, None, seed=0, n_jobs=1)
    tried = set()
    for unit in plan(task, able, profile, 0):
        if unit.key.split == "0":
            measured = fitter(make_small(unit))
            tried.add(unit.key.method)
            main = measured.metrics["0"][0]
            assert 0 <= main[task.performance] <= 1
            assert 0 <= main[task.gap] <= 1.5
            assert measured.fit_seconds > 0
            assert measured == fitter(make_small(unit))._replace(
                fit_seconds=measured.fit_seconds, cpu_seconds=measured.cpu_seconds
            )
    assert tried == {method.name for method in able}
    assert {"baseline", "otfairboost_paper", "otfairboost"} <= tried


def test_inner_splits_fit_on_the_rows_outside_both_folds():
    fitter = Fitter(LOANS, [Few()], PROFILE, None, seed=0, n_jobs=1)
    seen = []

    class Spy(Few):
        def fit_predict(self, task, shared, own, train, test, *rest):
            seen.append((len(train.y), len(test.y), set(train.X.index) & set(test.X.index)))
            return super().fit_predict(task, shared, own, train, test, *rest)

    fitter.methods = {"baseline": Spy()}
    unit = next(unit for unit in plan(LOANS, [Few()], PROFILE, 0, nested=True) if unit.key.split == "0+2")
    metrics = fitter(unit).metrics
    fold_rows = [(fitter.folds == fold).sum() for fold in range(3)]
    assert seen == [(fold_rows[1], fold_rows[0] + fold_rows[2], set())]
    assert metrics.keys() == {"0", "2"}
    assert metrics["0"] != metrics["2"]
    assert len(metrics["0"]) == 3  # the prediction, and the two members of its frontier
