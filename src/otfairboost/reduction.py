"""Sums over workers: the only thing that the objective and what it is made of know about a cluster."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Reduce = Callable[[Float], Float]
"""``reduce(array)``: the sum of the arrays that all workers give, the same on each."""


def alone(array: Float) -> Float:
    """Return the sum over the one machine there is."""
    return array
