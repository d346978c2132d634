"""Base losses: value, gradient and hessian in the raw prediction. They know nothing of groups or trees.

Each carries LightGBM's name. Weights are a float32 array, empty where all rows weigh 1.
"""

from otfairboost.losses.base import SCORE_SPACES, Link, Loss, Offset, ScoreSpace
from otfairboost.losses.classification import CrossEntropy, LogLoss
from otfairboost.losses.errors import FairLoss, HuberLoss, SquaredError
from otfairboost.losses.log_link import GammaLoss, PoissonLoss, TweedieLoss
from otfairboost.losses.multiclass import SoftmaxLoss
from otfairboost.losses.quantiles import AbsoluteError, PercentageError, QuantileLoss

__all__ = [
    "SCORE_SPACES",
    "AbsoluteError",
    "CrossEntropy",
    "FairLoss",
    "GammaLoss",
    "HuberLoss",
    "Link",
    "LogLoss",
    "Loss",
    "Offset",
    "PercentageError",
    "PoissonLoss",
    "QuantileLoss",
    "ScoreSpace",
    "SoftmaxLoss",
    "SquaredError",
    "TweedieLoss",
]
