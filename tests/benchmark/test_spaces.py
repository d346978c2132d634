"""Configurations: the paper's ranges, the same for all methods, repeatable."""

import numpy as np
import pytest
from scipy import stats

from loan_tasks import TASKS
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.spaces import FIXED, log_uniform, method_configurations, sample_configurations

UNIFORM = {"num_leaves": (16, 64), "max_depth": (4, 10), "colsample_bytree": (0.7, 1.0), "subsample": (0.7, 1.0)}


def test_the_shared_space_is_the_papers():
    drawn = sample_configurations(0, 2000)
    for name, (low, high) in UNIFORM.items():
        values = np.array([configuration[name] for configuration in drawn], dtype=float)
        assert low <= values.min() < low + 0.05 * (high - low) + 0.5 * (name == "max_depth")
        assert high - 0.05 * (high - low) - 0.5 * (name == "max_depth") < values.max() <= high
        assert abs(values.mean() - (low + high) / 2) < 0.03 * (high - low)
    exponents = np.log10([configuration["reg_lambda"] for configuration in drawn])
    assert stats.kstest(exponents, stats.uniform(-10, 9).cdf).pvalue > 1e-3
    assert all(FIXED.items() <= configuration.items() for configuration in drawn)
    assert FIXED["n_estimators"] == 1000
    assert FIXED["learning_rate"] == 0.1


def test_more_configurations_begin_with_the_same():
    assert sample_configurations(3, 4) == sample_configurations(3, 9)[:4]
    assert sample_configurations(3, 4) != sample_configurations(4, 4)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_methods_share_lightgbms_part_and_draw_their_own(method):
    drawn = method_configurations(TASKS["dp"], method, 1, 5)
    assert [one.shared for one in drawn] == sample_configurations(1, 5)
    assert drawn == method_configurations(TASKS["dp"], method, 1, 7)[:5]
    own = [one.own for one in drawn]
    assert own == [{}] * 5 or len({str(one) for one in own}) == 5


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_task_without_a_search_has_one_configuration(method):
    ((shared, own),) = method_configurations(TASKS["balanced"], method, 0, 5)
    assert shared == {}
    assert own.keys() <= method.sample(np.random.default_rng(0), TASKS["balanced"]).keys()
    assert own.get("fairness_weight", 10.0) == 10.0


def test_paper_form_has_the_papers_space():
    drawn = [METHODS["otfairboost_paper"].sample(np.random.default_rng(i), TASKS["dp"]) for i in range(300)]
    weights, bandwidths = (np.array([one[name] for one in drawn]) for name in ("fairness_weight", "bandwidth"))
    assert stats.kstest(np.log(weights), stats.uniform(np.log(0.1), np.log(200)).cdf).pvalue > 1e-3
    assert stats.kstest(bandwidths, stats.uniform(0.01, 1.99).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("task", "scale", "focuses"),
    [("dp", 1.0, {2.0, 4.0, 8.0}), ("eodds", 2.0, {1.0, 2.0, 4.0}), ("groups", 2.0, {1.0, 2.0})],
)
def test_our_weights_are_spread_over_the_whole_way(task, scale, focuses):
    own = [one.own for one in method_configurations(TASKS[task], METHODS["otfairboost"], 0, 40)]
    product = np.array([one["fairness_weight"] * one["focus"] for one in own]) / scale
    assert product.min() > 0.05
    assert product.max() < 25.0
    for first in (20, 40):  # even for few: random weights would leave parts of the way out
        shares = [np.mean((product[:first] >= low) & (product[:first] < high)) for low, high in ((0, 2.5), (2.5, 8))]
        np.testing.assert_allclose(shares, [0.3, 0.5], atol=0.06)
    damping = np.array([one["fairness_hessian"] for one in own]) * product
    assert all(one["fairness_hessian"] >= 0.2 for one in own)
    assert damping.min() >= 1.5
    assert damping[product < 8.0].max() <= 4.0
    assert {one["focus"] for one in own} == focuses
    if task != "groups":  # where groups are small, there is no sharper focus at the fair end
        assert [one["focus"] == max(focuses) for one in own] == list(product > 8.0)


def test_log_uniform_stays_inside():
    rng = np.random.default_rng(0)
    assert all(0.5 <= log_uniform(rng, 0.5, 0.6) <= 0.6 for _ in range(100))


def test_no_configurations():
    with pytest.raises(ValueError, match="n=0 must be at least 1"):
        sample_configurations(0, 0)
