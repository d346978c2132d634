"""Small versions of the frontier's and the target's benchmarks; their figures mean nothing."""

import json

import pytest

from benchmarks import frontier, target_gap
from small_data_files import acs_text, write


def test_every_figure_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(frontier.__file__.rsplit("/", 2)[0])  # its subprocesses import the package of benchmarks
    figures = frontier.main(["--small", "--output", str(tmp_path / "frontier.json")])
    written = json.loads((tmp_path / "frontier.json").read_text())
    assert [figure["name"] for figure in written["figures"]] == [figure.name for figure in figures]
    assert {figure.name: figure.limit for figure in figures} == {
        "frontier_over_single_fits": 1.15,
        "frontier_memory_growth": 1.1,
        "targets_within_8_fits": 0.9,
        "mean_fits_of_a_target": None,
    }


@pytest.fixture
def arguments(tmp_path):
    write(tmp_path / "data" / "acsincome_tn" / "acsincome_tn_2018.csv.gz", acs_text(1500))
    return [
        "--data", "tennessee", "--data-home", str(tmp_path / "data"), "--trees", "5", "--folds", "2", "--n-jobs", "1",
        "--records", str(tmp_path / "records.json"), "--output", str(tmp_path / "page.md"),
    ]  # fmt: skip


def test_targets_are_measured_on_test_rows_and_splits_are_kept(tmp_path, arguments, monkeypatch):
    (line, stricter) = target_gap.main([*arguments, "--splits", "2"])
    assert (line.data, line.target, line.splits) == ("tennessee", 0.05, 2)
    assert stricter.target == 0.02
    assert "| tennessee | 0.05 | 2 | " in (tmp_path / "page.md").read_text()
    records = json.loads((tmp_path / "records.json").read_text())["records"]["tennessee"]
    assert [record["seed"] for record in records] == [0, 1]
    assert [fixed["weight"] for fixed in records[0]["fixed"]] == list(target_gap.WEIGHTS)

    seeds = []
    run_split = target_gap.run_split
    monkeypatch.setattr(
        target_gap, "run_split", lambda data, seed, *rest: seeds.append(seed) or run_split(data, seed, *rest)
    )
    target_gap.main([*arguments, "--splits", "3"])
    assert seeds == [2]
    with pytest.raises(SystemExit, match="holds splits with other settings"):
        target_gap.main([*arguments, "--splits", "3", "--trees", "6"])


def test_shares_are_counted_by_hand():
    def record(gap, low):
        return {
            "targets": {"0.05": {"gap": gap, "gap_low": low, "pr_auc": 0.7, "n_weights_tried": 4}},
            "fixed": [{"gap": 0.2 - 0.02 * i, "pr_auc": 0.9 - 0.02 * i} for i in range(len(target_gap.WEIGHTS))],
        }

    records = [record(0.04, 0.03), record(0.06, 0.045), record(0.08, 0.07)]
    records.append({**record(0.0, 0.0), "targets": {"0.05": {"error": "not reached"}}})
    summary = target_gap.summarise("data", 0.05, records)
    assert (summary.splits, summary.reached, summary.most_tried) == (4, 3, 4)
    assert (summary.within, summary.within_or_error) == pytest.approx((1 / 3, 2 / 3))
    assert summary.gap == pytest.approx(0.06)
    assert summary.pr_auc_fixed == pytest.approx(0.76)  # the curve is PR AUC = gap + 0.7, from a gap of 0.06 on
