"""What the report page shows, as plain data: no row of the input is in it, only counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.metrics.inputs import Floats
from otfairboost.metrics.rate_intervals import LEVEL, normal_quantile
from otfairboost.plots.calibration import GroupCalibration
from otfairboost.report.measures import Measure


class Candidate(NamedTuple):
    """A model to show: its name and its scores on the rows of the report.

    Attributes
    ----------
    name : str
    scores : array-like of shape (n_rows,)
        For rows the model was not trained on: probabilities, predictions, or scores of any scale.
    fairness_weight : float, optional
        The dial it was trained with.
    parameters : mapping
        More to show about it.
    """

    name: str
    scores: Any
    fairness_weight: float | None = None
    parameters: Mapping[str, Any] = {}


class GroupSummary(NamedTuple):
    """A group in the data: its rows, and how many of them are positive (None without labels)."""

    label: str
    n_rows: int
    n_positive: int | None


class GroupResult(NamedTuple):
    """One model's scores in one group.

    Attributes
    ----------
    density : array of shape (n_bins,)
        Over the bins of the report.
    selected_negative, selected_positive : int arrays of shape (n_thresholds,)
        Rows of each label with a score at or above each threshold; without labels all rows are in the first.
    mean_score : float
    mean_absolute_error : Measure or None
        In regression.
    calibration : GroupCalibration or None
        Where there is a target and scores are on its scale.
    """

    density: Floats
    selected_negative: NDArray[np.int64]
    selected_positive: NDArray[np.int64]
    mean_score: float
    mean_absolute_error: Measure | None
    calibration: GroupCalibration | None


class ModelResult(NamedTuple):
    """One model on the rows of the report."""

    name: str
    fairness_weight: float | None
    parameters: dict[str, str]
    measures: dict[str, Measure]
    groups: tuple[GroupResult, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything the page shows.

    Attributes
    ----------
    title : str
    created : str
        Date and time, UTC.
    task : {"classification", "regression"}
    fairness : str
        The criterion.
    gap, performance : str
        The measures that the trade-off is drawn in.
    has_target : bool
        Whether the truth is known, and so true and false positive rates.
    n_rows, n_without_group : int
        Rows in the report, and rows left out because their sensitive feature is missing.
    groups : tuple of GroupSummary
    thresholds : array
        What a reader can choose from.
    threshold : float
        The one in use.
    edges : array
        Bins of the densities.
    models : tuple of ModelResult
    chosen, reference : int, int or None
        The model chosen, and the one it is compared with.
    reason : str
        Why it was chosen.
    sensitive_name, target_name : str
        What the groups and the target are called.
    details : dict of str to dict
        Sections of names and values: data, parameters, versions.
    z : float
        Normal quantile of the intervals.
    """

    title: str
    created: str
    task: str
    fairness: str
    gap: str
    performance: str
    has_target: bool
    n_rows: int
    n_without_group: int
    groups: tuple[GroupSummary, ...]
    thresholds: Floats
    threshold: float
    edges: Floats
    models: tuple[ModelResult, ...]
    chosen: int
    reference: int | None
    reason: str
    sensitive_name: str
    target_name: str
    details: dict[str, dict[str, str]] = field(default_factory=dict)
    z: float = normal_quantile(LEVEL)

    @property
    def threshold_index(self) -> int:
        """Return where the threshold in use stands among all."""
        return int(np.flatnonzero(self.thresholds == self.threshold)[0])
