"""The commands, gathered; a new command is a new module and one line here."""

import typer

from otfairboost.cli.demo import demo

app = typer.Typer(
    name="otfairboost",
    help="Gradient-boosted trees with an optimal-transport fairness penalty.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def about() -> None:
    """Gradient-boosted trees with an optimal-transport fairness penalty."""


app.command()(demo)
