"""Discrete probability measures on the line."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Measure(NamedTuple):
    """A discrete probability measure.

    Attributes
    ----------
    atoms : float64 array of shape (n_atoms,)
        Positions, ascending.
    mass : float64 array of shape (n_atoms,)
        Probabilities, summing to 1. An atom of mass 0 is none, and its position means nothing.
    """

    atoms: NDArray[np.float64]
    mass: NDArray[np.float64]

    def mean(self) -> float:
        """Return the expectation."""
        return float(self.mass @ self.atoms)

    def variance(self) -> float:
        """Return the variance."""
        return float(self.mass @ np.square(self.atoms - self.mean()))

    def support(self) -> "Measure":
        """Return the measure without atoms of mass 0."""
        positive = self.mass > 0
        return self if positive.all() else Measure(self.atoms[positive], self.mass[positive])


AddImage = Callable[[Measure, float, NDArray[np.float64]], None]
"""``add(measure, factor, total)``: adds ``factor`` times a map's values at a measure's atoms to ``total``."""


class MeasuredSample(NamedTuple):
    """A sample as a measure, with the way back to its rows.

    Attributes
    ----------
    measure : Measure
        One atom per distinct value.
    atom_of_row : int array of shape (n_rows,)
        The atom each row belongs to; meaningless for rows of zero weight.
    row_mass : float64 array of shape (n_rows,)
        The row's own probability.
    """

    measure: Measure
    atom_of_row: NDArray[np.intp]
    row_mass: NDArray[np.float64]


def read_sample(values: ArrayLike, weight: ArrayLike | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values and weights as checked 1-D arrays (weights all 1 if not given)."""
    x = np.asarray(values, dtype=np.float64).ravel()
    if len(x) == 0:
        raise ValueError("a sample needs at least one value, got none")
    if not np.isfinite(x).all():
        raise ValueError(f"a sample must be finite, got {np.count_nonzero(~np.isfinite(x))} NaN or infinite values")
    w = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=np.float64).ravel()
    if len(w) != len(x):
        raise ValueError(f"weights must have one entry per value: {len(w)} weights for {len(x)} values")
    if not (np.isfinite(w).all() and (w >= 0).all() and (w > 0).any()):
        raise ValueError("weights must be finite, not negative, and at least one must be positive")
    return x, w


def measure_sample(values: ArrayLike, weight: ArrayLike | None = None) -> MeasuredSample:
    """Sort a sample into a measure; equal values form one atom, rows of zero weight none."""
    x, w = read_sample(values, weight)
    w = w / w.max()  # a sum of huge weights must not overflow
    p = w / w.sum()
    atoms, atom_of_row = np.unique(x[p > 0], return_inverse=True)
    mass = np.bincount(atom_of_row, weights=p[p > 0], minlength=len(atoms)).astype(np.float64)
    rows = np.zeros(len(x), np.intp)
    rows[p > 0] = atom_of_row
    return MeasuredSample(Measure(atoms, mass), rows, p)


def mix(measures: Sequence[Measure], shares: ArrayLike) -> Measure:
    """Return the mixture of measures with the given shares (any positive scale)."""
    share = np.asarray(shares, dtype=np.float64)
    share = share / share.sum()
    atoms = np.concatenate([measure.atoms for measure in measures])
    mass = np.concatenate([s * measure.mass for s, measure in zip(share, measures, strict=True)])
    return measure_sample(atoms, mass).measure
