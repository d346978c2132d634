"""The classes users import."""

from otfairboost.estimators.lightgbm import FairLGBMClassifier, FairLGBMRegressor

__all__ = ["FairLGBMClassifier", "FairLGBMRegressor"]
