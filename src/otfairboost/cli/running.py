"""Running a command: exit codes, errors in one line, what is printed where.

Results go to the standard output, everything else (progress, messages, errors) to the standard error, so that
``--json`` can be piped.
"""

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK_VARIABLE = "OTFAIRBOOST_TRACEBACK"
"""Set, it shows where an error came from."""

# The parser's own errors. Typer brings its parser along or takes click's; either way they have this ancestor.
_ParserError: type[Exception] = typer.BadParameter.__mro__[2]


class StoppedError(Exception):
    """The user stopped work of which something is kept; says what."""


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 2 bad input, 1 any other failure, 130 interrupted."""
    try:
        with _plain_warnings():
            result = app(arguments, standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except StoppedError as stop:
        messages().print(str(stop), soft_wrap=True)
        return INTERRUPTED
    except (KeyboardInterrupt, typer.Abort):
        result = INTERRUPTED
    except _ParserError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        # Without a message the help was shown.
        return _complain(f"{message} (see --help)", BAD_INPUT) if message else BAD_INPUT
    except ImportError as error:
        return _complain(str(error), FAILED)
    except (ValueError, TypeError, OSError) as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        return _complain(str(error) or type(error).__name__, BAD_INPUT)
    if result == INTERRUPTED:
        return _complain("interrupted; no output was written", INTERRUPTED)
    return result if isinstance(result, int) else OK


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show warnings in one line, without the place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(  # noqa: T201
            f"warning: {' '.join(str(message).split())}", file=sys.stderr
        )
        yield


def _complain(message: str, code: int) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return code


def messages() -> Console:
    """Return the console for everything that is no result."""
    return Console(stderr=True, highlight=False)


def results() -> Console:
    """Return the console for results."""
    return Console(highlight=False)


def print_json(data: Any) -> None:
    """Print a result as JSON."""
    sys.stdout.write(json.dumps(_finite(data), indent=2, ensure_ascii=False, default=str) + "\n")


def _finite(data: Any) -> Any:
    """Return the data without NaN and infinities, which JSON does not have."""
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def check_outputs(paths: Sequence[Path], force: bool) -> None:
    """Raise before any work if an output exists already, or cannot be made."""
    for path in paths:
        if path.is_dir():
            raise ValueError(f"{path} is a folder; give a file name for the output")
        if path.exists() and not force:
            raise ValueError(f"{path} exists already; give another name, or --force to replace it")
        above = next(folder for folder in path.absolute().parents if folder.exists())
        if not above.is_dir():
            raise ValueError(f"{path} cannot be made, {above} is a file; give another name")
        if not os.access(above, os.W_OK):
            raise ValueError(f"{path} cannot be made, {above} may not be written to; give another name")


@contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call as ``report(n_done, n_total)``."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=messages(), transient=True, disable=quiet) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
