"""What is fitted on which rows, and from which seeds: all of it follows from the task, the profile and one seed."""

import hashlib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from otfairboost.benchmark.methods import Method
from otfairboost.benchmark.profiles import Profile
from otfairboost.benchmark.rows import TaskData
from otfairboost.benchmark.spaces import Configuration, method_configurations
from otfairboost.benchmark.store import Key
from otfairboost.benchmark.tasks import Task

SEARCH, WEIGHTS = "search", "weights"
TIMED_CONFIGURATION = 0
"""In this configuration every method bins the rows for itself, so that times can be compared."""
WEIGHT_PARAMETER = "fairness_weight"
PACKAGES = ("otfairboost", "lightgbm", "numpy", "scipy", "scikit-learn", "pandas", "fairlearn", "fairgbm", "xgboost")


class Split(NamedTuple):
    """Folds that are predicted; the others are fitted on."""

    test_folds: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return the folds joined: "2", "1+3"."""
        return "+".join(map(str, self.test_folds))

    @classmethod
    def read(cls, name: str) -> "Split":
        """Return the split of that name."""
        return cls(tuple(map(int, name.split("+"))))


class Unit(NamedTuple):
    """One fit.

    Attributes
    ----------
    key : Key
    shared, own : dict
        The configuration: LightGBM's parameters, the same for all methods, and the method's.
    seed : int
        The fit's.
    """

    key: Key
    shared: dict[str, Any]
    own: dict[str, Any]
    seed: int

    def __hash__(self) -> int:
        return hash(self.key)


def outer_splits(n_folds: int) -> list[Split]:
    """Return the splits of a cross-validation: each fold once."""
    return [Split((fold,)) for fold in range(n_folds)]


def inner_splits(n_folds: int) -> list[Split]:
    """Return the further splits of a nested one: each pair of folds.

    Fitted on the rows of neither, a pair serves both ways: what is chosen by its prediction of one fold has never seen
    the other.
    """
    if n_folds < 3:
        raise ValueError(
            f"n_folds={n_folds} leaves nothing to fit on when two folds are kept out; at least 3 are needed"
        )
    return [Split(pair) for pair in combinations(range(n_folds), 2)]


def assign_folds(y: NDArray, n_folds: int, seed: int, *, stratify: bool) -> NDArray[np.intp]:
    """Return the fold of each row; shuffled, and with the same share of each label if stratified."""
    splitter = (StratifiedKFold if stratify else KFold)(n_folds, shuffle=True, random_state=seed)
    folds = np.empty(len(y), dtype=np.intp)
    for fold, (_, test) in enumerate(splitter.split(np.zeros(len(y)), y if stratify else None)):
        folds[test] = fold
    return folds


def plan(task: Task, methods: Sequence[Method], profile: Profile, seed: int, *, nested: bool = False) -> Iterator[Unit]:
    """Yield all fits of a task, ordered so that a run that ends early has treated all methods alike.

    One configuration after the other, for all methods and folds; the fits at given fairness weights in between.

    Parameters
    ----------
    task : Task
    methods : sequence of Method
        Those that can do the task.
    profile : Profile
    seed : int
    nested : bool
        Whether to fit the inner splits as well.
    """
    splits = [*outer_splits(profile.n_folds), *(inner_splits(profile.n_folds) if nested else [])]
    tried = {
        method.name: method_configurations(
            task, method, seed, count_configurations(task, method, profile.n_configurations, profile.max_models)
        )
        for method in methods
    }
    for index in range(max(profile.n_configurations, len(profile.fairness_weights))):
        for method in methods:
            if index < len(tried[method.name]):
                shared, own = tried[method.name][index]
                for split in splits:
                    yield Unit(Key(SEARCH, method.name, index, split.name), shared, own, _fit_seed(seed, index))
        if task.configurations == "sampled" and index < len(profile.fairness_weights):
            yield from _at_weight(task, methods, profile, seed, index, tried)


def _at_weight(
    task: Task,
    methods: Sequence[Method],
    profile: Profile,
    seed: int,
    index: int,
    tried: dict[str, list[Configuration]],
) -> Iterator[Unit]:
    """Yield the fits of the first configuration at one fairness weight, for the methods that have such a weight."""
    for method in methods:
        own = method.default(task)
        if WEIGHT_PARAMETER in own:
            own = {**own, WEIGHT_PARAMETER: profile.fairness_weights[index]}
            for split in outer_splits(profile.n_folds):
                key = Key(WEIGHTS, method.name, index, split.name)
                yield Unit(key, tried[method.name][0].shared, own, _fit_seed(seed, 0))


def count_configurations(task: Task, method: Method, n_configurations: int, max_models: int | None) -> int:
    """Return how many configurations a method tries."""
    if task.configurations == "default":
        return 1
    return n_configurations if max_models is None else max(1, min(n_configurations, max_models // method.fits))


def _fit_seed(seed: int, configuration: int) -> int:
    return int(np.random.SeedSequence([seed, configuration]).generate_state(1)[0] % 2**31)


def checksum(data: TaskData) -> str:
    """Return a fingerprint of a task's rows: SHA-256 of names and values."""
    digest = hashlib.sha256()
    digest.update("\0".join(map(str, data.X.columns)).encode())
    for name in data.X.columns:
        _update(digest, data.X[name].to_numpy())
    _update(digest, data.y)
    _update(digest, data.s)
    if data.sample_weight is not None:
        _update(digest, data.sample_weight)
    return digest.hexdigest()


def _update(digest: Any, values: Any) -> None:
    array = np.asarray(values)
    if array.dtype.kind not in "biufSU":
        array = array.astype(str)
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data if array.dtype.kind != "U" else "\0".join(array.ravel()).encode())


def fingerprint(task: Task, profile: Profile, seed: int, data: TaskData) -> dict[str, Any]:
    """Return all that two results must have in common to stand in one table."""
    return {
        "versions": versions(),
        "profile": profile.name,
        "n_folds": profile.n_folds,
        "n_configurations": 1 if task.configurations == "default" else profile.n_configurations,
        "max_models": profile.max_models,
        "timeout": profile.timeout,
        "max_rows": profile.max_rows,
        "fairness_weights": list(profile.fairness_weights),
        "seed": seed,
        "data": checksum(data),
    }


def versions() -> dict[str, str]:
    """Return the installed versions of what results depend on."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
