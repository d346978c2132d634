"""Figures of the core: fit time and memory over plain LightGBM, the histogram map's error, speed and first call.

    python -m benchmarks.core --output output/bench.json

Ratios are medians of interleaved repeats in one run. The machine should be idle. ``--small`` runs every measurement on
few rows, to see that it works; its figures mean nothing.
"""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.figures import Figure, make_parser, measure_all
from otfairboost import FairLGBMClassifier
from otfairboost.criteria import Target, stratify
from otfairboost.groups import encode_groups
from otfairboost.losses import LogLoss
from otfairboost.objective import FairObjective
from otfairboost.penalty import Penalty, prepare
from otfairboost.plan import plan_comparisons
from otfairboost.row_derivatives import HessianForm
from otfairboost.scores import IDENTITY_SCORE, LOGISTIC, ScoreMap
from otfairboost.threads import RowChunks, count_threads
from otfairboost.transport import transport_map
from otfairboost.transport.grid import default_bins

PROBABILITY = ScoreMap(LOGISTIC, 1.0, 0.0)
UNIT_WEIGHT = np.empty(0, np.float32)


class Sizes(NamedTuple):
    """How much to measure."""

    rows: int = 1_000_000
    few_rows: int = 30_000
    features: int = 50
    trees: int = 100
    repeats: int = 3
    map_rows: int = 1_000_000
    few_map_rows: tuple[int, ...] = (5_000, 30_000, 200_000)
    scaling_rows: tuple[int, int] = (250_000, 4_000_000)
    memory_rows: int = 4_000_000
    kde_rows: tuple[int, int] = (10_000, 100_000)


SMALL = Sizes(4000, 2000, 5, 5, 1, 20_000, (2_000,), (20_000, 40_000), 20_000, (500, 1000))


def make_data(
    n_rows: int, n_features: int, n_groups: int, *, n_informative: int | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return X, y and groups that depend on each other; the first ``n_informative`` features (all) tell about y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    groups = np.clip(np.floor((X[:, 0] + rng.normal(size=n_rows)) * n_groups / 4 + n_groups / 2), 0, n_groups - 1)
    effect = 1.0 / np.sqrt(np.arange(1, n_features + 1, dtype=np.float32))
    effect[n_features if n_informative is None else n_informative :] = 0.0
    raw = X @ effect + X[:, 1] * X[:, 2] - 0.5
    return X, (raw + rng.logistic(size=n_rows) > 0).astype(np.int8), groups.astype(np.int8)


def seconds(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def fit_ratios(sizes: Sizes) -> Iterator[Figure]:
    """Fit time over plain LightGBM's, same parameters.

    The data whose first four features alone tell about y are reported without a limit: there the plain model has soon
    learnt all there is, and its later trees split off small leaves of noise, which costs it less than the fair model's
    trees, which still have groups to bring together.
    """
    parameters = {"n_estimators": sizes.trees, "num_leaves": 31, "verbosity": -1, "n_jobs": -1}
    two_groups = FairLGBMClassifier(fairness_weight=5.0, **parameters)
    odds = FairLGBMClassifier(fairness="equalized_odds", fairness_weight=5.0, **parameters)
    small = make_data(2000, sizes.features, 2)
    two_groups.fit(*small[:2], sensitive_features=small[2])  # compile before the clock runs
    for name, fair, n_rows, n_groups, n_informative, limit in (
        ("fit_ratio_many_rows", two_groups, sizes.rows, 2, None, 1.10),
        ("fit_ratio_many_rows_little_to_learn", two_groups, sizes.rows, 2, 4, None),
        ("fit_ratio_equalized_odds_5_groups", odds, sizes.rows, 5, None, 1.20),
        ("fit_ratio_few_rows", two_groups, sizes.few_rows, 2, None, 1.25),
    ):
        X, y, groups = make_data(n_rows, sizes.features, n_groups, n_informative=n_informative)
        repeats = sizes.repeats if n_rows == sizes.rows else 3 * sizes.repeats
        ratios = []
        for _ in range(repeats):
            plain = seconds(lambda: lgb.LGBMClassifier(**parameters).fit(X, y))  # noqa: B023
            ratios.append(seconds(lambda: fair.fit(X, y, sensitive_features=groups)) / plain)  # noqa: B023
        detail = f"{n_rows} rows x {sizes.features}, {sizes.trees} trees, {repeats} repeats; plain fit {plain:.2f} s"
        yield Figure(name, median(ratios), limit, detail=detail)


def make_penalty(groups: NDArray, score_map: ScoreMap, **options: object) -> Penalty:
    """Return the penalty of demographic parity between groups."""
    strata = stratify("demographic_parity", Target(np.zeros(len(groups)), (0, 1)))
    plan = plan_comparisons(encode_groups(groups), strata, UNIT_WEIGHT, "equal")
    n_bins = default_bins(len(groups), plan.n_cells, plan.n_groups)
    return Penalty(plan, score_map, **{"n_bins": n_bins, **options})  # type: ignore[arg-type]


def scaling(sizes: Sizes) -> Iterator[Figure]:
    """Time per row of gradient and hessian at many rows over that at few."""
    per_row = []
    for n_rows in sizes.scaling_rows:
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 2, n_rows)
        raw = rng.normal(size=n_rows) + 0.5 * groups
        y = (rng.random(n_rows) < 0.3).astype(np.float32)
        penalty = make_penalty(groups, PROBABILITY)
        objective = FairObjective(LogLoss(), y, UNIT_WEIGHT, penalty, 5.0, HessianForm(0.2, False), count_threads(None))
        objective.derivatives(raw)
        per_row.append(median(seconds(lambda: objective.derivatives(raw)) for _ in range(15)) / n_rows)  # noqa: B023
        objective.close()
    few, many = sizes.scaling_rows
    yield Figure("time_per_row_growth", per_row[1] / per_row[0], 1.3, detail=f"{many} rows over {few}")
    yield Figure(
        "nanoseconds_per_row", 1e9 * per_row[1], None, detail=f"{many} rows, gradient and hessian of one round"
    )


_MEMORY = """
import resource, sys
import numpy as np
from benchmarks.core import make_data
import lightgbm as lgb
from otfairboost import FairLGBMClassifier
n_rows, fair = int(sys.argv[1]), sys.argv[2] == "fair"
rows_in_use = []
def resident(env):
    with open("/proc/self/statm") as file:
        rows_in_use.append(int(file.read().split()[1]) * resource.getpagesize())
X, y, groups = make_data(n_rows, 10, 2)
model = FairLGBMClassifier(fairness_weight=5.0, n_estimators=10, verbosity=-1) if fair else \
    lgb.LGBMClassifier(n_estimators=10, verbosity=-1)
model.fit(X, y, callbacks=[resident], **({"sensitive_features": groups} if fair else {}))
print(max(rows_in_use), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def memory(sizes: Sizes) -> Iterator[Figure]:
    """Extra memory per row: the larger of what training holds and what the whole fit peaks at."""
    used = {}
    for n_rows, kind in ((2000, "fair"), (sizes.memory_rows, "plain"), (sizes.memory_rows, "fair")):
        # The first is there to compile, which takes memory of its own.
        command = [sys.executable, "-c", _MEMORY, str(n_rows), kind]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        used[kind] = [int(number) for number in output.split()]
    training, peak = (
        (fair - plain) / sizes.memory_rows for fair, plain in zip(used["fair"], used["plain"], strict=True)
    )
    yield Figure("extra_bytes_per_row", max(training, peak), 24, detail=f"{sizes.memory_rows} rows; peak {peak:.1f}")


def make_scores(n_rows: int) -> Iterator[tuple[str, NDArray, NDArray, ScoreMap]]:
    """Return named scores with their groups: smooth ones, and those of boosters early and late in training."""
    rng = np.random.default_rng(0)
    X, y, groups = make_data(n_rows, 10, 2)
    yield "smooth", stats.logistic.cdf(rng.normal(0.8 * groups - 1, 1.2)), groups, PROBABILITY
    yield "heavy_tails", rng.standard_cauchy(n_rows) + groups, groups, IDENTITY_SCORE
    booster = lgb.train({"objective": "binary", "verbosity": -1}, lgb.Dataset(X, y), 100)
    for n_trees in (1, 10, 100):
        yield f"{n_trees}_trees", np.asarray(booster.predict(X, num_iteration=n_trees)), groups, PROBABILITY
    amount = np.exp(X[:, 0] + X[:, 1] * X[:, 2])
    booster = lgb.train({"objective": "regression", "verbosity": -1}, lgb.Dataset(X, amount), 100)
    yield "regression_100_trees", np.asarray(booster.predict(X)), groups, IDENTITY_SCORE


def histogram_errors(score: NDArray, groups: NDArray, score_map: ScoreMap) -> NDArray:
    """Return how far each row's binned image is from its exact one, in units of the score range."""
    exact = np.empty(len(score))
    for group in (0, 1):
        exact[groups == group] = transport_map(score[groups == group], score[groups != group])
    binned = make_penalty(groups, score_map).targets(score, RowChunks(len(score), count_threads(None)))
    return np.abs(binned - exact) / (1.0 if score_map is PROBABILITY else float(np.ptp(score)))


def map_error(sizes: Sizes) -> Iterator[Figure]:
    """Largest error of the histogram map over all rows, in units of the score range, and its speed over exact."""
    for name, score, groups, score_map in make_scores(sizes.map_rows):
        error = histogram_errors(score, groups, score_map)
        detail = f"{len(score)} rows, {len(np.unique(score))} distinct scores, mean error {error.mean():.2g}"
        yield Figure(f"histogram_error_{name}", float(error.max()), 1e-3, detail=detail)
        if name == "smooth":
            chunks = RowChunks(len(score), count_threads(None))
            slow, fast = (make_penalty(groups, score_map, transport=kind) for kind in ("exact", "histogram"))
            ratio = median(
                seconds(lambda: prepare(slow, score, chunks)) / seconds(lambda: prepare(fast, score, chunks))  # noqa: B023
                for _ in range(sizes.repeats + 1)
            )
            yield Figure("histogram_speed_over_exact", ratio, 5, at_least=True, detail=f"{len(score)} rows")


def map_error_few_rows(sizes: Sizes) -> Iterator[Figure]:
    """Share of rows whose error is above a thousandth of the score range, where there are fewer rows and bins."""
    for n_rows in sizes.few_map_rows:
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 2, n_rows)
        error = histogram_errors(stats.logistic.cdf(rng.normal(0.8 * groups - 1, 1.2)), groups, PROBABILITY)
        detail = f"largest error {error.max():.2g}, mean {error.mean():.2g}"
        share = float(np.mean(error > 1e-3))
        yield Figure(f"histogram_share_above_a_thousandth_{n_rows}_rows", share, None, detail=detail)


def plain_kde_map(source: NDArray, target: NDArray, at: NDArray, bandwidth: float) -> NDArray:
    """Return the paper's map written plainly: H_1^-1(H_0(z)) with SciPy's kernel density estimates."""
    h0, h1 = stats.gaussian_kde(source, bandwidth), stats.gaussian_kde(target, bandwidth)
    nodes = np.linspace(-0.5, 1.5, 1000)
    cdf = np.array([h1.integrate_box_1d(-np.inf, node) for node in nodes])
    return np.interp([h0.integrate_box_1d(-np.inf, z) for z in at], cdf, nodes)


def kde_speed(sizes: Sizes) -> Iterator[Figure]:
    """Speed of one gradient over the paper's formula written plainly."""
    for n_rows in sizes.kde_rows:
        rng = np.random.default_rng(0)
        groups = np.arange(n_rows) % 2
        score = stats.logistic.cdf(rng.normal(0.8 * groups - 1, 1.2))
        a, b = score[groups == 0], score[groups == 1]
        chunks = RowChunks(n_rows, count_threads(None))
        sample = min(1000, len(a))  # every row costs the same: some are timed, all are counted
        plain = seconds(lambda: plain_kde_map(a, b, a[:sample], 0.1)) * n_rows / sample  # noqa: B023
        for transport in ("histogram", "kde"):
            penalty = make_penalty(groups, PROBABILITY, transport=transport)
            prepare(penalty, score, chunks)
            ours = median(seconds(lambda: prepare(penalty, score, chunks)) for _ in range(5))  # noqa: B023
            yield Figure(f"{transport}_speed_over_plain_kde_{n_rows}_rows", plain / ours, None, at_least=True)


_FIRST_CALL = """
import sys, time
import numpy as np
import lightgbm as lgb
from otfairboost import FairLGBMClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5)); y = (X[:, 0] > 0).astype(int); groups = (X[:, 1] > 0).astype(int)
start = time.perf_counter()
if sys.argv[1] == "fair":
    FairLGBMClassifier(n_estimators=5, verbosity=-1).fit(X, y, sensitive_features=groups)
else:
    lgb.LGBMClassifier(n_estimators=5, verbosity=-1).fit(X, y)
print(time.perf_counter() - start)
"""


def first_call(sizes: Sizes) -> Iterator[Figure]:
    """Seconds that the first fit of a process takes longer than LightGBM's, with a cold and a warm cache."""

    def run(kind: str, cache: str) -> float:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", _FIRST_CALL, kind]
        return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    cold, warm = [], []
    for _ in range(min(3, sizes.repeats)):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(run("fair", cache) - run("plain", cache))
            warm.append(run("fair", cache) - run("plain", cache))
    yield Figure("first_fit_extra_seconds_cold", median(cold), 5)
    yield Figure("first_fit_extra_seconds_warm", median(warm), 0.3)


MEASUREMENTS = (first_call, scaling, map_error, map_error_few_rows, kde_speed, memory, fit_ratios)


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Measure, print, write."""
    options = make_parser(__doc__, MEASUREMENTS, "output/bench.json").parse_args(arguments)
    return measure_all(options, MEASUREMENTS, SMALL if options.small else Sizes())


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    main()
