"""The Wasserstein-2 barycenter of measures on the line."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from otfairboost.transport.measure import Measure


def barycenter(measures: Sequence[Measure], weights: ArrayLike | None = None) -> Measure:
    r"""Return the measure whose quantile function is the weighted mean of the measures' quantile functions.

    .. math:: Q_\nu(\tau) = \sum_g c_g Q_g(\tau), \qquad \nu = \arg\min_\nu \sum_g c_g W_2^2(\mu_g, \nu)

    Exact for discrete measures: between two neighbouring cumulated masses of any of them all quantile functions are
    constant.
    """
    share = np.ones(len(measures)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(share) != len(measures):
        raise ValueError(f"weights must have one entry per measure: {len(share)} weights, {len(measures)} measures")
    if (share < 0).any() or not share.sum() > 0:
        raise ValueError("weights must not be negative, and at least one must be positive")
    share = share / share.sum()
    measures = [measure.support() for measure in measures]
    cumulated = [np.minimum(np.cumsum(measure.mass), 1.0) for measure in measures]
    for steps in cumulated:
        steps[-1] = 1.0
    levels = np.unique(np.concatenate(cumulated))
    mass = np.diff(levels, prepend=0.0)
    middle = levels - 0.5 * mass
    atoms = np.zeros(len(levels))
    for c, measure, steps in zip(share, measures, cumulated, strict=True):
        atoms += c * measure.atoms[np.searchsorted(steps, middle)]
    positive = mass > 0
    return Measure(atoms[positive], mass[positive])
