"""Grids that scores are binned on."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.threads import RowChunks
from otfairboost.transport import kernels

MIN_BINS, MAX_BINS = 16, 65536  # a row's bin is kept in 16 bits
_BINS_PER_CELL = 4
_SPARSE = 32  # rows: cells of about as many get the most bins
_QUARTILES = (0.25, 0.5, 0.75)
_FEW_CELLS = 8  # quartiles closer than this on a grid are looked for on a finer one
_FINER_CELLS = 1024
_FLOAT_EDGES = kernels.float_edges()
_MAX_ZOOMS = 6  # each a hundred times finer: then floats have no more digits


def default_bins(n_rows: int, n_cells: int) -> int:
    """Return how many bins to use: up to 24576, fewer if there are few rows for them or many cells to bin."""
    return max(min(n_rows // (4 * n_cells), 65536 // n_cells, 24576), 1024)


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


MakeGrid = Callable[[NDArray[np.float64], int, RowChunks, Callable[[NDArray[np.float64]], NDArray[np.float64]]], Grid]


def unit_grid(
    score: NDArray[np.float64],
    n_bins: int,
    chunks: RowChunks,
    reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Grid:
    """Return a grid for probabilities: fixed even cells on [0, 1], divided further where rows are."""
    return _divide(score, kernels.UNIFORM, 0.0, 1.0, n_bins, chunks, reduce)


def robust_grid(
    score: NDArray[np.float64],
    n_bins: int,
    chunks: RowChunks,
    reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Grid:
    """Return a grid that follows the scores and that outliers cannot ruin.

    Cells are even near the median, on the scale of the interquartile range, and grow in proportion to the distance
    further out, to millions of interquartile ranges. No score falls off the grid. Median and range are known to some
    percent: they decide how fine the bins are, not what is right, because any grid gives the exact transport of the
    measures binned on it.
    """
    median, spread = _find_centre(score, chunks, reduce)
    scale = 8.0 / spread if spread > 0.0 else 1.0
    return _divide(score, kernels.LOGARITHMIC, median, scale if np.isfinite(scale) else 1.0, n_bins, chunks, reduce)


def _find_centre(
    score: NDArray[np.float64],
    chunks: RowChunks,
    reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> tuple[float, float]:
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
        low, median, high = np.searchsorted(np.cumsum(counts), np.array(_QUARTILES) * counts.sum())
        if not whole_range and (used[0] < low or used[-1] > high):  # what lies outside is out of sight from here on
            whole_range = edges[used[-1] + 1] - edges[used[0]]
        bottom, top = float(edges[low]), float(edges[high + 1])
        if high - low >= _FEW_CELLS:
            return float(0.5 * edges[median] + 0.5 * edges[median + 1]), float(edges[high] - edges[low])
        if not top - bottom > 1e-14 * max(abs(bottom), abs(top)):
            break
        edges = np.linspace(bottom, top, _FINER_CELLS + 1)
        count = partial(_count_cells, kind=kernels.UNIFORM, origin=bottom, scale=1.0 / (top - bottom))
        counts = _count(score, count, _FINER_CELLS, chunks, reduce)
    return float(0.5 * edges[median] + 0.5 * edges[median + 1]), float(whole_range)


def _count(
    score: NDArray[np.float64],
    count: Callable[[NDArray[np.float64], NDArray[np.int32]], None],
    n_cells: int,
    chunks: RowChunks,
    reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the number of rows in each cell of a grid, over all workers."""
    counts = np.zeros((len(chunks), n_cells), np.int32)
    chunks.run(lambda index, start, stop: count(score[start:stop], counts[index]))
    return reduce(counts.sum(axis=0, dtype=np.float64))


def _count_cells(
    score: NDArray[np.float64], counts: NDArray[np.int32], *, kind: int, origin: float, scale: float
) -> None:
    kernels.count_cells(score, kind, origin, scale, counts)


def _divide(
    score: NDArray[np.float64],
    kind: int,
    origin: float,
    scale: float,
    n_bins: int,
    chunks: RowChunks,
    reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Grid:
    """Divide cells into bins: one each, and of the others some evenly, some by rows, most where rows are few.

    There images are far apart, and three rows of a group that share a bin would be told apart by their ranks only.
    """
    n_cells = max(1, n_bins // _BINS_PER_CELL)
    counts = _count(score, partial(_count_cells, kind=kind, origin=origin, scale=scale), n_cells, chunks, reduce)
    wanted = np.minimum(np.maximum(counts, 8.0), _SPARSE**2 / np.maximum(counts, 1.0))
    sparse = np.where(counts > 2, wanted, 0.0)
    share = sum(
        part * measure / max(1.0, measure.sum()) for part, measure in ((0.1, counts > 0), (0.6, sparse), (0.3, counts))
    )
    bins = 1 + ((n_bins - n_cells) * share).astype(np.int32)
    starts = np.zeros(n_cells + 1, np.int32)
    np.cumsum(bins, out=starts[1:])
    return Grid(kind, origin, scale, starts)
