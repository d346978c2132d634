"""The methods that are compared, behind one interface."""

from otfairboost.benchmark.methods.base import Method
from otfairboost.benchmark.methods.fair_xgboost import FairXGBoost
from otfairboost.benchmark.methods.fairgbm import FairGBM
from otfairboost.benchmark.methods.otfairboost import OTFairBoost, PaperOTFairBoost
from otfairboost.benchmark.methods.plain import Baseline, bin_rows
from otfairboost.benchmark.methods.post_processing import W1Post, W2Post
from otfairboost.benchmark.methods.reductions import FairEG, FairGS

_ALL: tuple[Method, ...] = (
    Baseline(),
    FairGS(),
    FairEG(),
    FairGBM(),
    FairXGBoost(),
    PaperOTFairBoost(),
    OTFairBoost(),
    W1Post(),
    W2Post(),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
"""All methods by name, in the order of the tables."""


def get_method(name: str) -> Method:
    """Return the method of that name; an unknown one is an error that lists the known."""
    if name not in METHODS:
        raise ValueError(f"method={name!r} is unknown; allowed are {', '.join(METHODS)}")
    return METHODS[name]


__all__ = ["METHODS", "Method", "bin_rows", "get_method"]
