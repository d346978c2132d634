"""The fair objective on one worker's rows, with the sums that it needs taken over all workers."""

import json
import uuid
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from xgboost import collective
from xgboost.callback import TrainingCallback
from xgboost.core import _LIB, XGBoostError

from otfairboost.attributes import Attributes
from otfairboost.boosters.xgboost import undo_link
from otfairboost.criteria import Target
from otfairboost.distributed.collective import sum_over_workers
from otfairboost.distributed.metrics import GlobalEvaluator
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.task import Task
from otfairboost.groups import Groups
from otfairboost.losses import Loss
from otfairboost.objective import FairObjective
from otfairboost.reduction import Reduce
from otfairboost.row_derivatives import HessianForm
from otfairboost.settings import FairnessSettings
from otfairboost.threads import count_threads, openmp_team

REPORT = "otfairboost_report"
"""The booster's attribute that carries a worker's report to the client, who removes it."""


_ERRORS: dict[str, Exception] = {}
"""What went wrong in this process, by run: its own errors, not those of a connection that others broke."""


class Problem(NamedTuple):
    """What is trained: the same on all workers, and small enough to be sent to them.

    Attributes
    ----------
    settings : FairnessSettings
    loss : Loss
    label_weights : (float, float)
        Weights in the loss of negative and positive rows.
    classes, groups : tuple or None
        The labels of the target's codes (None in regression) and of the groups' (None if there are none).
    learning_rate : float
    metrics : tuple of str
        Those that XGBoost does not compute itself.
    """

    settings: FairnessSettings
    loss: Loss
    label_weights: tuple[float, float]
    classes: tuple[Any, ...] | None
    groups: tuple[Any, ...] | None
    learning_rate: float
    metrics: tuple[str, ...] = ()


class WorkerObjective:
    """XGBoost's objective and metrics on whatever rows a worker has, none included.

    It travels to the workers without rows. There it reads them, at its first call, from XGBoost's matrix: target,
    weights, and group codes, which come as ``label_lower_bound``.

    Parameters
    ----------
    problem : Problem
    reduce : callable
        Sums an array over workers.
    run : str, optional
        What to call this training.
    """

    def __init__(self, problem: Problem, reduce: Reduce = sum_over_workers, run: str | None = None) -> None:
        self.problem = problem
        self.run = uuid.uuid4().hex if run is None else run
        self._reduce = reduce
        self._hessian = problem.settings.hessian_form(problem.learning_rate)
        self._objectives: dict[int, FairObjective] = {}
        self._evaluators: dict[int, GlobalEvaluator] = {}
        self._rows: dict[int, Rows] = {}
        self.warnings: list[str] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"problem": self.problem, "reduce": self._reduce, "run": self.run}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)

    def __call__(self, predicted: NDArray[np.float32], matrix: xgb.DMatrix) -> tuple[Any, Any]:
        """Return gradient and hessian of the worker's rows."""
        try:
            objective = self._objectives.get(id(matrix)) or self._make_objective(matrix)
            return objective.derivatives(predicted)
        except XGBoostError:  # of the collective: another worker is gone
            raise
        except Exception as error:
            _ERRORS[self.run] = error  # the others may be heard first, who only know that this one is gone
            raise

    def evaluate(self, predicted: NDArray[np.float32], matrix: xgb.DMatrix) -> list[tuple[str, float]]:
        """Return the metrics of all workers' rows; the same on every worker."""
        if id(matrix) not in self._evaluators:
            rows = self._read_rows(matrix)
            task = self._make_task()
            make = (lambda: self._objectives.get(id(matrix)) or task.objective_on(rows)) if rows.groups else None
            self._evaluators[id(matrix)] = GlobalEvaluator(
                self.problem.metrics, rows, task, make_objective=make, reduce=self._reduce
            )
        raw = predicted.astype(np.float64)
        if self.problem.settings.fairness_weight == 0:  # then XGBoost has applied the link
            raw = undo_link(self.problem.loss, raw)
        return self._evaluators[id(matrix)](raw)

    @property
    def hessian(self) -> HessianForm:
        """Return the curvature that the booster is told of the penalty."""
        return self._hessian

    @hessian.setter
    def hessian(self, form: HessianForm) -> None:
        self._hessian = form
        for objective in self._objectives.values():
            objective.hessian = form

    def close(self) -> None:
        """Let threads and rows go."""
        for objective in self._objectives.values():
            objective.close()
        for evaluator in self._evaluators.values():
            evaluator.close()
        for held in (self._objectives, self._evaluators, self._rows):
            held.clear()

    def count_rows(self) -> int:
        """Return the number of rows that this worker trains on."""
        return sum(objective.n_rows for objective in self._objectives.values())

    def _make_objective(self, matrix: xgb.DMatrix) -> FairObjective:
        with warnings.catch_warnings(record=True) as caught:  # the user is at the client
            warnings.simplefilter("always")
            objective = self._make_task().objective_on(self._read_rows(matrix))
        self.warnings = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
        objective.run_on(openmp_team(_LIB))
        objective.hessian = self._hessian
        self._objectives[id(matrix)] = objective
        return objective

    def _make_task(self) -> Task:
        problem = self.problem
        return Task(
            problem.settings, problem.loss, problem.label_weights,
            offset=0.0,  # XGBoost's raw predictions contain its base_score
            learning_rate=problem.learning_rate,
            n_jobs=count_threads(xgb.get_config().get("nthread") or None),
            reduce=self._reduce,
        )  # fmt: skip

    def _read_rows(self, matrix: xgb.DMatrix) -> Rows:
        if id(matrix) not in self._rows:
            self._rows[id(matrix)] = read_rows(matrix, self.problem, self._reduce)
        return self._rows[id(matrix)]


def read_rows(matrix: xgb.DMatrix, problem: Problem, reduce: Reduce) -> Rows:
    """Return what a matrix holds besides the features."""
    weight = matrix.get_weight()
    groups = None
    codes = matrix.get_float_info("label_lower_bound")
    # Whether there are groups is for all workers to say: the one without rows cannot know.
    if problem.groups is not None and reduce(np.array([float(len(codes))]))[0] > 0:
        groups = Attributes.of(Groups(codes.astype(np.int32), problem.groups), problem.settings.group_weighting)
    return Rows(
        name="the rows",
        features_name="sensitive_features",
        X=None,
        target=Target(matrix.get_label().astype(np.float32), problem.classes),
        weight=weight,
        distribution_weight=weight,
        groups=groups,
        init_score=None,
    )


def take_error(run: str) -> Exception | None:
    """Return what went wrong in this process during a training, if anything did, and forget it."""
    return _ERRORS.pop(run, None)


class WorkerReport(TrainingCallback):
    """Writes into the booster what the client cannot see: each worker's number of rows, and warnings."""

    def __init__(self, objective: WorkerObjective) -> None:
        super().__init__()
        self._objective = objective

    def after_training(self, model: Any) -> Any:
        """Write the report."""
        rows = np.zeros(collective.get_world_size())
        rows[collective.get_rank()] = self._objective.count_rows()
        report = {"rows": sum_over_workers(rows).tolist(), "warnings": self._objective.warnings}
        model.set_attr(**{REPORT: json.dumps(report)})
        self._objective.close()
        return model


def take_report(booster: xgb.Booster) -> dict[str, Sequence[Any]]:
    """Return a worker's report, and remove it from the booster."""
    report: dict[str, Sequence[Any]] = json.loads(booster.attr(REPORT) or '{"rows": [], "warnings": []}')
    booster.set_attr(**{REPORT: None})
    return report
