"""The study's tables, from stored results: ours beside the paper's, the difference, fronts and times."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from otfairboost.benchmark.figures import BASELINE, POINTS, front_volume
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.paper import OBJECTIVE as PAPER_OBJECTIVE
from otfairboost.benchmark.paper import PAPER, SECONDS, Figure
from otfairboost.benchmark.protocol import SEARCH, TIMED_CONFIGURATION
from otfairboost.benchmark.results import TaskResults
from otfairboost.benchmark.selection import OBJECTIVE, RULES, Choice
from otfairboost.benchmark.store import Result
from otfairboost.benchmark.titles import shown_metrics

PAPER_ALPHA = 0.75
PAPER_SOURCE, DIFFERENCE = "paper", "difference"


class Entry(NamedTuple):
    """A figure of a table, in points (times in seconds).

    Attributes
    ----------
    method, metric : str
    source : str
        A rule of selection, "paper", or "difference" (ours by the paper's rule minus the paper's).
    mean : float
    deviation : float or None
        Standard deviation over the folds.
    configurations : tuple of int
        The configuration chosen for each fold.
    """

    method: str
    metric: str
    source: str
    mean: float
    deviation: float | None
    configurations: tuple[int, ...] = ()


class MethodTime(NamedTuple):
    """What fits of a method cost.

    Attributes
    ----------
    seconds : float
        Median wall-clock time of a fit.
    ratio, cpu_ratio : float or None
        Median over folds of the time in units of the baseline's fit of the same fold.
    """

    seconds: float
    ratio: float | None
    cpu_ratio: float | None


def comparison(results: TaskResults, methods: Sequence[str], alpha: float) -> list[Entry]:
    """Return the figures of a task's main table.

    Parameters
    ----------
    results : TaskResults
    methods : sequence of str
        Columns.
    alpha : float
        Share of the performance in the objective; the paper's own figures of it are for 0.75.
    """
    entries = []
    for method in methods:
        choices = {
            rule: choice for rule, choose in RULES.items() if (choice := choose(results, method, alpha)) is not None
        }
        for metric in shown_metrics(results.task):
            entries += [_entry(method, metric, rule, choice) for rule, choice in choices.items()]
            paper = paper_figure(results.task.name, method, metric, alpha)
            if paper is not None:
                entries.append(Entry(method, metric, PAPER_SOURCE, *paper))
                if choices:
                    ours = next(iter(choices.values()))  # by the paper's rule
                    difference = POINTS * ours.mean(metric) - paper.mean
                    entries.append(Entry(method, metric, DIFFERENCE, difference, None))
    return entries


def _entry(method: str, metric: str, rule: str, choice: Choice) -> Entry:
    return Entry(
        method, metric, rule, POINTS * choice.mean(metric), POINTS * choice.deviation(metric), choice.configurations
    )


def paper_figure(task: str, method: str, metric: str, alpha: float) -> Figure | None:
    """Return what the paper prints; for both our forms of its method the same."""
    if metric == OBJECTIVE:
        if alpha != PAPER_ALPHA:
            return None
        metric = PAPER_OBJECTIVE
    printed = PAPER.get(task, {})
    return printed.get("otfairboost_paper" if method == "otfairboost" else method, {}).get(metric)


def method_time(results: TaskResults, method: str) -> MethodTime | None:
    """Return what a method's fits cost; None if none succeeded."""
    fits, baseline = dict(_timed(results, method)), dict(_timed(results, BASELINE))
    if not fits:
        return None
    pairs = [(fits[cell], baseline[cell]) for cell in fits.keys() & baseline.keys()]

    def ratio(name: str) -> float | None:
        ratios = [getattr(ours, name) / getattr(plain, name) for ours, plain in pairs if getattr(plain, name) > 0]
        return median(ratios) if ratios else None

    seconds = median(result.fit_seconds or 0.0 for result in fits.values())
    return MethodTime(seconds, ratio("fit_seconds"), ratio("cpu_seconds"))


def _timed(results: TaskResults, method: str) -> Iterator[tuple[str, Result]]:
    """Yield the successful fits of the configuration whose times are compared, by fold."""
    for result in results.results:
        study, name, configuration, split = result.key
        timed = (study, name, configuration) == (SEARCH, method, TIMED_CONFIGURATION)
        if timed and "+" not in split and result.error is None:
            yield split, result


def paper_time_ratio(task: str, method: str) -> float | None:
    """Return the paper's time in units of its baseline's."""
    ours, baseline = (
        paper_figure(task, method, SECONDS, PAPER_ALPHA),
        paper_figure(task, BASELINE, SECONDS, PAPER_ALPHA),
    )
    return None if ours is None or baseline is None else ours.mean / baseline.mean


class Standing(NamedTuple):
    """How much a method reached overall: its front's area in points, its cost, and how many fits that rests on."""

    volume: float | None
    time: MethodTime | None
    complete: int
    planned: int
    failed: int


def standing(results: TaskResults, method: str) -> Standing:
    """Return front, times and counts of a method."""
    volume = front_volume(results, method)
    count = results.count(method)
    return Standing(
        None if volume is None else POINTS * volume,
        method_time(results, method),
        count.complete,
        count.planned // results.n_folds,
        count.failed,
    )


def reason_for_absence(results: TaskResults, method: str) -> str | None:
    """Return why a method cannot do the task, if it cannot."""
    return METHODS[method].extra_reason(results.task) if method in METHODS else None
