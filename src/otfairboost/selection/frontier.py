"""The frontier of performance and fairness: a path of weights, measured on rows that were held out."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from otfairboost.metrics.registry import Metric
from otfairboost.selection.choices import FrontierChoices
from otfairboost.selection.fits import check_estimator, identify, name_columns, run_fits
from otfairboost.selection.measures import Measures, find_measures
from otfairboost.selection.points import FrontierNumbers, FrontierPoint
from otfairboost.selection.progress import reporting
from otfairboost.selection.rows import RowInput, SplitRows, read_split
from otfairboost.selection.storage import FitStorage
from otfairboost.threads import count_threads

Float = NDArray[np.float64]

DEFAULT_WEIGHTS = (0.0, *np.geomspace(0.1, 50.0, 19).round(3).tolist())


class FairnessFrontier(FrontierChoices, BaseEstimator):
    """Fit a path of fairness weights on folds or a validation set, to choose one by its numbers.

    Each fold's rows are read and binned once and shared by all weights.

    Parameters
    ----------
    estimator : estimator
        With a parameter ``fairness_weight`` and a ``fit`` that takes ``sensitive_features``: a
        :class:`otfairboost.FairLGBMClassifier` or :class:`otfairboost.FairLGBMRegressor`, with all parameters but
        the weight.
    weights : sequence of float, optional
        Which weights; by default 0 and 19 from 0.1 to 50, evenly spaced on a logarithmic scale.
    cv : int, splitter or iterable, default=5
        Folds: a number of shuffled ones that all have their share of every group and label, an object of
        scikit-learn's ``model_selection``, or pairs of row numbers. Not used if ``fit`` is given a validation set.
    metrics : sequence of str or Metric, optional
        Metrics to compute besides the next two.
    performance, gap : str or Metric, optional
        The two metrics that are traded. By default average precision (a regressor: mean absolute error) and the gap
        of the estimator's criterion (a regressor: ``"kolmogorov_smirnov"``).
    n_jobs : int, optional
        Cores; all by default. Fits run side by side, each on its share of the cores.
    storage : str or path, optional
        A file to keep finished fits in. A later ``fit`` of the same rows and parameters takes them from there, also
        with more weights; other rows or parameters are refused.
    keep_predictions : bool, default=True
        Whether to keep ``predictions_``.
    progress : bool or callable, default=False
        A progress bar, or a function that is called as ``progress(n_done, n_total)``.

    Attributes
    ----------
    weights_ : array of shape (n_weights,)
        Ascending.
    table_ : pandas.DataFrame or dict of arrays
        Columns fairness_weight, fold, metric, value; a dict of arrays where pandas is not installed.
    values_ : array of shape (n_weights, n_folds, n_metrics)
        The same numbers.
    metrics_ : tuple of str
        Names of the metrics.
    performance_, gap_ : str
        Names of the two that are traded.
    predictions_ : float32 array of shape (n_weights, n_held_out)
        Held-out probabilities of the positive class, or predictions; NaN where training diverged.
    held_out_ : HeldOutRows
        The rows that these are for, in row order.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        weights: Sequence[float] | None = None,
        cv: Any = 5,
        metrics: Sequence[str | Metric] | None = None,
        performance: str | Metric | None = None,
        gap: str | Metric | None = None,
        n_jobs: int | None = None,
        storage: Any = None,
        keep_predictions: bool = True,
        progress: bool | Callable[[int, int], None] = False,
    ) -> None:
        self.estimator = estimator
        self.weights = weights
        self.cv = cv
        self.metrics = metrics
        self.performance = performance
        self.gap = gap
        self.n_jobs = n_jobs
        self.storage = storage
        self.keep_predictions = keep_predictions
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        eval_X: Any = None,
        eval_y: Any = None,
        eval_sensitive_features: Any = None,
        eval_sample_weight: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        control_features: Any = None,
        eval_control_features: Any = None,
    ) -> "FairnessFrontier":
        """Fit every weight on every fold and measure it on the rows held out.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight, feature_name, categorical_feature, control_features
            As in the estimator's ``fit``. Metrics are weighted as well.
        eval_X, eval_y, eval_sensitive_features, eval_sample_weight, eval_control_features
            A validation set: the models are then trained on all of X and measured on it, without folds.
        """
        check_estimator(self.estimator)
        weights = _read_weights(self.weights)
        measures = find_measures(self.estimator, self.metrics, self.performance, self.gap)
        given = (eval_X, eval_y, eval_sensitive_features)
        if any(one is None for one in given) and any(one is not None for one in (*given, eval_sample_weight)):
            raise ValueError("eval_X, eval_y and eval_sensitive_features go together; one of them is missing")
        split = read_split(
            self.estimator,
            RowInput(X, y, sensitive_features, sample_weight, control_features),
            None if eval_X is None else RowInput(*given, eval_sample_weight, eval_control_features),
            self.cv,
        )
        fit_arguments = name_columns(feature_name, categorical_feature)
        values, predictions = self._measure(weights, split, measures, fit_arguments)
        self.weights_ = np.array(weights)
        self.metrics_ = tuple(metric.name for metric in measures.metrics)
        self.performance_, self.gap_ = measures.performance.name, measures.gap.name
        self.values_ = values
        self.held_out_ = split.held_out
        if self.keep_predictions:
            self.predictions_ = predictions
        else:
            self.__dict__.pop("predictions_", None)
        self._numbers = FrontierNumbers(self.weights_, measures.metrics, values)
        self._measures = measures
        self.table_ = _make_frame(self._numbers.columns())
        return self

    def refit(self, choice: float | FrontierPoint, X: Any, y: Any, **fit_arguments: Any) -> Any:
        """Return the estimator fitted on all rows at a chosen weight.

        ``fit_arguments`` are those of the estimator's ``fit``, ``sensitive_features`` above all.
        """
        weight = choice.fairness_weight if isinstance(choice, FrontierPoint) else choice
        return clone(self.estimator).set_params(fairness_weight=weight).fit(X, y, **fit_arguments)

    def _measure(
        self, weights: list[float], split: SplitRows, measures: Measures, fit_arguments: dict[str, Any]
    ) -> tuple[Float, NDArray[np.float32]]:
        """Return the metrics by weight and fold, and the held-out scores by weight and row."""
        values = np.full((len(weights), len(split.folds), len(measures.metrics)), np.nan)
        kept = len(split.held_out.y) if self.keep_predictions else 0
        predictions = np.full((len(weights), kept), np.nan, np.float32)
        rows_of = [np.flatnonzero(split.held_out.fold == number) for number in range(len(split.folds))]
        held_out = [split.held_out.part(rows) for rows in rows_of]
        measures.refuse_impossible(held_out)
        diverged = set()

        def receive(i: int, fold: int, scores: Float) -> None:
            if np.isnan(scores).any():
                diverged.add(weights[i])
            else:
                values[i, fold] = measures.compute_all(held_out[fold], scores)
            if self.keep_predictions:
                predictions[i, rows_of[fold]] = scores
            advance()

        with ExitStack() as stack:
            storage = None
            if self.storage is not None:
                identity = identify(self.estimator, split, fit_arguments)
                storage = stack.enter_context(FitStorage(self.storage, identity))
            total = len(weights) * len(split.folds)
            advance = stack.enter_context(reporting(self.progress, "frontier", total))
            run_fits(
                self.estimator, weights, split, fit_arguments,
                n_jobs=count_threads(self.n_jobs), storage=storage, receive=receive,
            )  # fmt: skip
        if diverged:
            listed = ", ".join(f"{weight:g}" for weight in sorted(diverged))
            warnings.warn(f"training diverged at fairness_weight {listed}; these have no numbers", stacklevel=3)
        return values, predictions


def _read_weights(weights: Any) -> list[float]:
    """Return the weights, ascending and without repetitions."""
    if weights is None:
        return list(DEFAULT_WEIGHTS)
    allowed = "a list of finite numbers >= 0"
    if isinstance(weights, str) or np.ndim(weights) != 1 or len(weights) == 0:
        raise ValueError(f"weights={weights!r} must be {allowed}")
    for weight in weights:
        if isinstance(weight, bool | np.bool_) or not isinstance(weight, int | float | np.integer | np.floating):
            raise TypeError(f"weights holds {weight!r}; it must be {allowed}")
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(f"weights holds {weight!r}; it must be {allowed}")
    return sorted({float(weight) for weight in weights})


def _make_frame(columns: dict[str, NDArray[Any]]) -> Any:
    try:
        pandas = import_module("pandas")
    except ImportError:
        return columns
    return pandas.DataFrame(columns)
