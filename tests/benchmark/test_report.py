"""Reports from stored results, whole and partial."""

import csv
import re

import numpy as np
import pytest

from benchmark_study import AMOUNTS, LOANS, ODDS, invent_results, make_result, make_run
from otfairboost.benchmark.figures import scatter_info, weight_curves_info
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.report import write_report
from otfairboost.benchmark.results import TaskResults
from otfairboost.benchmark.store import Store, StoreError


def fill(path, tasks, keep=lambda result: True, **information):
    with Store(path, create=True) as store:
        for task in tasks:
            store.begin(make_run(task, **information))
            for result in invent_results(np.random.default_rng(1), task=task, n_configurations=2):
                if keep(result):
                    store.add(task.name, result)
    return path


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_full_store(tmp_path):
    page = write_report(fill(tmp_path / "s.sqlite", [ODDS, AMOUNTS]), tmp_path / "report")
    text = page.read_text()
    assert "artial" not in text
    assert "otfairboost benchmark run" in text
    assert "--methods" not in text
    assert "lightgbm 4" in text
    assert text.count("## Objective at α = 0.75, and the gain over the baseline") == 1
    links = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert [link.removeprefix("figures/") for link in links] == [
        "tennessee_eodds_scatter.png", "tennessee_eodds_weights.png", "communities_dp_scatter.png",
        "communities_dp_weights.png", "appendix_scatter.png",
    ]  # fmt: skip
    assert all((page.parent / link).stat().st_size > 10_000 for link in links)
    assert all((page.parent / link).with_suffix(".svg").read_text().startswith("<?xml") for link in links)
    rows = read_csv(page.parent / "tables.csv")
    assert {row["source"] for row in rows} == {"same folds", "other folds", "paper", "difference"}
    assert {row["task"] for row in rows} == {"tennessee_eodds", "communities_dp"}
    configurations = read_csv(page.parent / "configurations.csv")
    assert len(configurations) == 2 * (len(METHODS) * 2 + 2 * 2)
    chosen = max(
        (
            r
            for r in configurations
            if (r["task"], r["method"], r["study"]) == ("tennessee_eodds", "baseline", "search")
        ),
        key=lambda row: float(row["objective"]),
    )
    shown = next(r for r in rows if (r["method"], r["metric"], r["source"]) == ("baseline", "objective", "same folds"))
    assert float(shown["mean"]) == pytest.approx(100 * float(chosen["objective"]))
    assert shown["configurations"].split() == [chosen["configuration"]] * 3


def test_the_command_names_the_methods_where_some_are_missing(tmp_path):
    path = fill(tmp_path / "s.sqlite", [LOANS], lambda result: result.key.method in ("baseline", "otfairboost"))
    (line,) = re.findall(r"^    otfairboost benchmark run.*$", write_report(path, tmp_path / "r").read_text(), re.M)
    assert line.endswith(" --methods baseline,otfairboost")


def test_the_same_store_gives_the_same_files(tmp_path):
    path = fill(tmp_path / "s.sqlite", [LOANS])
    first, second = (write_report(path, tmp_path / name).parent for name in "ab")
    for file in sorted(first.rglob("*.*")):
        assert file.read_bytes() == (second / file.relative_to(first)).read_bytes(), file


def test_a_partial_store_is_marked(tmp_path):
    path = fill(
        tmp_path / "s.sqlite", [LOANS],
        keep=lambda r: r.key.configuration == 0 and (r.key.method, r.key.split) != ("baseline", "1"), simulated=True,
    )  # fmt: skip
    text = write_report(path, tmp_path / "report").read_text()
    assert "**Partial: the runs of tennessee_dp are not finished.**" in text
    assert "## Loans" not in text  # the title is that of the task of this name
    assert "(simulated data, partial)" in text
    assert "0 of 2" in text
    assert "1 of 2" in text


def test_one_finished_fit_is_enough_and_none_is_not(tmp_path):
    path = fill(tmp_path / "s.sqlite", [LOANS], keep=lambda r: False)
    with pytest.raises(StoreError, match="holds no finished fit yet"):
        write_report(path, tmp_path / "report")
    assert not (tmp_path / "report").exists()
    with Store(path) as store:
        store.add(LOANS.name, make_result("baseline", 0, "0", {}, error="Traceback\nValueError: `no`"))
    text = write_report(path, tmp_path / "report").read_text()
    assert "1 failed fits, the last: `ValueError: no`" in text


def test_bad_arguments(tmp_path):
    path = fill(tmp_path / "s.sqlite", [LOANS])
    with pytest.raises(ValueError, match=r"alpha=1.5 is not allowed"):
        write_report(path, tmp_path / "report", alpha=1.5)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        write_report(path, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    with Store(tmp_path / "t.sqlite", create=True) as store:
        store.begin(make_run()._replace(task="elsewhere"))
    with pytest.raises(StoreError, match="unknown tasks: elsewhere"):
        write_report(tmp_path / "t.sqlite", tmp_path / "report")


class TestFigures:
    @pytest.mark.parametrize("task", [LOANS, AMOUNTS], ids=lambda task: task.title)
    def test_scatter_shows_all_and_the_front(self, task):
        results = TaskResults(
            task, make_run(task), invent_results(np.random.default_rng(3), task=task, n_configurations=9)
        )
        info = scatter_info(results, list(METHODS))
        assert [series.emphasis for series in info.series].count(True) == 1
        assert info.x_is_good == (task is LOANS)
        sign = 1 if info.x_is_good else -1
        for series in info.series:
            assert len(series.points) == 9
            front = {tuple(point) for point in series.front}
            for x, y in series.points:
                beaten = any((a - x) * sign >= 0 and b <= y and (a, b) != (x, y) for a, b in series.points)
                assert ((x, y) in front) != beaten
            assert (np.diff(series.front[:, 0]) > 0).all()

    def test_curves_have_the_weights_all_share(self):
        results = invent_results(np.random.default_rng(3))
        extra = [
            make_result(
                "otfairboost", 2, str(fold), results[0].metrics["0"][0], study="weights", own={"fairness_weight": 9}
            )
            for fold in range(3)
        ]
        info = weight_curves_info(TaskResults(LOANS, make_run(), results + extra), list(METHODS))
        assert info.weights.tolist() == [0.5, 5.0]
        assert [panel.label for panel in info.panels] == ["PR AUC", "ROC AUC", "ΔDP"]
        panel = info.panels[2]
        assert [curve.label for curve in panel.curves] == ["OT-FairBoost (paper's form)", "OT-FairBoost (ours)"]
        of_fold = [r.metrics[r.key.split][0]["delta_dp"] for r in results if r.key[:3] == ("weights", "otfairboost", 1)]
        assert panel.curves[1].mean[1] == pytest.approx(100 * np.mean(of_fold))
        assert panel.curves[1].deviation[1] == pytest.approx(100 * np.std(of_fold))
        assert len(panel.references) == len(METHODS) - 2
        baseline = [r.metrics[r.key.split][0]["delta_dp"] for r in results if r.key[:3] == ("search", "baseline", 0)]
        assert panel.references[0].value == pytest.approx(100 * np.mean(baseline))

    def test_no_curves_without_weights(self):
        results = [r for r in invent_results(np.random.default_rng(3)) if r.key.study == "search"]
        assert weight_curves_info(TaskResults(LOANS, make_run(), results), list(METHODS)) is None
