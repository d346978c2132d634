"""Which configuration is reported, by the paper's rule and by honest ones."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.benchmark.results import Candidate, Metrics, TaskResults

OBJECTIVE = "objective"


class Choice(NamedTuple):
    """What is reported for a method.

    Attributes
    ----------
    configurations : tuple of int
        The configuration chosen for each fold.
    folds : tuple of dict
        Its metrics in that fold, with the objective among them.
    """

    configurations: tuple[int, ...]
    folds: tuple[Metrics, ...]

    def mean(self, metric: str) -> float:
        """Return a metric's mean over the folds."""
        return float(np.mean([fold[metric] for fold in self.folds]))

    def deviation(self, metric: str) -> float:
        """Return a metric's standard deviation over the folds (of these folds: divided by their number)."""
        return float(np.std([fold[metric] for fold in self.folds]))


def choose_on_same_folds(results: TaskResults, method: str, alpha: float) -> Choice | None:
    """Return the configuration with the best mean objective over the folds that are reported: the paper's rule.

    What is reported is the best of many noisy values, and so too good.
    """
    candidates = results.candidates(method)
    if not candidates:
        return None
    best = _best(_objectives(results, candidates, alpha).mean(axis=1))
    return _report(results, candidates, [best] * results.n_folds, alpha)


def choose_on_other_folds(results: TaskResults, method: str, alpha: float) -> Choice | None:
    """Return, for each fold, the configuration that did best on the mean of the others.

    The fold's own results play no part in the choice, which takes away the reward for luck, at no further fit. Its rows
    were among those fitted on for the results of the other folds; `choose_nested` avoids that as well.
    """
    candidates = results.candidates(method)
    if not candidates or results.n_folds < 2:
        return None
    values = _objectives(results, candidates, alpha)
    chosen = [_best(np.delete(values, fold, axis=1).mean(axis=1)) for fold in range(results.n_folds)]
    return _report(results, candidates, chosen, alpha)


def choose_nested(results: TaskResults, method: str, alpha: float) -> Choice | None:
    """Return, for each fold, the configuration that did best in a cross-validation without any row of it.

    None if the fits on the rows outside two folds are not in the store.
    """
    inner = results.inner(method)
    pairs = [(kept, other) for kept in range(results.n_folds) for other in range(results.n_folds) if kept != other]
    candidates = [c for c in results.candidates(method) if set(pairs) <= inner.get(c.configuration, {}).keys()]
    if not candidates:
        return None

    def value(candidate: Candidate, kept: int) -> float:
        seen = inner[candidate.configuration]
        scores = [_score(results, seen[kept, other], alpha) for other in range(results.n_folds) if other != kept]
        return float(np.mean(scores))

    chosen = [_best(np.array([value(c, kept) for c in candidates])) for kept in range(results.n_folds)]
    return _report(results, candidates, chosen, alpha)


RULES: dict[str, Callable[[TaskResults, str, float], Choice | None]] = {
    "same folds": choose_on_same_folds,
    "other folds": choose_on_other_folds,
    "nested": choose_nested,
}
"""The rules by the name that tables show; the first is the paper's."""


def _score(results: TaskResults, metrics: Metrics, alpha: float) -> float:
    return float(results.task.objective(metrics, alpha))


def _objectives(results: TaskResults, candidates: list[Candidate], alpha: float) -> NDArray[np.float64]:
    return np.array([[_score(results, fold, alpha) for fold in candidate.folds] for candidate in candidates])


def _best(values: NDArray[np.float64]) -> int:
    """Return the position of the largest value; undefined ones lose, and of equal ones the first wins."""
    return int(np.argmax(np.where(np.isnan(values), -np.inf, values)))


def _report(results: TaskResults, candidates: list[Candidate], chosen: list[int], alpha: float) -> Choice:
    folds = [candidates[position].folds[fold] for fold, position in enumerate(chosen)]
    return Choice(
        tuple(candidates[position].configuration for position in chosen),
        tuple({**metrics, OBJECTIVE: _score(results, metrics, alpha)} for metrics in folds),
    )
