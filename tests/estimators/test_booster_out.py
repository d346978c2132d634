"""What comes out is an ordinary LightGBM model: it predicts elsewhere what the estimator predicts, and can go on."""

import subprocess
import sys

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

from estimators.samples import ALMOST_PLAIN, SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor

LOANS, MORE_LOANS = make_loans(missing=0.02), make_loans(300, seed=1)
FAIR = {"fairness_weight": 3.0}
CATEGORIES = pd.DataFrame(LOANS.X).assign(kind=pd.Categorical.from_codes(LOANS.X[:, 4].astype(int), list("uvwxyz")))
VARIANTS = {
    "default": ({}, {}),
    "stopped": ({"n_estimators": 60, "learning_rate": 0.3, "early_stopping_round": 4}, {}),
    "categories": ({}, {"X": CATEGORIES, "eval_X": CATEGORIES[:300], "eval_y": LOANS.y[:300]}),
    "dart": ({"boosting_type": "dart", "drop_rate": 0.7, "skip_drop": 0.0}, {}),
    "linear": ({"linear_tree": True}, {}),
    "no_split": ({"min_split_gain": 1e9}, {}),
    "from_zero": ({"boost_from_average": False}, {}),
    "constant": ({}, {"X": np.ones((600, 2)), "eval_X": np.ones((300, 2))}),
    "weighted": ({"class_weight": "balanced", "scale_pos_weight": 1.7}, {"sample_weight": LOANS.weight}),
}


def fit(params=None, **arguments):
    given = {"X": LOANS.X, "y": LOANS.y, "sensitive_features": LOANS.groups, "eval_X": MORE_LOANS.X,
             "eval_y": MORE_LOANS.y} | arguments  # fmt: skip
    return FairLGBMClassifier(**SMALL | FAIR | (params or {})).fit(**given), given["X"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_saved_model_predicts_the_same_without_this_package(variant, tmp_path):
    params, arguments = VARIANTS[variant]
    model, X = fit(params, **arguments)
    model.booster_.save_model(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_allclose(loaded.predict(X), model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(loaded.predict(X, raw_score=True), model.decision_function(X), rtol=0, atol=1e-12)
    assert "\nobjective=binary sigmoid:1\n" in (tmp_path / "model.txt").read_text()
    assert loaded.num_trees() == model.n_estimators_
    if variant == "stopped":
        assert model.n_estimators_ == model.best_iteration_ < 60
    if variant not in ("no_split", "constant"):
        assert np.ptp(model.decision_function(X)) > 0.2


def test_saved_model_is_read_where_only_lightgbm_is(tmp_path):
    model, X = fit()
    model.booster_.save_model(tmp_path / "model.txt")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np, lightgbm as lgb\n"
        "p = lgb.Booster(model_file='model.txt').predict(np.load('X.npy'))\n"
        "assert not any(name.startswith('otfairboost') for name in sys.modules)\n"
        "np.save('p.npy', p)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("objective", "line"),
    [(None, "regression"), ("mean_absolute_percentage_error", "mape")]
    + [(name, name) for name in ("regression_l1", "huber", "fair", "quantile", "poisson", "gamma", "tweedie")],
)
def test_saved_regression_predicts_the_same(objective, line, tmp_path):
    wages = make_wages()
    model = FairLGBMRegressor(**SMALL, objective=objective).fit(wages.X, wages.y, sensitive_features=wages.groups)
    model.booster_.save_model(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_allclose(loaded.predict(wages.X), model.predict(wages.X), rtol=1e-13)
    assert f"\nobjective={line}\n" in (tmp_path / "model.txt").read_text()
    middle = np.quantile(wages.y, 0.9) if objective == "quantile" else wages.y.mean()
    assert abs(model.predict(wages.X).mean() - middle) < 2.5  # the start and the link are inside


def test_prediction_arguments_work(tmp_path):
    model, X = fit()
    contributions = model.predict(X, pred_contrib=True)
    np.testing.assert_allclose(contributions.sum(axis=1), model.decision_function(X), rtol=0, atol=1e-9)
    assert model.predict(X, pred_leaf=True).shape == (len(X), model.n_estimators_)
    first = model.decision_function(X, num_iteration=4)
    rest = model.decision_function(X, start_iteration=4)
    np.testing.assert_allclose(first + rest, model.decision_function(X), rtol=0, atol=1e-12)
    assert model.predict_proba(X, pred_early_stop=True, pred_early_stop_margin=0.01).shape == (len(X), 2)


# ---------------------------------------------------------------------------------------- continued training


def as_booster(model, path):
    return model.booster_


def as_file(model, path):
    model.booster_.save_model(path)
    return path


def as_name(model, path):
    return str(as_file(model, path))


INIT_MODELS = {"estimator": lambda model, path: model, "booster": as_booster, "file": as_file, "name": as_name}


@pytest.mark.parametrize("kind", INIT_MODELS)
@pytest.mark.parametrize("params", [{}, {"linear_tree": True}], ids=["default", "linear"])
def test_continued_training_is_lightgbms(kind, params, tmp_path):
    start = lgb.LGBMClassifier(**SMALL | params).fit(LOANS.X, LOANS.y)
    init_model = INIT_MODELS[kind](start, tmp_path / "start.txt")
    new = {"X": MORE_LOANS.X, "y": MORE_LOANS.y, "eval_X": LOANS.X, "eval_y": LOANS.y}
    plain = lgb.LGBMClassifier(**SMALL | params).fit(**new, init_model=init_model)
    fair = FairLGBMClassifier(**SMALL | params, fairness_weight=ALMOST_PLAIN).fit(
        **new, sensitive_features=MORE_LOANS.groups, init_model=init_model
    )
    np.testing.assert_allclose(fair.predict_proba(LOANS.X), plain.predict_proba(LOANS.X), rtol=0, atol=1e-12)
    assert fair.n_estimators_ == plain.n_estimators_ == 2 * SMALL["n_estimators"]
    history, ours = plain.evals_result_["valid_0"], fair.evals_result_["valid_0"]
    np.testing.assert_allclose(ours["binary_logloss"], history["binary_logloss"], rtol=1e-11)


@pytest.mark.parametrize("kind", INIT_MODELS)
def test_fair_model_continues_from_itself(kind, tmp_path):
    # Twelve rounds and twelve more are twenty-four: the start is inside the first part and not added twice.
    half, X = fit()
    whole, _ = fit({"n_estimators": 24})
    continued, _ = fit(init_model=INIT_MODELS[kind](half, tmp_path / "half.txt"))
    np.testing.assert_allclose(continued.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(half.booster_.predict(X), fit()[0].booster_.predict(X))  # not changed by it


def test_plain_model_is_made_fairer_by_a_few_more_rounds():
    plain = lgb.LGBMClassifier(**SMALL | {"n_estimators": 40}).fit(LOANS.X, LOANS.y)
    fairer, X = fit({"fairness_weight": 20.0, "n_estimators": 40}, init_model=plain)
    gaps = [
        np.ptp([model.predict_proba(X)[LOANS.groups == group, 1].mean() for group in ("blue", "green")])
        for model in (plain, fairer)
    ]
    assert gaps[1] < 0.4 * gaps[0]


def test_stopping_counts_the_iterations_of_the_first_model():
    start = lgb.LGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y)
    params = {"n_estimators": 60, "learning_rate": 0.4, "metric": "binary_logloss", "early_stopping_round": 3}
    new = {"X": LOANS.X, "y": LOANS.y, "eval_X": MORE_LOANS.X, "eval_y": MORE_LOANS.y, "init_model": start}
    plain = lgb.LGBMClassifier(**SMALL | params).fit(**new)
    fair, X = fit(params | {"fairness_weight": ALMOST_PLAIN}, **new)
    assert fair.best_iteration_ == plain.best_iteration_ > SMALL["n_estimators"]
    np.testing.assert_allclose(fair.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The init_score will be overridden")  # LightGBM's own
def test_init_model_goes_before_init_score():
    start = lgb.LGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y)
    with_score, X = fit(init_model=start, init_score=np.full(600, 3.0))
    without, _ = fit(init_model=start)
    np.testing.assert_array_equal(with_score.predict_proba(X), without.predict_proba(X))
