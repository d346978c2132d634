"""Tuning with Optuna: what a trial measures, which is chosen, and that a study goes on."""

import sqlite3
import sys

import fairlearn.metrics
import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold

from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.tuning import FairnessSearch, default_space

optuna.logging.set_verbosity(optuna.logging.WARNING)
LOANS, WAGES = make_loans(), make_wages()
FOLDS = KFold(2)
MODEL = FairLGBMClassifier(**SMALL)
SPACE = {
    "fairness_weight": FloatDistribution(0.1, 50.0, log=True),
    "num_leaves": IntDistribution(4, 12, step=4),
    "transport": CategoricalDistribution(["histogram", "exact"]),
}


def search(sample=LOANS, estimator=MODEL, **params):
    given = {"space": SPACE, "cv": FOLDS, "n_trials": 6, **params}
    return FairnessSearch(estimator, **given).fit(sample.X, sample.y, sensitive_features=sample.groups)


@pytest.fixture(scope="module")
def both():
    return search()


def test_a_trial_is_the_mean_over_folds(both):
    model = both.models_[2]
    results = []
    for train, test in FOLDS.split(LOANS.X):
        fitted = clone(MODEL).set_params(**model.params)
        fitted.fit(LOANS.X[train], LOANS.y[train], sensitive_features=LOANS.groups[train])
        score = fitted.predict_proba(LOANS.X[test])[:, 1]
        gap = fairlearn.metrics.demographic_parity_difference(
            LOANS.y[test], score >= 0.5, sensitive_features=LOANS.groups[test]
        )
        results.append((average_precision_score(LOANS.y[test], score), gap))
    assert (model.performance, model.gap) == pytest.approx(tuple(np.mean(results, axis=0)))
    assert both.study_.trials[2].values == pytest.approx([model.performance, model.gap])


def test_parameters_come_from_the_space(both):
    assert len(both.models_) == 6
    for model in both.models_:
        assert set(model.params) == set(SPACE)
        assert model.params["num_leaves"] in (4, 8, 12)
        assert 0.1 <= model.params["fairness_weight"] <= 50


def test_both_goals_give_a_front_and_a_choice(both):
    trials = {trial.number for trial in both.study_.best_trials}
    assert {model.number for model in both.pareto()} == trials
    objective = [0.75 * model.performance + 0.25 * (1 - model.gap) for model in both.models_]
    assert both.best_model_ == both.models_[int(np.argmax(objective))]
    twin = clone(MODEL).set_params(**both.best_params_).fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    np.testing.assert_array_equal(both.best_estimator_.predict_proba(LOANS.X), twin.predict_proba(LOANS.X))


def test_the_tradeoff_is_what_optuna_maximises():
    found = search(goal="tradeoff", alpha=0.4, pruner=optuna.pruners.NopPruner(), refit=False)
    values = {trial.number: trial.value for trial in found.study_.trials}
    for model in found.models_:
        assert values[model.number] == pytest.approx(0.4 * model.performance + 0.6 * (1 - model.gap))
    assert found.best_model_.number == found.study_.best_trial.number
    assert not hasattr(found, "best_estimator_")


def test_accuracy_under_a_constraint():
    limit = float(np.median([model.gap for model in search(refit=False).models_]))
    found = search(goal="constraint", max_gap=limit, n_trials=8, pruner=optuna.pruners.NopPruner())
    allowed = [model for model in found.models_ if model.gap <= limit]
    assert found.best_model_ == max(allowed, key=lambda model: model.performance)
    assert found.best_model_.number == found.study_.best_trial.number


def test_a_constraint_that_no_trial_keeps():
    with pytest.raises(ValueError, match=r"^max_gap=1e-09 is not reached in 2 trials: the smallest gap is 0\.\d+"):
        search(goal="constraint", max_gap=1e-9, n_trials=2, pruner=optuna.pruners.NopPruner(),
               space={"fairness_weight": FloatDistribution(0.1, 0.2)})  # fmt: skip


class AlwaysPrune(optuna.pruners.BasePruner):
    def prune(self, study, trial):
        return trial.number % 2 == 1


def test_pruned_trials_stop_after_a_fold():
    found = search(goal="tradeoff", pruner=AlwaysPrune())
    states = [trial.state for trial in found.study_.trials]
    assert states == [TrialState.COMPLETE, TrialState.PRUNED] * 3
    assert all(list(trial.intermediate_values) == [0] for trial in found.study_.trials[1::2])
    assert [model.number for model in found.models_] == [0, 2, 4]


def test_a_study_goes_on(tmp_path):
    path = tmp_path / "new" / "study.db"
    first = search(storage=path, n_trials=3, refit=False)
    seen = []
    more = search(storage=path, n_trials=5, refit=False, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert more.models_[:3] == first.models_
    assert len(search(storage=f"sqlite:///{path}", n_trials=5, refit=False).models_) == 5


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"estimator": FairLGBMClassifier(**SMALL, focus=2.0)}, "parameters"),
        ({"goal": "both", "alpha": 0.5}, "goal"),
        ({"sample": LOANS._replace(y=1 - LOANS.y)}, "rows"),
    ],
)
def test_a_study_of_something_else_is_refused(tmp_path, change, kind):
    path = tmp_path / "study.db"
    search(storage=path, n_trials=1, refit=False)
    with pytest.raises(ValueError, match=f"^storage='.*study.db' has a study 'otfairboost' with other .*{kind}"):
        search(storage=path, n_trials=2, **change)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT COUNT(*) FROM trials").fetchone() == (1,)
    connection.close()


def test_the_default_space_suits_classifiers_and_regressors():
    classifier = search(space=None, n_trials=2)
    assert set(classifier.best_params_) == set(default_space())
    regressor = search(WAGES, FairLGBMRegressor(**SMALL), space=None, n_trials=2)
    assert set(default_space()) - set(regressor.best_params_) == {"focus"}
    assert regressor.best_model_.performance > 0
    assert regressor.study_.trials[0].values[0] == pytest.approx(1 - regressor.models_[0].performance)


def test_a_function_as_space():
    found = search(space=lambda trial: {"fairness_weight": 2.0 ** trial.suggest_int("power", 0, 3)}, n_trials=2)
    assert found.best_params_["fairness_weight"] in (1.0, 2.0, 4.0, 8.0)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"goal": "fair"}, ValueError, "goal='fair' is unknown; allowed are 'both', 'tradeoff', 'constraint'"),
        ({"alpha": 2}, ValueError, "alpha=2 is not allowed"),
        ({"goal": "constraint"}, ValueError, "max_gap=None must be a number >= 0 with goal='constraint'"),
        ({"max_gap": 0.1}, ValueError, "max_gap=0.1 needs goal='constraint', got goal='both'"),
        ({"n_trials": 0}, ValueError, "n_trials=0 must be an integer >= 1"),
        ({"n_trials": 2.5}, ValueError, "n_trials=2.5 must be"),
        ({"space": {}}, TypeError, "space={} must be a dict of parameters"),
        ({"space": {"focus": [1, 2]}}, TypeError, r"space\['focus'\] is \[1, 2\]; allowed are Optuna's distributions"),
        ({"space": {"max_gap": FloatDistribution(0, 1)}}, ValueError, "space has 'max_gap': tuning sets weights"),
        ({"estimator": FairLGBMClassifier(max_gap=0.1)}, ValueError, "estimator has max_gap=0.1"),
        ({"gap": "roc_auc"}, ValueError, "gap='roc_auc' is not a gap"),
        ({"cv": 0}, ValueError, "cv=0 must be a number of folds"),
    ],
)
def test_bad_input_is_refused(params, error, message):
    with pytest.raises(error, match=f"^{message}"):
        search(**params)


def test_without_optuna_the_line_to_run_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"^optuna is not installed; run: pip install 'otfairboost\[tune\]'"):
        search()
