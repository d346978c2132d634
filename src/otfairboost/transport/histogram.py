r"""Transport between binned measures: bin, sum, transport, look up.

A histogram holds, per cell (a group within a stratum) and bin, the mass and the first two moments of the scores. It can
be summed over workers. A bin becomes two atoms of half its mass, with the mean and the variance of its scores, and
transport between such measures is exact. A row's image is read off the line through its bin's two atoms and their
images. Rows of equal score that share a bin with no others therefore get their exact image, as do two different rows
of one group alone in a bin, however far apart these images are; elsewhere the error is a part of what the exact map
varies within the bin.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.reduction import Reduce, alone
from otfairboost.threads import ONE_THREAD, RowChunks
from otfairboost.transport import kernels
from otfairboost.transport.grid import Grid, MakeGrid
from otfairboost.transport.measure import AddImage, Measure

Float = NDArray[np.float64]


class Histogram(NamedTuple):
    """Sums over the rows of each cell and bin.

    Attributes
    ----------
    parts : array of shape (n_parts, n_cells, n_bins, 3)
        Of several parts of the rows: mass, mass times score, mass times squared distance of the score from the middle.
    middle : array of shape (n_cells, n_bins / 2), or (1, n_bins / 2) if it is the same for all
        What each pair of bins was parted at.
    """

    parts: Float
    middle: Float

    @property
    def sums(self) -> Float:
        """Return the sums over all rows, of shape (n_cells, n_bins, 3)."""
        return self.parts[0] if len(self.parts) == 1 else self.parts.sum(axis=0)

    def take(self, cells: Sequence[int]) -> "Histogram":
        """Return the histogram of some cells; of one part's neighbours without a copy."""
        neighbours = cells[-1] - cells[0] == len(cells) - 1
        some: Any = slice(cells[0], cells[-1] + 1) if neighbours else list(cells)
        return Histogram(self.sums[None, some], self.middle if len(self.middle) == 1 else self.middle[some])


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
        reduce: Reduce = alone,
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
        self._sums_last = reduce is alone and scratch is None and not same_bounds
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
        middle = np.empty(moments.shape[1:3])
        kernels.write_middles(moments if self._reduce is alone else self._reduce(chunks.sum(moments))[None], middle)

        def fill(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            kernels.fill_histogram(score[r], self._cell[r], self._weight[r], middle, self.bins[r], partial[index])

        chunks.run(fill)
        if self._sums_last:  # to be summed up where it is read, which saves going through all of it twice
            return Histogram(partial, middle)
        sums = self._reduce(chunks.sum(partial))
        if self._shares_scratch and np.may_share_memory(sums, partial):  # the sum of one chunk
            sums = sums.copy()
        return Histogram(sums[None], middle)


def read_rests(histogram: Histogram) -> list[Measure]:
    """Return, for each of several cells of the same bounds, the measure of all the others together."""
    sums = histogram.sums
    others = np.empty((1, *sums.shape))
    kernels.sum_others(sums.reshape(len(sums), -1), others.reshape(len(sums), -1))
    return read_cells(Histogram(others, histogram.middle))


def read_cells(histogram: Histogram, chunks: RowChunks = ONE_THREAD) -> list[Measure]:
    """Return the measure of each cell, with two atoms (possibly of mass 0) per bin."""
    parts, middle = histogram
    _, n_cells, n_bins, _ = parts.shape
    atoms, mass = np.empty((2, n_cells, 2 * n_bins))

    def read(cell: int) -> None:
        own_middle = middle[0 if len(middle) == 1 else cell]
        kernels.read_cell(parts, cell, own_middle, atoms[cell], mass[cell])

    chunks.run_tasks(n_cells, read)
    return [Measure(*cell) for cell in zip(atoms, mass, strict=True)]


def extend_image(source: Measure, image: Float) -> AddImage:
    """Return a map, known at the source's atoms, as a function of any measure on the same bins."""

    def add(other: Measure, factor: float, total: Float) -> None:
        kernels.follow_lines(source.atoms, image, other.atoms, other.mass, factor, total)

    return add
