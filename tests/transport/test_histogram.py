"""Binned transport, through the penalty's own tables where rows are concerned."""

import numpy as np
import pytest
from scipy import special, stats

from oracles import rational_map
from otfairboost.criteria import Strata
from otfairboost.groups import Groups
from otfairboost.penalty import Penalty
from otfairboost.plan import plan_comparisons
from otfairboost.reduction import alone
from otfairboost.scores import IDENTITY_SCORE, LOGISTIC, ScoreMap
from otfairboost.threads import MIN_CHUNK, RowChunks
from otfairboost.transport import transport_image, transport_map
from otfairboost.transport.grid import default_bins, robust_grid
from otfairboost.transport.histogram import Histogram, ScoreBinner, Scratch, extend_image, read_cells, read_rests
from otfairboost.transport.measure import Measure
from workers import run_workers

PROBABILITY = ScoreMap(LOGISTIC, 1.0, 0.0)
UNWEIGHTED = np.empty(0, np.float32)


def binned_map(x, y, score_map, *, x_weight=None, y_weight=None, n_bins=None, n_jobs=1):
    """Where the histogram moves the rows of x, and those of y."""
    score = np.concatenate([x, y])
    codes = np.repeat(np.array([0, 1], np.int32), [len(x), len(y)])
    weight = UNWEIGHTED if x_weight is None else np.concatenate([x_weight, y_weight]).astype(np.float32)
    everyone = Strata(np.zeros(len(score), np.int32), ("all rows",))
    plan = plan_comparisons(Groups(codes, ("x", "y")), everyone, weight, "equal")
    penalty = Penalty(plan, score_map, n_bins=n_bins or default_bins(len(score), 2))
    with RowChunks(len(score), n_jobs) as chunks:
        image = penalty.targets(score, chunks)
    return image[: len(x)], image[len(x) :]


def bins_of(score, score_map, n_bins):
    """Each row's bin, as rows are binned during training."""
    binner = ScoreBinner(np.zeros(len(score), np.int16), UNWEIGHTED, 1, score_map.make_grid, n_bins)
    binner.bin(score, RowChunks(len(score)))
    return binner.bins.astype(int)


def quantiles(distribution, n):
    return distribution.ppf((np.arange(n) + 0.5) / n)


SMOOTH = [
    pytest.param(stats.beta(2, 5), stats.beta(3, 3), PROBABILITY, id="beta"),
    pytest.param(stats.uniform(), stats.beta(1.5, 1), PROBABILITY, id="uniform"),
    pytest.param(stats.norm(0, 1), stats.norm(1, 2), IDENTITY_SCORE, id="normal"),
    pytest.param(stats.cauchy(0, 1), stats.cauchy(1, 2), IDENTITY_SCORE, id="cauchy"),
    pytest.param(stats.lognorm(2), stats.lognorm(2, scale=2.7), IDENTITY_SCORE, id="lognormal"),
]


def relative_error(x, y, score_map):
    """The error of every row's image at default bins, as a share of the score range."""
    span = max(x.max(), y.max()) - min(x.min(), y.min())
    to_y, to_x = binned_map(x, y, score_map)
    return np.concatenate([np.abs(to_y - transport_map(x, y)), np.abs(to_x - transport_map(y, x))]) / span


@pytest.mark.parametrize(("first", "second", "score_map"), SMOOTH)
def test_error_on_smooth_densities_at_default_bins(first, second, score_map):
    """Evenly spread quantiles, so that the exact map is as smooth as the densities: 1e-3 of the range everywhere.

    This holds at 200,000 rows. Fewer rows have fewer bins by default, and may err by more.
    """
    assert relative_error(quantiles(first, 110_000), quantiles(second, 90_000), score_map).max() <= 1e-3


def sample_error(name, seed, n_rows):
    """The errors of a random sample of two groups."""
    rng = np.random.default_rng(seed)
    x, y = {
        "normal": lambda: (rng.normal(0, 1, n_rows // 2), rng.normal(1, 2, n_rows // 2)),
        "lognormal": lambda: (rng.lognormal(0, 0.8, n_rows // 2), rng.lognormal(0.3, 0.8, n_rows // 2)),
        "logistic": lambda: special.expit((rng.normal(-2, 1.5, n_rows // 2), rng.normal(0, 1, n_rows // 2))),
        "beta": lambda: (rng.beta(2, 5, n_rows // 2), rng.beta(3, 5, n_rows // 2)),
        "two humps": lambda: special.expit(
            [rng.choice([-1, 1], n_rows // 2) * mode + rng.normal(0, 0.7, n_rows // 2) for mode in (4, 3)]
        ),
    }[name]()
    return relative_error(x, y, IDENTITY_SCORE if "normal" in name else PROBABILITY)


@pytest.mark.parametrize("name", ["normal", "lognormal", "logistic", "beta"])
def test_error_on_random_samples_at_default_bins(name):
    """The same on random samples, whose exact map jumps from row to row in the tails."""
    assert max(sample_error(name, seed, 200_000).max() for seed in range(5)) <= 1e-3


@pytest.mark.parametrize(
    ("name", "n_rows", "share", "largest"),
    [("logistic", 5000, 5e-4, 2e-3), ("normal", 5000, 5e-4, 2e-3), ("two humps", 400_000, 1e-5, 0.05)],
)
def test_rows_that_err_more_are_few(name, n_rows, share, largest):
    """Few rows have few bins; and where the other group has a hole, the exact map jumps within some bin."""
    errors = np.concatenate([sample_error(name, seed, n_rows) for seed in range(6)])
    assert np.mean(errors > 1e-3) <= share
    assert errors.max() <= largest


@pytest.mark.filterwarnings("ignore:.*groups of fewer than")
@pytest.mark.parametrize("apart", [1e-7, 1e-4])
def test_two_rows_alone_in_a_bin_get_their_exact_images(apart):
    """However close they are and however far apart these images."""
    x = np.array([0.1, 0.5, 0.5 + apart, 0.9])
    y = np.array([0.05, 0.2, 0.8, 0.95])
    to_y, to_x = binned_map(x, y, PROBABILITY, n_bins=64)
    np.testing.assert_allclose(to_y, y, atol=1e-7)
    np.testing.assert_allclose(to_x, x, atol=1e-7)


@pytest.mark.parametrize(("first", "second", "score_map"), SMOOTH)
def test_images_of_random_samples_are_as_the_exact_ones_nearby(first, second, score_map):
    """What does hold on any sample: a row lands within the exact images of its bin and the two next to it.

    A bin's image is the mean of its rows' exact ones, and a row is moved from there along the line through the bin's
    atoms, by less than their images are apart. The target's own bins add less than 1e-3 of the range.
    """
    rng = np.random.default_rng(0)
    x, y = (np.sort(d.rvs(n, random_state=rng)) for d, n in ((first, 110_000), (second, 90_000)))
    both = np.concatenate([x, y])
    bins = bins_of(both, score_map, default_bins(len(both), 2))[: len(x)]
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    exact = transport_map(x, y)
    low, high = np.minimum.reduceat(exact, starts), np.maximum.reduceat(exact, starts)
    low, high = np.append(low[:1], low[:-1]), np.append(high[1:], high[-1:])  # the map is monotone
    slack = high - low + 1e-3 * np.ptp(both)
    bin_of_row = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(x)))
    to_y, _ = binned_map(x, y, score_map)
    assert (to_y >= (low - slack)[bin_of_row]).all()
    assert (to_y <= (high + slack)[bin_of_row]).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("score_map", [PROBABILITY, IDENTITY_SCORE])
def test_distinct_values_with_bins_of_their_own_get_their_exact_image(score_map, weighted):
    rng = np.random.default_rng(1)
    levels = np.sort(rng.choice(1000, 120, replace=False)) / 1000 + 0.0005
    x, y = rng.choice(levels, 700), rng.choice(levels, 600)
    a = rng.integers(1, 6, 700) if weighted else np.ones(700)
    b = rng.integers(1, 6, 600) if weighted else np.ones(600)
    to_y, to_x = binned_map(x, y, score_map, x_weight=a, y_weight=b, n_bins=16384)
    np.testing.assert_allclose(to_y, rational_map(x, y, a, b), atol=1e-10)
    np.testing.assert_allclose(to_x, rational_map(y, x, b, a), atol=1e-10)


def test_rows_of_a_shared_bin_keep_their_mean_image():
    """Rows that share a bin are moved to the right place on average, here onto 16 distinct values."""
    rng = np.random.default_rng(2)
    x, y = rng.random(500), rng.choice(np.arange(16) / 16 + 0.01, 400)
    to_y, _ = binned_map(x, y, PROBABILITY, n_bins=1024)
    assert np.mean(to_y) == pytest.approx(np.mean(y), abs=1e-6)
    exact = transport_map(x, y)
    cells = (x * 128).astype(int)  # of the grid: bins do not cross them
    for cell in np.unique(cells):
        assert to_y[cells == cell].mean() == pytest.approx(exact[cells == cell].mean(), abs=1e-6)


def test_rows_of_a_shared_bin_are_moved_along_the_line_through_it():
    """Under an even stretch by 3, that leaves a small part of the error of moving a whole bin to one place."""
    level = (np.arange(50_000) + 0.5) / 50_000
    x, y = 0.2 + 0.3 * level, 0.02 + 0.95 * level
    both, exact = np.concatenate([x, y]), transport_map(x, y)
    bins = bins_of(both, PROBABILITY, 64)[: len(x)]
    of_bin = (np.bincount(bins, exact)[bins] / np.bincount(bins)[bins]) - exact
    error = binned_map(x, y, PROBABILITY, n_bins=64)[0] - exact
    inner = (bins > bins.min()) & (bins < bins.max())
    assert np.abs(of_bin[inner]).max() > 0.005
    assert np.abs(error[inner]).max() < 0.25 * np.abs(of_bin[inner]).max()


def test_outliers_do_not_spoil_the_map_of_the_bulk():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=12_000), 0.5 + 2 * rng.normal(size=10_000)

    def bulk_error(x, y):
        return np.abs(binned_map(x, y, IDENTITY_SCORE)[0] - transport_map(x, y))[:12_000].mean()

    with_outliers = bulk_error(np.append(x, [1e12, -1e15, 1e300]), np.append(y, [-1e12, 1e200]))
    assert with_outliers <= 1.2 * bulk_error(x, y)


@pytest.mark.parametrize("same_bounds", [True, False])
def test_histograms_of_parts_add_up(same_bounds):
    """What workers sum is what one machine would have counted, and gives the same map."""
    rng = np.random.default_rng(4)
    n = 6000
    score = rng.random(n)
    cell, weight = rng.integers(-1, 3, n).astype(np.int16), rng.exponential(size=n).astype(np.float32)
    parts = np.array_split(rng.permutation(n), 4)

    def count(rows, reduce):
        binner = ScoreBinner(cell[rows], weight[rows], 3, PROBABILITY.make_grid, 1024, reduce, same_bounds=same_bounds)
        return binner.bin(score[rows], RowChunks(len(rows))), binner.bins.copy()

    whole, bins = count(np.arange(n), alone)
    np.testing.assert_allclose(
        whole.sums[..., 0].sum(axis=1), np.bincount(cell[cell >= 0], weight[cell >= 0]), rtol=1e-12
    )
    for part, (summed, part_bins) in zip(
        parts, run_workers(4, lambda worker, reduce: count(parts[worker], reduce)), strict=True
    ):
        np.testing.assert_allclose(summed.sums, whole.sums, rtol=1e-12, atol=1e-17)
        np.testing.assert_allclose(summed.middle, whole.middle, rtol=1e-12)
        assert (part_bins == bins[part])[cell[part] >= 0].all()
        measures = [read_cells(whole), read_cells(summed)]
        for one, other in ((0, 1), (1, 2), (2, 0)):
            images = [transport_image(cells[one], cells[other]) for cells in measures]
            np.testing.assert_allclose(images[1], images[0], atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_histogram_in_parts_is_read_as_their_sum(weighted):
    rng = np.random.default_rng(7)
    n = 4 * MIN_CHUNK
    cell, weight = rng.integers(-1, 3, n).astype(np.int16), rng.exponential(size=n).astype(np.float32)
    binner = ScoreBinner(cell, weight if weighted else UNWEIGHTED, 3, robust_grid, 512, same_bounds=False)
    parted = binner.bin(rng.normal(size=n) + cell, RowChunks(n))
    assert len(parted.parts) == 4
    together = Histogram(parted.sums[None], parted.middle)
    for one, other in zip(read_cells(parted), read_cells(together), strict=True):
        assert (one.atoms == other.atoms).all()
        assert (one.mass == other.mass).all()


@pytest.mark.parametrize("same_bounds", [True, False])
@pytest.mark.parametrize("n_rows", [1000, 2 * MIN_CHUNK])
def test_binners_that_share_their_room_leave_each_others_histograms_alone(n_rows, same_bounds):
    rng = np.random.default_rng(8)
    cell, scratch = rng.integers(0, 2, n_rows).astype(np.int16), Scratch()
    first, second = (
        ScoreBinner(cell, UNWEIGHTED, 2, robust_grid, 256, same_bounds=same_bounds, scratch=scratch) for _ in range(2)
    )
    histogram = first.bin(rng.normal(size=n_rows), RowChunks(n_rows))
    before = histogram.sums.copy()
    second.bin(rng.exponential(size=n_rows), RowChunks(n_rows))
    assert (histogram.sums == before).all()


@pytest.mark.parametrize("n_cells", [2, 3, 5])
def test_rests_are_the_other_cells_together(n_cells):
    """With no dust in bins that only the cell itself fills: these have mass 0, not a rounding error."""
    rng = np.random.default_rng(5)
    mass = rng.exponential(size=(n_cells, 40)) * rng.integers(0, 2, (n_cells, 40))
    mean, variance = rng.random((n_cells, 40)), 0.01 * rng.random((n_cells, 40))
    sums = np.stack([mass, mass * mean, mass * (variance + (mean - 0.5) ** 2)], axis=-1)
    for g, rest in enumerate(read_rests(Histogram(sums[None], np.full((n_cells, 20), 0.5)))):
        m = np.delete(mass, g, axis=0)
        filled = m.sum(axis=0) > 0
        np.testing.assert_allclose(rest.mass.reshape(40, 2), np.repeat(m.sum(axis=0), 2).reshape(40, 2) / m.sum() / 2)
        assert (rest.mass.reshape(40, 2)[~filled] == 0).all()
        means, variances = np.delete(mean, g, axis=0)[:, filled], np.delete(variance, g, axis=0)[:, filled]
        expected = np.average(means, axis=0, weights=m[:, filled])
        pairs = rest.atoms.reshape(40, 2)[filled]
        np.testing.assert_allclose(pairs.mean(axis=1), expected, rtol=1e-12)
        spread = np.average(variances + (means - expected) ** 2, axis=0, weights=m[:, filled])
        np.testing.assert_allclose(pairs.var(axis=1), spread, rtol=1e-9)


def test_two_values_in_one_bin_of_the_grid_get_a_bin_each():
    score = np.repeat([0.5, 0.5 + 1e-9, 0.7], [30, 50, 20])
    bins = bins_of(score, PROBABILITY, 64)
    assert len(np.unique(bins)) == 3
    assert (np.diff(bins) >= 0).all()


def test_a_cell_has_two_atoms_a_bin_of_its_mean_and_variance():
    sums = np.array([[0.0, 0.0, 0.0], [2.0, 0.5, 0.125], [0.0, 0.0, 0.0], [6.0, 4.5, 0.435]])
    (measure,) = read_cells(Histogram(sums[None, None], np.array([[0.0, 0.5]])))
    np.testing.assert_allclose(measure.mass, [0, 0, 0.125, 0.125, 0, 0, 0.375, 0.375])
    np.testing.assert_allclose(measure.atoms[2:4], [0.25, 0.25])  # its second moment is that of one value
    np.testing.assert_allclose(measure.atoms[6:], [0.65, 0.85])


@pytest.mark.parametrize("same_bounds", [True, False])
@pytest.mark.parametrize("cells", [(0, 1, 2), (1, 2), (0, 2)])
def test_cells_taken_from_a_histogram_keep_their_moments(cells, same_bounds):
    rng = np.random.default_rng(6)
    cell = rng.integers(0, 3, 3000).astype(np.int16)
    score = rng.beta(1 + cell, 2.0)
    binner = ScoreBinner(cell, UNWEIGHTED, 3, PROBABILITY.make_grid, 64, same_bounds=same_bounds)
    measures = read_cells(binner.bin(score, RowChunks(3000)).take(cells))
    for g, measure in zip(cells, measures, strict=True):
        np.testing.assert_allclose(measure.mean(), score[cell == g].mean(), rtol=1e-12)
        np.testing.assert_allclose(measure.variance(), score[cell == g].var(), rtol=1e-9)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-9, 123456.789, 1e200])
def test_equal_scores_have_no_spread_but_their_rounding(value):
    binner = ScoreBinner(np.zeros(10_001, np.int16), UNWEIGHTED, 1, robust_grid, 64)
    score = np.append(np.full(10_000, value), 1.001 * value)
    (measure,) = read_cells(binner.bin(score, RowChunks(10_001)))
    filled = measure.mass > 0
    assert np.abs(np.diff(measure.atoms[filled].reshape(-1, 2))).max() <= 1e-9 * value


def test_rows_of_no_cell_count_nowhere_and_buffers_are_used_again():
    binner = ScoreBinner(np.array([0, -1, 0], np.int16), UNWEIGHTED, 1, robust_grid, 64)
    for score in ([0.1, 0.2, 0.9], [5.0, 5.0, 5.0], [1e9, 0.0, -3.0], [0.1, 0.2, 0.9]):
        histogram = binner.bin(np.array(score), RowChunks(3))
        assert histogram.sums[..., 0].sum() == 2.0
        assert histogram.sums[..., 1].sum() == pytest.approx(score[0] + score[2])


def test_a_map_follows_the_line_through_a_bins_atoms_and_no_further_than_it_rises():
    measure = Measure(np.array([0.0, 1.0, 3.0, 3.0]), np.full(4, 0.25))
    image = np.array([0.0, 2.0, 3.0, 9.0])
    total = np.ones(4)
    extend_image(measure, image)(Measure(np.array([0.25, 7.0, 3.0, 3.1]), np.full(4, 0.25)), 2.0, total)
    np.testing.assert_allclose(total, [2.0, 7.0, 13.0, 13.0])


@pytest.mark.parametrize("score_map", [PROBABILITY, IDENTITY_SCORE])
def test_images_are_bit_identical_for_every_number_of_threads(score_map):
    rng = np.random.default_rng(5)
    x, y = rng.random(40_000), rng.random(30_000) ** 2
    a, b = rng.exponential(size=40_000), rng.exponential(size=30_000)
    one = binned_map(x, y, score_map, x_weight=a, y_weight=b, n_jobs=1)
    for n_jobs in (2, 3, 5):
        several = binned_map(x, y, score_map, x_weight=a, y_weight=b, n_jobs=n_jobs)
        assert all((part == other).all() for part, other in zip(one, several, strict=True))
