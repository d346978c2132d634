"""The fair estimators against LightGBM's own: with next to no fairness they must be the same model.

``fairness_weight=0`` trains LightGBM's own estimator. At 1e-30 everything of the fair path runs (custom objective,
offset, evaluation, baking) and only rounding may differ.
"""

import inspect
from contextlib import nullcontext

import lightgbm as lgb
import numpy as np
import pytest

from estimators.samples import ALMOST_PLAIN, SMALL, STEADY, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor

CLOSE = {"rtol": 0, "atol": 1e-12}

CLASSIFIER_VARIANTS = {
    "default": {},
    "scale_pos_weight": {"scale_pos_weight": 3.3},
    "is_unbalance": {"is_unbalance": True},
    "is_unbalance_by_alias_and_word": {"unbalance": "true"},
    "balanced": {"class_weight": "balanced"},
    "class_weight": {"class_weight": {0: 0.7, 1: 2.5}},
    "from_zero": {"boost_from_average": False},
    "from_zero_by_word": {"boost_from_average": "false"},
    "monotone": {"monotone_constraints": [1, -1, 0, 0, 0]},
    "interaction": {"interaction_constraints": [[0, 1], [2, 3, 4]]},
    "linear": {"linear_tree": True},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.3},
    "goss_by_boosting": {"boosting_type": "goss", "learning_rate": 0.3},
    "bagging": {"subsample": 0.6, "subsample_freq": 2},
    "extra_trees": {"extra_trees": True},
    "path_smooth": {"path_smooth": 4.0},
    "quantised": {"use_quantized_grad": True},
    "regularised": {"reg_alpha": 0.3, "reg_lambda": 2.0, "max_delta_step": 0.5, "min_child_weight": 1.0},
    "aliases": {"max_bins": 31, "sub_row": 0.7, "bagging_freq": 1, "max_tree_output": 0.3, "num_trees": 7},
    "no_split": {"min_split_gain": 1e9},
    "shallow": {"max_depth": 2},
}
# Same only with fairness_weight=0. With a custom objective LightGBM draws columns from another random stream, and its
# DART keeps the initial score out of what it rescales; forests take no custom objective.
PLAIN_ONLY_VARIANTS = {
    "forest": {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
    "dart": {"boosting_type": "dart"},
    "columns": {"colsample_bytree": 0.5},
    "by_label": {"pos_bagging_fraction": 0.5, "bagging_freq": 1},
    "sigmoid": {"sigmoid": 2.0},
}
REGRESSOR_VARIANTS = {
    "default": {},
    "huber": {"objective": "huber", "alpha": 1.5},
    "huber_default_alpha": {"objective": "huber"},
    "rmse": {"objective": "rmse"},
    "linear": {"linear_tree": True},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.3},
    "bagging": {"subsample": 0.6, "subsample_freq": 1},
    "quantised": {"use_quantized_grad": True},
    "from_zero": {"boost_from_average": False},
}


@pytest.fixture(scope="module")
def loans():
    return make_loans()


@pytest.fixture(scope="module")
def wages():
    return make_wages()


def fit_both(fair_class, sample, params, fit=None, weight=ALMOST_PLAIN):
    """Return LightGBM's estimator and the fair one, fitted alike."""
    plain_class = lgb.LGBMClassifier if fair_class is FairLGBMClassifier else lgb.LGBMRegressor
    plain = plain_class(**(SMALL | params)).fit(sample.X, sample.y, **(fit or {}))
    fair = fair_class(fairness_weight=weight, **(SMALL | params))
    return plain, fair.fit(sample.X, sample.y, sensitive_features=sample.groups, **(fit or {}))


def assert_same_model(plain, fair, X, rtol=0.0):
    """Compare predictions, and what else a user reads off a model."""
    close = {"rtol": rtol, "atol": 1e-12}
    predict = "predict_proba" if hasattr(plain, "predict_proba") else "predict"
    assert np.ptp(plain.predict(X, raw_score=True)) > 0.05 or plain.booster_.num_trees() == 1
    np.testing.assert_allclose(getattr(fair, predict)(X), getattr(plain, predict)(X), **close)
    np.testing.assert_allclose(fair.predict(X, raw_score=True), plain.predict(X, raw_score=True), **close)
    np.testing.assert_array_equal(fair.predict(X, pred_leaf=True), plain.predict(X, pred_leaf=True))
    np.testing.assert_array_equal(fair.feature_importances_, plain.feature_importances_)
    for name in ("best_iteration_", "n_estimators_", "n_iter_", "n_features_", "n_features_in_", "feature_name_",
                 "objective_"):  # fmt: skip
        assert getattr(fair, name) == getattr(plain, name), name


# ------------------------------------------------------------------------------------------------ weight 0


@pytest.mark.parametrize("variant", CLASSIFIER_VARIANTS | PLAIN_ONLY_VARIANTS)
def test_classifier_of_weight_0_is_the_plain_one(variant, loans):
    params = (CLASSIFIER_VARIANTS | PLAIN_ONLY_VARIANTS)[variant]
    plain, fair = fit_both(FairLGBMClassifier, loans, params, weight=0)
    np.testing.assert_array_equal(fair.predict_proba(loans.X), plain.predict_proba(loans.X))
    np.testing.assert_array_equal(fair.predict(loans.X), plain.predict(loans.X))


def squared_error(y_true, y_pred):
    return y_pred - y_true, np.ones_like(y_pred)


@pytest.mark.parametrize(
    "objective", ["regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie",
                  squared_error],
)  # fmt: skip
def test_regressor_of_weight_0_is_the_plain_one_for_every_objective(objective, wages):
    positive = wages._replace(y=np.abs(wages.y) + 0.1)
    plain, fair = fit_both(FairLGBMRegressor, positive, {"objective": objective}, weight=0)
    np.testing.assert_array_equal(fair.predict(wages.X), plain.predict(wages.X))
    assert fair.objective_ == plain.objective_


@pytest.mark.parametrize("objective", [None, "multiclass", "multiclassova"])
def test_multiclass_works_at_weight_0(objective, loans):
    three = loans._replace(y=np.array(["low", "mid", "high"])[loans.y + (loans.X[:, 4] > 3)])
    plain, fair = fit_both(FairLGBMClassifier, three, {"objective": objective}, weight=0)
    np.testing.assert_array_equal(fair.predict_proba(loans.X), plain.predict_proba(loans.X))
    assert fair.predict_proba(loans.X).shape == (len(loans.y), 3)


def test_weight_0_needs_no_groups(loans):
    plain = lgb.LGBMClassifier(**SMALL).fit(loans.X, loans.y)
    fair = FairLGBMClassifier(fairness_weight=0, **SMALL).fit(loans.X, loans.y)
    np.testing.assert_array_equal(fair.predict_proba(loans.X), plain.predict_proba(loans.X))
    assert not hasattr(fair, "groups_")


@pytest.mark.parametrize(
    ("fair_class", "params", "metric"),
    [
        (FairLGBMClassifier, {}, "demographic_parity_difference"),
        (FairLGBMClassifier, {"colsample_bytree": 0.5, "boosting_type": "dart"}, ["fair_objective", "auc"]),
        (FairLGBMClassifier, {"metric": "fairness_penalty"}, None),
        (FairLGBMRegressor, {}, "wasserstein_distance"),
        (FairLGBMRegressor, {"objective": "regression_l1"}, ["base_loss", "l1"]),
    ],
)
def test_weight_0_stays_plain_with_fairness_metrics(fair_class, params, metric, loans, wages):
    sample = loans if fair_class is FairLGBMClassifier else wages
    plain, _ = fit_both(fair_class, sample, {k: v for k, v in params.items() if k != "metric"}, weight=0)
    fair = fair_class(fairness_weight=0, **(SMALL | params)).fit(
        sample.X, sample.y, sensitive_features=sample.groups, eval_X=sample.X[:300], eval_y=sample.y[:300],
        eval_sensitive_features=sample.groups[:300], eval_metric=metric,
    )  # fmt: skip
    np.testing.assert_array_equal(fair.predict(sample.X, raw_score=True), plain.predict(sample.X, raw_score=True))
    (history,) = fair.evals_result_.values()
    assert all(np.isfinite(values).all() and len(values) == SMALL["n_estimators"] for values in history.values())


# ------------------------------------------------------------------------------------- next to no fairness


@pytest.mark.parametrize("variant", CLASSIFIER_VARIANTS)
def test_classifier_is_the_plain_one(variant, loans):
    plain, fair = fit_both(FairLGBMClassifier, loans, CLASSIFIER_VARIANTS[variant])
    assert_same_model(plain, fair, loans.X)
    np.testing.assert_allclose(fair.decision_function(loans.X), plain.decision_function(loans.X), **CLOSE)
    np.testing.assert_array_equal(fair.classes_, plain.classes_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("variant", REGRESSOR_VARIANTS)
def test_regressor_is_the_plain_one(variant, weighted, wages):
    fit = {"sample_weight": wages.weight} if weighted else {}
    plain, fair = fit_both(FairLGBMRegressor, wages, REGRESSOR_VARIANTS[variant], fit)
    # LightGBM rounds the residual to single precision before it multiplies by the weight, here it is only afterwards.
    assert_same_model(plain, fair, wages.X, rtol=2e-8 if weighted and "huber" not in variant else 0)


@pytest.mark.filterwarnings("ignore:Found 'application' in params")  # LightGBM's own
def test_objective_by_alias_is_the_plain_one(wages):
    plain, fair = fit_both(FairLGBMRegressor, wages, {"application": "huber"})
    assert_same_model(plain, fair, wages.X)
    assert fair.objective_ == "huber"


@pytest.mark.parametrize(
    "params", [{}, {"class_weight": "balanced"}, {"scale_pos_weight": 2.0}, {"is_unbalance": True}]
)
def test_sample_weight_is_the_plain_one(params, loans):
    plain, fair = fit_both(FairLGBMClassifier, loans, params, {"sample_weight": loans.weight})
    assert_same_model(plain, fair, loans.X)
    unweighted, _ = fit_both(FairLGBMClassifier, loans, params)
    assert np.abs(plain.predict_proba(loans.X) - unweighted.predict_proba(loans.X)).max() > 0.01


@pytest.mark.parametrize("fair_class", [FairLGBMClassifier, FairLGBMRegressor])
def test_init_score_is_the_plain_one(fair_class, loans, wages):
    sample = loans if fair_class is FairLGBMClassifier else wages
    start = np.linspace(-1.0, 2.0, len(sample.y))
    plain, fair = fit_both(fair_class, sample, {}, {"init_score": start})
    assert_same_model(plain, fair, sample.X)


@pytest.mark.parametrize("objective", ["regression_l1", "mae"])
def test_absolute_error_comes_close_to_the_plain_one(objective, wages):
    # LightGBM renews each leaf to the median of its residuals, which a custom objective cannot.
    params = {"objective": objective, "n_estimators": 60}
    plain, fair = fit_both(FairLGBMRegressor, wages, params)
    fresh = make_wages(2000, seed=9)
    errors = [np.abs(model.predict(fresh.X) - fresh.y).mean() for model in (plain, fair)]
    assert errors[1] < 1.03 * errors[0]
    assert errors[1] < 0.7 * np.abs(fresh.y - np.median(fresh.y)).mean()


@pytest.mark.parametrize(
    "params", [{"colsample_bytree": 0.6}, {"boosting_type": "dart"}, {"feature_fraction_bynode": 0.6}]
)
def test_other_random_streams_give_a_model_as_good(params, loans):
    plain, fair = fit_both(FairLGBMClassifier, loans, params | {"n_estimators": 40})
    fresh = make_loans(2000, seed=9)
    losses = [
        -np.log(np.where(fresh.y == 1, p[:, 1], p[:, 0])).mean()
        for p in (plain.predict_proba(fresh.X), fair.predict_proba(fresh.X))
    ]
    assert losses[1] < 1.04 * losses[0]


@pytest.mark.parametrize("rows", [15, 600])
def test_features_without_a_split_give_the_plain_constant(rows, loans, capfd):
    # Too few rows for min_child_samples, or constant columns: LightGBM stops at that with a custom objective.
    sample = loans.part(slice(rows))
    if rows == 600:
        sample = sample._replace(X=np.ones((rows, 3)))
    evaluation = {"eval_X": sample.X[:9], "eval_y": sample.y[:9], "eval_metric": "binary_logloss"}
    with pytest.warns(UserWarning, match="fewer than 30 rows") if rows < 60 else nullcontext():
        plain, fair = fit_both(FairLGBMClassifier, sample, {}, evaluation)
    np.testing.assert_array_equal(fair.predict_proba(sample.X), plain.predict_proba(sample.X))
    np.testing.assert_allclose(fair.predict_proba(sample.X)[:, 1], sample.y.mean(), **CLOSE)
    for name, values in plain.evals_result_["valid_0"].items():
        np.testing.assert_allclose(fair.evals_result_["valid_0"][name], values, **CLOSE)
    assert "Fatal" not in "".join(capfd.readouterr())


# ------------------------------------------------------------------------------------------------ signatures


@pytest.mark.parametrize(
    ("plain_class", "fair_class"),
    [(lgb.LGBMClassifier, FairLGBMClassifier), (lgb.LGBMRegressor, FairLGBMRegressor)],
)
def test_signatures_extend_the_plain_ones(plain_class, fair_class):
    plain, fair = (inspect.signature(one.__init__).parameters for one in (plain_class, fair_class))
    assert {name: p.default for name, p in plain.items()}.items() <= {
        name: p.default for name, p in fair.items()
    }.items()
    plain, fair = (list(inspect.signature(one.fit).parameters.items()) for one in (plain_class, fair_class))
    positional = [(name, p.default) for name, p in plain if p.kind is not p.KEYWORD_ONLY]
    assert [(name, p.default) for name, p in fair if p.kind is not p.KEYWORD_ONLY] == positional
    assert {name for name, _ in fair} - {name for name, _ in plain} == {
        "sensitive_features", "eval_sensitive_features", "control_features", "eval_control_features"
    }  # fmt: skip


def test_fairness_parameters_do_not_hide_lightgbm_ones():
    aliases = set().union(*lgb.basic._ConfigAliases._get_all_param_aliases().values())
    assert not aliases & set(FairLGBMClassifier._fairness_parameters)


def test_silent_where_lightgbm_is(loans, capfd):
    FairLGBMClassifier(**STEADY, n_estimators=3).fit(loans.X, loans.y, sensitive_features=loans.groups)
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize("name", ["default", "linear", "goss", "bagging", "extra_trees", "path_smooth", "quantised"])
def test_sums_are_made_row_by_row_and_make_the_same_model(name):
    loans = make_loans(2000)
    parameters = {**SMALL, **CLASSIFIER_VARIANTS[name]}
    by_columns = FairLGBMClassifier(**parameters).fit(loans.X, loans.y, sensitive_features=loans.groups)
    del parameters["force_col_wise"]
    prepared = FairLGBMClassifier(**parameters).prepare_fit(loans.X, loans.y, sensitive_features=loans.groups)
    by_rows, plain = prepared.fit(5.0), prepared.fit(0.0)
    written = [f"[force_row_wise: {int(by_row)}]" for by_row in (False, True, False)]
    for model, line in zip((by_columns, by_rows, plain), written, strict=True):
        assert line in model.booster_.model_to_string()
    np.testing.assert_allclose(by_rows.predict_proba(loans.X), by_columns.predict_proba(loans.X), rtol=0, atol=1e-9)
