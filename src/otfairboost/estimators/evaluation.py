"""Metrics during training: the names a user can give as ``eval_metric``, and what they compute.

LightGBM's own metrics would see raw predictions without their offset. The two that do not mind, because they only rank,
stay with LightGBM; the others are computed here under its names.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.attributes import name_column
from otfairboost.boosters.lightgbm import RANKING_METRICS, EvalResult
from otfairboost.estimators.inputs import Rows
from otfairboost.estimators.native_metrics import Constants, NativeMetric
from otfairboost.groups import format_label
from otfairboost.losses import Loss, Offset
from otfairboost.metrics import METRICS
from otfairboost.objective import FairObjective

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]

FAIR_OBJECTIVE, BASE_LOSS, FAIRNESS_PENALTY = "fair_objective", "base_loss", "fairness_penalty"
OBJECTIVE_METRICS = (FAIR_OBJECTIVE, BASE_LOSS, FAIRNESS_PENALTY)
_NO_METRIC = ("", "none", "na", "null", "custom")


class MetricRequest(NamedTuple):
    """The metrics a user asks for.

    Attributes
    ----------
    names : list of str
        In the order they count.
    functions : list of callable
        With the signature that LightGBM's estimators take. They come last, as in LightGBM.
    is_empty : bool
        Whether nothing was said, not even that no metric is wanted.
    sets_parameter : bool
        Whether the estimator's parameter ``metric`` is set.
    native : dict
        LightGBM's metrics by name and alias.
    ranking : frozenset of str
        Those that the booster computes itself.
    """

    names: list[str]
    functions: list[Callable[..., Any]]
    is_empty: bool
    sets_parameter: bool
    native: dict[str, NativeMetric]
    ranking: frozenset[str] = RANKING_METRICS

    @property
    def has_own(self) -> bool:
        """Return whether a name is asked for that LightGBM does not know."""
        return any(
            (name in METRICS or name in OBJECTIVE_METRICS) and name not in self.native and name not in self.ranking
            for name in self.names
        )

    def complete(self, *, base: str, with_groups: bool) -> list[Any]:
        """Return main names, then functions, with the defaults; raise for unknown names.

        Where nothing was asked for, the default is what is trained. Where only metrics that LightGBM knows were asked
        for, its default metric ``base`` comes along, as with LightGBM. Metrics of this package come alone.
        """
        names = self.names
        if self.is_empty and with_groups:
            names = [FAIR_OBJECTIVE]
        elif not self.has_own and not self.sets_parameter:
            names = [*names, base]
        return [*dict.fromkeys(self._main_name(name) for name in names), *self.functions]

    def _main_name(self, name: str) -> str:
        if name in self.native:
            return self.native[name].name
        known = {*self.ranking, *OBJECTIVE_METRICS, *METRICS}
        if name not in known:
            raise ValueError(
                f"eval_metric {name!r} is unknown or not available with fairness_weight > 0; allowed are a function "
                f"and {', '.join(sorted(known | set(self.native)))}"
            )
        return name


def read_request(eval_metric: Any, metric: Any, native: dict[str, NativeMetric]) -> MetricRequest:
    """Read the argument ``eval_metric`` and the parameter ``metric``."""
    asked, given = _as_list(eval_metric), _as_list(metric)
    everything = [one for one in asked if not (isinstance(one, str) and one in given)] + given
    for one in everything:
        if not isinstance(one, str) and not callable(one):
            raise TypeError(f"eval_metric holds {one!r}; allowed are names and functions")
    functions = [one for one in everything if callable(one)]
    for function in functions:
        count = len(signature(function).parameters)
        if not 2 <= count <= 4:
            raise TypeError(f"eval_metric {function!r} takes {count} arguments; allowed are functions of 2, 3 or 4")
    names = [one for one in everything if isinstance(one, str) and one.lower() not in _NO_METRIC]
    return MetricRequest(names, functions, not everything, bool(given), native)


def needs_groups(metric: Any) -> bool:
    """Return whether a metric reads sensitive features."""
    if not isinstance(metric, str):
        return False
    if metric in METRICS:
        return METRICS[metric].needs_groups
    return metric in (FAIR_OBJECTIVE, FAIRNESS_PENALTY)


def refuse_missing_classes(rows: Rows, metrics: Sequence[Any], fairness: Any, name: str) -> None:
    """Raise for evaluation rows that lack one of several classes if a metric compares groups within each class."""
    missing = rows.target.missing_classes() if rows.target.n_outputs > 1 else []
    for metric in metrics if missing else ():
        of_penalty = metric in (FAIR_OBJECTIVE, FAIRNESS_PENALTY) and fairness == "equalized_odds"
        if of_penalty or metric == "multiclass_equalized_odds_difference":
            raise ValueError(
                f"{name} has no row of class {', '.join(map(str, missing))}; eval_metric {metric!r} compares groups "
                "within each class and needs rows of all of them"
            )


def _as_list(metric: Any) -> list[Any]:
    parts = list(metric) if isinstance(metric, list | tuple | set) else [metric]
    return [
        word.strip() if isinstance(word, str) else word
        for part in parts
        if part is not None
        for word in (part.split(",") if isinstance(part, str) else [part])
    ]


class Evaluator:
    """Computes metrics on one set of rows from a booster's raw predictions.

    Parameters
    ----------
    metrics : sequence of str or callable
        Main names, or functions with the signature that LightGBM's estimators take.
    rows : Rows
        The rows.
    loss, loss_weight : Loss, float32 array of shape (n_rows,) or empty
        The base loss, and the weights in it.
    offset : float or array of shape (n_outputs,)
        What the booster's raw predictions lack.
    make_objective : callable
        Makes the objective on these rows; called if a metric needs it.
    decision_threshold : float or None
        Probability from which on a row is selected; None in regression.
    native : dict
        LightGBM's metrics by name.
    constants : Constants
        Parameters of LightGBM's metrics.
    options : mapping, optional
        What metrics may ask for besides: control features, edges, the share that is selected, weights of attributes.
    """

    def __init__(
        self,
        metrics: Sequence[Any],
        rows: Rows,
        *,
        loss: Loss,
        loss_weight: Float32,
        offset: Offset,
        make_objective: Callable[[], FairObjective],
        decision_threshold: float | None,
        native: dict[str, NativeMetric],
        constants: Constants,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._metrics = metrics
        self._target = rows.target.values
        self._y = np.asarray(rows.target.values, dtype=np.float64)
        self._weight = np.asarray(rows.weight, dtype=np.float64) if len(rows.weight) else None
        self._groups = None if rows.groups is None else rows.groups.codes()
        self._options = options or {}
        self._loss = loss
        self._loss_weight = loss_weight
        self._offset = offset
        self._threshold = decision_threshold
        self._native = native
        self._constants = constants
        self._refuse_impossible_metrics(rows)
        objective_needed = any(metric in (FAIR_OBJECTIVE, FAIRNESS_PENALTY) for metric in metrics)
        self._objective = make_objective() if objective_needed else None

    def __call__(self, predicted: Float) -> list[EvalResult]:
        """Return (name, value, greater is better) of each metric."""
        raw = np.ascontiguousarray((predicted + self._offset).T)  # class-major, if there are several outputs
        response = np.empty_like(raw)
        self._loss.write_response(raw, 0.0, response)
        response = response.T
        parts: dict[str, float] = {}
        if self._objective is not None:
            value = self._objective.value(predicted)
            parts[FAIRNESS_PENALTY] = value.penalty
            parts[FAIR_OBJECTIVE] = value.loss + self._objective.fairness_weight * value.penalty
        results: list[EvalResult] = []
        for metric in self._metrics:
            if callable(metric):
                results += self._call(metric, response)
            elif metric == BASE_LOSS:
                results.append((metric, self._loss.value(self._target, raw, self._loss_weight), False))
            elif metric in parts:
                results.append((metric, parts[metric], False))
            else:
                results.append(self._compute(metric, response))
        return results

    def close(self) -> None:
        """Let the objective's threads go."""
        if self._objective is not None:
            self._objective.close()

    def _compute(self, name: str, response: Float) -> EvalResult:
        if name in self._native:
            native = self._native[name]
            return name, native.compute(self._y, response, self._weight, self._constants), native.greater_is_better
        metric = METRICS[name]
        value = metric.from_scores(
            self._y,
            response,
            sensitive_features=self._groups,
            sample_weight=self._weight,
            threshold=self._threshold,
            options=self._options,
        )
        if np.isnan(value):  # undefined, such as a ratio where nobody is selected: early stopping must get past it
            value = -np.inf if metric.greater_is_better else np.inf
        return name, value, metric.greater_is_better

    def _call(self, metric: Callable[..., Any], response: Float) -> list[EvalResult]:
        count = len(signature(metric).parameters)
        result = metric(*(self._y, response, self._weight, None)[:count])
        results = result if isinstance(result, list) else [result]
        if not all(isinstance(one, tuple) and len(one) == 3 for one in results):
            raise TypeError(f"eval_metric {metric!r} returned {result!r}, not (name, value, greater is better)")
        return results

    def _refuse_impossible_metrics(self, rows: Rows) -> None:
        """Raise before training for metrics that these rows do not have."""
        for metric in self._metrics:
            if not isinstance(metric, str):
                continue
            if needs_groups(metric):
                self._refuse_too_few_groups(metric, rows)
            self._refuse_other_number_of_classes(metric)
            if metric in METRICS and METRICS[metric].needs_control and rows.control is None:
                raise ValueError(f"eval_metric {metric!r} needs {rows.control_name}, which is missing")
            if self._threshold is None and metric in METRICS and METRICS[metric].kind == "label":
                raise ValueError(f"eval_metric {metric!r} compares decisions, but a regressor has scores only")
            if metric in METRICS and metric not in self._native:
                try:
                    self._compute(metric, self._perfect_response())
                except ValueError as error:
                    raise ValueError(f"eval_metric {metric!r} cannot be computed on {rows.name}: {error}") from error
            if metric in ("cross_entropy", "kullback_leibler") and not ((self._y >= 0) & (self._y <= 1)).all():
                raise ValueError(
                    f"eval_metric {metric!r} needs a target from 0 to 1, but that of {rows.name} goes from "
                    f"{self._y.min():g} to {self._y.max():g}"
                )
            if metric in ("gamma", "gamma_deviance") and not (self._y > 0).all():
                raise ValueError(
                    f"eval_metric {metric!r} needs a positive target, but that of {rows.name} goes down to "
                    f"{self._y.min():g}"
                )

    def _perfect_response(self) -> Float:
        """Return the response that is the target itself."""
        several = self._loss.n_outputs > 1
        return np.eye(self._loss.n_outputs)[self._y.astype(np.intp)] if several else self._y

    def _refuse_other_number_of_classes(self, metric: str) -> None:
        if metric in self._native or metric not in METRICS or METRICS[metric].classes == "any":
            return
        several = self._loss.n_outputs > 1
        if several and METRICS[metric].classes == "two":
            allowed = [name for name, one in METRICS.items() if one.classes != "two"]
            raise ValueError(
                f"eval_metric {metric!r} is for two classes, but y has {self._loss.n_outputs}; allowed are "
                f"{', '.join(allowed)}"
            )
        if not several and METRICS[metric].classes == "many":
            raise ValueError(f"eval_metric {metric!r} is for more than two classes, which y does not have")

    def _refuse_too_few_groups(self, metric: str, rows: Rows) -> None:
        if rows.groups is None:
            raise ValueError(f"eval_metric {metric!r} needs {rows.features_name}, which is missing")
        for part in rows.groups.parts:
            groups = part.groups
            present = [repr(format_label(groups.labels[code])) for code in np.flatnonzero(groups.counts())]
            if len(present) < 2:
                name = rows.features_name
                name = name if len(rows.groups.parts) == 1 else name_column(name, part.columns[0])
                raise ValueError(
                    f"eval_metric {metric!r} compares groups, but {name} holds only "
                    f"{', '.join(present) or 'missing values'}"
                )
