"""The classes users import."""

from importlib import import_module
from typing import Any

from otfairboost.estimators.lightgbm import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.extras import require

__all__ = ["FairLGBMClassifier", "FairLGBMRegressor"]

LAZY = ("FairXGBClassifier", "FairXGBRegressor")
"""Classes that need an extra, and are imported when they are asked for."""


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("xgboost", "xgboost")
    return getattr(import_module("otfairboost.estimators.xgboost"), name)
