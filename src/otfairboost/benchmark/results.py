"""The stored fits of a task, put together again into configurations."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.protocol import SEARCH, Split, count_configurations
from otfairboost.benchmark.store import Result, Run
from otfairboost.benchmark.tasks import Task

Metrics = dict[str, float]


class Candidate(NamedTuple):
    """A configuration of a method that was fitted on every fold.

    Attributes
    ----------
    method : str
    configuration : int
    member : int
        0 for what the method predicts, from 1 on for the members of a frontier that one fit gave.
    parameters : dict
        ``{"shared": ..., "own": ...}``.
    folds : tuple of dict
        The metrics in each fold.
    """

    method: str
    configuration: int
    member: int
    parameters: dict[str, Any]
    folds: tuple[Metrics, ...]

    def mean(self, metric: str) -> float:
        """Return a metric's mean over the folds."""
        return float(np.mean([fold[metric] for fold in self.folds]))


class Count(NamedTuple):
    """Fits of a method: planned, in the store, and failed among these; and configurations done on all folds."""

    planned: int
    finished: int
    failed: int
    complete: int


class TaskResults:
    """All results of one task.

    Parameters
    ----------
    task : Task
    run : Run
        As stored.
    results : sequence of Result
    """

    def __init__(self, task: Task, run: Run, results: Sequence[Result]) -> None:
        self.task = task
        self.run = run
        self.results = list(results)
        self.n_folds: int = run.protocol["n_folds"]

    @property
    def methods(self) -> list[str]:
        """Return the names of the methods that have results, in the order they came."""
        return list(dict.fromkeys(result.key.method for result in self.results))

    @cached_property
    def _candidates(self) -> dict[tuple[str, str], list[Candidate]]:
        outer: dict[tuple[str, str, int], dict[int, Result]] = defaultdict(dict)
        for result in self.results:
            folds = Split.read(result.key.split).test_folds
            if len(folds) == 1 and result.error is None:
                outer[result.key.study, result.key.method, result.key.configuration][folds[0]] = result
        found: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
        for (study, method, configuration), by_fold in sorted(outer.items()):
            if len(by_fold) == self.n_folds:
                found[study, method] += _members(method, configuration, [by_fold[k] for k in range(self.n_folds)])
        return found

    def candidates(self, method: str, *, study: str = SEARCH, members: bool = False) -> list[Candidate]:
        """Return the configurations of a method that were fitted on every fold.

        Parameters
        ----------
        method : str
        study : {"search", "weights"}
            Random configurations, or one configuration at given fairness weights.
        members : bool
            Whether to add the members of frontiers that came with them.
        """
        return [c for c in self._candidates.get((study, method), []) if members or c.member == 0]

    def inner(self, method: str) -> dict[int, dict[tuple[int, int], Metrics]]:
        """Return ``{configuration: {(kept out, predicted): metrics}}`` of the fits on the rows outside two folds."""
        found: dict[int, dict[tuple[int, int], Metrics]] = defaultdict(dict)
        for result in self.results:
            folds = Split.read(result.key.split).test_folds
            if result.key.study == SEARCH and result.key.method == method and len(folds) == 2 and result.error is None:
                for predicted, other in (folds, folds[::-1]):
                    found[result.key.configuration][other, predicted] = result.metrics[str(predicted)][0]
        return dict(found)

    def count(self, method: str) -> Count:
        """Return how much of a method's random configurations is there, the outer folds counted."""
        outcomes = Counter(
            result.error is None
            for result in self.results
            if result.key.study == SEARCH and result.key.method == method and "+" not in result.key.split
        )
        return Count(
            self.n_folds * self._planned(method), outcomes.total(), outcomes[False], len(self.candidates(method))
        )

    def _planned(self, method: str) -> int:
        """Return how many configurations of a method the run has."""
        sizes = self.run.protocol["n_configurations"], self.run.protocol["max_models"]
        return count_configurations(self.task, METHODS[method], *sizes)

    @property
    def is_partial(self) -> bool:
        """Return whether fits are missing that the run had planned."""
        return any(self.count(method).finished < self.count(method).planned for method in self.methods)


def _members(method: str, configuration: int, results: list[Result]) -> list[Candidate]:
    """Return the prediction and the frontier members that all folds have."""
    by_fold = [result.metrics[str(fold)] for fold, result in enumerate(results)]
    return [
        Candidate(method, configuration, member, results[0].parameters, tuple(fold[member] for fold in by_fold))
        for member in range(min(map(len, by_fold)))
    ]
