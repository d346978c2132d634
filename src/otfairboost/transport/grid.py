"""Grids that scores are binned on."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.threads import RowChunks
from otfairboost.transport import kernels

MIN_BINS, MAX_BINS = 16, 65536  # a row's bin is kept in 16 bits
_SAMPLE = 8192
_BINS_PER_CELL = 4
_SPARSE = 32  # rows: cells of about as many get the most bins


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
    further out, to millions of interquartile ranges. No score falls off the grid. Median and range are those of an
    evenly spaced sample of rows: they decide how fine the bins are, not what is right, because any grid gives the exact
    transport of the measures binned on it.
    """
    sample = score[:: -(-len(score) // _SAMPLE) or 1]
    low, median, high = np.percentile(sample, (25, 50, 75)) if len(sample) else (0.0, 0.0, 0.0)
    spread = high - low
    if not spread > 0.0:  # half of the rows are equal
        spread = float(sample.max() - sample.min()) if len(sample) else 0.0
    scale = 8.0 / spread if spread > 0.0 else 1.0
    return _divide(score, kernels.LOGARITHMIC, float(median), float(scale), n_bins, chunks, reduce)


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
    partial = np.zeros((len(chunks), n_cells), np.int32)

    def work(index: int, start: int, stop: int) -> None:
        kernels.count_cells(score[start:stop], kind, origin, scale, partial[index])

    chunks.run(work)
    counts = reduce(partial.sum(axis=0, dtype=np.float64))
    wanted = np.minimum(np.maximum(counts, 8.0), _SPARSE**2 / np.maximum(counts, 1.0))
    sparse = np.where(counts > 2, wanted, 0.0)
    share = sum(
        part * measure / max(1.0, measure.sum()) for part, measure in ((0.1, counts > 0), (0.6, sparse), (0.3, counts))
    )
    bins = 1 + ((n_bins - n_cells) * share).astype(np.int32)
    starts = np.zeros(n_cells + 1, np.int32)
    np.cumsum(bins, out=starts[1:])
    return Grid(kind, origin, scale, starts)
