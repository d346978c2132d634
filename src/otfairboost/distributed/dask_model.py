"""What the Dask estimators have in common: reading collections, training on the workers, and naming failures."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dask.array as da
import distributed
import numpy as np
import xgboost as xgb
from xgboost import dask as xgb_dask
from xgboost.callback import EarlyStopping
from xgboost.collective import Config

from otfairboost.boosters.xgboost import FollowLearningRate, estimate_base_score, same_link
from otfairboost.boosters.xgboost_parameters import read_number, refuse_parameters
from otfairboost.distributed.failures import explain, list_workers
from otfairboost.distributed.limits import refuse_settings
from otfairboost.distributed.metrics import refuse_metrics
from otfairboost.distributed.rows import DaskRows, Given, Names, read_dask_rows, sum_target
from otfairboost.distributed.worker import Problem, WorkerObjective, WorkerReport, take_report
from otfairboost.estimators.evaluation import needs_groups
from otfairboost.estimators.inputs import EvaluationInput, FitArguments, read_evaluation_inputs
from otfairboost.estimators.prepared import PreparedFit
from otfairboost.estimators.xgboost_metrics import complete_metrics, is_own, name_of, rises
from otfairboost.estimators.xgboost_model import FairXGBModel, read_model
from otfairboost.settings import FairnessSettings

DEFAULT_TIMEOUT = 300
"""Seconds that workers wait for each other, unless ``coll_cfg`` says otherwise."""


class DaskFairXGBModel(FairXGBModel):
    """The part of the estimators that comes before XGBoost's own Dask estimators among their bases."""

    coll_cfg: Config | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, that of the collective included."""
        return {**super().get_params(deep), "coll_cfg": self.coll_cfg}

    def fit(  # type: ignore[override]  # no control features
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_sensitive_features: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
    ) -> Any:
        """Fit the model on the workers that hold the rows.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
            The features, in partitions of whole rows.
        y, sensitive_features, sample_weight, base_margin : dask.array.Array or dask.dataframe.Series
            In the same partitions as X; ``sensitive_features`` may have several columns. Every row needs a group, and
            is checked to have one before training starts.
        eval_set, eval_sensitive_features, sample_weight_eval_set, base_margin_eval_set, verbose, xgb_model
            As in :class:`otfairboost.FairXGBClassifier`, of Dask collections. Metrics are those of all rows. Functions
            are not allowed as metrics: they would see the rows of one worker.

        Returns
        -------
        self
        """
        evaluations = read_evaluation_inputs(
            eval_set, None, None, sample_weight_eval_set, None, base_margin_eval_set, eval_sensitive_features,
            self._argument_names,
        )  # fmt: skip
        return self._fit_or_stay(
            FitArguments(
                X, y, sample_weight, base_margin, sensitive_features, evaluations, init_model=xgb_model, verbose=verbose
            )
        )

    def prepare_fit(self, *arguments: Any, **keywords: Any) -> PreparedFit:
        """Raise: rows are binned on the workers, at every fit."""
        raise NotImplementedError("prepare_fit is not available on Dask: workers bin their rows at every fit")

    def _wrapper_params(self) -> set[str]:
        return {*super()._wrapper_params(), "coll_cfg"}

    def _refuse_collections(self, X: Any) -> None:
        """Refuse none: they are read partition by partition."""

    def _fit(self, given: FitArguments) -> None:
        settings = self._settings()
        self._refuse_settings(settings, given)
        metrics = self._read_metrics(given)
        client = self._open_client()
        train = read_dask_rows(
            client,
            Given(given.X, given.y, given.sensitive_features, given.sample_weight, given.init_score),
            Names(),
            is_classifier=self._is_classifier,
        )
        if train.labels is not None and len(train.labels) < 2 and settings.fairness_weight > 0:
            raise ValueError(
                f"sensitive_features holds only {train.labels[0]!r}; at least two groups are needed to compare"
            )
        evaluations = [self._read_evaluation(client, one, i, given, train) for i, one in enumerate(given.evaluations)]
        params = self._make_params(client, train, settings, metrics, given.init_model)
        problem = self._pose_problem(settings, params, train, metrics)
        booster, history = self._train(client, params, problem, train, evaluations, given, metrics)
        self._keep_trained(booster, history, train, settings)

    def _refuse_settings(self, settings: FairnessSettings, given: FitArguments) -> None:
        refuse_settings(settings, is_classifier=self._is_classifier)
        if self.max_gap is not None:
            raise ValueError(
                f"max_gap={self.max_gap!r} is not available on Dask; find fairness_weight on a sample that fits into "
                f"one machine, with {self._local_class.__name__}(max_gap={self.max_gap!r})"
            )
        if given.sensitive_features is None and settings.fairness_weight > 0:
            raise ValueError(
                f"sensitive_features is missing; with fairness_weight={settings.fairness_weight} fit needs the group "
                "of each row (fairness_weight=0 trains the plain model)"
            )
        if settings.fairness_weight > 0:
            refuse_parameters(self.get_xgb_params())
        self._make_loss({}, np.empty(0, np.float32), np.empty(0, np.float32))  # raises for other objectives

    def _read_metrics(self, given: FitArguments) -> list[Any]:
        if self.early_stopping_rounds is not None and not given.evaluations:
            raise ValueError(
                f"early_stopping_rounds={self.early_stopping_rounds} needs rows to stop on, but eval_set is missing"
            )
        request = self._read_request(given)
        with_groups = all(one.sensitive_features is not None for one in given.evaluations)
        metrics = complete_metrics(request, self._objective_name, with_groups=with_groups) if given.evaluations else []
        refuse_metrics([*metrics[: len(metrics) - len(request.functions)], *request.functions],
                       is_classifier=self._is_classifier)  # fmt: skip
        for metric in metrics:
            for i, one in enumerate(given.evaluations):
                if needs_groups(metric) and one.sensitive_features is None:
                    raise ValueError(f"eval_metric {metric!r} needs eval_sensitive_features[{i}], which is missing")
        if any(map(needs_groups, metrics)) and given.sensitive_features is None:
            raise ValueError("eval_sensitive_features are given, but sensitive_features are missing")
        return metrics

    def _open_client(self) -> distributed.Client:
        try:
            client = self.client
        except ValueError as error:
            raise ValueError(
                "there is no Dask client; start one, for example distributed.Client(), or set the attribute client"
            ) from error
        if client.status != "running":
            raise ValueError(f"client is {client.status}; fit needs one that is connected to a cluster")
        if client.asynchronous:
            raise ValueError("client is asynchronous; fit needs one that is not: distributed.Client(...)")
        if not list_workers(client):
            raise ValueError("client is connected to a cluster without workers; add one, or wait for one to start")
        return client

    def _read_evaluation(
        self, client: distributed.Client, one: EvaluationInput, i: int, given: FitArguments, train: DaskRows
    ) -> DaskRows:
        if self._is_training_set(one, given):
            return train
        names = Names(
            self._argument_names.eval_X.format(i), self._argument_names.eval_y.format(i),
            f"eval_sensitive_features[{i}]", f"sample_weight_eval_set[{i}]", f"base_margin_eval_set[{i}]",
        )  # fmt: skip
        rows = read_dask_rows(
            client,
            Given(one.X, one.y, one.sensitive_features, one.sample_weight, one.init_score),
            names,
            is_classifier=self._is_classifier,
            like=train,
        )
        if rows.X.shape[1] != train.X.shape[1]:
            raise ValueError(f"{names.X} has {rows.X.shape[1]} columns, but X has {train.X.shape[1]}")
        return rows

    def _make_params(
        self,
        client: distributed.Client,
        train: DaskRows,
        settings: FairnessSettings,
        metrics: Sequence[Any],
        init_model: Any,
    ) -> dict[str, Any]:
        native = [one for one in metrics if not is_own(one)]
        params = {
            **self.get_xgb_params(),
            "objective": self._objective_name,
            "eval_metric": native,
            "disable_default_eval_metric": not native,
        }
        if settings.fairness_weight > 0:
            if params.get("base_score") is None and init_model is None:
                params["base_score"] = estimate_base_score(params, self._objective_name, *sum_target(client, train))
            params["objective"] = same_link(self._make_loss({}, np.empty(0, np.float32), np.empty(0, np.float32)))
        return params

    def _pose_problem(
        self, settings: FairnessSettings, params: dict[str, Any], train: DaskRows, metrics: Sequence[Any]
    ) -> Problem:
        classes = None if train.encoder is None else tuple(train.encoder.classes_.tolist())
        return Problem(
            settings,
            self._make_loss(params, np.empty(0, np.float32), np.empty(0, np.float32)),
            (1.0, read_number(params, "scale_pos_weight", 1.0)) if self._is_classifier else (1.0, 1.0),
            classes,
            train.labels,
            read_number(params, "learning_rate", 0.3),
            tuple(one for one in metrics if is_own(one)),
        )

    def _train(
        self,
        client: distributed.Client,
        params: dict[str, Any],
        problem: Problem,
        train: DaskRows,
        evaluations: Sequence[DaskRows],
        given: FitArguments,
        metrics: Sequence[Any],
    ) -> tuple[xgb.Booster, dict[str, Any]]:
        train_matrix = self._make_matrix(client, train, ref=None)
        matrices = [
            train_matrix if rows is train else self._make_matrix(client, rows, ref=train_matrix) for rows in evaluations
        ]
        workers = {address for one in (train_matrix, *matrices) for address in one.worker_map}
        objective = WorkerObjective(problem)
        callbacks = list(self.callbacks or ())
        if problem.settings.fairness_weight > 0:
            callbacks += [FollowLearningRate(objective, problem.settings), WorkerReport(objective)]
        if self.early_stopping_rounds is not None:
            last = metrics[-1]
            callbacks.append(
                EarlyStopping(rounds=self.early_stopping_rounds, metric_name=name_of(last), maximize=rises(last))
            )
        config = self._complete_config()
        try:
            with xgb.config_context(verbosity=self.verbosity):
                result = xgb_dask.train(
                    client, params, train_matrix, self.get_num_boosting_rounds(),
                    evals=[(one, f"validation_{i}") for i, one in enumerate(matrices)],
                    obj=objective if problem.settings.fairness_weight > 0 else None,
                    custom_metric=objective.evaluate if problem.metrics else None,
                    verbose_eval=bool(given.verbose), xgb_model=read_model(given.init_model),
                    callbacks=callbacks, coll_cfg=config,
                )  # fmt: skip
        except Exception as error:
            explained = explain(error, client, workers, float(config.timeout or DEFAULT_TIMEOUT), objective.run)
            if explained is error:
                raise
            raise explained from error
        return result["booster"], result["history"]

    def _make_matrix(self, client: distributed.Client, rows: DaskRows, ref: Any) -> xgb_dask.DaskDMatrix:
        arguments: dict[str, Any] = {
            "label": rows.y, "weight": rows.weight, "base_margin": rows.margin, "label_lower_bound": rows.groups,
            "missing": self.missing, "feature_types": self.feature_types, "enable_categorical": self.enable_categorical,
        }  # fmt: skip
        if self.feature_weights is not None and ref is None:
            arguments["feature_weights"] = da.from_array(np.asarray(self.feature_weights))
        if self.tree_method not in (None, "auto", "hist"):
            return xgb_dask.DaskDMatrix(client, rows.X, **arguments)
        return xgb_dask.DaskQuantileDMatrix(client, rows.X, ref=ref, max_bin=self.max_bin, **arguments)

    def _complete_config(self) -> Config:
        """Return the collective's settings, with a timeout: without one a frozen worker is waited for for ever."""
        config = Config() if self.coll_cfg is None else self.coll_cfg
        timeout = DEFAULT_TIMEOUT if config.timeout is None else config.timeout
        tracker = max(timeout, 30) if config.tracker_timeout is None else config.tracker_timeout
        return replace(config, timeout=timeout, tracker_timeout=tracker)

    def _keep_trained(
        self, booster: xgb.Booster, history: dict[str, Any], train: DaskRows, settings: FairnessSettings
    ) -> None:
        report = take_report(booster)
        for message in report["warnings"]:
            warnings.warn(message, UserWarning, stacklevel=5)
        booster.set_param({"objective": self._objective_name})
        self._Booster = booster
        self.evals_result_ = {name: dict(values) for name, values in history.items()}
        self.rows_per_worker_ = tuple(int(rows) for rows in report["rows"])
        self.fairness_weight_ = float(settings.fairness_weight)
        self.__dict__.pop("groups_", None)
        if train.labels is not None:
            self.groups_ = train.labels
        self._keep_labels(train.encoder)

    def to_local(self) -> Any:
        """Return the fitted model as an estimator of one machine: it needs no cluster, predicts and pickles."""
        self.get_booster()  # raises if there is none
        params = {name: value for name, value in self.get_params().items() if name != "coll_cfg"}
        local = self._local_class(**params | {"objective": self._objective_name})
        for name in ("_Booster", "evals_result_", "fairness_weight_", "groups_", "n_classes_", "_encoder"):
            if name in self.__dict__:
                setattr(local, name, self.__dict__[name])
        return local

    # --------------------------------------------------------------------------------- what the two kinds have to add

    _is_classifier: bool
    _local_class: type[Any]
    _default_objective: str

    @property
    def _objective_name(self) -> str:
        return self._default_objective if self.objective is None else str(self.objective)

    def _keep_labels(self, encoder: Any) -> None:
        """Keep the classes."""
