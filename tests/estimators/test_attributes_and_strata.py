"""Continuous and several attributes, control features, strata of a target and rankings, through the estimators."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_validate

from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor, FairXGBClassifier, FairXGBRegressor
from otfairboost.binning import bin_attribute
from otfairboost.metrics import METRICS, fairness_scorer

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
LOANS, WAGES = make_loans(), make_wages()
MORE_LOANS, MORE_WAGES = make_loans(500, 7), make_wages(500, 7)
XGBOOST = {"n_estimators": 12, "max_depth": 3, "n_jobs": 1}
CLASSIFIERS = [FairLGBMClassifier(**SMALL), FairXGBClassifier(**XGBOOST)]
REGRESSORS = [FairLGBMRegressor(**SMALL), FairXGBRegressor(**XGBOOST)]
both = pytest.mark.parametrize("model", CLASSIFIERS, ids=["lightgbm", "xgboost"])
both_regressors = pytest.mark.parametrize("model", REGRESSORS, ids=["lightgbm", "xgboost"])


def age_of(sample, seed=0):
    age = np.random.default_rng(seed).normal(45, 10, len(sample.y)) + 8 * sample.X[:, 4]
    age[::20] = np.nan
    return age


def control_of(sample):
    return np.arange(len(sample.y)) % 3


def evaluation(model, sample, **columns):
    """Return the arguments of fit for one evaluation set."""
    if isinstance(model, FairXGBClassifier | FairXGBRegressor):
        rows = {"eval_set": [(sample.X, sample.y)], "verbose": False}
    else:
        rows = {"eval_X": sample.X, "eval_y": sample.y}
    return rows | {f"eval_{name}": [values] for name, values in columns.items()}


def score_of(model, sample):
    return model.predict_proba(sample.X)[:, 1] if hasattr(model, "classes_") else model.predict(sample.X)


def history_of(model, name):
    if isinstance(model, FairXGBClassifier | FairXGBRegressor):
        return model.evals_result()["validation_0"][name]
    return model.evals_result_["valid_0"][name]


def fit_watched(model, name, sample, fresh, *, sensitive_features, fresh_features, **control):
    """Fit with one metric on fresh rows."""
    own = clone(model)
    fit = evaluation(own, fresh, sensitive_features=fresh_features, **{k: v[1] for k, v in control.items()})
    if isinstance(own, FairXGBClassifier | FairXGBRegressor):
        own.set_params(eval_metric=name)
    else:
        fit["eval_metric"] = name
    fit |= {key: values[0] for key, values in control.items()}
    return own.fit(sample.X, sample.y, sensitive_features=sensitive_features, **fit)


@both
def test_bins_of_the_estimator_are_those_of_bin_attribute(model):
    age = age_of(LOANS)
    ours = clone(model).set_params(sensitive_bins=4).fit(LOANS.X, LOANS.y, sensitive_features=age)
    by_hand = clone(model).fit(LOANS.X, LOANS.y, sensitive_features=bin_attribute(age, n_groups=4))
    np.testing.assert_allclose(score_of(ours, LOANS), score_of(by_hand, LOANS), rtol=1e-5)
    assert len(ours.sensitive_edges_[0]) == 3
    assert set(ours.groups_) == set(by_hand.groups_)
    ours.set_params(sensitive_bins=None, fairness_weight=0).fit(LOANS.X, LOANS.y)
    assert not hasattr(ours, "sensitive_edges_")


@both
def test_edges_of_the_training_rows_are_reused_on_evaluation_sets(model):
    age, fresh_age = age_of(LOANS), age_of(MORE_LOANS, 1) + 20
    model = fit_watched(
        clone(model).set_params(sensitive_bins=3), "demographic_parity_difference", LOANS, MORE_LOANS,
        sensitive_features=age, fresh_features=fresh_age,
    )  # fmt: skip
    groups = bin_attribute(fresh_age, edges=model.sensitive_edges_[0])
    want = METRICS["demographic_parity_difference"].from_scores(
        MORE_LOANS.y, score_of(model, MORE_LOANS), sensitive_features=groups, threshold=0.5
    )
    assert history_of(model, "demographic_parity_difference")[-1] == pytest.approx(want, abs=1e-6)


@both
def test_pooled_groups_train_as_if_pooled_by_hand(model):
    groups = LOANS.groups.astype(object)
    groups[:12], groups[12:20] = "red", "pink"
    ours = clone(model).set_params(min_group_size=20).fit(LOANS.X, LOANS.y, sensitive_features=groups)
    assert ours.groups_ == ("blue", "green", "pink | red")
    groups[:20] = "rare"
    by_hand = clone(model).fit(LOANS.X, LOANS.y, sensitive_features=groups)
    np.testing.assert_allclose(score_of(ours, LOANS), score_of(by_hand, LOANS), rtol=1e-5)


@both
def test_a_sum_of_one_column_twice_is_its_double(model):
    twice = pd.DataFrame({"a": LOANS.groups, "b": LOANS.groups})
    ours = clone(model).set_params(multi_attribute="sum", fairness_weight=2.0, attribute_weights={"a": 1, "b": 2})
    ours.fit(LOANS.X, LOANS.y, sensitive_features=twice)
    alone = clone(model).set_params(fairness_weight=6.0).fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    np.testing.assert_allclose(score_of(ours, LOANS), score_of(alone, LOANS), rtol=1e-4)
    assert ours.groups_ == {"a": ("blue", "green"), "b": ("blue", "green")}
    single = clone(model).set_params(multi_attribute="sum", attribute_weights=[3.0], fairness_weight=2.0)
    single.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    np.testing.assert_allclose(score_of(single, LOANS), score_of(alone, LOANS), rtol=1e-4)


@both
def test_conditional_parity_is_equalized_odds_if_the_control_is_the_label(model):
    conditional = clone(model).set_params(fairness="conditional_demographic_parity")
    conditional.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, control_features=LOANS.y)
    odds = clone(model).set_params(fairness="equalized_odds").fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    own = clone(model).set_params(fairness=lambda target: target.values)
    own.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    np.testing.assert_array_equal(score_of(conditional, LOANS), score_of(odds, LOANS))
    np.testing.assert_array_equal(score_of(own, LOANS), score_of(odds, LOANS))


@both_regressors
def test_equalized_odds_in_regression_keeps_its_edges(model):
    odds = clone(model).set_params(fairness="equalized_odds", target_bins=4)
    odds = fit_watched(
        odds, "binned_equalized_odds_difference", WAGES, MORE_WAGES, sensitive_features=WAGES.groups,
        fresh_features=MORE_WAGES.groups,
    )  # fmt: skip
    np.testing.assert_allclose(odds.target_edges_, np.quantile(WAGES.y, [0.25, 0.5, 0.75]), rtol=0.01)
    want = METRICS["binned_equalized_odds_difference"].function(
        MORE_WAGES.y.astype(np.float32), score_of(odds, MORE_WAGES), sensitive_features=MORE_WAGES.groups,
        target_bins=odds.target_edges_,
    )  # fmt: skip
    assert history_of(odds, "binned_equalized_odds_difference")[-1] == pytest.approx(want, abs=1e-6)
    by_hand = clone(model).set_params(fairness="conditional_demographic_parity")
    by_hand.fit(
        WAGES.X, WAGES.y, sensitive_features=WAGES.groups,
        control_features=np.digitize(WAGES.y.astype(np.float32), odds.target_edges_),
    )  # fmt: skip
    np.testing.assert_array_equal(score_of(odds, WAGES), score_of(by_hand, WAGES))


@both
def test_metrics_during_training_measure_what_is_trained(model):
    control, fresh = control_of(LOANS), control_of(MORE_LOANS)
    conditional = fit_watched(
        clone(model).set_params(fairness="conditional_demographic_parity"), "conditional_wasserstein_distance", LOANS,
        MORE_LOANS, sensitive_features=LOANS.groups, fresh_features=MORE_LOANS.groups,
        control_features=(control, fresh),
    )  # fmt: skip
    want = METRICS["conditional_wasserstein_distance"].function(
        MORE_LOANS.y, score_of(conditional, MORE_LOANS), sensitive_features=MORE_LOANS.groups, control_features=fresh
    )
    assert history_of(conditional, "conditional_wasserstein_distance")[-1] == pytest.approx(want, abs=1e-6)
    top = fit_watched(
        clone(model).set_params(focus_quantile=0.75, focus=4), "top_k_selection_rate_difference", LOANS, MORE_LOANS,
        sensitive_features=LOANS.groups, fresh_features=MORE_LOANS.groups,
    )  # fmt: skip
    want = METRICS["top_k_selection_rate_difference"].function(
        None, score_of(top, MORE_LOANS), sensitive_features=MORE_LOANS.groups, top=0.25
    )
    assert history_of(top, "top_k_selection_rate_difference")[-1] == pytest.approx(want, abs=5e-3)
    features = np.column_stack([MORE_LOANS.groups, control_of(MORE_LOANS)]).astype(object)
    summed = fit_watched(
        clone(model).set_params(multi_attribute="sum", attribute_weights=[1, 4]), "summed_wasserstein_distance", LOANS,
        MORE_LOANS, sensitive_features=np.column_stack([LOANS.groups, control]).astype(object), fresh_features=features,
    )  # fmt: skip
    want = METRICS["summed_wasserstein_distance"].function(
        None, score_of(summed, MORE_LOANS), sensitive_features=features, attribute_weights=[1, 4]
    )
    assert history_of(summed, "summed_wasserstein_distance")[-1] == pytest.approx(want, abs=1e-6)


def test_the_default_metric_with_control_features_is_what_is_trained():
    model = FairLGBMClassifier(**SMALL, fairness="conditional_demographic_parity")
    fit = {"sensitive_features": LOANS.groups, "control_features": control_of(LOANS), "eval_X": MORE_LOANS.X,
           "eval_y": MORE_LOANS.y, "eval_sensitive_features": MORE_LOANS.groups}  # fmt: skip
    model.fit(LOANS.X, LOANS.y, **fit, eval_control_features=control_of(MORE_LOANS))
    assert list(model.evals_result_["valid_0"]) == ["fair_objective"]
    model.fit(LOANS.X, LOANS.y, **fit)  # without them the penalty is not defined there
    assert list(model.evals_result_["valid_0"]) == ["binary_logloss"]


@pytest.mark.parametrize("gap_cv", [2, "eval_set"])
def test_a_target_for_the_conditional_gap(gap_cv):
    model = FairLGBMClassifier(
        **SMALL | {"n_estimators": 25}, fairness="conditional_demographic_parity", max_gap=0.1, gap_cv=gap_cv,
        gap_confidence=None,
    )  # fmt: skip
    fit = {}
    if gap_cv == "eval_set":
        fit = {"eval_X": MORE_LOANS.X, "eval_y": MORE_LOANS.y, "eval_sensitive_features": MORE_LOANS.groups,
               "eval_control_features": control_of(MORE_LOANS)}  # fmt: skip
    model.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, control_features=control_of(LOANS), **fit)
    assert model.fairness_weight_ > 0
    assert model.gap_ <= 0.1 < next(step.gap for step in model.search_history_ if step.fairness_weight == 0)
    if gap_cv == "eval_set":
        want = METRICS["conditional_demographic_parity_difference"].function(
            MORE_LOANS.y, model.predict(MORE_LOANS.X), sensitive_features=MORE_LOANS.groups,
            control_features=control_of(MORE_LOANS),
        )  # fmt: skip
        assert model.gap_ == pytest.approx(want)


def test_a_target_for_the_gap_of_a_sum_with_a_continuous_attribute():
    features = pd.DataFrame({"group": LOANS.groups, "age": age_of(LOANS)})
    model = FairLGBMClassifier(
        **SMALL, multi_attribute="sum", sensitive_bins={"age": 3}, max_gap=0.5, gap_cv=2, gap_confidence=None
    )
    model.fit(LOANS.X, LOANS.y, sensitive_features=features)
    assert model.gap_ <= 0.5
    assert set(model.groups_) == {"group", "age"}


@pytest.mark.parametrize("estimator", [FairLGBMClassifier(**SMALL), FairXGBClassifier(**XGBOOST)])
def test_prepared_fits_take_control_features(estimator):
    model = clone(estimator).set_params(fairness="conditional_demographic_parity")
    arguments = {"sensitive_features": LOANS.groups, "control_features": control_of(LOANS)}
    prepared = model.prepare_fit(LOANS.X, LOANS.y, **arguments).fit(3.0)
    alone = clone(model).set_params(fairness_weight=3.0).fit(LOANS.X, LOANS.y, **arguments)
    np.testing.assert_array_equal(score_of(prepared, LOANS), score_of(alone, LOANS))


def test_control_features_are_routed():
    model = FairLGBMClassifier(**SMALL, fairness="conditional_demographic_parity")
    control = control_of(LOANS)
    with sklearn.config_context(enable_metadata_routing=True):
        result = cross_validate(
            model.set_fit_request(sensitive_features=True, control_features=True), LOANS.X, LOANS.y, cv=KFold(2),
            scoring=fairness_scorer("conditional_demographic_parity_difference"), return_estimator=True,
            params={"sensitive_features": LOANS.groups, "control_features": control},
        )  # fmt: skip
    train, test = next(KFold(2).split(LOANS.X))
    by_hand = clone(model).fit(
        LOANS.X[train], LOANS.y[train], sensitive_features=LOANS.groups[train], control_features=control[train]
    )
    np.testing.assert_array_equal(score_of(result["estimator"][0], LOANS), score_of(by_hand, LOANS))
    want = METRICS["conditional_demographic_parity_difference"].function(
        LOANS.y[test], by_hand.predict(LOANS.X[test]), sensitive_features=LOANS.groups[test],
        control_features=control[test],
    )  # fmt: skip
    assert result["test_score"][0] == pytest.approx(-want)


def test_rows_without_control_features_are_in_the_loss_alone():
    control = control_of(LOANS).astype(float)
    control[:100] = np.nan
    model = FairLGBMClassifier(**SMALL, fairness="conditional_demographic_parity")
    ours = model.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, control_features=control)
    groups = LOANS.groups.astype(object)
    groups[:100] = None
    same = clone(model).fit(LOANS.X, LOANS.y, sensitive_features=groups, control_features=control_of(LOANS))
    np.testing.assert_array_equal(score_of(ours, LOANS), score_of(same, LOANS))
