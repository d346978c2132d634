"""Choosing a model: the frontier of performance and fairness."""

from otfairboost.selection.frontier import FairnessFrontier
from otfairboost.selection.points import FrontierPoint
from otfairboost.selection.rows import HeldOutRows

__all__ = ["FairnessFrontier", "FrontierPoint", "HeldOutRows"]
