"""One fit of the benchmark: rows in, metrics out."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.benchmark.methods import Method, bin_rows
from otfairboost.benchmark.profiles import Profile
from otfairboost.benchmark.protocol import TIMED_CONFIGURATION, Split, Unit, assign_folds
from otfairboost.benchmark.rows import Prediction, Rows
from otfairboost.benchmark.tasks import TASKS, Task, get_task


class Measured(NamedTuple):
    """What a fit gave; see ``store.Result``."""

    metrics: dict[str, list[dict[str, float]]]
    fit_seconds: float
    cpu_seconds: float


class Fitter:
    """The rows of a task in their folds, and the methods to fit on them.

    Parameters
    ----------
    task : Task or str
        A task, or the name of a listed one.
    methods : sequence of Method
    profile : Profile
    data_home : str or None
        Folder of the data.
    seed : int
        Of the folds.
    n_jobs : int
        Threads of a fit.
    """

    def __init__(
        self,
        task: Task | str,
        methods: Sequence[Method],
        profile: Profile,
        data_home: str | None,
        *,
        seed: int,
        n_jobs: int,
    ) -> None:
        self.task = get_task(task) if isinstance(task, str) else task
        self.methods = {method.name: method for method in methods}
        self.n_jobs = n_jobs
        self.data = self.task.load(data_home, max_rows=profile.max_rows)
        stratify = self.task.kind == "classification"
        self.folds = assign_folds(self.data.y, profile.n_folds, seed, stratify=stratify)
        self._binned: dict[str, Any] = {}

    def __call__(self, unit: Unit) -> Measured:
        """Fit, predict and measure."""
        folds = Split.read(unit.key.split).test_folds
        is_test = np.isin(self.folds, folds)
        train, test = self.data.take(np.flatnonzero(~is_test)), self.data.take(np.flatnonzero(is_test))
        binned = self._bin(unit, train)
        began, cpu_began = time.perf_counter(), time.process_time()
        prediction = self.methods[unit.key.method].fit_predict(
            self.task, unit.shared, unit.own, train, test, self.n_jobs, unit.seed, binned
        )
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        of_fold = self.folds[is_test]
        metrics = {
            str(fold): [self._evaluate(test, of_fold == fold, member) for member in (prediction, *prediction.extra)]
            for fold in folds
        }
        return Measured(metrics, seconds, cpu_seconds)

    def _bin(self, unit: Unit, train: Rows) -> Any:
        """Return the binned rows, made once for all configurations but the one whose times are compared."""
        if unit.key.configuration == TIMED_CONFIGURATION:
            return None
        if unit.key.split not in self._binned:
            self._binned[unit.key.split] = bin_rows(train)
        return self._binned[unit.key.split]

    def _evaluate(self, test: Rows, rows: NDArray[np.bool_], prediction: Prediction) -> dict[str, float]:
        if not np.isfinite(prediction.score).all():
            raise ValueError("the prediction holds values that are not finite")
        part = Prediction(prediction.score[rows], None if prediction.label is None else prediction.label[rows])
        return {name: float(value) for name, value in self.task.evaluate(test.y[rows], part, test.s[rows]).items()}


def prepare_fitter(task: Task, *arguments: Any, **keywords: Any) -> partial[Fitter]:
    """Return what makes a Fitter in another process; a listed task travels by its name, as it cannot be pickled."""
    return partial(Fitter, task.name if TASKS.get(task.name) is task else task, *arguments, **keywords)
