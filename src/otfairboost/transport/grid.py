"""Grids that scores are binned on."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.reduction import Reduce
from otfairboost.threads import RowChunks
from otfairboost.transport import kernels

MIN_BINS, MAX_BINS = 16, 65536  # a row's bin is kept in 16 bits
DEFAULT_BINS = 20480  # of many rows; with fewer a round is faster, but more rows err by over 1e-3 of the range
_BINS_PER_CELL = 4
_SPARSE = 32  # rows: cells of about as many get the most bins
_EXTREME = 64  # rows at either end that get the most bins each
_FEW_CELLS = 8  # quartiles closer than this on a grid are looked for on a finer one
_FINER_CELLS = 1024
_FLOAT_EDGES = kernels.float_edges()
_MAX_ZOOMS = 6  # each a hundred times finer: then floats have no more digits
_SPREAD = 8.0  # the interquartile range on a robust grid: its even part reaches about as far
_TELLING_CELLS = 1024  # of a robust grid: fewer are too coarse to tell quartiles


def default_bins(n_rows: int, n_cells: int, n_groups: int = 2) -> int:
    """Return how many bins to use: up to ``DEFAULT_BINS``, fewer if there are few rows for them or many cells to bin.

    Of more than two groups each is transported several times, so that bins cost more: half as many for few rows.
    """
    wanted = max(n_rows // 4, 6144 + n_rows // 12) // n_cells // (1 if n_groups == 2 else 2)
    return max(min(wanted, 65536 // n_cells, DEFAULT_BINS), 1024)


class Grid(NamedTuple):
    r"""How a score becomes a bin number; a plain record that kernels take apart.

    Attributes
    ----------
    kind : int
        ``kernels.UNIFORM``: even cells on :math:`0 \le t \le 1` with :math:`t = \text{scale} (z - \text{origin})`.
        ``kernels.LOGARITHMIC``: even cells in :math:`\pm \log_2(1 + |t|)`.
    origin, scale : float
    starts : int32 array of shape (n_cells + 1,)
        Cell c is divided evenly into the bins ``starts[c]`` to ``starts[c + 1] - 1``.
    """

    kind: int
    origin: float
    scale: float
    starts: NDArray[np.int32]

    @property
    def n_bins(self) -> int:
        """Return the number of bins."""
        return int(self.starts[-1])


Float = NDArray[np.float64]
MakeGrid = Callable[[Float, int, RowChunks, Reduce, Grid | None], Grid]
"""``make(score, n_bins, chunks, reduce, last)``: a grid for these scores, perhaps placed as ``last`` was."""


def unit_grid(score: Float, n_bins: int, chunks: RowChunks, reduce: Reduce, last: Grid | None = None) -> Grid:
    """Return a grid for probabilities: fixed even cells on [0, 1], divided further where rows are."""
    place = (kernels.UNIFORM, 0.0, 1.0)
    return _divide(place, _count_cells(score, place, _share_cells(n_bins), chunks, reduce), n_bins)[0]


def robust_grid(score: Float, n_bins: int, chunks: RowChunks, reduce: Reduce, last: Grid | None = None) -> Grid:
    """Return a grid that follows the scores and that outliers cannot ruin.

    Cells are even near the median, on the scale of the interquartile range, and grow in proportion to the distance
    further out, to millions of interquartile ranges. No score falls off the grid. Median and range are known to some
    percent: they decide how fine the bins are, not what is right, because any grid gives the exact transport of the
    measures binned on it. So a last grid that still fits is placed no further, which saves looking for them.
    """
    n_cells = _share_cells(n_bins)
    if last is not None and n_cells >= _TELLING_CELLS:
        place = last[:3]
        grid, quartiles = _divide(place, _count_cells(score, place, n_cells, chunks, reduce), n_bins)
        if _still_fits(quartiles, n_cells):
            return grid
    median, spread = _find_centre(score, chunks, reduce)
    scale = _SPREAD / spread if spread > 0.0 else 1.0
    place = (kernels.LOGARITHMIC, median, scale if np.isfinite(scale) else 1.0)
    return _divide(place, _count_cells(score, place, n_cells, chunks, reduce), n_bins)[0]


def _still_fits(quartiles: tuple[int, int, int], n_cells: int) -> bool:
    """Return whether the quartiles are in about those of a robust grid's even cells that they are put in."""
    low, median, high = (_middle_of(cell, n_cells) for cell in quartiles)
    return abs(median) <= 0.125 * _SPREAD and 0.6 * _SPREAD <= high - low <= 1.7 * _SPREAD


def _middle_of(cell: int, n_cells: int) -> float:
    """Return where the middle of a robust grid's cell is, on the grid's scale."""
    octaves = ((cell + 0.5) / n_cells - 0.5) * (2 * kernels.N_OCTAVES)
    return math.copysign(2.0 ** abs(octaves) - 1.0, octaves)


def _find_centre(score: Float, chunks: RowChunks, reduce: Reduce) -> tuple[float, float]:
    """Return median and interquartile range, roughly; the whole range if half of the rows are equal.

    From numbers of rows alone, which workers can add up: the result does not depend on who has which rows, nor on
    their order. First on a grid of all floats, then, if that is too coarse, on ever finer ones between the quartiles.
    """
    edges = _FLOAT_EDGES
    counts = _count(score, kernels.count_floats, len(edges) - 1, chunks, reduce)
    if not counts.any():
        return 0.0, 0.0
    whole_range = 0.0
    for _ in range(_MAX_ZOOMS):
        used = np.flatnonzero(counts)
        low, median, high = np.searchsorted(np.cumsum(counts), counts.sum() * np.array([0.25, 0.5, 0.75]))
        if not whole_range and (used[0] < low or used[-1] > high):  # what lies outside is out of sight from here on
            whole_range = edges[used[-1] + 1] - edges[used[0]]
        bottom, top = float(edges[low]), float(edges[high + 1])
        if high - low >= _FEW_CELLS:
            return float(0.5 * edges[median] + 0.5 * edges[median + 1]), float(edges[high] - edges[low])
        if not top - bottom > 1e-14 * max(abs(bottom), abs(top)):
            break
        edges = np.linspace(bottom, top, _FINER_CELLS + 1)
        counts = _count_cells(score, (kernels.UNIFORM, bottom, 1.0 / (top - bottom)), _FINER_CELLS, chunks, reduce)
    return float(0.5 * edges[median] + 0.5 * edges[median + 1]), float(whole_range)


def _count_cells(
    score: Float, place: tuple[int, float, float], n_cells: int, chunks: RowChunks, reduce: Reduce
) -> Float:
    """Return the number of rows in each of a grid's even cells, over all workers."""
    return _count(score, lambda rows, counts: kernels.count_cells(rows, *place, counts), n_cells, chunks, reduce)


def _count(
    score: Float, count: Callable[[Float, NDArray[np.int32]], None], n_cells: int, chunks: RowChunks, reduce: Reduce
) -> Float:
    counts = np.zeros((len(chunks), n_cells), np.int32)
    chunks.run(lambda index, start, stop: count(score[start:stop], counts[index]))
    return reduce(counts.sum(axis=0, dtype=np.float64))


def _share_cells(n_bins: int) -> int:
    return max(1, n_bins // _BINS_PER_CELL)


def _divide(place: tuple[int, float, float], counts: Float, n_bins: int) -> tuple[Grid, tuple[int, int, int]]:
    """Divide cells into bins: one each, and of the others some evenly, some by rows, most where rows are few.

    Return the cells of the quartiles too.

    There images are far apart, and three rows of a group that share a bin would be told apart by their ranks only:
    in cells of few rows, and among the first and the last rows of all. Two rows share a bin without harm.
    """
    starts = np.empty(len(counts) + 1, np.int32)
    quartiles = kernels.share_bins(counts, n_bins, _SPARSE, _EXTREME, starts)
    return Grid(*place, starts), quartiles
