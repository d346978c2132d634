"""``otfairboost benchmark``: errors in one line, a whole small run, an interrupt."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from otfairboost.benchmark.profiles import PROFILES
from otfairboost.benchmark.store import Store
from small_data_files import PREPARED_TEXT, write


@pytest.fixture
def data(tmp_path):
    """A folder with a small table of Tennessee, and a file that is not what it should be."""
    header, *rows = PREPARED_TEXT.strip().splitlines()
    write(tmp_path / "data/acsincome_tn/acsincome_tn_2018.csv.gz", "\n".join([header, *rows * 60]) + "\n")
    write(tmp_path / "data/communities_crime/communities.data", "1,2,3\n")
    return tmp_path / "data"


def command(*arguments):
    return [sys.executable, "-m", "otfairboost.cli", "benchmark", *map(str, arguments)]


def call(monkeypatch, capsys, *arguments):
    """Run the command in this process; return its exit code and what it printed."""
    from otfairboost import cli

    monkeypatch.setattr(sys, "argv", ["otfairboost", "benchmark", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    printed = capsys.readouterr()
    return stop.value.code or 0, printed.out, printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "tenessee"), "task='tenessee' is unknown; allowed are tennessee_dp"),
        (("run", "adult_dp", "--methods", "baseline,magic"), "method='magic' is unknown; allowed are baseline"),
        (("run", "adult_dp", "--profile", "huge"), "profile='huge' is not known; allowed are quick, standard, paper"),
        (("run", "adult_dp", "--methods", ","), "methods=',' names none; allowed are baseline"),
        (("report", "--alpha", "2"), "alpha=2.0 is not allowed"),
        (("report", "--store", "absent.sqlite"), "store absent.sqlite does not exist"),
        (("report", "--store", "corrupt.sqlite"), "corrupt.sqlite cannot be read"),
        (("run", "tennessee_dp", "--data-home", "data", "--store", "corrupt.sqlite"), "corrupt.sqlite cannot be read"),
        (("run", "communities_dp", "--data-home", "data"), "communities.data has changed"),
    ],
)
def test_bad_input_is_one_line_and_code_2(monkeypatch, capsys, tmp_path, data, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corrupt.sqlite").write_bytes(b"not a database" * 100)
    code, _, err = call(monkeypatch, capsys, *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "output").exists()


def test_list(monkeypatch, capsys):
    code, out, _ = call(monkeypatch, capsys, "list")
    assert code == 0
    assert all(name in out for name in ("fairjob_dp", "otfairboost_paper", "standard"))


def test_run_and_report(monkeypatch, capsys, tmp_path, data):
    store, output = tmp_path / "results.sqlite", tmp_path / "report"
    small = PROFILES["quick"]._replace(n_configurations=1, fairness_weights=())
    monkeypatch.setitem(PROFILES, "quick", small)
    run = ("run", "tennessee_dp", "--data-home", data, "--store", store, "--methods", "baseline", "--jobs", 1)
    code, out, err = call(monkeypatch, capsys, *run)
    assert (code, err) == (0, "")
    assert re.sub(r"\s+", " ", out).endswith(f"tennessee_dp: 3 fits in {store}; 3 new ")
    code, out, _ = call(monkeypatch, capsys, *run)
    assert "0 new" in out
    code, out, _ = call(monkeypatch, capsys, "report", "--store", store, "--output", output, "--alpha", "0.5")
    assert code == 0
    assert out.strip() == f"report: {output / 'README.md'}"
    page = (output / "README.md").read_text()
    assert "Obj α=0.5" in page
    assert "run tennessee_dp --profile quick --seed 0 --data-home DATA --methods baseline\n" in page
    code, _, err = call(monkeypatch, capsys, *run, "--seed", 1)
    assert code == 2
    assert "never mixed" in err


def test_ctrl_c_stops_cleanly(tmp_path, data):
    store = tmp_path / "results.sqlite"
    run = command("run", "tennessee_dp", "--data-home", data, "--store", store, "--methods", "baseline",
                  "--jobs", 1, "--profile", "paper")  # fmt: skip
    with subprocess.Popen(
        run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while n_results(store) < 1:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.strip() == "stopped; what is finished is stored, the same command goes on"
    assert "Traceback" not in out
    with Store(store) as opened:
        assert all(result.error is None for result in opened.results("tennessee_dp"))


def n_results(path):
    if not path.exists():
        return 0
    try:
        connection = sqlite3.connect(path)
        return connection.execute("SELECT count(*) FROM result").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        connection.close()
