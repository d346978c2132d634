"""Which rows are compared with which: groups x strata, fixed before training begins."""

import warnings
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.criteria import ALL_ROWS, Strata
from otfairboost.groups import Groups, format_label
from otfairboost.reduction import Reduce, alone

Float = NDArray[np.float64]
GroupWeighting = Literal["equal", "size"]
GROUP_WEIGHTINGS: tuple[str, ...] = ("equal", "size")

TINY_GROUP = 30
"""Groups with fewer rows than this are compared, but a warning says so."""


class Comparison(NamedTuple):
    """One stratum whose groups are compared.

    Attributes
    ----------
    name : str
        What the stratum is.
    cells : tuple of int
        The cell of each group present.
    labels : tuple of str
        The groups present.
    weights : array of shape (n_groups,)
        Each group's total weight in the stratum.
    shares : array of shape (n_groups,)
        How much each group counts (sums to 1).
    share : float
        The stratum's share of the weight.
    """

    name: str
    cells: tuple[int, ...]
    labels: tuple[str, ...]
    weights: Float
    shares: Float
    share: float


class Plan(NamedTuple):
    """Which rows are compared: fixed during training.

    Attributes
    ----------
    cell : int16 array of shape (n_rows,)
        Each row's (stratum, group), -1 for rows that are not compared.
    weight : float32 array of shape (n_rows,), or empty if all rows weigh 1
    comparisons : tuple of Comparison
    n_cells : int
    """

    cell: NDArray[np.int16]
    weight: NDArray[np.float32]
    comparisons: tuple[Comparison, ...]
    n_cells: int

    @property
    def n_groups(self) -> int:
        """Return the largest number of groups that are compared with each other."""
        return max(len(comparison.cells) for comparison in self.comparisons)


def plan_comparisons(
    groups: Groups,
    strata: Strata,
    weight: NDArray[np.float32],
    group_weighting: GroupWeighting | Float,
    *,
    name: str = "sensitive_features",
    reduce: Reduce = alone,
) -> Plan:
    """Sort rows into cells and say which of these are compared.

    Warns of groups with few rows, of groups that a stratum lacks, and of strata with fewer than two groups, which
    are left out; raises if nothing is left to compare. ``group_weighting`` may also be one weight for each group.
    ``reduce`` sums over workers.
    """
    n_groups, n_cells = len(groups.labels), len(groups.labels) * len(strata.names)
    if n_groups < 2:
        seen = f"only {format_label(groups.labels[0])!r}" if n_groups else "only missing values"
        raise ValueError(f"{name} holds {seen}; at least two groups are needed to compare")
    compared = (groups.codes >= 0) & (strata.codes >= 0)
    cell = np.where(compared, strata.codes * n_groups + groups.codes, -1).astype(np.int16)
    w = weight[compared] if len(weight) else None
    rows = reduce(np.bincount(cell[compared], minlength=n_cells).astype(np.float64)).reshape(-1, n_groups)
    mass = reduce(np.bincount(cell[compared], w, minlength=n_cells).astype(np.float64)).reshape(-1, n_groups)
    total = reduce(np.array([weight.sum(dtype=np.float64) if len(weight) else float(len(cell))]))[0]
    _warn_tiny_groups(groups, rows, strata, name)
    comparisons = []
    for k, stratum in enumerate(strata.names):
        present = np.flatnonzero(mass[k] > 0)
        absent = [format_label(groups.labels[g]) for g in range(n_groups) if g not in present]
        if absent:
            verdict = "the stratum is left out" if len(present) < 2 else "the other groups are compared"
            warnings.warn(
                f"{name}: no rows of group {', '.join(absent)} where {stratum}; {verdict}",
                UserWarning,
                stacklevel=2,
            )
        if len(present) < 2:
            continue
        weights = mass[k, present]
        shares = weights
        if not isinstance(group_weighting, str):
            shares = group_weighting[present]
        elif group_weighting == "equal":
            shares = np.full(len(present), 1.0)
        comparisons.append(
            Comparison(
                name=stratum,
                cells=tuple(int(k * n_groups + g) for g in present),
                labels=tuple(format_label(groups.labels[g]) for g in present),
                weights=weights,
                shares=shares / shares.sum(),
                share=float(weights.sum() / total),
            )
        )
    if not comparisons:
        raise ValueError(f"{name}: no stratum of {', '.join(strata.names)} holds two groups, so none can be compared")
    used = np.zeros(n_cells + 1, bool)  # the last one for the rows of cell -1
    used[[index for comparison in comparisons for index in comparison.cells]] = True
    cell[~used[cell]] = -1
    return Plan(cell, weight, tuple(comparisons), n_cells)


def _where(stratum: str) -> str:
    return "" if stratum == ALL_ROWS else f" where {stratum}"


def _warn_tiny_groups(groups: Groups, rows: Float, strata: Strata, name: str) -> None:
    tiny = [
        f"{format_label(groups.labels[g])} ({int(rows[k, g])} rows{_where(strata.names[k])})"
        for k, g in zip(*np.nonzero((rows > 0) & (rows < TINY_GROUP)), strict=True)
    ]
    if tiny:
        warnings.warn(
            f"{name}: groups of fewer than {TINY_GROUP} rows say little about a distribution: {', '.join(tiny)}",
            UserWarning,
            stacklevel=3,
        )
