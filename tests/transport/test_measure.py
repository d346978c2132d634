import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import rational_atoms
from otfairboost.transport import Measure, measure_sample, mix

rows = st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=12).filter(
    lambda pairs: any(weight for _, weight in pairs)
)


@given(rows)
def test_a_sample_has_one_atom_per_distinct_value_and_keeps_the_way_back(pairs):
    values, weight = map(np.array, zip(*pairs, strict=True))
    sample = measure_sample(values, weight)
    expected = rational_atoms(values, weight)
    assert sample.measure.atoms.tolist() == [float(value) for value in expected]
    np.testing.assert_allclose(sample.measure.mass, [float(mass) for mass in expected.values()], rtol=1e-14)
    np.testing.assert_allclose(sample.row_mass, weight / weight.sum(), rtol=1e-14)
    counted = weight > 0
    assert (sample.measure.atoms[sample.atom_of_row][counted] == values[counted]).all()


def test_weights_are_relative_and_repetition_is_a_weight():
    weighted = measure_sample([3, 1, 2], [1, 2, 5]).measure
    repeated = measure_sample([2, 1, 2, 3, 2, 1, 2, 2]).measure
    scaled = measure_sample([3, 1, 2], [1e-300, 2e-300, 5e-300]).measure
    for measure in (repeated, scaled):
        assert (measure.atoms == weighted.atoms).all()
        np.testing.assert_allclose(measure.mass, weighted.mass, rtol=1e-15)


def test_huge_weights_do_not_overflow():
    measure = measure_sample([0, 1, 2], [1.5e308, 1.5e308, 1e308]).measure
    np.testing.assert_allclose(measure.mass, [0.375, 0.375, 0.25], rtol=1e-15)


def test_mean_variance_and_support():
    values, weight = np.array([4.0, -1.0, 2.5]), np.array([1.0, 3.0, 2.0])
    measure = measure_sample(values, weight).measure
    assert measure.mean() == pytest.approx(np.average(values, weights=weight))
    assert measure.variance() == pytest.approx(np.cov(values, aweights=weight, ddof=0))
    holes = Measure(np.array([-1.0, 0.0, 4.0]), np.array([0.5, 0.0, 0.5]))
    assert holes.support().atoms.tolist() == [-1.0, 4.0]
    assert measure.support() is measure


@given(rows, rows, st.integers(1, 9))
def test_a_mixture_is_the_pooled_sample(first, second, share):
    (x, a), (y, b) = (map(np.array, zip(*pairs, strict=True)) for pairs in (first, second))
    mixed = mix([measure_sample(x, a).measure, measure_sample(y, b).measure], [share * a.sum(), share * b.sum()])
    pooled = rational_atoms(np.concatenate([x, y]), np.concatenate([a, b]))
    assert mixed.atoms.tolist() == [float(value) for value in pooled]
    np.testing.assert_allclose(mixed.mass, [float(mass) for mass in pooled.values()], rtol=1e-13)


@pytest.mark.parametrize(
    ("values", "weight", "message"),
    [
        ([], None, "a sample needs at least one value, got none"),
        ([1, np.nan, np.inf], None, "a sample must be finite, got 2 NaN or infinite values"),
        ([1, 2], [1], "weights must have one entry per value: 1 weights for 2 values"),
        ([1, 2], [1, -1], "weights must be finite, not negative, and at least one must be positive"),
        ([1, 2], [1, np.nan], "weights must be finite, not negative, and at least one must be positive"),
        ([1, 2], [0, 0], "weights must be finite, not negative, and at least one must be positive"),
    ],
)
def test_bad_samples(values, weight, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        measure_sample(values, weight)
