"""Selection rate of each group at every threshold: what moving the threshold would do to the gap."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from otfairboost.metrics.inputs import Floats
from otfairboost.metrics.rate_intervals import wilson_interval
from otfairboost.plots.rows import read_groups
from otfairboost.plots.style import MUTED, finish, line_styles, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GroupSelection(NamedTuple):
    """One group's selection rates with their 95% intervals, at each threshold."""

    label: str
    rate: Floats
    low: Floats
    high: Floats


class SelectionInfo(NamedTuple):
    """Selection rates of all groups at the ``thresholds``; ``threshold`` is the one in use."""

    thresholds: Floats
    groups: tuple[GroupSelection, ...]
    threshold: float | None

    @property
    def gap(self) -> Floats:
        """Return the largest difference between groups at each threshold."""
        rates = np.array([group.rate for group in self.groups])
        return rates.max(axis=0) - rates.min(axis=0)


def selection_info(
    scores: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    thresholds: ArrayLike | int = 201,
    threshold: float | None = 0.5,
) -> SelectionInfo:
    """Return the share of each group with a score at or above each threshold.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        The group of each row.
    sample_weight : array-like of shape (n_rows,), optional
        Intervals then use Kish's effective number of rows.
    thresholds : int or array-like, default=201
        Thresholds, or how many of them over the range of the scores ([0, 1] for probabilities).
    threshold : float or None, default=0.5
        The one in use.
    """
    groups = list(read_groups(None, scores, sensitive_features, sample_weight))
    if np.ndim(thresholds) == 0:
        low, high = min(one.score.min() for one in groups), max(one.score.max() for one in groups)
        low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        at = np.linspace(low, high, int(np.asarray(thresholds)))
    else:
        at = np.sort(np.asarray(thresholds, dtype=np.float64))
    shown = []
    for label, _, score, weight in groups:
        order = np.argsort(score)
        at_or_above = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
        rate = at_or_above[np.searchsorted(score[order], at, side="left")] / weight.sum()
        effective = weight.sum() ** 2 / (weight**2).sum()
        shown.append(GroupSelection(label, rate, *wilson_interval(rate * effective, effective)))
    return SelectionInfo(at, tuple(shown), threshold)


def plot_selection(info: SelectionInfo, ax: "Axes | None" = None) -> "Axes":
    """Draw selection rates with their intervals, and the gap between the extreme groups."""
    panel = new_axes() if ax is None else ax
    for group, style in zip(info.groups, line_styles(len(info.groups)), strict=True):
        panel.fill_between(info.thresholds, group.low, group.high, color=style["color"], alpha=0.2, linewidth=0)
        panel.plot(info.thresholds, group.rate, linewidth=1.8, label=group.label, **style)
    if len(info.groups) > 1:
        panel.fill_between(info.thresholds, 0, info.gap, color="0.5", alpha=0.25, linewidth=0, label="largest gap")
    if info.threshold is not None:
        panel.axvline(info.threshold, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    panel.set_xlim(info.thresholds[0], info.thresholds[-1])
    panel.set_ylim(0, 1)
    return finish(panel, xlabel="threshold", ylabel="share selected")
