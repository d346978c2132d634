"""Numba kernels of 1-D optimal transport: plain loops over arrays, writing into buffers the caller owns.

All are ``nogil``, so that row chunks can run on threads, and cached, so that they compile once per machine.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

# Grids that a score can be located on (see ``otfairboost.transport.grid``).
UNIFORM, LOGARITHMIC = 0, 1
N_OCTAVES = 32  # how far a logarithmic grid reaches to either side, in powers of two of its scale

# What a table says of a bin's rows: for a score z, z - target = (z - CENTRE) * STRETCH + GAP.
CENTRE, GAP, STRETCH, CURVATURE = 0, 1, 2, 3

_ONE_BITS = 4607182418800017408  # the bits of 1.0 read as an integer
_OCTAVE = 2.0**-52  # one power of two is 2^52 steps of that integer


@njit(nogil=True, cache=True)
def merge_walk(x: Array, p: Array, y: Array, q: Array, image: Array) -> float:
    """Couple two discrete measures monotonically; write the image of each atom, return the cost.

    x, p : atoms (ascending) and masses of the source; atoms of mass 0 are no atoms, and keep their image
    y, q : the same for the target; both masses sum to 1 up to rounding
    image[i] = sum_j pi_ij y_j / p_i, the mean of the target's quantile function over the interval that atom i
    fills, pi the monotone coupling. The cost is sum_ij pi_ij (x_i - y_j)^2.
    """
    m = len(y)
    while m > 0 and q[m - 1] <= 0.0:
        m -= 1
    cost = 0.0
    j = 0
    while q[j] <= 0.0:
        j += 1
    left_q = q[j]
    for i in range(len(x)):
        left_p = p[i]
        if left_p <= 0.0:
            continue
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
            while left_q <= 0.0 and j < m - 1:
                j += 1
                left_q = q[j]
            if left_p <= 0.0:
                break
        image[i] = moment / moved
    return cost


@njit(nogil=True, cache=True)
def map_slopes(x: Array, p: Array, image: Array, slope: Array) -> None:
    """Write the slope of a map at each atom: that of the line from the atom below to the one above (0 at the ends)."""
    below = here = -1
    for i in range(len(x)):
        if p[i] > 0.0:
            if here >= 0:
                run = x[i] - x[below] if below >= 0 else 0.0
                slope[here] = (image[i] - image[below]) / run if run > 0.0 else 0.0
            below, here = here, i
    if here >= 0:
        slope[here] = 0.0


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
        image[i] = moment / (high - low) if high > low else y[j]  # not width[i]: high - low is rounded


@njit(nogil=True, cache=True, inline="always")
def place(z: float, kind: int, origin: float, scale: float) -> float:
    """Return where score z lies on a grid, from 0 to 1: evenly (UNIFORM), or evenly in log(1 + |t|) (LOGARITHMIC)."""
    t = (z - origin) * scale
    if kind == LOGARITHMIC:
        # The bits of a float, read as an integer, are a piecewise linear logarithm: exact at powers of two, and
        # continuous and monotone in between.
        octaves = (np.float64(1.0 + abs(t)).view(np.int64) - _ONE_BITS) * _OCTAVE
        t = 0.5 + (octaves if t > 0.0 else -octaves) * (0.5 / N_OCTAVES)
    return t


@njit(nogil=True, cache=True)
def count_cells(score: Array, kind: int, origin: float, scale: float, counts: Array) -> None:
    """Count the scores in each of the grid's even cells."""
    n_cells = len(counts)
    counts[:] = 0
    for i in range(len(score)):
        t = place(score[i], kind, origin, scale) * n_cells
        counts[min(max(int(t), 0), n_cells - 1)] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def find_bins(
    score: Array, kind: int, origin: float, scale: float, starts: Array, bins: Array, moments: Array
) -> None:  # fmt: skip
    """Write each row's bin, and moments[bin, :] = (number of rows, sum of their scores).

    Cell c of the grid's even cells holds the bins starts[c] to starts[c + 1] - 1.
    """
    # Two loops: the first one has no sums to wait for, so that rows overlap. Comparisons instead of min and max, which
    # have to care about NaN, and unsigned indices, which cannot count from the end, save a third of the time.
    n_cells = len(starts) - 1
    top = n_cells - 1e-9
    for i in range(len(score)):
        t = place(score[i], kind, origin, scale) * n_cells
        t = t if t > 0.0 else 0.0
        t = t if t < top else top
        whole = np.int32(t)
        c = np.uint32(whole)
        bins[i] = starts[c] + np.int32((t - whole) * (starts[c + np.uint32(1)] - starts[c]))
    moments[:] = 0.0
    for i in range(len(score)):
        b = bins[i]
        moments[b, 0] += 1.0
        moments[b, 1] += score[i]


@njit(nogil=True, cache=True)
def fill_histogram(score: Array, cell: Array, weight: Array, middle: Array, bins: Array, histogram: Array) -> None:
    """Halve each bin b at middle[b] into 2b and 2b + 1, and write histogram[cell, bin, :] = (mass, mass * score).

    Rows with cell < 0 count nowhere. weight empty: all 1.
    """
    weighted = len(weight) > 0
    histogram[:] = 0.0
    for i in range(len(score)):
        z = score[i]
        b = bins[i]
        b = 2 * b + (z > middle[b])
        bins[i] = b
        g = cell[i]
        if g >= 0:
            w = weight[i] if weighted else 1.0
            histogram[g, b, 0] += w
            histogram[g, b, 1] += w * z


@njit(nogil=True, cache=True)
def read_histogram(histogram: Array, atoms: Array, mass: Array) -> float:
    """Write the mean score and the normalised mass of each bin of one cell; return the total mass."""
    total = 0.0
    for b in range(len(histogram)):
        total += histogram[b, 0]
    for b in range(len(histogram)):
        m = histogram[b, 0]
        mass[b] = m / total if m > 0.0 else 0.0
        atoms[b] = histogram[b, 1] / m if m > 0.0 else 0.0
    return total
