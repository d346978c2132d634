"""Every example runs, writes its pictures and computes what its header says; sizes are cut to save time."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from otfairboost.transport import wasserstein_squared

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SMALLER = {
    "derivatives_against_oracle": {"n_samples": 300},
    "oracle_hessian_matrix": {"n_samples": 90},
    "convergence": {"n_rows": 1000},
    "claim_counts": {"n_rows": 3000},
    "credit_grades": {"n_rows": 3000},
    "wage_quantiles": {"n_rows": 3000},
    "age_of_applicants": {"n_rows": 3000},
    "two_attributes": {"n_rows": 3000},
}


def load_example(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs an example once and returns its module, what it computed and where it wrote."""
    done = {}

    def run_once(name):
        if name not in done:
            (path,) = [path for path in EXAMPLES if path.stem == name]
            module, folder = load_example(path), tmp_path_factory.mktemp(name) / "not" / "there"
            done[name] = module, module.main(output=folder, **SMALLER.get(name, {})), folder
        return done[name]

    return run_once


@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_example_runs_and_draws(run, name):
    module, info, folder = run(name)
    assert f"python examples/{name}.py" in module.__doc__
    assert info is not None
    pictures = list(folder.glob("*.png"))
    assert pictures
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 10_000


def test_all_examples_are_found():
    assert set(SMALLER) <= {path.stem for path in EXAMPLES}


def test_derivatives_agree_with_the_oracle(run):
    _, info, _ = run("derivatives_against_oracle")
    for group in info.groups:
        assert len(np.unique(group.score)) < 0.9 * len(group.score)  # there are duplicates
        np.testing.assert_allclose(len(group.score) * group.oracle_alone.hessian, 2.0, rtol=1e-6)
    deviations = info.deviations
    assert deviations["exact, right-hand"].from_alone < 1e-8
    assert deviations["exact, averaged"].from_block < 1e-8
    # The two oracles differ on duplicates, so each of the above would notice the wrong map.
    assert deviations["exact, right-hand"].from_block > 0.01
    assert deviations["exact, averaged"].from_alone > 0.01
    assert deviations["histogram"].from_block < 0.1
    assert 0.01 < deviations["KDE"].from_block < 1.0  # it smooths
    assert all(deviation.hessian < 1e-6 for deviation in deviations.values())


def test_oracle_gradient_is_the_slope_of_our_own_distance(run):
    _, info, _ = run("derivatives_against_oracle")
    group, other = info.groups[0], info.groups[1].score
    for i in (0, 100, 299):
        moved = np.array([group.score] * 2)
        moved[1, i] += 4e-5
        slope = np.diff([wasserstein_squared(score, other) for score in moved])[0] / 4e-5
        # The quotient is off by step / n.
        assert slope == pytest.approx(group.oracle_alone.gradient[i] + 4e-5 / len(other), rel=1e-7)


def test_hessian_matrix_is_diagonal(run):
    _, info, _ = run("oracle_hessian_matrix")
    n = len(info.score)
    assert len(np.unique(info.score)) < 0.9 * n
    np.testing.assert_allclose(n * np.diag(info.mixed), 2.0, rtol=1e-6)
    assert info.off_diagonal < 1e-6


def test_same_side_hessian_has_no_limit_on_duplicates_only(run):
    _, info, _ = run("oracle_hessian_matrix")
    duplicates = (info.score[:, None] == info.score) & ~np.eye(len(info.score), dtype=bool)
    distinct = info.score[:, None] != info.score
    assert np.abs(info.same_side[distinct]).max() < 1e-6 * np.diag(info.same_side).mean()
    assert info.same_side[duplicates].max() > np.diag(info.same_side).mean()
    assert info.same_side_growth == pytest.approx(2.0, rel=1e-6)


def test_weight_brings_groups_together(run):
    module, info, _ = run("convergence")
    assert [model.fairness_weight for model in info.models] == [0, 0.1, 1, 10]
    last = [model.normalized_w2[-1] for model in info.models]
    assert last == sorted(last, reverse=True)
    assert last[-1] < 0.25 * last[0]
    plain, *_, fairest = info.models
    assert len(fairest.normalized_w2) == module.ITERATIONS[-1] == 100
    at = [fairest.normalized_w2[iteration - 1] for iteration in module.ITERATIONS]
    assert at == sorted(at, reverse=True)
    assert plain.precision > fairest.precision  # what it costs
    for model in info.models:  # scores spread out from their average
        spread = [np.concatenate(list(model.scores[t].values())).std() for t in module.ITERATIONS]
        assert spread == sorted(spread)


def test_claims_by_sex_come_together_and_are_still_paid_for(run):
    _, info, _ = run("claim_counts")
    distances = [tariff.distance for tariff in info.tariffs]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.3 * distances[0]
    deviances = [tariff.deviance for tariff in info.tariffs]
    constant = 2 * (info.claims * np.log(np.where(info.claims > 0, info.claims / info.claims.mean(), 1.0))).mean()
    assert deviances[0] < deviances[-1] < constant
    for tariff in info.tariffs:
        assert tariff.expected.mean() == pytest.approx(info.claims.mean(), rel=0.1)


def test_rates_of_every_grade_come_together(run):
    _, info, _ = run("credit_grades")
    differences = [model.difference for model in info.models]
    assert differences == sorted(differences, reverse=True)
    assert differences[0] > 0.2
    assert differences[-1] < 0.3 * differences[0]
    losses = [model.log_loss for model in info.models]
    constant = -float(info.share @ np.log(info.share))
    assert losses[0] < losses[-1] < constant
    for model in info.models:
        gaps = np.abs(model.rates["local"] - model.rates["newcomer"])
        assert gaps.max() == pytest.approx(model.difference)


def test_wage_quantiles_by_sex_come_together_and_stay_quantiles(run):
    module, info, _ = run("wage_quantiles")
    assert [(one.level, one.fairness_weight) for one in info.quantiles] == [
        (level, weight) for level in module.LEVELS for weight in module.WEIGHTS
    ]
    for plain, fair in zip(info.quantiles[::2], info.quantiles[1::2], strict=True):
        assert fair.distance < 0.2 * plain.distance
        assert abs(plain.below - plain.level) < 0.03
        assert abs(fair.below - fair.level) < 0.06


def test_scores_get_independent_of_age(run):
    _, info, _ = run("age_of_applicants")
    plain, *fair = info.models
    assert plain.correlation < -0.3
    for model in fair:
        assert len(model.edges) == model.n_groups - 1
        assert abs(model.correlation) < 0.3 * abs(plain.correlation)
        assert 0.7 < model.auc < plain.auc


def test_two_attributes_are_served_at_once(run):
    _, (plain, intersection, equal, heavy), _ = run("two_attributes")
    for fair in (intersection, equal, heavy):
        assert fair.sex_gap < 0.75 * plain.sex_gap
        assert fair.region_gap < 0.75 * plain.region_gap
    assert heavy.region_gap < 0.7 * equal.region_gap
    assert len(plain.rates) == 4
