"""XGBoost's classifier with more than two classes."""

import pickle

import numpy as np
import pytest
import xgboost as xgb

from estimators.samples import ALMOST_PLAIN, make_grades
from otfairboost import FairXGBClassifier
from otfairboost.metrics import METRICS, multiclass_log_loss, multiclass_wasserstein_distance

SMALL = {"n_estimators": 15, "max_depth": 3, "n_jobs": 1, "random_state": 3}
LABELS = ["fair", "good", "poor"]
GRADES, FRESH = make_grades(900), make_grades(1500, seed=1)
CODES, FRESH_CODES = (np.searchsorted(LABELS, sample.y) for sample in (GRADES, FRESH))


def fit(params=None, **arguments):
    model = FairXGBClassifier(**(SMALL | (params or {})))
    return model.fit(GRADES.X, GRADES.y, sensitive_features=GRADES.groups, verbose=False, **arguments)


@pytest.mark.parametrize("arguments", [{}, {"sample_weight": GRADES.weight},
                                       {"base_margin": np.random.default_rng(0).normal(size=(900, 3))}],
                         ids=lambda arguments: next(iter(arguments), "plain"))  # fmt: skip
def test_without_weight_the_model_is_xgboosts(arguments):
    plain = xgb.XGBClassifier(**SMALL).fit(GRADES.X, CODES, **arguments)
    expected = plain.predict_proba(FRESH.X)
    for weight, near in ((0, 0.0), (ALMOST_PLAIN, 2e-5)):
        model = fit({"fairness_weight": weight}, **arguments)
        np.testing.assert_allclose(model.predict_proba(FRESH.X), expected, rtol=0, atol=near)
        assert set(model.predict(FRESH.X)) <= set(LABELS)
        assert model.classes_.tolist() == LABELS


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
def test_the_gap_falls_on_fresh_rows(fairness):
    rows = FRESH.y == "good" if fairness == "equalized_odds" else np.full(1500, True)
    distances = [
        multiclass_wasserstein_distance(
            None, fit({"fairness_weight": weight, "fairness": fairness}).predict_proba(FRESH.X[rows]),
            sensitive_features=FRESH.groups[rows],
        )
        for weight in (0, 30)
    ]  # fmt: skip
    assert distances[1] < 0.5 * distances[0]


def test_the_booster_is_an_ordinary_one(tmp_path):
    model = fit()
    expected = model.predict_proba(FRESH.X)
    assert model.get_params()["objective"] == "binary:logistic"  # what was asked for stays
    model.save_model(tmp_path / "model.json")
    booster = xgb.Booster(model_file=tmp_path / "model.json")
    np.testing.assert_array_equal(booster.predict(xgb.DMatrix(FRESH.X)), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(FRESH.X), expected)


def test_metrics_and_early_stopping_by_name():
    names = ["mlogloss", "multiclass_demographic_parity_difference", "base_loss", "fair_objective"]
    model = fit(
        {"eval_metric": names, "n_estimators": 200, "learning_rate": 0.6, "early_stopping_rounds": 4},
        eval_set=[(FRESH.X, FRESH.y)], eval_sensitive_features=FRESH.groups,
    )  # fmt: skip
    history = model.evals_result()["validation_0"]
    assert model.best_iteration == int(np.argmin(history["fair_objective"])) < 195
    probability = model.predict_proba(FRESH.X)
    best = {name: history[name][model.best_iteration] for name in names}
    gap = METRICS[names[1]].from_scores(FRESH_CODES, probability, sensitive_features=FRESH.groups)
    assert best[names[1]] == pytest.approx(gap, abs=1e-6)
    assert best["base_loss"] == pytest.approx(multiclass_log_loss(FRESH.y, probability), abs=2e-6)
    assert best["mlogloss"] == pytest.approx(best["base_loss"], abs=2e-6)


def test_max_gap():
    before = fit({"fairness_weight": 0}).predict_proba(GRADES.X)
    gap = METRICS["multiclass_demographic_parity_difference"].from_scores(
        CODES, before, sensitive_features=GRADES.groups
    )
    model = fit({"max_gap": 0.7 * gap, "gap_cv": 2, "gap_confidence": None})
    assert 0 < model.gap_ <= 0.7 * gap
