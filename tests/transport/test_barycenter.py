from fractions import Fraction

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from oracles import integrate_quantile, normalise, pot_distance, rational_atoms
from otfairboost.transport import Measure, barycenter, measure_sample

samples = st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 5)), min_size=1, max_size=8)


def split(pairs):
    return tuple(np.array(part, np.float64) for part in zip(*pairs, strict=True))


@given(st.lists(samples, min_size=1, max_size=4), st.data())
def test_quantile_functions_are_averaged(groups, data):
    shares = data.draw(st.lists(st.integers(1, 4), min_size=len(groups), max_size=len(groups)))
    groups = [split(group) for group in groups]
    centre = barycenter([measure_sample(*group).measure for group in groups], shares)
    assert centre.mass.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(centre.atoms) >= 0).all()
    # Integrals of quantile functions up to each of the barycenter's levels, against those of the groups.
    levels = [Fraction(min(float(level), 1.0)) for level in np.cumsum(centre.mass)]
    ours = np.cumsum(centre.mass * centre.atoms)
    exact = [
        sum(
            share * integrate_quantile(rational_atoms(*group), 0, level)
            for share, group in zip(shares, groups, strict=True)
        )
        / sum(shares)
        for level in levels
    ]
    np.testing.assert_allclose(ours, np.array(exact, np.float64), atol=1e-12)


def test_two_equal_samples_meet_halfway():
    x, y = np.array([3.0, 1.0, 2.0]), np.array([10.0, 30.0, 20.0])
    centre = barycenter([measure_sample(x).measure, measure_sample(y).measure])
    np.testing.assert_allclose(centre.atoms, [5.5, 11.0, 16.5])
    np.testing.assert_allclose(centre.mass, 1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_barycenter_agrees_with_a_linear_program(seed):
    """POT's linear program for the barycenter on a fixed support, which here holds all of its possible atoms."""
    rng = np.random.default_rng(seed)
    groups = [rng.choice(9, 4, replace=False).astype(float) for _ in range(3)]
    shares = np.array([0.5, 0.25, 0.25])
    support = np.arange(0, 8.25, 0.25)
    columns = np.array([np.isin(support, group) / 4 for group in groups]).T
    cost = np.square(np.subtract.outer(support, support))
    expected = ot.lp.barycenter(columns, cost, shares)
    centre = barycenter([measure_sample(group).measure for group in groups], shares)
    mass = np.array([centre.mass[centre.atoms == at].sum() for at in support])
    np.testing.assert_allclose(mass, expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_barycenter_minimises_the_weighted_sum_of_distances(seed):
    rng = np.random.default_rng(seed)
    groups = [(rng.normal(g, 1 + g, 6), rng.integers(1, 3, 6)) for g in range(3)]
    shares = np.array([0.2, 0.5, 0.3])
    centre = barycenter([measure_sample(*group).measure for group in groups], shares)

    def cost(atoms):
        return sum(c * pot_distance(atoms, x, centre.mass, w) for c, (x, w) in zip(shares, groups, strict=True))

    start = np.sort(rng.normal(size=len(centre.atoms)))
    best = optimize.minimize(cost, start, method="L-BFGS-B", options={"maxfun": 50_000, "ftol": 1e-14})
    assert cost(centre.atoms) <= best.fun + 1e-9
    for _ in range(20):
        assert cost(np.sort(centre.atoms + 0.1 * rng.normal(size=len(start)))) > cost(centre.atoms)


def test_a_share_of_1_is_the_measure_itself():
    x, a = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 3])
    centre = barycenter([measure_sample(x, a).measure, measure_sample([9.0, 8.0]).measure], [1, 0])
    assert pot_distance(centre.atoms, x, centre.mass, a) == pytest.approx(0, abs=1e-12)


def test_empty_bins_and_tiny_masses_at_the_end():
    """Cumulated masses pass 1 by rounding before the last atom; atoms of mass 0 have no meaning."""
    x = np.append(np.arange(1000.0), 5000.0)
    weight = np.append(np.ones(1000), 1e-25)
    assert np.cumsum(normalise(weight, 1001))[-2] > 1
    centre = barycenter([measure_sample(x, weight).measure, measure_sample([1.0, 2.0]).measure])
    assert centre.mean() == pytest.approx(0.5 * (499.5 + 1.5))
    bins = Measure(np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.0]), np.array([0.0] + 10 * [0.1] + [0.0]))
    centre = barycenter([bins, measure_sample([1.0, 2.0]).measure])
    np.testing.assert_allclose(centre.atoms, 0.5 * (np.arange(1, 11) + np.repeat([1, 2], 5)))
    np.testing.assert_allclose(centre.mass, 0.1)


def test_bad_weights():
    measures = [measure_sample([1.0]).measure, measure_sample([2.0]).measure]
    with pytest.raises(ValueError, match=r"^weights must have one entry per measure: 3 weights, 2 measures$"):
        barycenter(measures, [1, 2, 3])
    for weights in ([1, -1], [0, 0], [np.nan, 1]):
        with pytest.raises(ValueError, match=r"^weights must not be negative, and at least one must be positive$"):
            barycenter(measures, weights)
