"""Training LightGBM on a fair objective: translation only, no maths.

What LightGBM does with a custom objective and what follows from it: it starts from zero, so the initial score is an
offset of the objective and is put into the first tree afterwards; its own metrics see raw predictions, so those that
need a probability are computed outside; some parameters would be ignored without a word, so they are refused.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
from lightgbm.basic import _ConfigAliases
from lightgbm.callback import CallbackEnv
from numpy.typing import NDArray

from otfairboost.boosters.baking import bake
from otfairboost.objective import FairObjective
from otfairboost.settings import FairnessSettings

EvalResult = tuple[str, float, bool]
Evaluate = Callable[[NDArray[np.float64]], list[EvalResult]]


class EvaluationSet(NamedTuple):
    """Rows to report metrics on during training.

    Attributes
    ----------
    name : str
        LightGBM's name of the set.
    dataset : lightgbm.Dataset
        The rows; the training set itself to report on that.
    evaluate : callable
        Takes what the booster predicts for these rows, returns (metric, value, greater is better) of each metric
        that LightGBM does not compute itself.
    """

    name: str
    dataset: lgb.Dataset
    evaluate: Evaluate


class TrainedBooster(NamedTuple):
    """A plain booster, and the history of its metrics."""

    booster: lgb.Booster
    history: dict[str, dict[str, list[float]]]


def train_booster(
    params: dict[str, Any],
    train_set: lgb.Dataset,
    n_rounds: int,
    *,
    objective: FairObjective,
    settings: FairnessSettings,
    metrics: Sequence[str] = (),
    evaluation_sets: Sequence[EvaluationSet] = (),
    callbacks: Sequence[Callable[[CallbackEnv], None]] = (),
    init_model: Any = None,
) -> TrainedBooster:
    """Train on a fair objective and return an ordinary LightGBM model.

    Parameters
    ----------
    params, train_set, n_rounds, callbacks, init_model
        As in ``lightgbm.train``; ``params`` without objective and metric.
    objective : FairObjective
        The objective on the training rows; its offset ends up in the booster.
    settings : FairnessSettings
        Tells the penalty's curvature, which follows the learning rate if a callback changes it.
    metrics : sequence of str
        Names of all metrics in the order asked for; those LightGBM knows it computes itself.
    evaluation_sets : sequence of EvaluationSet
        Where to compute them.
    """
    evaluate = {id(one.dataset): one.evaluate for one in evaluation_sets}
    native = [name for name in metrics if name in RANKING_METRICS]

    def follow_learning_rate(env: CallbackEnv) -> None:
        objective.hessian = settings.hessian_form(float(read_parameter(env.params, "learning_rate", 0.1)))

    follow_learning_rate.before_iteration = True  # type: ignore[attr-defined]
    follow_learning_rate.order = 15  # type: ignore[attr-defined]  # after lightgbm.reset_parameter

    def order_results(env: CallbackEnv) -> None:
        (env.evaluation_result_list or []).sort(key=lambda result: _position(metrics, result[1]))

    order_results.order = -1_000_000  # type: ignore[attr-defined]  # before anything reads the results

    history: dict[str, dict[str, list[float]]] = {}
    own = [follow_learning_rate, order_results, lgb.record_evaluation(history)]
    try:
        booster = lgb.train(
            # lightgbm.train deep-copies its parameters; a function is not copied, an objective with threads cannot be.
            {**params, "objective": lambda raw, _: objective.derivatives(raw), "metric": native or "None"},
            train_set,
            n_rounds,
            valid_sets=[one.dataset for one in evaluation_sets],
            valid_names=[one.name for one in evaluation_sets],
            feval=lambda predicted, dataset: evaluate[id(dataset)](predicted),
            init_model=init_model,
            keep_training_booster=True,  # baking writes and reads the model anyway
            callbacks=[*callbacks, *own],
        )
    except lgb.basic.LightGBMError as error:
        if "num_features" not in str(error):
            raise
        # No column can be split on. LightGBM stops there with a custom objective; with its own it gives the constant
        # model, which is fair as it is.
        booster = lgb.train({**params, "objective": objective.loss.name, "metric": "None"}, train_set, 1)
        return TrainedBooster(booster, {})
    finally:
        objective.close()
    return TrainedBooster(bake(booster, objective=objective.loss.model_line, init_score=objective.offset), history)


RANKING_METRICS = frozenset({"auc", "average_precision"})
"""Metrics that LightGBM computes rightly from raw predictions, whatever their link and offset."""


def _position(metrics: Sequence[str], name: str) -> int:
    return metrics.index(name) if name in metrics else len(metrics)


def read_parameter(params: dict[str, Any], name: str, default: Any) -> Any:
    """Return a parameter by its main name or any alias."""
    for alias in (name, *sorted(_ConfigAliases.get(name) - {name})):
        if params.get(alias) is not None:
            return params[alias]
    return default


def pop_parameter(params: dict[str, Any], name: str, default: Any) -> Any:
    """Return a parameter by its main name or any alias, and take all of these out."""
    value = read_parameter(params, name, default)
    for alias in _ConfigAliases.get(name):
        params.pop(alias, None)
    return value


def refuse_ignored_parameters(params: dict[str, Any]) -> None:
    """Raise for parameters that LightGBM ignores, or gets wrong, with a custom objective."""
    for name, harmless, why in (
        ("boosting", lambda v: v not in ("rf", "random_forest"), "random forests take no custom objective"),
        ("pos_bagging_fraction", lambda v: float(v) == 1.0, "bagging by label needs a built-in objective"),
        ("neg_bagging_fraction", lambda v: float(v) == 1.0, "bagging by label needs a built-in objective"),
        ("reg_sqrt", lambda v: not v, "transform the target yourself instead"),
        ("sigmoid", lambda v: float(v) == 1.0, "probabilities are sigmoid(raw prediction)"),
        ("num_class", lambda v: int(v) == 1, "the penalty compares one score per row"),
        ("num_machines", lambda v: int(v) == 1, "each machine would see the groups of its own rows only"),
        ("machines", lambda v: not v, "each machine would see the groups of its own rows only"),
    ):
        value = read_parameter(params, name, None)
        if value is not None and not harmless(value):
            raise ValueError(f"{name}={value!r} is not available with fairness_weight > 0: {why}")
