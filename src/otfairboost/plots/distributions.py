"""Score distributions of groups, side by side for several models."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from otfairboost.extras import require
from otfairboost.groups import encode_groups, format_label
from otfairboost.transport import measure_sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Float = NDArray[np.float64]

# Distinguishable with any colour vision, and in print.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


class GroupDistribution(NamedTuple):
    """The scores of one group.

    Attributes
    ----------
    label : str
    share : float
        The group's share of the weight.
    density : array of shape (n_bins,)
        Density in each bin.
    values, cdf : arrays of shape (n_values,)
        Distinct scores, and the share of the group at or below each.
    selected : float
        Share of the group with a score at or above the threshold (NaN without one).
    """

    label: str
    share: float
    density: Float
    values: Float
    cdf: Float
    selected: float


class DistributionsInfo(NamedTuple):
    """What a plot of score distributions shows.

    Attributes
    ----------
    title : str
    edges : array of shape (n_bins + 1,)
        Bins of the densities.
    groups : tuple of GroupDistribution
    threshold : float or None
    """

    title: str
    edges: Float
    groups: tuple[GroupDistribution, ...]
    threshold: float | None

    @property
    def gap(self) -> float:
        """Return the largest difference between groups in the share selected."""
        selected = [group.selected for group in self.groups]
        return max(selected) - min(selected)


def distributions_info(
    scores: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    threshold: float | None = 0.5,
    title: str = "",
    edges: ArrayLike | int = 50,
) -> DistributionsInfo:
    """Return the score distribution of each group.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Probabilities or predictions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        The group of each row.
    sample_weight : array-like of shape (n_rows,), optional
    threshold : float or None, default=0.5
        Score from which on a row is selected.
    title : str
    edges : int or array-like, default=50
        Bins of the densities; a number of even bins over the range of the scores, which is [0, 1] for probabilities.
    """
    score = np.asarray(scores, dtype=np.float64)
    groups = encode_groups(sensitive_features, n_rows=len(score))
    weight = np.ones(len(score)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if np.ndim(edges) == 0:
        low, high = float(score.min()), float(score.max())
        low, high = (0.0, 1.0) if threshold is not None and low >= 0 and high <= 1 else (low, max(high, low + 1e-9))
        bins = np.linspace(low, high, int(np.asarray(edges)) + 1)
    else:
        bins = np.asarray(edges, dtype=np.float64)
    shown = []
    for code, label in enumerate(groups.labels):
        rows = groups.codes == code
        measure = measure_sample(score[rows], weight[rows]).measure
        density, _ = np.histogram(score[rows], bins, weights=weight[rows], density=True)
        selected = float("nan") if threshold is None else float(measure.mass[measure.atoms >= threshold].sum())
        share = float(weight[rows].sum() / weight[groups.codes >= 0].sum())
        shown.append(
            GroupDistribution(format_label(label), share, density, measure.atoms, np.cumsum(measure.mass), selected)
        )
    return DistributionsInfo(title, bins, tuple(shown), threshold)


def plot_distributions(infos: Sequence[DistributionsInfo], subtitles: Mapping[str, str] | None = None) -> "Figure":
    """Draw the groups' densities, one panel per model.

    Parameters
    ----------
    infos : sequence of DistributionsInfo
        One per panel, on the same bins.
    subtitles : mapping, optional
        A second line for panels by title.
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.4 * len(infos), 3.9), layout="constrained", dpi=150)
    panels = figure.subplots(1, len(infos), sharey=True, squeeze=False)[0]
    for panel, info in zip(panels, infos, strict=True):
        for group, colour in zip(info.groups, PALETTE * len(info.groups), strict=False):
            selected = "" if info.threshold is None else f": {100 * group.selected:.1f}% selected"
            panel.stairs(group.density, info.edges, fill=True, alpha=0.25, color=colour)
            panel.stairs(group.density, info.edges, linewidth=1.8, color=colour, label=f"{group.label}{selected}")
        if info.threshold is not None:
            panel.axvline(info.threshold, color="0.35", linewidth=1, linestyle=(0, (4, 3)))
        lines = [info.title, (subtitles or {}).get(info.title, "")]
        panel.set_title("\n".join(line for line in lines if line), fontsize=11, loc="left")
        panel.set_xlabel("score")
        panel.set_xlim(info.edges[0], info.edges[-1])
        panel.set_yticks([])
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.legend(frameon=False, fontsize=10)
    panels[0].set_ylabel("density")
    return figure
