r"""Transport between binned measures: bin, sum, transport, look up.

A histogram holds, per cell (a group within a stratum) and bin, the mass and the mass times the score. It can be
summed over workers. The bins' mean scores are the atoms of a measure, and transport between such measures is exact. A
row's image is read off a line through its bin's atom: rows of equal score that share a bin with no others get their
exact image, and elsewhere the error is about what the exact map varies within the bin.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from otfairboost.threads import RowChunks
from otfairboost.transport import kernels
from otfairboost.transport.grid import MakeGrid
from otfairboost.transport.measure import Measure

Float = NDArray[np.float64]


class ScoreBinner:
    """Sorts the scores of a fixed set of rows into bins, again and again.

    A grid made for the scores gives half of the bins. Each of these is halved at the mean of its scores, so that two
    values that fall into the same bin of the grid still get one each.

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

    Attributes
    ----------
    bins : uint16 array of shape (n_rows,)
        Each row's bin after :meth:`bin`.
    """

    def __init__(
        self,
        cell: NDArray[np.int16],
        weight: NDArray[np.float32],
        n_cells: int,
        make_grid: MakeGrid,
        n_bins: int,
        reduce: Callable[[Float], Float] = lambda array: array,
    ) -> None:
        self.bins = np.empty(len(cell), np.uint16)
        self._cell = cell
        self._weight = weight
        self._n_cells = n_cells
        self._make_grid = make_grid
        self._n_bins = n_bins
        self._reduce = reduce
        self._moments = np.empty((0, 0, 2))
        self._partial = np.empty((0, n_cells, 0, 2))

    def bin(self, score: Float, chunks: RowChunks) -> Float:
        """Return the histogram of shape (n_cells, n_bins, 2): mass, and mass times score."""
        grid = self._make_grid(score, self._n_bins // 2, chunks, self._reduce)
        if len(self._partial) != len(chunks) or self._partial.shape[2] < 2 * grid.n_bins:
            self._moments = np.empty((len(chunks), grid.n_bins, 2))
            self._partial = np.empty((len(chunks), self._n_cells, 2 * grid.n_bins, 2))
        moments, partial = self._moments[:, : grid.n_bins], self._partial[:, :, : 2 * grid.n_bins]

        def find(index: int, start: int, stop: int) -> None:
            kernels.find_bins(score[start:stop], *grid, self.bins[start:stop], moments[index])

        chunks.run(find)
        rows, total = self._reduce(moments.sum(axis=0)).T
        middle = total / np.maximum(rows, 1.0)

        def fill(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            kernels.fill_histogram(score[r], self._cell[r], self._weight[r], middle, self.bins[r], partial[index])

        chunks.run(fill)
        return self._reduce(partial.sum(axis=0))


def read_rests(cells: Float) -> list[Measure]:
    """Return, for each of several cells of shape (n_bins, 2), the measure of all the others together.

    Summed from both ends: subtracting a cell from the total would leave dust in empty bins.
    """
    others = np.zeros_like(cells)
    total = np.zeros_like(cells[0])
    for others_of, cell in zip(others, cells, strict=True):
        others_of += total
        total += cell
    total[:] = 0.0
    for others_of, cell in zip(others[::-1], cells[::-1], strict=True):
        others_of += total
        total += cell
    return [read_cell(rest) for rest in others]


def read_cell(histogram: Float) -> Measure:
    """Return the measure of one cell, with an atom (possibly of mass 0) per bin."""
    atoms, mass = np.empty(len(histogram)), np.empty(len(histogram))
    kernels.read_histogram(histogram, atoms, mass)
    return Measure(atoms, mass)


def slopes_of(source: Measure, image: Float) -> Float:
    """Return the slope of a map at the source's atoms."""
    slope = np.zeros(len(image))
    kernels.map_slopes(source.atoms, source.mass, image, slope)
    return slope


def extend_image(source: Measure, image: Float) -> Callable[[Measure], Float]:
    """Return a map, known at the source's atoms, as a function of any measure on the same bins."""
    slope = slopes_of(source, image)
    return lambda other: image + slope * (other.atoms - source.atoms)
