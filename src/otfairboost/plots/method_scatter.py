"""Performance against unfairness of many fits of several methods, with the Pareto front of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Float = NDArray[np.float64]


class MethodSeries(NamedTuple):
    """The fits of one method.

    Attributes
    ----------
    label, colour, marker : str
    emphasis : bool
        Whether it is to stand out.
    points : array of shape (n_points, 2)
        Performance and gap of each configuration.
    minor_points : array of shape (n_points, 2)
        The same of what came with them.
    front : array of shape (n_points, 2)
        Those that no other of the method dominates, by rising performance axis.
    """

    label: str
    colour: str
    marker: str
    emphasis: bool
    points: Float
    minor_points: Float
    front: Float


class ScatterInfo(NamedTuple):
    """One panel.

    Attributes
    ----------
    title, x_label, y_label : str
    x_is_good : bool
        Whether larger values of the first axis are better; of the second, smaller ones are.
    series : tuple of MethodSeries
    """

    title: str
    x_label: str
    y_label: str
    x_is_good: bool
    series: tuple[MethodSeries, ...]


def plot_method_scatter(infos: Sequence[ScatterInfo]) -> "Figure":
    """Draw the panels side by side, with one legend for all.

    Parameters
    ----------
    infos : sequence of ScatterInfo
        One per panel.
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    width = 7.2 if len(infos) == 1 else 5.2 * len(infos)
    figure = Figure(figsize=(width, 5.4), layout="constrained", dpi=150)
    panels = figure.subplots(1, len(infos), squeeze=False)[0]
    for panel, info in zip(panels, infos, strict=True):
        for series in sorted(info.series, key=lambda one: one.emphasis):  # what stands out is drawn last
            _draw(panel, series, info.x_is_good)
        _frame(panel, info)
    handles = {
        label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    order = list(dict.fromkeys(series.label for info in infos for series in info.series))
    shown = [label for label in order if label in handles]
    columns = min(len(shown), 3 * len(infos) if len(infos) > 1 else 3)
    figure.legend(
        [handles[label] for label in shown], shown, loc="outside lower center", ncols=max(columns, 1), frameon=False
    )
    return figure


def _draw(panel: "Axes", series: MethodSeries, x_is_good: bool) -> None:
    size, line = (46, 2.4) if series.emphasis else (30, 1.5)
    layer = 4 if series.emphasis else 2
    for points, style in (
        (series.minor_points, {"s": 6, "alpha": 0.25, "linewidths": 0, "zorder": layer - 1}),
        (series.points, {"s": size, "marker": series.marker, "alpha": 0.75, "linewidths": 0.4, "edgecolors": "white",
                         "zorder": layer, "label": series.label}),
    ):  # fmt: skip
        panel.scatter(points[:, 0], points[:, 1], color=series.colour, **style)
    if len(series.front) > 1:
        # What is reached at a given performance is the best gap at that performance or a better one.
        steps = "steps-pre" if x_is_good else "steps-post"
        panel.plot(*series.front.T, color=series.colour, linewidth=line, alpha=0.9, drawstyle=steps, zorder=layer)


def _frame(panel: "Axes", info: ScatterInfo) -> None:
    panel.set_title(info.title, loc="left", fontsize=11)
    panel.set_xlabel(f"{info.x_label}   ({'more' if info.x_is_good else 'less'} is better)")
    panel.set_ylabel(f"{info.y_label}   (less is better)")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="0.92", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.set_ylim(bottom=0.0)
