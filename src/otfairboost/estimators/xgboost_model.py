"""What XGBoost's fair estimators have in common: their parameters, and ``fit``."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import xgboost as xgb
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from otfairboost.boosters.xgboost import TrainedBooster
from otfairboost.boosters.xgboost_parameters import read_number
from otfairboost.criteria import Target
from otfairboost.estimators.evaluation import MetricRequest, read_request
from otfairboost.estimators.fair_model import FairModel
from otfairboost.estimators.inputs import (
    ArgumentNames,
    EvaluationInput,
    FitArguments,
    Rows,
    read_evaluation_inputs,
    read_features,
    read_weight,
)
from otfairboost.estimators.prepared import PreparedFit
from otfairboost.estimators.task import Task, weigh_labels
from otfairboost.estimators.xgboost_metrics import complete_metrics, is_own
from otfairboost.estimators.xgboost_training import XGBoostTrainer
from otfairboost.settings import FairnessSettings
from otfairboost.threads import count_threads


class FairXGBModel(FairModel, xgb.XGBModel):
    """The part of the estimators that comes before XGBoost's own among their bases."""

    _argument_names = ArgumentNames(
        init_score="base_margin",
        init_model="xgb_model",
        evaluation_set="eval_set",
        eval_X="X of eval_set[{}]",
        eval_y="y of eval_set[{}]",
        eval_sample_weight="sample_weight_eval_set",
        eval_init_score="base_margin_eval_set",
    )

    def __init__(
        self,
        *,
        fairness: str | Callable[..., Any] = "demographic_parity",
        fairness_weight: float = 5.0,
        multi_group: Literal["one_vs_rest", "barycenter"] = "one_vs_rest",
        group_weighting: Any = "equal",
        transport: Literal["histogram", "exact", "kde"] = "histogram",
        ties: Literal["average", "right", "left"] = "average",
        bandwidth: float = 0.1,
        n_bins: int | None = None,
        focus: float = 1.0,
        decision_threshold: float = 0.5,
        fairness_hessian: float | Literal["auto", "paper"] = "auto",
        score_space: Literal["response", "link"] = "response",
        focus_quantile: float | None = None,
        sensitive_bins: Any = None,
        min_group_size: int | None = None,
        multi_attribute: Literal["intersection", "sum"] = "intersection",
        attribute_weights: Any = None,
        control_bins: Any = None,
        target_bins: Any = 5,
        max_gap: float | None = None,
        gap_metric: str | None = None,
        gap_cv: Any = 5,
        gap_confidence: float | None = 0.95,
        on_unreachable: Literal["warn", "raise"] = "warn",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_own_parameters(locals())

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        sensitive_features: Any = None,
        eval_sensitive_features: Any = None,
        control_features: Any = None,
        eval_control_features: Any = None,
    ) -> Any:
        """Fit the model.

        Parameters
        ----------
        X, y, sample_weight, base_margin, eval_set, verbose, xgb_model, sample_weight_eval_set, base_margin_eval_set
            As in XGBoost's estimators; classes may have any labels. ``sample_weight`` counts in the loss and in the
            groups' score distributions. The parameter ``eval_metric`` also takes ``"fair_objective"`` (what is trained:
            loss plus weighted penalty; the default if all evaluation sets have groups), ``"base_loss"``,
            ``"fairness_penalty"`` and the names in ``otfairboost.metrics.METRICS``; early stopping follows the last
            metric on the last evaluation set.
        sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
            The group of each row: strings, numbers or booleans; several columns form intersections. Rows where it is
            missing count in the loss and not in the penalty. Needed if ``fairness_weight`` > 0, never to predict.
        eval_sensitive_features : array-like or list of array-like, optional
            The same for each evaluation set.
        control_features : array-like of shape (n_rows,) or (n_rows, n_columns), optional
            With ``fairness="conditional_demographic_parity"`` or a function: groups are compared among rows of the same
            control features. Rows where one is missing count in the loss and not in the penalty.
        eval_control_features : array-like or list of array-like, optional
            The same for each evaluation set.

        Returns
        -------
        self
        """
        evaluations = read_evaluation_inputs(
            eval_set, None, None, sample_weight_eval_set, None, base_margin_eval_set, eval_sensitive_features,
            self._argument_names, eval_control_features,
        )  # fmt: skip
        return self._fit_or_stay(
            FitArguments(
                X,
                y,
                sample_weight,
                base_margin,
                sensitive_features,
                evaluations,
                init_model=xgb_model,
                verbose=verbose,
                control_features=control_features,
            )
        )

    def prepare_fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        base_margin: Any = None,
        control_features: Any = None,
    ) -> PreparedFit:
        """Read and bin rows for several fits that differ in ``fairness_weight`` alone.

        ``prepare_fit(X, y, ...).fit(weight)`` returns what a copy of this estimator is after
        ``set_params(fairness_weight=weight).fit(X, y, ...)``. Parameters are those of :meth:`fit`.
        """
        return self._prepare_copy(
            FitArguments(X, y, sample_weight, base_margin, sensitive_features, control_features=control_features)
        )

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost is to see: without this package's, and without its metrics."""
        params = super().get_xgb_params()
        metric = params.get("eval_metric")
        names = metric if isinstance(metric, list | tuple) else [metric]
        if any(is_own(name) for name in names):
            params["eval_metric"] = None  # read from the estimator, and of no use in a booster that is trained
        return params

    def _wrapper_params(self) -> set[str]:
        return {*super()._wrapper_params(), *self._own_parameters}

    def _fit_plain(self, given: FitArguments) -> None:
        read_weight(given.sample_weight, _num_samples(given.X), "sample_weight")  # in words; XGBoost refuses it as well
        evaluations = given.evaluations
        arguments: dict[str, Any] = {}
        if evaluations:
            arguments["eval_set"] = [(one.X, one.y) for one in evaluations]
            for name, values in (
                ("sample_weight_eval_set", [one.sample_weight for one in evaluations]),
                ("base_margin_eval_set", [one.init_score for one in evaluations]),
            ):
                arguments[name] = values if any(value is not None for value in values) else None
        super().fit(
            given.X, given.y, sample_weight=given.sample_weight, base_margin=given.init_score,
            verbose=given.verbose, xgb_model=given.init_model, **arguments,
        )  # fmt: skip

    def _read_request(self, given: FitArguments) -> MetricRequest:
        self._refuse_misspelt(getattr(self, "kwargs", {}))
        return read_request(self.eval_metric, None, {})

    def _complete_metrics(self, request: MetricRequest, target: Target, *, with_groups: bool) -> list[Any]:
        return complete_metrics(request, self._name_objective(target), with_groups=with_groups)

    def _name_objective(self, target: Target) -> str:
        """Return the objective that XGBoost is to train for this target."""
        return str(self.objective)

    def _name_evaluation_set(self, given: FitArguments, i: int, *, is_train: bool) -> str:
        return f"validation_{i}"

    @staticmethod
    def _is_training_set(one: EvaluationInput, given: FitArguments) -> bool:
        # Weights as well, as in XGBoost: without theirs the training rows are evaluated unweighted.
        same = one.X is given.X and one.y is given.y
        return same and one.sample_weight is given.sample_weight and one.init_score is given.init_score

    def _read_training_features(self, X: Any) -> Any:
        return read_features(X, "X", partial(check_array, estimator=self, input_name="X"), least=2)

    def _make_trainer(self, given: FitArguments, train: Rows) -> XGBoostTrainer:
        if self.early_stopping_rounds is not None and not given.evaluations:
            raise ValueError(
                f"early_stopping_rounds={self.early_stopping_rounds} needs rows to stop on, but eval_set is missing"
            )
        verbose = False if given.verbose is None else given.verbose
        return XGBoostTrainer(
            self, train, self._name_objective(train.target), verbose=verbose, init_model=read_model(given.init_model)
        )

    def _pose_task(self, settings: FairnessSettings, *, params: dict[str, Any], train: Rows, continued: bool) -> Task:
        y, label_weights = train.target.values, self._label_weights(train.target, params)
        loss = self._make_loss(params, y, weigh_labels(train, label_weights))
        return Task(
            settings, loss, label_weights,
            offset=0.0,  # XGBoost's raw predictions contain its base_score
            learning_rate=read_number(params, "learning_rate", 0.3),
            n_jobs=count_threads(max(0, int(read_number(params, "n_jobs", 0)))),
        )  # fmt: skip

    def _keep_booster(self, prepared: PreparedFit, trained: TrainedBooster) -> None:
        self._Booster = trained.booster
        if trained.history:
            self.evals_result_ = trained.history


def read_model(model: Any) -> xgb.Booster | None:
    """Return the booster to continue from."""
    if isinstance(model, xgb.XGBModel):
        model = model.get_booster()
    elif isinstance(model, str | os.PathLike):
        model = xgb.Booster(model_file=model)
    if model is not None and not isinstance(model, xgb.Booster):
        raise TypeError(
            f"xgb_model is a {type(model).__name__}; allowed are a file name, a Booster and a fitted estimator"
        )
    return model
