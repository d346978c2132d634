"""Training from a table: read the rows, hold some out, fit, measure, write the card."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.boosters.lightgbm_parameters import is_parameter, parameter_names
from otfairboost.criteria import CRITERIA, WITHOUT_CONTROL
from otfairboost.estimators import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.estimators.held_out import split_rows
from otfairboost.extras import require
from otfairboost.groups import Groups, encode_groups, format_label
from otfairboost.report import build_report, summarise
from otfairboost.versions import versions
from otfairboost.workflow.card import ModelCard
from otfairboost.workflow.columns import (
    FeatureColumn,
    booster_names,
    categorical_positions,
    encode_columns,
    learn_columns,
)
from otfairboost.workflow.model import SavedModel
from otfairboost.workflow.tables import Table, check_columns
from otfairboost.workflow.target import TargetColumn, read_target

if TYPE_CHECKING:
    import pandas as pd


class TrainingRows(NamedTuple):
    """A table, read for training.

    Attributes
    ----------
    table : Table
    X : pandas.DataFrame of shape (n_rows, n_features)
        Numbers, under names that LightGBM accepts.
    features : tuple of FeatureColumn
    target : TargetColumn
    target_name : str
    sensitive : tuple of str
        Names of the columns that make the groups.
    groups : Groups
    """

    table: Table
    X: pd.DataFrame
    features: tuple[FeatureColumn, ...]
    target: TargetColumn
    target_name: str
    sensitive: tuple[str, ...]
    groups: Groups

    @property
    def group_labels(self) -> NDArray[Any]:
        """Return each row's group as text; None where it has none."""
        labels = np.array([*map(format_label, self.groups.labels), None], dtype=object)
        return labels[self.groups.codes]

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """Return what ``fit`` needs to know about the columns: which numbers are categories."""
        return {"categorical_feature": categorical_positions(self.features) or "auto"}

    @property
    def description(self) -> dict[str, Any]:
        """Return what a card or a report says about the data."""
        return {
            "file": self.table.path.name,
            "sha256": self.table.sha256,
            "n_rows": len(self.X),
            "columns": list(map(str, self.table.frame.columns)),
        }


def read_training_rows(
    table: Table,
    *,
    target: str,
    sensitive: Sequence[str],
    drop: Sequence[str] = (),
    keep_sensitive: bool = False,
    task: str = "auto",
    positive: str | None = None,
) -> TrainingRows:
    """Read features, target and groups from a table.

    Parameters
    ----------
    table : Table
    target : str
        Name of the target column.
    sensitive : sequence of str
        Columns that make the groups; several make intersections.
    drop : sequence of str
        Columns that are no features.
    keep_sensitive : bool, default=False
        Whether the sensitive columns are features as well; to predict, the model then needs them.
    task, positive
        As in :func:`otfairboost.workflow.target.read_target`.
    """
    column = read_target(table.column(target, "target"), task=task, positive=positive)
    if target in sensitive:
        raise ValueError(f"sensitive names {target}, which is the target; name the columns that make the groups")
    groups = read_groups(table, sensitive)
    check_columns(table, drop, "drop")
    left_out = {target, *drop, *(() if keep_sensitive else sensitive)}
    frame = table.frame[[name for name in table.frame.columns if name not in left_out]]
    if frame.shape[1] == 0:
        raise ValueError(f"{table.path} has no column left to learn from; drop fewer, or add some")
    features = learn_columns(frame)
    matrix = require("pandas", "cli").DataFrame(
        encode_columns(frame, features, table.path), columns=booster_names(features)
    )
    return TrainingRows(table, matrix, features, column, target, tuple(sensitive), groups)


def read_groups(table: Table, sensitive: Sequence[str]) -> Groups:
    """Return the groups that columns of a table make."""
    if not sensitive:
        raise ValueError("sensitive is missing; name at least one column that makes the groups")
    groups = encode_groups(table.columns(sensitive, "sensitive"), name=f"sensitive ({', '.join(sensitive)})")
    if len(groups.labels) < 2:
        found = ", ".join(map(format_label, groups.labels)) or "none"
        raise ValueError(f"sensitive ({', '.join(sensitive)}) has one group only ({found}); it needs at least two")
    return groups


def make_estimator(task: str, parameters: Mapping[str, Any]) -> Any:
    """Return the estimator of a task; raise for criteria that card and page have no measure of."""
    fairness = parameters.get("fairness", "demographic_parity")
    shown = sorted(WITHOUT_CONTROL) if task == "classification" else ["demographic_parity"]
    if fairness in CRITERIA and fairness not in shown:
        raise ValueError(
            f"fairness={fairness!r} has no place in cards and pages of {task}; allowed are "
            f"{', '.join(map(repr, shown))}, the others in Python"
        )
    kind = FairLGBMClassifier if task == "classification" else FairLGBMRegressor
    known = kind().get_params()
    for name in parameters:
        if name not in known and not is_parameter(name):
            near = difflib.get_close_matches(name, [*known, *parameter_names()], n=1)
            meant = f"; {near[0]} is" if near else ""
            raise ValueError(f"{name} is no parameter of LightGBM or of the penalty{meant}")
    return kind(**{"verbosity": -1, **parameters})


def train_model(
    rows: TrainingRows,
    parameters: Mapping[str, Any],
    *,
    test_size: float = 0.25,
    random_state: int = 0,
    callbacks: Sequence[Callable[..., None]] = (),
) -> SavedModel:
    """Fit on part of the rows, measure on the others.

    Parameters
    ----------
    rows : TrainingRows
    parameters : mapping
        Of the estimator: LightGBM's and ours.
    test_size : float, default=0.25
        Share of the rows to measure on, with its share of every group and label; 0 trains on all rows and the card
        has no figures.
    random_state : int, default=0
        Of the split and of the model.
    callbacks : sequence of callable
        LightGBM's, for example to show progress.
    """
    if not 0 <= test_size < 1:
        raise ValueError(f"test_size={test_size!r} must be at least 0 and below 1")
    estimator = make_estimator(rows.target.task, {"random_state": random_state, **parameters})
    train, test = _split(rows, test_size, random_state)
    labels = rows.group_labels
    estimator.fit(
        rows.X.iloc[train],
        rows.target.values[train],
        sensitive_features=labels[train],
        callbacks=list(callbacks) or None,
        **rows.fit_arguments,
    )
    classification = rows.target.task == "classification"
    metrics = None
    if len(test):
        report = build_report(
            np.asarray(estimator.booster_.predict(rows.X.iloc[test]), dtype=np.float64),
            rows.target.values[test],
            sensitive_features=labels[test],
            task=rows.target.task,
            fairness=estimator.fairness,
            threshold=estimator.decision_threshold if classification else None,
        )
        metrics = summarise(report)
    counts = np.bincount(rows.groups.codes[train][rows.groups.codes[train] >= 0], minlength=len(rows.groups.labels))
    card = ModelCard(
        created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        task=rows.target.task,
        target=rows.target_name,
        positive=rows.target.positive,
        features=rows.features,
        sensitive=rows.sensitive,
        groups=dict(zip(map(format_label, rows.groups.labels), counts.tolist(), strict=True)),
        threshold=estimator.decision_threshold if classification else None,
        parameters={name: value for name, value in estimator.get_params().items() if value is not None},
        metrics=metrics,
        search=describe_search(estimator),
        data=rows.description,
        versions=versions(),
    )
    return SavedModel(estimator.booster_, card)


def describe_search(estimator: Any) -> dict[str, Any] | None:
    """Return how a target gap was reached; None if none was asked for."""
    if getattr(estimator, "max_gap", None) is None:
        return None
    return {
        "max_gap": estimator.max_gap,
        "fairness_weight": estimator.fairness_weight_,
        "gap": estimator.gap_,
        "gap_interval": list(estimator.gap_interval_),
        # A weight at which training diverged has no finite gap; JSON has no infinity.
        "history": [
            {name: value if np.isfinite(value) else None for name, value in step._asdict().items()}
            for step in estimator.search_history_
        ],
    }


def _split(rows: TrainingRows, test_size: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to train on and those to measure on."""
    everything = np.arange(len(rows.X))
    if test_size == 0:
        return everything, everything[:0]
    classification = rows.target.task == "classification"
    n_folds = 20  # the share is a number of twentieths, each with its share of every group and label
    folds = split_rows(
        n_folds if len(rows.X) >= n_folds else 2, rows.target.values, rows.groups.codes,
        classification=classification, seed=seed,
    )  # fmt: skip
    count = min(max(1, round(test_size * len(folds))), len(folds) - 1)
    test = np.sort(np.concatenate([fold.test for fold in folds[:count]]))
    return np.setdiff1d(everything, test), test
