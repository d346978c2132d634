"""A small version of the benchmark of distributed training, so that it cannot rot; its figures mean nothing."""

import json

import pytest

pytest.importorskip("distributed")
from benchmarks import distributed


def test_figures_are_measured_and_written(tmp_path, capsys):
    """Kills have tests of their own, and the memory of many rows is a plain fit."""
    figures = distributed.main(
        ["--small", "--only", "overhead", "traffic", "--output", str(tmp_path / "distributed.json")]
    )
    written = json.loads((tmp_path / "distributed.json").read_text())
    assert [figure["name"] for figure in written["figures"]] == [figure.name for figure in figures]
    found = {figure.name: figure.value for figure in figures}
    few, many = distributed.SMALL.traffic_rows
    few_bytes, many_bytes = (found[f"bytes_per_round_{n}_rows"] for n in (few, many))
    assert many_bytes == pytest.approx(few_bytes, rel=0.1)  # cells without rows have one bin
    assert (
        found["calculated_milliseconds_per_round_1000_workers"] > found["calculated_milliseconds_per_round_10_workers"]
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if line.split() and not line.startswith("[")]
    assert all(len(line.split()) == 4 for line in lines)
