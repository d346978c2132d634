"""What a frontier and a search for ``max_gap`` cost, in fits, on ACSIncome Tennessee by sex.

    python -m benchmarks.frontier --data-home FOLDER --output output/frontier.json

The machine should be idle. ``--small`` runs every measurement on few rows and trees, to see that it works.
"""

import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from benchmarks.figures import Figure, make_parser, measure_all
from benchmarks.target_gap import Data, load_tennessee
from benchmarks.tennessee import PARAMETERS
from otfairboost import FairLGBMClassifier
from otfairboost.datasets import make_loan_applications
from otfairboost.estimators.held_out import split_rows
from otfairboost.selection import FairnessFrontier


class Sizes(NamedTuple):
    """How much to measure."""

    weights: int = 20
    folds: int = 5
    trees: int = 300
    targets: int = 10
    n_jobs: int = -1


SMALL = Sizes(3, 2, 5, 2)


def load_data(small: bool, data_home: str | None) -> Data:
    """Return the rows to measure on."""
    if not small:
        return load_tennessee(data_home)
    X, y, sex, _ = make_loan_applications(2000, random_state=0)
    return Data(np.asarray(X), np.asarray(y), np.asarray(sex))


def make_weights(n_weights: int) -> list[float]:
    """Return 0 and weights up to 20."""
    return [0.0, *np.geomspace(0.1, 20.0, n_weights - 1).tolist()]


def make_model(sizes: Sizes, **parameters: Any) -> FairLGBMClassifier:
    """Return the estimator that is measured."""
    return FairLGBMClassifier(**{**PARAMETERS, "n_estimators": sizes.trees, "n_jobs": sizes.n_jobs, **parameters})


def cost(sizes: Sizes, data: Data, **_: Any) -> Iterator[Figure]:
    """Seconds of a frontier over those of its fits one by one."""
    weights, model = make_weights(sizes.weights), make_model(sizes)
    codes = np.unique(data.groups, return_inverse=True)[1].astype(np.int32)
    folds = split_rows(sizes.folds, data.y, codes, classification=True, seed=0)
    model.set_params(n_estimators=1).fit(data.X[:999], data.y[:999], sensitive_features=data.groups[:999])  # compile
    model.set_params(n_estimators=sizes.trees)

    start = time.perf_counter()
    for train, _ in folds:
        rows = data.part(train)
        for weight in weights:
            clone(model).set_params(fairness_weight=weight).fit(rows.X, rows.y, sensitive_features=rows.groups)
    one_by_one = time.perf_counter() - start
    start = time.perf_counter()
    frontier = FairnessFrontier(model, weights=weights, cv=folds, n_jobs=sizes.n_jobs)
    frontier.fit(data.X, data.y, sensitive_features=data.groups)
    together = time.perf_counter() - start
    detail = f"{sizes}; {together:.1f} s over {one_by_one:.1f} s, with prediction and metrics"
    yield Figure("frontier_over_single_fits", together / one_by_one, 1.15, detail=detail)


_MEMORY = """
import resource, sys, warnings
warnings.simplefilter("ignore")
from benchmarks.frontier import FairnessFrontier, SMALL, Sizes, load_data, make_model, make_weights
n_weights, small, home = int(sys.argv[1]), sys.argv[2] == "small", sys.argv[3] or None
sizes = SMALL if small else Sizes(trees=30)
data = load_data(small, home)
frontier = FairnessFrontier(make_model(sizes), weights=make_weights(n_weights), cv=2)
frontier.fit(data.X, data.y, sensitive_features=data.groups)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def memory(sizes: Sizes, small: bool, data_home: str | None, **_: Any) -> Iterator[Figure]:
    """Peak memory with many weights over that with few."""
    peaks = []
    for n_weights in (4, 40):
        kind = "small" if small else "full"
        command = [sys.executable, "-c", _MEMORY, str(n_weights), kind, data_home or ""]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    detail = f"40 weights over 4: {peaks[1] / 1024:.0f} MB over {peaks[0] / 1024:.0f} MB, predictions kept"
    yield Figure("frontier_memory_growth", peaks[1] / peaks[0], 1.1, detail=detail)


def search_cost(sizes: Sizes, data: Data, **_: Any) -> Iterator[Figure]:
    """Share of targets that take at most 8 fits on one split, and what they took."""
    tried = []
    split = ShuffleSplit(1, test_size=0.25, random_state=0)
    for target in np.linspace(0.01, 0.1, sizes.targets):
        model = make_model(sizes, max_gap=float(target), gap_cv=split)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a target that cannot be reached costs fits as well
            model.fit(data.X, data.y, sensitive_features=data.groups)
        tried.append(len(model.search_history_))
    detail = f"{sizes.targets} targets from 0.01 to 0.1: {tried} fits"
    yield Figure("targets_within_8_fits", float(np.mean(np.array(tried) <= 8)), 0.9, at_least=True, detail=detail)
    yield Figure("mean_fits_of_a_target", float(np.mean(tried)), None, detail=detail)


MEASUREMENTS = (cost, memory, search_cost)


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Measure, print, write."""
    parser = make_parser(__doc__, MEASUREMENTS, "output/frontier.json")
    parser.add_argument("--data-home", help="folder with the data; else it is downloaded")
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args(arguments)
    sizes = (SMALL if options.small else Sizes())._replace(n_jobs=options.n_jobs)
    data = load_data(options.small, options.data_home)
    return measure_all(options, MEASUREMENTS, sizes, data=data, small=options.small, data_home=options.data_home)


if __name__ == "__main__":
    main()
