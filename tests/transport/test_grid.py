import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.reduction import alone
from otfairboost.threads import RowChunks
from otfairboost.transport import kernels
from otfairboost.transport.grid import MAX_BINS, MIN_BINS, default_bins, robust_grid, unit_grid
from workers import run_workers


def bins_of(score, grid):
    """Each score's bin on the grid."""
    bins, moments = np.empty(len(score), np.uint16), np.empty((1, grid.n_bins, 2))
    kernels.find_bins(score, np.zeros(len(score), np.int16), *grid, bins, moments)
    assert (moments[0, :, 0] == np.bincount(bins, minlength=grid.n_bins)).all()
    return bins.astype(int)


def make_grid(make, score, n_bins, reduce=alone):
    return make(score, n_bins, RowChunks(len(score)), reduce)


EXTREMES = np.array([0.0, 5e-324, 1e-310, 1e-12, 0.5, 1 - 1e-16, 1.0])
HUGE = np.array([-1e300, -1e18, -1e-300, -5e-324, 0.0, 5e-324, 1e-300, 1.0, 1e18, 1e300, 1.7e308])


@pytest.mark.parametrize(
    ("n_rows", "n_cells", "n_groups", "expected"),
    [
        (1, 2, 2, 3072),
        (24_000, 2, 2, 4072),
        (80_000, 2, 2, 10_000),
        (24_000, 4, 2, 2036),
        (80_000, 4, 4, 2500),
        (24_000, 4, 4, 1024),
        (10**7, 2, 2, 20480),
        (10**7, 10, 10, 6553),
        (10**7, 1000, 2, 1024),
    ],
)
def test_default_bins(n_rows, n_cells, n_groups, expected):
    assert default_bins(n_rows, n_cells, n_groups) == expected


@pytest.mark.parametrize("n_rows", [1, 2, 1023, 1024, 1025, 5000])  # places are found for 1024 at a time
@pytest.mark.parametrize("n_cells", [1, 7, 3072])
@pytest.mark.parametrize("kind", [kernels.UNIFORM, kernels.LOGARITHMIC])
def test_cells_are_even_in_the_score_or_in_its_logarithm(kind, n_cells, n_rows):
    """Against the same in floating point: NumPy's ``frexp`` tells the power of two and how far it is to the next."""
    rng = np.random.default_rng(5)
    score = rng.normal(3.0, 2.0, n_rows) * np.where(rng.random(n_rows) < 0.1, 1e6, 1.0)
    t = 0.1 * (score - 1.0)
    if kind == kernels.LOGARITHMIC:
        mantissa, exponent = np.frexp(1.0 + np.abs(t))
        t = 0.5 + np.sign(t) * (exponent - 1 + 2.0 * mantissa - 1.0) / (2 * kernels.N_OCTAVES)
    place = np.clip(t, 0.0, 1.0) * n_cells
    cell = np.minimum(np.floor(place), n_cells - 1).astype(int)
    counts = np.empty(n_cells, np.int32)
    kernels.count_cells(score, kind, 1.0, 0.1, counts)
    assert (counts == np.bincount(cell, minlength=n_cells)).all()
    starts = np.arange(n_cells + 1, dtype=np.int32) * 5
    bins, moments = np.empty(n_rows, np.uint16), np.empty((1, 5 * n_cells, 2))
    kernels.find_bins(score, np.zeros(n_rows, np.int16), kind, 1.0, 0.1, starts, bins, moments)
    assert (bins == np.minimum(5 * cell + np.floor(5 * (place - cell)), 5 * n_cells - 1)).all()


@pytest.mark.parametrize("n_bins", [MIN_BINS, 100, 1024, MAX_BINS])
@pytest.mark.parametrize(("make", "extremes"), [(unit_grid, EXTREMES), (robust_grid, HUGE)])
def test_every_score_lands_on_the_grid_in_order(make, extremes, n_bins):
    rng = np.random.default_rng(0)
    score = np.concatenate([extremes, rng.random(5000)])
    grid = make_grid(make, score, n_bins // 2)
    assert 1 <= grid.n_bins <= n_bins // 2
    bins = bins_of(score, grid)
    assert bins.min() >= 0
    assert bins.max() < grid.n_bins
    assert (np.diff(bins[np.argsort(score, kind="stable")]) >= 0).all()


@pytest.mark.parametrize("make", [unit_grid, robust_grid])
def test_cells_without_rows_have_no_bins(make):
    grid = make_grid(make, 0.2 + 0.1 * np.random.default_rng(0).random(5000), 1024)
    n_bins = np.diff(grid.starts)
    assert np.count_nonzero(n_bins) < 0.5 * len(n_bins)
    assert grid.n_bins == n_bins.sum() >= 500


@pytest.mark.parametrize("make", [unit_grid, robust_grid])
@pytest.mark.parametrize("score", [np.full(50, 0.3), np.array([0.7]), np.empty(0), np.array([0.0] * 40 + [1.0])])
def test_grids_of_few_distinct_scores(make, score):
    grid = make_grid(make, score, 64)
    bins = bins_of(score, grid)
    assert len(np.unique(bins)) == len(np.unique(score))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200), min_size=1),
    st.sampled_from([16, 1024]),
)
def test_bins_are_monotone_in_the_score(score, n_bins):
    score = np.sort(np.array(score))
    grid = make_grid(robust_grid, score, n_bins)
    bins = bins_of(score, grid)
    assert (np.diff(bins) >= 0).all()
    assert bins[-1] < grid.n_bins


def test_bins_are_fine_where_the_rows_are():
    """10,000 rows within a thousandth: half of the bins follow them, where even bins would put 500 into each."""
    rng = np.random.default_rng(1)
    score = np.concatenate([0.5 + 1e-3 * rng.random(10_000), rng.random(100)])
    counts = np.bincount(bins_of(score, make_grid(unit_grid, score, 16384)))
    assert counts.max() < 20
    assert np.bincount((score * 16384).astype(int)).max() > 500


def test_outliers_do_not_coarsen_the_grid():
    rng = np.random.default_rng(2)
    bulk = rng.normal(size=20_000)
    with_outliers = np.concatenate([bulk, [1e9, -1e12, 1e300]])
    used = [
        len(np.unique(bins_of(score, make_grid(robust_grid, score, 2500))[:20_000])) for score in (bulk, with_outliers)
    ]
    assert used[1] > 0.95 * used[0]
    assert used[0] > 1500


@pytest.mark.parametrize(("shift", "scale"), [(1e6, 1.0), (0.0, 1e-9), (-3e4, 1e5)])
def test_the_grid_follows_location_and_scale(shift, scale):
    score = np.random.default_rng(3).normal(size=5000)
    used = [
        len(np.unique(bins_of(moved, make_grid(robust_grid, moved, 1024)))) for moved in (score, shift + scale * score)
    ]
    assert abs(used[1] - used[0]) < 0.02 * used[0]


ROWS = np.random.default_rng(4)
SPREAD_ROWS = {
    "probabilities": ROWS.beta(2, 5, 3000),
    "heavy tails": ROWS.standard_cauchy(3000),
    "far from zero": 1e6 + ROWS.normal(size=3000),
    "half equal": np.where(ROWS.random(3000) < 0.6, 20.0, 20.0 + 1e-6 * ROWS.random(3000)),
    "all equal": np.full(3000, -7.1),
}


@pytest.mark.parametrize("make", [unit_grid, robust_grid])
@pytest.mark.parametrize("name", SPREAD_ROWS)
def test_workers_that_sum_their_counts_get_one_grid(make, name):
    """Sorted, so that no worker sees the others' scores; one of them has no rows."""
    score = np.sort(SPREAD_ROWS[name])
    whole = make_grid(make, SPREAD_ROWS[name], 1024)
    parts = np.split(score, [700, 700, 1900])
    for grid in run_workers(4, lambda worker, reduce: make_grid(make, parts[worker], 1024, reduce)):
        assert grid[:3] == whole[:3]
        assert (grid.starts == whole.starts).all()


@pytest.mark.parametrize("name", SPREAD_ROWS)
def test_scale_and_origin_are_roughly_those_of_the_quartiles(name):
    score = SPREAD_ROWS[name]
    low, median, high = np.percentile(score, (25, 50, 75))
    spread = high - low or np.ptp(score)
    grid = make_grid(robust_grid, score, 1024)
    assert abs(grid.origin - median) <= 0.05 * spread + 1e-12 * abs(median)
    assert grid.scale == (pytest.approx(8.0 / spread, rel=0.4) if spread else 1.0)


def test_a_last_grid_that_fits_stays_in_place():
    """Bins follow the rows all the same, and one that does not fit is as good as none."""
    score = np.random.default_rng(5).normal(3.0, 2.0, 20_000)
    first = make_grid(robust_grid, score, 8192)
    moved = {"fits": 0.05 + 1.05 * score, "far": score + 2.0, "wide": 2.0 * score - 3.0, "narrow": 0.5 * score + 1.5}
    for name, now in moved.items():
        grid = robust_grid(now, 8192, RowChunks(len(now)), alone, first)
        afresh = make_grid(robust_grid, now, 8192)
        assert (grid[:3] == first[:3]) == (name == "fits")
        assert (grid[:3] == afresh[:3]) == (name != "fits")
        used = [len(np.unique(bins_of(now, either))) for either in (grid, afresh)]
        assert used[0] > 0.97 * used[1]


@pytest.mark.parametrize("name", ["probabilities", "heavy tails", "far from zero"])
def test_a_grid_fits_scores_near_those_it_was_made_for(name):
    """Else it would be looked for in every round."""
    score = SPREAD_ROWS[name]
    first = make_grid(robust_grid, score, 8192)
    shifted = score + 0.03 * np.subtract(*np.percentile(score, (75, 25)))
    assert robust_grid(shifted, 8192, RowChunks(len(score)), alone, first)[:3] == first[:3]


@pytest.mark.parametrize("name", ["probabilities", "far from zero"])
def test_few_cells_tell_too_little_to_keep_a_grid(name):
    score = SPREAD_ROWS[name]
    shifted = score + 0.03 * np.subtract(*np.percentile(score, (75, 25)))
    again = robust_grid(shifted, 1024, RowChunks(len(score)), alone, make_grid(robust_grid, score, 1024))
    assert again[:3] == make_grid(robust_grid, shifted, 1024)[:3]
