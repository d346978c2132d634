"""Figures as a table in the terminal."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from otfairboost.report.measures import NAMES

_RATES = {
    "selection_rate": "selected",
    "true_positive_rate": "true positive rate",
    "false_positive_rate": "false positive rate",
    "mean_absolute_error": "mean absolute error",
}


def summary_table(summary: dict[str, Any], title: str) -> Table:
    """Return the figures of :func:`otfairboost.report.summarise`."""
    table = Table(title=escape(f"{title}: {summary['n_rows']:,} rows, threshold {summary['threshold']:g}"))
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_column("95% interval", justify="right")
    for name, figure in summary["measures"].items():
        label = escape(NAMES[name].label)
        marked = f"[bold]{label}[/bold]" if name == summary["gap"] else label
        table.add_row(marked, *_write(figure, NAMES[name].in_points))
    for group, figures in summary["groups"].items():
        table.add_section()
        table.add_row(f"[bold]{escape(group)}[/bold]", f"{figures['n_rows']:,} rows", "")
        for name, label in _RATES.items():
            if name in figures:
                table.add_row(f"  {label}", *_write(figures[name], name != "mean_absolute_error"))
    return table


def _write(figure: dict[str, float | None], in_points: bool) -> tuple[str, str]:
    def write(value: float | None) -> str:
        if value is None:
            return "–"
        return f"{100 * value:.1f}%" if in_points else f"{value:.4g}"

    interval = f"{write(figure['low'])} to {write(figure['high'])}" if "low" in figure else ""
    return write(figure["value"]), interval
