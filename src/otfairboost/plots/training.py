"""Training curves: loss, distance between groups and gap, round by round."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from otfairboost.metrics.inputs import Floats
from otfairboost.plots.style import MUTED, finish, line_styles, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TrainingCurve(NamedTuple):
    """One metric on each evaluation set, by name of the set."""

    metric: str
    values: dict[str, Floats]


class TrainingInfo(NamedTuple):
    """What a plot of training shows: one curve per metric, and the round that early stopping chose (None without)."""

    curves: tuple[TrainingCurve, ...]
    best_iteration: int | None


def training_info(
    evals_result: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    metrics: Sequence[str] | None = None,
    best_iteration: int | None = None,
) -> TrainingInfo:
    """Sort the history of a fit by metric.

    Parameters
    ----------
    evals_result : mapping
        ``model.evals_result_``, of a fit with evaluation sets.
    metrics : sequence of str, optional
        Which to show, in this order; all by default. For loss, distance and gap fit with
        ``eval_metric=["base_loss", "wasserstein_distance", "demographic_parity_difference"]``.
    best_iteration : int, optional
        ``model.best_iteration_``.
    """
    known = list(dict.fromkeys(metric for history in evals_result.values() for metric in history))
    if not known:
        raise ValueError("evals_result is empty; fit with eval_X, eval_y and eval_metric to have a history")
    unknown = [metric for metric in metrics or () if metric not in known]
    if unknown:
        raise ValueError(f"metrics has {', '.join(map(repr, unknown))}; recorded were {', '.join(map(repr, known))}")
    curves = [
        TrainingCurve(
            metric,
            {name: np.asarray(history[metric]) for name, history in evals_result.items() if metric in history},
        )
        for metric in metrics or known
    ]
    return TrainingInfo(tuple(curves), best_iteration if best_iteration and best_iteration > 0 else None)


def plot_training(info: TrainingInfo) -> "Figure":
    """Draw one panel per metric, one line per evaluation set."""
    figure = new_figure(len(info.curves), width=3.8, height=3.2)
    panels = figure.subplots(1, len(info.curves), sharex=True, squeeze=False)[0]
    for panel, curve in zip(panels, info.curves, strict=True):
        for (name, values), style in zip(curve.values.items(), line_styles(len(curve.values)), strict=True):
            panel.plot(np.arange(1, len(values) + 1), values, linewidth=1.6, label=name, **style)
        if info.best_iteration is not None:
            panel.axvline(info.best_iteration, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        finish(panel, xlabel="round", title=curve.metric.replace("_", " "), legend=panel is panels[0])
    return figure
