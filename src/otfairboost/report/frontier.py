"""The report of a fitted frontier: one model per weight, on the rows that were held out."""

from typing import Any

import numpy as np

from otfairboost.groups import format_label
from otfairboost.report.build import build_report
from otfairboost.report.data import Candidate, Report


def frontier_report(frontier: Any, *, chosen: Any = None, threshold: float | None = None, **keywords: Any) -> Report:
    """Return the report of a frontier.

    Parameters
    ----------
    frontier : FairnessFrontier
        Fitted, with its predictions kept.
    chosen : float or FrontierPoint, optional
        The weight that was chosen; by default ``frontier.best()``.
    threshold : float, optional
        By default the estimator's ``decision_threshold``.
    **keywords
        Those of :func:`otfairboost.report.build_report` that say more: ``title``, ``reason``, ``sensitive_name``,
        ``target_name``, ``details``.

    Notes
    -----
    Figures are of all held-out rows together, so they differ a little from the frontier's means over folds. Rows are
    counted, not weighted.
    """
    if not hasattr(frontier, "predictions_"):
        raise ValueError("the report needs the held-out predictions; set keep_predictions=True and fit again")
    classification = frontier.held_out_.classes is not None
    if chosen is None:
        chosen = frontier.best()
        keywords.setdefault("reason", "Best trade-off of 75% performance and 25% fairness, on the mean over folds.")
    weight = float(getattr(chosen, "fairness_weight", chosen))
    known = np.flatnonzero(np.isfinite(frontier.predictions_).all(axis=1))
    weights = [float(frontier.weights_[i]) for i in known]
    if weight not in weights:
        raise ValueError(f"chosen={weight!r} is none of the frontier's weights {', '.join(f'{w:g}' for w in weights)}")
    parameters = {**frontier.estimator.get_params(deep=False)}
    shown = {name: value for name, value in parameters.items() if value is not None and name != "fairness_weight"}
    candidates = [
        Candidate(f"weight {frontier.weights_[i]:g}", frontier.predictions_[i], float(frontier.weights_[i]), shown)
        for i in known
    ]
    rows = frontier.held_out_
    labels = np.array([*map(format_label, rows.groups.labels), None], dtype=object)
    return build_report(
        candidates,
        rows.y,
        sensitive_features=labels[rows.groups.codes],
        task="classification" if classification else "regression",
        fairness=parameters["fairness"],
        threshold=parameters["decision_threshold"] if classification and threshold is None else threshold,
        chosen=weights.index(weight),
        **keywords,
    )
