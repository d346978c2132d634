"""Fairness criteria: which rows are compared with which.

A criterion is a function that splits the rows into strata. Score distributions of the groups are compared inside each
stratum. A new criterion is a new function with the decorator :func:`criterion`, and nothing else. Users may also pass a
function of their own as ``fairness``.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.binning import Bins, cut, encode_column, find_bins, learn_edges
from otfairboost.columns import Column, read_columns
from otfairboost.groups import Groups, drop_unused, factorize, format_label, intersect

MAX_STRATA = 100
"""More strata than this leave too few rows in each, and are refused."""


class Control(NamedTuple):
    """Control features: what the rows that are compared have in common.

    Attributes
    ----------
    groups : Groups
        One code for each combination of values.
    bins : tuple of edges or None
        By column; what makes intervals of its values.
    """

    groups: Groups
    bins: tuple[Bins | None, ...]

    @property
    def codes(self) -> NDArray[np.float64]:
        """Return codes as metrics take them, NaN where missing."""
        return np.where(self.groups.codes < 0, np.nan, self.groups.codes)

    def part(self, rows: NDArray[Any]) -> "Control":
        """Return some of the rows."""
        return self._replace(groups=drop_unused(self.groups._replace(codes=self.groups.codes[rows])))


class Target(NamedTuple):
    """The target, and what else criteria see of the rows.

    Attributes
    ----------
    values : array of shape (n_rows,)
        Class codes, or the values themselves in regression.
    classes : sequence or None
        The label of each class code; None in regression.
    control : Groups or None
        The rows' control features.
    edges : array of shape (n_edges,) or None
        In regression: where the strata of the target begin, as learnt on the training rows.
    unit : float
        In regression: the training target's standard deviation.
    """

    values: NDArray[Any]
    classes: Sequence[Any] | None
    control: Groups | None = None
    edges: NDArray[np.float64] | None = None
    unit: float = 1.0

    @property
    def n_outputs(self) -> int:
        """Return how many raw predictions a row has: one for each class if there are more than two."""
        return 1 if self.classes is None or len(self.classes) <= 2 else len(self.classes)

    def missing_classes(self, rows: Any = slice(None)) -> list[Any]:
        """Return the labels that none of these rows has; of numbers, none."""
        present = set(np.unique(self.values[rows]).tolist())
        return [label for code, label in enumerate(self.classes or ()) if code not in present]


class Strata(NamedTuple):
    """Rows assigned to strata.

    Attributes
    ----------
    codes : int32 array of shape (n_rows,)
        Index into ``names``; -1 for rows that are not compared.
    names : tuple of str
        What each stratum is, for messages.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]


WITHOUT_CONTROL = frozenset(
    {"demographic_parity", "equalized_odds", "true_positive_rate_parity", "false_positive_rate_parity"}
)
"""Criteria that do not read control features, so that these would be given in vain."""

Criterion = Callable[[Target], Strata]
CRITERIA: dict[str, Criterion] = {}


def criterion(function: Criterion) -> Criterion:
    """Register a criterion under its function's name."""
    CRITERIA[function.__name__] = function
    return function


def stratify(fairness: str | Callable[[Target], Any], target: Target) -> Strata:
    """Return the strata of a criterion, given by name or as a function."""
    if callable(fairness):
        return _read_strata(fairness(target), len(target.values))
    return find_criterion(fairness)(target)


ALL_ROWS = "all rows"
_OTHER_NAMES = {
    "equal_opportunity": "true_positive_rate_parity",
    "predictive_equality": "false_positive_rate_parity",
    "statistical_parity": "demographic_parity",
    "disparate_impact": "demographic_parity",
}


def find_criterion(name: Any) -> Criterion:
    """Return the criterion called ``name``, or raise with the names there are."""
    if not isinstance(name, str) or name not in CRITERIA:
        meant = _OTHER_NAMES.get(name.lower().replace(" ", "_")) if isinstance(name, str) else None
        hint = f" ({meant!r} is what is meant by it here)" if meant else ""
        raise ValueError(
            f"fairness={name!r} is unknown{hint}; allowed are {', '.join(sorted(map(repr, CRITERIA)))} and a function"
        )
    return CRITERIA[name]


@criterion
def demographic_parity(target: Target) -> Strata:
    """Scores independent of the group: all rows in one stratum (paper, Definitions 1 and 3)."""
    return Strata(np.zeros(len(target.values), np.int32), (ALL_ROWS,))


@criterion
def conditional_demographic_parity(target: Target) -> Strata:
    """Scores independent of the group given the control features: one stratum per combination of their values."""
    if target.control is None:
        raise ValueError(
            "fairness='conditional_demographic_parity' compares groups among rows of the same control_features, "
            "which are missing"
        )
    return Strata(target.control.codes, tuple(f"control = {format_label(label)}" for label in target.control.labels))


@criterion
def equalized_odds(target: Target) -> Strata:
    """Scores independent of the group given the target: one stratum per label (paper, Definition 2).

    In regression one per interval of the target (the paper's definition, whose intervals are infinitesimal).
    """
    if target.classes is None:
        edges = learn_edges(target.values.astype(np.float64), 5) if target.edges is None else target.edges
        intervals = cut(target.values.astype(np.float64), edges)
        return Strata(intervals.codes, tuple(f"target in {label}" for label in intervals.labels))
    return Strata(target.values.astype(np.int32), tuple(f"target = {label}" for label in target.classes))


@criterion
def true_positive_rate_parity(target: Target) -> Strata:
    """Equal opportunity: scores independent of the group among positives."""
    return _one_class(target, 1, "true_positive_rate_parity")


@criterion
def false_positive_rate_parity(target: Target) -> Strata:
    """Scores independent of the group among negatives."""
    return _one_class(target, 0, "false_positive_rate_parity")


def _one_class(target: Target, code: int, name: str) -> Strata:
    classes = _classes_of(target, name)
    if len(classes) != 2:
        raise ValueError(
            f"fairness={name!r} needs a target of two classes, a positive and a negative one, but y has "
            f"{len(classes)}; allowed with more classes are 'demographic_parity' and 'equalized_odds'"
        )
    label = classes[code]
    return Strata(np.where(target.values == code, 0, -1).astype(np.int32), (f"target = {label}",))


def _classes_of(target: Target, name: str) -> Sequence[Any]:
    if target.classes is None:
        raise ValueError(
            f"fairness={name!r} compares groups among rows of the same label and needs a discrete target; "
            "a regressor takes 'demographic_parity', 'conditional_demographic_parity' and 'equalized_odds'"
        )
    return target.classes


def read_control(
    features: Any, bins: Any, *, n_rows: int, name: str = "control_features", like: Control | None = None
) -> Control:
    """Read control features.

    Parameters
    ----------
    features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Rows with a missing value in any column are in no stratum.
    bins : None, int, sequence of float or dict
        Which columns are cut into intervals, by the parameter ``control_bins``.
    n_rows : int
    name : str
        What to call them in messages.
    like : Control, optional
        The training rows', whose edges are reused.
    """
    if isinstance(features, Control):
        return features
    columns = read_columns(features, name, n_rows=n_rows)
    own = list(like.bins) if like is not None else find_bins("control_bins", bins, [one.name for one in columns])
    if len(own) != len(columns):
        raise ValueError(f"{name} has {len(columns)} columns, but control_features has {len(own)}")
    least = 1 if like is None else 0  # intervals that the training rows have may be empty here
    encoded = [encode_column(column, one, name, least) for column, one in zip(columns, own, strict=True)]
    groups = drop_unused(intersect([one for one, _ in encoded]))
    known = int(np.count_nonzero(groups.codes >= 0))
    if known == 0:
        raise ValueError(f"{name} holds only missing values; at least one row must have them all")
    if like is None and known > 1 and len(groups.labels) == known:
        raise ValueError(
            f"{name} has a different value in every row, so no two rows are compared; cut it into intervals with "
            "control_bins, or give a coarser feature"
        )
    if len(groups.labels) > MAX_STRATA:
        raise ValueError(
            f"{name} has {len(groups.labels)} distinct values, at most {MAX_STRATA} make sense as strata; cut "
            "continuous ones into intervals with control_bins, or give a coarser feature"
        )
    edges = tuple(own) if like is not None else tuple(edges for _, edges in encoded)
    return Control(groups, edges)


def _read_strata(strata: Any, n_rows: int) -> Strata:
    """Read what a user's function returns: strata, or one value for each row, missing where it is not compared."""
    if isinstance(strata, Strata):
        return strata
    name = "what fairness(target) returns"
    columns: list[Column] = read_columns(strata, name, n_rows=n_rows)
    groups = drop_unused(intersect([factorize(column.values, column.missing, name) for column in columns]))
    if len(groups.labels) > MAX_STRATA:
        raise ValueError(f"{name} has {len(groups.labels)} distinct values; at most {MAX_STRATA} make sense as strata")
    return Strata(groups.codes, tuple(f"stratum = {format_label(label)}" for label in groups.labels))
