"""``otfairboost demo``: plain LightGBM and the fair model side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from otfairboost.demo import DemoResult


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("output/demo"),
    fairness_weight: Annotated[float, typer.Option(min=0.0, help="The fair model's dial.")] = 5.0,
    n_jobs: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
) -> None:
    """Train plain LightGBM and the fair model side by side on generated loan applications.

    Example: otfairboost demo --fairness-weight 10 --output output/demo
    """
    from otfairboost.demo import run_demo
    from otfairboost.files import replacing
    from otfairboost.plots.distributions import plot_distributions

    console = Console()
    with console.status("training two models"):
        result = run_demo(fairness_weight=fairness_weight, n_jobs=n_jobs)
    console.print(_table(result))
    subtitles = {
        model.name: f"PR AUC {100 * model.pr_auc:.1f}, gap {100 * model.demographic_parity_difference:.1f} points"
        for model in result.models
    }
    picture = output / "score_distributions.png"
    with replacing(picture) as path:
        plot_distributions([model.distributions for model in result.models], subtitles).savefig(path)
    console.print(f"picture: {picture}")


def _table(result: "DemoResult") -> Table:
    table = Table(
        title=f"Generated loan applications: trained on {result.n_train:,} rows, measured on {result.n_test:,} others"
    )
    table.add_column("")
    for model in result.models:
        table.add_column(model.name, justify="right")

    def add(name: str, *values: str) -> None:
        table.add_row(name, *values)

    models = result.models
    add("accuracy", *(f"{100 * m.accuracy:.1f}%" for m in models))
    add("PR AUC", *(f"{100 * m.pr_auc:.1f}" for m in models))
    add("ROC AUC", *(f"{100 * m.roc_auc:.1f}" for m in models))
    for label in models[0].selection_rates:
        add(f"selected: {label}", *(f"{100 * m.selection_rates[label]:.1f}%" for m in models))
    add("demographic parity difference", *(f"{100 * m.demographic_parity_difference:.1f} points" for m in models))
    add("demographic parity ratio", *(f"{m.demographic_parity_ratio:.2f}" for m in models))
    add("equalized odds difference", *(f"{100 * m.equalized_odds_difference:.1f} points" for m in models))
    add("Wasserstein-2 distance", *(f"{m.wasserstein_distance:.3f}" for m in models))
    add("seconds to fit", *(f"{m.seconds:.2f}" for m in models))
    return table
