"""ROC and precision-recall curves, one line per group."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn import metrics as sklearn_metrics

from otfairboost.metrics.inputs import Floats
from otfairboost.plots.rows import GroupRows, read_groups
from otfairboost.plots.style import MUTED, finish, line_styles, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
Traced = tuple[Floats, Floats, float, Callable[[Any], Point | None]]
"""A curve's x and y, its area, and where the rows that a threshold selects put the group."""
Trace = Callable[[Floats, Floats, Floats], Traced]


class GroupCurve(NamedTuple):
    """One group's curve.

    Attributes
    ----------
    label : str
    x, y : arrays of shape (n_points,)
    area : float
        ROC AUC, or average precision.
    operating_point : (float, float) or None
        Where the threshold puts the group; None without a threshold.
    base_rate : float
        Share of positives, which is the precision of a model that knows nothing.
    """

    label: str
    x: Floats
    y: Floats
    area: float
    operating_point: tuple[float, float] | None
    base_rate: float


class CurvesInfo(NamedTuple):
    """Curves of all groups that have both labels; ``left_out`` names the others."""

    groups: tuple[GroupCurve, ...]
    left_out: tuple[str, ...]
    threshold: float | None


def roc_info(
    y_true: Any,
    scores: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = 0.5,
    pos_label: Any = 1,
) -> CurvesInfo:
    """Return each group's ROC curve: false positive rate against true positive rate over all thresholds.

    Parameters
    ----------
    y_true, scores : array-like of shape (n_rows,)
        Labels, and the positive class's scores.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        The group of each row.
    sample_weight : array-like of shape (n_rows,), optional
    threshold : float or None, default=0.5
        Score from which on a row is selected; marked on the curves.
    pos_label : scalar, default=1
    """
    rows = read_groups(y_true, scores, sensitive_features, sample_weight, pos_label=pos_label)
    return _curves(rows, threshold, _roc)


def precision_recall_info(
    y_true: Any,
    scores: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = 0.5,
    pos_label: Any = 1,
) -> CurvesInfo:
    """Return each group's curve of recall against precision; parameters are those of :func:`roc_info`."""
    rows = read_groups(y_true, scores, sensitive_features, sample_weight, pos_label=pos_label)
    return _curves(rows, threshold, _precision_recall)


def plot_roc(info: CurvesInfo, ax: "Axes | None" = None) -> "Axes":
    """Draw ROC curves; dots are where the threshold puts each group."""
    panel = new_axes() if ax is None else ax
    panel.plot([0, 1], [0, 1], color="0.75", linewidth=1)
    _draw(panel, info, "AUC", "post")
    panel.set_aspect("equal")
    return finish(panel, xlabel="false positive rate", ylabel="true positive rate")


def plot_precision_recall(info: CurvesInfo, ax: "Axes | None" = None) -> "Axes":
    """Draw precision-recall curves; dots are where the threshold puts each group."""
    panel = new_axes() if ax is None else ax
    _draw(panel, info, "average precision", "pre")
    return finish(panel, xlabel="recall", ylabel="precision")


def _curves(rows: Iterable[GroupRows], threshold: float | None, trace: Trace) -> CurvesInfo:
    """Trace the curve of every group that has both labels."""
    groups, left_out = [], []
    for label, y, score, weight in rows:
        if y is None or y.min() == y.max():
            left_out.append(label)
            continue
        x, height, area, point_at = trace(y, score, weight)
        point = None if threshold is None else point_at(score >= threshold)
        groups.append(GroupCurve(label, x, height, area, point, _share(y == 1, weight)))
    return CurvesInfo(tuple(groups), tuple(left_out), threshold)


def _roc(y: Floats, score: Floats, weight: Floats) -> Traced:
    fpr, tpr, _ = sklearn_metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=True)
    area = float(sklearn_metrics.roc_auc_score(y, score, sample_weight=weight))

    def point_at(selected: Any) -> Point:
        return _share(selected, weight * (y == 0)), _share(selected, weight * (y == 1))

    return fpr, tpr, area, point_at


def _precision_recall(y: Floats, score: Floats, weight: Floats) -> Traced:
    precision, recall, _ = sklearn_metrics.precision_recall_curve(
        y, score, sample_weight=weight, drop_intermediate=True
    )
    area = float(sklearn_metrics.average_precision_score(y, score, sample_weight=weight))

    def point_at(selected: Any) -> Point | None:
        if not selected.any():  # no precision without a decision
            return None
        return _share(selected, weight * (y == 1)), _share(y == 1, weight * selected)

    return recall, precision, area, point_at


def _draw(panel: "Axes", info: CurvesInfo, area: str, where: str) -> None:
    for group, style in zip(info.groups, line_styles(len(info.groups)), strict=True):
        label = f"{group.label}: {area} {group.area:.3f}"
        if where == "post":
            panel.plot(group.x, group.y, linewidth=1.8, label=label, **style)
        else:
            panel.step(group.x, group.y, where="post", linewidth=1.8, label=label, **style)
        if group.operating_point is not None:
            panel.plot(
                *group.operating_point, "o", markersize=7, color=style["color"], markeredgecolor="white", zorder=3
            )
    if info.left_out:
        panel.plot([], [], " ", label=f"without both labels: {', '.join(info.left_out)}")
    panel.set_xlim(-0.01, 1.01)
    panel.set_ylim(-0.01, 1.02)
    panel.tick_params(colors=MUTED)


def _share(member: Any, weight: Floats) -> float:
    """Return the share of the weight that members have; NaN if there is none."""
    total = float(weight.sum())
    return float(np.sum(weight[member]) / total) if total > 0 else float("nan")
