"""Gradient-boosted trees with an optimal-transport fairness penalty."""

from otfairboost.estimators import FairLGBMClassifier, FairLGBMRegressor

__version__ = "0.1.0"
__all__ = ["FairLGBMClassifier", "FairLGBMRegressor", "__version__"]
