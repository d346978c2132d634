"""The results file: whole, readable and never mixed."""

import json
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest

from benchmark_study import make_result, make_run
from otfairboost.benchmark.store import Store, StoreError


@pytest.fixture(scope="module")
def run():
    return make_run()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "results.sqlite"


def test_what_goes_in_comes_out(path, run):
    good = make_result("baseline", 0, "1", {"1": [{"pr_auc": 0.1 + 0.2}, {"pr_auc": 1 / 3}]}, own={"draw": 1e-17})
    bad = make_result("fair_gs", 0, "1", {}, error="ZeroDivisionError: no")
    with Store(path, create=True) as store:
        store.begin(run)
        store.add(run.task, bad)
        store.add(run.task, good)
    with Store(path) as store:
        assert store.runs() == [run]
        assert store.results(run.task) == [good, bad]
        assert store.results("another") == []


def test_a_fit_that_is_done_again_replaces_the_first(path, run):
    with Store(path, create=True) as store:
        store.add(run.task, make_result("baseline", 0, "1", {}, error="timed out"))
        store.add(run.task, make_result("baseline", 0, "1", {"pr_auc": 0.5}))
        assert [result.error for result in store.results(run.task)] == [None]


@pytest.mark.parametrize("name", ["seed", "data", "n_folds", "n_configurations", "timeout", "profile", "max_rows"])
def test_results_of_another_protocol_are_refused(path, run, name):
    other = run._replace(protocol={**run.protocol, name: "other"})
    with Store(path, create=True) as store:
        store.begin(run)
        store.begin(run)
        with pytest.raises(StoreError, match=f'made in another way \\({name} .* there, "other" here'):
            store.begin(other)
        store.begin(other._replace(task="another"))  # each task has a protocol of its own
        assert [known.task for known in store.runs()] == ["another", run.task]


def test_results_of_another_version_are_refused_for_any_task(path, run):
    other = run._replace(task="another", protocol={**run.protocol, "versions": {"otfairboost": "9.9"}})
    with Store(path, create=True) as store:
        store.begin(run)
        with pytest.raises(StoreError, match="versions"):
            store.begin(other)
        assert store.runs() == [run]


def test_a_store_that_does_not_exist_is_not_made_by_reading(path):
    with pytest.raises(StoreError, match="does not exist"):
        Store(path)
    assert not path.exists()


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + bytes(2000)])
def test_another_kind_of_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "x.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="give another"):
        Store(path, create=True)
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_refused(tmp_path):
    path = tmp_path / "x.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE trials (id)")
    connection.close()
    with pytest.raises(StoreError, match="something else"):
        Store(path, create=True)


def test_another_format_is_refused(path):
    Store(path, create=True).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="format 99"):
        Store(path)


def test_a_damaged_store_is_refused(path, run):
    with Store(path, create=True) as store:
        store.begin(run)
        for configuration in range(200):
            store.add(run.task, make_result("baseline", configuration, "0", {"pr_auc": 0.5}))
    content = bytearray(path.read_bytes())
    content[8192:20480] = b"\xff" * 12288
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged"):
        Store(path)


def test_folders_and_places_without_permission_are_refused(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path, create=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "file" / "x.sqlite", create=True)


def test_a_full_disk_costs_one_row(path, run):
    with Store(path, create=True) as store:
        store.begin(run)
        store.add(run.task, make_result("baseline", 0, "0", {"pr_auc": 0.5}))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))  # no file may grow
        try:
            with pytest.raises(StoreError, match="cannot be written"):
                store.add(run.task, make_result("baseline", 1, "0", {"pr_auc": "x" * 100_000}))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        assert len(store.results(run.task)) == 1
        store.add(run.task, make_result("baseline", 1, "0", {"pr_auc": 0.25}))  # there is room again
    with Store(path) as store:
        assert [result.metrics["0"][0]["pr_auc"] for result in store.results(run.task)] == [0.5, 0.25]


def test_sqlite_names_a_full_disk(path, run):
    with Store(path, create=True) as store:
        store.begin(run)
        store._connection.execute(f"PRAGMA max_page_count = {store._value('PRAGMA page_count')}")
        with pytest.raises(StoreError, match=r"full.*free some space and run the same command again"):
            store.add(run.task, make_result("baseline", 0, "0", {"pr_auc": "x" * 100_000}))
        assert store.results(run.task) == []


def test_killed_in_the_middle_of_a_write(path, run):
    with Store(path, create=True) as store:
        store.begin(run)
        store.add(run.task, make_result("baseline", 0, "0", {"pr_auc": 0.5}))
    code = f"""
import os, signal, sqlite3
connection = sqlite3.connect({str(path)!r}, isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # changed pages reach the file before the end of the transaction
connection.execute("BEGIN")
for i in range(500):
    connection.execute("INSERT INTO result VALUES ('t', 's', 'm', ?, '0', '{{}}', '{{}}', 1, 1, NULL, '')", (i,))
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.with_name(path.name + "-journal").exists()
    with Store(path) as store:
        assert len(store.results(run.task)) == 1
        assert store.results("t") == []


def test_protocols_survive_the_way_through_json(run):
    assert json.loads(json.dumps(run.protocol)) == run.protocol
