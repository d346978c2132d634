"""Grids that scores are binned on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.transport import kernels

_SAMPLE = 8192


class Grid(NamedTuple):
    r"""How a score becomes a bin number; a plain record that kernels take apart.

    Attributes
    ----------
    kind : int
        ``kernels.UNIFORM``: even bins of ``origin + k / (scale * n_bins)``. ``kernels.SQUASHED``: bins even in
        :math:`t / \sqrt{1 + t^2}`, :math:`t = \text{scale} (z - \text{origin})`.
    origin, scale : float
    """

    kind: int
    origin: float
    scale: float


UNIT_GRID = Grid(kernels.UNIFORM, 0.0, 1.0)
"""Even bins on [0, 1], for probabilities."""


def robust_grid(score: NDArray[np.float64]) -> Grid:
    """Return a grid that follows the scores and that outliers cannot ruin.

    Bins are even near the median, on the scale of the interquartile range, and ever wider further out: half of all
    bins lie within 0.6 interquartile ranges of the median, and no score, however extreme, falls off the grid.

    Parameters
    ----------
    score : array of shape (n_rows,)
        The centre and scale are taken from an evenly spaced sample of rows, so that the cost does not grow with
        the number of rows.
    """
    sample = score[:: max(1, len(score) // _SAMPLE)]
    low, median, high = np.percentile(sample, (25, 50, 75)) if len(sample) else (0.0, 0.0, 0.0)
    spread = high - low
    if spread <= 0.0:  # more than half of the rows are equal
        spread = float(sample.max() - sample.min()) if len(sample) else 0.0
    return Grid(kernels.SQUASHED, float(median), float(1.0 / spread) if spread > 0.0 else 1.0)
