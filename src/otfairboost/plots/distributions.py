"""Score distributions of groups, side by side for several models."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from otfairboost.groups import encode_groups, format_label
from otfairboost.plots.style import MUTED, PALETTE, finish, line_styles, new_figure
from otfairboost.transport import measure_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Float = NDArray[np.float64]


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
    figure = new_figure(len(infos))
    panels = figure.subplots(1, len(infos), sharey=True, squeeze=False)[0]
    for panel, info in zip(panels, infos, strict=True):
        for group, colour in zip(info.groups, PALETTE * len(info.groups), strict=False):
            selected = "" if info.threshold is None else f": {100 * group.selected:.1f}% selected"
            panel.stairs(group.density, info.edges, fill=True, alpha=0.25, color=colour)
            panel.stairs(group.density, info.edges, linewidth=1.8, color=colour, label=f"{group.label}{selected}")
        if info.threshold is not None:
            panel.axvline(info.threshold, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        lines = [info.title, (subtitles or {}).get(info.title, "")]
        panel.set_title("\n".join(line for line in lines if line), fontsize=11, loc="left")
        panel.set_xlabel("score")
        panel.set_xlim(info.edges[0], info.edges[-1])
        panel.set_yticks([])
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.legend(frameon=False, fontsize=10)
    panels[0].set_ylabel("density")
    return figure


def plot_cdfs(infos: Sequence[DistributionsInfo], subtitles: Mapping[str, str] | None = None) -> "Figure":
    """Draw the share of each group at or below every score, one panel per model.

    Parameters
    ----------
    infos : sequence of DistributionsInfo
        One per panel.
    subtitles : mapping, optional
        A second line for panels by title.

    Notes
    -----
    The vertical distance of two curves at the threshold is the demographic parity difference; the area between
    them is the Wasserstein-1 distance.
    """
    figure = new_figure(len(infos))
    panels = figure.subplots(1, len(infos), sharey=True, squeeze=False)[0]
    for panel, info in zip(panels, infos, strict=True):
        _draw_cdfs(panel, info)
        lines = [info.title, (subtitles or {}).get(info.title, "")]
        finish(panel, xlabel="score", title="\n".join(line for line in lines if line))
    panels[0].set_ylabel("share of the group at or below")
    return figure


def plot_by_iteration(infos: Sequence[DistributionsInfo]) -> "Figure":
    """Draw densities (above) and cumulative distributions (below) of the same rows as training goes on.

    Parameters
    ----------
    infos : sequence of DistributionsInfo
        One per column, on the same bins: from :func:`iterations_info`.
    """
    figure = new_figure(len(infos), width=3.1, height=2.5, n_rows=2)
    # Each density on its own scale: after the first tree all scores are nearly the same.
    above, below = figure.subplots(2, len(infos), sharex=True, squeeze=False)
    for dense, cumulative, info in zip(above, below, infos, strict=True):
        for group, colour in zip(info.groups, PALETTE * len(info.groups), strict=False):
            dense.stairs(group.density, info.edges, fill=True, alpha=0.25, color=colour)
            dense.stairs(group.density, info.edges, linewidth=1.5, color=colour)
        finish(dense, title=info.title, legend=False)
        dense.set_yticks([])
        _draw_cdfs(cumulative, info)
        finish(cumulative, xlabel="score", legend=cumulative is below[0])
    above[0].set_ylabel("density")
    below[0].set_ylabel("share at or below")
    return figure


def iterations_info(
    model: Any,
    X: Any,
    *,
    sensitive_features: Any,
    iterations: Sequence[int],
    sample_weight: ArrayLike | None = None,
    threshold: float | None = 0.5,
    edges: int = 50,
) -> list[DistributionsInfo]:
    """Return the groups' score distributions after some of a model's iterations.

    Parameters
    ----------
    model : FairLGBMClassifier or FairLGBMRegressor
        Fitted.
    X : array-like of shape (n_rows, n_features)
        The rows to score.
    sensitive_features, sample_weight, threshold
        As in :func:`distributions_info`; a regressor takes ``threshold=None``.
    iterations : sequence of int
        After how many trees to look, from 1 on.
    edges : int, default=50
        Number of bins, the same for all iterations.
    """
    booster = model.booster_
    n_trees = booster.current_iteration()
    wrong = [count for count in iterations if not 1 <= count <= n_trees]
    if wrong or not len(iterations):
        raise ValueError(f"iterations={list(iterations)!r} must be numbers from 1 to {n_trees}, the model's trees")
    scores = [np.asarray(booster.predict(X, num_iteration=count), dtype=np.float64) for count in iterations]
    low, high = min(one.min() for one in scores), max(one.max() for one in scores)
    if threshold is not None and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    return [
        distributions_info(
            score,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            threshold=threshold,
            title=f"{count} tree{'s' if count > 1 else ''}",
            edges=np.linspace(low, max(high, low + 1e-9), edges + 1),
        )
        for count, score in zip(iterations, scores, strict=True)
    ]


def _draw_cdfs(panel: "Axes", info: DistributionsInfo) -> None:
    for group, style in zip(info.groups, line_styles(len(info.groups)), strict=True):
        values = np.concatenate([info.edges[:1], group.values, info.edges[-1:]])
        shares = np.concatenate([[0.0], group.cdf, [1.0]])
        panel.step(values, shares, where="post", linewidth=1.8, label=group.label, **style)
    if info.threshold is not None:
        panel.axvline(info.threshold, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    panel.set_xlim(info.edges[0], info.edges[-1])
    panel.set_ylim(0, 1)
