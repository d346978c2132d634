"""A target for the gap in place of a weight: the weight is searched on rows that are held out."""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from otfairboost.criteria import Target
from otfairboost.estimators.held_out import score_rows, split_rows, take_rows
from otfairboost.estimators.inputs import ArgumentNames, FitArguments, Rows
from otfairboost.estimators.prepared import PreparedFit
from otfairboost.estimators.task import metric_options
from otfairboost.metrics.gaps import find_gap
from otfairboost.metrics.intervals import bootstrap_interval
from otfairboost.metrics.registry import Metric
from otfairboost.settings import check_choice, check_number
from otfairboost.weight_search import SearchStep, WeightSearch, search_weight

EVAL_SET = "eval_set"
_ON_UNREACHABLE = ("warn", "raise")
_N_RESAMPLES = 400


class UnreachableGapWarning(UserWarning):
    """No weight that was tried keeps the gap within the target."""


@dataclass(frozen=True, kw_only=True)
class GapTarget:
    """The target of an estimator, which documents these parameters."""

    max_gap: float | None
    gap_metric: str | None
    gap_cv: Any
    gap_confidence: float | None
    on_unreachable: str

    def __post_init__(self) -> None:
        if self.max_gap is not None:
            check_number("max_gap", self.max_gap, "None or a finite number > 0", lambda v: v > 0)
        if self.gap_confidence is not None:
            allowed = "None or a number from 0.5 to below 1"
            check_number("gap_confidence", self.gap_confidence, allowed, lambda v: 0.5 <= v < 1)
        check_choice("on_unreachable", self.on_unreachable, _ON_UNREACHABLE)
        if self.gap_metric is not None and not isinstance(self.gap_metric, str):
            raise TypeError(f"gap_metric={self.gap_metric!r} must be None or a metric's name")


class MeasuredRows(NamedTuple):
    """Rows that a gap is measured on, as metrics take them."""

    y: NDArray[np.float64]
    sensitive_features: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    control_features: NDArray[np.float64] | None


class HeldOut(NamedTuple):
    """Fits at any weight with the rows that each is measured on, and these rows one fit after the other."""

    fits: list[tuple[PreparedFit, Any]]
    rows: MeasuredRows

    def score(self, weight: float) -> NDArray[np.float64]:
        """Return the scores of all held-out rows at a weight."""
        return np.concatenate([score_rows(prepared.fit(weight), X) for prepared, X in self.fits])


def find_weight(estimator: Any, target: GapTarget, given: FitArguments, prepared: PreparedFit) -> WeightSearch:
    """Search the smallest weight whose gap on held-out rows keeps the target; warn or raise if there is none.

    Parameters
    ----------
    estimator : FairModel
        With all parameters; it is not changed.
    target : GapTarget
    given : FitArguments
        What ``fit`` was given.
    prepared : PreparedFit
        The same, read and checked.
    """
    settings = estimator._settings()
    assert target.max_gap is not None
    if settings.fairness_weight == 0:
        raise ValueError(
            f"fairness_weight=0 trains the plain model, but max_gap={target.max_gap!r} needs a positive weight to "
            "start from; leave fairness_weight at its default"
        )
    if given.init_score is not None:
        names = estimator._argument_names
        raise ValueError(
            f"{names.init_score} is not available with max_gap: predictions do not contain it; use {names.init_model}"
        )
    classification = prepared.train_rows.target.classes is not None
    assert prepared.train_rows.groups is not None
    metric = find_gap(
        "gap_metric", target.gap_metric, fairness=settings.fairness, classification=classification,
        top=settings.focus_quantile is not None, summed=len(prepared.train_rows.groups.parts) > 1,
        several_classes=prepared.train_rows.target.n_outputs > 1,
    )  # fmt: skip
    _refuse_points(target, metric)
    if isinstance(target.gap_cv, str):
        held_out = _use_evaluation_set(target.gap_cv, prepared, estimator._argument_names)
    else:
        held_out = _cross_validate(estimator, target.gap_cv, given, prepared)
    if metric.needs_control and held_out.rows.control_features is None:
        raise ValueError(f"gap_metric={metric.name!r} needs control_features, which are missing")
    threshold = settings.decision_threshold if classification else None
    options = metric_options(prepared.train_rows._replace(control=None), settings)

    one_decision: dict[float, bool] = {}

    def measure(weight: float) -> SearchStep:
        score = held_out.score(weight)
        one_decision[weight] = classification and _decides_alike(score, threshold)
        interval = bootstrap_interval(
            metric,
            held_out.rows.y,
            score,
            sensitive_features=held_out.rows.sensitive_features,
            sample_weight=held_out.rows.sample_weight,
            threshold=threshold,
            confidence=0.95 if target.gap_confidence is None else target.gap_confidence,
            n_resamples=_N_RESAMPLES,
            control_features=held_out.rows.control_features,
            options=options,
        )
        return SearchStep(weight, interval.value, interval.low, interval.high)

    bounded = target.gap_confidence is not None
    found = search_weight(measure, target.max_gap, start=settings.fairness_weight, bounded=bounded)
    if not found.reached:
        _tell_unreachable(target, metric, found)
    if one_decision[found.chosen.fairness_weight]:
        warnings.warn(
            f"max_gap={target.max_gap:g} is kept at fairness_weight={found.chosen.fairness_weight:.4g} by a model that "
            "decides the same for all held-out rows; allow a larger gap, move decision_threshold, or lower focus",
            UserWarning,
            stacklevel=2,
        )
    return found


def _refuse_points(target: GapTarget, metric: Metric) -> None:
    """Raise for a gap of shares that is meant in points: every model would keep it."""
    of_shares = (metric.kind == "label" or "kolmogorov_smirnov" in metric.name) and not metric.name.startswith("summed")
    if of_shares and target.max_gap is not None and target.max_gap >= 1 and not metric.greater_is_better:
        raise ValueError(
            f"max_gap={target.max_gap!r} must be below 1: {metric.name} is a difference of shares, five points are 0.05"
        )


def _decides_alike(score: NDArray[np.float64], threshold: float | None) -> bool:
    """Return whether all rows get the same decision."""
    decision = score.argmax(axis=1) if score.ndim == 2 else score >= (0.5 if threshold is None else threshold)
    return bool((decision == decision[0]).all())


def _cross_validate(estimator: Any, cv: Any, given: FitArguments, prepared: PreparedFit) -> HeldOut:
    train = prepared.train_rows
    assert train.groups is not None
    folds = split_rows(
        cv,
        train.target.values,
        train.groups.kinds(),
        classification=train.target.classes is not None,
        seed=prepared.trainer.read_seed(),
        name="gap_cv",
    )
    _refuse_missing_classes(train.target, [fold.train for fold in folds])
    inner = clone(estimator).set_params(max_gap=None)
    fits = []
    for fold in folds:
        part = _take(given, train, fold.train)
        one = clone(inner)
        fit = one._prepare(part, one._settings(), one._read_request(part))
        fits.append((fit.construct(), take_rows(train.X, fold.test)))
    return HeldOut(fits, _measured(train, np.concatenate([fold.test for fold in folds])))


def _refuse_missing_classes(target: Target, folds: list[NDArray[np.intp]]) -> None:
    """Raise for folds whose training rows lack a class: their models would not know of it."""
    for number, rows in enumerate(folds):
        missing = target.missing_classes(rows)
        if missing:
            raise ValueError(
                f"gap_cv: the training rows of fold {number} have no row of class {', '.join(map(str, missing))}; "
                "use fewer folds, a splitter that keeps classes together, or gap_cv='eval_set'"
            )


def _use_evaluation_set(name: str, prepared: PreparedFit, names: ArgumentNames) -> HeldOut:
    if name != EVAL_SET:
        raise ValueError(f"gap_cv={name!r} is unknown; allowed are {EVAL_SET!r}, a number of folds and a splitter")
    rows = prepared.evaluations[0].rows if prepared.evaluations else None
    if rows is None or rows.groups is None or rows is prepared.train_rows:
        raise ValueError(
            f"gap_cv={EVAL_SET!r} measures the gap on the first evaluation set; give {names.evaluation_set} and "
            "eval_sensitive_features, other rows than those of X"
        )
    return HeldOut([(prepared, rows.X)], _measured(rows, np.arange(len(rows.target.values))))


def _take(given: FitArguments, train: Rows, rows: NDArray[np.intp]) -> FitArguments:
    """Return the arguments of a fit on some of the rows; the training set as evaluation set goes along."""
    X, codes = take_rows(train.X, rows), train.target.values[rows]
    assert train.groups is not None
    y = codes if train.target.classes is None else np.asarray(train.target.classes)[codes.astype(np.intp)]
    return given._replace(
        X=X,
        y=y,
        sample_weight=train.distribution_weight[rows] if len(train.distribution_weight) else None,
        sensitive_features=train.groups.part(rows),
        control_features=None if train.control is None else train.control.part(rows),
        evaluations=[
            one._replace(X=X, y=y, sensitive_features=None, control_features=None)
            if one.X is given.X and one.y is given.y
            else one
            for one in given.evaluations
        ],
    )


def _measured(rows: Rows, order: NDArray[np.intp]) -> MeasuredRows:
    assert rows.groups is not None
    weight = rows.distribution_weight
    return MeasuredRows(
        rows.target.values[order].astype(np.float64),
        rows.groups.decode()[order],
        weight[order].astype(np.float64) if len(weight) else None,
        None if rows.control is None else rows.control.codes[order],
    )


def _tell_unreachable(target: GapTarget, metric: Metric, found: WeightSearch) -> None:
    step = found.chosen
    tried = max(one.fairness_weight for one in found.history)
    bound = "" if target.gap_confidence is None else f" (upper bound {step.high:.4g})"
    message = (
        f"max_gap={target.max_gap:g} is not reached with weights up to {tried:g}: the smallest {metric.name} is "
        f"{step.gap:.4g}{bound}, at fairness_weight={step.fairness_weight:.4g}; allow a larger gap, give more rows, "
        "raise fairness_weight, 20 times which is the largest weight tried, or, with decisions, try focus=4"
    )
    if target.on_unreachable == "raise":
        raise ValueError(message)
    warnings.warn(message, UnreachableGapWarning, stacklevel=2)
