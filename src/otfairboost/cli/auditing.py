"""What ``evaluate`` and ``report`` share: which models to measure on which rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otfairboost.cli import options

if TYPE_CHECKING:
    from otfairboost.report import Report

Sensitive = Annotated[
    list[str] | None,
    typer.Option(help="Column that makes the groups; repeat it for intersections. Default: the card's."),
]
Target = Annotated[
    str | None, typer.Option(help="Column of the truth; default: the card's. Without one: selection rates alone.")
]
Scores = Annotated[
    list[str] | None, typer.Option(help="Column of scores, from any model; may be repeated.", show_default=False)
]
Models = Annotated[
    list[Path] | None, typer.Option("--model", help="Model file that train wrote; may be repeated.", show_default=False)
]
Fairness = Annotated[str | None, typer.Option(help="Criterion: see train. Default: the card's, or demographic_parity.")]


def audit(
    data: Path,
    *,
    target: str | None,
    sensitive: list[str] | None,
    scores: list[str] | None,
    models: list[Path] | None,
    fairness: str | None,
    task: str,
    positive: str | None,
    threshold: float | None,
    **keywords: Any,
) -> "Report":
    """Return the report; what is not said is taken from the first model's card."""
    from otfairboost.workflow import load_model, read_audit, read_table

    saved = {str(path): load_model(path) for path in models or []}
    groups = options.read_columns(sensitive)
    if saved:
        card = next(iter(saved.values())).card
        target = card.target if target is None else target
        groups = groups or list(card.sensitive)
        fairness = fairness or str(card.parameters.get("fairness", "demographic_parity"))
        threshold = card.threshold if threshold is None else threshold
        task = card.task if task == "auto" else task
        if positive is None and card.positive is not None and target == card.target:
            positive = str(card.positive)
    if not groups:
        raise ValueError("--sensitive is missing; name the column that makes the groups")
    text = [name for model in saved.values() for name in model.text_columns]
    return read_audit(
        read_table(data, text=text),
        sensitive=groups,
        target=target,
        scores=options.read_columns(scores),
        models=saved,
        task=task,
        positive=positive,
        fairness=fairness or "demographic_parity",
        threshold=threshold,
        **keywords,
    )
