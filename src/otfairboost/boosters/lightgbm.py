"""Training LightGBM on a fair objective: translation only, no maths.

What LightGBM does with a custom objective and what follows from it: it starts from zero, so the initial score is an
offset of the objective and is put into the first tree afterwards; its own metrics see raw predictions, so those that
need a probability are computed outside; some parameters would be ignored without a word, so they are refused
(:mod:`otfairboost.boosters.lightgbm_parameters`).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
from lightgbm.basic import _LIB
from lightgbm.callback import CallbackEnv
from numpy.typing import NDArray

from otfairboost.boosters.baking import bake
from otfairboost.boosters.lightgbm_parameters import read_number
from otfairboost.losses import Loss
from otfairboost.objective import FairObjective
from otfairboost.settings import FairnessSettings
from otfairboost.threads import openmp_team

Float = NDArray[np.float64]
EvalResult = tuple[str, float, bool]
Evaluate = Callable[[Float], list[EvalResult]]
Callback = Callable[[CallbackEnv], None]

RANKING_METRICS = frozenset({"auc", "average_precision"})
"""Metrics that LightGBM computes rightly from raw predictions, whatever their link and offset."""

CLASS_RANKING_METRICS = frozenset({"auc_mu"})
"""The same for several classes."""


class EvaluationSet(NamedTuple):
    """Rows to report metrics on during training.

    Attributes
    ----------
    name : str
        LightGBM's name of the set.
    dataset : lightgbm.Dataset
        The rows; the training set itself to report on that.
    evaluate : callable
        Takes raw predictions for these rows, less the offset; returns (metric, value, greater is better) of each
        metric that LightGBM does not compute itself.
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
    loss: Loss,
    objective: FairObjective | None,
    settings: FairnessSettings,
    metrics: Sequence[Any] = (),
    evaluation_sets: Sequence[EvaluationSet] = (),
    callbacks: Sequence[Callback] = (),
    init_model: lgb.Booster | None = None,
) -> TrainedBooster:
    """Train on a fair objective and return an ordinary LightGBM model.

    Parameters
    ----------
    params, train_set, n_rounds, callbacks, init_model
        As in ``lightgbm.train``; ``params`` without objective and metric.
    loss : Loss
        The base loss.
    objective : FairObjective or None
        The objective on the training rows; its offset ends up in the booster. None trains on LightGBM's own objective
        for the loss.
    settings : FairnessSettings
        Tells the penalty's curvature, which follows the learning rate if a callback changes it.
    metrics : sequence of str or callable
        All metrics in the order asked for; those LightGBM knows it computes itself.
    evaluation_sets : sequence of EvaluationSet
        Where to compute them.
    """
    offset = 0.0 if objective is None else objective.offset
    evaluate = {id(one.dataset): one.evaluate for one in evaluation_sets}
    history: dict[str, dict[str, list[float]]] = {}
    ranking = RANKING_METRICS if loss.n_outputs == 1 else CLASS_RANKING_METRICS

    def train(objective: FairObjective | None) -> lgb.Booster:
        def compute_metrics(predicted: Float, dataset: lgb.Dataset) -> list[EvalResult]:
            if objective is None:  # then LightGBM has applied the link
                predicted = loss.raw_prediction(predicted) - offset
            return evaluate[id(dataset)](predicted)

        own = [_order_results(metrics), lgb.record_evaluation(history)]
        if objective is not None:
            own += [_follow_learning_rate(objective, settings), _stop_without_splits(train_set)]
        return lgb.train(
            {
                **params,
                # lightgbm.train copies its parameters: a function is not copied, an objective with threads cannot be.
                # Its buffer of raw predictions may be overwritten: it is filled anew before anyone else reads it.
                "objective": loss.name
                if objective is None
                else lambda raw, _: objective.derivatives(raw, overwrite=True),
                "metric": [name for name in metrics if isinstance(name, str) and name in ranking] or "None",
            },
            train_set,
            n_rounds,
            valid_sets=[one.dataset for one in evaluation_sets],
            valid_names=[one.name for one in evaluation_sets],
            feval=compute_metrics,
            init_model=init_model,
            keep_training_booster=objective is not None,  # baking writes and reads the model anyway
            callbacks=[*callbacks, *own],
        )

    if objective is None:
        return TrainedBooster(train(None), history)
    objective.run_on(openmp_team(_LIB))
    try:
        booster = train(objective)
    except NothingToSplitError:
        if init_model is not None:
            raise
        # LightGBM's own objective gives the constant model, which is fair as it is.
        return TrainedBooster(train(None), history)
    return TrainedBooster(bake(booster, objective=loss.model_line, init_score=offset), history)


class NothingToSplitError(ValueError):
    """No column can be split on. LightGBM would stop there if the objective is not its own."""


def _stop_without_splits(train_set: lgb.Dataset) -> Callback:
    def stop(env: CallbackEnv) -> None:
        if env.iteration > env.begin_iteration:
            return
        # A column that cannot be split on has no bins. Asked here because the data set has to be made by LightGBM.
        if not any(train_set.feature_num_bin(i) > 1 for i in range(train_set.num_feature())):
            raise NothingToSplitError(
                "X has no column that can be split on, so there is nothing to continue init_model with; "
                "all columns are constant, or there are too few rows for min_child_samples"
            )

    stop.before_iteration = True  # type: ignore[attr-defined]
    stop.order = -1_000_000  # type: ignore[attr-defined]
    return stop


def _follow_learning_rate(objective: FairObjective, settings: FairnessSettings) -> Callback:
    def follow(env: CallbackEnv) -> None:
        assert isinstance(env.model, lgb.Booster)
        objective.hessian = settings.hessian_form(read_number(env.model.params, "learning_rate", 0.1))

    follow.before_iteration = True  # type: ignore[attr-defined]
    follow.order = 15  # type: ignore[attr-defined]  # after lightgbm.reset_parameter
    return follow


def _order_results(metrics: Sequence[Any]) -> Callback:
    """Put results in LightGBM's order: the training set, then the others; in each the metrics as asked for."""
    position = {name: i for i, name in enumerate(metrics) if isinstance(name, str)}

    def order(env: CallbackEnv) -> None:
        results = env.evaluation_result_list or []
        sets = list(dict.fromkeys(result[0] for result in results))
        results.sort(key=lambda result: (sets.index(result[0]), position.get(result[1], len(position))))

    order.order = -1_000_000  # type: ignore[attr-defined]  # before anything reads the results
    return order
