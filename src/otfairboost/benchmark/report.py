"""The study as a folder: a page with tables and figures, and the numbers as CSV, from stored results alone."""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from otfairboost.benchmark import markdown
from otfairboost.benchmark.figures import scatter_info, weight_curves_info
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.protocol import PACKAGES, SEARCH, WEIGHTS
from otfairboost.benchmark.results import TaskResults
from otfairboost.benchmark.store import Store, StoreError
from otfairboost.benchmark.tables import Entry, comparison, reason_for_absence
from otfairboost.benchmark.tasks import TASKS
from otfairboost.files import replacing
from otfairboost.plots.method_scatter import plot_method_scatter
from otfairboost.plots.saving import save_figure
from otfairboost.plots.weight_curves import plot_weight_curves

PAGE = "README.md"
FIGURES = "figures"
APPENDIX = ("tennessee_eodds", "tennessee_ethnicity", "communities_dp")
"""The tasks that the paper's appendix draws side by side."""

_LEGEND = """\
All figures are means ± standard deviation over folds (NumPy's `std`), in points.

- **here**: the configuration with the best mean objective over the same folds that are reported. This is the paper's
  rule; it is too good by the luck of the best of many.
- **here, other folds**: for each fold the configuration that did best on the others, so that no fold has a say in what
  is reported of it.
- **here, nested** (where it was run): the same, and no row of the fold was fitted on in the choice.
- Methods in italics need the sensitive attribute to predict. A `-` is a method that cannot do the task, or was not run.
- The hypervolume is the area below the front of all that a method reached, in the unit square of performance and
  1 − gap. Members of a method's own frontier that come with a fit count there, not in the table above it.
- Times are of the first configuration, in which every method bins the rows for itself: medians over folds.
"""


def load_results(store: Store) -> list[TaskResults]:
    """Return the results of all tasks in a store, in the order of the paper."""
    runs = {run.task: run for run in store.runs()}
    unknown = runs.keys() - TASKS.keys()
    if unknown:
        raise StoreError(
            f"store {store.path} holds unknown tasks: {', '.join(sorted(unknown))}; it is not of this version"
        )
    found = [TaskResults(TASKS[name], runs[name], store.results(name)) for name in TASKS if name in runs]
    return [results for results in found if results.results]


def write_report(store_path: str | os.PathLike[str], output: str | os.PathLike[str], *, alpha: float = 0.75) -> Path:
    """Write a report of all results in a store; return the path of its page.

    Parameters
    ----------
    store_path : path
        A file of results, finished or not.
    output : path
        Folder to write to; files of an earlier report are replaced.
    alpha : float, default=0.75
        Share of the performance in the objective by which configurations are chosen.
    """
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha={alpha!r} is not allowed; it must lie between 0 and 1")
    with Store(store_path) as store:
        studies = load_results(store)
    if not studies:
        raise StoreError(f"store {store_path} holds no finished fit yet")
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output={str(folder)!r} is a file; give a folder")
    entries = {results.task.name: comparison(results, list(METHODS), alpha) for results in studies}
    lines = [*_head(studies), *_overview(studies, entries, alpha)]
    for results in studies:
        lines += _section(results, entries[results.task.name], alpha, _write_figures(folder, results))
    lines += _appendix(folder, studies)
    rows = [{"task": task, **_flat(entry)} for task, found in entries.items() for entry in found]
    _write_csv(folder / "tables.csv", rows)
    _write_csv(folder / "configurations.csv", list(_configurations(studies, alpha)))
    with replacing(folder / PAGE) as path:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / PAGE


def _head(studies: Sequence[TaskResults]) -> list[str]:
    versions = studies[0].run.protocol["versions"]
    named = ", ".join(f"{package} {versions[package]}" for package in PACKAGES if package in versions)
    partial = [results.task.name for results in studies if results.is_partial]
    lines = ["# Benchmark results", ""]
    if any(results.run.information.get("simulated") for results in studies):
        lines += ["**Some of the data are simulated; their sections say so.**", ""]
    if partial:
        lines += [f"**Partial: the runs of {', '.join(partial)} are not finished.** The same command goes on.", ""]
    lines += [f"Made with {named}.", "", _LEGEND]
    return lines


def _overview(studies: Sequence[TaskResults], entries: Mapping[str, Sequence[Entry]], alpha: float) -> list[str]:
    by_title = {_full_title(results): entries[results.task.name] for results in studies}
    heading = f"## Objective at α = {alpha:g}, and the gain over the baseline"
    return [heading, "", *markdown.overview_table(by_title, list(METHODS)), ""]


def _full_title(results: TaskResults) -> str:
    """Return the task's title, with all that a reader must not overlook."""
    protocol, about = results.run.protocol, results.run.information
    marks = {
        "simulated data": about["simulated"],
        "a sample of the rows": about["n_rows"] == protocol["max_rows"],
        "partial": results.is_partial,
    }
    applying = ", ".join(mark for mark, applies in marks.items() if applies)
    return results.task.title + (f" ({applying})" if applying else "")


def _methods_option(results: TaskResults) -> str:
    """Return what the command needs to run these methods only; nothing if they are all that can do the task."""
    if all(method in results.methods or reason_for_absence(results, method) for method in METHODS):
        return ""
    return f" --methods {','.join(results.methods)}"


def _section(results: TaskResults, entries: Sequence[Entry], alpha: float, figures: Sequence[Path]) -> list[str]:
    methods, protocol, about = list(METHODS), results.run.protocol, results.run.information
    lines = [f"## {_full_title(results)}", ""]
    if about["command"]:
        lines += [f"    {about['command']}{_methods_option(results)}", ""]
    groups = ", ".join(f"{label} {count:,}" for label, count in about["groups"].items())
    lines += [
        f"{about['started']}; profile {protocol['profile']}: {protocol['n_folds']} folds, "
        f"{_configurations_tried(protocol)}, seed {protocol['seed']}, "
        f"{protocol['timeout']:g} seconds at most a fit; Python {about['python']}, {about['machine']}. "
        f"{about['n_rows']:,} rows, {about['n_features']} columns; "
        f"groups: {groups}. {about['data']}",
        "",
        *markdown.comparison_table(results, methods, entries, alpha),
        "",
        *markdown.standing_table(results, methods),
        "",
    ]
    notes = markdown.absence_notes(results, methods) + _failures(results)
    lines += [*notes, ""] if notes else []
    for figure in figures:
        lines += [f"![{results.task.title}]({figure.as_posix()})", ""]
    return lines


def _configurations_tried(protocol: Mapping[str, Any]) -> str:
    n_configurations, max_models = protocol["n_configurations"], protocol["max_models"]
    if n_configurations == 1:
        return "one configuration"
    limit = "" if max_models is None else f" (fewer where they would train more than {max_models} models a fold)"
    return f"{n_configurations} configurations{limit}"


def _failures(results: TaskResults) -> list[str]:
    """Return one line for each method whose fits failed, with the last error."""
    failed: dict[str, list[str]] = {}
    for result in results.results:
        if result.error is not None:
            failed.setdefault(result.key.method, []).append(result.error.splitlines()[-1])
    return [
        f"- {markdown.method_title(method)}: {len(errors)} failed fits, the last: `{errors[-1].replace('`', '')}`"
        for method, errors in failed.items()
    ]


def _write_figures(folder: Path, results: TaskResults) -> list[Path]:
    methods = list(METHODS)
    written: list[Path] = []
    scatter = scatter_info(results, methods)
    if scatter.series:
        written += save_figure(plot_method_scatter([scatter]), folder / FIGURES / f"{results.task.name}_scatter")
    curves = weight_curves_info(results, methods)
    if curves is not None:
        written += save_figure(plot_weight_curves(curves), folder / FIGURES / f"{results.task.name}_weights")
    return [path.relative_to(folder) for path in written if path.suffix == ".png"]


def _appendix(folder: Path, studies: Sequence[TaskResults]) -> list[str]:
    by_name = {results.task.name: results for results in studies}
    infos = [scatter_info(by_name[name], list(METHODS)) for name in APPENDIX if name in by_name]
    if len(infos) < 2 or not all(info.series for info in infos):
        return []
    picture, _ = save_figure(plot_method_scatter(infos), folder / FIGURES / "appendix_scatter")
    shown = picture.relative_to(folder).as_posix()
    return ["## The paper's appendix", "", f"![Scatter plots of the appendix]({shown})", ""]


def _flat(entry: Entry) -> dict[str, Any]:
    return {**entry._asdict(), "configurations": " ".join(map(str, entry.configurations))}


def _configurations(studies: Sequence[TaskResults], alpha: float) -> Iterator[dict[str, Any]]:
    """Yield one row for everything that was fitted on all folds: parameters, and means of all metrics."""
    for results in studies:
        for study in (SEARCH, WEIGHTS):
            for method in METHODS:
                for candidate in results.candidates(method, study=study, members=True):
                    means = {metric: candidate.mean(metric) for metric in candidate.folds[0]}
                    yield {
                        "task": results.task.name,
                        "study": study,
                        "method": method,
                        "configuration": candidate.configuration,
                        "member": candidate.member,
                        "objective": results.task.objective(means, alpha),
                        **means,
                        "parameters": json.dumps(candidate.parameters),
                    }


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
