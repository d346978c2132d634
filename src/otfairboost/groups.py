"""Sensitive features: the only place where they are read and checked.

Whatever the user passes (one column or several; strings, numbers, booleans; numpy, pandas, polars, pyarrow or
lists; partly missing) becomes one integer code per row.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

MAX_GROUPS = 50
"""More distinct values than this are taken for a continuous attribute or an identifier, and refused."""


class Groups(NamedTuple):
    """Rows assigned to groups.

    Attributes
    ----------
    codes : int32 array of shape (n_rows,)
        Index into ``labels``; -1 where the sensitive feature is missing.
    labels : tuple
        The group of each code, in sorted order. A group of several columns is a tuple of their values.
    """

    codes: NDArray[np.int32]
    labels: tuple[Any, ...]

    def counts(self) -> NDArray[np.int64]:
        """Return the number of rows of each group."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels)).astype(np.int64)

    def decode(self) -> NDArray[Any]:
        """Return the label of each row, None where it is missing."""
        labels = np.empty(len(self.labels) + 1, dtype=object)
        for code, label in enumerate(self.labels):
            labels[code] = label
        return labels[self.codes]


def encode_groups(
    sensitive_features: Any,
    *,
    n_rows: int | None = None,
    labels: Sequence[Any] | None = None,
    name: str = "sensitive_features",
) -> Groups:
    """Turn sensitive features into group codes.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Several columns form intersections: one group per combination of values that occurs. A row with a
        missing value in any column belongs to no group.
    n_rows : int, optional
        The number of rows there must be.
    labels : sequence, optional
        The groups of an earlier encoding. Codes then refer to these, and any other value is an error.
    name : str
        The argument's name in error messages.

    Returns
    -------
    Groups
    """
    columns = [_factorize(values, missing, name) for values, missing in _read_columns(sensitive_features, name)]
    lengths = {len(column.codes) for column in columns}
    if len(lengths) != 1:
        raise ValueError(f"{name} has columns of different lengths: {sorted(lengths)}")
    (length,) = lengths
    if n_rows is not None and length != n_rows:
        raise ValueError(f"{name} has {length} rows, but X has {n_rows}; it needs one row per row of X")
    groups = columns[0] if len(columns) == 1 else _intersect(columns)
    if len(groups.labels) > MAX_GROUPS:
        raise ValueError(
            f"{name} has {len(groups.labels)} distinct values, at most {MAX_GROUPS} make sense as groups; "
            "bin a continuous attribute (for example with pandas.qcut) or merge rare values first"
        )
    return groups if labels is None else _recode(groups, tuple(labels), name)


def format_label(label: Any) -> str:
    """Return a group's label as text: the value itself, or the values of an intersection joined by ' & '."""
    return " & ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)


def _read_columns(features: Any, name: str) -> list[tuple[NDArray[Any], NDArray[np.bool_] | None]]:
    """Return (values, missing or None) of each column."""
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
        return [_read_series(native[column]) for column in native.columns]
    if isinstance(native, nw.Series):
        return [_read_series(native)]
    if isinstance(features, dict):
        raise TypeError(f"{name} is a dict; pass a data frame or an array of shape (n_rows, n_columns) instead")
    try:
        array = features if isinstance(features, np.ndarray) else _array_of(features)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} of type {type(features).__name__} cannot be read as an array: {error}") from None
    missing = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim == 1:
        return [(array, missing)]
    if array.ndim == 2 and array.shape[1] > 0:
        return [(array[:, j], None if missing is None else missing[:, j]) for j in range(array.shape[1])]
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


def _read_series(series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    return series.to_numpy(), missing


def _factorize(values: NDArray[Any], missing: NDArray[np.bool_] | None, name: str) -> Groups:
    """Code one column; labels are Python scalars in sorted order."""
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
        groups = _factorize_integers(values)
        groups = groups._replace(labels=tuple(bool(label) for label in groups.labels))
    elif values.dtype.kind in "iu":
        groups = _factorize_integers(values)
    elif values.dtype.kind == "f":
        groups = _factorize_floats(values)
    elif values.dtype.kind in "OUSTMm":
        groups = _factorize_objects(values.tolist(), name)
    else:
        raise TypeError(f"{name} has dtype {values.dtype}; allowed are strings, numbers and booleans")
    if missing is None or not missing.any():
        return groups
    return _drop_unused(groups._replace(codes=np.where(missing, np.int32(-1), groups.codes)))


def _factorize_integers(values: NDArray[Any]) -> Groups:
    if len(values) == 0:
        return Groups(np.empty(0, np.int32), ())
    low, high = int(values.min()), int(values.max())
    if high - low < 65536:  # a table of the range instead of a sort
        offset = (values.astype(np.int64) - low).astype(np.int32)
        present = np.bincount(offset, minlength=high - low + 1) > 0
        position = (np.cumsum(present) - 1).astype(np.int32)
        return Groups(position[offset], tuple((np.flatnonzero(present) + low).tolist()))
    distinct, codes = np.unique(values, return_inverse=True)
    return Groups(codes.astype(np.int32), tuple(distinct.tolist()))


def _factorize_floats(values: NDArray[Any]) -> Groups:
    missing = np.isnan(values)
    distinct, inverse = np.unique(values[~missing], return_inverse=True)
    codes = np.full(len(values), -1, np.int32)
    codes[~missing] = inverse
    return Groups(codes, tuple(distinct.tolist()))


def _factorize_objects(values: list[Any], name: str) -> Groups:
    table: dict[Any, int] = {}
    try:
        codes = np.fromiter((table.setdefault(v, len(table)) for v in values), np.int32, len(values))
    except TypeError:
        raise TypeError(
            f"{name} holds values that cannot be groups (for example {_first_unhashable(values)!r}); "
            "allowed are strings, numbers and booleans"
        ) from None
    found = [label for label in table if not _is_missing(label)]
    try:
        ordered = sorted(found)
    except TypeError:  # values of several types have no order of their own
        ordered = sorted(found, key=lambda label: (type(label).__name__, str(label)))
    position = np.full(len(table) + 1, -1, np.int32)
    for new, label in enumerate(ordered):
        position[table[label]] = new
    return Groups(position[codes], tuple(ordered))


def _first_unhashable(values: list[Any]) -> Any:
    for value in values:
        try:
            hash(value)
        except TypeError:
            return value
    return None


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def _intersect(columns: list[Groups]) -> Groups:
    """One group per combination of values that occurs."""
    combined = np.zeros(len(columns[0].codes), np.int64)
    missing = np.zeros(len(combined), bool)
    for column in columns:
        combined = combined * max(len(column.labels), 1) + column.codes
        missing |= column.codes < 0
    distinct, inverse = np.unique(combined[~missing], return_inverse=True)
    labels = []
    for code in distinct.tolist():
        parts = []
        for column in reversed(columns):
            code, part = divmod(code, len(column.labels))
            parts.append(column.labels[part])
        labels.append(tuple(reversed(parts)))
    codes = np.full(len(combined), -1, np.int32)
    codes[~missing] = inverse
    return Groups(codes, tuple(labels))


def _drop_unused(groups: Groups) -> Groups:
    used = groups.counts() > 0
    if used.all():
        return groups
    position = np.append(np.where(used, np.cumsum(used) - 1, -1), -1).astype(np.int32)
    return Groups(position[groups.codes], tuple(label for label, keep in zip(groups.labels, used, strict=True) if keep))


def _recode(groups: Groups, labels: tuple[Any, ...], name: str) -> Groups:
    position = {label: code for code, label in enumerate(labels)}
    unknown = [label for label in groups.labels if label not in position]
    if unknown:
        raise ValueError(
            f"{name} holds groups that were not seen in training: {', '.join(map(format_label, unknown))}; "
            f"seen were {', '.join(map(format_label, labels))}"
        )
    table = np.array([position[label] for label in groups.labels] + [-1], np.int32)
    return Groups(table[groups.codes], labels)
