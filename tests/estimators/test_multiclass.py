"""LightGBM's classifier with more than two classes."""

import pickle

import lightgbm as lgb
import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone

from estimators.samples import ALMOST_PLAIN, SMALL, make_grades, trees_of
from otfairboost import FairLGBMClassifier
from otfairboost.metrics import (
    METRICS,
    bootstrap_interval,
    multiclass_demographic_parity_difference,
    multiclass_log_loss,
    multiclass_wasserstein_distance,
)
from otfairboost.metrics.gaps import find_gap

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
LABELS = ["fair", "good", "poor"]


@pytest.fixture(scope="module")
def grades():
    return make_grades(900)


@pytest.fixture(scope="module")
def fresh():
    return make_grades(2000, seed=1)


def fit(sample, params=None, **arguments):
    arguments = {"sensitive_features": sample.groups, **arguments}
    return FairLGBMClassifier(**(SMALL | (params or {}))).fit(sample.X, sample.y, **arguments)


def evaluation_of(sample):
    return {"eval_X": sample.X, "eval_y": sample.y, "eval_sensitive_features": sample.groups}


# ---- Fairness ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [("blue", "green"), ("blue", "green", "red")], ids=len)
@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
@pytest.mark.parametrize("choice", [{}, {"multi_group": "barycenter", "group_weighting": "size"}, {"transport": "kde"}],
                         ids=lambda choice: next(iter(choice), "default"))  # fmt: skip
def test_the_gap_is_halved_on_fresh_rows(groups, fairness, choice):
    sample, held_out = make_grades(1500, groups=groups), make_grades(3000, seed=1, groups=groups)
    gap = find_gap("gap", None, fairness=fairness, classification=True, several_classes=True)

    def measure(weight):
        params = {"fairness": fairness, "fairness_weight": weight, "n_estimators": 40, **choice}
        probability = fit(sample, params).predict_proba(held_out.X)
        codes = np.searchsorted(LABELS, held_out.y)
        distances = [
            multiclass_wasserstein_distance(None, probability[rows], sensitive_features=held_out.groups[rows])
            for rows in ([codes == k for k in range(3)] if fairness == "equalized_odds" else [codes >= 0])
        ]
        return gap.from_scores(codes, probability, sensitive_features=held_out.groups), max(distances)

    decisions, distance = measure(0.0)
    fair_decisions, fair_distance = measure(30.0)
    assert fair_distance < 0.5 * distance
    if decisions > 0.2:  # else it is mostly what chance leaves between cells of a hundred rows
        assert fair_decisions < 0.5 * decisions


def test_focus_moves_decisions_at_a_smaller_weight(grades):
    gaps = [
        multiclass_demographic_parity_difference(
            None, fit(grades, {"fairness_weight": 2.0, "focus": focus}).predict(grades.X),
            sensitive_features=grades.groups,
        )
        for focus in (1.0, 6.0)
    ]  # fmt: skip
    assert gaps[1] < 0.7 * gaps[0]


# ---- As LightGBM's -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "arguments"),
    [
        ({}, {}),
        ({"objective": "softmax"}, {}),
        ({"objective": "multiclass", "num_class": 7}, {}),  # LightGBM takes the number from y, too
        ({"class_weight": "balanced"}, {"weighted": True}),
        ({"class_weight": {"fair": 2.0, "poor": 0.5}}, {}),
        ({"boost_from_average": False}, {}),
        ({"linear_tree": True}, {}),
        ({}, {"init_score": np.random.default_rng(0).normal(size=(900, 3))}),
        ({}, {"init_score": np.random.default_rng(0).normal(size=2700)}),
    ],
    ids=str,
)
def test_without_weight_the_model_is_lightgbms(params, arguments, grades):
    arguments = dict(arguments)
    if arguments.pop("weighted", False):
        arguments["sample_weight"] = grades.weight
    plain = lgb.LGBMClassifier(**(SMALL | params)).fit(grades.X, grades.y, **arguments)
    expected = plain.predict_proba(grades.X)
    for weight, near in ((0, 0.0), (ALMOST_PLAIN, 1e-6)):
        model = fit(grades, {"fairness_weight": weight, **params}, **arguments)
        np.testing.assert_allclose(model.predict_proba(grades.X), expected, rtol=near, atol=near)
        assert (model.predict(grades.X) == plain.predict(grades.X)).all()
        assert model.classes_.tolist() == LABELS
        assert model.n_classes_ == 3
        assert model.objective_ == plain.objective_
        assert model.booster_.params["num_class"] == 3


def test_fairness_metrics_leave_the_plain_model_alone(grades, fresh):
    names = ["fair_objective", "multiclass_wasserstein_mean"]
    model = fit(grades, {"fairness_weight": 0}, **evaluation_of(fresh), eval_metric=names)
    plain = lgb.LGBMClassifier(**SMALL).fit(grades.X, grades.y)
    assert trees_of(model.booster_) == trees_of(plain.booster_)
    assert list(model.evals_result_["valid_0"]) == names


def test_the_booster_is_an_ordinary_one(grades, fresh, tmp_path):
    model = fit(grades)
    model.booster_.save_model(tmp_path / "model.txt")
    booster = lgb.Booster(model_file=tmp_path / "model.txt")
    assert "objective=multiclass num_class:3\n" in (tmp_path / "model.txt").read_text()
    expected = model.predict_proba(fresh.X)
    assert expected.shape == (2000, 3)
    np.testing.assert_allclose(booster.predict(fresh.X), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(softmax(booster.predict(fresh.X, raw_score=True), axis=1), expected, atol=1e-12)
    # The start, the logarithms of the classes' shares, is inside.
    start = fit(grades, {"n_estimators": 1, "learning_rate": 1e-9}).predict_proba(fresh.X)
    np.testing.assert_allclose(start, np.tile(np.unique(grades.y, return_counts=True)[1] / 900, (2000, 1)), rtol=1e-6)


def test_pickle_clone_and_refit(grades, fresh):
    model = fit(grades)
    expected = model.predict_proba(fresh.X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(fresh.X), expected)
    again = clone(model).fit(grades.X, grades.y, sensitive_features=grades.groups)
    np.testing.assert_array_equal(again.predict_proba(fresh.X), expected)
    binary = grades._replace(y=grades.y == "poor")
    model.fit(binary.X, binary.y, sensitive_features=binary.groups)
    assert model.predict_proba(fresh.X).shape == (2000, 2)
    model.fit(grades.X, grades.y, sensitive_features=grades.groups)
    np.testing.assert_array_equal(model.predict_proba(fresh.X), expected)


def test_prepared_fits_are_the_same(grades, fresh):
    prepared = FairLGBMClassifier(**SMALL).prepare_fit(grades.X, grades.y, sensitive_features=grades.groups)
    for weight in (0.0, 2.0, 10.0):
        expected = fit(grades, {"fairness_weight": weight}).predict_proba(fresh.X)
        np.testing.assert_array_equal(prepared.fit(weight).predict_proba(fresh.X), expected)


def test_sample_weights_count_in_the_distributions_and_class_weights_do_not(grades):
    """Rows of weight 0 take no part; class weights change the loss alone, so equal rows stay compared alike."""
    half = np.arange(900) % 2
    model = fit(grades, sample_weight=half)
    only = grades.part(half == 1)
    probability = model.predict_proba(only.X)
    plain = fit(grades, {"fairness_weight": 0}, sample_weight=half).predict_proba(only.X)
    gap, plain_gap = (
        multiclass_wasserstein_distance(None, one, sensitive_features=only.groups) for one in (probability, plain)
    )
    assert gap < 0.8 * plain_gap
    weighted = fit(grades, {"class_weight": {"poor": 30.0}}).predict_proba(grades.X)
    assert weighted[:, 2].mean() > 2 * fit(grades).predict_proba(grades.X)[:, 2].mean()


def test_continued_training_starts_from_the_model(grades, fresh):
    first = fit(grades)
    more = fit(grades, init_model=first)
    assert more.booster_.current_iteration() == 24
    assert more.booster_.num_model_per_iteration() == 3
    whole = fit(grades, {"n_estimators": 24})
    np.testing.assert_allclose(more.predict_proba(fresh.X), whole.predict_proba(fresh.X), atol=0.02)


def test_constant_columns_give_the_shares(grades):
    model = FairLGBMClassifier(**SMALL).fit(np.zeros((900, 2)), grades.y, sensitive_features=grades.groups)
    shares = np.unique(grades.y, return_counts=True)[1] / 900
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 2)))[0], shares, rtol=1e-6)


# ---- Metrics during training -------------------------------------------------------------------------------------


def test_lightgbms_metrics_by_name(grades, fresh):
    names = ["multi_error", "auc_mu", "logloss"]
    plain = lgb.LGBMClassifier(**SMALL).fit(
        grades.X, grades.y, eval_X=fresh.X, eval_y=np.searchsorted(LABELS, fresh.y), eval_metric=list(names)
    )
    model = fit(grades, {"fairness_weight": ALMOST_PLAIN}, **evaluation_of(fresh), eval_metric=names)
    theirs, ours = plain.evals_result_["valid_0"], model.evals_result_["valid_0"]
    assert set(ours) == set(theirs) == {"multi_error", "auc_mu", "multi_logloss"}
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name], values, rtol=1e-6, err_msg=name)


def test_top_k_error(grades, fresh):
    plain = lgb.LGBMClassifier(**SMALL, multi_error_top_k=2).fit(
        grades.X, grades.y, eval_X=fresh.X, eval_y=np.searchsorted(LABELS, fresh.y), eval_metric="multi_error"
    )
    model = fit(
        grades, {"fairness_weight": ALMOST_PLAIN, "multi_error_top_k": 2}, **evaluation_of(fresh),
        eval_metric="multi_error",
    )  # fmt: skip
    theirs = plain.evals_result_["valid_0"]["multi_error@2"]
    np.testing.assert_allclose(model.evals_result_["valid_0"]["multi_error"], theirs, rtol=1e-6)


def test_own_metrics_by_name_are_those_of_the_final_model(grades, fresh):
    names = [name for name, metric in METRICS.items() if metric.classes != "two"]
    names += ["fair_objective", "base_loss", "fairness_penalty"]
    model = fit(grades, {"fairness_weight": 3.0}, **evaluation_of(fresh), eval_metric=names)
    history = {name: values[-1] for name, values in model.evals_result_["valid_0"].items()}
    assert list(history) == names
    probability, codes = model.predict_proba(fresh.X), np.searchsorted(LABELS, fresh.y)
    for name in names[:-3]:
        expected = METRICS[name].from_scores(codes, probability, sensitive_features=fresh.groups)
        assert history[name] == pytest.approx(expected, rel=1e-6), name
    assert history["base_loss"] == pytest.approx(multiclass_log_loss(fresh.y, probability))
    assert history["fair_objective"] == pytest.approx(history["base_loss"] + 3.0 * history["fairness_penalty"])


@pytest.mark.parametrize("metric", [name for name, metric in METRICS.items() if metric.classes == "many"])
def test_early_stopping_knows_which_way_is_better(metric, grades, fresh):
    params = {"n_estimators": 30, "learning_rate": 0.3, "fairness_weight": 3.0}
    arguments = {**evaluation_of(fresh.part(slice(0, 500))), "eval_metric": metric}
    values = fit(grades, params, **arguments).evals_result_["valid_0"][metric]
    model = fit(grades, params, **arguments, callbacks=[lgb.early_stopping(4, verbose=False)])
    sign = -1 if METRICS[metric].greater_is_better else 1
    best = 0
    for i, value in enumerate(values):
        if sign * value < sign * values[best]:
            best = i
        if i - best >= 4:
            break
    assert model.best_iteration_ == best + 1


@pytest.mark.parametrize("metric", ["fair_objective", "multiclass_log_loss", "multi_logloss"])
def test_early_stopping_by_name(metric, grades, fresh):
    params = {"n_estimators": 200, "learning_rate": 0.4, "fairness_weight": 1.0}
    callbacks = [lgb.early_stopping(5, verbose=False, first_metric_only=True)]
    model = fit(grades, params, **evaluation_of(fresh), eval_metric=metric, callbacks=callbacks)
    history = model.evals_result_["valid_0"][metric]
    assert model.best_iteration_ == int(np.argmin(history)) + 1 < len(history) < 200


def test_functions_see_probabilities_of_all_classes(grades, fresh):
    seen = []

    def spread(y_true, y_pred, weight):
        seen.append((y_true.shape, y_pred.shape, weight.shape))
        np.testing.assert_allclose(y_pred.sum(axis=1), 1.0)
        return "spread", float(np.ptp(y_pred)), True

    model = fit(grades, **evaluation_of(fresh), eval_sample_weight=[fresh.weight], eval_metric=spread)
    assert set(seen) == {((2000,), (2000, 3), (2000,))}
    assert model.evals_result_["valid_0"]["spread"][-1] == pytest.approx(np.ptp(model.predict_proba(fresh.X)))


# ---- A target gap ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap_cv", "gap_metric"), [(2, None), ("eval_set", "multiclass_wasserstein_distance")])
def test_max_gap_is_the_largest_over_the_classes(gap_cv, gap_metric, grades, fresh):
    fresh = fresh.part(slice(0, 600))
    name = gap_metric or "multiclass_demographic_parity_difference"
    plain = fit(grades, {"fairness_weight": 0}).predict_proba(fresh.X)
    codes = np.searchsorted(LABELS, fresh.y)
    before = METRICS[name].from_scores(codes, plain, sensitive_features=fresh.groups)
    params = {"max_gap": 0.6 * before, "gap_cv": gap_cv, "gap_metric": gap_metric, "gap_confidence": None}
    model = fit(grades, params, **(evaluation_of(fresh) if gap_cv == "eval_set" else {}))
    assert model.fairness_weight_ > 0
    assert model.gap_ <= 0.6 * before
    after = METRICS[name].from_scores(codes, model.predict_proba(fresh.X), sensitive_features=fresh.groups)
    assert after < 0.8 * before
    if gap_cv == "eval_set":
        assert model.gap_ == pytest.approx(after)
        interval = bootstrap_interval(
            name, codes, model.predict_proba(fresh.X), sensitive_features=fresh.groups, n_resamples=400
        )
        assert model.gap_interval_ == pytest.approx((interval.low, interval.high))
