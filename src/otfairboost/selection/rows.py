"""The rows of a frontier: read once, split into folds, kept for whoever shows what was held out."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples

from otfairboost.estimators.held_out import Fold, split_rows, take_rows
from otfairboost.estimators.inputs import read_column, read_numbers, read_weight
from otfairboost.groups import Groups, encode_groups

Float = NDArray[np.float64]


class RowInput(NamedTuple):
    """What a user passes for one set of rows."""

    X: Any
    y: Any
    sensitive_features: Any
    sample_weight: Any = None

    def take(self, rows: NDArray[np.intp]) -> "RowInput":
        """Return some of the rows."""
        return RowInput(*(take_rows(one, rows) for one in self))


class HeldOutRows(NamedTuple):
    """The rows that a frontier's predictions are for, in their order.

    Attributes
    ----------
    y : array of shape (n_held_out,)
        Labels as 0 and 1, or values.
    classes : tuple or None
        What 0 and 1 stand for; None in regression.
    groups : Groups
        Group codes and labels.
    sample_weight : array of shape (n_held_out,) or None
    row : array of shape (n_held_out,)
        The row's number in what was given to ``fit``: in X, or in ``eval_X``.
    fold : array of shape (n_held_out,)
        The fold that held the row out. A row can be held out by several.
    """

    y: NDArray[Any]
    classes: tuple[Any, ...] | None
    groups: Groups
    sample_weight: Float | None
    row: NDArray[np.intp]
    fold: NDArray[np.intp]

    def part(self, rows: NDArray[Any]) -> "HeldOutRows":
        """Return some of these rows."""
        return HeldOutRows(
            self.y[rows],
            self.classes,
            self.groups._replace(codes=self.groups.codes[rows]),
            None if self.sample_weight is None else self.sample_weight[rows],
            self.row[rows],
            self.fold[rows],
        )

    @property
    def sensitive_features(self) -> NDArray[Any]:
        """Return the groups as metrics take them: codes, NaN where missing."""
        return np.where(self.groups.codes < 0, np.nan, self.groups.codes)


class SplitRows(NamedTuple):
    """Folds, and the rows they hold out.

    Attributes
    ----------
    training : RowInput
        Rows to train on.
    measured : RowInput
        Rows that are held out: the same, or those of a validation set.
    folds : list of Fold
    held_out : HeldOutRows
        In row order; those of one fold in the order of its ``test``.
    """

    training: RowInput
    measured: RowInput
    folds: list[Fold]
    held_out: HeldOutRows


def read_split(estimator: Any, training: RowInput, validation: RowInput | None, cv: Any, seed: int = 0) -> SplitRows:
    """Read and check the rows, and split them; with a validation set there is one fold, and ``cv`` is not used."""
    classification = is_classifier(estimator)
    y, classes, groups, weight = _read_rows(training, "", classification)
    if validation is None:
        folds = [
            Fold(train, np.sort(test))
            for train, test in split_rows(cv, y, groups.codes, classification=classification, seed=seed)
        ]
        return SplitRows(training, training, folds, _hold_out(y, classes, groups, weight, folds))
    n_rows = len(y)
    y, _, groups, weight = _read_rows(validation, "eval_", classification, classes, groups.labels)
    folds = [Fold(np.arange(n_rows), np.arange(len(y)))]
    return SplitRows(training, validation, folds, _hold_out(y, classes, groups, weight, folds))


def _read_rows(
    rows: RowInput,
    prefix: str,
    classification: bool,
    classes: tuple[Any, ...] | None = None,
    labels: tuple[Any, ...] | None = None,
) -> tuple[NDArray[Any], tuple[Any, ...] | None, Groups, Float | None]:
    n_rows = _num_samples(rows.X)
    groups = encode_groups(rows.sensitive_features, n_rows=n_rows, labels=labels, name=f"{prefix}sensitive_features")
    weight = read_weight(rows.sample_weight, n_rows, f"{prefix}sample_weight", other=f"{prefix}X")
    y: NDArray[Any]
    if classification:
        y, classes = _read_classes(rows.y, f"{prefix}y", classes)
    else:
        y = read_numbers(rows.y, f"{prefix}y").astype(np.float64)
    if len(y) != n_rows:
        raise ValueError(f"{prefix}y has {len(y)} rows, but {prefix}X has {n_rows}; both need the same number")
    return y, classes, groups, weight if len(weight) else None


def _read_classes(y: Any, name: str, classes: tuple[Any, ...] | None) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    found, codes = np.unique(read_column(y, name), return_inverse=True)
    seen = tuple(found.tolist())
    if classes is None:
        if len(seen) != 2:
            raise ValueError(f"{name} must have 2 classes, got {len(seen)} ({', '.join(map(str, seen[:10]))})")
        return codes.astype(np.int64), seen
    unknown = [label for label in seen if label not in classes]
    if unknown:
        raise ValueError(f"{name} holds labels that y has not: {unknown}; y has {list(classes)}")
    return np.array([classes.index(label) for label in seen], np.int64)[codes], classes


def _hold_out(
    y: NDArray[Any], classes: tuple[Any, ...] | None, groups: Groups, weight: Float | None, folds: list[Fold]
) -> HeldOutRows:
    index = np.concatenate([fold.test for fold in folds])
    number = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in folds])
    order = np.lexsort((number, index))
    everything = HeldOutRows(y, classes, groups, weight, np.arange(len(y)), np.zeros(len(y), np.intp))
    return everything.part(index[order])._replace(fold=number[order])
