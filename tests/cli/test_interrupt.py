"""Ctrl-C: exit code 130, nothing left behind."""

import os
import signal
import subprocess
import sys
import time

from workflow.files import make_loans


def test_interrupted_training_leaves_nothing(tmp_path):
    make_loans(2000).to_csv(tmp_path / "loans.csv", index=False)
    command = [
        sys.executable, "-m", "otfairboost.cli", "train", str(tmp_path / "loans.csv"), "--target", "granted",
        "--sensitive", "sex", "--param", "n_estimators=1000000", "--n-jobs", "1", "--output", str(tmp_path / "m.txt"),
    ]  # fmt: skip
    started = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        # It is training once it has spent this much time of its own.
        deadline = time.monotonic() + 60
        while cpu_seconds(started.pid) < 5 and started.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(started.pid, signal.SIGINT)
        _, errors = started.communicate(timeout=30)
    finally:
        started.kill()
    assert started.returncode == 130
    assert errors.strip().splitlines()[-1] == "error: interrupted; no output was written"
    assert "Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["loans.csv"]


def cpu_seconds(pid):
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system
