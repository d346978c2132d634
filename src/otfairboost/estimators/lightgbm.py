"""LightGBM's estimators with a fairness penalty."""

from collections.abc import Callable, Sequence
from typing import Any

import lightgbm as lgb
import numpy as np
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.multiclass import check_classification_targets

from otfairboost.boosters.lightgbm_parameters import read_flag, read_number
from otfairboost.criteria import Target
from otfairboost.estimators.inputs import Float32, read_column, read_numbers
from otfairboost.estimators.lightgbm_model import FairLGBMModel
from otfairboost.estimators.native_metrics import CLASSIFIER_METRICS, REGRESSOR_METRICS
from otfairboost.losses import (
    AbsoluteError,
    CrossEntropy,
    FairLoss,
    GammaLoss,
    HuberLoss,
    LogLoss,
    Loss,
    PercentageError,
    PoissonLoss,
    QuantileLoss,
    SquaredError,
    TweedieLoss,
)

_PARAMETERS = """

    Every parameter of LightGBM's estimator keeps its name and meaning.

    Parameters
    ----------
    fairness : str, default="demographic_parity"
        The criterion: ``"demographic_parity"`` (scores independent of the group), ``"equalized_odds"`` (independent
        given the label), ``"true_positive_rate_parity"`` (among positives; equal opportunity) or
        ``"false_positive_rate_parity"`` (among negatives). Those with a label need a classifier.
    fairness_weight : float, default=5.0
        How much the penalty counts against the mean loss of a row, independent of the number of rows; the paper's
        lambda, whose range there is 0.1 to 20. 0 trains the plain model.
    multi_group : {"one_vs_rest", "barycenter"}, default="one_vs_rest"
        With more than two groups: compare each with all others together, or with the groups' barycenter.
    group_weighting : {"equal", "size"}, default="equal"
        Whether each group counts the same in the penalty, or by its weight.
    transport : {"histogram", "exact", "kde"}, default="histogram"
        How score distributions are compared: binned, row by row (for small data), or smoothed by a Gaussian kernel.
    ties : {"average", "right", "left"}, default="average"
        What a block of equal scores is moved to: the mean of its targets, or the paper's one-sided derivatives (for
        two groups, with ``transport="exact"``).
    bandwidth : float, default=0.1
        Of the kernel, as a factor of the scores' standard deviation.
    n_bins : int, optional
        Of the histogram; by default it grows with the number of rows.
    focus : float, default=1.0
        1 compares probabilities as they are. Larger values, such as 4 or 8, make those near ``decision_threshold``
        count for more and those far from it for less.
    decision_threshold : float, default=0.5
        The probability from which on a row counts as selected in ``focus`` and in metrics during training.
    fairness_hessian : float, "auto" or "paper", default="auto"
        The penalty's curvature, as a factor of its Gauss-Newton term: twice the learning rate, at most 1 ("auto"), or
        a number; "paper" is the paper's form. Larger is slower and safer.
    score_space : {"response", "link"}, default="response"
        Where losses have a link, whether the penalty compares responses (probabilities, counts, amounts) or raw
        predictions (log-odds, logarithms).
    max_gap : float, optional
        A target in place of a weight: the fitted model is the one of the smallest weight whose gap on held-out rows is
        at most this. The search starts from ``fairness_weight`` (leave it at its default), tries weights from 0 to 20
        times that, 8 at most, and the model is then fitted on all rows.
    gap_metric : str, optional
        Which gap, by its name in ``otfairboost.metrics.METRICS``. By default that of ``fairness``, in decisions at
        ``decision_threshold``; a regressor has ``"kolmogorov_smirnov"`` and ``"wasserstein_distance"``.
    gap_cv : int, splitter, iterable or "eval_set", default=5
        What is held out for it: folds, as in ``otfairboost.selection.FairnessFrontier``; or the first evaluation set
        given to ``fit``, which costs one fit for each weight.
    gap_confidence : float or None, default=0.95
        Holds the upper bound of the gap, at this confidence, under ``max_gap``; None: the gap itself.
    on_unreachable : {"warn", "raise"}, default="warn"
        If no weight that was tried keeps the gap: fit the one of the smallest gap and warn, or raise.
    **lightgbm_parameters
        LightGBM's parameters and their aliases.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        An ordinary LightGBM model, with the initial score and the objective inside.
    groups_ : tuple
        The groups that were compared.
    fairness_weight_ : float
        The weight that was trained with.
    gap_, gap_interval_ : float, (float, float)
        With ``max_gap``: the gap on the rows held out in the search, and its lower and upper bound.
    search_history_ : tuple of SearchStep
        With ``max_gap``: each weight tried, its gap and bounds.
    """


class FairLGBMClassifier(FairLGBMModel, lgb.LGBMClassifier):
    """LightGBM's classifier with a fairness penalty."""

    _native_metrics = CLASSIFIER_METRICS

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: only the plain model takes more than two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.fairness_weight == 0
        return tags

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        column = read_column(y, name)
        if like is not None:
            assert like.classes is not None
            unknown = sorted(set(column.tolist()) - set(like.classes), key=str)
            if unknown:
                raise ValueError(
                    f"{name} holds labels that were not seen in training: {unknown}; seen were {list(like.classes)}"
                )
            return Target(self._le.transform(y).astype(np.float32), like.classes)
        check_classification_targets(column)
        self._le = LabelEncoder().fit(y)
        self._classes = self._le.classes_
        self._n_classes = len(self._classes)
        self._class_map = {label: code for code, label in enumerate(self._classes)}
        if self._n_classes != 2:
            raise ValueError(
                "Only binary classification is supported with fairness_weight > 0 or fairness metrics: "
                f"y must have 2 classes, got {self._n_classes} ({', '.join(map(str, self._classes[:10]))})"
            )
        if self.objective is None:
            self._objective = None  # that of an earlier fit does not count
        return Target(self._le.transform(y).astype(np.float32), tuple(self._classes.tolist()))

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        if self._objective in ("cross_entropy", "xentropy"):
            return CrossEntropy.for_target(y, weight)
        if self._objective != "binary":
            raise ValueError(
                f"objective={self._objective!r} is not available with fairness_weight > 0 or fairness metrics; "
                "allowed are 'binary' and 'cross_entropy'"
            )
        return LogLoss.for_target(y, weight)

    def _label_weights(self, target: Target, params: dict[str, Any]) -> tuple[float, float]:
        if self._objective != "binary":
            return 1.0, 1.0  # as in LightGBM
        positive = read_number(params, "scale_pos_weight", 1.0)
        if not read_flag(params, "is_unbalance", False):
            return 1.0, positive
        if positive != 1.0:
            raise ValueError(f"is_unbalance and scale_pos_weight={positive:g} exclude each other; set one of them")
        n_positive = int(np.count_nonzero(target.values))
        ratio = (len(target.values) - n_positive) / n_positive
        return (1.0, ratio) if ratio > 1.0 else (1.0 / ratio, 1.0)


class FairLGBMRegressor(FairLGBMModel, lgb.LGBMRegressor):
    """LightGBM's regressor with a fairness penalty."""

    _native_metrics = REGRESSOR_METRICS

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Any = None,
        init_model: Any = None,
        *,
        sensitive_features: Any = None,
        eval_sensitive_features: Any = None,
        eval_X: Any = None,
        eval_y: Any = None,
    ) -> Any:
        """Fit the model; arguments are those of the classifier, without ``eval_class_weight``."""
        return super().fit(
            X, y, sample_weight, init_score, eval_set, eval_names, eval_sample_weight, None, eval_init_score,
            eval_metric, feature_name, categorical_feature, callbacks, init_model,
            sensitive_features=sensitive_features, eval_sensitive_features=eval_sensitive_features,
            eval_X=eval_X, eval_y=eval_y,
        )  # fmt: skip

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        return Target(read_numbers(y, name, warn=like is None).astype(np.float32), None)

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        metric = REGRESSOR_METRICS.get(self._objective) if isinstance(self._objective, str) else None
        make = _REGRESSOR_LOSSES.get(metric.name) if metric is not None else None
        if make is None:
            raise ValueError(
                f"objective={self._objective!r} is not available with fairness_weight > 0 or fairness metrics; allowed "
                "are 'regression', 'regression_l1', 'huber', 'fair', 'quantile', 'mape', 'poisson', 'gamma', 'tweedie' "
                "and 'cross_entropy'"
            )
        return make(params, y, weight)


# By the name of the metric that LightGBM has of the same objective, whose aliases are the same.
_REGRESSOR_LOSSES: dict[str, Callable[[dict[str, Any], Float32, Float32], Loss]] = {
    "l2": lambda params, y, weight: SquaredError(),
    "rmse": lambda params, y, weight: SquaredError(),
    "l1": lambda params, y, weight: AbsoluteError.for_target(y, weight),
    "huber": lambda params, y, weight: HuberLoss(read_number(params, "alpha", 0.9)),
    "fair": lambda params, y, weight: FairLoss(read_number(params, "fair_c", 1.0)),
    "quantile": lambda params, y, weight: QuantileLoss.for_target(y, weight, read_number(params, "alpha", 0.9)),
    "mape": lambda params, y, weight: PercentageError.for_target(y, weight),
    "poisson": lambda params, y, weight: PoissonLoss.for_target(
        y, weight, poisson_max_delta_step=read_number(params, "poisson_max_delta_step", 0.7)
    ),
    "gamma": lambda params, y, weight: GammaLoss.for_target(y, weight),
    "tweedie": lambda params, y, weight: TweedieLoss.for_target(
        y, weight, tweedie_variance_power=read_number(params, "tweedie_variance_power", 1.5)
    ),
    "cross_entropy": lambda params, y, weight: CrossEntropy.for_target(y, weight),
}


for _estimator in (FairLGBMClassifier, FairLGBMRegressor):
    _estimator.__doc__ = f"{_estimator.__doc__}{_PARAMETERS}"
