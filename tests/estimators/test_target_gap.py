"""A target for the gap in place of a weight."""

import copy
import pickle

import fairlearn.metrics
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from estimators.bad_calls import assert_refused, case
from estimators.samples import STEADY, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.estimators.target_gap import UnreachableGapWarning

FAST = {**STEADY, "n_estimators": 10, "num_leaves": 6}
LOANS, WAGES = make_loans(1500), make_wages(1500)
FOLDS = KFold(2)


def fit(model, sample=LOANS, **arguments):
    return model.fit(sample.X, sample.y, sensitive_features=sample.groups, **arguments)


def predict_held_out(model, sample, weight):
    """Predict each row by the model that did not see it, without any of the code under test."""
    scores = np.empty(len(sample.y))
    for train, test in FOLDS.split(sample.X):
        fitted = clone(model).set_params(max_gap=None, fairness_weight=weight)
        fit(fitted, sample.part(train))
        response = fitted.predict_proba(sample.X[test])[:, 1] if hasattr(fitted, "classes_") else None
        scores[test] = fitted.predict(sample.X[test]) if response is None else response
    return scores


@pytest.fixture(scope="module")
def classifier():
    return fit(FairLGBMClassifier(**FAST, max_gap=0.12, gap_cv=FOLDS))


def test_the_gap_is_that_of_rows_held_out(classifier):
    decision = predict_held_out(classifier, LOANS, classifier.fairness_weight_) >= 0.5
    want = fairlearn.metrics.demographic_parity_difference(LOANS.y, decision, sensitive_features=LOANS.groups)
    assert classifier.gap_ == pytest.approx(want)


def test_the_upper_bound_keeps_the_target_closely(classifier):
    low, high = classifier.gap_interval_
    assert low < classifier.gap_ < high
    assert 0.9 * 0.12 <= high <= 0.12
    rates = [np.mean(predict_held_out(classifier, LOANS, classifier.fairness_weight_)[LOANS.groups == g] >= 0.5)
             for g in ("blue", "green")]  # fmt: skip
    deviation = np.sqrt(
        sum(p * (1 - p) / np.sum(LOANS.groups == g) for p, g in zip(rates, ("blue", "green"), strict=True))
    )
    assert high - classifier.gap_ == pytest.approx(stats.norm.ppf(0.95) * deviation, rel=0.25)


def test_the_model_is_that_of_the_weight_on_all_rows(classifier):
    twin = fit(FairLGBMClassifier(**FAST, fairness_weight=classifier.fairness_weight_))
    np.testing.assert_array_equal(classifier.predict_proba(LOANS.X), twin.predict_proba(LOANS.X))
    assert classifier.fairness_weight == 5.0
    assert twin.fairness_weight_ == twin.fairness_weight
    assert not hasattr(twin, "gap_")


def test_the_history_has_every_weight_tried(classifier):
    history = classifier.search_history_
    assert history[0].fairness_weight == 0.0
    assert history[1].fairness_weight == 5.0
    chosen = [step for step in history if step.fairness_weight == classifier.fairness_weight_]
    assert [(step.gap, (step.low, step.high)) for step in chosen] == [(classifier.gap_, classifier.gap_interval_)]
    assert all(step.low <= step.gap <= step.high for step in history)
    assert len(history) <= 8


def test_a_smaller_gap_takes_a_larger_weight(classifier):
    stricter = fit(FairLGBMClassifier(**FAST, max_gap=0.06, gap_cv=FOLDS))
    assert stricter.fairness_weight_ > classifier.fairness_weight_
    assert stricter.gap_ < classifier.gap_


def test_a_large_enough_gap_needs_no_weight():
    model = fit(FairLGBMClassifier(**FAST, max_gap=0.9, gap_cv=FOLDS))
    assert (model.fairness_weight_, len(model.search_history_)) == (0.0, 1)
    plain = fit(FairLGBMClassifier(**FAST, fairness_weight=0))
    np.testing.assert_array_equal(model.predict_proba(LOANS.X), plain.predict_proba(LOANS.X))


def test_without_confidence_the_gap_itself_counts(classifier):
    model = fit(FairLGBMClassifier(**FAST, max_gap=0.12, gap_cv=FOLDS, gap_confidence=None))
    assert 0.9 * 0.12 <= model.gap_ <= 0.12 < model.gap_interval_[1]
    assert model.fairness_weight_ < classifier.fairness_weight_


@pytest.mark.parametrize("gap_metric", [None, "kolmogorov_smirnov", "wasserstein_distance"])
def test_a_regressor_keeps_distances(gap_metric):
    target = 0.6 if gap_metric == "wasserstein_distance" else 0.12
    model = fit(FairLGBMRegressor(**FAST, max_gap=target, gap_metric=gap_metric, gap_cv=FOLDS), WAGES)
    assert 0.9 * target <= model.gap_interval_[1] <= target
    scores = predict_held_out(model, WAGES, model.fairness_weight_)
    blue, green = (np.sort(scores[WAGES.groups == group]) for group in ("blue", "green"))
    if gap_metric == "wasserstein_distance":
        n = len(blue) * len(green)
        want = np.sqrt(np.mean((np.repeat(blue, n // len(blue)) - np.repeat(green, n // len(green))) ** 2))
    else:
        want = stats.ks_2samp(blue, green).statistic
    assert model.gap_ == pytest.approx(want)


@pytest.mark.parametrize("fairness", ["equalized_odds", "true_positive_rate_parity", "false_positive_rate_parity"])
def test_the_gap_is_the_criterions(fairness):
    model = fit(FairLGBMClassifier(**FAST, fairness=fairness, max_gap=0.2, gap_cv=FOLDS, gap_confidence=None))
    decision = predict_held_out(model, LOANS, model.fairness_weight_) >= 0.5
    metric = {
        "equalized_odds": fairlearn.metrics.equalized_odds_difference,
        "true_positive_rate_parity": fairlearn.metrics.equal_opportunity_difference,
        "false_positive_rate_parity": fairlearn.metrics.false_positive_rate_difference,
    }[fairness]
    assert model.gap_ == pytest.approx(metric(LOANS.y, decision, sensitive_features=LOANS.groups))


def test_decisions_are_those_of_the_threshold():
    model = fit(FairLGBMClassifier(**FAST, max_gap=0.15, decision_threshold=0.3, gap_cv=FOLDS))
    decision = predict_held_out(model, LOANS, model.fairness_weight_) >= 0.3
    want = fairlearn.metrics.demographic_parity_difference(LOANS.y, decision, sensitive_features=LOANS.groups)
    assert model.gap_ == pytest.approx(want)


def test_weights_and_missing_groups_count_as_in_the_metric():
    groups = np.array(LOANS.groups, dtype=object)
    groups[::7] = None
    model = FairLGBMClassifier(**FAST, max_gap=0.15, gap_cv=FOLDS)
    model.fit(LOANS.X, LOANS.y, sensitive_features=groups, sample_weight=LOANS.weight)
    scores = np.empty(len(groups))
    for train, test in FOLDS.split(LOANS.X):
        inner = FairLGBMClassifier(**FAST, fairness_weight=model.fairness_weight_)
        inner.fit(LOANS.X[train], LOANS.y[train], sensitive_features=groups[train], sample_weight=LOANS.weight[train])
        scores[test] = inner.predict_proba(LOANS.X[test])[:, 1]
    known = groups != None  # noqa: E711
    want = fairlearn.metrics.demographic_parity_difference(
        LOANS.y[known], scores[known] >= 0.5, sensitive_features=groups[known], sample_weight=LOANS.weight[known]
    )
    assert model.gap_ == pytest.approx(want)


def test_an_evaluation_set_can_be_what_is_held_out():
    train, valid = LOANS.part(slice(0, 1000)), LOANS.part(slice(1000, None))
    model = FairLGBMClassifier(**FAST, max_gap=0.15, gap_cv="eval_set")
    fit(model, train, eval_X=valid.X, eval_y=valid.y, eval_sensitive_features=valid.groups)
    want = fairlearn.metrics.demographic_parity_difference(
        valid.y, model.predict(valid.X), sensitive_features=valid.groups
    )
    assert model.gap_ == pytest.approx(want)  # of the very model
    assert "valid_0" in model.evals_result_


def test_early_stopping_holds_in_the_search_as_well():
    train, valid = LOANS.part(slice(0, 1000)), LOANS.part(slice(1000, None))
    model = FairLGBMClassifier(**{**FAST, "n_estimators": 60, "learning_rate": 0.5}, max_gap=0.2, gap_cv=2)
    fit(
        model, train, eval_X=valid.X, eval_y=valid.y, eval_sensitive_features=valid.groups,
        callbacks=[lgb.early_stopping(3, verbose=False)],
    )  # fmt: skip
    assert model.best_iteration_ < 60
    assert model.gap_interval_[1] <= 0.2


@pytest.mark.parametrize("wrap", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=list("abcde"), orient="row")])
def test_frames_and_named_labels(wrap):
    y = np.array(["no", "yes"])[LOANS.y]
    model = FairLGBMClassifier(**FAST, max_gap=0.15, gap_cv=FOLDS, class_weight={"no": 1, "yes": 2})
    model.fit(wrap(LOANS.X), y, sensitive_features=pd.Series(LOANS.groups))
    assert model.gap_interval_[1] <= 0.15
    assert list(model.classes_) == ["no", "yes"]


# ------------------------------------------------------------------------------------------- out of reach


def test_an_unreachable_target_warns_and_fits_the_fairest():
    model = FairLGBMClassifier(**FAST, max_gap=1e-4, gap_cv=FOLDS, fairness_weight=0.5)
    with pytest.warns(
        UnreachableGapWarning, match="^max_gap=0.0001 is not reached with weights up to 10: the smallest"
    ):
        fit(model)
    assert model.gap_interval_[1] == min(step.high for step in model.search_history_)
    twin = fit(FairLGBMClassifier(**FAST, fairness_weight=model.fairness_weight_))
    np.testing.assert_array_equal(model.predict_proba(LOANS.X), twin.predict_proba(LOANS.X))


def test_an_unreachable_target_raises_and_changes_nothing():
    model = fit(FairLGBMClassifier(**FAST, max_gap=0.3, gap_cv=FOLDS))
    before = copy.copy(vars(model))
    model.set_params(max_gap=1e-4, fairness_weight=0.5, on_unreachable="raise")
    with pytest.raises(
        ValueError, match=r"the smallest demographic_parity_difference is 0\.\d+ \(upper bound 0\.\d+\)"
    ):
        fit(model)
    assert model.gap_ == before["gap_"]
    assert model.booster_ is before["_Booster"]


# --------------------------------------------------------------------------------- as any other parameter


def test_clone_pickle_and_refit(classifier):
    assert repr(clone(classifier).get_params()) == repr(classifier.get_params())
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.gap_, again.search_history_) == (classifier.gap_, classifier.search_history_)
    np.testing.assert_array_equal(again.predict_proba(LOANS.X), classifier.predict_proba(LOANS.X))
    fit(again.set_params(max_gap=None))
    assert again.fairness_weight_ == 5.0
    assert not any(hasattr(again, name) for name in ("gap_", "gap_interval_", "search_history_"))


def test_grid_search_over_the_target():
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairLGBMClassifier(**FAST, gap_cv=FOLDS).set_fit_request(sensitive_features=True)
        search = GridSearchCV(model, {"max_gap": [0.1, 0.5]}, cv=FOLDS, scoring="roc_auc", error_score="raise")
        search.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    assert search.best_params_ == {"max_gap": 0.5}
    assert search.best_estimator_.gap_interval_[1] <= 0.5


def test_the_same_search_twice_finds_the_same():
    first, second = (fit(FairLGBMClassifier(**FAST, max_gap=0.12, gap_cv=3)) for _ in range(2))
    assert first.search_history_ == second.search_history_


NUMBERS = "None or a finite number > 0"


@pytest.mark.parametrize(
    ("params", "fit", "error", "message", "regressor"),
    [
        case(f"max_gap='0.02' must be {NUMBERS}, got str", {"max_gap": "0.02"}, TypeError),
        case(f"max_gap=True must be {NUMBERS}, got bool", {"max_gap": True}, TypeError),
        case(f"max_gap=0 must be {NUMBERS}", {"max_gap": 0}),
        case(f"max_gap=-0.1 must be {NUMBERS}", {"max_gap": -0.1}),
        case(f"max_gap=nan must be {NUMBERS}", {"max_gap": float("nan")}),
        case("gap_confidence=1 must be None or a number from 0.5 to below 1", {"max_gap": 0.1, "gap_confidence": 1}),
        case("gap_confidence=95 must be None or a number", {"max_gap": 0.1, "gap_confidence": 95}),
        case("on_unreachable='ignore' is unknown; allowed are 'warn', 'raise'", {"on_unreachable": "ignore"}),
        case("gap_metric='roc_auc' is not a gap; allowed are", {"max_gap": 0.1, "gap_metric": "roc_auc"}),
        case("gap_metric=3 must be None or a metric's name", {"max_gap": 0.1, "gap_metric": 3}, TypeError),
        case("gap_metric='demographic_parity_difference' is not a gap",
             {"max_gap": 0.1, "gap_metric": "demographic_parity_difference"}, regressor=True),
        case("gap_cv='folds' is unknown; allowed are 'eval_set', a number", {"max_gap": 0.1, "gap_cv": "folds"}),
        case("gap_cv='eval_set' measures the gap on the first evaluation set; give eval_X",
             {"max_gap": 0.1, "gap_cv": "eval_set"}),
        case("gap_cv=1 must be a number of folds from 2", {"max_gap": 0.1, "gap_cv": 1}),
        case("fairness_weight=0 trains the plain model, but max_gap=0.1", {"max_gap": 0.1, "fairness_weight": 0}),
        case("init_score is not available with max_gap", {"max_gap": 0.1}, init_score=np.zeros(300)),
        case("sensitive_features is missing", {"max_gap": 0.1}, sensitive_features=None),
        case("max_gaps is not a parameter; max_gap is", {"max_gaps": 0.1}),
    ],
)  # fmt: skip
def test_bad_input_is_refused(params, fit, error, message, regressor):
    assert_refused(params, fit, error, message, regressor)


def test_a_model_that_decides_the_same_for_all_is_told():
    """No row scores above the threshold: there is no gap, and nothing to be glad about."""
    model = FairLGBMClassifier(**FAST, max_gap=0.12, gap_cv=FOLDS, decision_threshold=0.999)
    with pytest.warns(UserWarning, match=r"max_gap=0\.12 is kept .* decides the same for all held-out rows"):
        fit(model)
    assert not (model.predict_proba(LOANS.X)[:, 1] >= 0.999).any()


@pytest.mark.parametrize(("make", "sample"), [(FairLGBMClassifier, LOANS), (FairLGBMRegressor, WAGES)])
def test_a_gap_in_points_is_refused(make, sample):
    with pytest.raises(ValueError, match=r"max_gap=5 must be below 1: \w+ is a difference of shares, five points are"):
        fit(make(**FAST, max_gap=5), sample)


def test_a_distance_has_the_units_of_the_target():
    model = fit(FairLGBMRegressor(**FAST, max_gap=5.0, gap_metric="wasserstein_distance", gap_cv=FOLDS), WAGES)
    assert model.gap_ <= 5.0
