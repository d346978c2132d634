"""Columns of whatever users pass: arrays, lists, series and data frames, as numpy arrays with what is missing."""

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray


class Column(NamedTuple):
    """One column.

    Attributes
    ----------
    name : str or int
        Its name in a data frame, else its position.
    values : array of shape (n_rows,)
    missing : bool array of shape (n_rows,) or None
        Missing values that ``values`` may not show.
    """

    name: Any
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None


def read_columns(features: Any, name: str, *, n_rows: int | None = None) -> list[Column]:
    """Return the columns of an argument called ``name``, all of the same length, ``n_rows`` if given."""
    columns = _split_columns(features, name)
    lengths = {len(column.values) for column in columns}
    if len(lengths) != 1:
        raise ValueError(f"{name} has columns of different lengths: {sorted(lengths)}")
    (length,) = lengths
    if n_rows is not None and length != n_rows:
        raise ValueError(f"{name} has {length} rows, but X has {n_rows}; it needs one row per row of X")
    return columns


def _split_columns(features: Any, name: str) -> list[Column]:
    if features is None:
        raise ValueError(f"{name} is None; it needs one value per row")
    if type(features).__module__.startswith("pyarrow") and hasattr(features, "null_count"):
        features = features.to_pandas() if not hasattr(features, "to_pylist") else features.to_pylist()
    native: Any = features
    if not isinstance(features, np.ndarray):  # which narwhals would take long to see
        native = nw.from_native(features, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        if native.shape[1] == 0:
            raise ValueError(f"{name} has no columns")
        return [_read_series(native[column], column) for column in native.columns]
    if isinstance(native, nw.Series):
        return [_read_series(native, 0 if native.name is None or native.name == "" else native.name)]
    if isinstance(features, str | bytes):
        raise TypeError(f"{name}={features!r} is a text; pass the column itself, one value per row")
    if isinstance(features, dict):
        raise TypeError(f"{name} is a dict; pass a data frame or an array of shape (n_rows, n_columns) instead")
    try:
        array = features if isinstance(features, np.ndarray) else _array_of(features)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} of type {type(features).__name__} cannot be read as an array: {error}") from None
    missing = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim == 1:
        return [Column(0, array, missing)]
    if array.ndim == 2 and array.shape[1] > 0:
        return [Column(j, array[:, j], None if missing is None else missing[:, j]) for j in range(array.shape[1])]
    raise ValueError(f"{name} has shape {array.shape}; allowed are (n_rows,) and (n_rows, n_columns)")


def _array_of(features: Any) -> NDArray[Any]:
    """Read a sequence without letting numpy turn mixed values into strings (None would become 'None')."""
    if hasattr(features, "__array__"):
        return np.asarray(features)
    rows = list(features)
    nested = bool(rows) and all(isinstance(row, list | tuple | np.ndarray) for row in rows)
    if nested and len({len(row) for row in rows}) > 1:
        raise ValueError("rows of different lengths")
    array = np.empty((len(rows), len(rows[0])) if nested else len(rows), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


def _read_series(series: nw.Series[Any], name: Any) -> Column:
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    return Column(name, series.to_numpy(), missing)
