"""The frontier of performance and fairness: a path of weights, measured on rows that were held out."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from otfairboost.extras import require
from otfairboost.metrics.gaps import find_gap
from otfairboost.metrics.intervals import Interval, bootstrap_interval
from otfairboost.metrics.registry import Metric, find_metric
from otfairboost.selection.fits import identify, run_fits
from otfairboost.selection.points import FrontierNumbers, FrontierPoint, goodness, knee_point, pareto_points
from otfairboost.selection.progress import reporting
from otfairboost.selection.rows import HeldOutRows, RowInput, SplitRows, read_split
from otfairboost.selection.storage import FitStorage
from otfairboost.threads import count_threads

Float = NDArray[np.float64]

DEFAULT_WEIGHTS = (0.0, *np.geomspace(0.1, 50.0, 19).round(3).tolist())
_CLASSIFIER_METRICS = ("average_precision", "roc_auc", "log_loss", "accuracy", "demographic_parity_difference",
                       "equalized_odds_difference", "wasserstein_distance")  # fmt: skip
_REGRESSOR_METRICS = ("mean_absolute_error", "mean_squared_error", "kolmogorov_smirnov", "wasserstein_distance")


class FairnessFrontier(BaseEstimator):
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
    ) -> "FairnessFrontier":
        """Fit every weight on every fold and measure it on the rows held out.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight, feature_name, categorical_feature
            As in the estimator's ``fit``. Metrics are weighted as well.
        eval_X, eval_y, eval_sensitive_features, eval_sample_weight
            A validation set: the models are then trained on all of X and measured on it, without folds.
        """
        _check_estimator(self.estimator)
        weights = _read_weights(self.weights)
        metrics, performance, gap = self._find_metrics()
        if self.progress is True:
            require("rich", "cli")  # before the work, not after it
        given = (eval_X, eval_y, eval_sensitive_features)
        if any(one is None for one in given) and any(one is not None for one in (*given, eval_sample_weight)):
            raise ValueError("eval_X, eval_y and eval_sensitive_features go together; one of them is missing")
        split = read_split(
            self.estimator,
            RowInput(X, y, sensitive_features, sample_weight),
            None if eval_X is None else RowInput(*given, eval_sample_weight),
            self.cv,
        )
        fit_arguments = {"feature_name": feature_name, "categorical_feature": categorical_feature}
        values, predictions = self._measure(weights, split, metrics, fit_arguments)
        self.weights_ = np.array(weights)
        self.metrics_ = tuple(metric.name for metric in metrics)
        self.performance_, self.gap_ = performance.name, gap.name
        self.values_ = values
        self.held_out_ = split.held_out
        if self.keep_predictions:
            self.predictions_ = predictions
        else:
            self.__dict__.pop("predictions_", None)
        self._numbers = FrontierNumbers(self.weights_, metrics, values)
        self.table_ = _make_frame(self._numbers.columns())
        return self

    def points(self, *, performance: str | None = None, gap: str | None = None) -> list[FrontierPoint]:
        """Return one point for each weight, ascending; without those where training diverged.

        ``performance`` and ``gap`` are names of computed metrics to trade instead of the frontier's, here and below.
        """
        check_is_fitted(self)
        performance, gap = performance or self.performance_, gap or self.gap_
        self._numbers.find("performance", performance)
        self._numbers.find("gap", gap)
        return self._numbers.points(performance, gap)

    def pareto(self, *, performance: str | None = None, gap: str | None = None) -> list[FrontierPoint]:
        """Return the points that no other beats in performance without losing in gap, by ascending gap."""
        points = self.points(performance=performance, gap=gap)
        return pareto_points(points, self._find_performance(performance))

    def knee(self, *, performance: str | None = None, gap: str | None = None) -> FrontierPoint:
        """Return the point of the Pareto front that is farthest above the line between its ends."""
        return knee_point(self.pareto(performance=performance, gap=gap), self._find_performance(performance))

    def best(self, alpha: float = 0.75, *, performance: str | None = None, gap: str | None = None) -> FrontierPoint:
        """Return the point of the largest ``alpha * performance + (1 - alpha) * (1 - gap)``, the paper's Eq. (15).

        A loss enters as ``1 - loss``. Of equal points the one of the smallest weight is returned.
        """
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha={alpha!r} is not allowed; it must lie between 0 and 1")
        metric = self._find_performance(performance)
        return max(
            self.points(performance=performance, gap=gap),
            key=lambda p: alpha * goodness(metric, p.performance) + (1.0 - alpha) * (1.0 - p.gap),
        )

    def select(
        self,
        *,
        max_gap: float,
        metric: str | None = None,
        performance: str | None = None,
        confidence: float | None = None,
    ) -> FrontierPoint:
        """Return the point of the best performance whose gap is at most ``max_gap``.

        Parameters
        ----------
        max_gap : float
        metric : str, optional
            The gap's name; by default the frontier's.
        performance : str, optional
            What is to be best; by default the frontier's.
        confidence : float, optional
            Holds the upper bound of :meth:`interval` under ``max_gap``. By default it is the mean over folds.

        Raises
        ------
        ValueError
            If no weight keeps the gap; the message has the smallest one reached.
        """
        if not max_gap >= 0:
            raise ValueError(f"max_gap={max_gap!r} must be a number >= 0")
        good = self._find_performance(performance)
        points = self.points(performance=performance, gap=metric)
        reached = {}
        for point in sorted(points, key=lambda p: -goodness(good, p.performance)):
            bound = point.gap if confidence is None else self.interval(point, metric, confidence=confidence).high
            if bound <= max_gap:
                return point
            reached[bound] = point.fairness_weight
        smallest = min(reached)
        raise ValueError(
            f"max_gap={max_gap:g} is not reached: the smallest {metric or self.gap_} is {smallest:.4g}, at "
            f"fairness_weight={reached[smallest]:g}; allow a larger gap or add larger weights"
        )

    def interval(
        self, choice: float | FrontierPoint, metric: str | None = None, *, confidence: float = 0.95
    ) -> Interval:
        """Return a metric on all held-out rows together, with its sampling error.

        Parameters
        ----------
        choice : float or FrontierPoint
            A weight of the frontier.
        metric : str, optional
            By default the frontier's gap.
        confidence : float
            Of each bound.
        """
        check_is_fitted(self)
        if not hasattr(self, "predictions_"):
            raise ValueError("intervals need the held-out predictions; set keep_predictions=True and fit again")
        rows = self.held_out_
        return bootstrap_interval(
            self._numbers.find("metric", metric or self.gap_),
            rows.y,
            self.predictions_[self._index_of(choice)],
            sensitive_features=rows.sensitive_features,
            sample_weight=rows.sample_weight,
            threshold=self._threshold(),
            confidence=confidence,
        )

    def refit(self, choice: float | FrontierPoint, X: Any, y: Any, **fit_arguments: Any) -> Any:
        """Return the estimator fitted on all rows at a chosen weight.

        ``fit_arguments`` are those of the estimator's ``fit``, ``sensitive_features`` above all.
        """
        weight = choice.fairness_weight if isinstance(choice, FrontierPoint) else choice
        return clone(self.estimator).set_params(fairness_weight=weight).fit(X, y, **fit_arguments)

    def _measure(
        self, weights: list[float], split: SplitRows, metrics: tuple[Metric, ...], fit_arguments: dict[str, Any]
    ) -> tuple[Float, NDArray[np.float32]]:
        """Return the metrics by weight and fold, and the held-out scores by weight and row."""
        values = np.full((len(weights), len(split.folds), len(metrics)), np.nan)
        kept = len(split.held_out.y) if self.keep_predictions else 0
        predictions = np.full((len(weights), kept), np.nan, np.float32)
        rows_of = [np.flatnonzero(split.held_out.fold == number) for number in range(len(split.folds))]
        held_out = [split.held_out.part(rows) for rows in rows_of]
        self._refuse_impossible_metrics(metrics, held_out)
        diverged = set()

        def receive(i: int, fold: int, scores: Float) -> None:
            if np.isnan(scores).any():
                diverged.add(weights[i])
            else:
                values[i, fold] = [self._compute(metric, held_out[fold], scores) for metric in metrics]
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

    def _compute(self, metric: Metric, rows: HeldOutRows, scores: Float) -> float:
        return metric.from_scores(
            rows.y,
            scores,
            sensitive_features=rows.sensitive_features,
            sample_weight=rows.sample_weight,
            threshold=self._threshold(),
        )

    def _refuse_impossible_metrics(self, metrics: tuple[Metric, ...], held_out: list[HeldOutRows]) -> None:
        """Raise before training for metrics that the held-out rows do not have."""
        for fold, rows in enumerate(held_out):
            for metric in metrics:
                try:
                    self._compute(metric, rows, rows.y.astype(np.float64))
                except ValueError as error:
                    raise ValueError(f"{metric.name} cannot be computed on fold {fold}: {error}") from error

    def _threshold(self) -> float | None:
        return getattr(self.estimator, "decision_threshold", 0.5) if is_classifier(self.estimator) else None

    def _find_metrics(self) -> tuple[tuple[Metric, ...], Metric, Metric]:
        """Return all metrics, and the two that are traded."""
        classification = is_classifier(self.estimator)
        defaults = _CLASSIFIER_METRICS if classification else _REGRESSOR_METRICS
        performance = self.performance or defaults[0]
        performance = find_metric("performance", performance, greater_is_better=True, needs_groups=False)
        gap = self.gap
        if not isinstance(gap, Metric):
            gap = find_gap("gap", gap, fairness=self.estimator.fairness, classification=classification)
        if isinstance(self.metrics, str):
            raise TypeError(f"metrics={self.metrics!r} must be a list of names")
        others = [
            find_metric("metrics", name, greater_is_better=False, needs_groups=True)
            for name in (defaults if self.metrics is None else self.metrics)
        ]
        metrics = tuple({metric.name: metric for metric in (performance, gap, *others)}.values())
        for metric in metrics:
            if metric.kind == "label" and not classification:
                raise ValueError(f"{metric.name!r} compares decisions, but a regressor has scores only")
        return metrics, performance, gap

    def _find_performance(self, name: str | None) -> Metric:
        check_is_fitted(self)
        return self._numbers.find("performance", name or self.performance_)

    def _index_of(self, choice: float | FrontierPoint) -> int:
        weight = choice.fairness_weight if isinstance(choice, FrontierPoint) else choice
        found = np.flatnonzero(self.weights_ == weight)
        if not len(found):
            raise ValueError(f"fairness_weight={weight!r} is not on the frontier, whose weights are {self.weights_}")
        return int(found[0])


def _check_estimator(estimator: Any) -> None:
    if not hasattr(estimator, "get_params") or "fairness_weight" not in estimator.get_params(deep=False):
        raise TypeError(f"estimator is {estimator!r}; it needs a parameter fairness_weight")
    max_gap = estimator.get_params(deep=False).get("max_gap")
    if max_gap is not None:
        raise ValueError(f"estimator has max_gap={max_gap!r} and would search a weight itself; a frontier sets weights")


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
        from pandas import DataFrame
    except ImportError:
        return columns
    return DataFrame(columns)
