"""Metrics against the fairness weight, with other methods as lines to compare with."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Float = NDArray[np.float64]


class Curve(NamedTuple):
    """A metric of a method at each weight: means over folds, and standard deviations."""

    label: str
    colour: str
    mean: Float
    deviation: Float


class Reference(NamedTuple):
    """A metric of a method that has no such weight."""

    label: str
    colour: str
    value: float


class CurvePanel(NamedTuple):
    """One metric."""

    label: str
    curves: tuple[Curve, ...]
    references: tuple[Reference, ...]


class WeightCurvesInfo(NamedTuple):
    """What the figure shows: a title, a note below it, the weights, and one panel per metric."""

    title: str
    note: str
    weights: Float
    panels: tuple[CurvePanel, ...]


def plot_weight_curves(info: WeightCurvesInfo) -> "Figure":
    """Draw one panel per metric."""
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(info.panels), 4.6), layout="constrained", dpi=150)
    figure.suptitle(f"{info.title}: {info.note}", x=0.008, ha="left", fontsize=9, color="0.4")
    axes = figure.subplots(1, len(info.panels), squeeze=False)[0]
    for axis, panel in zip(axes, info.panels, strict=True):
        _draw(axis, info.weights, panel)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), frameon=False)
    return figure


def _draw(axis: "Axes", weights: Float, panel: CurvePanel) -> None:
    for curve in panel.curves:
        axis.fill_between(
            weights,
            curve.mean - curve.deviation,
            curve.mean + curve.deviation,
            color=curve.colour,
            alpha=0.15,
            linewidth=0,
        )
        axis.plot(weights, curve.mean, color=curve.colour, linewidth=2.2, marker="o", markersize=5, label=curve.label)
    for reference in panel.references:
        axis.axhline(
            reference.value,
            color=reference.colour,
            linewidth=1.3,
            linestyle=(0, (5, 3)),
            label=reference.label,
            zorder=1,
        )
    axis.set_xscale("log")
    axis.set_xticks(weights, [f"{weight:g}" for weight in weights])
    axis.minorticks_off()
    axis.set_xlabel("fairness weight λ")
    axis.set_title(panel.label, loc="left", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(color="0.93", linewidth=0.8)
    axis.set_axisbelow(True)
