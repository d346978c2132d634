"""``otfairboost frontier``: many weights, their numbers, and the page to discuss them with."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from otfairboost.cli import options
from otfairboost.cli.running import check_outputs, messages, print_json, progress_bar, results
from otfairboost.report.measures import NAMES

if TYPE_CHECKING:
    from otfairboost.report import Report
    from otfairboost.selection import FairnessFrontier, FrontierPoint


def frontier(
    data: options.DataFile,
    target: options.Target,
    sensitive: options.Sensitive,
    output: Annotated[Path, typer.Option(help="Folder for table, picture and page.")] = Path("frontier"),
    weights: Annotated[str | None, typer.Option(help="Such as 0,1,5,20; default: 20 weights up to 50.")] = None,
    max_gap: Annotated[float | None, typer.Option(min=0.0, help="Choose the best model with at most this gap.")] = None,
    cv: Annotated[int, typer.Option(help="Number of folds.")] = 5,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Accuracy and fairness",
    fairness: options.Fairness = "demographic_parity",
    task: options.Task = "auto",
    positive: options.Positive = None,
    threshold: options.Threshold = None,
    drop: options.Drop = None,
    keep_sensitive: options.KeepSensitive = False,
    param: options.Parameter = None,
    storage: Annotated[
        Path | None, typer.Option(help="File that keeps finished fits; an interrupted run goes on from it.")
    ] = None,
    random_state: options.Seed = 0,
    n_jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train a path of fairness weights on folds; write all numbers, a picture and the report page.

    For example:

    otfairboost frontier loans.csv --target granted --sensitive sex --max-gap 0.05

    otfairboost frontier loans.csv --target granted --sensitive sex --weights 0,0.5,1,2,5,10,20 --cv 3
    """
    from otfairboost.plots.frontier import fitted_frontier_info, plot_frontier
    from otfairboost.report import frontier_report
    from otfairboost.selection import FairnessFrontier
    from otfairboost.workflow import read_table, read_training_rows
    from otfairboost.workflow.training import make_estimator

    files = {name: output / name for name in ("frontier.csv", "frontier.png", "report.html")}
    check_outputs(list(files.values()), force)
    parameters = options.read_parameters(
        param, fairness=fairness, decision_threshold=threshold, random_state=random_state
    )
    path = options.read_weights(weights)
    rows = read_training_rows(
        read_table(data),
        target=target,
        sensitive=options.read_columns(sensitive),
        drop=options.read_columns(drop),
        keep_sensitive=keep_sensitive,
        task=task,
        positive=positive,
    )
    estimator = make_estimator(rows.target.task, parameters)
    with progress_bar("fits", quiet=as_json) as report:
        fitted = FairnessFrontier(estimator, weights=path, cv=cv, n_jobs=n_jobs, storage=storage, progress=report).fit(
            rows.X, rows.target.values, sensitive_features=rows.group_labels, **rows.fit_arguments
        )
    point, reason = _choose(fitted, max_gap)
    page = frontier_report(
        fitted,
        chosen=point,
        title=title,
        reason=reason,
        sensitive_name=" & ".join(rows.sensitive),
        target_name=rows.target_name,
        details={"Data": {key: value for key, value in rows.description.items() if key != "columns"}},
    )
    figure: Any = plot_frontier(fitted_frontier_info(fitted, chosen=point.fairness_weight)).figure
    _write(fitted, figure, page, files)
    _print(fitted, point, reason, files, as_json)


def _choose(fitted: "FairnessFrontier", max_gap: float | None) -> "tuple[FrontierPoint, str]":
    if max_gap is None:
        return fitted.best(), "Best trade-off of 75% performance and 25% fairness, on the mean over folds."
    reason = f"Best performance among the models whose gap is at most {100 * max_gap:g} points on the mean over folds."
    return fitted.select(max_gap=max_gap), reason


def _write(fitted: "FairnessFrontier", figure: Any, page: "Report", files: dict[str, Path]) -> None:
    """Write all files, or none."""
    from otfairboost.files import replacing
    from otfairboost.report import render_report

    with ExitStack() as stack:
        table, picture, html = (stack.enter_context(replacing(path)) for path in files.values())
        fitted.table_.to_csv(table, index=False)
        figure.savefig(picture)
        html.write_text(render_report(page), encoding="utf-8")


def _print(
    fitted: "FairnessFrontier", chosen: "FrontierPoint", reason: str, files: dict[str, Path], as_json: bool
) -> None:
    points = fitted.points()
    if as_json:
        print_json(
            {
                "points": [point._asdict() for point in points],
                "chosen": {"fairness_weight": chosen.fairness_weight, "reason": reason},
                "files": {name: str(path) for name, path in files.items()},
            }
        )
        return
    table = Table(title=reason)
    table.add_column("weight", justify="right")
    for name in fitted.metrics_:
        table.add_column(NAMES[name].short if name in NAMES else name.replace("_", " "), justify="right")
    for point in points:
        row = [f"{point.fairness_weight:g}", *(f"{point.metrics[name]:.4f}" for name in fitted.metrics_)]
        table.add_row(*row, style="bold" if point.position == chosen.position else None)
    results().print(table)
    results().print(f"chosen: fairness_weight {chosen.fairness_weight:g}")
    messages().print("\n".join(f"{name}: {path}" for name, path in files.items()), markup=False)
