"""Worker processes: what fails costs one item."""

import os

import pytest

import benchmark_work
from otfairboost.benchmark.workers import Outcome, WorkerError, work_off


def run(items, prepare=benchmark_work.prepare, n_workers=1, timeout=30.0):
    return dict(work_off(items, prepare, n_workers=n_workers, n_threads=3, timeout=timeout))


def test_errors_crashes_and_timeouts_cost_one_item_each():
    before = os.environ.get("OMP_NUM_THREADS")
    found = run(["a", "raise", "exit", "hang", "b", "kill", "c"], n_workers=2, timeout=1.0)
    assert [found[item] for item in "abc"] == [Outcome((item, True, "3", "PASSIVE")) for item in "abc"]
    assert found["raise"].error.splitlines()[-1] == "KeyError: 'not here'"
    assert found["exit"].error == "the process ended with exit code 3"
    assert found["kill"].error == "the process was ended by signal 9 (SIGKILL)"
    assert found["hang"].error == "timed out after 1 seconds"
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_items_are_begun_in_order_and_left_when_nobody_listens_any_more():
    items = [*range(20), "", "hang"]
    outcomes = work_off(items, benchmark_work.prepare, n_workers=1, n_threads=1, timeout=30)
    assert [next(outcomes)[0] for _ in range(21)] == items[:-1]
    outcomes.close()  # as an interrupt does; the last one would otherwise keep us for a minute


def test_no_items_need_no_process():
    assert run([], benchmark_work.fail_to_prepare) == {}


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (benchmark_work.fail_to_prepare, "could not begin: FileNotFoundError: no data there"),
        (benchmark_work.die_while_preparing, "ended with exit code 5 before it could begin"),
    ],
)
def test_a_worker_that_cannot_begin_ends_the_run(prepare, message):
    with pytest.raises(WorkerError, match=message):
        run(["a"], prepare)
