"""Performance against unfairness of many fits of several methods, with the Pareto front of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.extras import require

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
    reference : bool
        Whether it is there to compare with; a close-up need not show it.
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
    reference: bool
    points: Float
    minor_points: Float
    front: Float


class ScatterInfo(NamedTuple):
    """One panel.

    Attributes
    ----------
    title, note, x_label, y_label : str
        The note stands above all panels.
    x_is_good : bool
        Whether larger values of the first axis are better; of the second, smaller ones are.
    series : tuple of MethodSeries
    """

    title: str
    note: str
    x_label: str
    y_label: str
    x_is_good: bool
    series: tuple[MethodSeries, ...]


def plot_method_scatter(infos: Sequence[ScatterInfo]) -> "Figure":
    """Draw the panels side by side, with one legend for all; a single one has a close-up of the best beside it.

    Parameters
    ----------
    infos : sequence of ScatterInfo
        One per panel.
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    shown = list(infos) if len(infos) > 1 else [infos[0], infos[0]._replace(title="close-up of the best trade-offs")]
    figure = Figure(figsize=(5.4 * len(shown), 5.6), layout="constrained", dpi=150)
    figure.suptitle(infos[0].note, x=0.008, ha="left", fontsize=9, color="0.4")
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    handles = {}
    for panel, info in zip(panels, shown, strict=True):
        for series in sorted(info.series, key=lambda one: one.emphasis):  # what stands out is drawn last
            handles[series.label] = _draw(panel, series, info.x_is_good)
        _frame(panel, info)
    if len(infos) == 1:
        _close_up(panels[1], infos[0])
    labels = dict.fromkeys(series.label for info in infos for series in info.series)
    figure.legend(
        [handles[label] for label in labels], list(labels), loc="outside lower center", ncols=5, frameon=False
    )
    return figure


def _draw(panel: "Axes", series: MethodSeries, x_is_good: bool) -> "Artist":
    size, line, alpha = (46, 2.4, 0.95) if series.emphasis else (30, 1.5, 0.7)
    layer = 4 if series.emphasis else 2
    x, y = series.minor_points.T
    panel.scatter(x, y, s=6, color=series.colour, alpha=0.25, linewidths=0, zorder=layer - 1)
    x, y = series.points.T
    drawn = panel.scatter(
        x, y, s=size, color=series.colour, marker=series.marker, alpha=alpha, linewidths=0.4, edgecolors="white",
        zorder=layer,
    )  # fmt: skip
    if len(series.front) > 1:
        # What is reached at a given performance is the best gap at that performance or a better one.
        steps = "steps-pre" if x_is_good else "steps-post"
        panel.plot(*series.front.T, color=series.colour, linewidth=line, alpha=0.9, drawstyle=steps, zorder=layer)
    return drawn


def _frame(panel: "Axes", info: ScatterInfo) -> None:
    panel.set_title(info.title, loc="left", fontsize=11)
    panel.set_xlabel(f"{info.x_label}   ({'more' if info.x_is_good else 'less'} is better)")
    panel.set_ylabel(f"{info.y_label}   (less is better)")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="0.92", linewidth=0.8)
    panel.set_axisbelow(True)
    _start_at_zero(panel, panel.get_ylim()[1])


def _start_at_zero(panel: "Axes", top: float) -> None:
    panel.set_ylim(-0.02 * top, top)  # with room for half a marker


def _close_up(panel: "Axes", info: ScatterInfo) -> None:
    """Show the part of a panel that the best of all methods span, references aside."""
    shown = [series for series in info.series if not series.reference]
    best = overall_front(info._replace(series=tuple(shown))) if shown else np.empty((0, 2))
    if len(best) < 2:
        return
    low, high = best[:, 0].min(), best[:, 0].max()
    margin = 0.12 * max(high - low, 1e-9)
    panel.set_xlim(low - margin, high + margin)
    _start_at_zero(panel, 1.12 * best[:, 1].max())


def overall_front(info: ScatterInfo) -> Float:
    """Return the points that no point of any method dominates, shape (n_points, 2)."""
    points = np.concatenate([series.front for series in info.series])
    gain = points[:, 0] if info.x_is_good else -points[:, 0]
    beaten = (gain[:, None] <= gain) & (points[:, None, 1] >= points[:, 1])
    beaten &= (gain[:, None] < gain) | (points[:, None, 1] > points[:, 1])
    return points[~beaten.any(axis=1)]
