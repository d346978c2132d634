import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.weight_search import MAX_FITS, SearchStep, search_weight


def make_measure(curve, error=0.0, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)

    def measure(weight):
        gap = curve(weight) * math.exp(noise * rng.normal())
        return SearchStep(weight, gap, gap, gap + error)

    return measure


def falling(plain, scale, floor):
    return lambda weight: math.hypot(plain / (1 + weight / scale), floor)


@given(
    plain=st.floats(0.1, 0.4),
    scale=st.floats(0.06, 6.0),
    floor=st.floats(1e-4, 0.01),
    error=st.floats(0.0, 0.008),
    target=st.floats(0.01, 0.1),
    seed=st.integers(0, 99),
)
def test_what_can_be_reached_is_reached_closely_in_few_fits(plain, scale, floor, error, target, seed):
    curve = falling(plain, scale, floor)
    found = search_weight(make_measure(curve, error, 0.02, seed), target, start=5.0)
    assert len(found.history) <= MAX_FITS
    assert found.chosen in found.history
    if curve(100.0) + error < 0.93 * target:
        assert found.reached
    if found.reached:
        assert found.chosen.high <= target
        smaller = [step for step in found.history if step.fairness_weight < found.chosen.fairness_weight]
        assert all(step.high > target for step in smaller)
    if found.reached and found.chosen.fairness_weight > 0:
        assert found.chosen.high > 0.75 * target


def test_a_plain_model_that_is_fair_takes_one_fit():
    found = search_weight(make_measure(lambda weight: 0.01), 0.02, start=5.0)
    assert found.reached
    assert [step.fairness_weight for step in found.history] == [0.0]


def test_without_bounds_the_gap_itself_counts():
    measure = make_measure(falling(0.2, 0.7, 0.001), error=0.05)
    found = search_weight(measure, 0.04, start=5.0, bounded=False)
    assert 0.9 * 0.04 <= found.chosen.gap <= 0.04
    assert not search_weight(measure, 0.04, start=5.0).reached


def test_an_unreachable_target_is_known_after_the_largest_weight():
    found = search_weight(make_measure(falling(0.2, 0.7, 0.03)), 0.02, start=5.0)
    assert not found.reached
    assert max(step.fairness_weight for step in found.history) == 100.0
    assert found.chosen.high == min(step.high for step in found.history)
    assert len(found.history) <= 5


def test_the_start_sets_the_range():
    curve = falling(0.2, 70.0, 1e-4)
    assert not search_weight(make_measure(curve), 0.02, start=5.0).reached
    found = search_weight(make_measure(curve), 0.02, start=500.0)
    assert found.chosen.fairness_weight == pytest.approx(630.0, rel=0.15)  # 70 * (0.2 / 0.02 - 1)


@pytest.mark.parametrize("start", [5.0, 50.0])
def test_weights_that_diverge_are_avoided(start):
    curve = falling(0.2, 0.7, 1e-4)

    def measure(weight):
        if weight > 8.0:
            raise FloatingPointError("diverged")
        return make_measure(curve)(weight)

    assert search_weight(measure, 0.05, start=start).chosen.fairness_weight == pytest.approx(2.1, rel=0.15)
    found = search_weight(measure, 0.005, start=start)
    assert not found.reached
    assert 1.0 < found.chosen.fairness_weight <= 8.0
    assert any(math.isinf(step.gap) for step in found.history)


def test_a_gap_that_drops_to_nothing_at_once_is_bracketed():
    found = search_weight(make_measure(lambda weight: 0.2 if weight < 3.0 else 0.0), 0.02, start=5.0)
    assert found.reached
    assert 3.0 <= found.chosen.fairness_weight <= 5.0
