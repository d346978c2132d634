"""Which parameters are tuned, and over which values."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from otfairboost.extras import require

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

Space = Mapping[str, "BaseDistribution"] | Callable[["Trial"], dict[str, Any]]


def default_space(*, classification: bool = True) -> "dict[str, BaseDistribution]":
    """Return LightGBM's parameters that matter most, and ours.

    A copy to change: ``{**default_space(), "num_leaves": optuna.distributions.IntDistribution(4, 16)}``.
    """
    distributions = require("optuna", "tune").distributions
    space = {
        "fairness_weight": distributions.FloatDistribution(0.1, 50.0, log=True),
        "num_leaves": distributions.IntDistribution(8, 128, log=True),
        "learning_rate": distributions.FloatDistribution(0.02, 0.3, log=True),
        "min_child_samples": distributions.IntDistribution(5, 200, log=True),
        "colsample_bytree": distributions.FloatDistribution(0.4, 1.0),
        "subsample": distributions.FloatDistribution(0.5, 1.0),
        "subsample_freq": distributions.IntDistribution(1, 1),  # without it subsample does nothing
        "reg_lambda": distributions.FloatDistribution(1e-3, 10.0, log=True),
    }
    if classification:
        space["focus"] = distributions.FloatDistribution(1.0, 8.0, log=True)
    return space


def read_space(space: Any, known: Mapping[str, Any], *, classification: bool) -> Space:
    """Return the space to search; raise for what is none."""
    if space is None:
        return default_space(classification=classification)
    if callable(space):
        return space
    base = require("optuna", "tune").distributions.BaseDistribution
    if not isinstance(space, Mapping) or not space:
        raise TypeError(f"space={space!r} must be a dict of parameters and Optuna's distributions, or a function")
    for name, distribution in space.items():
        if not isinstance(distribution, base):
            raise TypeError(f"space[{name!r}] is {distribution!r}; allowed are Optuna's distributions")
        if name == "max_gap" or (name.startswith("gap_") and name in known):
            raise ValueError(f"space has {name!r}: tuning sets weights itself; use goal='constraint' and max_gap")
    return space


def suggest(trial: "Trial", space: Space) -> dict[str, Any]:
    """Return a trial's parameters."""
    if callable(space):
        return space(trial)
    return {name: _suggest(trial, name, distribution) for name, distribution in space.items()}


def _suggest(trial: "Trial", name: str, distribution: Any) -> Any:
    kind = type(distribution).__name__
    if kind == "CategoricalDistribution":
        return trial.suggest_categorical(name, distribution.choices)
    suggest_number = trial.suggest_int if kind == "IntDistribution" else trial.suggest_float
    step = {} if distribution.step is None or distribution.log else {"step": distribution.step}
    return suggest_number(name, distribution.low, distribution.high, log=distribution.log, **step)
