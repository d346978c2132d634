"""What a set of trade-offs reaches: its Pareto front, and the area below it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pareto_front(points: ArrayLike) -> NDArray[np.intp]:
    """Return the indices of the points that no other point dominates, by falling first coordinate.

    A point dominates another if it is at least as large in both coordinates and larger in one. Of equal points the
    first is kept. Points with a missing coordinate are left out.

    Parameters
    ----------
    points : array-like of shape (n_points, 2)
        Both coordinates are to be large.
    """
    values = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    index = np.flatnonzero(~np.isnan(values).any(axis=1))
    # From the largest first coordinate down, ties by the second: a point is on the front if its second coordinate
    # is above all that came before.
    index = index[np.lexsort((index, -values[index, 1], -values[index, 0]))]
    best = np.maximum.accumulate(np.concatenate(([-np.inf], values[index, 1])))[:-1]
    return index[values[index, 1] > best]


def hypervolume(points: ArrayLike, reference: tuple[float, float] = (0.0, 0.0)) -> float:
    """Return the area that the points dominate, down to the reference point.

    Parameters
    ----------
    points : array-like of shape (n_points, 2)
        Both coordinates are to be large.
    reference : pair of float
        The worst value of each coordinate; points below it in one of them dominate nothing.
    """
    values = np.asarray(points, dtype=np.float64).reshape(-1, 2) - np.asarray(reference)
    values = values[(values > 0).all(axis=1)]  # False for missing coordinates too
    front = values[pareto_front(values)]
    # Along the front the first coordinate falls and the second rises: one slab for each rise.
    return float(np.sum(front[:, 0] * np.diff(front[:, 1], prepend=0.0)))
