"""A cluster in one process: workers on threads, each with a part of the rows, that sum arrays over all of them."""

import threading
from concurrent.futures import ThreadPoolExecutor


def run_workers(n_workers, work):
    """Return [work(index, reduce) of each worker]; ``reduce`` adds an array up over the workers."""
    meeting, slots = threading.Barrier(n_workers, timeout=30), [None] * n_workers

    def start(index):
        def reduce(array):
            slots[index] = array.copy()
            meeting.wait()
            total = sum(slots)
            meeting.wait()
            return total

        try:
            return work(index, reduce)
        except BaseException:
            meeting.abort()
            raise

    with ThreadPoolExecutor(n_workers) as pool:
        return list(pool.map(start, range(n_workers)))
