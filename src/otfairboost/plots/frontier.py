"""The trade-off: performance against gap, and both against the fairness weight."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from otfairboost.metrics import get_metric
from otfairboost.metrics.inputs import Floats, read_floats
from otfairboost.plots.style import MUTED, PALETTE, finish, line_styles, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FrontierInfo(NamedTuple):
    """What a plot of the trade-off shows; arrays have one entry per model, by ascending weight.

    Attributes
    ----------
    weight, gap, performance : arrays of shape (n_models,)
        Means over folds.
    gap_error, performance_error : arrays of shape (n_models,)
        Half widths of error bars; 0 where there is one fold.
    efficient : bool array of shape (n_models,)
        Whether no other model is at least as good in both and better in one.
    chosen : int or None
        Which model was chosen.
    gap_name, performance_name : str
    greater_is_better : bool
        Of the performance; the gap is better smaller.
    """

    weight: Floats
    gap: Floats
    performance: Floats
    gap_error: Floats
    performance_error: Floats
    efficient: Any
    chosen: int | None
    gap_name: str
    performance_name: str
    greater_is_better: bool


def frontier_info(
    weight: ArrayLike,
    gap: ArrayLike,
    performance: ArrayLike,
    *,
    chosen: float | None = None,
    gap_name: str = "gap",
    performance_name: str = "performance",
    greater_is_better: bool = True,
) -> FrontierInfo:
    """Put measured models in order of their weight.

    Parameters
    ----------
    weight : array-like of shape (n,)
        The fairness weight of each measurement; several of one weight (folds) are averaged.
    gap, performance : array-like of shape (n,)
        What was measured.
    chosen : float, optional
        The weight that was chosen.
    gap_name, performance_name : str
        For the axes.
    greater_is_better : bool, default=True
        Of the performance; False for an error.
    """
    columns = [read_floats(*one) for one in (("weight", weight), ("gap", gap), ("performance", performance))]
    if len({len(column) for column in columns}) != 1:
        raise ValueError(f"weight, gap and performance have {', '.join(str(len(c)) for c in columns)} rows; need equal")
    distinct, code = np.unique(columns[0], return_inverse=True)
    if chosen is not None and chosen not in distinct:
        raise ValueError(f"chosen={chosen!r} is none of the weights {', '.join(f'{one:g}' for one in distinct)}")
    (gap_mean, gap_error), (mean, error) = (_by_code(column, code) for column in columns[1:])
    return FrontierInfo(
        weight=distinct,
        gap=gap_mean,
        performance=mean,
        gap_error=gap_error,
        performance_error=error,
        efficient=_efficient(gap_mean, -mean if greater_is_better else mean),
        chosen=None if chosen is None else int(np.flatnonzero(distinct == chosen)[0]),
        gap_name=gap_name,
        performance_name=performance_name,
        greater_is_better=greater_is_better,
    )


def fitted_frontier_info(frontier: Any, *, chosen: float | None = None) -> FrontierInfo:
    """Return what a fitted :class:`otfairboost.selection.FairnessFrontier` measured.

    Parameters
    ----------
    frontier : FairnessFrontier
    chosen : float, optional
        The weight that was chosen.
    """
    columns = [frontier.values_[:, :, frontier.metrics_.index(name)] for name in (frontier.gap_, frontier.performance_)]
    known = np.isfinite(columns).all(axis=(0, 2))  # where training diverged there is nothing to show
    gap, performance = (column[known] for column in columns)
    return frontier_info(
        np.repeat(frontier.weights_[known], gap.shape[1]),
        gap.ravel(),
        performance.ravel(),
        chosen=chosen,
        gap_name=frontier.gap_.replace("_", " "),
        performance_name=frontier.performance_.replace("_", " "),
        greater_is_better=get_metric(frontier.performance_).greater_is_better,
    )


def plot_frontier(info: FrontierInfo, ax: "Axes | None" = None) -> "Axes":
    """Draw performance against gap, efficient models joined; the best corner is on the left."""
    panel = new_axes() if ax is None else ax
    order = np.flatnonzero(info.efficient)[np.argsort(info.gap[info.efficient])]
    panel.plot(info.gap[order], info.performance[order], color=PALETTE[0], linewidth=1.4, zorder=1)
    panel.errorbar(
        info.gap, info.performance, xerr=info.gap_error, yerr=info.performance_error, fmt="none", ecolor="0.8",
        elinewidth=0.9, zorder=0,
    )  # fmt: skip
    inside = np.asarray(info.efficient, bool)
    panel.scatter(info.gap[~inside], info.performance[~inside], s=26, color="white", edgecolor=MUTED, zorder=2)
    panel.scatter(info.gap[inside], info.performance[inside], s=34, color=PALETTE[0], zorder=3)
    for i in order:
        panel.annotate(
            f"{info.weight[i]:g}", (info.gap[i], info.performance[i]), xytext=(4, -11), textcoords="offset points",
            fontsize=8, color=MUTED,
        )  # fmt: skip
    if info.chosen is not None:
        where = (info.gap[info.chosen], info.performance[info.chosen])
        label = f"chosen: weight {info.weight[info.chosen]:g}"
        panel.scatter(*where, s=170, facecolor="none", edgecolor=PALETTE[5], linewidth=2, zorder=4, label=label)
    if not info.greater_is_better:
        panel.invert_yaxis()
    panel.set_xlim(left=min(0.0, float(info.gap.min())))
    return finish(panel, xlabel=f"{info.gap_name} (smaller is fairer)", ylabel=info.performance_name)


def plot_metrics_by_weight(
    weight: ArrayLike, metrics: Mapping[str, ArrayLike], ax: "Axes | None" = None, *, log: bool = True
) -> "Axes":
    """Draw metrics against the fairness weight, with the spread over folds as a band.

    Parameters
    ----------
    weight : array-like of shape (n,)
        The weight of each measurement; several of one weight (folds) are averaged.
    metrics : mapping of str to array-like of shape (n,)
        Metrics by name.
    ax : Axes, optional
    log : bool, default=True
        Whether the axis of the weights is logarithmic (linear near 0).
    """
    panel = new_axes() if ax is None else ax
    weights = read_floats("weight", weight)
    distinct, code = np.unique(weights, return_inverse=True)
    for (name, values), style in zip(metrics.items(), line_styles(len(metrics)), strict=True):
        column = read_floats(name, values)
        if len(column) != len(weights):
            raise ValueError(f"{name} has {len(column)} rows, but weight has {len(weights)}; both need the same number")
        mean, error = _by_code(column, code)
        panel.fill_between(distinct, mean - error, mean + error, color=style["color"], alpha=0.18, linewidth=0)
        panel.plot(distinct, mean, marker="o", markersize=3.5, linewidth=1.6, label=name.replace("_", " "), **style)
    positive = distinct[distinct > 0]
    if log and len(positive):
        panel.set_xscale("symlog", linthresh=float(positive.min()))
        panel.xaxis.set_major_formatter("{x:g}")
    return finish(panel, xlabel="fairness weight")


def _by_code(values: Floats, code: Any) -> tuple[Floats, Floats]:
    """Return the mean of each weight's values, and their standard deviation (0 for a single one)."""
    count = np.bincount(code)
    mean = np.bincount(code, weights=values) / count
    spread = np.bincount(code, weights=(values - mean[code]) ** 2) / np.maximum(count - 1, 1)
    return mean, np.sqrt(spread)


def _efficient(first: Floats, second: Floats) -> Any:
    """Return which points no other point is at least as small in both and smaller in one."""
    at_least = (first[:, None] <= first) & (second[:, None] <= second)
    better = at_least & ((first[:, None] < first) | (second[:, None] < second))
    return ~better.any(axis=0)
