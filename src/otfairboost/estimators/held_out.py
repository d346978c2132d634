"""Held-out rows: which ones, taken from any kind of table, and their scores."""

import reprlib
import warnings
from typing import Any, NamedTuple

import narwhals as nw
import narwhals.dependencies as nwd
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.model_selection import StratifiedKFold, check_cv

Index = NDArray[np.intp]


class Fold(NamedTuple):
    """Rows to train on, and rows to measure on."""

    train: Index
    test: Index


def split_rows(
    cv: Any, y: NDArray[Any], groups: NDArray[np.int32], *, classification: bool, seed: int, name: str = "cv"
) -> list[Fold]:
    """Return the folds that ``cv`` stands for.

    Parameters
    ----------
    cv : int, splitter or iterable
        A number of shuffled folds, each with its share of every group and label; an object of scikit-learn's
        ``model_selection``; or pairs (train, test) of row numbers.
    y, groups : arrays of shape (n_rows,)
        Class codes or values; group codes.
    classification : bool
    seed : int
        Of the shuffle.
    name : str
        The argument's name in messages.
    """
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return _stratify(int(cv), y, groups, classification=classification, seed=seed, name=name)
    if cv is None or isinstance(cv, bool | str | float):
        raise TypeError(f"{name}={cv!r} must be a number of folds, a splitter of scikit-learn or pairs of row numbers")
    try:
        pairs = list(check_cv(cv, y, classifier=classification).split(np.empty((len(y), 0)), y))
        folds = [Fold(_read_index(train, len(y)), _read_index(test, len(y))) for train, test in pairs]
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{name}={reprlib.repr(cv)} cannot split {len(y)} rows: {error}") from error
    if not folds or any(len(train) == 0 or len(test) == 0 for train, test in folds):
        raise ValueError(f"{name}={reprlib.repr(cv)} has no folds, or one without rows")
    return folds


def take_rows(values: Any, rows: Index) -> Any:
    """Return some rows of an array, list, sparse matrix, series or data frame; of None, None."""
    if values is None:
        return None
    if nwd.is_into_dataframe(values) or nwd.is_into_series(values):
        return nw.from_native(values, allow_series=True, eager_only=True)[rows].to_native()
    if sparse.issparse(values):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


def score_rows(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return probabilities of the positive class, of all classes if there are more, or a regressor's predictions."""
    if is_classifier(estimator):
        probability = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return probability[:, 1] if probability.shape[1] == 2 else probability
    return np.asarray(estimator.predict(X), dtype=np.float64)


def _stratify(
    n_folds: int, y: NDArray[Any], groups: NDArray[np.int32], *, classification: bool, seed: int, name: str
) -> list[Fold]:
    if not 2 <= n_folds <= len(y):
        raise ValueError(f"{name}={n_folds} must be a number of folds from 2 to the number of rows, {len(y)}")
    kinds = groups.astype(np.int64) + 1
    if classification:
        kinds = kinds * (int(y.max()) + 1) + y.astype(np.int64)
    if np.unique(kinds, return_counts=True)[1].max() < n_folds:
        kinds = np.zeros(len(kinds), np.int64)  # too few rows to deal each kind out
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return [Fold(train, test) for train, test in splitter.split(np.empty((len(y), 0)), kinds)]


def _read_index(rows: Any, n_rows: int) -> Index:
    return np.arange(n_rows)[np.asarray(rows)]  # raises for numbers beyond the rows; takes masks as well
