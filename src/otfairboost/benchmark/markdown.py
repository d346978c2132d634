"""Tables of the study as Markdown."""

from collections.abc import Callable, Mapping, Sequence

from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.results import TaskResults
from otfairboost.benchmark.selection import OBJECTIVE, RULES
from otfairboost.benchmark.tables import (
    BASELINE,
    DIFFERENCE,
    PAPER_SOURCE,
    Entry,
    Standing,
    paper_time_ratio,
    reason_for_absence,
    standing,
)
from otfairboost.benchmark.titles import method_title, metric_title, shown_metrics

ABSENT = "-"
SOURCES = {
    "same folds": "here",
    "other folds": "here, other folds",
    "nested": "here, nested",
    PAPER_SOURCE: "paper",
    DIFFERENCE: "here − paper",
}


def comparison_table(results: TaskResults, methods: Sequence[str], entries: Sequence[Entry], alpha: float) -> list[str]:
    """Return the lines of a task's main table; the best objective of each rule in bold."""
    by_place = {(entry.metric, entry.source, entry.method): entry for entry in entries}
    digits = 2 if results.task.report_times else 1  # as many as the paper prints
    lines = [_row(["metric", "", *map(_heading, methods)]), _row(["---", "---", *["---:"] * len(methods)])]
    for metric in shown_metrics(results.task):
        name = metric_title(metric, alpha)
        for source, words in SOURCES.items():
            found = {method: by_place.get((metric, source, method)) for method in methods}
            means = [round(entry.mean, digits) for entry in found.values() if entry is not None]
            if not means:
                continue
            best = max(means) if metric == OBJECTIVE and source in RULES else None
            lines.append(_row([name, words, *(_cell(found[method], digits, best) for method in methods)]))
            name = ""
    return lines


def _heading(method: str) -> str:
    title = method_title(method)
    return f"*{title}*" if method in METHODS and METHODS[method].needs_s else title


def _cell(entry: Entry | None, digits: int, best: float | None) -> str:
    if entry is None:
        return ABSENT
    sign = "+" if entry.source == DIFFERENCE else ""
    text = f"{entry.mean:{sign}.{digits}f}"
    if entry.deviation is not None:
        text += f" ± {entry.deviation:.{digits}f}"
    return f"**{text}**" if best is not None and round(entry.mean, digits) == best else text


def overview_table(studies: Mapping[str, Sequence[Entry]], methods: Sequence[str]) -> list[str]:
    """Return the lines of a table of objectives, by the paper's rule and the next, with the gain over the baseline.

    Parameters
    ----------
    studies : mapping
        Titles of tasks, and the figures of their tables.
    methods : sequence of str
        Columns.
    """
    lines = [_row(["task", "", *map(_heading, methods)]), _row(["---", "---", *["---:"] * len(methods)])]
    for title, entries in studies.items():
        found = {(entry.source, entry.method): entry.mean for entry in entries if entry.metric == OBJECTIVE}
        name = title
        for source in (*RULES, PAPER_SOURCE):
            means = {method: found.get((source, method)) for method in methods}
            known = [mean for mean in means.values() if mean is not None]
            if known:
                best = max(known) if source in RULES else None
                lines.append(_row([name, SOURCES[source], *(_gain(m, means[BASELINE], best) for m in means.values())]))
                name = ""
    return lines


def _gain(mean: float | None, baseline: float | None, best: float | None) -> str:
    if mean is None:
        return ABSENT
    text = f"**{mean:.2f}**" if mean == best else f"{mean:.2f}"
    return text if baseline is None or mean == baseline else f"{text} ({mean - baseline:+.2f})"


def standing_table(results: TaskResults, methods: Sequence[str]) -> list[str]:
    """Return the lines of a task's table of fronts, times and counts."""
    found = {method: standing(results, method) for method in methods if method in results.methods}
    lines = [_row(["", *map(_heading, methods)]), _row(["---", *["---:"] * len(methods)])]

    def add(name: str, show: Callable[[Standing], str | None]) -> None:
        cells = [show(found[method]) if method in found else None for method in methods]
        lines.append(_row([name, *(cell or ABSENT for cell in cells)]))

    add("hypervolume of the front", lambda s: None if s.volume is None else f"{s.volume:.2f}")
    add("seconds a fit (median)", lambda s: s.time and f"{s.time.seconds:.1f}")
    add("time / baseline's", lambda s: s.time and _ratio(s.time.ratio))
    add("processor time / baseline's", lambda s: s.time and _ratio(s.time.cpu_ratio))
    ratios = {method: paper_time_ratio(results.task.name, method) for method in methods}
    if any(ratio is not None for ratio in ratios.values()):
        cells = [_ratio(ratio) or ABSENT for ratio in ratios.values()]
        lines.append(_row(["time / baseline's, paper", *cells]))
    add("configurations on all folds", lambda s: f"{s.complete} of {s.planned}")
    add("failed fits", lambda s: str(s.failed))
    return lines


def _ratio(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def absence_notes(results: TaskResults, methods: Sequence[str]) -> list[str]:
    """Return one line for each method without results: why."""
    notes = []
    for method in methods:
        if method not in results.methods:
            reason = reason_for_absence(results, method) or "not run"
            notes.append(f"- {method_title(method)}: {reason}")
    return notes


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
