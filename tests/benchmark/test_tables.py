"""Tables: the paper's figures beside ours, times and fronts."""

import numpy as np
import pytest

from benchmark_study import AMOUNTS, LOANS, ODDS, invent_results, make_result, make_run
from otfairboost.benchmark import markdown
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.results import TaskResults
from otfairboost.benchmark.tables import comparison, method_time, paper_figure, paper_time_ratio, standing


@pytest.fixture(scope="module")
def run():
    return make_run()


def constant(method, configuration, pr_auc, gap, **more):
    metrics = {"pr_auc": pr_auc, "roc_auc": 0.9, "delta_dp": gap}
    return [make_result(method, configuration, str(fold), metrics, **more) for fold in range(3)]


def test_difference_is_ours_by_the_papers_rule_minus_the_papers(run):
    results = TaskResults(LOANS, run, constant("otfairboost", 0, 0.80, 0.02) + constant("otfairboost", 1, 0.70, 0.0))
    found = {(e.metric, e.source): e for e in comparison(results, ["otfairboost"], 0.75)}
    assert found["pr_auc", "same folds"].mean == pytest.approx(80.0)
    assert found["pr_auc", "same folds"].configurations == (0, 0, 0)
    assert found["pr_auc", "paper"][3:5] == (75.6, 1.1)
    assert found["pr_auc", "difference"].mean == pytest.approx(4.4)
    assert found["objective", "same folds"].mean == pytest.approx(75 * 0.8 + 25 * 0.98)
    assert found["objective", "difference"].mean == pytest.approx(75 * 0.8 + 25 * 0.98 - 81.4)
    assert ("pr_auc", "nested") not in found


def test_the_papers_objective_is_for_its_alpha_alone(run):
    results = TaskResults(LOANS, run, constant("baseline", 0, 0.8, 0.1))
    found = {(e.metric, e.source) for e in comparison(results, ["baseline"], 0.5)}
    assert ("pr_auc", "paper") in found
    assert ("objective", "paper") not in found
    assert paper_figure("tennessee_dp", "fair_xgboost", "pr_auc", 0.75) is None
    assert paper_figure("adult_dp", "baseline", "pr_auc", 0.75) is None


def test_times_are_paired_with_the_baselines_fit_of_the_same_fold(run):
    results = []
    for fold, (plain, ours) in enumerate([(1.0, 2.0), (10.0, 30.0), (100.0, 100.0)]):
        results.append(make_result("baseline", 0, str(fold), {"pr_auc": 0.5}, seconds=plain))
        results.append(make_result("otfairboost", 0, str(fold), {"pr_auc": 0.5}, seconds=ours))
    # In later configurations some methods are spared the binning; inner splits have fewer rows.
    results += constant("otfairboost", 1, 0.8, 0.1, seconds=1e6)
    results.append(make_result("otfairboost", 0, "0+1", {"0": [{}], "1": [{}]}, seconds=1e6))
    time = method_time(TaskResults(LOANS, run, results), "otfairboost")
    assert time.ratio == pytest.approx(2.0)
    assert time.seconds == 30.0
    assert method_time(TaskResults(LOANS, run, results), "fair_gs") is None
    assert method_time(TaskResults(LOANS, run, results[1:2]), "otfairboost").ratio is None
    assert paper_time_ratio("fairjob_dp", "otfairboost") == pytest.approx(243.2 / 12.3)


def test_standing_counts_the_area_of_all_that_was_reached(run):
    results = constant("baseline", 0, 0.8, 0.5) + constant("baseline", 1, 0.6, 0.0)
    results += [make_result("baseline", 2, "0", {}, error="no")]
    found = standing(TaskResults(LOANS, run, results), "baseline")
    assert found.volume == pytest.approx(100 * (0.8 * 0.5 + 0.6 * 0.5))
    assert (found.complete, found.planned, found.failed) == (2, 2, 1)


@pytest.mark.parametrize("task", [LOANS, ODDS, AMOUNTS], ids=lambda task: task.title)
def test_markdown_has_a_cell_for_every_method(run, task):
    results = TaskResults(task, run, invent_results(np.random.default_rng(0), task=task, nested=True))
    methods = list(METHODS)
    lines = markdown.comparison_table(results, methods, comparison(results, methods, 0.75), 0.75)
    lines += markdown.standing_table(results, methods)
    assert {line.count("|") for line in lines} <= {len(methods) + 3, len(methods) + 2}
    text = "\n".join(lines)
    rows = ["here, nested", "here − paper", "hypervolume", "Obj α=0.75"]
    rows += {"Loans": ["ΔDP"], "Loans, odds": ["ΔEOdds (sum)", "ΔEOdds (max)"], "Amounts": ["MAE", "KS", "W₂"]}[
        task.title
    ]
    assert all(row in text for row in rows)
    assert "*OT-FairBoost" not in text
    bold = [line for line in lines if "**" in line]
    assert len(bold) == 3  # the best objective by each rule
    assert markdown.absence_notes(results, methods) == []


def test_overview_has_the_gain_over_the_baseline(run):
    results = TaskResults(LOANS, run, constant("baseline", 0, 0.8, 0.2) + constant("otfairboost", 0, 0.8, 0.1))
    methods = ["baseline", "fair_gs", "otfairboost"]
    lines = markdown.overview_table({"Loans": comparison(results, methods, 0.75)}, methods)
    assert lines[2:] == [
        "| Loans | here | 80.00 | - | **82.50** (+2.50) |",
        "|  | here, other folds | 80.00 | - | **82.50** (+2.50) |",
        "|  | paper | 78.40 | 80.40 (+2.00) | 81.40 (+3.00) |",
    ]


def test_methods_without_results_are_dashes_with_a_reason(run):
    results = TaskResults(AMOUNTS, run, invent_results(np.random.default_rng(0), task=AMOUNTS, methods=["baseline"]))
    methods = ["baseline", "otfairboost"]
    lines = markdown.comparison_table(results, methods, comparison(results, methods, 0.75), 0.75)
    here = next(line for line in lines if "| here |" in line)
    assert here.endswith("| - |")
    assert markdown.absence_notes(results, methods) == ["- OT-FairBoost (ours): not run"]
