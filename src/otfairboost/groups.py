"""Sensitive features: the only place where they are read and checked.

Whatever the user passes (one column or several; strings, numbers, booleans; numpy, pandas, polars, pyarrow or
lists; partly missing) becomes one integer code per row.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.columns import read_columns

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
    columns = read_columns(sensitive_features, name, n_rows=n_rows)
    groups = intersect([factorize(column.values, column.missing, name) for column in columns])
    refuse_many(groups, name)
    return groups if labels is None else recode(groups, tuple(labels), name)


def encode_columns(features: Any, name: str, n_rows: int | None = None) -> NDArray[np.int32]:
    """Return one code per combination of the columns' values, however many there are; -1 where one is missing."""
    columns = read_columns(features, name, n_rows=n_rows)
    return intersect([factorize(column.values, column.missing, name) for column in columns]).codes


def refuse_many(groups: Groups, name: str) -> None:
    """Raise for more groups than make sense."""
    if len(groups.labels) > MAX_GROUPS:
        raise ValueError(
            f"{name} has {len(groups.labels)} distinct values, at most {MAX_GROUPS} make sense as groups; "
            "bin a continuous attribute (sensitive_bins, otfairboost.binning) or merge rare values first"
        )


def format_label(label: Any) -> str:
    """Return a group's label as text: the value itself, or the values of an intersection joined by ' & '."""
    return " & ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)


def factorize(values: NDArray[Any], missing: NDArray[np.bool_] | None, name: str) -> Groups:
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
    return drop_unused(groups._replace(codes=np.where(missing, np.int32(-1), groups.codes)))


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


def intersect(columns: Sequence[Groups]) -> Groups:
    """Return one group per combination of values that occurs; a row with a missing value in any has none."""
    if len(columns) == 1:
        return columns[0]
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


def drop_unused(groups: Groups) -> Groups:
    """Return the same rows without the labels that none of them has."""
    used = groups.counts() > 0
    if used.all():
        return groups
    position = np.append(np.where(used, np.cumsum(used) - 1, -1), -1).astype(np.int32)
    return Groups(position[groups.codes], tuple(label for label, keep in zip(groups.labels, used, strict=True) if keep))


def recode(groups: Groups, labels: tuple[Any, ...], name: str) -> Groups:
    """Return the same rows in the codes of these labels; any other label is an error."""
    position = {label: code for code, label in enumerate(labels)}
    unknown = [label for label in groups.labels if label not in position]
    if unknown:
        raise ValueError(
            f"{name} holds groups that were not seen in training: {', '.join(map(format_label, unknown))}; "
            f"seen were {', '.join(map(format_label, labels))}"
        )
    table = np.array([position[label] for label in groups.labels] + [-1], np.int32)
    return Groups(table[groups.codes], labels)
