"""Numba kernels of 1-D optimal transport: plain loops over arrays, writing into buffers the caller owns.

All are ``nogil``, so that row chunks can run on threads, and cached, so that they compile once per machine.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

# Grids that a score can be located on (see ``otfairboost.transport.grid``).
UNIFORM, LOGARITHMIC = 0, 1
N_OCTAVES = 32  # how far a logarithmic grid reaches to either side, in powers of two of its scale

# Where a score lies on a grid is a whole number of steps: vectors of these can be computed with.
_STEP_BITS = np.uint64(31)  # a whole grid has 2^31 of them
_STEPS = 2.0**31
_MIDDLE = np.uint64(1 << 30)
_FRACTION = np.uint64((1 << 31) - 1)  # of a cell, in the lower bits of a place
_ONE_BITS = np.uint64(4607182418800017408)  # the bits of 1.0 read as an integer
_OCTAVE_BITS = np.uint64(52 - 30 + int(math.log2(N_OCTAVES)))  # a power of two is 2^52 of these; 32 are half a grid
_BLOCK = 1024  # rows whose places are found at a time, so that they stay close to the processor

# A grid of all floats up to 2^128, where single precision ends: 32 cells a sign in each power of two from 2^-64 on.
_CELL_BITS = 47  # of a float's 64, the lowest that do not tell its cell
_FIRST_CELL = (1023 - 64) << 5
N_FLOAT_CELLS = 192 << 5
"""Cells of each sign."""


@njit(nogil=True, cache=True)
def merge_walk(x: Array, p: Array, y: Array, q: Array, image: Array, back: Array) -> float:
    """Couple two discrete measures monotonically; write the images of both's atoms, return the cost.

    x, p : atoms (ascending) and masses of the source; atoms of mass 0 are no atoms, and have the image 0
    y, q : the same for the target; both masses sum to 1 up to rounding
    image[i] = sum_j pi_ij y_j / p_i, the mean of the target's quantile function over the interval that atom i
    fills, pi the monotone coupling; back[j] = sum_i pi_ij x_i / q_j. The cost is sum_ij pi_ij (x_i - y_j)^2.
    """
    m = len(y)
    while q[m - 1] <= 0.0:
        m -= 1
        back[m] = 0.0
    cost = 0.0
    j = 0
    while q[j] <= 0.0:
        back[j] = 0.0
        j += 1
    left_q = q[j]
    back_moment = back_moved = at = 0.0
    for i in range(len(x)):
        left_p = p[i]
        if left_p <= 0.0:
            image[i] = 0.0
            continue
        at = x[i]
        moment = 0.0
        moved = 0.0
        while True:
            last = j == m - 1
            # The last target atom takes whatever rounding has left over.
            step = left_p if last or left_p <= left_q else left_q
            moment += step * y[j]
            moved += step
            back_moment += step * at
            back_moved += step
            cost += step * (at - y[j]) * (at - y[j])
            left_p -= step
            left_q -= step
            if left_q <= 0.0 and not last:
                back[j] = back_moment / back_moved
                back_moment = back_moved = 0.0
                j += 1
                while q[j] <= 0.0:
                    back[j] = 0.0
                    j += 1
                left_q = q[j]
            if left_p <= 0.0:
                break
        image[i] = moment / moved
    # Of the last atoms rounding may have left some without a share: they go where the source ends.
    for k in range(j, m):
        back[k] = 0.0
        if q[k] > 0.0:
            back[k] = back_moment / back_moved if back_moved > 0.0 else at
            back_moment = back_moved = 0.0
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
        image[i] = moment / (high - low) if high > low else y[j]  # not width[i]: high - low is rounded


@njit(nogil=True, cache=True)
def _locate(score: Array, kind: int, origin: float, scale: float, n_cells: int, places: Array) -> None:
    """Write where scores lie on a grid of even cells: the cell, and in the lower 31 bits how far into it.

    Cells are even in the score (UNIFORM), or in log(1 + |t|) to both sides of the middle (LOGARITHMIC).
    """
    cells = np.uint64(n_cells)
    if kind == LOGARITHMIC:
        for i in range(len(score)):
            t = (score[i] - origin) * scale
            # The bits of a float, read as an integer, are a piecewise linear logarithm: exact at powers of two, and
            # continuous and monotone in between.
            octaves = (np.float64(1.0 + abs(t)).view(np.uint64) - _ONE_BITS) >> _OCTAVE_BITS
            octaves = octaves if octaves < _MIDDLE else _MIDDLE - np.uint64(1)
            places[i] = (_MIDDLE + octaves if t > 0.0 else _MIDDLE - octaves) * cells
    else:
        for i in range(len(score)):
            t = (score[i] - origin) * scale * _STEPS
            t = t if t > 0.0 else 0.0  # by comparisons: min and max have to care about NaN
            t = t if t < _STEPS - 1.0 else _STEPS - 1.0
            places[i] = np.uint64(np.int32(t)) * cells


@njit(nogil=True, cache=True)
def count_cells(score: Array, kind: int, origin: float, scale: float, counts: Array) -> None:
    """Count the scores in each of the grid's even cells."""
    places = np.empty(_BLOCK, np.uint64)
    counts[:] = 0
    for start in range(0, len(score), _BLOCK):
        some = score[start : start + _BLOCK]
        _locate(some, kind, origin, scale, len(counts), places)
        for i in range(len(some)):
            counts[places[i] >> _STEP_BITS] += 1


@njit(nogil=True, cache=True)
def count_floats(score: Array, counts: Array) -> None:
    """Count the scores in each cell of the grid of all floats: negative ones downwards, then positive ones upwards."""
    counts[:] = 0
    for i in range(len(score)):
        bits: Any = np.float64(abs(score[i])).view(np.int64)
        c = min(max((bits >> _CELL_BITS) - _FIRST_CELL, 0), N_FLOAT_CELLS - 1)
        counts[N_FLOAT_CELLS + c if score[i] >= 0.0 else N_FLOAT_CELLS - 1 - c] += 1


def float_edges() -> NDArray[np.float64]:
    """Return the bounds of these cells."""
    positive = (np.arange(N_FLOAT_CELLS + 1, dtype=np.int64) + _FIRST_CELL << _CELL_BITS).view(np.float64)
    positive[0] = 0.0
    return np.concatenate([-positive[:0:-1], positive])


@njit(nogil=True, cache=True, inline="always", error_model="numpy")
def _claims(n: float, up_to: float, total: float, few: int, ends: int) -> tuple[float, float]:
    """Return what a cell of n rows, the last of up_to, claims of the bins for sparse and for extreme cells."""
    if n <= 2.0:
        return 0.0, 0.0
    wanted, most = (n if n > 8.0 else 8.0), few * few / n
    after = total - up_to + n
    return wanted if wanted < most else most, n / (1.0 + (up_to if up_to < after else after) / ends)


@njit(nogil=True, cache=True, error_model="numpy")
def share_bins(counts: Array, n_bins: int, few: int, ends: int, starts: Array) -> tuple[int, int, int]:
    """Write where each cell's bins start: none for cells without rows, else one, and a tenth of the others evenly.

    Of the rest most go where rows are few (cells of about ``few``), then to the first and last rows of all (about
    ``ends`` of them), then to where rows are many. Return the cells of the quartiles of all rows.
    """
    n_cells = len(counts)
    total = used = 0.0
    for c in range(n_cells):
        total += counts[c]
        used += counts[c] > 0.0
    all_sparse = all_extreme = up_to = 0.0
    low = median = high = 0
    for c in range(n_cells):
        up_to += counts[c]
        sparse, extreme = _claims(counts[c], up_to, total, few, ends)
        all_sparse += sparse
        all_extreme += extreme
        low += up_to < 0.25 * total
        median += up_to < 0.5 * total
        high += up_to < 0.75 * total
    to_share = n_bins - n_cells
    evenly, by_rows = 0.1 * to_share / max(used, 1.0), 0.2 * to_share / max(total, 1.0)
    by_sparse, by_extreme = 0.4 * to_share / max(all_sparse, 1.0), 0.3 * to_share / max(all_extreme, 1.0)
    up_to = 0.0
    starts[0] = 0
    for c in range(n_cells):
        up_to += counts[c]
        sparse, extreme = _claims(counts[c], up_to, total, few, ends)
        share = evenly + by_rows * counts[c] + by_sparse * sparse + by_extreme * extreme
        starts[c + 1] = starts[c] + (1 + np.int32(share) if counts[c] > 0.0 else 0)
    return low, median, high


@njit(nogil=True, cache=True, error_model="numpy")
def find_bins(
    score: Array, cell: Array, kind: int, origin: float, scale: float, starts: Array, bins: Array, moments: Array
) -> None:  # fmt: skip
    """Write each row's bin, and moments[cell, bin, :] = (number of rows, sum of their scores).

    Cell c of the grid's even cells holds the bins starts[c] to starts[c + 1] - 1. If moments has room for one cell
    only, all rows count there; else rows with cell < 0 count nowhere.
    """
    places = np.empty(_BLOCK, np.uint64)
    moments[:] = 0.0
    together = len(moments) == 1
    for start in range(0, len(score), _BLOCK):
        # Several loops: in those without sums to wait for rows overlap.
        r = slice(start, start + _BLOCK)
        some, own_cell, own_bins = score[r], cell[r], bins[r]
        _locate(some, kind, origin, scale, len(starts) - 1, places)
        for i in range(len(some)):
            c = places[i] >> _STEP_BITS
            n_bins = np.uint64(starts[c + np.uint64(1)] - starts[c])
            own_bins[i] = starts[c] + np.int32((places[i] & _FRACTION) * n_bins >> _STEP_BITS)
        for i in range(len(some)):
            g = 0 if together else own_cell[i]
            if g >= 0:
                moments[g, own_bins[i], 0] += 1.0
                moments[g, own_bins[i], 1] += some[i]


@njit(nogil=True, cache=True, error_model="numpy")
def write_middles(parts: Array, middle: Array) -> None:
    """Write the mean of the scores in each cell's bins; parts[part, cell, bin, :] as ``find_bins`` has them."""
    for c in range(middle.shape[0]):
        for b in range(middle.shape[1]):
            n = moment = 0.0
            for k in range(len(parts)):
                n += parts[k, c, b, 0]
                moment += parts[k, c, b, 1]
            middle[c, b] = moment / (n if n > 1.0 else 1.0)


@njit(nogil=True, cache=True, error_model="numpy")
def fill_histogram(score: Array, cell: Array, weight: Array, middle: Array, bins: Array, histogram: Array) -> None:
    """Halve each bin b at middle[cell, b] into 2b and 2b + 1, and sum up what falls into them.

    histogram[cell, bin, :] = (mass, mass * score, mass * (score - middle)^2). If there are middles for one cell only,
    they are those of all. Rows with cell < 0 count nowhere. weight empty: all 1.
    """
    weighted = len(weight) > 0
    together = len(middle) == 1
    histogram[:] = 0.0
    for i in range(len(score)):
        g = cell[i]
        if g >= 0:
            z = score[i]
            b = bins[i]
            from_middle = z - middle[0 if together else g, b]
            b = 2 * b + (from_middle > 0.0)
            bins[i] = b
            w = weight[i] if weighted else 1.0
            histogram[g, b, 0] += w
            histogram[g, b, 1] += w * z
            histogram[g, b, 2] += w * from_middle * from_middle


@njit(nogil=True, cache=True)
def sum_others(cells: Array, others: Array) -> None:
    """Write, for each of several cells' sums, those of all the other cells together.

    From both ends: subtracting a cell from the total would leave dust in empty bins.
    """
    n_cells, n_sums = cells.shape
    total = np.zeros(n_sums)
    for c in range(n_cells):
        for s in range(n_sums):
            others[c, s] = total[s]
            total[s] += cells[c, s]
    total[:] = 0.0
    for c in range(n_cells - 1, -1, -1):
        for s in range(n_sums):
            others[c, s] += total[s]
            total[s] += cells[c, s]


@njit(nogil=True, cache=True, error_model="numpy")
def read_cell(parts: Array, cell: int, middle: Array, atoms: Array, mass: Array) -> None:
    """Write two atoms for each of a cell's bins, of half its normalised mass each, with the bin's mean and variance.

    parts[part, cell, bin, :] are a histogram's sums over parts of the rows. A variance that may be rounding alone, or
    that has overflown, is taken for 0.
    """
    total = 0.0
    for b in range(parts.shape[2]):
        m = moment = square = 0.0
        for k in range(len(parts)):
            m += parts[k, cell, b, 0]
            moment += parts[k, cell, b, 1]
            square += parts[k, cell, b, 2]
        total += m
        mean = deviation = 0.0
        if m > 0.0:
            one = 1.0 / m  # once: divisions are what this loop waits for
            mean = moment * one
            from_middle = mean - middle[b // 2]
            variance = square * one - from_middle * from_middle
            if 1e-14 * from_middle * from_middle < variance < np.inf:
                deviation = math.sqrt(variance)
                if deviation < 1e-12 * abs(mean):
                    deviation = 0.0
        atoms[2 * b], atoms[2 * b + 1] = mean - deviation, mean + deviation
        mass[2 * b] = mass[2 * b + 1] = m
    half = 0.5 / total
    for i in range(len(mass)):
        mass[i] *= half


@njit(nogil=True, cache=True, inline="always", error_model="numpy")
def line_of(b: int, atoms: Array, image: Array) -> tuple[float, float, float, float]:
    """Return the line through a bin's two atoms and their images: its middle's place and height, slope and reach."""
    run = atoms[2 * b + 1] - atoms[2 * b]
    rise = image[2 * b + 1] - image[2 * b]
    slope = rise / run if run > 0.0 else 0.0
    return 0.5 * (atoms[2 * b] + atoms[2 * b + 1]), 0.5 * (image[2 * b] + image[2 * b + 1]), slope, abs(rise)


@njit(nogil=True, cache=True, inline="always")
def along(distance: float, slope: float, reach: float) -> float:
    """Return how far a line has risen at some distance from its middle; not further than its reach."""
    rise = distance * slope
    rise = rise if rise < reach else reach
    return rise if rise > -reach else -reach


@njit(nogil=True, cache=True, error_model="numpy")
def follow_lines(atoms: Array, image: Array, other: Array, mass: Array, factor: float, total: Array) -> None:
    """Add ``factor`` times the images, read off the bins' lines, of another measure's atoms on the same bins."""
    for b in range(len(atoms) // 2):
        if mass[2 * b] > 0.0:  # both of a bin's atoms have it; of small groups most bins have none
            centre, target, slope, reach = line_of(b, atoms, image)
            for i in range(2 * b, 2 * b + 2):
                total[i] += factor * (target + along(other[i] - centre, slope, reach))
