"""Gradient-boosted trees with an optimal-transport fairness penalty."""

from typing import Any

from otfairboost import distributed, estimators
from otfairboost.estimators import FairLGBMClassifier, FairLGBMRegressor

__version__ = "0.1.0"
__all__ = ["FairLGBMClassifier", "FairLGBMRegressor", "__version__"]


def __getattr__(name: str) -> Any:
    """Import what needs an extra when it is asked for."""
    if name in estimators.LAZY:
        return getattr(estimators, name)
    if name in distributed.ESTIMATORS or name in distributed.REFUSED:
        return getattr(distributed, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *estimators.LAZY, *distributed.ESTIMATORS})
