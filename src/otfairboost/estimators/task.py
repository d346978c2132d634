"""What is minimised: the loss, its weights and start, and the fairness settings."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.estimators.evaluation import Evaluator
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.native_metrics import Constants, NativeMetric
from otfairboost.losses import Loss, Offset
from otfairboost.objective import FairObjective
from otfairboost.plan import Plan
from otfairboost.reduction import Reduce, alone
from otfairboost.settings import FairnessSettings


class Task(NamedTuple):
    """One training task, to be put to any set of rows.

    Attributes
    ----------
    settings : FairnessSettings
    loss : Loss
    label_weights : (float, float)
        Weights in the loss of negative and positive rows.
    offset : float or array of shape (n_outputs,)
        The raw prediction that training starts from, if the booster does not know it.
    learning_rate, n_jobs : float, int
        The booster's.
    native_metrics, constants : dict, Constants
        LightGBM's metrics by name, and what they read.
    reduce : callable
        Sums an array over workers; the identity on one machine.
    """

    settings: FairnessSettings
    loss: Loss
    label_weights: tuple[float, float]
    offset: Offset
    learning_rate: float
    n_jobs: int
    native_metrics: dict[str, NativeMetric] = {}  # noqa: RUF012  # never written to
    constants: Constants = Constants()
    reduce: Reduce = alone

    def objective_on(self, rows: Rows, plan: Sequence[Plan] | None = None) -> FairObjective:
        """Return the objective on these rows, which must have groups; ``plan`` is theirs if there is one already."""
        assert rows.groups is not None
        if self.settings.fairness == "conditional_demographic_parity" and rows.control is None:
            raise ValueError(
                f"{rows.control_name} is missing; fairness='conditional_demographic_parity' compares groups among "
                "rows of equal control features"
            )
        return self.settings.objective(
            self.loss,
            rows.target,
            rows.groups,
            weigh_labels(rows, self.label_weights),
            rows.distribution_weight,
            learning_rate=self.learning_rate,
            n_jobs=self.n_jobs,
            offset=self.offset,
            name=rows.features_name,
            reduce=self.reduce,
            plan=plan,
        )

    def evaluator_on(self, rows: Rows, metrics: Sequence[Any], objective: FairObjective | None) -> Evaluator:
        """Return what computes metrics on these rows; ``objective`` is theirs if there is one already."""
        return Evaluator(
            metrics,
            rows,
            loss=self.loss,
            loss_weight=weigh_labels(rows, self.label_weights),
            offset=self.offset,
            make_objective=lambda: self.objective_on(rows) if objective is None else objective,
            decision_threshold=None if rows.target.classes is None else self.settings.decision_threshold,
            native=self.native_metrics,
            constants=self.constants,
            options=metric_options(rows, self.settings),
        )


def metric_options(rows: Rows, settings: FairnessSettings) -> dict[str, Any]:
    """Return what metrics may ask for besides groups and weights, so that they measure what is trained."""
    options: dict[str, Any] = {}
    if rows.control is not None:
        options["control_features"] = rows.control.codes
    if rows.target.edges is not None and len(rows.target.edges):
        options["target_bins"] = rows.target.edges
    if settings.focus_quantile is not None:
        options["top"] = 1.0 - settings.focus_quantile
    if rows.groups is not None and len(rows.groups.parts) > 1:
        options["attribute_weights"] = rows.groups.weights
    return options


def weigh_labels(rows: Rows, label_weights: tuple[float, float]) -> NDArray[Any]:
    """Return the weights in the loss: the rows' weights times those of their labels.

    In double precision if labels have weights, as LightGBM multiplies them.
    """
    negative, positive = label_weights
    if negative == positive == 1.0:
        return rows.weight
    factor = np.where(rows.target.values > 0, positive, negative)
    return factor * rows.weight if len(rows.weight) else factor
