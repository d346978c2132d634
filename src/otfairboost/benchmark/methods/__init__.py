"""The methods that are compared, behind one interface."""

from otfairboost.benchmark.methods.base import Method
from otfairboost.benchmark.methods.otfairboost import OTFairBoost, PaperOTFairBoost
from otfairboost.benchmark.methods.plain import Baseline, bin_rows

METHODS: dict[str, Method] = {method.name: method for method in (Baseline(), PaperOTFairBoost(), OTFairBoost())}
"""All methods by name, in the order of the tables."""


def get_method(name: str) -> Method:
    """Return the method of that name; an unknown one is an error that lists the known."""
    if name not in METHODS:
        raise ValueError(f"method={name!r} is unknown; allowed are {', '.join(METHODS)}")
    return METHODS[name]


__all__ = ["METHODS", "Method", "bin_rows", "get_method"]
