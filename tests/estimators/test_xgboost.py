"""XGBoost's fair estimators: as good as plain where fairness counts nothing, fairer where it does, plain models out."""

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost as xgb
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold

from estimators.samples import ALMOST_PLAIN, make_loans, make_wages
from otfairboost import FairXGBClassifier, FairXGBRegressor
from otfairboost.estimators import xgboost_training
from otfairboost.metrics import demographic_parity_difference
from otfairboost.selection import FairnessFrontier
from otfairboost.threads import MIN_CHUNK

SMALL = {"n_jobs": 1, "n_estimators": 12, "max_depth": 4, "random_state": 3}
LOANS, WAGES, MORE = make_loans(), make_wages(), make_loans(300, seed=1)
GREEN = LOANS.groups == "green"


def fit(model, rows=LOANS, **arguments):
    return model.fit(rows.X, rows.y, sensitive_features=rows.groups, **{"verbose": False, **arguments})


def mean_gap(scores):
    return abs(scores[GREEN].mean() - scores[~GREEN].mean())


def margins(model, X=LOANS.X):
    return model.predict(X, output_margin=True)


# ------------------------------------------------------------------------------------------- as plain XGBoost

VARIANTS = [
    {},
    {"scale_pos_weight": 3.0},
    {"base_score": 0.3},
    {"subsample": 0.7, "colsample_bytree": 0.6},
    {"tree_method": "exact"},
    {"tree_method": "approx", "max_bin": 32},
    {"grow_policy": "lossguide", "max_leaves": 6, "reg_alpha": 0.1, "gamma": 0.1},
    {"monotone_constraints": (1, 0, 0, 0, 0), "num_parallel_tree": 2, "learning_rate": 0.1},
]


@pytest.mark.parametrize("weight", [None, LOANS.weight], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("params", VARIANTS, ids=[str(variant) for variant in VARIANTS])
def test_classifier_of_hardly_any_fairness_is_xgboost(params, weight):
    plain = xgb.XGBClassifier(**SMALL | params).fit(LOANS.X, LOANS.y, sample_weight=weight)
    fair = fit(FairXGBClassifier(**SMALL | params, fairness_weight=ALMOST_PLAIN), sample_weight=weight)
    np.testing.assert_allclose(margins(fair), margins(plain), atol=2e-5)
    zero = fit(FairXGBClassifier(**SMALL | params, fairness_weight=0), sample_weight=weight)
    np.testing.assert_array_equal(margins(zero), margins(plain))


@pytest.mark.parametrize("weight", [None, WAGES.weight], ids=["unweighted", "weighted"])
def test_regressor_of_hardly_any_fairness_is_xgboost(weight):
    plain = xgb.XGBRegressor(**SMALL).fit(WAGES.X, WAGES.y, sample_weight=weight)
    fair = fit(FairXGBRegressor(**SMALL, fairness_weight=ALMOST_PLAIN), WAGES, sample_weight=weight)
    np.testing.assert_allclose(fair.predict(WAGES.X), plain.predict(WAGES.X), rtol=1e-5)
    zero = fit(FairXGBRegressor(**SMALL, fairness_weight=0), WAGES, sample_weight=weight)
    np.testing.assert_array_equal(zero.predict(WAGES.X), plain.predict(WAGES.X))


def test_margins_and_models_to_continue_from_are_xgboosts():
    margin = np.linspace(-1, 1, len(LOANS.y))
    plain = xgb.XGBClassifier(**SMALL).fit(LOANS.X, LOANS.y, base_margin=margin)
    fair = fit(FairXGBClassifier(**SMALL, fairness_weight=ALMOST_PLAIN), base_margin=margin)
    np.testing.assert_allclose(
        fair.predict_proba(LOANS.X, base_margin=margin), plain.predict_proba(LOANS.X, base_margin=margin), atol=1e-5
    )
    plain_on = xgb.XGBClassifier(**SMALL).fit(LOANS.X, LOANS.y, xgb_model=plain)
    fair_on = fit(FairXGBClassifier(**SMALL, fairness_weight=ALMOST_PLAIN), xgb_model=plain)
    assert fair_on.get_booster().num_boosted_rounds() == 24
    np.testing.assert_allclose(margins(fair_on), margins(plain_on), atol=2e-5)


@pytest.mark.parametrize("kept", [0, xgboost_training.MAX_KEPT_ENTRIES], ids=["bins alone", "rows kept"])
def test_categories_missing_values_and_sparse_rows_are_xgboosts(kept, monkeypatch):
    monkeypatch.setattr(xgboost_training, "MAX_KEPT_ENTRIES", kept)
    frame = pd.DataFrame(LOANS.X, columns=list("abcde"))
    frame["e"] = frame["e"].map(dict(enumerate("uvwxyz"))).astype("category")
    assert frame.isna().to_numpy().any()
    other = frame[::-1].assign(e=lambda f: f["e"].cat.reorder_categories(list("zyxwvu")))
    params = {**SMALL, "enable_categorical": True, "max_cat_to_onehot": 1}
    evaluation = {"eval_set": [(other, LOANS.y[::-1])], "verbose": False}
    plain = xgb.XGBClassifier(**params).fit(frame, LOANS.y, **evaluation)
    fair = FairXGBClassifier(**params, fairness_weight=ALMOST_PLAIN)
    fair.fit(frame, LOANS.y, sensitive_features=LOANS.groups, **evaluation)
    assert "c" in fair.get_booster().feature_types
    assert list(fair.feature_names_in_) == list("abcde")
    np.testing.assert_allclose(margins(fair, frame), margins(plain, frame), atol=2e-5)
    np.testing.assert_allclose(
        fair.evals_result()["validation_0"]["logloss"], plain.evals_result()["validation_0"]["logloss"], atol=1e-6
    )
    rows = sparse.csr_matrix(np.nan_to_num(LOANS.X))
    np.testing.assert_allclose(
        margins(fit(FairXGBClassifier(**SMALL, fairness_weight=ALMOST_PLAIN), LOANS._replace(X=rows)), rows),
        margins(xgb.XGBClassifier(**SMALL).fit(rows, LOANS.y), rows),
        atol=2e-5,
    )


@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_kept_beside_their_bins_give_the_same_model(is_sparse, monkeypatch):
    rng = np.random.default_rng(0)
    rows = 20_000
    X = np.exp(2 * rng.normal(size=(rows, 4))).astype(np.float32)  # many more values than bins
    X[rng.random(X.shape) < 0.2] = np.nan
    groups, weight = rng.integers(0, 2, rows), rng.gamma(0.5, size=rows) + 1e-3
    y = np.nan_to_num(X[:, 0]) + groups > 2 * rng.random(rows)
    model = FairXGBClassifier(**SMALL | {"n_estimators": 40, "n_jobs": 2}, early_stopping_rounds=3, max_bin=64)
    made, fits = [], []
    n_entries = X.size
    if is_sparse:
        X = sparse.csr_matrix(np.nan_to_num(X))
        n_entries = X.nnz
        assert n_entries < 0.9 * rows * 4
    for kind in (xgb.DMatrix, xgb.QuantileDMatrix):
        start = kind.__init__
        monkeypatch.setattr(kind, "__init__", lambda *a, _f=start, _k=kind, **k: (made.append(_k), _f(*a, **k))[1])
    for kept in (n_entries, n_entries - 1):
        monkeypatch.setattr(xgboost_training, "MAX_KEPT_ENTRIES", kept)
        made.clear()
        evaluation = {"eval_set": [(X[::7], y[::7])], "verbose": False}
        fitted = clone(model).fit(X, y, sensitive_features=groups, sample_weight=weight, **evaluation)
        fits.append((fitted.best_iteration, fitted.get_booster().get_dump(dump_format="json")))
        assert (xgb.QuantileDMatrix in made) == (kept < n_entries)
    assert fits[0] == fits[1]


# ------------------------------------------------------------------------------------------------- fairness

CASES = [
    (FairXGBClassifier, {}),
    (FairXGBClassifier, {"transport": "exact"}),
    (FairXGBClassifier, {"focus": 4.0, "multi_group": "barycenter"}),
    (FairXGBRegressor, {}),
    (FairXGBRegressor, {"objective": "reg:absoluteerror"}),
]


@pytest.mark.parametrize(("kind", "params"), CASES)
def test_the_gap_closes(kind, params):
    rows = LOANS if kind is FairXGBClassifier else WAGES
    score = (lambda m: m.predict_proba(rows.X)[:, 1]) if rows is LOANS else (lambda m: m.predict(rows.X))
    params = {**SMALL, "n_estimators": 40, **params}
    plain = fit(kind(**params, fairness_weight=0), rows)
    fair = fit(kind(**params, fairness_weight=20.0), rows)
    assert mean_gap(score(fair)) < 0.3 * mean_gap(score(plain))
    assert fair.groups_ == ("blue", "green")
    assert fair.fairness_weight_ == 20.0


def test_whole_weights_are_repeated_rows():
    X = np.round(2 * np.nan_to_num(LOANS.X)) / 2  # few values, so that XGBoost's bins do not depend on weights
    count = np.random.default_rng(5).integers(1, 4, len(X))
    model = FairXGBClassifier(**SMALL, transport="exact", min_child_weight=0.0)
    weighted = fit(clone(model), LOANS._replace(X=X), sample_weight=count)
    rows = np.repeat(np.arange(len(X)), count)
    repeated = fit(clone(model), LOANS._replace(X=X).part(rows))
    np.testing.assert_allclose(margins(weighted, X), margins(repeated, X), atol=1e-3)


def test_all_threads_give_the_same_model():
    many = make_loans(2 * MIN_CHUNK)
    params = {**SMALL, "n_estimators": 3}
    one, two = (fit(FairXGBClassifier(**params | {"n_jobs": n}), many) for n in (1, 2))
    np.testing.assert_allclose(margins(one, many.X), margins(two, many.X), atol=1e-4)


def test_a_target_gap_is_kept():
    model = fit(FairXGBClassifier(**SMALL, max_gap=0.15, gap_cv=2, gap_confidence=None))
    assert model.gap_ <= 0.15
    again = fit(FairXGBClassifier(**SMALL, fairness_weight=model.fairness_weight_))
    np.testing.assert_array_equal(margins(again), margins(model))


def test_prepared_fits_are_single_fits_on_threads_too():
    prepared = FairXGBClassifier(**SMALL).prepare_fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    weights = [0.0, 1.0, 4.0, 16.0]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(prepared.fit, weights))
    for weight, got in zip(weights, together, strict=True):
        want = fit(FairXGBClassifier(**SMALL, fairness_weight=weight))
        np.testing.assert_array_equal(margins(got), margins(want))


def test_a_frontier_takes_them():
    frontier = FairnessFrontier(FairXGBClassifier(**SMALL), weights=[0, 20.0], cv=2)
    frontier.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    np.testing.assert_array_equal(frontier.weights_, [0, 20.0])
    gap = frontier.metrics_.index("demographic_parity_difference")
    assert frontier.values_[1, :, gap].mean() < frontier.values_[0, :, gap].mean()


# --------------------------------------------------------------------------------------------- evaluation sets


def evaluated(model, **arguments):
    return fit(model, eval_set=[(LOANS.X, LOANS.y), (MORE.X, MORE.y)],
               eval_sensitive_features=[LOANS.groups, MORE.groups], **arguments)  # fmt: skip


def test_metrics_are_those_of_the_model():
    names = ["fair_objective", "base_loss", "fairness_penalty", "demographic_parity_difference", "auc", "logloss"]
    model = evaluated(FairXGBClassifier(**SMALL, eval_metric=names), sample_weight=LOANS.weight)
    last = {name: values[-1] for name, values in model.evals_result()["validation_1"].items()}
    assert set(last) == set(names)
    assert last["base_loss"] == pytest.approx(last["logloss"], abs=2e-6)
    assert last["fair_objective"] == pytest.approx(last["base_loss"] + 5 * last["fairness_penalty"], abs=1e-5)
    gap = demographic_parity_difference(MORE.y, model.predict(MORE.X), sensitive_features=MORE.groups)
    assert last["demographic_parity_difference"] == pytest.approx(gap, abs=1e-6)


def test_the_default_metric_is_what_is_trained_where_groups_are_known():
    assert list(evaluated(FairXGBClassifier(**SMALL)).evals_result()["validation_1"]) == ["fair_objective"]
    without = fit(FairXGBRegressor(**SMALL), WAGES, eval_set=[(WAGES.X.copy(), WAGES.y)])
    assert list(without.evals_result()["validation_0"]) == ["rmse"]
    plain = evaluated(FairXGBClassifier(**SMALL, fairness_weight=0, eval_metric="base_loss"))
    theirs = xgb.XGBClassifier(**SMALL).fit(LOANS.X, LOANS.y)
    np.testing.assert_array_equal(margins(plain), margins(theirs))
    loss = sklearn.metrics.log_loss(MORE.y, theirs.predict_proba(MORE.X))
    assert plain.evals_result()["validation_1"]["base_loss"][-1] == pytest.approx(loss, abs=2e-6)


@pytest.mark.parametrize(
    ("metric", "best"),
    [("fair_objective", np.argmin), (["fair_objective", "auc"], np.argmax), ("demographic_parity_ratio", np.argmax)],
)
def test_early_stopping_follows_the_last_metric_the_right_way(metric, best):
    params = {**SMALL, "n_estimators": 200, "learning_rate": 0.5}
    model = evaluated(FairXGBClassifier(**params, eval_metric=metric, early_stopping_rounds=5))
    values = model.evals_result()["validation_1"][metric if isinstance(metric, str) else metric[-1]]
    assert model.best_iteration == int(best(values))
    assert len(values) == model.best_iteration + 6 < 200
    short = fit(FairXGBClassifier(**params | {"n_estimators": model.best_iteration + 1}))
    np.testing.assert_array_equal(model.predict_proba(MORE.X), short.predict_proba(MORE.X))


def test_functions_take_probabilities_and_weights():
    def mean_square(y, score, sample_weight=None):
        return np.average((y - score) ** 2, weights=sample_weight)

    model = evaluated(FairXGBClassifier(**SMALL, eval_metric=mean_square), sample_weight_eval_set=[None, MORE.weight])
    want = mean_square(MORE.y, model.predict_proba(MORE.X)[:, 1], MORE.weight)
    assert model.evals_result()["validation_1"]["mean_square"][-1] == pytest.approx(want, abs=2e-6)


def test_curvature_follows_a_learning_rate_that_changes():
    def train(*rates):
        schedule = xgb.callback.LearningRateScheduler(list(rates))
        return margins(fit(FairXGBClassifier(**SMALL, callbacks=[schedule])))

    steady = margins(fit(FairXGBClassifier(**SMALL)))
    np.testing.assert_array_equal(train(*[0.3] * 12), steady)
    fixed = margins(fit(FairXGBClassifier(**SMALL, fairness_hessian=0.6, callbacks=[
        xgb.callback.LearningRateScheduler([0.3] * 6 + [0.05] * 6)])))  # fmt: skip
    assert abs(train(*[0.3] * 6, *[0.05] * 6) - fixed).max() > 1e-3


# ------------------------------------------------------------------------------------------- models, labels, copies

READ = """
import json, sys
import numpy as np, xgboost as xgb
booster = xgb.Booster(model_file=sys.argv[1])
assert not any(name.startswith("otfairboost") for name in sys.modules)
print(json.dumps(booster.predict(xgb.DMatrix(np.load(sys.argv[2]))).tolist()))
"""


@pytest.mark.parametrize(
    ("model", "rows", "objective", "ending"),
    [
        (FairXGBClassifier(**SMALL), LOANS, "binary:logistic", "json"),
        (FairXGBClassifier(**SMALL, scale_pos_weight=2.0), LOANS, "binary:logistic", "ubj"),
        (FairXGBRegressor(**SMALL), WAGES, "reg:squarederror", "ubj"),
        (FairXGBRegressor(**SMALL, objective="reg:absoluteerror"), WAGES, "reg:absoluteerror", "json"),
    ],
    ids=["classifier", "label weights", "regressor", "absolute error"],
)
def test_plain_xgboost_reads_the_saved_model_elsewhere(model, rows, objective, ending, tmp_path):
    model = fit(clone(model), rows)
    file, X = tmp_path / f"model.{ending}", tmp_path / "X.npy"
    model.save_model(file)
    np.save(X, rows.X)
    run = subprocess.run([sys.executable, "-c", READ, file, X], capture_output=True, text=True, timeout=60, check=True)
    want = model.predict_proba(rows.X)[:, 1] if rows is LOANS else model.predict(rows.X)
    np.testing.assert_allclose(json.loads(run.stdout), want, rtol=1e-6, atol=1e-6)
    if ending == "json":
        assert json.loads(file.read_text())["learner"]["objective"]["name"] == objective
    loaded = type(model)()
    loaded.load_model(file)
    np.testing.assert_array_equal(margins(loaded, rows.X), margins(model, rows.X))


@pytest.mark.parametrize("weight", [0, 5.0])
def test_labels_may_be_words(weight):
    words = np.where(LOANS.y == 1, "yes", "no")
    by_word = fit(FairXGBClassifier(**SMALL, fairness_weight=weight), LOANS._replace(y=words),
                  eval_set=[(LOANS.X, words)])  # fmt: skip
    by_code = fit(FairXGBClassifier(**SMALL, fairness_weight=weight))
    np.testing.assert_array_equal(margins(by_word), margins(by_code))
    assert list(by_word.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(by_word.predict(LOANS.X) == "yes", by_code.predict(LOANS.X) == 1)


def test_plain_classifier_takes_three_classes_of_any_name():
    y = np.array(["a", "b", "c"])[np.digitize(WAGES.y, np.quantile(WAGES.y, [0.3, 0.6]))]
    model = FairXGBClassifier(**SMALL, fairness_weight=0).fit(WAGES.X, y)
    assert model.predict_proba(WAGES.X).shape == (len(y), 3)
    assert (model.predict(WAGES.X) == y).mean() > 0.6


@pytest.mark.parametrize("model", [FairXGBClassifier(**SMALL, focus=4.0, gamma=0.5), FairXGBRegressor(**SMALL)])
def test_clone_and_pickle(model):
    copy = clone(model)
    assert {k: v for k, v in copy.get_params().items() if k != "missing"} == {
        k: v for k, v in model.get_params().items() if k != "missing"
    }
    rows = LOANS if isinstance(model, FairXGBClassifier) else WAGES
    fitted = fit(copy, rows)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict(rows.X), fitted.predict(rows.X))
    np.testing.assert_array_equal(margins(loaded.set_params(learning_rate=0.1), rows.X), margins(fitted, rows.X))


def test_set_params_after_metrics_of_ours_leaves_a_model_that_predicts():
    model = evaluated(FairXGBClassifier(**SMALL, eval_metric=["auc", "fair_objective"]))
    before = margins(model)
    np.testing.assert_array_equal(margins(model.set_params(n_jobs=2)), before)


def test_grid_search_routes_groups_and_finds_the_fairer_model():
    scorer = make_scorer(demographic_parity_difference, greater_is_better=False)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            FairXGBClassifier(**SMALL).set_fit_request(sensitive_features=True, sample_weight=True),
            {"fairness_weight": [0, 30.0]}, cv=KFold(3), error_score="raise",
            scoring=scorer.set_score_request(sensitive_features=True),
        )  # fmt: skip
        search.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, sample_weight=LOANS.weight)
    assert search.best_params_ == {"fairness_weight": 30.0}
    assert search.best_estimator_.groups_ == ("blue", "green")
