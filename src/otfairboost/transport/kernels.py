"""Numba kernels of 1-D optimal transport: plain loops over arrays, writing into buffers the caller owns.

All are ``nogil``, so that row chunks can run on threads, and cached, so that they compile once per machine.
"""

import math
from typing import Any

from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

# Grids that a score can be located on (see ``otfairboost.transport.grid``).
UNIFORM, SQUASHED = 0, 1

# Columns of a lookup table (see ``otfairboost.transport.histogram``).
CENTRE, IMAGE, SLOPE_BELOW, SLOPE_ABOVE, CURVATURE = 0, 1, 2, 3, 4
N_COLUMNS = 5


@njit(nogil=True, cache=True)
def merge_walk(x: Array, p: Array, y: Array, q: Array, image: Array) -> float:
    """Couple two discrete measures monotonically; write the image of each atom, return the cost.

    x, p : atoms (ascending) and masses (positive) of the source
    y, q : the same for the target; both masses sum to 1 up to rounding
    image[i] = sum_j pi_ij y_j / p_i, the mean of the target's quantile function over the interval that atom i
    fills, pi the monotone coupling. The cost is sum_ij pi_ij (x_i - y_j)^2.
    """
    n, m = len(x), len(y)
    cost = 0.0
    j = 0
    left_q = q[0]
    for i in range(n):
        left_p = p[i]
        moment = 0.0
        moved = 0.0
        while True:
            last = j == m - 1
            # The last target atom takes whatever rounding has left over.
            step = left_p if last or left_p <= left_q else left_q
            moment += step * y[j]
            moved += step
            cost += step * (x[i] - y[j]) * (x[i] - y[j])
            left_p -= step
            left_q -= step
            if left_q <= 0.0 and not last:
                j += 1
                left_q = q[j]
            if left_p <= 0.0:
                break
        image[i] = moment / moved
    return cost


@njit(nogil=True, cache=True)
def one_sided_walk(ends: Array, width: Array, right: bool, y: Array, cumulated: Array, image: Array) -> None:
    """Write the target's mean over the outermost slot of each row's block of equal scores.

    ends[i]   : cumulated mass at the right (left) end of row i's block, ascending in i
    width[i]  : row i's own mass, the width of its slot
    cumulated : cumulated masses of the target's atoms y, last one 1
    The slot is [end - width, end] for the right-hand derivative, [end, end + width] for the left-hand one.
    """
    m = len(y)
    j = 0
    for i in range(len(ends)):
        low = ends[i] - width[i] if right else ends[i]
        high = low + width[i]
        while j < m - 1 and cumulated[j] <= low:
            j += 1
        while j > 0 and cumulated[j - 1] > low:  # slots of one block start at different places
            j -= 1
        k = j
        at = low
        moment = 0.0
        while True:
            stop = high if k == m - 1 or cumulated[k] >= high else cumulated[k]
            moment += (stop - at) * y[k]
            at = stop
            if at >= high:
                break
            k += 1
        image[i] = moment / width[i] if high > low else y[j]


@njit(nogil=True, cache=True, inline="always")
def locate(z: float, kind: int, origin: float, scale: float, n_bins: int) -> int:
    """Return the bin of score z. UNIFORM: (z - origin) * scale; SQUASHED: the same through t / sqrt(1 + t^2)."""
    t = (z - origin) * scale
    if kind == SQUASHED:
        t = 0.5 + 0.5 * t / math.sqrt(1.0 + t * t)
    b = int(t * n_bins)
    if b < 0:
        return 0
    if b >= n_bins:
        return n_bins - 1
    return b


@njit(nogil=True, cache=True)
def add_to_histogram(
    score: Array,
    cell: Array,
    weight: Array,
    kind: int,
    origin: float,
    scale: float,
    histogram: Array,
) -> None:
    """Add rows to histogram[cell, bin, :] = (mass, mass * score). cell < 0: no cell. weight empty: all 1."""
    n_bins = histogram.shape[1]
    weighted = len(weight) > 0
    for i in range(len(score)):
        c = cell[i]
        if c >= 0:
            z = score[i]
            b = locate(z, kind, origin, scale, n_bins)
            w = weight[i] if weighted else 1.0
            histogram[c, b, 0] += w
            histogram[c, b, 1] += w * z


@njit(nogil=True, cache=True)
def look_up(score: Array, cell: Array, kind: int, origin: float, scale: float, table: Array, image: Array) -> None:
    """Write each row's transport image from table[cell, bin, column]; rows of no cell keep their score."""
    n_bins = table.shape[1]
    for i in range(len(score)):
        c = cell[i]
        z = score[i]
        if c >= 0:
            entry = table[c, locate(z, kind, origin, scale, n_bins)]
            image[i] = interpolate(z, entry)
        else:
            image[i] = z


@njit(nogil=True, cache=True, inline="always")
def interpolate(z: float, entry: Array) -> float:
    """Return the image of z on the line through the bin's atom and the neighbouring one on z's side."""
    d = z - entry[CENTRE]
    return entry[IMAGE] + d * (entry[SLOPE_ABOVE] if d > 0.0 else entry[SLOPE_BELOW])
