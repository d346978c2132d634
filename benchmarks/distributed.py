"""Figures beyond one machine: XGBoost's overhead, equal trees, traffic, killed workers, many rows.

    python -m benchmarks.distributed --output output/distributed.json

Clusters are processes of this machine, which should be idle. ``--small`` runs every measurement on few rows, to see
that it works; its figures mean nothing.
"""

import json
import logging
import os
import resource
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import xgboost as xgb
from distributed import Client, LocalCluster
from xgboost import collective
from xgboost.callback import TrainingCallback

from benchmarks.core import make_data, seconds
from benchmarks.faults import Fault, plant
from benchmarks.figures import Figure, make_parser, measure_all
from benchmarks.layout import SETTINGS, lay_arrays
from otfairboost import FairXGBClassifier, FairXGBRegressor
from otfairboost.distributed import DaskFairXGBClassifier, DaskFairXGBRegressor, WorkerLostError, dask_model
from otfairboost.distributed.failures import list_workers
from otfairboost.transport.grid import DEFAULT_BINS


class Sizes(NamedTuple):
    """How much to measure."""

    rows: int = 1_000_000
    features: int = 50
    trees: int = 100
    repeats: int = 3
    same_rows: int = 200_000
    same_trees: int = 30
    traffic_rows: tuple[int, int] = (100_000, 2_000_000)
    traffic_trees: int = 20
    kills: int = 20
    kill_rows: int = 200_000
    freeze_timeout: int = 15
    many_rows: int = 10_000_000
    many_features: int = 30
    many_trees: int = 20


SMALL = Sizes(4000, 5, 5, 1, 3000, 8, (4000, 20_000), 4, 2, 20_000, 4, 50_000, 5, 3)


@contextmanager
def start_cluster(n_workers: int) -> Iterator[Client]:
    """Start processes on this machine and wait for them."""
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers, timeout=60)
        yield client


def split(client: Client, *columns: Any, n_parts: int = 4) -> list[da.Array]:
    """Return arrays in partitions of about the same length, on all workers in turn."""
    workers = sorted(list_workers(client))
    return [lay_arrays(client, np.array_split(one, n_parts), workers) for one in columns]


def overhead(sizes: Sizes) -> Iterator[Figure]:
    """Fit time over plain XGBoost's on one machine, same parameters."""
    parameters = {"n_estimators": sizes.trees, "tree_method": "hist"}
    fair = FairXGBClassifier(fairness_weight=5.0, **parameters)
    few = make_data(2000, sizes.features, 2)
    fair.fit(*few[:2], sensitive_features=few[2])  # compile before the clock runs
    X, y, groups = make_data(sizes.rows, sizes.features, 2)
    ratios = []
    for _ in range(sizes.repeats):
        plain = seconds(lambda: xgb.XGBClassifier(**parameters).fit(X, y))
        ratios.append(seconds(lambda: fair.fit(X, y, sensitive_features=groups)) / plain)
    detail = f"{sizes.rows} rows x {sizes.features}, {sizes.trees} trees, {sizes.repeats} repeats; plain {plain:.2f} s"
    yield Figure("xgboost_fit_ratio", median(ratios), 1.15, detail=detail)


def same_trees(sizes: Sizes) -> Iterator[Figure]:
    """Largest difference of raw predictions from one machine's, over their standard deviation: features of few values.

    Rows are sorted by group, so that most workers have one group only. The control leaves the workers' sums out.
    """
    X, y, groups = make_data(sizes.same_rows, 8, 2)
    X = np.round(2 * X) / 2
    order = np.argsort(groups, kind="stable")
    parameters = {"n_estimators": sizes.same_trees, "max_depth": 5, "n_jobs": 1, "verbosity": 0}
    amount = X @ np.arange(1.0, 9.0, dtype=np.float32)
    for local, on_dask, target, name in (
        (FairXGBClassifier, DaskFairXGBClassifier, y, "classifier"),
        (FairXGBRegressor, DaskFairXGBRegressor, amount, "regressor"),
    ):
        alone = local(**parameters).fit(X, target, sensitive_features=groups).predict(X, output_margin=True)

        def difference(rows: list[da.Array]) -> float:
            model = on_dask(**parameters).fit(*rows[:2], sensitive_features=rows[2], verbose=False)  # noqa: B023
            raw = model.to_local().predict(X, output_margin=True)
            return float(np.abs(raw - alone).max() / alone.std())  # noqa: B023

        for n_workers in (2, 4):
            with start_cluster(n_workers) as client:
                by_group = split(client, X[order], target[order], groups[order])
                detail = f"{sizes.same_rows} rows, {sizes.same_trees} trees, {n_workers} workers"
                yield Figure(f"{name}_difference_{n_workers}_workers", difference(by_group), 1e-3, detail=detail)
                if n_workers == 2:
                    original = dask_model.WorkerObjective
                    dask_model.WorkerObjective = partial(original, reduce=np.asarray)  # type: ignore[misc,assignment]
                    try:
                        control = difference(split(client, X, target, groups))
                    finally:
                        dask_model.WorkerObjective = original  # type: ignore[misc]
                    yield Figure(f"{name}_difference_without_sums", control, 1e-2, at_least=True, detail=detail)


class TimeCollective(TrainingCallback):
    """Times the collective itself, with nobody to wait for, and writes it into the booster."""

    def after_training(self, model: Any) -> Any:
        """Sum arrays of one number and of a megabyte."""
        times = {}
        for length in (1, 131_072):
            array = np.ones(length)
            taken = [seconds(lambda: collective.allreduce(array, collective.Op.SUM)) for _ in range(30)]  # noqa: B023
            times[str(length)] = median(taken)
        model.set_attr(collective=json.dumps(times))
        return model


def count_traffic() -> None:
    """Count, in this process, what the objective sends from now on."""
    import otfairboost.distributed.collective as module

    original = getattr(module.sum_over_workers, "original", module.sum_over_workers)
    count = {"bytes": 0, "calls": 0, "seconds": 0.0}

    def counted(array: Any) -> Any:
        start = time.perf_counter()
        total = original(array)
        count["seconds"] += time.perf_counter() - start
        count["bytes"] += array.nbytes
        count["calls"] += 1
        return total

    counted.original, counted.count = original, count  # type: ignore[attr-defined]
    counted.__module__, counted.__qualname__ = original.__module__, original.__qualname__
    module.sum_over_workers = counted


def read_traffic() -> dict[str, float]:
    """Return what was counted in this process."""
    import otfairboost.distributed.collective as module

    return dict(module.sum_over_workers.count)  # type: ignore[attr-defined]


def traffic(sizes: Sizes) -> Iterator[Figure]:
    """Bytes and milliseconds that the penalty adds to a round, at few and many rows, and what the collective takes."""
    with start_cluster(2) as client:
        for n_rows in sizes.traffic_rows:
            rows = split(client, *make_data(n_rows, 10, 2))
            model = DaskFairXGBClassifier(
                n_estimators=sizes.traffic_trees,
                n_jobs=1,
                verbosity=0,
                n_bins=DEFAULT_BINS,
                callbacks=[TimeCollective()],
            )
            client.run(count_traffic)
            model.fit(*rows[:2], sensitive_features=rows[2], verbose=False)
            counts = list(client.run(read_traffic).values())
            detail = f"2 workers, 2 groups, {sizes.traffic_trees} rounds, rows {model.rows_per_worker_}"
            rounds = sizes.traffic_trees
            yield Figure(f"bytes_per_round_{n_rows}_rows", counts[0]["bytes"] / rounds, None, detail=detail)
            yield Figure(f"sums_per_round_{n_rows}_rows", counts[0]["calls"] / rounds, None, detail=detail)
            waited = 1000 * min(one["seconds"] for one in counts) / rounds
            yield Figure(f"sum_milliseconds_per_round_{n_rows}_rows", waited, None, detail="of who waits least")
        times = json.loads(model.get_booster().attr("collective"))
    yield Figure("collective_milliseconds_8_bytes", 1000 * times["1"], None, detail="2 workers, loopback")
    # XGBoost sums in a ring: 2 (N - 1) steps, in which every worker sends 2 (N - 1) / N times the array; a small array
    # takes N - 1 steps. With N = 2 the two measured sums tell what a step and a byte take.
    step = times["1"]
    per_byte = max(0.0, times["131072"] - 2 * step) / 2**20
    size, n_sums = counts[0]["bytes"] / rounds, round(counts[0]["calls"] / rounds)
    for n_workers in (10, 100, 1000):
        latency, transfer = n_sums * 2 * (n_workers - 1) * step, 2 * (n_workers - 1) / n_workers * size * per_byte
        yield Figure(
            f"calculated_milliseconds_per_round_{n_workers}_workers", 1000 * (latency + transfer), None,
            detail=f"{n_sums} sums; steps {1000 * latency:.3g} ms, bytes {1000 * transfer:.3g} ms",
        )  # fmt: skip
    yield Figure("collective_milliseconds_1_mebibyte", 1000 * times["131072"], None, detail="2 workers, loopback")


def kills(sizes: Sizes) -> Iterator[Figure]:
    """Workers killed in the objective and inside a tree, in turn; then one that freezes."""
    taken, fits = [], 0
    columns = make_data(sizes.kill_rows, 10, 2)
    with start_cluster(2) as client:
        for i in range(sizes.kills):
            fault: Fault = "kill_in_tree" if i % 2 else "kill_in_objective"
            taken.append(_fail(client, columns, fault, timeout=120))
            client.wait_for_workers(2, timeout=60)
            fits += len(_fit(client, columns, 120).rows_per_worker_) == 2
        yield Figure("killed_worker_seconds_to_error", max(taken), 10, detail=f"the slowest of {sizes.kills} kills")
        yield Figure("fits_after_kills", fits, sizes.kills, at_least=True, detail="on the same client")
        waited = _fail(client, columns, "freeze", timeout=sizes.freeze_timeout)
        limit = sizes.freeze_timeout + 10.0
        yield Figure("frozen_worker_seconds_to_error", waited, limit, detail=f"timeout {sizes.freeze_timeout} s")


def _fit(client: Client, columns: tuple[Any, ...], timeout: int) -> DaskFairXGBClassifier:
    X, y, groups = split(client, *columns)
    # The trackers of failed fits report when their own time is over: later than this takes.
    config = collective.Config(timeout=timeout, tracker_timeout=36_000)
    model = DaskFairXGBClassifier(n_estimators=6, max_depth=8, n_jobs=1, verbosity=0, coll_cfg=config)
    return model.fit(X, y, sensitive_features=groups, verbose=False)


def _fail(client: Client, columns: tuple[Any, ...], fault: Fault, timeout: int) -> float:
    """Return the seconds that a fit with a fault takes up to its error, which is more than from fault to error."""
    _fit(client, columns, timeout)  # everything is compiled
    address = sorted(list_workers(client))[-1]
    (pid,) = client.run(plant, fault, workers=[address]).values()
    start = time.perf_counter()
    try:
        _fit(client, columns, timeout)
    except WorkerLostError as error:
        if address not in str(error):
            raise RuntimeError(f"the error does not name {address}") from error
    else:
        raise RuntimeError(f"{fault} went unnoticed")
    finally:
        if fault == "freeze":
            os.kill(pid, signal.SIGKILL)
    return time.perf_counter() - start


def many_rows(sizes: Sizes) -> Iterator[Figure]:
    """Peak memory of a fit whose rows are made in Dask's partitions, and never at the client."""
    with start_cluster(2) as client:
        rng = da.random.default_rng(0)
        chunk = -(-sizes.many_rows // 40)
        X = rng.standard_normal((sizes.many_rows, sizes.many_features), chunks=(chunk, -1), dtype=np.float32)
        noise = rng.standard_normal(sizes.many_rows, chunks=chunk, dtype=np.float32)
        groups = (X[:, 0] + noise > 0).astype(np.int8)
        y = (X[:, 0] + X[:, 1] * X[:, 2] + noise > 0).astype(np.int8)
        model = DaskFairXGBClassifier(n_estimators=sizes.many_trees, verbosity=0)
        start = time.perf_counter()
        model.fit(X, y, sensitive_features=groups, verbose=False)
        taken = time.perf_counter() - start
        peaks = list(client.run(_peak_memory).values())
    detail = f"{sizes.many_rows} rows x {sizes.many_features}, {sizes.many_trees} trees, 2 workers: {peaks} bytes"
    yield Figure("many_rows_peak_gigabytes", (sum(peaks) + _peak_memory()) / 1e9, None, detail=detail)
    yield Figure("many_rows_per_worker", min(model.rows_per_worker_), None, detail=str(model.rows_per_worker_))
    yield Figure("many_rows_seconds", taken, None, detail=detail)


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


MEASUREMENTS = (overhead, same_trees, traffic, kills, many_rows)


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Measure, print, write."""
    options = make_parser(__doc__, MEASUREMENTS, "output/distributed.json").parse_args(arguments)
    return measure_all(options, MEASUREMENTS, SMALL if options.small else Sizes())


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="Sending large graph")
    main()
