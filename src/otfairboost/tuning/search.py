"""The search: trials of parameters, cross-validated, for performance and a small gap at once."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from otfairboost.estimators.held_out import score_rows, take_rows
from otfairboost.extras import require
from otfairboost.metrics.registry import Metric
from otfairboost.selection.fits import check_estimator, identify, name_columns, prepare
from otfairboost.selection.measures import Measures, find_measures
from otfairboost.selection.points import goodness
from otfairboost.selection.progress import reporting
from otfairboost.selection.rows import RowInput, SplitRows, read_split
from otfairboost.settings import check_choice
from otfairboost.tuning.space import Space, read_space, suggest

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

GOALS = ("both", "tradeoff", "constraint")


class TunedModel(NamedTuple):
    """One finished trial.

    Attributes
    ----------
    params : dict
    performance, gap : float
        Means over folds.
    number : int
        Of the trial in the study.
    """

    params: dict[str, Any]
    performance: float
    gap: float
    number: int


class FairnessSearch(BaseEstimator):
    """Tune LightGBM's parameters and ours with Optuna, for performance and fairness at once.

    Parameters
    ----------
    estimator : estimator
        With a parameter ``fairness_weight``; its parameters are the fixed ones.
    space : dict or callable, optional
        Parameters with Optuna's distributions, or a function that takes a trial and returns parameters; by default
        :func:`otfairboost.tuning.default_space`.
    goal : {"both", "tradeoff", "constraint"}, default="both"
        Search all trade-offs (several objectives; Optuna cannot prune then); maximise
        ``alpha * performance + (1 - alpha) * (1 - gap)``, the paper's Eq. (15); or maximise the performance of models
        whose gap is at most ``max_gap``.
    alpha : float, default=0.75
        Of that formula, which also chooses ``best_params_`` if the goal is "both".
    max_gap : float, optional
        Of the goal "constraint". It is the mean gap over folds that counts.
    performance, gap : str or Metric, optional
        What is traded; defaults as in :class:`otfairboost.selection.FairnessFrontier`.
    cv : int, splitter or iterable, default=5
        Folds, as there.
    n_trials : int, default=50
        Trials in all; those that ``storage`` has count.
    timeout : float, optional
        Seconds after which no other trial starts.
    storage : str, path or optuna storage, optional
        A file, a database URL or an object of Optuna's. A study that is there goes on; one of other rows or parameters
        is refused.
    study_name : str, default="otfairboost"
        The study's name in the storage.
    sampler, pruner : optional
        Optuna's; by default TPE, and the median pruner, which gives up a trial after a fold in which it is worse than
        most.
    random_state : int or None, default=0
        Seed of the default sampler.
    refit : bool, default=True
        Whether to fit the best model on all rows.
    progress : bool or callable, default=False
        A progress bar, or a function that is called as ``progress(n_done, n_total)``.

    Attributes
    ----------
    study_ : optuna.Study
    models_ : list of TunedModel
        The finished trials.
    best_model_, best_params_ : TunedModel, dict
    best_estimator_ : estimator
        If ``refit``.
    """

    def __init__(
        self,
        estimator: Any,
        space: "Space | None" = None,
        *,
        goal: Literal["both", "tradeoff", "constraint"] = "both",
        alpha: float = 0.75,
        max_gap: float | None = None,
        performance: str | Metric | None = None,
        gap: str | Metric | None = None,
        cv: Any = 5,
        n_trials: int = 50,
        timeout: float | None = None,
        storage: Any = None,
        study_name: str = "otfairboost",
        sampler: Any = None,
        pruner: Any = None,
        random_state: int | None = 0,
        refit: bool = True,
        progress: bool | Callable[[int, int], None] = False,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.goal = goal
        self.alpha = alpha
        self.max_gap = max_gap
        self.performance = performance
        self.gap = gap
        self.cv = cv
        self.n_trials = n_trials
        self.timeout = timeout
        self.storage = storage
        self.study_name = study_name
        self.sampler = sampler
        self.pruner = pruner
        self.random_state = random_state
        self.refit = refit
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        control_features: Any = None,
    ) -> "FairnessSearch":
        """Search. Arguments are those of the estimator's ``fit``."""
        optuna = require("optuna", "tune")
        self._check()
        known = self.estimator.get_params(deep=False)
        space = read_space(self.space, known, classification=is_classifier(self.estimator))
        measures = find_measures(self.estimator, [], self.performance, self.gap)
        rows = RowInput(X, y, sensitive_features, sample_weight, control_features)
        split = read_split(self.estimator, rows, None, self.cv)
        fit_arguments = name_columns(feature_name, categorical_feature)
        measure = _CrossValidation(self.estimator, split, measures, fit_arguments)
        study = self._open_study(measures, identify(self.estimator, split, fit_arguments))
        finished = [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]
        missing = max(self.n_trials - len(finished), 0)
        with reporting(self.progress, "tuning", missing) as advance:
            study.optimize(
                lambda trial: self._run(trial, space, measure),
                n_trials=missing,
                timeout=self.timeout,
                catch=(FloatingPointError,),  # diverged: a failed trial
                callbacks=[lambda study, trial: advance()],
            )
        completed = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
        self.study_ = study
        self.models_ = [_read_model(trial) for trial in completed]
        self._measures = measures
        self.best_model_ = self._choose()
        self.best_params_ = self.best_model_.params
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            model = clone(self.estimator).set_params(**self.best_params_)
            control = {} if control_features is None else {"control_features": control_features}
            self.best_estimator_ = model.fit(
                X, y, sensitive_features=sensitive_features, sample_weight=sample_weight, **control, **fit_arguments
            )
        return self

    def pareto(self) -> list[TunedModel]:
        """Return the models that no other beats in performance without losing in gap, by ascending gap."""
        check_is_fitted(self)
        front: list[TunedModel] = []
        for model in sorted(self.models_, key=lambda one: (one.gap, -self._goodness(one))):
            if not front or self._goodness(model) > self._goodness(front[-1]):
                front.append(model)
        return front

    def _check(self) -> None:
        check_estimator(self.estimator)
        check_choice("goal", self.goal, GOALS)
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha={self.alpha!r} is not allowed; it must lie between 0 and 1")
        if self.goal == "constraint" and (self.max_gap is None or not self.max_gap >= 0):
            raise ValueError(f"max_gap={self.max_gap!r} must be a number >= 0 with goal='constraint'")
        if self.goal != "constraint" and self.max_gap is not None:
            raise ValueError(f"max_gap={self.max_gap!r} needs goal='constraint', got goal={self.goal!r}")
        if isinstance(self.n_trials, bool) or not isinstance(self.n_trials, int | np.integer) or self.n_trials < 1:
            raise ValueError(f"n_trials={self.n_trials!r} must be an integer >= 1")

    def _open_study(self, measures: Measures, identity: dict[str, str]) -> "Study":
        optuna = require("optuna", "tune")
        storage = self.storage
        if isinstance(storage, str | PathLike) and "://" not in str(storage):
            Path(storage).parent.mkdir(parents=True, exist_ok=True)
            storage = f"sqlite:///{Path(storage)}"
        directions = ["maximize", "minimize"] if self.goal == "both" else ["maximize"]
        study = optuna.create_study(
            storage=storage,
            study_name=self.study_name if storage is not None else None,
            directions=directions,
            sampler=self.sampler or optuna.samplers.TPESampler(seed=self.random_state),
            pruner=self.pruner,
            load_if_exists=True,
        )
        identity = {
            **identity,
            "goal": f"{self.goal}, {measures.performance.name}, {measures.gap.name}, {self.alpha}, {self.max_gap}",
        }
        known = study.user_attrs
        differing = [kind for kind, value in identity.items() if known.get(kind, value) != value]
        if differing:
            raise ValueError(
                f"storage={str(self.storage)!r} has a study {self.study_name!r} with other {', '.join(differing)}; "
                "give another study_name or storage"
            )
        for kind, value in identity.items():
            if kind not in known:
                study.set_user_attr(kind, value)
        return study

    def _run(self, trial: "Trial", space: "Space", measure: "_CrossValidation") -> float | tuple[float, float]:
        """Cross-validate one trial's parameters; give up after a fold if the pruner says so."""
        optuna = require("optuna", "tune")
        params = suggest(trial, space)
        trial.set_user_attr("params", params)
        results: list[tuple[float, float]] = []
        for number in range(measure.n_folds):
            results.append(measure(params, number))
            good, gap = np.mean(results, axis=0)
            if self.goal != "both":
                trial.report(self._value(good, gap), number)
                if trial.should_prune():
                    raise optuna.TrialPruned
        trial.set_user_attr("performance", measure.performance_of(good))
        trial.set_user_attr("gap", float(gap))
        if self.goal == "both":
            return float(good), float(gap)
        if self.goal == "constraint":
            assert self.max_gap is not None
            trial.set_constraint("gap", float(gap) - self.max_gap)
            return float(good)
        return self._value(good, gap)

    def _value(self, good: float, gap: float) -> float:
        """Return what trials are compared by: for pruning, a gap that is too large counts against performance."""
        if self.goal == "constraint":
            assert self.max_gap is not None
            return float(good - max(gap - self.max_gap, 0.0))
        return float(self.alpha * good + (1.0 - self.alpha) * (1.0 - gap))

    def _goodness(self, model: TunedModel) -> float:
        return goodness(self._measures.performance, model.performance)

    def _choose(self) -> TunedModel:
        candidates = self.models_
        if not candidates:
            raise ValueError("no trial was finished; raise n_trials or timeout")
        if self.goal != "constraint":
            return max(candidates, key=lambda m: self.alpha * self._goodness(m) + (1.0 - self.alpha) * (1.0 - m.gap))
        assert self.max_gap is not None
        allowed = [model for model in candidates if model.gap <= self.max_gap]
        if not allowed:
            smallest = min(candidates, key=lambda model: model.gap)
            raise ValueError(
                f"max_gap={self.max_gap:g} is not reached in {len(candidates)} trials: the smallest gap is "
                f"{smallest.gap:.4g}; allow a larger gap, more trials or larger values of fairness_weight"
            )
        return max(allowed, key=self._goodness)


class _CrossValidation:
    """Fits parameters on one fold and returns (goodness, gap) there."""

    def __init__(self, estimator: Any, split: SplitRows, measures: Measures, fit_arguments: dict[str, Any]) -> None:
        self._estimator = estimator
        self._split = split
        self._measures = measures
        self._fit_arguments = fit_arguments
        self.n_folds = len(split.folds)
        held_out = split.held_out
        self._held_out = [held_out.part(np.flatnonzero(held_out.fold == number)) for number in range(self.n_folds)]
        measures.refuse_impossible(self._held_out)

    def __call__(self, params: dict[str, Any], number: int) -> tuple[float, float]:
        estimator = clone(self._estimator).set_params(**params)
        fold = self._split.folds[number]
        fit_at = prepare(estimator, self._split.training.take(fold.train), self._fit_arguments)
        scores = score_rows(fit_at(estimator.fairness_weight), take_rows(self._split.measured.X, fold.test))
        performance, gap = (
            self._measures.compute(metric, self._held_out[number], scores)
            for metric in (self._measures.performance, self._measures.gap)
        )
        return goodness(self._measures.performance, performance), gap

    def performance_of(self, good: float) -> float:
        """Return the metric's own value."""
        return float(goodness(self._measures.performance, float(good)))


def _read_model(trial: "FrozenTrial") -> TunedModel:
    attributes = trial.user_attrs
    return TunedModel(attributes["params"], attributes["performance"], attributes["gap"], trial.number)
