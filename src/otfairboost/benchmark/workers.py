"""Processes that work off a list and may fail: an error, a crash or a timeout costs one item, never the rest."""

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

POLL_SECONDS = 0.5
# Numerical libraries read these when they are loaded. Waiting threads must not spin: it starves the other workers.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

# Never fork: LightGBM's threads do not survive it.
_context = multiprocessing.get_context("spawn")

Work = Callable[[Any], Any]


class WorkerError(RuntimeError):
    """No item can be worked on; the message says why."""


class Outcome(NamedTuple):
    """What became of an item: a value, or an error (its last line says which)."""

    value: Any = None
    error: str | None = None


def work_off(
    items: Iterable[Hashable],
    prepare: Callable[[], Work],
    *,
    n_workers: int,
    n_threads: int,
    timeout: float,
) -> Iterator[tuple[Any, Outcome]]:
    """Yield (item, outcome) as items are finished; they are begun in the order given.

    Parameters
    ----------
    items : iterable
        What to work on; picklable.
    prepare : callable
        Called once in every new process; returns the function that is called with each item. Picklable.
    n_workers : int
        Processes at a time.
    n_threads : int
        Threads that numerical libraries may use in each of them.
    timeout : float
        Seconds after which an item is given up and its process replaced. Time in which this process itself stands
        still (a sleeping machine) does not count.
    """
    queue = iter(items)
    workers: list[_Worker] = []
    try:
        waiting: Any = next(queue, None)
        while waiting is not None or any(worker.item is not None for worker in workers):
            busy = sum(worker.item is not None or not worker.ready for worker in workers)
            if waiting is not None and len(workers) < n_workers and busy == len(workers):
                workers.append(_Worker(prepare, n_threads))
            for worker in workers:
                if waiting is not None and worker.ready and worker.item is None:
                    worker.give(waiting)
                    waiting = next(queue, None)
            for worker in _wait(workers):
                item, outcome = worker.item, worker.collect(timeout)
                if outcome is not None and item is not None:
                    yield item, outcome
            workers = [worker for worker in workers if not worker.gone]
    finally:
        for worker in workers:
            worker.stop()


def _wait(workers: list["_Worker"]) -> list["_Worker"]:
    """Return the workers to look at: those that said something or died, and those whose time is up."""
    began = time.monotonic()
    signs = [sign for worker in workers for sign in (worker.connection, worker.process.sentinel)]
    seen = wait(signs, timeout=POLL_SECONDS)
    passed = min(time.monotonic() - began, 2 * POLL_SECONDS)
    for worker in workers:
        worker.seconds += passed
    return [w for w in workers if w.connection in seen or w.process.sentinel in seen or w.item is not None]


class _Worker:
    """A process, seen from the one that started it."""

    def __init__(self, prepare: Callable[[], Work], n_threads: int) -> None:
        self.connection, theirs = _context.Pipe()
        self.process = _context.Process(target=_serve, args=(theirs, prepare), daemon=True)
        with _environment(n_threads):
            self.process.start()
        theirs.close()
        self.ready = False
        self.gone = False
        self.item: Any = None
        self.seconds = 0.0

    def give(self, item: Any) -> None:
        self.item, self.seconds = item, 0.0
        with contextlib.suppress(OSError):  # a process that died meanwhile is noticed when its outcome is collected
            self.connection.send(item)

    def collect(self, timeout: float) -> Outcome | None:
        """Return the outcome of the item, if there is one by now."""
        died = not self.process.is_alive()  # asked before the pipe, so that no last word is missed
        try:
            message = self.connection.recv() if self.connection.poll() else None
        except (EOFError, OSError):
            message, died = None, True
        if message is not None and not self.ready:
            if message.error is not None:
                raise WorkerError(f"a worker could not begin: {message.error}")
            self.ready = True
            return None
        if message is None and died:
            message = self._bury()
        elif message is None and self.item is not None and self.seconds > timeout:
            self.stop()
            message = Outcome(error=f"timed out after {timeout:g} seconds")
        if message is not None:
            self.item = None
        return message

    def _bury(self) -> Outcome:
        self.process.join(5)
        self.gone = True
        code = self.process.exitcode
        if code is not None and code < 0:
            names = {value.value: value.name for value in signal.Signals}
            cause = f"was ended by signal {-code} ({names.get(-code, 'unknown')})"
        else:
            cause = f"ended with exit code {code}"
        if not self.ready:
            raise WorkerError(f"a worker {cause} before it could begin; is there enough memory for the data?")
        self.connection.close()
        return Outcome(error=f"the process {cause}")

    def stop(self) -> None:
        """End the process."""
        self.gone = True
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextlib.contextmanager
def _environment(n_threads: int) -> Iterator[None]:
    """Set what a new process inherits."""
    wanted = {**dict.fromkeys(_THREAD_VARIABLES, str(n_threads)), "OMP_WAIT_POLICY": "PASSIVE"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(connection: Connection, prepare: Callable[[], Work]) -> None:
    """Be a worker: prepare, then answer each item with an outcome, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the one that started us decides
    threading.Thread(target=_follow_parent, daemon=True).start()
    _be_quiet()
    try:
        work = prepare()
    except Exception as error:  # noqa: BLE001 - told to the one that started us
        connection.send(Outcome(error=f"{type(error).__name__}: {error}"))
        return
    connection.send(Outcome())
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = connection.recv()
            try:
                outcome = Outcome(work(item))
            except Exception:  # noqa: BLE001 - recorded as the outcome
                outcome = Outcome(error=traceback.format_exc().strip())
            connection.send(outcome)


def _follow_parent() -> None:
    """End this process with the one that started it, even in the middle of a fit that nobody waits for."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _be_quiet() -> None:
    """Keep native libraries and warnings off the screen, which shows the progress; errors travel as outcomes."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
