"""Exact optimal transport between discrete measures on the line."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from otfairboost.transport import kernels
from otfairboost.transport.measure import AddImage, Measure, MeasuredSample, measure_sample

Ties = Literal["average", "right", "left"]
TIES: tuple[Ties, ...] = ("average", "right", "left")


def transport_image(source: Measure, target: Measure) -> NDArray[np.float64]:
    r"""Return the optimal transport image of each of the source's atoms.

    .. math:: T(u_i) = \frac{1}{p_i} \int_{C_{i-1}}^{C_i} Q(\tau)\, d\tau

    with :math:`C` the source's cumulated masses and :math:`Q` the target's quantile function: the barycentric
    projection of the monotone coupling (the paper's transport map on distinct values).
    """
    return transport_images(source, target)[0]


def transport_images(source: Measure, target: Measure) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the images of the source's atoms in the target, and of the target's in the source."""
    image, back = np.empty(len(source.atoms)), np.empty(len(target.atoms))
    kernels.merge_walk(source.atoms, source.mass, target.atoms, target.mass, image, back)
    return image, back


def extend_image(source: Measure, image: NDArray[np.float64]) -> AddImage:
    """Return a map, known at the source's atoms, as a function of other measures (linear between atoms)."""

    def add(other: Measure, factor: float, total: NDArray[np.float64]) -> None:
        total += factor * np.interp(other.atoms, source.atoms, image)

    return add


def transport_cost(source: Measure, target: Measure) -> float:
    """Return the squared Wasserstein-2 distance between two measures."""
    image, back = np.empty(len(source.atoms)), np.empty(len(target.atoms))
    return float(kernels.merge_walk(source.atoms, source.mass, target.atoms, target.mass, image, back))


def row_images(source: MeasuredSample, target: Measure, ties: Ties = "average") -> NDArray[np.float64]:
    """Return the transport image of each row of a sample.

    Parameters
    ----------
    source : MeasuredSample
        The sample whose rows are moved.
    target : Measure
        Where to.
    ties : {"average", "right", "left"}
        What a row of a block of equal values takes: the mean over the block's quantile interval (the derivative
        when the block moves as one, as a leaf's rows do), or the block's last (first) slot: the paper's right-hand
        (left-hand) derivative, for the row moving alone.
    """
    if ties == "average":
        return transport_image(source.measure, target)[source.atom_of_row]
    cumulated = np.cumsum(source.measure.mass)
    ends = (cumulated if ties == "right" else cumulated - source.measure.mass)[source.atom_of_row]
    order = np.argsort(ends, kind="stable")
    sorted_image = np.empty(len(ends))
    target_cumulated = np.cumsum(target.mass)
    target_cumulated[-1] = 1.0
    kernels.one_sided_walk(
        ends[order], source.row_mass[order], ties == "right", target.atoms, target_cumulated, sorted_image
    )
    image = np.empty(len(ends))
    image[order] = sorted_image
    return image


def wasserstein_squared(
    x: ArrayLike, y: ArrayLike, x_weight: ArrayLike | None = None, y_weight: ArrayLike | None = None
) -> float:
    r"""Return the squared Wasserstein-2 distance between two weighted samples.

    .. math:: W_2^2 = \int_0^1 \bigl(Q_x(\tau) - Q_y(\tau)\bigr)^2 d\tau

    Samples may be in any order; weights need not be normalised.
    """
    return transport_cost(measure_sample(x, x_weight).measure, measure_sample(y, y_weight).measure)


def transport_map(
    x: ArrayLike,
    y: ArrayLike,
    x_weight: ArrayLike | None = None,
    y_weight: ArrayLike | None = None,
    *,
    ties: Ties = "average",
) -> NDArray[np.float64]:
    """Return where optimal transport moves each value of ``x`` when the sample becomes that of ``y``."""
    if ties not in TIES:
        raise ValueError(f"ties={ties!r} is unknown; allowed are {', '.join(map(repr, TIES))}")
    return row_images(measure_sample(x, x_weight), measure_sample(y, y_weight).measure, ties)
