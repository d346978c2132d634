"""A small version of the benchmark, so that it cannot rot; its figures mean nothing."""

import json

import pytest

from benchmarks import multiclass


@pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
def test_every_figure_is_measured_and_written(tmp_path, capsys):
    figures = multiclass.main(["--small", "--output", str(tmp_path / "bench.json")])
    written = json.loads((tmp_path / "bench.json").read_text())
    assert [figure["name"] for figure in written["figures"]] == [figure.name for figure in figures]
    assert [figure.name for figure in figures] == ["fit_ratio_multiclass", "fit_ratio_multiclass_equalized_odds"]
    assert figures[0].limit == 1.35
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line.split()) == 4 for line in lines)
