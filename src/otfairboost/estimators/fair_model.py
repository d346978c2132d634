"""What the fair estimators of every booster have in common: reading rows, the search for a weight, and ``fit``."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from otfairboost.attributes import Attributes
from otfairboost.binning import learn_edges
from otfairboost.criteria import WITHOUT_CONTROL, Control, Target, read_control
from otfairboost.estimators.evaluation import MetricRequest, refuse_missing_classes
from otfairboost.estimators.inputs import (
    LIGHTGBM_NAMES,
    ArgumentNames,
    EvaluationInput,
    FitArguments,
    Float32,
    Rows,
    check_length,
    read_class_weight,
    read_features,
    read_init_score,
    read_weight,
    refuse_collections,
)
from otfairboost.estimators.prepared import EvaluationRows, PreparedFit, Trainer
from otfairboost.estimators.target_gap import GapTarget, find_weight
from otfairboost.estimators.task import Task
from otfairboost.losses import Loss
from otfairboost.metrics import METRICS
from otfairboost.settings import FairnessSettings
from otfairboost.weight_search import WeightSearch


class FairModel:
    """The part of the estimators that knows no booster; it comes before the booster's own estimator among their bases.

    What a booster has to add stands at the end.
    """

    _fairness_parameters: ClassVar[tuple[str, ...]] = tuple(FairnessSettings.__dataclass_fields__)
    _gap_parameters: ClassVar[tuple[str, ...]] = tuple(GapTarget.__dataclass_fields__)
    _own_parameters: ClassVar[tuple[str, ...]] = (*_fairness_parameters, *_gap_parameters)
    _argument_names: ClassVar[ArgumentNames] = LIGHTGBM_NAMES
    class_weight: Any = None
    fairness: Any
    fairness_weight: float

    def _set_own_parameters(self, values: dict[str, Any]) -> None:
        """Keep this package's parameters, as ``__init__`` got them."""
        for name in self._own_parameters:
            setattr(self, name, values[name])

    def _fit_or_stay(self, given: FitArguments) -> Any:
        self._refuse_collections(given.X)
        self._check_columns(given.X, "X")
        for i, one in enumerate(given.evaluations):
            self._check_columns(one.X, self._argument_names.eval_X.format(i))
        with _unchanged_on_error(self):
            self._fit(given)
        return self

    def _refuse_collections(self, X: Any) -> None:
        refuse_collections(X, "X", "Classifier" if is_classifier(self) else "Regressor")

    def _prepare_copy(self, given: FitArguments) -> PreparedFit:
        self._refuse_collections(given.X)
        self._check_columns(given.X, "X")
        return clone(self)._prepare(given, self._settings(), self._read_request(given)).construct()

    def _fit(self, given: FitArguments) -> None:
        settings, target = self._settings(), self._gap_target()
        request = self._read_request(given)
        self._refuse_idle_control(given, settings, request)
        if settings.fairness_weight == 0 and not request.has_own and target.max_gap is None:
            features = given.sensitive_features
            groups = None if features is None else settings.grouping.read(features, n_rows=_num_samples(given.X))
            self._fit_plain(given)
            self._keep_fairness(groups, 0.0)
            return
        prepared = self._prepare(given, settings, request)
        search = None
        if target.max_gap is not None:
            search = find_weight(self, target, given, prepared)
            settings = replace(settings, fairness_weight=search.chosen.fairness_weight)
        self._keep_fit(prepared, prepared.train(settings), settings.fairness_weight, search)

    def _prepare(self, given: FitArguments, settings: FairnessSettings, request: MetricRequest) -> PreparedFit:
        """Validate and bin."""
        train = self._read_training_rows(given)
        evaluations = [
            train if self._is_training_set(one, given) else self._read_evaluation_rows(one, i, train)
            for i, one in enumerate(given.evaluations)
        ]
        trainer = self._make_trainer(given, train)
        pose_task = partial(
            self._pose_task,
            params=trainer.params,
            train=train._replace(X=None, groups=None),
            continued=trainer.is_continued,
        )
        loss = pose_task(settings).loss  # raises for what cannot be trained
        comparable = all(
            rows.groups is not None and (train.control is None or rows.control is not None) for rows in evaluations
        )
        metrics = self._complete_metrics(request, train.target, with_groups=comparable)
        for i, rows in enumerate(evaluations):
            loss.check_target(rows.target.values, self._argument_names.eval_y.format(i))
            refuse_missing_classes(rows, metrics, settings.fairness, self._argument_names.eval_y.format(i))
        return PreparedFit(
            self,
            trainer,
            train,
            pose_task=pose_task,
            metrics=metrics,
            evaluations=[
                EvaluationRows(self._name_evaluation_set(given, i, is_train=rows is train), rows)
                for i, rows in enumerate(evaluations)
            ],
        )

    def _keep_fit(self, prepared: PreparedFit, trained: Any, weight: float, search: WeightSearch | None = None) -> None:
        """Keep what the booster's own fit keeps, and what is ours."""
        self._keep_booster(prepared, trained)
        rows = prepared.train_rows
        self._keep_fairness(rows.groups, weight, search)
        if rows.target.edges is not None and self.fairness == "equalized_odds":
            self.target_edges_ = tuple(rows.target.edges.tolist())

    def _keep_fairness(self, groups: Attributes | None, weight: float, search: WeightSearch | None = None) -> None:
        for name in ("groups_", "sensitive_edges_", "target_edges_", "gap_", "gap_interval_", "search_history_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.fairness_weight_ = float(weight)
        if groups is not None:
            self.groups_ = groups.labels
            if groups.edges:
                self.sensitive_edges_ = groups.edges
        if search is not None:
            self.gap_ = search.chosen.gap
            self.gap_interval_ = (search.chosen.low, search.chosen.high)
            self.search_history_ = search.history

    def _settings(self) -> FairnessSettings:
        return FairnessSettings(**{name: getattr(self, name) for name in self._fairness_parameters})

    def _gap_target(self) -> GapTarget:
        return GapTarget(**{name: getattr(self, name) for name in self._gap_parameters})

    def _refuse_misspelt(self, unknown: Iterable[str]) -> None:
        """Raise for what the booster would ignore and is nearly one of ours: the default would be used instead."""
        for name in unknown:
            meant = difflib.get_close_matches(name, self._own_parameters, n=1, cutoff=0.8)
            if meant and name not in self._own_parameters:
                raise ValueError(f"{name} is not a parameter; {meant[0]} is")

    def _read_training_rows(self, given: FitArguments) -> Rows:
        features = given.sensitive_features
        if features is None and self.fairness_weight > 0:
            raise ValueError(
                f"sensitive_features is missing; with fairness_weight={self.fairness_weight} fit needs the group of "
                "each row (fairness_weight=0 trains the plain model)"
            )
        X = self._read_training_features(given.X)
        n_rows = X.shape[0]
        target = self._read_target(given.y)
        check_length(target.values, n_rows, "y")
        weight = read_weight(given.sample_weight, n_rows, "sample_weight")
        settings = self._settings()
        control = None
        if given.control_features is not None:
            control = read_control(given.control_features, settings.control_bins, n_rows=n_rows)
        target = _complete_target(target, control, settings, weight)
        return Rows(
            name="the training rows",
            features_name="sensitive_features",
            X=X,
            target=target,
            weight=read_class_weight(self.class_weight, target, weight, "class_weight").astype(np.float32),
            distribution_weight=weight.astype(np.float32),
            groups=None if features is None else settings.grouping.read(features, n_rows=n_rows),
            init_score=read_init_score(
                given.init_score, n_rows, self._argument_names.init_score, n_outputs=target.n_outputs
            ),
            control=control,
        )

    def _read_evaluation_rows(self, given: EvaluationInput, i: int, train: Rows) -> Rows:
        names = self._argument_names
        X_name, y_name = names.eval_X.format(i), names.eval_y.format(i)
        features_name = f"eval_sensitive_features[{i}]"
        X = read_features(given.X, X_name, partial(check_array, input_name=X_name), least=1)
        if X.shape[1] != train.X.shape[1]:
            raise ValueError(f"{X_name} has {X.shape[1]} columns, but X has {train.X.shape[1]}")
        n_rows = X.shape[0]
        target = self._read_target(given.y, like=train.target, name=y_name)
        check_length(target.values, n_rows, y_name, other=X_name)
        weight = read_weight(given.sample_weight, n_rows, f"{names.eval_sample_weight}[{i}]", other=X_name)
        groups, settings = None, self._settings()
        if given.sensitive_features is not None:
            read = settings.grouping.read if train.groups is None else train.groups.like
            groups = read(given.sensitive_features, n_rows=n_rows, name=features_name)
        control = None
        if given.control_features is not None:
            control = read_control(
                given.control_features, settings.control_bins, n_rows=n_rows, name=f"eval_control_features[{i}]",
                like=train.control,
            )  # fmt: skip
        target = target._replace(
            control=None if control is None else control.groups, edges=train.target.edges, unit=train.target.unit
        )
        return Rows(
            name=f"evaluation set {i}",
            features_name=features_name,
            X=X,
            target=target,
            weight=read_class_weight(given.class_weight, target, weight, f"eval_class_weight[{i}]").astype(np.float32),
            distribution_weight=weight.astype(np.float32),
            groups=groups,
            init_score=read_init_score(
                given.init_score, n_rows, f"{names.eval_init_score}[{i}]", other=X_name, n_outputs=target.n_outputs
            ),
            control=control,
        )

    def _refuse_idle_control(self, given: FitArguments, settings: FairnessSettings, request: MetricRequest) -> None:
        """Raise for control features that nothing reads."""
        names = [*request.names, self._gap_target().gap_metric]
        read = any(name in METRICS and METRICS[name].needs_control for name in names if name is not None)
        idle = isinstance(settings.fairness, str) and settings.fairness in WITHOUT_CONTROL and not read
        if given.control_features is not None and idle and settings.fairness_weight > 0:
            raise ValueError(
                f"control_features is given, but fairness={settings.fairness!r} and the metrics do not read it; "
                "fairness='conditional_demographic_parity' compares groups among rows of equal control features"
            )

    @staticmethod
    def _is_training_set(one: EvaluationInput, given: FitArguments) -> bool:
        return one.X is given.X and one.y is given.y

    # ------------------------------------------------------------------------------------ what a booster has to add

    def _check_columns(self, X: Any, name: str) -> None:
        """Raise for columns that the booster cannot read and does not refuse itself."""

    def _read_request(self, given: FitArguments) -> MetricRequest:
        """Return the metrics asked for; raise for misspelt parameters."""
        raise NotImplementedError

    def _complete_metrics(self, request: MetricRequest, target: Target, *, with_groups: bool) -> list[Any]:
        """Return all metrics in the order that they count, with the defaults."""
        raise NotImplementedError

    def _name_evaluation_set(self, given: FitArguments, i: int, *, is_train: bool) -> str:
        """Return the booster's name of the i-th evaluation set."""
        raise NotImplementedError

    def _read_training_features(self, X: Any) -> Any:
        """Return X as the booster takes it, checked."""
        raise NotImplementedError

    def _make_trainer(self, given: FitArguments, train: Rows) -> Trainer:
        """Return what trains the booster on these rows."""
        raise NotImplementedError

    def _pose_task(self, settings: FairnessSettings, *, params: dict[str, Any], train: Rows, continued: bool) -> Task:
        """Return the task on the training rows; ``continued`` says whether a model is."""
        raise NotImplementedError

    def _fit_plain(self, given: FitArguments) -> None:
        """Fit the booster's own estimator."""
        raise NotImplementedError

    def _keep_booster(self, prepared: PreparedFit, trained: Any) -> None:
        """Keep what the booster's own fit keeps."""
        raise NotImplementedError

    def _label_weights(self, target: Target, params: dict[str, Any]) -> tuple[float, float]:
        """Return the booster's weights of negative and positive rows."""
        return 1.0, 1.0

    def _read_target(self, y: Any, like: Target | None = None, name: str = "y") -> Target:
        """Return the target; in the classes of another one if given."""
        raise NotImplementedError

    def _make_loss(self, params: dict[str, Any], y: Float32, weight: Float32) -> Loss:
        """Return the loss that the parameter ``objective`` names."""
        raise NotImplementedError


def _complete_target(
    target: Target, control: Control | None, settings: FairnessSettings, weight: NDArray[np.float64]
) -> Target:
    """Return the training target with what criteria read besides: control features, edges and unit."""
    target = target._replace(control=None if control is None else control.groups)
    if target.classes is not None:
        return target
    values, weights = target.values.astype(np.float64), weight if len(weight) else None
    mean = np.average(values, weights=weights)
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    return target._replace(edges=learn_edges(values, settings.target_bins, weights), unit=spread or 1.0)


@contextmanager
def _unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if something goes wrong: a fitted one stays fitted."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
