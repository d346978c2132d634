"""Tuning performance and fairness at once, with Optuna."""

from otfairboost.tuning.search import FairnessSearch, TunedModel
from otfairboost.tuning.space import default_space

__all__ = ["FairnessSearch", "TunedModel", "default_space"]
