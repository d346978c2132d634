"""Reading and checking what metrics are given."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.groups import encode_groups, format_label

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Rows(NamedTuple):
    """The rows that count: those of some group and of positive weight."""

    counted: Bools  # of all rows; weight and codes are those of the counted rows
    weight: Floats
    codes: NDArray[np.intp]
    labels: tuple[Any, ...]

    def add_up(self, values: Floats) -> Floats:
        """Return the sum of the counted rows' values in each group."""
        return np.bincount(self.codes, weights=values, minlength=len(self.labels)).astype(np.float64)


def read_rows(y_true: Any, n_rows: int, sensitive_features: Any, sample_weight: Any, min_groups: int = 2) -> Rows:
    """Return the rows that count; refuse lengths that differ from ``n_rows``, bad weights and too few groups."""
    groups = encode_groups(sensitive_features)
    weight = np.ones(n_rows) if sample_weight is None else read_floats("sample_weight", sample_weight)
    n_true = n_rows if y_true is None else len(read_column("y_true", y_true))
    lengths = {"y_true": n_true, "sensitive_features": len(groups.codes), "sample_weight": len(weight)}
    for name, length in lengths.items():
        if length != n_rows:
            raise ValueError(f"{name} has {length} rows, but y_pred has {n_rows}; both need the same number")
    if (weight < 0).any() or not (weight > 0).any():
        raise ValueError(
            f"sample_weight lies between {weight.min()} and {weight.max()}; "
            "no weight may be negative and at least one must be positive"
        )
    weight = weight / weight.max()  # a sum of huge weights must not overflow
    counted = (groups.codes >= 0) & (weight > 0)
    present = np.bincount(groups.codes[counted], minlength=len(groups.labels)) > 0
    labels = tuple(label for label, kept in zip(groups.labels, present, strict=True) if kept)
    if len(labels) < min_groups:
        found = ", ".join(map(format_label, labels)) or "none"
        raise ValueError(
            f"sensitive_features must hold at least {min_groups} group(s) among the rows of positive weight, "
            f"found {len(labels)}: {found}"
        )
    return Rows(counted, weight[counted], (np.cumsum(present) - 1)[groups.codes[counted]], labels)


def read_labels(name: str, values: Any, pos_label: Any) -> tuple[Bools, Any]:
    """Return which labels are positive, and the other label (None if all are); refuse anything else."""
    labels = read_column(name, values)
    try:
        positive = np.asarray(labels == pos_label, dtype=bool)
    except TypeError:  # pandas.NA is neither equal nor unequal
        raise ValueError(f"{name} holds missing values; a label metric needs every label") from None
    others = labels[~positive]
    if len(others) == 0:
        return positive, None
    other = others[:1].tolist()[0]
    if isinstance(other, str) or isinstance(pos_label, str):  # text goes with text
        is_class = isinstance(other, str) and isinstance(pos_label, str)
    else:  # a fraction is a score, not a class
        is_class = isinstance(other, int | float | np.number) and float(other).is_integer()
    if not is_class or not (others == other).all():
        seen = list(dict.fromkeys(map(repr, others[:1000].tolist())))
        raise ValueError(
            f"{name} holds {', '.join(seen[:5])} besides pos_label={pos_label!r}; allowed are pos_label and one "
            "other label (set pos_label if yours is another; compare probabilities with a threshold first)"
        )
    return positive, other


def read_floats(name: str, values: Any) -> Floats:
    """Return one column of finite numbers."""
    column = read_column(name, values)
    if column.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {column.dtype}; allowed are numbers")
    floats = column.astype(np.float64)
    n_bad = np.count_nonzero(~np.isfinite(floats))
    if n_bad:
        raise ValueError(f"{name} holds {n_bad} NaN or infinite values; all must be finite")
    return floats


def read_column(name: str, values: Any) -> NDArray[Any]:
    """Return one column of at least one row, as a 1-D array."""
    column = np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or len(column) == 0:
        raise ValueError(
            f"{name} has shape {column.shape}; allowed is one column of at least one row, such as "
            "predict_proba(X)[:, 1]"
        )
    return column


def check_choice(argument: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse a value that is not among the allowed names, which the error lists."""
    names = list(allowed)
    if value not in names:
        raise ValueError(f"{argument}={value!r} is unknown; allowed are {', '.join(map(repr, names))}")
