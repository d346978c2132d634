"""Rules of selection against plain loops, and what each may look at."""

import itertools

import numpy as np
import pytest

from benchmark_study import LOANS, invent_metrics, invent_results, make_result, make_run
from otfairboost.benchmark.results import TaskResults
from otfairboost.benchmark.selection import choose_nested, choose_on_other_folds, choose_on_same_folds

ALPHA = 0.6


@pytest.fixture(scope="module")
def run():
    return make_run()


def collect(run, results):
    return TaskResults(LOANS, run, results)


def obj(metrics):
    return ALPHA * metrics["pr_auc"] + (1 - ALPHA) * (1 - metrics["delta_dp"])


def table(results, method="baseline"):
    """{(configuration, split): {fold: metrics}} without the package's help."""
    return {
        (r.key.configuration, r.key.split): {int(fold): found[0] for fold, found in r.metrics.items()}
        for r in results
        if r.key.method == method and r.key.study == "search" and r.error is None
    }


@pytest.mark.parametrize("seed", range(5))
def test_rules_against_loops(run, seed):
    results = invent_results(np.random.default_rng(seed), methods=["baseline"], n_configurations=6, nested=True)
    fits, collected = table(results), collect(run, results)

    def best(score):
        return max(range(6), key=score)

    same = best(lambda c: sum(obj(fits[c, str(k)][k]) for k in range(3)))
    found = choose_on_same_folds(collected, "baseline", ALPHA)
    assert found.configurations == (same,) * 3
    values = [obj(fits[same, str(k)][k]) for k in range(3)]
    assert found.mean("objective") == pytest.approx(np.mean(values))
    assert found.deviation("objective") == pytest.approx(np.std(values))
    assert found.mean("roc_auc") == pytest.approx(np.mean([fits[same, str(k)][k]["roc_auc"] for k in range(3)]))

    others = [best(lambda c, k=k: sum(obj(fits[c, str(j)][j]) for j in range(3) if j != k)) for k in range(3)]
    assert choose_on_other_folds(collected, "baseline", ALPHA).configurations == tuple(others)

    def inner(c, k):
        return sum(obj(fits[c, "+".join(map(str, sorted((j, k))))][j]) for j in range(3) if j != k)

    nested = [best(lambda c, k=k: inner(c, k)) for k in range(3)]
    found = choose_nested(collected, "baseline", ALPHA)
    assert found.configurations == tuple(nested)
    assert [fold["pr_auc"] for fold in found.folds] == [fits[c, str(k)][k]["pr_auc"] for k, c in enumerate(nested)]


def change_fold(result, fold, rng):
    """Return the result with other metrics of one fold."""
    if str(fold) not in result.metrics:
        return result
    return result._replace(metrics={**result.metrics, str(fold): [invent_metrics(rng)]})


@pytest.mark.parametrize("rule", [choose_on_other_folds, choose_nested])
def test_what_is_reported_of_a_fold_has_no_say_in_its_choice(run, rule):
    rng = np.random.default_rng(0)
    results = invent_results(rng, methods=["baseline"], n_configurations=5, nested=True)
    before = rule(collect(run, results), "baseline", ALPHA)
    for fold in range(3):
        for _ in range(5):
            changed = [change_fold(result, fold, rng) for result in results]
            after = rule(collect(run, changed), "baseline", ALPHA)
            assert after.configurations[fold] == before.configurations[fold]


def test_the_nested_rule_never_sees_fits_on_rows_of_the_fold(run):
    """Only splits that keep a fold out may decide about it: garble all others."""
    rng = np.random.default_rng(0)
    results = invent_results(rng, methods=["baseline"], n_configurations=5, nested=True)
    before = choose_nested(collect(run, results), "baseline", ALPHA)
    for fold in range(3):
        garbled = [
            r
            if str(fold) in r.key.split.split("+")
            else r._replace(metrics={k: [invent_metrics(rng)] for k in r.metrics})
            for r in results
        ]
        assert (
            choose_nested(collect(run, garbled), "baseline", ALPHA).configurations[fold] == before.configurations[fold]
        )


def test_configurations_that_lack_a_fold_do_not_count(run):
    good = {"pr_auc": 0.9, "delta_dp": 0.0}
    poor = {"pr_auc": 0.1, "delta_dp": 0.0}
    results = [make_result("baseline", 0, str(fold), poor) for fold in range(3)]
    results += [make_result("baseline", 1, "0", good), make_result("baseline", 1, "1", good)]
    results += [make_result("baseline", 1, "2", {}, error="timed out")]
    collected = collect(run, results)
    assert choose_on_same_folds(collected, "baseline", ALPHA).configurations == (0, 0, 0)
    assert choose_on_other_folds(collected, "baseline", ALPHA).configurations == (0, 0, 0)
    assert choose_nested(collected, "baseline", ALPHA) is None
    assert choose_on_same_folds(collected, "fair_gs", ALPHA) is None
    assert collected.count("baseline") == (6, 6, 1, 1)


def test_undefined_objectives_lose(run):
    results = [make_result("baseline", 0, str(fold), {"pr_auc": np.nan, "delta_dp": 0.0}) for fold in range(3)]
    results += [make_result("baseline", 1, str(fold), {"pr_auc": 0.1, "delta_dp": 0.0}) for fold in range(3)]
    assert choose_on_same_folds(collect(run, results), "baseline", ALPHA).configurations == (1, 1, 1)


def test_members_of_a_frontier_are_kept_apart(run):
    metrics = [[{"pr_auc": 0.1 * (fold + member), "delta_dp": 0.0} for member in range(4 - fold)] for fold in range(3)]
    results = [make_result("baseline", 0, str(fold), {str(fold): metrics[fold]}) for fold in range(3)]
    collected = collect(run, results)
    assert len(collected.candidates("baseline")) == 1
    found = collected.candidates("baseline", members=True)  # as many as the fold with the fewest has
    assert [c.mean("pr_auc") for c in found] == pytest.approx([0.1, 0.2])


def test_partial_runs_are_known(run):
    results = invent_results(np.random.default_rng(0), methods=["baseline"], n_configurations=2)
    assert not collect(run, results).is_partial
    for left_out in itertools.islice(results, 3):
        assert collect(run, [r for r in results if r is not left_out]).is_partial
