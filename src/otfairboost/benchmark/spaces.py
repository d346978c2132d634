"""Search spaces: LightGBM's, which all methods share, and the streams from which each draws its own."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from otfairboost.benchmark.methods.base import Method
    from otfairboost.benchmark.tasks import Task

FIXED: dict[str, Any] = {
    "boosting_type": "gbdt",
    "n_estimators": 1000,
    "learning_rate": 0.1,
    "reg_alpha": 0.0,
    "subsample_freq": 1,
    "enable_bundle": True,
}
"""What the paper's appendix fixes, by the names of LightGBM's estimators (``bagging_freq`` is ``subsample_freq``)."""


class Configuration(NamedTuple):
    """LightGBM's parameters, which all methods share, and the method's own."""

    shared: dict[str, Any]
    own: dict[str, Any]


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def sample_configurations(seed: int, n: int) -> list[dict[str, Any]]:
    """Draw n configurations of LightGBM from the paper's space.

    The first n of a longer list are the same list: more configurations can be added to a run.

    Parameters
    ----------
    seed : int
        Not negative.
    n : int
        How many.

    References
    ----------
    The paper, appendix, "LightGBM hyperparameter search space". ``feature_fraction`` and ``bagging_fraction`` are
    called ``colsample_bytree`` and ``subsample`` here.
    """
    if n < 1:
        raise ValueError(f"n={n!r} must be at least 1")
    rng = np.random.default_rng([seed, 0])
    return [
        {
            "num_leaves": int(rng.integers(16, 65)),
            "max_depth": int(rng.integers(4, 11)),
            "reg_lambda": log_uniform(rng, 1e-10, 1e-1),
            "colsample_bytree": float(rng.uniform(0.7, 1.0)),
            "subsample": float(rng.uniform(0.7, 1.0)),
            **FIXED,
        }
        for _ in range(n)
    ]


def sample_own(task: Task, method: Method, seed: int, n: int) -> list[dict[str, Any]]:
    """Draw n configurations of a method's own parameters for a task.

    Each from a stream of its own, by seed, method and position: what one method draws says nothing about another's.
    """
    stream = zlib.crc32(method.name.encode())
    return method.sample_all([np.random.default_rng([seed, 1, stream, i]) for i in range(n)], task)


def method_configurations(task: Task, method: Method, seed: int, n: int) -> list[Configuration]:
    """Return what a method tries in a task: n drawn configurations, or the one of a task without a search."""
    if task.configurations == "default":
        return [Configuration({}, method.default(task))]
    pairs = zip(sample_configurations(seed, n), sample_own(task, method, seed, n), strict=True)
    return [Configuration(shared, own) for shared, own in pairs]
