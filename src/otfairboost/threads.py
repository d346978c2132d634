"""Row chunks worked off by threads: the same chunks, so the same sums, for every number of threads."""

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import chain, count
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

ChunkWork = Callable[[int, int, int], None]
"""``work(index, start, stop)``: what to do with the rows of one chunk."""

Stages = list[list[Callable[[], None]]]
"""Tasks of several stages: those of one may run in any order."""

MIN_CHUNK = 49152
MAX_CHUNKS = 8  # each keeps a histogram of its own
_MIN_SUMMED = 1 << 17  # to wake the other threads takes as long
_HAD_THE_LOCK = 0  # Python's PyGILState_LOCKED


class RowChunks:
    """A fixed split of rows into chunks, and the threads that work them off.

    The split depends on the number of rows alone. Work that writes to its own rows, or to a buffer per chunk that
    is summed in order afterwards, therefore gives bit-identical results whatever ``n_jobs`` is.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_jobs : int
        Number of threads, the calling one included. The functions given to :meth:`run` must release the GIL for
        more than one to be of use.

    Attributes
    ----------
    team : OpenMPTeam or None
        The threads to use; None for threads of its own.
    """

    def __init__(self, n_rows: int, n_jobs: int = 1) -> None:
        n_chunks = 1
        while n_chunks < MAX_CHUNKS and n_rows >= 2 * n_chunks * MIN_CHUNK:
            n_chunks *= 2  # powers of two: any usual number of threads has the same work each
        size = max(-(-n_rows // n_chunks), 1)
        self.bounds = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
        self.n_threads = max(1, min(n_jobs, len(self.bounds)))
        self.team: OpenMPTeam | None = None
        self._deferred: ChunkWork | None = None
        self._pool: ThreadPoolExecutor | None = None

    def __len__(self) -> int:
        return len(self.bounds)

    def one_round(self) -> AbstractContextManager[None]:
        """Return a context for work of which one piece follows the other, without the booster in between."""
        return nullcontext() if self.team is None else self.team.kept_states()

    def defer(self, work: ChunkWork) -> None:
        """Call ``work`` for every chunk in the next :meth:`run`, just before the work of that: its rows are at hand."""
        self._deferred = work

    def catch_up(self) -> None:
        """Do what is deferred now, for who needs its results without a :meth:`run`."""
        if self._deferred is not None:
            self.run(lambda index, start, stop: None)

    def run(self, work: ChunkWork) -> None:
        """Call ``work(index, start, stop)`` for every chunk; return when all are done."""
        deferred, self._deferred = self._deferred, None
        works = (work,) if deferred is None else (deferred, work)

        def run_all(index: int) -> None:
            for one in works:
                one(index, *self.bounds[index])

        self.run_tasks(len(self.bounds), run_all)

    def run_tasks(self, n_tasks: int, work: Callable[[int], None]) -> None:
        """Call ``work(index)`` for every index below ``n_tasks``; return when all are done."""
        tickets = count()

        def work_off() -> None:
            while (index := next(tickets)) < n_tasks:
                work(index)

        if min(self.n_threads, n_tasks) <= 1:
            work_off()
        elif self.team is not None:
            # All of them: the library ends those that it is not asked for, and has to start new ones later.
            self.team(work_off, self.n_threads)
        else:
            self._run_on_pool(work_off, min(self.n_threads, n_tasks))

    def share_out(self, length: int, work: Callable[[slice], None]) -> None:
        """Call ``work`` for parts of ``range(length)``, one for each thread."""
        size = max(1, -(-length // self.n_threads))
        self.run_tasks(-(-length // size), lambda index: work(slice(index * size, (index + 1) * size)))

    def run_stages(self, stages: Stages) -> None:
        """Run the tasks of each stage, in any order; a stage begins when the one before is done."""
        for tasks in stages:
            self.run_tasks(len(tasks), partial(_run_one, tasks))

    def sum(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the first axis, in its order; of large ones the last axis but one is shared out.

        Of one part the sum is that part, not a copy.
        """
        if len(parts) == 1:
            return parts[0]
        total = np.zeros(parts.shape[1:])

        def add_up(some: slice) -> None:
            for part in parts:
                total[..., some, :] += part[..., some, :]

        if total.size < _MIN_SUMMED:
            add_up(slice(None))
        else:
            self.share_out(parts.shape[-2], add_up)
        return total

    def _run_on_pool(self, work_off: Callable[[], None], n_threads: int) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads - 1, thread_name_prefix="otfairboost")
        helpers: list[Future[None]] = [self._pool.submit(work_off) for _ in range(n_threads - 1)]
        try:
            work_off()
        finally:
            wait(helpers)  # none may still write when this returns, not even after an error
        for helper in helpers:
            helper.result()

    def close(self) -> None:
        """Let the threads go; a later :meth:`run` starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> "RowChunks":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


ONE_THREAD = RowChunks(0)
"""For work that is not shared out."""


def _run_one(tasks: list[Callable[[], None]], index: int) -> None:
    tasks[index]()


def merge_stages(several: Iterable[Stages]) -> Stages:
    """Return pieces of work of as many stages each, which do not depend on each other, as one."""
    return [list(chain(*stage)) for stage in zip(*several, strict=True)]


class OpenMPTeam:
    """The OpenMP threads of a booster's library.

    After each tree these threads wait for the next one in a busy loop for some milliseconds, on the cores that threads
    of our own would need. So they are given our work.

    Parameters
    ----------
    start : foreign function
        ``GOMP_parallel``.
    """

    def __init__(self, start: Any) -> None:
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self._start = start
        self._start.argtypes = [self._callback, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        self._start.restype = None
        self._keeps_states = False
        self._most = 1
        # Part of the state itself, and gone with it: the system gives the number of a thread that ended to a new one.
        self._state = threading.local()

    def __call__(self, work_off: Callable[[], None], n_threads: int) -> None:
        """Call ``work_off`` once on each of so many threads, the calling one included; return when all are done."""
        self._most = max(self._most, n_threads)
        caller = threading.get_ident()

        def enter_and_work_off() -> None:
            if threading.get_ident() != caller and not hasattr(self._state, "is_kept"):
                ctypes.pythonapi.PyGILState_Ensure()
                self._state.is_kept = True
            work_off()

        self._run(enter_and_work_off if self._keeps_states else work_off, n_threads)

    @contextmanager
    def kept_states(self) -> Iterator[None]:
        """Keep Python's states of the threads from one call to the next; all have to be of as many threads.

        Python makes a state for a thread that it does not know whenever this calls it, and lets it go after the call:
        most of what it takes to share out a short piece of work. The library ends threads that a call does not need,
        and does not tell, so the states may only be kept while no one else uses its threads.
        """
        self._keeps_states, self._most = True, 1
        try:
            yield
        finally:
            self._keeps_states = False
            if self._most > 1:
                self._run(self._let_state_go, self._most)

    def _let_state_go(self) -> None:
        if hasattr(self._state, "is_kept"):
            del self._state.is_kept
            ctypes.pythonapi.PyGILState_Release(_HAD_THE_LOCK)

    def _run(self, work_off: Callable[[], None], n_threads: int) -> None:
        errors: list[BaseException] = []

        def catch(_: object) -> None:
            try:
                work_off()
            except BaseException as error:  # noqa: BLE001  # raised below: it cannot cross into C
                errors.append(error)

        self._start(self._callback(catch), None, n_threads, 0)
        if errors:
            raise errors[0]


def openmp_team(library: ctypes.CDLL) -> OpenMPTeam | None:
    """Return the OpenMP threads of a booster's library; None if its OpenMP is not GNU's."""
    try:
        return OpenMPTeam(library.GOMP_parallel)  # looked up in the library and in what it was linked with
    except AttributeError:
        return None


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for (None: all cores; negative: all but some)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None or n_jobs == 0:
        return cores
    return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)
