"""Training where each worker already has its rows and XGBoost's collective runs: Ray Train, MPI launchers, by hand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb
from sklearn.preprocessing import LabelEncoder
from xgboost import collective

from otfairboost.attributes import Attributes
from otfairboost.boosters.xgboost import FollowLearningRate, estimate_base_score, same_link
from otfairboost.boosters.xgboost_parameters import read_number, refuse_parameters
from otfairboost.distributed.collective import sum_over_workers
from otfairboost.distributed.limits import refuse_settings
from otfairboost.distributed.worker import Problem, WorkerObjective, WorkerReport, take_report
from otfairboost.estimators.inputs import check_length, read_column, read_numbers, read_weight
from otfairboost.estimators.targets import encode_labels
from otfairboost.estimators.xgboost import FairXGBClassifier, FairXGBRegressor
from otfairboost.groups import Groups, encode_groups
from otfairboost.losses import LogLoss, Loss, SquaredError


@dataclass
class _Shard:
    """The rows of one worker, encoded as all workers do."""

    y: Any
    weight: Any
    groups: Groups
    encoder: LabelEncoder | None


def fit_shard(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    callbacks: Sequence[Any] = (),
) -> Any:
    """Fit one model on the rows of all workers; to be called by every worker, with its own rows.

    XGBoost's collective must have been started on the calling thread. Ray Train's ``XGBoostTrainer`` does that; by hand
    it is ``xgboost.collective.CommunicatorContext``. Without one this is a fit on one machine.

    Parameters
    ----------
    estimator : FairXGBClassifier or FairXGBRegressor
        With ``transport="histogram"``; the same on all workers.
    X, y, sensitive_features, sample_weight
        This worker's rows; there may be none. All in memory: arrays or data frames.
    callbacks : sequence of xgboost.callback.TrainingCallback
        To add to the estimator's, such as Ray's that reports to its trainer.

    Returns
    -------
    estimator
        The same one, fitted; equal on all workers. ``rows_per_worker_`` says how many rows each had.
    """
    settings = estimator._settings()
    loss = _read_loss(estimator)
    refuse_settings(settings, is_classifier=isinstance(loss, LogLoss))
    if not settings.fairness_weight > 0:
        raise ValueError(
            f"fairness_weight={settings.fairness_weight!r}: fit_shard trains with a penalty; it must be > 0"
        )
    params = {**estimator.get_xgb_params(), "objective": same_link(loss), "eval_metric": []}
    params["disable_default_eval_metric"] = True
    refuse_parameters(params)
    shard = _read_together(estimator, X, y, sensitive_features, sample_weight)
    is_classifier = shard.encoder is not None
    if params.get("base_score") is None:
        params["base_score"] = estimate_base_score(params, str(estimator.objective), *_sum_target(shard))
    problem = Problem(
        settings, loss,
        (1.0, read_number(params, "scale_pos_weight", 1.0)) if is_classifier else (1.0, 1.0),
        tuple(shard.encoder.classes_.tolist()) if shard.encoder is not None else None,
        shard.groups.labels, read_number(params, "learning_rate", 0.3),
    )  # fmt: skip
    matrix = xgb.QuantileDMatrix(
        X, shard.y, weight=shard.weight if len(shard.weight) else None, missing=estimator.missing,
        label_lower_bound=shard.groups.codes.astype(np.float32), max_bin=estimator.max_bin,
        feature_types=estimator.feature_types, enable_categorical=estimator.enable_categorical,
    )  # fmt: skip
    objective = WorkerObjective(problem)
    own = [FollowLearningRate(objective, settings), WorkerReport(objective)]
    with xgb.config_context(nthread=int(read_number(params, "n_jobs", 0)), verbosity=estimator.verbosity):
        booster = xgb.train(
            params, matrix, estimator.get_num_boosting_rounds(), obj=objective,
            callbacks=[*(estimator.callbacks or ()), *own, *callbacks],
        )  # fmt: skip
    estimator.rows_per_worker_ = tuple(int(rows) for rows in take_report(booster)["rows"])
    booster.set_param({"objective": str(estimator.objective)})
    estimator._Booster = booster
    estimator._keep_fairness(Attributes.of(shard.groups), settings.fairness_weight)
    if shard.encoder is not None:
        estimator._keep_labels(shard.encoder)
    return estimator


def _read_loss(estimator: Any) -> Loss:
    known: dict[type[Any], tuple[str, type[Loss]]] = {
        FairXGBClassifier: ("binary:logistic", LogLoss),
        FairXGBRegressor: ("reg:squarederror", SquaredError),
    }
    for kind, (objective, loss) in known.items():
        if isinstance(estimator, kind):
            if estimator.objective != objective:
                raise ValueError(f"objective={estimator.objective!r} is not available here; allowed is {objective!r}")
            return loss()
    raise TypeError(f"estimator is a {type(estimator).__name__}; allowed are FairXGBClassifier and FairXGBRegressor")


def _read_together(estimator: Any, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> _Shard:
    """Read this worker's rows; raise on all workers if one cannot read its own."""
    error: Exception | None = None
    found: tuple[Any, ...] = ((), ())
    weight = np.empty(0)
    try:
        n_rows = X.shape[0]
        is_classifier = isinstance(estimator, FairXGBClassifier)
        column = read_column(y, "y") if is_classifier else read_numbers(y, "y")
        check_length(column, n_rows, "y")
        if sample_weight is not None and n_rows:
            weight = read_weight(sample_weight, n_rows, "sample_weight")
        groups = encode_groups(sensitive_features, n_rows=n_rows) if n_rows else Groups(np.empty(0, np.int32), ())
        found = (tuple(np.unique(column).tolist()) if is_classifier else (), groups.labels)
    except (TypeError, ValueError) as raised:
        error = raised
    results = list(gather((error, found)))
    for rank, (raised_there, _) in enumerate(results):
        if raised_there is not None:
            raise type(raised_there)(f"worker {rank}: {raised_there}")
    labels = encode_groups(list(dict.fromkeys(label for _, (_, own) in results for label in own))).labels
    recoded = encode_groups(sensitive_features, labels=labels).codes if n_rows else groups.codes
    encoder = None
    if is_classifier:
        classes = sorted({label for _, (own, _) in results for label in own})
        if len(classes) != 2:
            raise ValueError(f"y must have 2 classes, got {len(classes)} ({', '.join(map(str, classes[:10]))})")
        encoder = LabelEncoder().fit(np.array(classes))
        column = encode_labels(column, encoder, "y").values if n_rows else np.empty(0)
    return _Shard(column.astype(np.float32), weight.astype(np.float32), Groups(recoded, labels), encoder)


def gather(own: Any) -> Iterable[Any]:
    """Return what each worker has, in the order of their ranks."""
    world = collective.get_world_size()
    if world == 1:
        return [own]
    return [collective.broadcast(own, rank) for rank in range(world)]


def _sum_target(shard: _Shard) -> tuple[Any, Any]:
    """Return targets and weights of the same weighted mean as those of all workers' rows: two of them, or one."""
    values = shard.y.astype(np.float64)
    weight = shard.weight.astype(np.float64) if len(shard.weight) else np.ones(len(values))
    first, second = sum_over_workers(np.array([weight.sum(), weight @ values]))
    if shard.encoder is not None:
        return np.array([0, 1], np.float32), np.array([first - second, second], np.float32)
    return np.array([second / first], np.float32), np.empty(0, np.float32)
