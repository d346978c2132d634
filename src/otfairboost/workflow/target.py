"""The target column: labels as 0 and 1, or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.extras import require

if TYPE_CHECKING:
    import pandas as pd

TASKS = ("auto", "classification", "regression")


class TargetColumn(NamedTuple):
    """A target, read.

    Attributes
    ----------
    values : array of shape (n_rows,)
        1 where the label is the positive one and 0 elsewhere; in regression the numbers themselves.
    task : {"classification", "regression"}
    positive : scalar or None
        The positive label; None in regression.
    """

    values: NDArray[Any]
    task: str
    positive: Any


def read_target(column: pd.Series, *, task: str = "auto", positive: str | None = None) -> TargetColumn:
    """Read a target.

    Parameters
    ----------
    column : pandas.Series
    task : {"auto", "classification", "regression"}
        ``"auto"``: classification where there are two distinct values or ``positive`` is given.
    positive : str, optional
        The label that counts as 1, all others count as 0; by default the last of two in sorted order (1, True, yes).
    """
    name = column.name
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown; allowed are {', '.join(TASKS)}")
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(f"target {name!r} has {n_missing} missing values; drop these rows first")
    labels = sorted(column.unique().tolist(), key=lambda value: (isinstance(value, str), value))
    if len(labels) == 1:
        raise ValueError(f"target {name!r} has one value only ({labels[0]!r}); it needs at least two")
    if task == "auto":
        task = "classification" if positive is not None or len(labels) == 2 else "regression"
    if task == "regression":
        if positive is not None:
            raise ValueError(f"positive={positive!r} names a label, but the task is regression; leave one out")
        if not require("pandas", "cli").api.types.is_numeric_dtype(column):
            raise ValueError(
                f"target {name!r} is text with {len(labels)} distinct values; name the one that counts as positive "
                "with --positive"
            )
        return TargetColumn(column.to_numpy(dtype=np.float64), task, None)
    label = _find_label(labels, positive, name)
    return TargetColumn((column == label).to_numpy(dtype=np.int64), task, label)


def _find_label(labels: list[Any], positive: str | None, name: Any) -> Any:
    if positive is None:
        if len(labels) != 2:
            raise ValueError(
                f"target {name!r} has {len(labels)} distinct values; name the one that counts as positive with "
                "--positive"
            )
        return labels[-1]
    for label in labels:
        if str(label) == positive or (_number(positive) is not None and _number(label) == _number(positive)):
            return label
    shown = ", ".join(map(repr, labels[:10]))
    raise ValueError(f"positive={positive!r} does not occur in target {name!r}, which has {shown}")


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
