"""``otfairboost train``: a plain LightGBM model and its card from a table."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from otfairboost.cli import options
from otfairboost.cli.running import check_outputs, messages, print_json, progress_bar, results
from otfairboost.cli.tables import summary_table
from otfairboost.weight_search import MAX_FITS


def train(
    data: options.DataFile,
    target: options.Target,
    sensitive: options.Sensitive,
    output: Annotated[Path, typer.Option(help="Model file; the card goes beside it.")] = Path("model.txt"),
    fairness: options.Fairness = "demographic_parity",
    fairness_weight: Annotated[
        float | None, typer.Option(min=0.0, help="The dial: 0 is plain LightGBM; default 5.", show_default=False)
    ] = None,
    max_gap: Annotated[
        float | None, typer.Option(min=0.0, help="Largest gap allowed, such as 0.02; finds the weight itself.")
    ] = None,
    task: options.Task = "auto",
    positive: options.Positive = None,
    threshold: options.Threshold = None,
    drop: options.Drop = None,
    keep_sensitive: options.KeepSensitive = False,
    param: options.Parameter = None,
    test_size: Annotated[float, typer.Option(help="Share of the rows to measure on; 0: train on all.")] = 0.25,
    random_state: options.Seed = 0,
    n_jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train a model from a table; write a plain LightGBM model and a JSON card.

    The card holds metrics on held-out rows, groups, parameters, versions and a fingerprint of the data.

    For example:

    otfairboost train loans.csv --target granted --sensitive sex

    otfairboost train loans.csv --target granted --sensitive sex --max-gap 0.05 --output fair.txt

    otfairboost train loans.parquet --target granted --sensitive sex --sensitive region --param num_leaves=63
    """
    from otfairboost.workflow import read_table, read_training_rows, save_model, train_model
    from otfairboost.workflow.card import card_path

    if fairness_weight is not None and max_gap is not None:
        raise ValueError("--max-gap finds the weight itself; leave --fairness-weight out")
    if output.name.endswith(".card.json"):
        raise ValueError(f"{output} is the name of a card; give the model's, such as model.txt")
    check_outputs([output, card_path(output)], force)
    # A model that misses its target must not end up in a file by accident.
    unreachable = None if max_gap is None else "raise"
    given = {
        "on_unreachable": unreachable,
        "fairness_weight": fairness_weight,
        "max_gap": max_gap,
        "decision_threshold": threshold,
        "n_jobs": n_jobs,
    }
    parameters = options.read_parameters(param, fairness=fairness, **given)
    rows = read_training_rows(
        read_table(data),
        target=target,
        sensitive=options.read_columns(sensitive),
        drop=options.read_columns(drop),
        keep_sensitive=keep_sensitive,
        task=task,
        positive=positive,
    )
    with progress_bar("training", quiet=as_json) as report:
        show = _report_rounds(report) if max_gap is None else _report_fits(report, parameters.get("gap_cv", 5))
        model = train_model(
            rows,
            parameters,
            test_size=test_size,
            random_state=random_state,
            callbacks=[show],
        )
    files = save_model(model, output)
    if as_json:
        print_json({"model": str(files[0]), "card": str(files[1]), "metrics": model.card.metrics})
        return
    if model.card.metrics is not None:
        results().print(summary_table(model.card.metrics, "Measured on held-out rows"))
    messages().print(f"model: {files[0]}\ncard: {files[1]}", markup=False)


def _report_fits(report: Callable[[int, int], None], folds: Any) -> Callable[[Any], None]:
    """Count the fits of a search: some weights on each fold, and one fit on all rows."""
    done = itertools.count(1)
    most = MAX_FITS * (folds if isinstance(folds, int) else 1) + 1

    def count(env: Any) -> None:
        if env.iteration + 1 == env.end_iteration:
            report(next(done), most)

    return count


def _report_rounds(report: Callable[[int, int], None]) -> Callable[[Any], None]:
    return lambda env: report(env.iteration - env.begin_iteration + 1, env.end_iteration - env.begin_iteration)
