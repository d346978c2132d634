"""What went wrong on a cluster, in words: which worker was lost, which one did not answer."""

import time
from collections.abc import Iterable
from typing import Any, cast

from distributed import CancelledError, Client
from distributed.scheduler import KilledWorker
from xgboost.core import XGBoostError

from otfairboost.distributed.worker import take_error

_PATIENCE = 3.0


class WorkerLostError(RuntimeError):
    """A worker was lost, or did not answer, while a model was trained. Nothing was changed; ``fit`` can be repeated."""


def list_workers(client: Client) -> dict[str, Any]:
    """Return what the scheduler knows of each worker, by address.

    ``client.scheduler_info`` at times returns none: the client's heartbeat writes where it reads from.
    """
    scheduler: Any = client.scheduler
    workers: dict[str, Any] = client.sync(scheduler.identity)["workers"]
    return workers


def explain(error: Exception, client: Client, workers: Iterable[str], timeout: float, run: str) -> Exception:
    """Return the error that says what happened: of a lost worker, of one that raised, or the error itself.

    Parameters
    ----------
    error : Exception
        What training has raised.
    client : distributed.Client
    workers : iterable of str
        Addresses of the workers that have trained.
    timeout : float
        Seconds that a worker was waited for.
    run : str
        What the training is called (``WorkerObjective.run``).
    """
    if not _is_of_the_network(error):
        return error
    started = time.monotonic()
    while True:  # a dead worker's connection may be noticed by its peers first
        infos = list_workers(client)
        lost = sorted(set(workers) - set(infos))
        if lost or _is_timeout(error) or time.monotonic() - started > _PATIENCE:
            break
        for own in client.run(take_error, run, workers=list(workers), on_error="ignore").values():
            if own is not None:
                return cast(Exception, own)
        time.sleep(0.1)
    if lost:
        return WorkerLostError(
            f"{_name(lost)} lost during training: killed, out of memory, or cut off from the network. "
            "Nothing was trained; fit can be called again, and runs on the workers there are"
        )
    if _is_timeout(error):
        silent = [one for one in workers if time.time() - infos[one]["last_seen"] > 0.5 * timeout]
        who = _name(silent).removesuffix(" was").removesuffix(" were") if silent else "a worker"
        return WorkerLostError(
            f"{who} did not answer within {timeout:g} s, the timeout of coll_cfg: frozen, overloaded, or cut off from "
            "the network. Nothing was trained"
        )
    return WorkerLostError(f"the connection between workers broke; the workers' logs say more: {_first_line(error)}")


def _is_of_the_network(error: Exception) -> bool:
    if isinstance(error, XGBoostError):
        return "coll" in str(error) or "socket" in str(error) or "racker" in str(error)
    if isinstance(error, KilledWorker | CancelledError):
        return True
    return "Invalid worker address" in str(error) or "Missing required workers" in str(error)


def _is_timeout(error: Exception) -> bool:
    return "timeout" in str(error).lower() or "timed out" in str(error).lower()


def _name(workers: list[str]) -> str:
    return f"worker {workers[0]} was" if len(workers) == 1 else f"workers {', '.join(workers)} were"


def _first_line(error: Any) -> str:
    return " ".join(line.strip() for line in str(error).split("Stack trace")[0].splitlines()).strip()
