"""Measuring models for the report page."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otfairboost.criteria import WITHOUT_CONTROL, find_criterion
from otfairboost.groups import Groups, encode_groups, format_label
from otfairboost.metrics.gaps import find_gap
from otfairboost.metrics.inputs import Floats, read_floats, read_labels
from otfairboost.metrics.rate_intervals import mean_interval
from otfairboost.plots.calibration import GroupCalibration, calibration_info
from otfairboost.report.data import Candidate, GroupResult, GroupSummary, ModelResult, Report
from otfairboost.report.grid import is_probability, threshold_grid
from otfairboost.report.measures import Measure, measure_scores
from otfairboost.versions import versions

N_DENSITY_BINS = 60
N_CALIBRATION_BINS = 10
ALPHA = 0.75
"""Share of the performance where nobody said which model was chosen: the paper's Obj.75."""
_ERRORS = ("mean_absolute_error", "mean_squared_error")


def build_report(
    candidates: Sequence[Candidate] | Any,
    y_true: Any = None,
    *,
    sensitive_features: Any,
    title: str = "Fairness report",
    task: str = "classification",
    fairness: str = "demographic_parity",
    performance: str | None = None,
    threshold: float | None = None,
    pos_label: Any = 1,
    chosen: int | None = None,
    reference: int | None = None,
    reason: str = "",
    sensitive_name: str = "group",
    target_name: str = "target",
    details: Mapping[str, Mapping[str, Any]] | None = None,
) -> Report:
    """Measure one or several models on the same rows.

    Parameters
    ----------
    candidates : Candidate, sequence of Candidate, or scores
        The models; an array of shape (n_rows,) is one model called "model".
    y_true : array-like of shape (n_rows,), optional
        Labels, or a continuous target. Without it the page shows scores and selection rates alone.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare. Rows where it is missing are left out, and counted.
    title : str
    task : {"classification", "regression"}
    fairness : str, default="demographic_parity"
        The criterion whose gap the trade-off shows.
    performance : str, optional
        The measure it is traded against: "average_precision" (default), "roc_auc" or "accuracy"; in regression
        "mean_absolute_error" (default) or "mean_squared_error".
    threshold : float, optional
        Score from which on a row is selected. Default: 0.5 for probabilities, the median in regression; scores of
        another scale need it.
    pos_label : scalar, default=1
        The label in ``y_true`` that counts as positive.
    chosen : int, optional
        Which candidate was chosen; by default the best by 0.75 performance + 0.25 (1 - gap).
    reference : int, optional
        What to compare it with; by default the candidate of the smallest ``fairness_weight``, if there are several.
    reason : str
        Why it was chosen.
    sensitive_name, target_name : str
        What to call the groups and the target.
    details : mapping of str to mapping, optional
        Sections of names and values to show at the end; versions are added.
    """
    if task not in ("classification", "regression"):
        raise ValueError(f"task={task!r} is unknown; allowed are 'classification', 'regression'")
    if isinstance(fairness, str):
        find_criterion(fairness)
    gap, performance = _read_axes(fairness, performance, task, y_true is not None)
    given = _read_candidates(candidates)
    groups = encode_groups(sensitive_features, n_rows=len(given[0].scores))
    counted = groups.codes >= 0
    _check_groups(groups)
    codes = groups.codes[counted].astype(np.intp)
    scores = [np.asarray(one.scores)[counted] for one in given]
    y = None
    if y_true is not None:
        classify = task == "classification"
        y = read_labels("y_true", y_true, pos_label)[0].astype(float) if classify else read_floats("y_true", y_true)
        if len(y) != len(counted):
            raise ValueError(f"y_true has {len(y)} rows, but the scores have {len(counted)}; both need the same number")
        y = y[counted]
    everything = np.concatenate(scores)
    at = _read_threshold(threshold, everything, task)
    grid = threshold_grid(everything, at)
    models = [
        _measure(one, score, y, codes, len(groups.labels), grid=grid, threshold=at, task=task)
        for one, score in zip(given, scores, strict=True)
    ]
    best, reason = _choose(models, gap, performance, chosen, reason)
    return Report(
        title=title,
        created=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        task=task,
        fairness=fairness,
        gap=gap,
        performance=performance,
        has_target=y is not None,
        n_rows=int(counted.sum()),
        n_without_group=int((~counted).sum()),
        groups=_summarise(groups, codes, y if task == "classification" else None),
        thresholds=grid,
        threshold=at,
        edges=_density_edges(grid),
        models=tuple(models),
        chosen=best,
        reference=_find_reference(models, best, reference),
        reason=reason,
        sensitive_name=sensitive_name,
        target_name=target_name,
        details=_format_details(details or {}),
    )


def _read_candidates(candidates: Any) -> list[Candidate]:
    is_list = isinstance(candidates, Sequence) and len(candidates) > 0 and isinstance(candidates[0], Candidate)
    if isinstance(candidates, Candidate):
        given = [candidates]
    else:
        given = list(candidates) if is_list else [Candidate("model", candidates)]
    read = []
    for one in given:
        if not isinstance(one, Candidate):
            raise TypeError(f"candidates holds a {type(one).__name__}; allowed are Candidate objects, or one array")
        name = "scores" if one.name == "model" else f"the scores of {one.name!r}"
        read.append(one._replace(scores=read_floats(name, one.scores)))
        if len(read[-1].scores) != len(read[0].scores):
            raise ValueError(f"{name} has {len(read[-1].scores)} rows, but the first model has {len(read[0].scores)}")
    return read


def _check_groups(groups: Groups) -> None:
    if len(groups.labels) < 2:
        found = ", ".join(map(format_label, groups.labels)) or "none"
        raise ValueError(f"sensitive_features must hold at least 2 groups, found {len(groups.labels)}: {found}")


def _read_threshold(threshold: float | None, scores: Floats, task: str) -> float:
    if threshold is None:
        if task == "regression":
            return float(f"{np.median(scores):.4g}")
        if not is_probability(scores):
            raise ValueError(
                f"threshold is missing, and the scores lie between {scores.min():g} and {scores.max():g}, so they are "
                "no probabilities; give the score from which on a row is selected"
            )
        return 0.5
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number) or not np.isfinite(threshold):
        raise ValueError(f"threshold={threshold!r} must be a finite number")
    return float(threshold)


def _read_axes(fairness: str, performance: str | None, task: str, has_target: bool) -> tuple[str, str]:
    """Return the measures of the trade-off."""
    classification = task == "classification"
    if fairness not in WITHOUT_CONTROL:
        raise ValueError(
            f"fairness={fairness!r} has no page: it shows whole groups; allowed are "
            f"{', '.join(sorted(map(repr, WITHOUT_CONTROL)))}"
        )
    if fairness != "demographic_parity" and not (classification and has_target):
        raise ValueError(
            f"fairness={fairness!r} compares rows of the same label and needs labels in y_true; "
            "without them it is 'demographic_parity'"
        )
    allowed = ("average_precision", "roc_auc", "accuracy") if classification else _ERRORS
    if performance is not None and performance not in allowed:
        raise ValueError(f"performance={performance!r} is unknown; allowed are {', '.join(map(repr, allowed))}")
    gap = find_gap("gap", None, fairness=fairness, classification=classification)
    return gap.name, performance or allowed[0]


def _measure(
    candidate: Candidate,
    score: Floats,
    y: Floats | None,
    codes: NDArray[np.intp],
    n_groups: int,
    *,
    grid: Floats,
    threshold: float,
    task: str,
) -> ModelResult:
    classification = task == "classification"
    calibrated: tuple[GroupCalibration | None, ...] = (None,) * n_groups
    if y is not None and (not classification or is_probability(score)):
        label = 1.0 if classification else None
        info = calibration_info(y, score, sensitive_features=codes, n_bins=N_CALIBRATION_BINS, pos_label=label)
        calibrated = info.groups
    results = []
    for code in range(n_groups):
        rows = codes == code
        truth = None if y is None else y[rows]
        positive = np.zeros(int(rows.sum()), bool) if truth is None or not classification else truth > 0
        error = None
        if truth is not None and not classification:
            off = np.abs(truth - score[rows])
            error = Measure(float(off.mean()), *mean_interval(off))
        clipped = np.clip(score[rows], grid[0], grid[-1])
        results.append(
            GroupResult(
                density=np.histogram(clipped, _density_edges(grid), density=True)[0],
                selected_negative=_count_selected(score[rows][~positive], grid),
                selected_positive=_count_selected(score[rows][positive], grid),
                mean_score=float(score[rows].mean()),
                mean_absolute_error=error,
                calibration=calibrated[code],
            )
        )
    measures = measure_scores(y, score, codes, threshold=threshold, classification=classification)
    shown = {str(name): str(value) for name, value in candidate.parameters.items()}
    return ModelResult(str(candidate.name), candidate.fairness_weight, shown, measures, tuple(results))


def _density_edges(grid: Floats) -> Floats:
    return np.linspace(grid[0], grid[-1], N_DENSITY_BINS + 1)


def _count_selected(score: Floats, grid: Floats) -> NDArray[np.int64]:
    """Return how many scores are at or above each threshold."""
    return (len(score) - np.searchsorted(np.sort(score), grid, side="left")).astype(np.int64)


def _summarise(groups: Groups, codes: NDArray[np.intp], y: Floats | None) -> tuple[GroupSummary, ...]:
    return tuple(
        GroupSummary(
            format_label(label), int((codes == code).sum()), None if y is None else int(y[codes == code].sum())
        )
        for code, label in enumerate(groups.labels)
    )


def _choose(models: list[ModelResult], gap: str, performance: str, chosen: int | None, reason: str) -> tuple[int, str]:
    """Return the model that was chosen, and why."""
    if chosen is not None:
        return _check_number("chosen", chosen, models), reason

    def tradeoff(model: ModelResult) -> float:
        fair = 1.0 - model.measures[gap].value
        if performance not in model.measures:
            return fair
        measure = model.measures[performance].value
        return ALPHA * (1.0 - measure if performance in _ERRORS else measure) + (1.0 - ALPHA) * fair

    best = max(range(len(models)), key=lambda i: tradeoff(models[i]))
    if len(models) > 1 and not reason:
        weighing = f"{ALPHA:.0%} performance and {1 - ALPHA:.0%} fairness"
        known = performance in models[best].measures
        reason = f"Best trade-off of {weighing}." if known else "Smallest gap of all models."
    return best, reason


def _check_number(argument: str, number: int, models: list[ModelResult]) -> int:
    if not 0 <= number < len(models):
        raise ValueError(f"{argument}={number!r} must be the number of a candidate, from 0 to {len(models) - 1}")
    return number


def _find_reference(models: list[ModelResult], chosen: int, reference: int | None) -> int | None:
    if reference is not None:
        return _check_number("reference", reference, models)
    if len(models) == 1:
        return None
    weighted = [i for i, model in enumerate(models) if model.fairness_weight is not None]
    lowest = min(weighted, key=lambda i: models[i].fairness_weight or 0.0) if weighted else 0
    return lowest if lowest != chosen else None


def _format_details(details: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    shown = {str(name): {str(key): str(value) for key, value in rows.items()} for name, rows in details.items()}
    return {**shown, "Versions": {**versions(), **shown.get("Versions", {})}}
