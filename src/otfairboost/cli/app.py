"""The commands, gathered; a new command is a new module and one line here."""

import typer

from otfairboost.cli.benchmark import benchmark
from otfairboost.cli.demo import demo
from otfairboost.cli.evaluate import evaluate
from otfairboost.cli.export import export
from otfairboost.cli.frontier import frontier
from otfairboost.cli.predict import predict
from otfairboost.cli.report import report
from otfairboost.cli.train import train

app = typer.Typer(
    name="otfairboost",
    help="Gradient-boosted trees with an optimal-transport fairness penalty.",
    epilog="Exit codes: 0 done, 2 bad input, 1 any other failure, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def about() -> None:
    """Gradient-boosted trees with an optimal-transport fairness penalty.

    Example: otfairboost train loans.csv --target granted --sensitive sex
    """


app.command()(train)
app.command()(predict)
app.command()(evaluate)
app.command()(frontier)
app.command()(report)
app.command()(export)
app.command()(demo)
app.add_typer(benchmark, name="benchmark")
