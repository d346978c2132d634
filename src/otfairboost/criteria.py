"""Fairness criteria: which rows are compared with which.

A criterion is a function that splits the rows into strata. Score distributions of the groups are compared inside each
stratum. A new criterion is a new function with the decorator :func:`criterion`, and nothing else.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Target(NamedTuple):
    """The target, as criteria see it.

    Attributes
    ----------
    values : array of shape (n_rows,)
        Class codes, or the values themselves in regression.
    classes : sequence or None
        The label of each class code; None in regression.
    """

    values: NDArray[Any]
    classes: Sequence[Any] | None

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


Criterion = Callable[[Target], Strata]
CRITERIA: dict[str, Criterion] = {}


def criterion(function: Criterion) -> Criterion:
    """Register a criterion under its function's name."""
    CRITERIA[function.__name__] = function
    return function


def stratify(name: str, target: Target) -> Strata:
    """Return the strata of the criterion called ``name``."""
    return find_criterion(name)(target)


def find_criterion(name: str) -> Criterion:
    """Return the criterion called ``name``, or raise with the names there are."""
    if not isinstance(name, str) or name not in CRITERIA:
        raise ValueError(f"fairness={name!r} is unknown; allowed are {', '.join(sorted(map(repr, CRITERIA)))}")
    return CRITERIA[name]


@criterion
def demographic_parity(target: Target) -> Strata:
    """Scores independent of the group: all rows in one stratum (paper, Definitions 1 and 3)."""
    return Strata(np.zeros(len(target.values), np.int32), ("all rows",))


@criterion
def equalized_odds(target: Target) -> Strata:
    """Scores independent of the group given the label: one stratum per label (paper, Definition 2)."""
    classes = _classes_of(target, "equalized_odds")
    return Strata(target.values.astype(np.int32), tuple(f"target = {label}" for label in classes))


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
            "a regressor takes fairness='demographic_parity'"
        )
    return target.classes
