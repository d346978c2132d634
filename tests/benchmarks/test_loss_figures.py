"""A small version of the benchmark, so that it cannot rot; its figures mean nothing."""

import json

import pytest

from benchmarks import losses


@pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
def test_every_loss_is_measured_and_written(tmp_path, capsys):
    figures = losses.main(["--small", "--output", str(tmp_path / "losses.json")])
    written = json.loads((tmp_path / "losses.json").read_text())
    assert [figure["name"] for figure in written["figures"]] == [figure.name for figure in figures]
    limits = {figure.name: figure.limit for figure in figures}
    names = ["regression", "regression_l1", "huber", "fair", "quantile", "mape", "poisson", "gamma", "tweedie"]
    assert all(limits[f"fit_ratio_{name}"] == 1.2 for name in names)
    assert {f"fit_ratio_{name}" for name in losses.VARIANTS} <= set(limits)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line.split()) == 4 for line in lines)
    assert {line.split()[3] for line in lines} <= {"ok", "short", "-"}
    assert losses.Sizes().rows == 300_000
    assert losses.Sizes().features == 30
