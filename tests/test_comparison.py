import numpy as np
import pytest

from oracles import group_distance, pot_distance, rational_map
from otfairboost.comparison import MULTI_GROUP, GroupMeasures, Transport, distance, needs_rests, pulls
from otfairboost.transport import measure_sample, mix
from otfairboost.transport.exact import extend_image, transport_images

EXACT = Transport(transport_images, extend_image)


def make_stratum(seed, n_groups, *, equal_sizes=False):
    """Samples of several groups, and the same as measures; shares are uneven."""
    rng = np.random.default_rng(seed)
    sizes = [20] * n_groups if equal_sizes else rng.integers(3, 30, n_groups)
    samples = [(np.round(rng.normal(g, 1 + 0.5 * g, n), 1), rng.uniform(0.5, 2, n)) for g, n in enumerate(sizes)]
    if equal_sizes:
        samples = [(values, np.ones(20)) for values, _ in samples]
    shares = rng.uniform(0.5, 2, n_groups)
    shares /= shares.sum()
    measures = [measure_sample(*sample).measure for sample in samples]
    weights = np.array([weight.sum() for _, weight in samples])
    rests = [
        mix([measures[h] for h in range(n_groups) if h != g], np.delete(weights, g)) if n_groups > 1 else measures[g]
        for g in range(n_groups)
    ]
    return samples, GroupMeasures(measures, rests, weights, shares)


@pytest.mark.parametrize("multi_group", MULTI_GROUP)
@pytest.mark.parametrize("n_groups", [2, 3, 4, 5])
def test_distance_agrees_with_pot(multi_group, n_groups):
    samples, stratum = make_stratum(n_groups, n_groups)
    expected = group_distance(samples, multi_group, stratum.shares)
    assert distance(multi_group, stratum) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_barycenter_distance_is_that_to_the_barycenter(n_groups):
    """The mean over pairs is sum_g c_g W2^2(mu_g, nu) over its largest share; nu by averaging sorted samples."""
    samples, stratum = make_stratum(7, n_groups, equal_sizes=True)
    c = stratum.shares
    centre = sum(share * np.sort(values) for share, (values, _) in zip(c, samples, strict=True))
    to_centre = sum(share * pot_distance(values, centre) for share, (values, _) in zip(c, samples, strict=True))
    assert distance("barycenter", stratum) == pytest.approx(to_centre / (0.5 * (1 - np.sum(c**2))), rel=1e-10)


def test_two_groups_are_compared_in_one_way():
    samples, stratum = make_stratum(0, 2)
    (x, a), (y, b) = samples
    for multi_group in MULTI_GROUP:
        assert distance(multi_group, stratum) == pytest.approx(pot_distance(x, y, a, b), rel=1e-12)
        first, second = pulls(multi_group, stratum, EXACT)
        assert first.strength == pytest.approx(2 / a.sum())
        assert second.strength == pytest.approx(2 / b.sum())
        rows = measure_sample(x, a).atom_of_row
        np.testing.assert_allclose(first.target[rows], rational_map(x, y, a, b), rtol=1e-10)
        rows = measure_sample(y, b).atom_of_row
        np.testing.assert_allclose(second.target[rows], rational_map(y, x, b, a), rtol=1e-10)


@pytest.mark.parametrize("multi_group", MULTI_GROUP)
def test_the_general_rules_contain_that_of_two_groups(multi_group):
    """A third group whose share and weight vanish leaves the first two alone."""
    _, stratum = make_stratum(0, 2)
    ghost = 1e-13
    groups = [*stratum.groups, measure_sample([0.3]).measure]
    weights = np.append(stratum.weights, ghost)
    rests = [mix([groups[h] for h in range(3) if h != g], np.delete(weights, g)) for g in range(3)]
    shares = np.append(stratum.shares, ghost)
    three = GroupMeasures(groups, rests, weights, shares / shares.sum())
    assert distance(multi_group, three) == pytest.approx(distance(multi_group, stratum), rel=1e-9)
    for with_ghost, alone in zip(pulls(multi_group, three, EXACT), pulls(multi_group, stratum, EXACT), strict=False):
        assert with_ghost.strength == pytest.approx(alone.strength, rel=1e-9)
        np.testing.assert_allclose(with_ghost.target, alone.target, atol=1e-9)


@pytest.mark.parametrize("multi_group", MULTI_GROUP)
@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_pulls_sum_to_nothing(multi_group, n_groups):
    """Moving all groups together changes no distance: forces balance."""
    samples, stratum = make_stratum(3, n_groups)
    force = 0.0
    for (values, weight), pull in zip(samples, pulls(multi_group, stratum, EXACT), strict=True):
        rows = measure_sample(values, weight).atom_of_row
        force += pull.strength * weight @ (values - pull.target[rows])
    assert force == pytest.approx(0, abs=1e-10)


def test_equal_groups_stay_where_they_are():
    measure = measure_sample([1.0, 2.0, 5.0]).measure
    stratum = GroupMeasures([measure] * 3, [measure] * 3, np.array([3.0, 6.0, 9.0]), np.full(3, 1 / 3))
    for multi_group in MULTI_GROUP:
        assert distance(multi_group, stratum) == pytest.approx(0, abs=1e-14)
        for pull in pulls(multi_group, stratum, EXACT):
            np.testing.assert_allclose(pull.target, measure.atoms, rtol=1e-12)


def test_rests_are_needed_by_one_comparison():
    asked = {(name, n): needs_rests(name, n) for name in MULTI_GROUP for n in (2, 3)}
    assert [key for key, needed in asked.items() if needed] == [("one_vs_rest", 3)]
