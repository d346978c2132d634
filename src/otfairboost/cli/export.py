"""``otfairboost export``: a saved model for other runtimes."""

from pathlib import Path
from typing import Annotated

import typer

from otfairboost.cli import options
from otfairboost.cli.running import check_outputs, messages, print_json


def export(
    model: Annotated[Path, typer.Argument(help="Model file that train wrote.", show_default=False)],
    output: Annotated[Path | None, typer.Option(help="ONNX file to write; default: beside the model.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Convert a saved model to ONNX; the features' names and categories go along in its metadata.

    Example: otfairboost export model.txt --output model.onnx
    """
    from otfairboost.boosters.onnx import to_onnx
    from otfairboost.files import replacing
    from otfairboost.workflow import load_model

    file = model.with_suffix(".onnx") if output is None else output
    check_outputs([file], force)
    saved = load_model(model)
    features = [{"name": column.name, "categories": column.categories} for column in saved.card.features]
    content = to_onnx(saved.booster, metadata={"features": features, "target": saved.card.target})
    with replacing(file) as temporary:
        temporary.write_bytes(content)
    if as_json:
        print_json({"output": str(file), "features": features})
    else:
        messages().print(f"ONNX model: {file}", markup=False)
