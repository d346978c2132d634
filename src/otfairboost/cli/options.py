"""Options that several commands have, and how their text is read."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from otfairboost.criteria import WITHOUT_CONTROL

DataFile = Annotated[Path, typer.Argument(help="CSV (also .gz) or Parquet file.", show_default=False)]
Target = Annotated[str, typer.Option(help="Column to predict.", show_default=False)]
Sensitive = Annotated[
    list[str],
    typer.Option(help="Column that makes the groups; repeat it for intersections.", show_default=False),
]
Fairness = Annotated[str, typer.Option(help=f"Criterion: {', '.join(sorted(WITHOUT_CONTROL))}.")]
Task = Annotated[str, typer.Option(help="classification or regression; auto: by the target's values.")]
Positive = Annotated[
    str | None, typer.Option(help="Label that counts as positive; default: the last of two in sorted order.")
]
Threshold = Annotated[float | None, typer.Option(help="Score from which on a row is selected; default: 0.5.")]
Drop = Annotated[list[str] | None, typer.Option(help="Column that is no feature; may be repeated.")]
KeepSensitive = Annotated[
    bool, typer.Option("--keep-sensitive", help="Use the sensitive columns as features too; predict then needs them.")
]
Parameter = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="Parameter of LightGBM or of the penalty; may be repeated."),
]
Jobs = Annotated[int | None, typer.Option(help="Threads; all cores if not given.")]
Seed = Annotated[int, typer.Option(help="Seed of splits and models.")]
Force = Annotated[bool, typer.Option("--force", help="Replace outputs that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def read_columns(given: list[str] | None) -> list[str]:
    """Return column names; an option may be repeated, or hold several names separated by commas."""
    return [name.strip() for text in given or [] for name in text.split(",") if name.strip()]


def read_parameters(given: list[str] | None, **others: Any) -> dict[str, Any]:
    """Return estimator parameters from NAME=VALUE texts, and those of other options that are set."""
    parameters: dict[str, Any] = {}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise ValueError(f"--param {text!r} is not of the form NAME=VALUE, such as num_leaves=63")
        parameters[name.strip()] = _read_value(value.strip())
    for name, value in others.items():
        if value is None:
            continue
        if name in parameters:
            raise ValueError(f"--param {name} says the same as --{name.replace('_', '-')}; give one of them")
        parameters[name] = value
    return parameters


def read_weights(text: str | None) -> list[float] | None:
    """Return fairness weights from numbers separated by commas."""
    if text is None:
        return None
    weights = []
    for part in text.split(","):
        try:
            weights.append(float(part))
        except ValueError:
            raise ValueError(f"--weights holds {part.strip()!r}, which is no number; give such as 0,1,5,20") from None
    return weights


def _read_value(text: str) -> Any:
    """Return a number, boolean or null as such, anything else as text."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false", "none") else text)
    except json.JSONDecodeError:
        return None if text.lower() == "none" else text
    return text if isinstance(value, dict | list | str) else value
