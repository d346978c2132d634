"""``otfairboost report``: the page about any model."""

from pathlib import Path
from typing import Annotated

import typer

from otfairboost.cli import auditing, options
from otfairboost.cli.running import check_outputs, messages, print_json


def report(
    data: options.DataFile,
    target: auditing.Target = None,
    sensitive: auditing.Sensitive = None,
    model: auditing.Models = None,
    scores: auditing.Scores = None,
    output: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Fairness report",
    chosen: Annotated[str | None, typer.Option(help="The model that was chosen, if there are several.")] = None,
    reason: Annotated[str, typer.Option(help="Why it was chosen.")] = "",
    fairness: auditing.Fairness = None,
    task: options.Task = "auto",
    positive: options.Positive = None,
    threshold: options.Threshold = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write one HTML page about models on a table, readable without a data scientist and without a network.

    For example:

    otfairboost report test.csv --model model.txt --title "Loans 2024"

    otfairboost report decisions.csv --scores score --target repaid --sensitive sex

    otfairboost report decisions.csv --scores old --scores new --chosen new --target repaid --sensitive sex
    """
    from otfairboost.report import summarise, write_report

    check_outputs([output], force)
    names = [*options.read_columns(scores), *(path.stem for path in model or [])]
    if chosen is not None and chosen not in names:
        raise ValueError(f"--chosen {chosen} is none of the models {', '.join(names) or '(none given)'}")
    made = auditing.audit(
        data, target=target, sensitive=sensitive, scores=scores, models=model, fairness=fairness, task=task,
        positive=positive, threshold=threshold, title=title, reason=reason,
        chosen=None if chosen is None else names.index(chosen),
    )  # fmt: skip
    write_report(made, output)
    if as_json:
        print_json({"output": str(output), "chosen": summarise(made)})
    else:
        messages().print(f"page: {output}", markup=False)
