"""A model with its card: two files that are written together."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.boosters.model_files import load_booster
from otfairboost.files import replacing
from otfairboost.workflow.card import ModelCard, card_path, read_card
from otfairboost.workflow.columns import encode_columns
from otfairboost.workflow.tables import Table


class SavedModel(NamedTuple):
    """A plain LightGBM booster and its card."""

    booster: Any
    card: ModelCard

    def score(self, table: Table) -> NDArray[np.float64]:
        """Return probabilities of the positive label, or predictions; sensitive columns are not needed."""
        matrix = encode_columns(table.frame, self.card.features, table.path)
        return np.asarray(self.booster.predict(matrix), dtype=np.float64)

    @property
    def text_columns(self) -> list[str]:
        """Return the columns that are categories, and so must be read as text."""
        return [column.name for column in self.card.features if column.categories is not None]


def save_model(model: SavedModel, path: str | os.PathLike[str]) -> list[Path]:
    """Write the booster to ``path`` and the card beside it; both or none. Return the files."""
    target, card = Path(path), card_path(path)
    with replacing(target) as model_file, replacing(card) as card_file:
        model.booster.save_model(model_file)
        card_file.write_text(model.card.to_json(), encoding="utf-8")
    return [target, card]


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model and its card."""
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"{file} does not exist; give the model that otfairboost train wrote")
    card = read_card(card_path(file))
    booster = load_booster(file)
    if booster.num_feature() != len(card.features):
        raise ValueError(
            f"{file} has {booster.num_feature()} features and its card {len(card.features)}; they are not of one model"
        )
    return SavedModel(booster, card)
