"""Faults to plant on a worker of a cluster: it kills or freezes itself at a given moment of training."""

import os
import signal
import threading
import time
from typing import Any, Literal

Fault = Literal["kill_in_objective", "kill_in_tree", "freeze"]


def plant(fault: Fault, *, at_round: int = 2, delay: float = 0.002) -> int:
    """Make this process fail when it computes the derivatives of a round; return its id.

    ``kill_in_objective`` and ``freeze`` strike while the other workers wait for this one's histogram; ``kill_in_tree``
    a moment after the derivatives are handed over, while the tree grows.
    """
    from otfairboost.objective import FairObjective

    original = FairObjective.derivatives
    calls = 0

    def derivatives(self: FairObjective, *arguments: Any, **keywords: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls - 1 == at_round and fault != "kill_in_tree":
            os.kill(os.getpid(), signal.SIGKILL if fault == "kill_in_objective" else signal.SIGSTOP)
        result = original(self, *arguments, **keywords)
        if calls - 1 == at_round and fault == "kill_in_tree":
            threading.Thread(target=_kill_later, args=(delay,), daemon=True).start()
        return result

    FairObjective.derivatives = derivatives  # type: ignore[method-assign]
    return os.getpid()


def _kill_later(delay: float) -> None:
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGKILL)
