"""A small version of the benchmark, so that it cannot rot; its figures mean nothing."""

import json

import pytest
from benchmarks.figures import Figure

from benchmarks import core


def test_every_figure_is_measured_and_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(core.__file__.rsplit("/", 2)[0])  # its subprocesses import the package of benchmarks
    figures = core.main(["--small", "--output", str(tmp_path / "bench.json")])
    written = json.loads((tmp_path / "bench.json").read_text())
    assert [figure["name"] for figure in written["figures"]] == [figure.name for figure in figures]
    assert {figure.name for figure in figures} >= {
        "fit_ratio_many_rows",
        "fit_ratio_few_rows",
        "fit_ratio_equalized_odds_5_groups",
        "time_per_row_growth",
        "extra_bytes_per_row",
        "histogram_error_smooth",
        "histogram_speed_over_exact",
        "first_fit_extra_seconds_cold",
        "first_fit_extra_seconds_warm",
    }
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line.split()) == 4 for line in lines)
    assert {line.split()[3] for line in lines} <= {"ok", "short", "-"}


@pytest.mark.parametrize(
    ("figure", "line"),
    [
        (Figure("ratio", 1.05, 1.1), "ratio 1.05 <=1.1 ok"),
        (Figure("ratio", 1.15, 1.1), "ratio 1.15 <=1.1 short"),
        (Figure("speed", 6.0, 5, at_least=True), "speed 6 >=5 ok"),
        (Figure("speed", 4.0, 5, at_least=True), "speed 4 >=5 short"),
        (Figure("seen", 3.0, None), "seen 3 - -"),
    ],
)
def test_verdicts(figure, line):
    assert figure.line() == line
