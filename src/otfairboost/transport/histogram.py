r"""Transport between binned measures: bin, sum, transport, look up.

A histogram holds, per cell (a group within a stratum) and bin, the mass and the mass times the score. It can be
summed over workers. Its bins' mean scores are the atoms of a measure, and transport between these is exact. A row's
image is read off the line through its bin's atom and the next one on the row's side: rows of equal score that share a
bin with no others get their exact image, and elsewhere the error is of second order in the bin width.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from otfairboost.threads import RowChunks
from otfairboost.transport import kernels
from otfairboost.transport.grid import Grid
from otfairboost.transport.measure import Measure

Float = NDArray[np.float64]


class BinnedMeasure:
    """A measure read from one cell of a histogram.

    Attributes
    ----------
    bins : int array of shape (n_atoms,)
        The occupied bins, ascending.
    measure : Measure
        Their mean scores and masses.
    weight : float
        The cell's total weight.
    """

    def __init__(self, histogram: Float) -> None:
        mass = histogram[:, 0]
        self.bins = np.flatnonzero(mass > 0)
        occupied = mass[self.bins]
        self.weight = float(occupied.sum())
        self.measure = Measure(histogram[self.bins, 1] / occupied, occupied / self.weight)


def bin_scores(
    score: Float,
    cell: NDArray[np.int16],
    weight: NDArray[np.float32],
    grid: Grid,
    n_cells: int,
    n_bins: int,
    chunks: RowChunks,
) -> Float:
    """Return the histogram of shape (n_cells, n_bins, 2): mass, and mass times score.

    ``cell`` is negative for rows that count nowhere; ``weight`` is empty if all rows weigh 1.
    """
    partial = np.zeros((len(chunks), n_cells, n_bins, 2))

    def work(index: int, start: int, stop: int) -> None:
        kernels.add_to_histogram(score[start:stop], cell[start:stop], weight[start:stop], *grid, partial[index])

    chunks.run(work)
    return partial.sum(axis=0) if len(partial) > 1 else partial[0] if len(partial) else np.zeros((n_cells, n_bins, 2))


def fill_table(table: Float, binned: BinnedMeasure, image: Float, curvature: Float | float = 1.0) -> None:
    """Write one cell's lookup table of shape (n_bins, N_COLUMNS) from the images of its atoms."""
    atoms, bins = binned.measure.atoms, binned.bins
    gap = np.diff(atoms)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(gap > 0, np.diff(image) / gap, 0.0)
    table[bins, kernels.CENTRE] = atoms
    table[bins, kernels.IMAGE] = image
    table[bins[1:], kernels.SLOPE_BELOW] = slope
    table[bins[:-1], kernels.SLOPE_ABOVE] = slope
    table[bins[:1], kernels.SLOPE_BELOW] = 0.0
    table[bins[-1:], kernels.SLOPE_ABOVE] = 0.0
    table[bins, kernels.CURVATURE] = curvature


def empty_tables(n_cells: int, n_bins: int) -> Float:
    """Return the buffer that :func:`fill_table` fills, one table per cell."""
    return np.zeros((n_cells, n_bins, kernels.N_COLUMNS))


def read_histogram(histogram: Float) -> Sequence[BinnedMeasure]:
    """Return the measure of each cell; cells without weight have no atoms."""
    return [BinnedMeasure(cell) for cell in histogram]
