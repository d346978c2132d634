"""How far long work is: a bar, a function of the caller's, or nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from otfairboost.extras import require

Report = Callable[[int, int], None]


@contextmanager
def reporting(progress: Any, title: str, total: int) -> Iterator[Callable[[], None]]:
    """Yield what to call after each of ``total`` pieces of work.

    Parameters
    ----------
    progress : bool or callable
        True: a bar in the terminal. A function is called as ``progress(n_done, n_total)``.
    title : str
        Beside the bar.
    total : int
        Pieces of work.
    """
    if callable(progress):
        done = 0

        def report() -> None:
            nonlocal done
            done += 1
            progress(done, total)

        yield report
    elif progress:
        require("rich", "cli")  # before the work, not after it
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns) as bar:
            task = bar.add_task(title, total=total)
            yield lambda: bar.advance(task)
    else:
        yield lambda: None
