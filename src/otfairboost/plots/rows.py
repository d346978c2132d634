"""Rows read once for every plot that compares groups."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from otfairboost.groups import format_label
from otfairboost.metrics.inputs import Floats, read_floats, read_labels, read_rows


class GroupRows(NamedTuple):
    """The rows of one group: its name, targets (None if not given), scores and weights."""

    label: str
    target: Floats | None
    score: Floats
    weight: Floats


def read_groups(
    y_true: Any, scores: Any, sensitive_features: Any, sample_weight: Any = None, *, pos_label: Any = None
) -> Iterator[GroupRows]:
    """Yield the rows of each group.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
    scores : array-like of shape (n_rows,)
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Rows where it is missing are left out. One group is enough.
    sample_weight : array-like of shape (n_rows,), optional
        Rows of weight 0 are left out. Relative to the largest.
    pos_label : scalar, optional
        If given, targets are 1 where ``y_true`` is this label and 0 where it is the other one.
    """
    score = read_floats("scores", scores)
    rows = read_rows(y_true, len(score), sensitive_features, sample_weight, min_groups=1)
    target = None
    if y_true is not None and pos_label is not None:
        target = read_labels("y_true", y_true, pos_label)[0].astype(np.float64)[rows.counted]
    elif y_true is not None:
        target = read_floats("y_true", y_true)[rows.counted]
    score = score[rows.counted]
    for code, label in enumerate(rows.labels):
        member = rows.codes == code
        yield GroupRows(
            format_label(label), None if target is None else target[member], score[member], rows.weight[member]
        )
