import numpy as np
import pytest

from oracles import SmoothedSample, rational_map
from otfairboost.transport import Measure, measure_sample
from otfairboost.transport.kde import smoothed_cdf, smoothed_images

BANDWIDTHS = [0.01, 0.05, 0.2, 1.0, 2.0]


def smoothed_image(source, target, bandwidth):
    return smoothed_images(source, target, bandwidth)[0]


def two_groups(seed, *, weighted):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0.3, 0.1, 150), np.concatenate([rng.normal(0.5, 0.2, 80), rng.normal(1.5, 0.05, 60)])
    if not weighted:
        return x, y, None, None
    return x, y, rng.exponential(size=150), rng.exponential(size=140)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
def test_distribution_function_agrees_with_scipys_gaussian_kde(bandwidth, weighted):
    _, y, _, b = two_groups(0, weighted=weighted)
    measure = measure_sample(y, b).measure
    nodes, cdf = smoothed_cdf(measure, bandwidth * np.sqrt(measure.variance()))
    oracle = SmoothedSample(y, b, bandwidth)
    at = np.linspace(nodes[0], nodes[-1], 300)
    np.testing.assert_allclose(np.interp(at, nodes, cdf), [oracle.level(z) for z in at], atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
def test_map_agrees_with_scipys_gaussian_kde(bandwidth, weighted):
    """H_1^-1(H_0(z)) by root finding; levels agree to 2e-4, which says it all where the density is not nearly 0."""
    x, y, a, b = two_groups(1, weighted=weighted)
    source, target = measure_sample(x, a).measure, measure_sample(y, b).measure
    image = smoothed_image(source, target, bandwidth)
    before, after = SmoothedSample(x, a, bandwidth), SmoothedSample(y, b, bandwidth)
    for z, t in list(zip(source.atoms, image, strict=True))[::5]:
        level = before.level(z)
        assert after.level(t) == pytest.approx(level, abs=2e-4)
        low, high = (after.quantile(min(max(level + by, 1e-12), 1 - 1e-12)) for by in (-2e-4, 2e-4))
        assert low - 1e-9 <= t <= high + 1e-9
    assert (np.diff(image) >= 0).all()


def test_the_way_back_is_the_map_of_the_other_direction():
    x, y, a, b = two_groups(2, weighted=True)
    source, target = measure_sample(x, a).measure, measure_sample(y, b).measure
    there, back = smoothed_images(source, target, 0.3)
    assert (back == smoothed_image(target, source, 0.3)).all()
    assert len(there) == len(source.atoms)


def test_a_wide_kernel_maps_moments():
    """Two nearly Gaussian estimates: the map is the line between them."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(1, 2, 400), rng.normal(-3, 0.5, 300)
    image = smoothed_image(measure_sample(x).measure, measure_sample(y).measure, 2.0)
    expected = y.mean() + (np.sort(x) - x.mean()) * y.std() / x.std()
    np.testing.assert_allclose(image, expected, atol=0.05 * y.std())


def test_a_narrow_kernel_is_close_to_the_exact_map():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=2000), 1 + 2 * rng.normal(size=2000)
    image = smoothed_image(measure_sample(x).measure, measure_sample(y).measure, 0.02)
    bulk = slice(100, -100)
    np.testing.assert_allclose(image[bulk], np.sort(y)[bulk], atol=0.1)


@pytest.mark.parametrize(
    ("x", "y"), [([1.0, 1.0], [1.0, 2.0, 4.0]), ([1.0, 2.0, 4.0], [3.0, 3.0]), ([2.0], [5.0]), ([2.0], [2.0])]
)
def test_a_measure_on_one_point_is_transported_without_smoothing(x, y):
    image = smoothed_image(measure_sample(x).measure, measure_sample(y).measure, 0.1)
    expected = dict(zip(x, rational_map(x, y), strict=True))
    np.testing.assert_allclose(image, [expected[atom] for atom in sorted(expected)])


def test_atoms_of_mass_0_do_not_count():
    x, y = np.array([0.2, 0.3, 0.4]), np.array([0.5, 0.9])
    holes = Measure(np.array([0.0, 0.2, 0.0, 0.3, 0.4, 0.0]), np.array([0, 1, 0, 1, 1, 0]) / 3)
    target = Measure(np.array([0.0, 0.5, 0.9, 0.0]), np.array([0, 0.5, 0.5, 0]))
    image = smoothed_image(holes, target, 0.3)
    expected = smoothed_image(measure_sample(x).measure, measure_sample(y).measure, 0.3)
    np.testing.assert_allclose(image[[1, 3, 4]], expected, rtol=1e-14)
    assert np.isfinite(image).all()


def test_one_far_value_keeps_the_estimate_finite_and_monotone():
    rng = np.random.default_rng(4)
    x, y = np.append(rng.normal(size=500), 1e9), rng.normal(size=500)
    for first, second in ((x, y), (y, x)):
        image = smoothed_image(measure_sample(first).measure, measure_sample(second).measure, 0.01)
        assert np.isfinite(image).all()
        assert (np.diff(image) >= 0).all()
