import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from otfairboost.metrics.rate_intervals import (
    gap_interval,
    mean_interval,
    newcombe_interval,
    normal_quantile,
    wilson_interval,
)


@given(st.integers(1, 5000), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_against_scipy(total, data, level):
    successes = data.draw(st.integers(0, total))
    low, high = wilson_interval(successes, total, level=level)
    expected = stats.binomtest(successes, total).proportion_ci(level, method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= low <= successes / total <= high <= 1


def test_wilson_of_arrays_and_of_nothing():
    low, high = wilson_interval([0, 3, 0], [10, 10, 0])
    assert low[0] == 0.0
    assert high[1] == pytest.approx(wilson_interval(3, 10).high)
    assert np.isnan([low[2], high[2]]).all()


def test_newcombe_against_the_published_example():
    """Newcombe (1998), table II, example a, method 10: 56/70 less 48/80."""
    low, high = newcombe_interval((56, 48), (70, 80))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


def test_newcombe_covers():
    rng = np.random.default_rng(0)
    p, n = (0.3, 0.25), (400, 250)
    k = np.column_stack([rng.binomial(n[0], p[0], 2000), rng.binomial(n[1], p[1], 2000)])
    ends = np.array([newcombe_interval(tuple(row), n) for row in k])
    inside = (ends[:, 0] <= p[0] - p[1]) & (p[0] - p[1] <= ends[:, 1])
    assert inside.mean() == pytest.approx(0.95, abs=0.015)


def test_gap_is_that_of_the_extreme_groups_and_never_negative():
    low, high = gap_interval([30, 50, 90, 0], [100, 100, 100, 0])
    assert (low, high) == pytest.approx(newcombe_interval((90, 30), (100, 100)))
    low, high = gap_interval([50, 50], [100, 100])
    assert low == 0.0
    assert high == pytest.approx(newcombe_interval((50, 50), (100, 100)).high)


def test_gap_needs_two_groups_with_rows():
    assert np.isnan(gap_interval([5, 0], [10, 0])).all()


def test_mean_interval_against_scipy():
    values = np.random.default_rng(1).normal(size=50)
    expected = stats.norm.interval(0.95, values.mean(), stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert mean_interval(np.array([2.0])) == (2.0, 2.0)


@pytest.mark.parametrize("level", [0, 1, -0.5])
def test_bad_level(level):
    with pytest.raises(ValueError, match=f"level={level} must lie between 0 and 1"):
        normal_quantile(level)
