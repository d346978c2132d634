"""Feature columns: which there are, and how their values become the numbers a booster takes.

Text becomes the number of its category. The categories are kept in the model card, so that a file to predict on is read
the same way whatever values it happens to hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.extras import require

if TYPE_CHECKING:
    import pandas as pd

MAX_CATEGORIES = 1000
"""Text with more distinct values than this is taken for names or identifiers, and refused."""


class FeatureColumn(NamedTuple):
    """A feature: its name, and its categories if it is text (None if it is a number)."""

    name: str
    categories: tuple[str, ...] | None = None


def learn_columns(frame: pd.DataFrame) -> tuple[FeatureColumn, ...]:
    """Return the features that the columns of a table make."""
    types = require("pandas", "cli").api.types
    found = []
    for name in frame.columns:
        values = frame[name]
        if types.is_bool_dtype(values) or types.is_numeric_dtype(values):
            found.append(FeatureColumn(str(name)))
        elif types.is_datetime64_any_dtype(values) or types.is_timedelta64_dtype(values):
            raise ValueError(f"column {name!r} holds dates; turn it into numbers (such as an age), or --drop it")
        else:
            categories = tuple(sorted({_as_text(value) for value in values.dropna().unique()}))
            if len(categories) > MAX_CATEGORIES:
                raise ValueError(
                    f"column {name!r} is text with {len(categories):,} distinct values, more than {MAX_CATEGORIES:,}; "
                    "group them, or --drop it"
                )
            found.append(FeatureColumn(str(name), categories))
    return tuple(found)


def encode_columns(frame: pd.DataFrame, columns: Sequence[FeatureColumn], source: Any) -> NDArray[np.float64]:
    """Return the features as numbers, in order; NaN where a value is missing or a category was never seen.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns that are no features are passed over.
    columns : sequence of FeatureColumn
    source : object
        What to call the table in messages.
    """
    pandas = require("pandas", "cli")
    absent = [column.name for column in columns if column.name not in frame.columns]
    if absent:
        raise ValueError(f"{source} lacks the columns {', '.join(absent)}, which the model was trained on; add them")
    matrix = np.empty((len(frame), len(columns)))
    for j, column in enumerate(columns):
        values = frame[column.name]
        if column.categories is None:
            try:
                numbers = pandas.to_numeric(values)
            except (TypeError, ValueError):
                bad = next(value for value in values if not _is_number(value))
                raise ValueError(
                    f"column {column.name!r} of {source} holds {str(bad)!r}, but it was numbers in training; correct it"
                ) from None
            matrix[:, j] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            code_of = {category: float(code) for code, category in enumerate(column.categories)}
            missing = values.isna().to_numpy()
            codes = [code_of.get(_as_text(value), np.nan) for value in values]
            matrix[:, j] = np.where(missing, np.nan, codes)
    return matrix


def booster_names(columns: Sequence[FeatureColumn]) -> list[str]:
    """Return names that LightGBM accepts: it refuses some signs, and names that are equal."""
    names: list[str] = []
    for column in columns:
        clean = name = re.sub(r"[^0-9A-Za-z_.+-]+", "_", column.name) or "_"
        number = 1
        while name in names:
            number += 1
            name = f"{clean}_{number}"
        names.append(name)
    return names


def categorical_positions(columns: Sequence[FeatureColumn]) -> list[int]:
    """Return which features are categories."""
    return [j for j, column in enumerate(columns) if column.categories is not None]


def _as_text(value: Any) -> str:
    return str(value)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None
    return True
