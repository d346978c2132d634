"""Runs a task: every fit that the store lacks, on all cores, each result written when it is there."""

import json
import os
import platform
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from otfairboost.benchmark.fitting import Measured, prepare_fitter
from otfairboost.benchmark.methods import Method
from otfairboost.benchmark.profiles import Profile
from otfairboost.benchmark.protocol import Unit, fingerprint, plan
from otfairboost.benchmark.rows import TaskData
from otfairboost.benchmark.store import Key, Result, Run, Store, StoreError
from otfairboost.benchmark.tasks import Task
from otfairboost.benchmark.workers import Outcome, work_off
from otfairboost.threads import count_threads


class Progress(NamedTuple):
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Fits in the store and fits of the run.
    failed : int
        Those in the store that failed.
    remaining_seconds : float or None
        Guess from the fits so far; None before the first.
    last : Key or None
        The fit that just ended.
    """

    done: int
    total: int
    failed: int
    remaining_seconds: float | None
    last: Key | None


class Summary(NamedTuple):
    """What a run came to: fits of the plan that are in the store, those of them that failed, and their number now."""

    total: int
    failed: int
    fitted: int


def run_task(
    task: Task,
    methods: Sequence[Method],
    profile: Profile,
    store_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    nested: bool = False,
    retry_failed: bool = False,
    command: str = "",
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Summary:
    """Fit all that the store lacks of a task.

    Parameters
    ----------
    task : Task
    methods : sequence of Method
        Those that cannot do the task are left out.
    profile : Profile
    store_path : path
        The results file; made if it does not exist.
    data_home : path, optional
        Folder of the data; see ``otfairboost.datasets``.
    seed : int
        Of folds, configurations and fits.
    n_jobs : int, optional
        Cores to use; all if not given. Fits run side by side on one core each, or, where the task reports times, one
        after the other on all.
    nested : bool
        Whether to fit on the rows outside each pair of folds as well, for a choice that has not seen what it reports.
    retry_failed : bool
        Whether to fit again what failed before.
    command : str
        How the run was started, for the report.
    on_progress : callable
        Called with a Progress at the start and after every fit.
    """
    n_cores = count_threads(n_jobs)
    home = None if data_home is None else str(Path(data_home))
    data = task.load(home, max_rows=profile.max_rows)
    run = Run(task.name, fingerprint(task, profile, seed, data), _describe(data, command, n_cores))
    del data  # the workers have their own
    able = [method for method in methods if method.extra_reason(task) is None]
    units = list(plan(task, able, profile, seed, nested=nested))
    with Store(store_path, create=True) as store:
        store.begin(run)
        results = store.results(task.name)
        _refuse_other_parameters(units, results, store_path)
        ledger = _Ledger(units, results, retry_failed=retry_failed)
        n_workers = 1 if task.report_times else min(n_cores, max(len(ledger.todo), 1))
        n_threads = n_cores if task.report_times else 1
        on_progress(ledger.progress(n_workers, None))
        prepare = prepare_fitter(task, able, profile, home, seed=seed, n_jobs=n_threads)
        for unit, outcome in work_off(
            ledger.todo, prepare, n_workers=n_workers, n_threads=n_threads, timeout=profile.timeout
        ):
            result = _as_result(unit, outcome)
            store.add(task.name, result)
            ledger.enter(result)
            on_progress(ledger.progress(n_workers, unit.key))
    return Summary(len(units), ledger.failed, len(ledger.todo))


def _refuse_other_parameters(
    units: Sequence[Unit], results: Sequence[Result], store_path: str | os.PathLike[str]
) -> None:
    """Raise if a stored fit has other parameters than the plan has for it: the search space has changed since."""
    planned = {unit.key: unit for unit in units}
    for result in results:
        unit = planned.get(result.key)
        if unit is not None and result.parameters != json.loads(json.dumps(_parameters(unit))):
            there, here = json.dumps(result.parameters), json.dumps(_parameters(unit))
            raise StoreError(
                f"store {store_path} holds a fit ({', '.join(map(str, result.key))}) with other parameters than this "
                f"version tries ({there} there, {here} here), which are never mixed; give another store"
            )


def _parameters(unit: Unit) -> dict[str, Any]:
    return {"shared": unit.shared, "own": unit.own, "seed": unit.seed}


def _as_result(unit: Unit, outcome: Outcome) -> Result:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    parameters = _parameters(unit)
    if outcome.error is not None:
        return Result(unit.key, parameters, {}, None, None, outcome.error, now)
    measured: Measured = outcome.value
    return Result(unit.key, parameters, measured.metrics, measured.fit_seconds, measured.cpu_seconds, None, now)


def _describe(data: TaskData, command: str, n_cores: int) -> dict[str, Any]:
    return {
        "command": command,
        "started": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {n_cores} cores used",
        "n_rows": len(data.y),
        "n_features": data.X.shape[1],
        "groups": {str(label): count for label, count in sorted(Counter(map(str, data.s)).items())},
        "simulated": bool(data.simulated),
        "data": data.description,
    }


class _Ledger:
    """What is done, what is left and how long that may take."""

    def __init__(self, units: list[Unit], results: list[Result], *, retry_failed: bool) -> None:
        planned = {unit.key for unit in units}
        kept = [r for r in results if r.key in planned and not (retry_failed and r.error is not None)]
        finished = {result.key for result in kept}
        self.todo = [unit for unit in units if unit.key not in finished]
        self.total, self.done, self.failed = len(units), 0, 0
        self._left = Counter(unit.key.method for unit in self.todo)
        self._seconds: dict[str, list[float]] = defaultdict(list)
        for result in kept:
            self._count(result)

    def _count(self, result: Result) -> None:
        self.done += 1
        self.failed += result.error is not None
        if result.fit_seconds is not None:
            self._seconds[result.key.method].append(result.fit_seconds)

    def enter(self, result: Result) -> None:
        self._left[result.key.method] -= 1
        self._count(result)

    def progress(self, n_workers: int, last: Key | None) -> Progress:
        """Methods differ a hundredfold in cost, so the guess goes by the mean of each."""
        means = {method: sum(values) / len(values) for method, values in self._seconds.items()}
        remaining = None
        if means:
            typical = sum(means.values()) / len(means)
            remaining = sum(count * means.get(method, typical) for method, count in self._left.items()) / n_workers
        return Progress(self.done, self.total, self.failed, remaining, last)
