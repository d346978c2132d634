"""Training XGBoost on a fair objective: translation only, no maths.

What XGBoost does with a custom objective and what follows from it. It keeps the link of the objective that is named
beside it, so its own metrics and its saved models are right; it does not estimate ``base_score``, so that is given,
and raw predictions contain it. For ``reg:absoluteerror`` it would still set each leaf to a median of the target, so the
name is put in after training. Its early stopping minimises metrics that it does not know, so it is told which way
is better.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy import special
from xgboost.callback import EarlyStopping, TrainingCallback
from xgboost.core import _LIB

from otfairboost.losses import LogLoss, Loss, SoftmaxLoss
from otfairboost.objective import FairObjective
from otfairboost.settings import FairnessSettings
from otfairboost.threads import openmp_team

EvalResult = tuple[str, float, bool]
Evaluate = Callable[[NDArray[np.float64]], list[EvalResult]]


class EvaluationSet(NamedTuple):
    """Rows to report metrics on during training.

    Attributes
    ----------
    name : str
        XGBoost's name of the set.
    matrix : xgboost.DMatrix
        The rows; the training matrix itself to report on that.
    evaluate : callable
        Takes raw predictions for these rows; returns (metric, value, greater is better) of each metric that XGBoost
        does not compute itself.
    """

    name: str
    matrix: xgb.DMatrix
    evaluate: Evaluate


class TrainedBooster(NamedTuple):
    """A plain booster, and the history of its metrics."""

    booster: xgb.Booster
    history: dict[str, dict[str, list[float]]]


class Stopping(NamedTuple):
    """When to stop: rounds without progress in one metric on the last evaluation set; None of a name: the last."""

    rounds: int
    metric: str | None
    greater_is_better: bool | None


def train_booster(
    params: dict[str, Any],
    train_matrix: xgb.DMatrix,
    n_rounds: int,
    *,
    loss: Loss,
    objective_name: str,
    objective: FairObjective | None,
    settings: FairnessSettings,
    metrics: Sequence[str] = (),
    evaluation_sets: Sequence[EvaluationSet] = (),
    stopping: Stopping | None = None,
    callbacks: Sequence[TrainingCallback] = (),
    verbose: bool | int = False,
    init_model: xgb.Booster | None = None,
) -> TrainedBooster:
    """Train on a fair objective and return an ordinary XGBoost model.

    Parameters
    ----------
    params, train_matrix, n_rounds, callbacks, verbose, init_model
        As in ``xgboost.train``; ``params`` with ``base_score`` and without objective and metrics.
    loss, objective_name : Loss, str
        The base loss, and XGBoost's objective for it.
    objective : FairObjective or None
        The objective on the training rows. None trains on XGBoost's own objective.
    settings : FairnessSettings
        Tells the penalty's curvature, which follows the learning rate if a callback changes it.
    metrics : sequence of str
        Those that XGBoost computes.
    evaluation_sets : sequence of EvaluationSet
        Where to compute metrics.
    stopping : Stopping, optional
    """
    evaluate = {id(one.matrix): one.evaluate for one in evaluation_sets}
    history: dict[str, dict[str, list[float]]] = {}

    def compute_metrics(predicted: NDArray[np.float32], matrix: xgb.DMatrix) -> list[tuple[str, float]]:
        raw = predicted.astype(np.float64)
        if objective is None:  # then XGBoost has applied the link
            raw = undo_link(loss, raw)
        return [(name, value) for name, value, _ in evaluate[id(matrix)](raw)]

    own: list[TrainingCallback] = []
    compute = None
    if objective is not None:
        objective.run_on(openmp_team(_LIB))
        own.append(FollowLearningRate(objective, settings))

        def compute(raw: NDArray[np.float32], _: xgb.DMatrix) -> tuple[Any, Any]:
            if raw.ndim == 1:
                return objective.derivatives(raw)
            # Class-major inside, row-major for XGBoost.
            derivatives = objective.derivatives(np.asarray(raw, np.float64, order="F"), overwrite=True)
            return tuple(np.ascontiguousarray(one) for one in derivatives)  # type: ignore[return-value]

    if stopping is not None:
        name, maximize = stopping.metric, stopping.greater_is_better
        own.append(EarlyStopping(rounds=stopping.rounds, metric_name=name, maximize=maximize))
    booster = xgb.train(
        {
            **params,
            "objective": objective_name if objective is None else same_link(loss),
            "eval_metric": list(metrics),
            "disable_default_eval_metric": not metrics,
        },
        train_matrix,
        n_rounds,
        evals=[(one.matrix, one.name) for one in evaluation_sets],
        obj=compute,
        custom_metric=compute_metrics if evaluation_sets else None,
        evals_result=history,
        verbose_eval=verbose,
        xgb_model=init_model,
        callbacks=[*callbacks, *own],
    )
    if objective is not None:
        booster.set_param({"objective": objective_name})
    return TrainedBooster(booster, {name: dict(values) for name, values in history.items()})


def estimate_base_score(
    params: dict[str, Any], objective_name: str, y: NDArray[np.float32], weight: NDArray[np.float32]
) -> float | list[float]:
    """Return where XGBoost's own objective would start, in the unit of the response: asked from XGBoost itself.

    The rule differs by objective, by whether labels have weights, and by version. The features do not matter for it.
    """
    matrix = xgb.DMatrix(np.zeros((len(y), 1), np.float32), y, weight=weight if len(weight) else None)
    wanted = {name: params.get(name) for name in ("scale_pos_weight", "n_jobs", "nthread", "num_class")}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    booster = xgb.train({**wanted, "objective": objective_name, "tree_method": "hist"}, matrix, 1)
    estimate = json.loads(json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"])
    if isinstance(estimate, list) and len(estimate) > 1:
        return [float(one) for one in estimate]
    return float(estimate[0] if isinstance(estimate, list) else estimate)


def same_link(loss: Loss) -> str:
    """Return an objective of the same link that leaves trees as they are."""
    if isinstance(loss, SoftmaxLoss):
        return "multi:softprob"
    return "binary:logistic" if isinstance(loss, LogLoss) else "reg:squarederror"


def undo_link(loss: Loss, response: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the link; a probability of exactly 0 or 1 stays finite."""
    if isinstance(loss, LogLoss):
        return special.logit(np.clip(response, np.finfo(np.float64).tiny, 1.0 - np.finfo(np.float64).epsneg))
    if isinstance(loss, SoftmaxLoss):
        return loss.raw_prediction(response)
    return response


class FollowLearningRate(TrainingCallback):
    """Keeps an objective's ``hessian`` in step with a learning rate that changes during training."""

    def __init__(self, objective: Any, settings: FairnessSettings) -> None:
        super().__init__()
        self._objective = objective
        self._settings = settings

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Read the learning rate."""
        config = json.loads(model.save_config())["learner"]["gradient_booster"]
        config = config.get("gbtree", config)  # where DART keeps its trees
        self._objective.hessian = self._settings.hessian_form(float(config["tree_train_param"]["learning_rate"]))
        return False
