"""Boosters in files."""

import os
from pathlib import Path

import lightgbm as lgb


def load_booster(path: str | os.PathLike[str]) -> lgb.Booster:
    """Read a LightGBM model; anything else is refused in one line."""
    file = Path(path)
    with file.open("rb") as content:
        is_model = content.read(5).rstrip() == b"tree"
    try:
        if not is_model:
            raise lgb.basic.LightGBMError("it does not start like one")
        return lgb.Booster(model_file=file)
    except lgb.basic.LightGBMError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{file} is not a whole LightGBM model ({reason}); train it again") from None
