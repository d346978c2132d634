"""What the figures of the study show, from stored results."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from otfairboost.benchmark.fronts import hypervolume, pareto_front
from otfairboost.benchmark.protocol import WEIGHT_PARAMETER, WEIGHTS
from otfairboost.benchmark.results import Candidate, TaskResults
from otfairboost.benchmark.selection import OBJECTIVE
from otfairboost.benchmark.titles import METRICS, method_style, method_title, shown_metrics
from otfairboost.plots.method_scatter import MethodSeries, ScatterInfo
from otfairboost.plots.weight_curves import Curve, CurvePanel, Reference, WeightCurvesInfo

OURS, BASELINE = "otfairboost", "baseline"
POINTS = 100.0

Float = NDArray[np.float64]


def goodness(results: TaskResults, method: str) -> Float:
    """Return (performance, 1 - gap) of everything a method reached, shape (n_points, 2); means over folds."""
    task = results.task
    points = [(c.mean(task.performance), 1.0 - c.mean(task.gap)) for c in results.candidates(method, members=True)]
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def front_volume(results: TaskResults, method: str) -> float | None:
    """Return the area below a method's front, as a share of the unit square; None without a finished configuration."""
    points = goodness(results, method)
    return hypervolume(points) if len(points) else None


def scatter_info(results: TaskResults, methods: Sequence[str]) -> ScatterInfo:
    """Return all configurations of all methods in the plane of performance and gap, with each method's front."""
    task = results.task
    # The paper draws the error itself, not one minus it.
    axis = "mae" if task.performance == "one_minus_mae" else task.performance

    def plane(candidates: Sequence[Candidate]) -> Float:
        points = [(POINTS * c.mean(axis), POINTS * c.mean(task.gap)) for c in candidates]
        return np.array(points, dtype=np.float64).reshape(-1, 2)

    series = []
    for method in methods:
        everything = results.candidates(method, members=True)
        if not everything:
            continue
        front = plane([everything[i] for i in pareto_front(goodness(results, method))])
        series.append(
            MethodSeries(
                method_title(method),
                *method_style(method),
                emphasis=method == OURS,
                reference=method == BASELINE,
                points=plane([c for c in everything if c.member == 0]),
                minor_points=plane([c for c in everything if c.member > 0]),
                front=front[np.argsort(front[:, 0])],
            )
        )
    return ScatterInfo(
        _title(results),
        f"one point a configuration, mean of {results.n_folds} folds; lines: each method's Pareto front",
        METRICS[axis],
        METRICS[task.gap],
        axis == task.performance,
        tuple(series),
    )


def _title(results: TaskResults) -> str:
    return f"{results.task.title}{' (simulated data)' if results.run.information.get('simulated') else ''}"


def weight_curves_info(results: TaskResults, methods: Sequence[str]) -> WeightCurvesInfo | None:
    """Return the metrics at each fairness weight; None if no method was fitted at two weights or more.

    All have the same LightGBM parameters, those of the first configuration. The other methods are lines there.
    """
    swept = {m: found for m in methods if len(found := results.candidates(m, study=WEIGHTS)) > 1}
    if not swept:
        return None
    # A partial run may have more weights for one method than for another.
    common = sorted(set.intersection(*({_weight(c) for c in found} for found in swept.values())))
    if len(common) < 2:
        return None
    at_weight = {m: sorted((c for c in found if _weight(c) in common), key=_weight) for m, found in swept.items()}
    first = {m: c for m in methods if m not in swept for c in results.candidates(m) if c.configuration == 0}
    panels = tuple(_panel(metric, at_weight, first) for metric in shown_metrics(results.task) if metric != OBJECTIVE)
    return WeightCurvesInfo(
        _title(results),
        f"mean ± standard deviation of {results.n_folds} folds; LightGBM's parameters are the same for all",
        np.array(common),
        panels,
    )


def _panel(metric: str, at_weight: dict[str, list[Candidate]], first: dict[str, Candidate]) -> CurvePanel:
    curves = []
    for method, candidates in at_weight.items():
        values = POINTS * np.array([[fold[metric] for fold in candidate.folds] for candidate in candidates])
        curves.append(Curve(method_title(method), method_style(method)[0], values.mean(axis=1), values.std(axis=1)))
    references = tuple(
        Reference(method_title(method), method_style(method)[0], POINTS * candidate.mean(metric))
        for method, candidate in first.items()
    )
    return CurvePanel(METRICS[metric], tuple(curves), references)


def _weight(candidate: Candidate) -> float:
    return float(candidate.parameters["own"][WEIGHT_PARAMETER])
