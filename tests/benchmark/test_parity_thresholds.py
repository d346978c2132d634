"""The thresholds, against a search through all of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.benchmark.methods.parity_thresholds import fit_thresholds


def decide(probability, s, thresholds):
    return probability >= np.array([thresholds[group] for group in s])


def cost(probability, selected, weight):
    return float(np.sum(weight * np.where(selected, 1 - probability, probability)))


def gap(selected, s):
    rates = [selected[s == group].mean() for group in set(s)]
    return max(rates) - min(rates)


def brute_force(probability, s, bound, weight):
    """Return the least cost of selecting the k highest of each group, over all k whose rates are within the bound."""
    groups = sorted(set(s))
    best = np.inf
    for counts in product(*(range(int(np.sum(s == group)) + 1) for group in groups)):
        selected = np.zeros(len(s), dtype=bool)
        for group, k in zip(groups, counts, strict=True):
            rows = np.flatnonzero(s == group)
            selected[rows[np.argsort(-probability[rows])[:k]]] = True
        if gap(selected, s) <= bound + 1e-9:
            best = min(best, cost(probability, selected, weight))
    return best


@given(
    st.integers(0, 10_000), st.integers(2, 3), st.integers(2, 6), st.integers(0, 6), st.booleans()
)  # bounds of whole rows, in groups of one size: no rounding
def test_no_thresholds_within_the_bound_cost_less(seed, n_groups, size, rows, weighted):
    rng = np.random.default_rng(seed)
    s = np.repeat(np.array(list("abc")[:n_groups], dtype=object), size)
    probability = rng.permutation(np.linspace(0.02, 0.97, len(s)))
    weight = rng.uniform(0.5, 2.0) * np.ones(len(s)) if weighted else np.ones(len(s))
    bound = min(rows, size) / size
    thresholds = fit_thresholds(probability, s, bound, weight if weighted else None)
    selected = decide(probability, s, thresholds)
    assert gap(selected, s) <= bound + 1e-9
    assert cost(probability, selected, weight) == pytest.approx(brute_force(probability, s, bound, weight))


@pytest.mark.parametrize("bound", [0.0, 0.01, 0.1])
def test_groups_of_different_sizes(bound):
    rng = np.random.default_rng(0)
    s = rng.choice(["a", "b", "c"], 5000, p=[0.1, 0.3, 0.6]).astype(object)
    probability = np.clip(rng.beta(2, 3, 5000) + 0.2 * (s == "a"), 0, 1)
    thresholds = fit_thresholds(probability, s, bound)
    assert gap(decide(probability, s, thresholds), s) <= bound + 2 * 0.5 / np.sum(s == "a")


def test_a_wide_bound_leaves_everyone_at_one_half():
    rng = np.random.default_rng(0)
    s = rng.choice(["a", "b"], 1000).astype(object)
    probability = rng.random(1000)
    selected = decide(probability, s, fit_thresholds(probability, s, 1.0))
    np.testing.assert_array_equal(selected, probability >= 0.5)


def test_weights_move_costs_and_not_rates():
    """Rows that nobody wants selected count ten times: fewer are selected, and the gap is still one of rows."""
    rng = np.random.default_rng(0)
    s = rng.choice(["a", "b"], 2000).astype(object)
    probability = np.clip(rng.random(2000) + 0.2 * (s == "a"), 0, 1)
    weight = np.where(probability < 0.5, 10.0, 1.0)
    plain, weighted = (decide(probability, s, fit_thresholds(probability, s, 0.0, w)) for w in (None, weight))
    assert weighted.mean() < plain.mean() - 0.03
    assert gap(weighted, s) < 0.002


@pytest.mark.parametrize(("probability", "rate"), [(0.1, 0.0), (0.9, 1.0)])
def test_all_or_nobody(probability, rate):
    score = np.full(10, probability)
    s = np.repeat(np.array(["a", "b"], dtype=object), 5)
    assert decide(score, s, fit_thresholds(score, s, 0.0)).mean() == rate


def test_a_bound_that_is_no_rate():
    with pytest.raises(ValueError, match=r"gap_bound=-0\.1 must be between 0 and 1"):
        fit_thresholds(np.array([0.5]), np.array(["a"]), -0.1)
