"""``otfairboost benchmark``: the paper's study, run and reported."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from otfairboost.cli.running import BAD_INPUT, StoppedError
from otfairboost.extras import require

if TYPE_CHECKING:
    from otfairboost.benchmark import runner
    from otfairboost.benchmark.methods import Method

benchmark = typer.Typer(no_args_is_help=True, help="Rerun the paper's study against the other methods, and report it.")


@benchmark.command("list")
def list_names() -> None:
    """List the tasks, methods and profiles."""
    with _explaining():
        from otfairboost.benchmark.methods import METHODS
        from otfairboost.benchmark.profiles import PROFILES
        from otfairboost.benchmark.tasks import TASKS

        console = Console(highlight=False)
        for heading, titles in (
            ("tasks", {task.name: task.title for task in TASKS.values()}),
            ("methods", {method.name: method.title for method in METHODS.values()}),
            (
                "profiles",
                {p.name: f"{p.n_folds} folds, {p.n_configurations} configurations" for p in PROFILES.values()},
            ),
        ):
            console.print(f"[bold]{heading}[/bold]")
            for name, title in titles.items():
                console.print(f"  {name:<20} {title}")


@benchmark.command()
def run(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Tasks; 'all' for every one.")],
    profile: Annotated[str, typer.Option(help="Size of the study: quick, standard or paper.")] = "quick",
    data_home: Annotated[Path | None, typer.Option(help="Folder of the data; else they are downloaded.")] = None,
    store: Annotated[
        Path | None, typer.Option(help="File of results; output/benchmark/PROFILE.sqlite if not given.")
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas; all if not given.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of folds, configurations and fits.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Cores; all if not given.")] = None,
    nested: Annotated[bool, typer.Option("--nested", help="Also choose on rows that are never reported; 3x.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Fit again what failed before.")] = False,
) -> None:
    """Fit every method on a task and store each result; the same command goes on where it was stopped.

    Example: otfairboost benchmark run tennessee_dp --profile standard --data-home data
    """
    with _explaining():
        require("pandas", "benchmark")
        from otfairboost.benchmark.methods import METHODS
        from otfairboost.benchmark.profiles import get_profile
        from otfairboost.benchmark.runner import run_task
        from otfairboost.benchmark.tasks import TASKS, get_task

        size = get_profile(profile)
        tasks = list(TASKS.values()) if names == ["all"] else [get_task(name) for name in dict.fromkeys(names)]
        chosen = list(METHODS.values()) if methods is None else _choose_methods(methods)
        path = store or Path("output/benchmark") / f"{size.name}.sqlite"
        console = Console()
        for task in tasks:
            with _bar(console, task.name) as on_progress:
                summary = run_task(
                    task, chosen, size, path, data_home=data_home, seed=seed, n_jobs=jobs, nested=nested,
                    retry_failed=retry_failed, command=_command(task.name, size.name, seed, nested),
                    on_progress=on_progress,
                )  # fmt: skip
            failed = f", {summary.failed} of them failed (see the report)" if summary.failed else ""
            console.print(f"{task.name}: {summary.total} fits in {path}{failed}; {summary.fitted} new", soft_wrap=True)


@benchmark.command()
def report(
    store: Annotated[Path, typer.Option(help="File of results.")] = Path("output/benchmark/quick.sqlite"),
    output: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("output/benchmark/report"),
    alpha: Annotated[float, typer.Option(help="Share of the performance in the objective.")] = 0.75,
) -> None:
    """Write tables and figures from stored results, finished or not.

    Example: otfairboost benchmark report --store output/benchmark/standard.sqlite --output docs/results/benchmark
    """
    with _explaining():
        require("pandas", "benchmark")
        from otfairboost.benchmark.report import write_report

        Console().print(f"report: {write_report(store, output, alpha=alpha)}", soft_wrap=True)


def _command(task: str, profile: str, seed: int, nested: bool) -> str:
    """Return how to get the same results elsewhere: what matters of the command, without this machine's folders.

    Nor the methods, of which a later run may add some: a report knows which there are.
    """
    words = ["otfairboost", "benchmark", "run", task, "--profile", profile, "--seed", str(seed), "--data-home", "DATA"]
    return shlex.join(words + (["--nested"] if nested else []))


def _choose_methods(text: str) -> "list[Method]":
    """Return the methods named in a text, in the order of the tables."""
    from otfairboost.benchmark.methods import METHODS, get_method

    wanted = {get_method(name.strip()).name for name in text.split(",") if name.strip()}
    if not wanted:
        raise ValueError(f"methods={text!r} names none; allowed are {', '.join(METHODS)}")
    return [METHODS[name] for name in METHODS if name in wanted]


@contextmanager
def _explaining() -> Iterator[None]:
    """Turn errors of the user's into one line, and Ctrl-C into a quiet end."""
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError("stopped; what is finished is stored, the same command goes on") from None
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        if not _is_explained(error):
            raise
        Console(stderr=True, highlight=False).print(f"error: {error}", soft_wrap=True, markup=False)
        raise typer.Exit(BAD_INPUT) from error


def _is_explained(error: Exception) -> bool:
    """Return whether an error tells the user what to do, rather than a fault of ours."""
    from otfairboost.benchmark.store import StoreError
    from otfairboost.benchmark.workers import WorkerError

    return isinstance(error, (ValueError, OSError, ImportError, StoreError, WorkerError))


@contextmanager
def _bar(console: Console, name: str) -> "Iterator[_Callback]":
    """Yield what shows the progress of a run on the screen."""
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[remaining]}"), TextColumn("{task.fields[last]}", style="dim"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        yield _Callback(bar, bar.add_task(name, total=None, remaining="loading data", last=""))


class _Callback:
    def __init__(self, bar: Progress, line: TaskID) -> None:
        self.bar = bar
        self.line = line

    def __call__(self, progress: "runner.Progress") -> None:
        left = progress.remaining_seconds
        remaining = "" if left is None else f"about {timedelta(seconds=round(left))} left"
        failed = f", {progress.failed} failed" if progress.failed else ""
        last = progress.last.method if progress.last else ""
        self.bar.update(
            self.line, completed=progress.done, total=progress.total, remaining=f"{remaining}{failed}", last=last
        )
