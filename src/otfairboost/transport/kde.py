"""Transport between kernel density estimates: the paper's numerical estimate of the map."""

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from otfairboost.transport.exact import transport_images
from otfairboost.transport.measure import Measure

_TAIL = 6.0  # kernel widths kept on either side; the mass beyond is 1e-9
_NODES_PER_WIDTH = 4
_MIN_NODES, _MAX_NODES = 4096, 1 << 17


def smoothed_images(
    source: Measure, target: Measure, bandwidth: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return :math:`H_1^{-1}(H_0(u))` at the source's atoms, and its inverse at the target's.

    :math:`H_s` are the KDE-smoothed distribution functions.

    Parameters
    ----------
    source, target : Measure
        The measures to smooth.
    bandwidth : float
        Factor of each measure's standard deviation, as ``scipy.stats.gaussian_kde`` reads a scalar ``bw_method``
        (without its correction for the degrees of freedom).

    Notes
    -----
    A measure on a single point has no density; the pair is then transported without smoothing.
    Paper, section "Numerical Estimation of the Derivatives".
    """
    a, b = source.support(), target.support()
    widths = [bandwidth * np.sqrt(measure.variance()) for measure in (a, b)]
    span = max(a.atoms[-1], b.atoms[-1]) - min(a.atoms[0], b.atoms[0])
    if min(widths) <= 1e-12 * span or span == 0.0:
        return transport_images(source, target)
    (nodes_a, cdf_a), (nodes_b, cdf_b) = smoothed_cdf(a, widths[0]), smoothed_cdf(b, widths[1])
    image = np.interp(np.interp(source.atoms, nodes_a, cdf_a), cdf_b, nodes_b)
    return image, np.interp(np.interp(target.atoms, nodes_b, cdf_b), cdf_a, nodes_a)


def smoothed_cdf(measure: Measure, width: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return nodes and the values there of :math:`H(z) = \sum_i p_i \Phi((z - u_i) / \text{width})`.

    The masses are spread over the two neighbouring nodes of an even grid (which keeps their mean) and convolved with
    the kernel by FFT.
    """
    low = measure.atoms[0] - _TAIL * width
    high = measure.atoms[-1] + _TAIL * width
    wanted = int(_NODES_PER_WIDTH * min((high - low) / width, _MAX_NODES))
    n = fft.next_fast_len(min(max(wanted, _MIN_NODES), _MAX_NODES), real=True)
    step = (high - low) / (n - 1)
    position = (measure.atoms - low) / step
    node = np.minimum(position.astype(np.intp), n - 2)
    above = position - node
    mass = np.bincount(node, weights=measure.mass * (1.0 - above), minlength=n)
    mass += np.bincount(node + 1, weights=measure.mass * above, minlength=n)
    # Kernel masses between half nodes, in wrapped order; its support is shorter than the padding at the ends.
    offset = np.arange(n)
    offset = np.minimum(offset, n - offset) * step
    kernel = special.ndtr((offset + 0.5 * step) / width) - special.ndtr((offset - 0.5 * step) / width)
    density = np.maximum(fft.irfft(fft.rfft(mass) * fft.rfft(kernel), n), 0.0)
    cdf = np.cumsum(density)
    return low + step * (np.arange(n) + 0.5), cdf / cdf[-1]
