"""``otfairboost predict``: scores from a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from otfairboost.cli import options
from otfairboost.cli.running import check_outputs, messages, print_json


def predict(
    model: Annotated[Path, typer.Argument(help="Model file that train wrote.", show_default=False)],
    data: options.DataFile,
    output: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")] = Path("scores.csv"),
    column: Annotated[str, typer.Option(help="Name of the column of scores.")] = "score",
    only_scores: Annotated[bool, typer.Option("--only-scores", help="Leave the columns of the input out.")] = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Score a table with a saved model; the sensitive columns are not needed.

    Example: otfairboost predict model.txt applicants.csv --output scores.csv
    """
    from otfairboost.workflow import load_model, read_table, write_table
    from otfairboost.workflow.tables import check_output_format

    check_output_format(output)
    check_outputs([output], force)
    saved = load_model(model)
    table = read_table(data, text=saved.text_columns)
    scored = table.frame[[]].copy() if only_scores else table.frame.copy()
    added = [column] if saved.card.threshold is None else [column, f"{column}_selected"]
    taken = [name for name in added if name in scored.columns]
    if taken:
        raise ValueError(f"{data} has a column {taken[0]!r} already; give another name with --column")
    scored[column] = saved.score(table)
    if saved.card.threshold is not None:
        scored[f"{column}_selected"] = (scored[column] >= saved.card.threshold).astype(int)
    write_table(scored, output)
    if as_json:
        print_json({"output": str(output), "n_rows": len(scored), "columns": added})
    else:
        messages().print(f"{len(scored):,} scores: {output}", markup=False)
