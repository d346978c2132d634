"""Turning a raw table into features, target and sensitive features, the same way for every data set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from otfairboost.extras import require

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd

Encoding = Literal["one-hot", "category", "ordinal"]
ENCODINGS: tuple[Encoding, ...] = ("one-hot", "category", "ordinal")


def import_pandas() -> ModuleType:
    """Return pandas, or say how to install it."""
    return require("pandas", "datasets")


def check_choice(argument: str, value: Any, allowed: Iterable[Any]) -> None:
    """Raise a ValueError that names the argument unless ``value`` is one of ``allowed``."""
    choices = list(allowed)
    if value not in choices:
        raise ValueError(f"{argument}={value!r} is unknown; allowed are {', '.join(map(repr, choices))}")


def check_columns(frame: pd.DataFrame, needed: Iterable[str], path: Any) -> None:
    """Raise a ValueError that names the file and the columns it lacks."""
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        raise ValueError(f"{path} lacks the columns {', '.join(absent)}; it has {', '.join(map(str, frame.columns))}")


def drop_sensitive_columns(
    features: pd.DataFrame, drop_sensitive: bool | Sequence[str], behind: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Drop the columns behind sensitive attributes from the features.

    Parameters
    ----------
    features : DataFrame
    drop_sensitive : bool or sequence of str
        Whether to drop those of all attributes, or the attributes whose columns to drop.
    behind : mapping of str to sequence of str
        Sensitive attribute to the feature columns that hold it.
    """
    if isinstance(drop_sensitive, bool):
        chosen = list(behind) if drop_sensitive else []
    elif isinstance(drop_sensitive, str):
        raise TypeError(f"drop_sensitive={drop_sensitive!r} is a string; allowed are True, False and a list of names")
    else:
        chosen = list(drop_sensitive)
    for name in chosen:
        check_choice("drop_sensitive", name, behind)
    return features.drop(columns=[column for name in chosen for column in behind[name]])


def encode_categories(features: pd.DataFrame, categorical: Iterable[str], encoding: Encoding) -> pd.DataFrame:
    """Encode the categorical columns; the others stay as they are.

    Parameters
    ----------
    features : DataFrame
    categorical : iterable of str
        Categorical columns; those that ``features`` lacks are passed over.
    encoding : {"one-hot", "category", "ordinal"}
        ``"one-hot"``: one 0/1 column ``name_value`` for each value, missing values as ``name_missing``.
        ``"category"``: pandas categoricals, missing values stay missing; LightGBM reads them natively.
        ``"ordinal"``: numbers; codes that are numbers already stay as they are, text is numbered in sorted order,
        missing values are NaN.

    Returns
    -------
    DataFrame
    """
    pandas = import_pandas()
    check_choice("encoding", encoding, ENCODINGS)
    chosen = [name for name in categorical if name in features.columns]
    if encoding == "one-hot":
        parts = [features.drop(columns=chosen)]
        for name in chosen:
            values = features[name].astype("category")
            if values.isna().any():
                values = values.cat.rename_categories(str).cat.add_categories("missing").fillna("missing")
            parts.append(pandas.get_dummies(values, prefix=name, dtype="uint8"))
        wide = pandas.concat(parts, axis=1)
        # Boosters refuse or rewrite names with spaces and brackets.
        return wide.rename(columns=lambda column: re.sub(r"[^0-9A-Za-z_.+-]+", "_", column))
    encoded = features.copy()
    for name in chosen:
        if encoding == "category":
            encoded[name] = features[name].astype("category")
        elif not pandas.api.types.is_numeric_dtype(features[name]):
            codes = features[name].astype("category").cat.codes
            encoded[name] = codes.where(codes >= 0).astype("float64") if (codes < 0).any() else codes.astype("int32")
    return encoded
