"""Measuring any models on a table: saved ones, or a column of scores from whatever made it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from otfairboost.groups import format_label
from otfairboost.report import Candidate, Report, build_report
from otfairboost.workflow.model import SavedModel
from otfairboost.workflow.tables import Table
from otfairboost.workflow.target import read_target
from otfairboost.workflow.training import read_groups


def read_audit(
    table: Table,
    *,
    sensitive: Sequence[str],
    target: str | None = None,
    scores: Sequence[str] = (),
    models: Mapping[str, SavedModel] | None = None,
    task: str = "auto",
    positive: str | None = None,
    fairness: str = "demographic_parity",
    threshold: float | None = None,
    **keywords: Any,
) -> Report:
    """Return the report of models on a table.

    Parameters
    ----------
    table : Table
    sensitive : sequence of str
        Columns that make the groups.
    target : str, optional
        The target column; without it there are selection rates alone.
    scores : sequence of str
        Columns that hold scores, of any models.
    models : mapping of str to SavedModel, optional
        Models to score the table with, by name.
    task, positive
        As in :func:`otfairboost.workflow.target.read_target`.
    fairness, threshold, **keywords
        As in :func:`otfairboost.report.build_report`.
    """
    groups = read_groups(table, sensitive)
    candidates = [Candidate(name, _read_scores(table, name)) for name in scores]
    for name, model in (models or {}).items():
        weight = (model.card.search or model.card.parameters).get("fairness_weight")
        candidates.append(Candidate(Path(name).stem, model.score(table), weight, model.card.parameters))
    if not candidates:
        raise ValueError("nothing to measure: name a column of scores, or a model")
    y = None
    if target is not None:
        column = read_target(table.column(target, "target"), task=task, positive=positive)
        y, task = column.values, column.task
    elif task == "auto":
        task = "classification"
    details = {
        "Data": {
            "file": table.path.name,
            "SHA-256": table.sha256,
            "rows": f"{len(table.frame):,}",
            "target": target or "none",
            "groups by": ", ".join(sensitive),
        }
    }
    labels = np.array([*map(format_label, groups.labels), None], dtype=object)[groups.codes]
    return build_report(
        candidates,
        y,
        sensitive_features=labels,
        task=task,
        fairness=fairness,
        threshold=threshold,
        sensitive_name=" & ".join(sensitive),
        target_name=target or "target",
        details=details,
        **keywords,
    )


def _read_scores(table: Table, name: str) -> Any:
    column = table.column(name, "scores")
    try:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"scores: column {name!r} of {table.path} is not numbers; give a column of scores") from None
    n_missing = int(np.isnan(values).sum())
    if n_missing:
        raise ValueError(f"scores: column {name!r} of {table.path} has {n_missing} missing values; drop these rows")
    return values
