"""One-dimensional optimal transport between weighted samples: exact, binned and smoothed."""

from otfairboost.transport.barycenter import barycenter
from otfairboost.transport.exact import transport_cost, transport_image, transport_map, wasserstein_squared
from otfairboost.transport.measure import Measure, measure_sample, mix

__all__ = [
    "Measure",
    "barycenter",
    "measure_sample",
    "mix",
    "transport_cost",
    "transport_image",
    "transport_map",
    "wasserstein_squared",
]
