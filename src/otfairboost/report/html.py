"""The report page: one HTML file without any reference to the outside.

Text of the user ends up in two places only: escaped in the markup, and as JSON whose ``<``, ``>`` and ``&`` are
written as escapes, which the page's script puts into text nodes. A content security policy allows that script, by its
hash, and nothing else.
"""

import base64
import hashlib
import html
import json
import math
import os
import re
from importlib import resources
from typing import Any

import numpy as np

from otfairboost.files import replacing
from otfairboost.report.data import GroupResult, ModelResult, Report
from otfairboost.report.measures import NAMES, Measure
from otfairboost.report.words import comparison, criterion_words, headline

_SCRIPTS = ("charts.js", "figures.js", "tradeoff.js", "groups.js", "page.js")


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page; an existing file is replaced once the new one is whole."""
    text = render_report(report)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render_report(report: Report) -> str:
    """Return the page."""
    script = "".join(_asset(name) for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "policy": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'",
        "title": html.escape(report.title),
        "created": html.escape(report.created),
        "n_rows": f"{report.n_rows:,}",
        "n_models": "one model" if len(report.models) == 1 else f"{len(report.models)} models",
        "sensitive": html.escape(report.sensitive_name),
        "criterion": html.escape(criterion_words(report)),
        "headline": html.escape(headline(report)),
        "comparison": html.escape(comparison(report)),
        "chosen": html.escape(report.models[report.chosen].name),
        "reason": html.escape(report.reason or "No reason was recorded."),
        "groups": _groups_table(report),
        "details": "".join(_details_table(name, rows) for name, rows in report.details.items()),
        "style": _asset("style.css"),
        "data": encode_json(page_data(report)),
        "script": script,
    }
    # One pass: a text of the user that looks like a placeholder stays what it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("template.html"))


def encode_json(data: Any) -> str:
    """Return JSON that can stand inside a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def page_data(report: Report) -> dict[str, Any]:
    """Return what the page's script reads."""
    return {
        "task": report.task,
        "gap": report.gap,
        "performance": report.performance,
        "hasTarget": report.has_target,
        "hasLabels": report.has_target and report.task == "classification",
        "sensitive": report.sensitive_name,
        "target": report.target_name,
        "groups": [
            {"label": group.label, "rows": group.n_rows, "positive": group.n_positive or 0} for group in report.groups
        ],
        "measures": {
            key: {
                "label": NAMES[key].label,
                "short": NAMES[key].short,
                "kind": NAMES[key].kind,
                "greaterIsBetter": NAMES[key].greater_is_better,
                "inPoints": NAMES[key].in_points,
            }
            for key in report.models[0].measures
        },
        "thresholds": report.thresholds.tolist(),
        "threshold": report.threshold_index,
        "edges": [_short(edge, 8) for edge in report.edges],
        "models": [_model_data(model) for model in report.models],
        "chosen": report.chosen,
        "reference": report.reference,
        "z": report.z,
    }


def _model_data(model: ModelResult) -> dict[str, Any]:
    return {
        "name": model.name,
        "weight": model.fairness_weight,
        "parameters": list(model.parameters.items()),
        "measures": {key: _measure_data(measure) for key, measure in model.measures.items()},
        "groups": [_group_data(result) for result in model.groups],
    }


def _group_data(result: GroupResult) -> dict[str, Any]:
    data = {
        "density": [_short(value) for value in result.density],
        "negative": result.selected_negative.tolist(),
        "positive": result.selected_positive.tolist(),
        "mean": result.mean_score,
    }
    if result.mean_absolute_error is not None:
        data["error"] = _measure_data(result.mean_absolute_error)
    if result.calibration is not None:
        _, *columns = result.calibration
        data["calibration"] = np.transpose([[_short(value) for value in column] for column in columns]).tolist()
    return data


def _measure_data(measure: Measure) -> list[float | None]:
    return [None if value is None or not math.isfinite(value) else float(value) for value in measure]


def _short(value: float, digits: int = 5) -> float:
    """Return a number with a few significant digits: what a chart can show."""
    return float(f"{value:.{digits}g}")


def _groups_table(report: Report) -> str:
    with_labels = report.groups[0].n_positive is not None
    head = [report.sensitive_name, "rows", "share"]
    if with_labels:
        head.append(f"positive ({report.target_name})")
    rows = []
    for group in report.groups:
        cells = [group.label, f"{group.n_rows:,}", f"{100 * group.n_rows / report.n_rows:.1f}%"]
        if with_labels:
            cells.append(f"{100 * (group.n_positive or 0) / group.n_rows:.1f}%")
        rows.append(cells)
    note = ""
    if report.n_without_group:
        note = f"<p class='note'>{report.n_without_group:,} rows without a group are left out.</p>"
    return _table(head, rows) + note


def _details_table(name: str, rows: dict[str, str]) -> str:
    body = "".join(
        f"<tr><th scope='row'>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>" for key, value in rows.items()
    )
    return f"<div class='detail'><h3>{html.escape(name)}</h3><table class='pairs'><tbody>{body}</tbody></table></div>"


def _table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + f"<th scope='row'>{html.escape(first)}</th>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _asset(name: str) -> str:
    return resources.files("otfairboost.report").joinpath("page", name).read_text(encoding="utf-8")
