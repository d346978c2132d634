"""Rows laid out on chosen workers of a Dask cluster."""

import copy
from collections.abc import Sequence
from typing import Any

import dask.array as da
from distributed import Client, Future

SETTINGS = {
    "distributed.scheduler.work-stealing": False,  # rows stay where they are laid
    # A local cluster gives up a worker that is away when it looks, some seconds after one was lost: with many kills in
    # a row that may be the next one, about to be started again.
    "distributed.deploy.lost-worker-timeout": "1 hour",
}
"""Dask's settings for a cluster whose workers are killed on purpose."""


def lay_out(client: Client, parts: Sequence[Any], workers: Sequence[str]) -> list[Future]:
    """Return each part as a future on the next of the workers in turn; anew at every call, so not where others are."""
    return [
        client.submit(copy.copy, part, pure=False, workers=[workers[i % len(workers)]]) for i, part in enumerate(parts)
    ]


def lay_arrays(client: Client, parts: Sequence[Any], workers: Sequence[str]) -> da.Array:
    """Return the parts as one array, each part a partition."""
    futures = lay_out(client, parts, workers)
    rest = parts[0].shape[1:]
    name = f"laid-{futures[0].key}"
    graph = {(name, i, *[0] * len(rest)): future for i, future in enumerate(futures)}
    chunks = (tuple(map(len, parts)), *((length,) for length in rest))
    return da.Array(graph, name, chunks, parts[0].dtype, meta=parts[0][:0])
