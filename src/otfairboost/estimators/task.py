"""What is minimised: the loss, its weights and start, and the fairness settings."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.boosters.lightgbm_parameters import read_number
from otfairboost.estimators.evaluation import Evaluator
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.native_metrics import Constants, NativeMetric
from otfairboost.losses import Loss
from otfairboost.objective import FairObjective
from otfairboost.penalty import Plan
from otfairboost.settings import FairnessSettings
from otfairboost.threads import count_threads


class Task(NamedTuple):
    """One training task, to be put to any set of rows.

    Attributes
    ----------
    settings : FairnessSettings
    params : dict
        LightGBM's parameters.
    loss : Loss
    label_weights : (float, float)
        Weights in the loss of negative and positive rows.
    offset : float
        The raw prediction that training starts from, if LightGBM does not know it.
    native_metrics : dict
        LightGBM's metrics by name.
    """

    settings: FairnessSettings
    params: dict[str, Any]
    loss: Loss
    label_weights: tuple[float, float]
    offset: float
    native_metrics: dict[str, NativeMetric]

    def objective_on(self, rows: Rows, plan: Plan | None = None) -> FairObjective:
        """Return the objective on these rows, which must have groups; ``plan`` is theirs if there is one already."""
        assert rows.groups is not None
        return self.settings.objective(
            self.loss,
            rows.target,
            rows.groups,
            weigh_labels(rows, self.label_weights),
            rows.distribution_weight,
            learning_rate=read_number(self.params, "learning_rate", 0.1),
            n_jobs=count_threads(self.params["num_threads"]),
            offset=self.offset,
            name=rows.features_name,
            plan=plan,
        )

    def evaluator_on(self, rows: Rows, metrics: Sequence[Any], objective: FairObjective | None) -> Evaluator:
        """Return what computes metrics on these rows; ``objective`` is theirs if there is one already."""
        constants = {
            name: read_number(self.params, name, default) for name, default in Constants._field_defaults.items()
        }
        return Evaluator(
            metrics,
            rows,
            loss=self.loss,
            loss_weight=weigh_labels(rows, self.label_weights),
            offset=self.offset,
            make_objective=lambda: self.objective_on(rows) if objective is None else objective,
            decision_threshold=None if rows.target.classes is None else self.settings.decision_threshold,
            native=self.native_metrics,
            constants=Constants(**constants),
        )


def weigh_labels(rows: Rows, label_weights: tuple[float, float]) -> NDArray[Any]:
    """Return the weights in the loss: the rows' weights times those of their labels.

    In double precision if labels have weights, as LightGBM multiplies them.
    """
    negative, positive = label_weights
    if negative == positive == 1.0:
        return rows.weight
    factor = np.where(rows.target.values > 0, positive, negative)
    return factor * rows.weight if len(rows.weight) else factor
