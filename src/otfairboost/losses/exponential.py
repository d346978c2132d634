"""An exponential that the compiler turns into vector instructions."""

import math

import numpy as np
from numba import njit

_LOG2_E = math.log2(math.e)
_LN2_HIGH, _LN2_LOW = (
    0.693147180369123816490,
    1.90821492927058770002e-10,
)  # ln 2; the first ends in 21 zero bits
_ROUND = 1.5 * 2.0**52  # a float near this has no room for fractions: its last bits are a whole number
_TAYLOR = tuple(1.0 / math.factorial(k) for k in range(14))


BLOCK = 1024
"""Numbers to take at a time into an array of their own: vector instructions must not read where they write."""

LARGEST = 700.0
"""Beyond, and below its negative, exponentials stay what they are there."""


@njit(nogil=True, cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def exponential(x: float) -> float:
    """Return exp(x) for x from -700 to 700; beyond, and for NaN, the value at the nearer end.

    exp(x) = 2^n exp(r) with n whole and abs(r) <= ln(2) / 2, where 13 Taylor terms are exact to the last bit or two.
    """
    x = x if x < LARGEST else LARGEST  # also catches NaN
    x = x if x > -LARGEST else -LARGEST
    shifted = x * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    total = _TAYLOR[13]
    for k in range(12, -1, -1):
        total = total * r + _TAYLOR[k]
    return total * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
