"""The fits of a frontier: weights side by side on one fold after the other."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from otfairboost.estimators.held_out import score_rows, take_rows
from otfairboost.selection.rows import RowInput, SplitRows
from otfairboost.selection.storage import FitStorage

Float = NDArray[np.float64]
Receive = Callable[[int, int, Float], None]

# They change how fast a fit is and what it prints, not what it finds.
_IDLE_PARAMETERS = ("fairness_weight", "n_jobs", "verbosity", "verbose", "silent")


def check_estimator(estimator: Any) -> None:
    """Raise for an estimator without a weight to set."""
    if not hasattr(estimator, "get_params") or "fairness_weight" not in estimator.get_params(deep=False):
        raise TypeError(f"estimator is {estimator!r}; it needs a parameter fairness_weight")
    max_gap = estimator.get_params(deep=False).get("max_gap")
    if max_gap is not None:
        raise ValueError(f"estimator has max_gap={max_gap!r} and would search a weight itself; leave max_gap at None")


def run_fits(
    estimator: Any,
    weights: Sequence[float],
    split: SplitRows,
    fit_arguments: dict[str, Any],
    *,
    n_jobs: int,
    storage: FitStorage | None,
    receive: Receive,
) -> None:
    """Fit every weight on every fold, and hand over the held-out scores of each as ``receive(weight, fold, scores)``.

    Both are given by number. Scores are NaN where training diverged. What ``storage`` holds is not fitted again.
    One fold is in memory at a time, and as many models as there are jobs.
    """
    for number, fold in enumerate(split.folds):
        missing = []
        for i, weight in enumerate(weights):
            scores = None if storage is None else storage.load(weight, number)
            if scores is None:
                missing.append(i)
            else:
                receive(i, number, scores)
        if not missing:
            continue
        n_parallel = min(n_jobs, len(missing))
        training = split.training.take(fold.train) if split.training is split.measured else split.training
        fit_at = prepare(_on_threads(estimator, n_jobs // n_parallel), training, fit_arguments)
        score_at = _scorer(fit_at, take_rows(split.measured.X, fold.test), len(fold.test))
        with ThreadPoolExecutor(n_parallel, thread_name_prefix="otfairboost-frontier") as pool:
            futures = {pool.submit(score_at, weights[i]): i for i in missing}
            try:
                for future in as_completed(futures):
                    i, scores = futures.pop(future), future.result()
                    if storage is not None:
                        storage.save(weights[i], number, scores)
                    receive(i, number, scores)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # do not begin what nobody waits for any more
                raise


def prepare(estimator: Any, rows: RowInput, fit_arguments: dict[str, Any]) -> Callable[[float], Any]:
    """Return a function of the weight that returns the fitted estimator."""
    arguments = {**fit_arguments, "sensitive_features": rows.sensitive_features, "sample_weight": rows.sample_weight}
    if rows.control_features is not None:
        arguments["control_features"] = rows.control_features
    if hasattr(estimator, "prepare_fit"):
        return estimator.prepare_fit(rows.X, rows.y, **arguments).fit
    return lambda weight: clone(estimator).set_params(fairness_weight=weight).fit(rows.X, rows.y, **arguments)


def name_columns(feature_name: Any, categorical_feature: Any) -> dict[str, Any]:
    """Return those of the two arguments of LightGBM's ``fit`` that are set; XGBoost's has neither."""
    given = {"feature_name": feature_name, "categorical_feature": categorical_feature}
    return {name: value for name, value in given.items() if not (isinstance(value, str) and value == "auto")}


def identify(estimator: Any, split: SplitRows, fit_arguments: dict[str, Any]) -> dict[str, str]:
    """Return what scores depend on besides the weight, by kind."""
    parameters = {
        name: value for name, value in estimator.get_params(deep=False).items() if name not in _IDLE_PARAMETERS
    }
    return {
        "rows": joblib.hash((split.training, None if split.measured is split.training else split.measured)),
        "folds": joblib.hash(split.folds),
        "parameters": joblib.hash((type(estimator).__name__, sorted(parameters.items()), fit_arguments)),
        "versions": ", ".join(f"{name} {version(name)}" for name in ("otfairboost", "lightgbm")),
    }


def _scorer(fit_at: Callable[[float], Any], X: Any, n_rows: int) -> Callable[[float], Float]:
    def score_at(weight: float) -> Float:
        try:
            return score_rows(fit_at(weight), X)
        except FloatingPointError:  # diverged
            return np.full(n_rows, np.nan)

    return score_at


def _on_threads(estimator: Any, n_threads: int) -> Any:
    estimator = clone(estimator)
    return estimator.set_params(n_jobs=n_threads) if "n_jobs" in estimator.get_params(deep=False) else estimator
