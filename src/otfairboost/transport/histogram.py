r"""Transport between binned measures: bin, sum, transport, look up.

A histogram holds, per cell (a group within a stratum) and bin, the mass and the first two moments of the scores. It can
be summed over workers. A bin becomes two atoms of half its mass, with the mean and the variance of its scores, and
transport between such measures is exact. A row's image is read off the line through its bin's two atoms and their
images. Rows of equal score that share a bin with no others therefore get their exact image, as do two different rows
of one group alone in a bin, however far apart these images are; elsewhere the error is a part of what the exact map
varies within the bin.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.threads import ONE_THREAD, RowChunks
from otfairboost.transport import kernels
from otfairboost.transport.grid import Grid, MakeGrid
from otfairboost.transport.measure import AddImage, Measure

Float = NDArray[np.float64]


class Histogram(NamedTuple):
    """Sums over the rows of each cell and bin.

    Attributes
    ----------
    sums : array of shape (n_cells, n_bins, 3)
        Mass, mass times score, mass times squared distance of the score from the middle.
    middle : array of shape (n_cells, n_bins / 2), or (1, n_bins / 2) if it is the same for all
        What each pair of bins was parted at.
    """

    sums: Float
    middle: Float

    def take(self, cells: slice | Sequence[int]) -> "Histogram":
        """Return the histogram of some cells; of neighbours without a copy."""
        if not isinstance(cells, slice):
            neighbours = cells[-1] - cells[0] == len(cells) - 1
            cells = slice(cells[0], cells[-1] + 1) if neighbours else list(cells)
        return Histogram(self.sums[cells], self.middle if len(self.middle) == 1 else self.middle[cells])


class Scratch:
    """Where binners sum up. Binners of the same rows that work one after the other may share one."""

    def __init__(self) -> None:
        self._buffer = np.empty(0)

    def room(self, n_chunks: int, n_bounds: int, n_cells: int, n_bins: int, max_bins: int) -> tuple[Float, Float]:
        """Return room for each chunk's moments of the grid's bins, and for its histogram of twice as many.

        It is the same room: moments are summed up before the histogram is begun. And it is made once, for as many bins
        as a grid may have.
        """
        moments, partial = (n_chunks, n_bounds, n_bins, 2), (n_chunks, n_cells, 2 * n_bins, 3)
        if len(self._buffer) < math.prod(partial):
            self._buffer = np.empty(n_chunks * n_cells * 2 * max_bins * 3)
        return self._buffer[: math.prod(moments)].reshape(moments), self._buffer[: math.prod(partial)].reshape(partial)


class ScoreBinner:
    """Sorts the scores of a fixed set of rows into bins, again and again.

    A grid made for the scores gives half of the bins. Each of these is halved at the mean of its scores, so that two
    values that fall into the same bin of the grid still get one each.

    The mean is that of the cell's own scores, or of all: only then do cells that share a bin have the same bounds
    there, and can be added up.

    Parameters
    ----------
    cell : int16 array of shape (n_rows,)
        Each row's cell; negative for rows that count nowhere.
    weight : float32 array of shape (n_rows,), or empty if all rows weigh 1
    n_cells : int
    make_grid : callable
        ``unit_grid`` or ``robust_grid``.
    n_bins : int
        About how many bins to use.
    reduce : callable
        Sums an array over workers.
    same_bounds : bool
        Whether all cells have the same bounds.
    scratch : Scratch, optional
        Shared with other binners of the same rows and bounds.

    Attributes
    ----------
    bins : uint16 array of shape (n_rows,)
        Each row's bin after :meth:`bin`; of rows that count nowhere it means nothing.
    """

    def __init__(
        self,
        cell: NDArray[np.int16],
        weight: NDArray[np.float32],
        n_cells: int,
        make_grid: MakeGrid,
        n_bins: int,
        reduce: Callable[[Float], Float] = lambda array: array,
        *,
        same_bounds: bool = True,
        scratch: Scratch | None = None,
    ) -> None:
        self.bins = np.empty(len(cell), np.uint16)
        self._cell = cell
        self._weight = weight
        self._n_cells = n_cells
        self._make_grid = make_grid
        self._n_bins = n_bins
        self._reduce = reduce
        self._n_bounds = 1 if same_bounds else n_cells
        self._followed: Grid | None = None
        self._scratch = Scratch() if scratch is None else scratch
        self._shares_scratch = scratch is not None

    def bin(self, score: Float, chunks: RowChunks, *, follow: bool = False) -> Histogram:
        """Return the histogram of these scores, which lasts until the next call.

        With ``follow`` the grid is placed where the last one that followed was, if it fits: for scores that change
        little from call to call.
        """
        max_bins = self._n_bins // 2
        grid = self._make_grid(score, max_bins, chunks, self._reduce, self._followed if follow else None)
        if follow:
            self._followed = grid
        moments, partial = self._scratch.room(len(chunks), self._n_bounds, self._n_cells, grid.n_bins, max_bins)

        def find(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            kernels.find_bins(score[r], self._cell[r], *grid, self.bins[r], moments[index])

        chunks.run(find)
        summed = self._reduce(chunks.sum(moments))
        middle = summed[..., 1] / np.maximum(summed[..., 0], 1.0)

        def fill(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            kernels.fill_histogram(score[r], self._cell[r], self._weight[r], middle, self.bins[r], partial[index])

        chunks.run(fill)
        sums = self._reduce(chunks.sum(partial))
        if self._shares_scratch and np.may_share_memory(sums, partial):  # the sum of one chunk
            sums = sums.copy()
        return Histogram(sums, middle)


def read_rests(histogram: Histogram) -> list[Measure]:
    """Return, for each of several cells of the same bounds, the measure of all the others together."""
    n_cells = len(histogram.sums)
    others = np.empty(histogram.sums.shape)
    kernels.sum_others(histogram.sums.reshape(n_cells, -1), others.reshape(n_cells, -1))
    return read_cells(Histogram(others, histogram.middle))


def read_cells(histogram: Histogram, chunks: RowChunks = ONE_THREAD) -> list[Measure]:
    """Return the measure of each cell, with two atoms (possibly of mass 0) per bin."""
    n_cells, n_bins, _ = histogram.sums.shape
    atoms, mass = np.empty((2, n_cells, 2 * n_bins))
    chunks.share_out(n_cells, lambda some: kernels.read_histogram(*histogram.take(some), atoms[some], mass[some]))
    return [Measure(*cell) for cell in zip(atoms, mass, strict=True)]


def extend_image(source: Measure, image: Float) -> AddImage:
    """Return a map, known at the source's atoms, as a function of any measure on the same bins."""

    def add(other: Measure, factor: float, total: Float) -> None:
        kernels.follow_lines(source.atoms, image, other.atoms, other.mass, factor, total)

    return add
