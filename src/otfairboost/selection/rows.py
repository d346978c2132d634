"""The rows of a frontier: read once, split into folds, kept for whoever shows what was held out."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples

from otfairboost.attributes import Attributes, GroupingRules
from otfairboost.binning import learn_edges
from otfairboost.criteria import Control, read_control
from otfairboost.estimators.held_out import Fold, split_rows, take_rows
from otfairboost.estimators.inputs import read_column, read_numbers, read_weight
from otfairboost.groups import Groups, intersect

Float = NDArray[np.float64]


class RowInput(NamedTuple):
    """What a user passes for one set of rows."""

    X: Any
    y: Any
    sensitive_features: Any
    sample_weight: Any = None
    control_features: Any = None

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
    attribute_codes : array of shape (n_held_out, n_attributes) or None
        Of several attributes that are compared one by one; ``groups`` are then their intersections.
    control_features : array of shape (n_held_out,) or None
        Codes of the control features, NaN where one is missing.
    options : mapping
        What metrics may ask for besides: edges of the target, the share that is selected, weights of attributes.
    """

    y: NDArray[Any]
    classes: tuple[Any, ...] | None
    groups: Groups
    sample_weight: Float | None
    row: NDArray[np.intp]
    fold: NDArray[np.intp]
    attribute_codes: Float | None = None
    control_features: Float | None = None
    options: Mapping[str, Any] = {}  # never written to

    def part(self, rows: NDArray[Any]) -> "HeldOutRows":
        """Return some of these rows."""
        return HeldOutRows(
            self.y[rows],
            self.classes,
            self.groups._replace(codes=self.groups.codes[rows]),
            None if self.sample_weight is None else self.sample_weight[rows],
            self.row[rows],
            self.fold[rows],
            None if self.attribute_codes is None else self.attribute_codes[rows],
            None if self.control_features is None else self.control_features[rows],
            self.options,
        )

    @property
    def sensitive_features(self) -> NDArray[Any]:
        """Return the groups as metrics take them: codes, NaN where missing."""
        if self.attribute_codes is not None:
            return self.attribute_codes
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


class _ReadRows(NamedTuple):
    """Rows, read and checked."""

    y: NDArray[Any]
    classes: tuple[Any, ...] | None
    attributes: Attributes
    weight: Float | None
    control: Control | None

    def hold_out(self, folds: list[Fold], options: Mapping[str, Any]) -> HeldOutRows:
        """Return the rows that folds hold out, in row order."""
        index = np.concatenate([fold.test for fold in folds])
        number = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in folds])
        order = np.lexsort((number, index))
        several = len(self.attributes.parts) > 1
        everything = HeldOutRows(
            self.y,
            self.classes,
            intersect([part.groups for part in self.attributes.parts]),
            self.weight,
            np.arange(len(self.y)),
            np.zeros(len(self.y), np.intp),
            self.attributes.codes() if several else None,
            None if self.control is None else self.control.codes,
            options,
        )
        return everything.part(index[order])._replace(fold=number[order])


def read_split(estimator: Any, training: RowInput, validation: RowInput | None, cv: Any, seed: int = 0) -> SplitRows:
    """Read and check the rows, and split them; with a validation set there is one fold, and ``cv`` is not used."""
    classification = is_classifier(estimator)
    rows = _read_rows(estimator, training, "", classification)
    options = _metric_options(estimator, rows)
    if validation is None:
        folds = [
            Fold(train, np.sort(test))
            for train, test in split_rows(cv, rows.y, rows.attributes.kinds(), classification=classification, seed=seed)
        ]
        return SplitRows(training, training, folds, rows.hold_out(folds, options))
    measured = _read_rows(estimator, validation, "eval_", classification, rows)
    folds = [Fold(np.arange(len(rows.y)), np.arange(len(measured.y)))]
    return SplitRows(training, validation, folds, measured.hold_out(folds, options))


def _read_rows(
    estimator: Any, rows: RowInput, prefix: str, classification: bool, like: _ReadRows | None = None
) -> _ReadRows:
    n_rows = _num_samples(rows.X)
    settings = estimator._settings() if hasattr(estimator, "_settings") else None
    grouping = GroupingRules() if settings is None else settings.grouping
    read = grouping.read if like is None else like.attributes.like
    attributes = read(rows.sensitive_features, n_rows=n_rows, name=f"{prefix}sensitive_features")
    control = None
    if rows.control_features is not None:
        control = read_control(
            rows.control_features, getattr(settings, "control_bins", None), n_rows=n_rows,
            name=f"{prefix}control_features", like=None if like is None else like.control,
        )  # fmt: skip
    weight = read_weight(rows.sample_weight, n_rows, f"{prefix}sample_weight", other=f"{prefix}X")
    y: NDArray[Any]
    classes = None if like is None else like.classes
    if classification:
        y, classes = _read_classes(rows.y, f"{prefix}y", classes)
    else:
        y = read_numbers(rows.y, f"{prefix}y").astype(np.float64)
    if len(y) != n_rows:
        raise ValueError(f"{prefix}y has {len(y)} rows, but {prefix}X has {n_rows}; both need the same number")
    return _ReadRows(y, classes, attributes, weight if len(weight) else None, control)


def _metric_options(estimator: Any, rows: _ReadRows) -> dict[str, Any]:
    """Return what metrics may ask for, as the estimator is trained."""
    options: dict[str, Any] = {}
    if rows.classes is None:
        edges = learn_edges(rows.y, getattr(estimator, "target_bins", 5), rows.weight)
        if len(edges):
            options["target_bins"] = edges
    if getattr(estimator, "focus_quantile", None) is not None:
        options["top"] = 1.0 - estimator.focus_quantile
    if len(rows.attributes.parts) > 1:
        options["attribute_weights"] = rows.attributes.weights
    return options


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
