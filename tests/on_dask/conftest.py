"""One cluster of four processes for all tests of this folder."""

import logging

import pytest

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
from benchmarks.layout import SETTINGS  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from otfairboost.distributed.failures import list_workers  # noqa: E402


@pytest.fixture(scope="package")
def client():
    # silence_logs: what workers say of errors that are meant to happen
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=4, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def workers(client):
    """Addresses of all four workers, which a test before may have lost."""
    client.wait_for_workers(4, timeout=30)
    return sorted(list_workers(client))
