import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import (
    extrapolated_gradient,
    linear_program_distance,
    mixed_hessian,
    one_sided_gradient,
    one_sided_hessian,
    pot_distance,
    pot_plan,
    rational_distance,
    rational_map,
)
from otfairboost.transport import (
    kernels,
    measure_sample,
    transport_cost,
    transport_image,
    transport_map,
    wasserstein_squared,
)
from otfairboost.transport.exact import extend_image, transport_images

values = st.lists(st.integers(-6, 6), min_size=1, max_size=12)
samples = st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 5)), min_size=1, max_size=12).filter(
    lambda pairs: any(weight for _, weight in pairs)
)


def split(pairs):
    return tuple(np.array(part, np.float64) for part in zip(*pairs, strict=True))


def draw(seed, n, m, *, decimals, weighted):
    """Two unsorted samples; few decimals make ties; some weights are 0."""
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(size=n), decimals), np.round(0.5 + 2 * rng.normal(size=m), decimals)
    if not weighted:
        return x, y, None, None
    a, b = rng.exponential(size=n), rng.exponential(size=m)
    a[: n // 5] = 0.0
    b[: m // 5] = 0.0
    return x, y, a, b


CASES = [
    pytest.param(seed, n, m, decimals, weighted, id=f"{n}x{m}-{decimals}-{'weighted' if weighted else 'plain'}")
    for seed, (n, m) in enumerate([(1, 1), (1, 7), (7, 1), (40, 40), (30, 47), (200, 150)])
    for decimals in (0, 1, 15)
    for weighted in (False, True)
]


# ---- Distance and map against other solvers -----------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "n", "m", "decimals", "weighted"), CASES)
def test_distance_and_map_agree_with_pot(seed, n, m, decimals, weighted):
    x, y, a, b = draw(seed, n, m, decimals=decimals, weighted=weighted)
    plan = pot_plan(x, y, a, b)
    cost = np.sum(plan * np.square(x[:, None] - y[None, :]))
    assert wasserstein_squared(x, y, a, b) == pytest.approx(cost, rel=1e-9, abs=1e-12)
    assert wasserstein_squared(x, y, a, b) == pytest.approx(pot_distance(x, y, a, b), rel=1e-9, abs=1e-12)
    # POT may split a tied block between its rows in any way; what the block takes as a whole is unique.
    image = transport_map(x, y, a, b)
    for value in np.unique(x):
        block = x == value
        if plan[block].sum() > 0:
            expected = plan[block].sum(axis=0) @ y / plan[block].sum()
            np.testing.assert_allclose(image[block & (plan.sum(axis=1) > 0)], expected, rtol=1e-9, atol=1e-9)


@given(samples, samples)
def test_distance_and_map_agree_with_rational_arithmetic(first, second):
    (x, a), (y, b) = split(first), split(second)
    assert wasserstein_squared(x, y, a, b) == pytest.approx(rational_distance(x, y, a, b), rel=1e-12, abs=1e-12)
    counted = a > 0
    image = transport_map(x, y, a, b)
    np.testing.assert_allclose(image[counted], rational_map(x, y, a, b)[counted], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_distance_agrees_with_a_linear_program(seed):
    x, y, a, b = draw(seed, 6, 5, decimals=seed % 2, weighted=True)
    assert wasserstein_squared(x, y, a, b) == pytest.approx(linear_program_distance(x, y, a, b), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_extreme_weights(seed):
    """Weights over 24 orders of magnitude: exact distance, and images as exact as a row's mass allows."""
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(size=60), 1), np.round(3 + rng.normal(size=50), 1)
    a, b = 10.0 ** rng.uniform(-12, 12, 60), 10.0 ** rng.uniform(-12, 12, 50)
    assert wasserstein_squared(x, y, a, b) == pytest.approx(rational_distance(x, y, a, b), rel=1e-12)
    image, mass = transport_map(x, y, a, b), measure_sample(x, a)
    block = mass.measure.mass[mass.atom_of_row]
    assert (block * np.abs(image - rational_map(x, y, a, b)) < 1e-14).all()
    heavy = block > 1e-6
    np.testing.assert_allclose(image[heavy], rational_map(x, y, a, b)[heavy], atol=1e-8)


@pytest.mark.parametrize("ties", ["average", "right", "left"])
@pytest.mark.parametrize("seed", range(6))
def test_images_stay_within_the_target_whatever_the_weights(ties, seed):
    """A row too light for its slot to be resolved still lands on the target, which here is far from 0."""
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(size=60), 1), 1e6 + rng.normal(size=50)
    a = 10.0 ** rng.uniform(-20, 0, 60)
    image = transport_map(x, y, a, ties=ties)
    assert image.min() >= y.min() * (1 - 1e-15)
    assert image.max() <= y.max() * (1 + 1e-15)


def test_float32_and_integer_input():
    x, y, a, b = draw(0, 30, 20, decimals=1, weighted=True)
    single = tuple(part.astype(np.float32) for part in (x, y, a, b))
    double = tuple(part.astype(np.float64) for part in single)
    assert wasserstein_squared(*single) == wasserstein_squared(*double)
    assert (transport_map(*single) == transport_map(*double)).all()
    assert transport_map([1, 2], [5, 3]).tolist() == [3.0, 5.0]
    assert transport_map(*single).dtype == np.float64


def test_zero_weight_rows_change_nothing():
    x, y, a, b = draw(1, 30, 20, decimals=1, weighted=True)
    assert wasserstein_squared(np.append(x, 1e9), y, np.append(a, 0), b) == wasserstein_squared(x, y, a, b)
    assert (
        transport_map(np.append(x, 1e9), y, np.append(a, 0), b)[:-1][a > 0] == transport_map(x, y, a, b)[a > 0]
    ).all()


def test_atoms_of_mass_0_are_skipped_wherever_they_are():
    """As histograms make them: empty bins at the start, between, and at the end."""
    x, y = measure_sample([1.0, 2.0, 4.0]).measure, measure_sample([0.0, 3.0, 8.0, 9.0]).measure

    def with_holes(measure):
        spread = [np.zeros(3 * len(measure.atoms)) for _ in range(2)]
        for part, filled in zip(measure, spread, strict=True):
            filled[1::3] = part
        return measure._replace(atoms=spread[0], mass=spread[1])

    images = [np.full(3 * len(measure.atoms), np.nan) for measure in (x, y)]
    kernels.merge_walk(*with_holes(x), *with_holes(y), *images)
    for image, expected in zip(images, transport_images(x, y), strict=True):
        np.testing.assert_allclose(image[1::3], expected, rtol=1e-15)
        assert (np.delete(image, np.s_[1::3]) == 0.0).all()
    assert transport_cost(with_holes(x), with_holes(y)) == pytest.approx(pot_distance([1, 2, 4], [0, 3, 8, 9]))


@given(samples, samples)
def test_images_both_ways_agree_with_rational_arithmetic(first, second):
    (x, a), (y, b) = split(first), split(second)
    measured = measure_sample(x, a), measure_sample(y, b)
    there, back = transport_images(*(sample.measure for sample in measured))
    for image, sample, weight, expected in (
        (there, measured[0], a, rational_map(x, y, a, b)),
        (back, measured[1], b, rational_map(y, x, b, a)),
    ):
        rows = weight > 0
        np.testing.assert_allclose(image[sample.atom_of_row][rows], expected[rows], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_every_atom_has_an_image_both_ways_though_rounding_eats_the_last(seed):
    rng = np.random.default_rng(seed)
    measures = [
        measure_sample(np.arange(1.0, n + 1), np.append(rng.random(n - 3), [1e-17, 1e-18, 1e-19])).measure
        for n in (40, 25)
    ]
    for image, target in zip(transport_images(*measures), measures[::-1], strict=True):
        assert (image >= target.atoms[0] - 1e-12).all()
        assert (image <= target.atoms[-1] + 1e-12).all()
        assert (np.diff(image) >= -1e-9).all()


def test_a_map_extended_to_a_part_of_its_sample_is_the_map():
    x, y, *_ = draw(2, 40, 30, decimals=1, weighted=False)
    whole, part, target = (measure_sample(sample).measure for sample in (x, x[:11], y))
    image = dict(zip(x.tolist(), rational_map(x, y), strict=True))
    total = np.ones(len(part.atoms))
    extend_image(whole, transport_image(whole, target))(part, 2.0, total)
    np.testing.assert_allclose(total, [1.0 + 2.0 * image[atom] for atom in part.atoms.tolist()], rtol=1e-12)


# ---- Maps are derivatives ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("ties", "direction"), [("right", 1), ("left", -1)])
def test_one_sided_maps_are_the_derivatives_when_a_row_moves_alone(ties, direction, weighted):
    x, y, a, b = draw(3, 40, 33, decimals=1, weighted=weighted)
    mass = np.full(40, 1 / 40) if a is None else a / a.sum()
    image = transport_map(x, y, a, b, ties=ties)
    for i in np.flatnonzero(mass):
        slope = extrapolated_gradient(lambda moved: pot_distance(moved, y, a, b), x, i, direction * 0.02)
        assert 2 * mass[i] * (x[i] - image[i]) == pytest.approx(slope, rel=1e-8, abs=1e-10)
    assert len(np.unique(x[mass > 0])) < np.count_nonzero(mass)
    if not weighted:
        assert np.abs(image - transport_map(x, y)).max() > 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_the_average_map_is_the_derivative_when_a_tied_block_moves_as_one(weighted):
    x, y, a, b = draw(4, 40, 33, decimals=0, weighted=weighted)
    mass = np.full(40, 1 / 40) if a is None else a / a.sum()
    image = transport_map(x, y, a, b)
    for value in np.unique(x[mass > 0]):
        block = np.flatnonzero(x == value)
        for step in (0.02, -0.02):
            slope = extrapolated_gradient(lambda moved: pot_distance(moved, y, a, b), x, block, step)
            ours = 2 * mass[block] @ (x[block] - image[block])
            assert ours == pytest.approx(slope, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("ties", ["right", "left"])
def test_one_sided_maps_are_the_average_map_where_nothing_is_tied(ties):
    x, y, a, b = draw(5, 200, 150, decimals=15, weighted=True)
    counted = a > 0
    np.testing.assert_allclose(transport_map(x, y, a, b, ties=ties)[counted], transport_map(x, y, a, b)[counted])


def simulated_groups(n=1000):
    """The paper's simulation: two groups of n scores with duplicates, no two distinct scores closer than 0.002."""
    rng = np.random.default_rng(0)
    levels = np.cumsum(rng.uniform(0.002, 0.003, 350))
    positions = np.clip(rng.beta([2, 5], [5, 2], size=(n, 2)), 0, 0.999)
    groups = [levels[(len(levels) * positions[:, g]).astype(int)] for g in (0, 1)]
    assert all(len(np.unique(group)) < 0.35 * n for group in groups)
    return groups


@pytest.mark.parametrize("group", [0, 1])
def test_papers_derivatives_agree_with_its_oracle(group):
    """Section "Numerical Estimation of the Derivatives": 1000 + 1000 samples, every sample of both groups."""
    own, other = simulated_groups()[:: 1 if group == 0 else -1]
    n = len(own)
    gradient = 2 / n * (own - transport_map(own, other, ties="right"))
    hessian = 2 / n

    def cost(moved):
        return pot_distance(moved, other)

    steps = [1e-5, 3e-5, 1e-4]
    expected = np.array([one_sided_gradient(cost, own, i, steps) for i in range(n)])
    np.testing.assert_allclose(gradient, expected, atol=2e-4 * np.abs(expected).max())
    # The oracle is biased by half the hessian times the mean step, and by nothing else.
    np.testing.assert_allclose(gradient + hessian / 2 * np.mean(steps), expected, atol=1e-9)
    curvature = [one_sided_hessian(cost, own, i, 9e-4) for i in range(n)]
    np.testing.assert_allclose(curvature, hessian, rtol=1e-5)
    # The one-sided derivative is not the average one.
    assert np.abs(own - n / 2 * expected - transport_map(own, other)).max() > 1e-3


def test_papers_hessian_matrix():
    """Appendix "Non-Diagonal Hessian Terms": 60 samples with duplicates, one-sided mixed derivatives."""
    own, other = (group[:60] for group in simulated_groups())
    assert len(np.unique(own)) < 60
    matrix = mixed_hessian(lambda moved: pot_distance(moved, other), own, 9e-4)
    np.testing.assert_allclose(matrix, 2 / 60 * np.eye(60), atol=1e-6)


# ---- Invariances -------------------------------------------------------------------------------------------------


@given(values, values, st.integers(-50, 50), st.integers(-50, 50))
def test_translation(x, y, by, target_by):
    x, y = np.array(x), np.array(y)
    image = transport_map(x, y)
    np.testing.assert_allclose(transport_map(x + by, y + target_by), image + target_by, atol=1e-10)
    shift = np.mean(x) + by - np.mean(y) - target_by
    spread = wasserstein_squared(x, y) - (np.mean(x) - np.mean(y)) ** 2
    assert wasserstein_squared(x + by, y + target_by) == pytest.approx(spread + shift**2, abs=1e-8)


@given(values, values, st.sampled_from([2.0**-200, 0.1, 3.0, 2.0**100]))
def test_scale(x, y, by):
    x, y = np.array(x), np.array(y)
    np.testing.assert_allclose(transport_map(by * x, by * y), by * transport_map(x, y), rtol=1e-12, atol=1e-12 * by)
    assert wasserstein_squared(by * x, by * y) / by**2 == pytest.approx(wasserstein_squared(x, y), rel=1e-12)


@given(samples, samples, st.randoms(use_true_random=False))
def test_permutation(first, second, random):
    (x, a), (y, b) = split(first), split(second)
    order = random.sample(range(len(x)), len(x))
    assert wasserstein_squared(x[order], y, a[order], b) == pytest.approx(wasserstein_squared(x, y, a, b), rel=1e-12)
    for ties in ("average", "right", "left"):
        image, moved = transport_map(x, y, a, b, ties=ties), transport_map(x[order], y, a[order], b, ties=ties)
        np.testing.assert_allclose(moved[a[order] > 0], image[order][a[order] > 0], atol=1e-12)


@given(samples, samples)
def test_weights_are_repetitions(first, second):
    (x, a), (y, b) = split(first), split(second)
    repeated, target = np.repeat(x, a.astype(int)), np.repeat(y, b.astype(int))
    assert wasserstein_squared(x, y, a, b) == pytest.approx(wasserstein_squared(repeated, target), abs=1e-12)
    image = np.repeat(transport_map(x, y, a, b), a.astype(int))
    np.testing.assert_allclose(image, transport_map(repeated, target), atol=1e-12)


@given(samples, samples)
def test_mass_is_conserved_and_the_map_is_monotone(first, second):
    (x, a), (y, b) = split(first), split(second)
    image = transport_map(x, y, a, b)
    assert np.average(image, weights=a) == pytest.approx(np.average(y, weights=b), abs=1e-12)
    assert (np.diff(image[a > 0][np.argsort(x[a > 0], kind="stable")]) >= -1e-12).all()


@given(samples, samples)
def test_distance_is_symmetric_and_0_only_between_equals(first, second):
    (x, a), (y, b) = split(first), split(second)
    assert wasserstein_squared(x, y, a, b) == pytest.approx(wasserstein_squared(y, x, b, a), rel=1e-12)
    assert wasserstein_squared(x, x, a, 3 * a) == pytest.approx(0, abs=1e-12)
    assert wasserstein_squared(x, x + 1, a, a) == pytest.approx(1)


@pytest.mark.parametrize("ties", ["middle", None])
def test_unknown_ties(ties):
    with pytest.raises(ValueError, match=f"^ties={ties!r} is unknown; allowed are 'average', 'right', 'left'$"):
        transport_map([1], [2], ties=ties)
