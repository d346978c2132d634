"""What every loader returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["classification", "regression"]


class DatasetInfo(NamedTuple):
    """Where a data set comes from and how it may be used; the fields are those of `Dataset`."""

    name: str
    task: Task
    description: str
    licence: str
    citation: str
    source: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """A data set, ready to fit.

    Attributes
    ----------
    name : str
    features : DataFrame of shape (n_rows, n_features)
        What a model may use. The sensitive attributes are among them unless the loader was told to drop them.
    target : Series of shape (n_rows,)
        0 and 1 (classification) or numbers (regression).
    sensitive_features : DataFrame of shape (n_rows, n_attributes)
        Every candidate attribute, as readable groups; pick one column or pass several.
    sample_weight : Series of shape (n_rows,) or None
        Survey weights that came with the data; not a feature, and not used unless you pass it on.
    identifiers : DataFrame of shape (n_rows, n_identifiers) or None
        Keys of people, impressions or products: to split by, not to learn from.
    task : {"classification", "regression"}
    description, preprocessing : str
        What the data are, and what the loader did to them.
    licence, citation, source : str
    simulated : bool
        True if the rows were generated; say so wherever you show a number computed from them.
    """

    name: str
    features: pd.DataFrame
    target: pd.Series
    sensitive_features: pd.DataFrame
    task: Task
    description: str
    preprocessing: str
    licence: str
    citation: str
    source: str
    sample_weight: pd.Series | None = None
    identifiers: pd.DataFrame | None = None
    simulated: bool = False

    def __repr__(self) -> str:
        n_rows, n_features = self.features.shape
        return (
            f"Dataset({self.name!r}, {self.task}, {n_rows} rows, {n_features} features, "
            f"sensitive_features={list(self.sensitive_features.columns)}{', simulated' if self.simulated else ''})"
        )
