r"""Transport between binned measures: bin, sum, transport, look up.

A histogram holds, per cell (a group within a stratum) and bin, the mass and the mass times the score. It can be
summed over workers. The bins' mean scores are the atoms of a measure, and transport between such measures is exact. A
row's image is read off a line through its bin's atom: rows of equal score that share a bin with no others get their
exact image, and elsewhere the error is of second order in the bin width.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from otfairboost.threads import RowChunks
from otfairboost.transport import kernels
from otfairboost.transport.grid import Grid
from otfairboost.transport.measure import Measure

Float = NDArray[np.float64]


class ScoreBinner:
    """Sorts the scores of a fixed set of rows into bins, again and again.

    Parameters
    ----------
    cell : int16 array of shape (n_rows,)
        Each row's cell; negative for rows that count nowhere.
    weight : float32 array of shape (n_rows,), or empty if all rows weigh 1
    n_cells : int
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
        reduce: Callable[[Float], Float] = lambda array: array,
    ) -> None:
        self.bins = np.empty(len(cell), np.uint16)
        self._cell = cell
        self._weight = weight
        self._n_cells = n_cells
        self._reduce = reduce
        self._partial = np.empty((0, n_cells, 0, 2))

    def bin(self, score: Float, grid: Grid, chunks: RowChunks) -> Float:
        """Return the histogram of shape (n_cells, n_bins, 2): mass, and mass times score."""
        if self._partial.shape[0] != len(chunks) or self._partial.shape[2] < grid.n_bins:
            self._partial = np.empty((len(chunks), self._n_cells, grid.n_bins, 2))
        partial = self._partial[:, :, : grid.n_bins]

        def work(index: int, start: int, stop: int) -> None:
            r = slice(start, stop)
            kernels.fill_histogram(score[r], self._cell[r], self._weight[r], *grid, self.bins[r], partial[index])

        chunks.run(work)
        return self._reduce(partial.sum(axis=0))


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


def carry_image(source: Measure, image: Float, other: Measure) -> Float:
    """Return a map, known at the source's atoms, at the atoms of another measure on the same bins."""
    return image + slopes_of(source, image) * (other.atoms - source.atoms)
