"""Calibration of each group: whether a score means the same for everyone."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from otfairboost.metrics.inputs import Floats
from otfairboost.metrics.rate_intervals import mean_interval, wilson_interval
from otfairboost.plots.rows import read_groups
from otfairboost.plots.style import finish, line_styles, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GroupCalibration(NamedTuple):
    """One group's bins of about as many rows each, by score.

    Attributes
    ----------
    label : str
    predicted : array of shape (n_bins,)
        Mean score.
    observed, low, high : arrays of shape (n_bins,)
        Mean target, and its 95% interval.
    n_rows : array of shape (n_bins,)
        Rows.
    """

    label: str
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    n_rows: Floats


class CalibrationInfo(NamedTuple):
    """Calibration of all groups."""

    groups: tuple[GroupCalibration, ...]


def calibration_info(
    y_true: Any, scores: Any, *, sensitive_features: Any, n_bins: int = 10, pos_label: Any = 1
) -> CalibrationInfo:
    """Return observed against predicted by group.

    Parameters
    ----------
    y_true, scores : array-like of shape (n_rows,)
        Labels and probabilities, or targets and predictions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        The group of each row.
    n_bins : int, default=10
        Bins of each group; fewer where it has few distinct scores or fewer than five rows a bin.
    pos_label : scalar or None, default=1
        The label that counts as 1; None for a continuous target.
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} must be an integer of at least 1")
    groups = []
    for label, y, score, _ in read_groups(y_true, scores, sensitive_features, pos_label=pos_label):
        assert y is not None
        bins = [rows for rows in _bins(score, min(n_bins, max(1, len(score) // 5))) if len(rows)]
        observed = [y[rows] for rows in bins]
        if pos_label is None:
            ends = [mean_interval(values) for values in observed]
        else:
            ends = [wilson_interval(values.sum(), len(values)) for values in observed]
        groups.append(
            GroupCalibration(
                label,
                np.array([score[rows].mean() for rows in bins]),
                np.array([values.mean() for values in observed]),
                np.array([low for low, _ in ends]),
                np.array([high for _, high in ends]),
                np.array([len(rows) for rows in bins], dtype=np.float64),
            )
        )
    return CalibrationInfo(tuple(groups))


def _bins(score: Floats, n_bins: int) -> list[Any]:
    """Return the rows of each bin; equal scores stay together."""
    edges = np.unique(np.quantile(score, np.arange(1, n_bins) / n_bins))
    codes = np.searchsorted(edges, score, side="right")
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, len(edges) + 1)))


def plot_calibration(info: CalibrationInfo, ax: "Axes | None" = None) -> "Axes":
    """Draw calibration curves; on the diagonal, what is predicted is what happens."""
    panel = new_axes() if ax is None else ax
    ends = [end for group in info.groups for values in (group.predicted, group.observed) for end in values]
    panel.plot([min(ends), max(ends)], [min(ends), max(ends)], color="0.75", linewidth=1)
    for group, style in zip(info.groups, line_styles(len(info.groups)), strict=True):
        below, above = group.observed - group.low, group.high - group.observed
        panel.errorbar(
            group.predicted, group.observed, np.clip([below, above], 0, None), fmt="o", markersize=4, linewidth=1.5,
            elinewidth=0.8, capsize=2, label=group.label, **style,
        )  # fmt: skip
    return finish(panel, xlabel="mean score", ylabel="what happened")
