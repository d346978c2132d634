"""The model card: a JSON file beside a model that says how to feed it, how it was made and what it does to groups."""

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from otfairboost.workflow.columns import FeatureColumn

FORMAT_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """What is known about a model.

    Attributes
    ----------
    created : str
    task : {"classification", "regression"}
    target : str
        Name of the target column.
    positive : scalar or None
        The label that counts as 1.
    features : tuple of FeatureColumn
        In the booster's order.
    sensitive : tuple of str
        Columns that made the groups; needed to train and to measure, not to predict.
    groups : dict of str to int
        Rows of each group in training.
    threshold : float or None
        Score from which on a row is selected; None in regression.
    parameters : dict
        Of the estimator, as far as they were set.
    metrics : dict or None
        Figures on held-out rows (:func:`otfairboost.report.summarise`).
    search : dict or None
        How a target gap was reached.
    data : dict
        File, SHA-256, rows and columns.
    versions : dict
    format_version : int
    """

    created: str
    task: str
    target: str
    positive: Any
    features: tuple[FeatureColumn, ...]
    sensitive: tuple[str, ...]
    groups: dict[str, int]
    threshold: float | None
    parameters: dict[str, Any]
    metrics: dict[str, Any] | None
    search: dict[str, Any] | None
    data: dict[str, Any]
    versions: dict[str, str]
    format_version: int = FORMAT_VERSION

    def to_json(self) -> str:
        """Return the card as JSON."""
        content = asdict(self)
        content["features"] = [{"name": one.name, "categories": one.categories} for one in self.features]
        content = {"format": "otfairboost model card", "format_version": content.pop("format_version"), **content}
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"


def card_path(model: str | os.PathLike[str]) -> Path:
    """Return where the card of a model file is: ``loans.txt`` has ``loans.card.json``."""
    return Path(model).with_suffix(".card.json")


def read_card(path: str | os.PathLike[str]) -> ModelCard:
    """Read a card; one that a newer version wrote, or that is no card, is refused."""
    file = Path(path)
    if not file.is_file():
        raise ValueError(
            f"{file} does not exist; `otfairboost train` writes it beside the model, and they belong together"
        )
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{file} is not JSON ({error}); train the model again") from None
    if not isinstance(content, dict) or content.pop("format", None) != "otfairboost model card":
        raise ValueError(f"{file} is not a model card; give the card that otfairboost train wrote")
    version = content.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ValueError(
            f"{file} has format version {version!r}, but this otfairboost reads up to {FORMAT_VERSION}; upgrade it: "
            "pip install --upgrade otfairboost"
        )
    missing = [field.name for field in fields(ModelCard) if field.name not in content]
    if missing:
        raise ValueError(f"{file} lacks {', '.join(missing)}; train the model again")
    features = tuple(
        FeatureColumn(one["name"], None if one["categories"] is None else tuple(one["categories"]))
        for one in content["features"]
    )
    known = {field.name: content[field.name] for field in fields(ModelCard)}
    return ModelCard(**{**known, "features": features, "sensitive": tuple(content["sensitive"])})


def _plain(value: Any) -> Any:
    """Return numpy scalars and arrays as JSON can hold them; anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
