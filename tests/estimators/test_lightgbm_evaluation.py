"""Evaluation sets, metrics and early stopping: as in LightGBM, with the metrics of this package among them.

Recorded values are compared with LightGBM's own, and with the metrics computed afterwards from what the model predicts
at each iteration.
"""

import lightgbm as lgb
import numpy as np
import pytest
from scipy.special import expit

from estimators.samples import ALMOST_PLAIN, SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.estimators.native_metrics import CLASSIFIER_METRICS, REGRESSOR_METRICS
from otfairboost.metrics import METRICS

LOANS, MORE_LOANS, WAGES, MORE_WAGES = make_loans(), make_loans(400, seed=1), make_wages(), make_wages(400, seed=1)
CLASSIFIER = (FairLGBMClassifier, lgb.LGBMClassifier, LOANS, MORE_LOANS)
REGRESSOR = (FairLGBMRegressor, lgb.LGBMRegressor, WAGES, MORE_WAGES)


def evaluation(sample, **more):
    return {"eval_X": sample.X, "eval_y": sample.y, **more}


def fit_fair(task, weight=2.0, params=None, evaluated=None, **fit):
    fair_class, _, sample, held_out = task
    held_out = evaluated or held_out
    fit = {**evaluation(held_out), "eval_sensitive_features": held_out.groups, **fit}
    model = fair_class(fairness_weight=weight, **(SMALL | (params or {})))
    return model.fit(sample.X, sample.y, sensitive_features=sample.groups, **fit)


def fit_both(task, params=None, **fit):
    """Return LightGBM's estimator and one with next to no fairness, fitted alike."""
    _, plain_class, sample, held_out = task
    fit = {**evaluation(held_out), **fit}
    plain = plain_class(**(SMALL | (params or {}))).fit(sample.X, sample.y, **fit)
    return plain, fit_fair(task, ALMOST_PLAIN, params, **fit, eval_sensitive_features=None)


def assert_same_history(plain, fair, rtol=1e-11):
    assert {name: list(history) for name, history in fair.evals_result_.items()} == {
        name: list(history) for name, history in plain.evals_result_.items()
    }
    for name, history in plain.evals_result_.items():
        for metric, values in history.items():
            np.testing.assert_allclose(fair.evals_result_[name][metric], values, rtol=rtol, err_msg=metric)
    assert fair.best_iteration_ == plain.best_iteration_
    assert {name: list(scores) for name, scores in fair.best_score_.items()} == {
        name: list(scores) for name, scores in plain.best_score_.items()
    }
    for name, scores in plain.best_score_.items():
        np.testing.assert_allclose(list(fair.best_score_[name].values()), list(scores.values()), rtol=rtol)


# --------------------------------------------------------------------------------------- LightGBM's metrics


@pytest.mark.parametrize("metric", [*CLASSIFIER_METRICS, "auc", "average_precision"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classifier_records_lightgbms_values(metric, weighted):
    weight = {"eval_sample_weight": [MORE_LOANS.weight]} if weighted else {}
    assert_same_history(*fit_both(CLASSIFIER, {"alpha": 0.7, "fair_c": 1.7}, eval_metric=metric, **weight))


SHARES = ("cross_entropy", "xentropy", "kullback_leibler", "kldiv")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", SHARES)
def test_regressor_of_shares_records_lightgbms_values(metric, weighted):
    weight = {"eval_sample_weight": [MORE_WAGES.weight]} if weighted else {}
    train, held_out = (sample._replace(y=np.clip(sample.y / 40.0, 0.0, 1.0)) for sample in (WAGES, MORE_WAGES))
    task = (*REGRESSOR[:2], train, held_out)
    assert_same_history(*fit_both(task, {"objective": "cross_entropy"}, eval_metric=metric, **weight), rtol=1e-6)


@pytest.mark.parametrize("metric", [*(name for name in REGRESSOR_METRICS if name not in SHARES), "auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_regressor_records_lightgbms_values(metric, weighted):
    weight = {"eval_sample_weight": [MORE_WAGES.weight]} if weighted else {}
    params = {"alpha": 0.7, "fair_c": 1.7, "tweedie_variance_power": 1.3}
    held_out = MORE_WAGES._replace(y=np.abs(MORE_WAGES.y) + 0.1)
    rtol = 1e-9 if metric == "gamma" else 1e-11
    assert_same_history(*fit_both((*REGRESSOR[:3], held_out), params, eval_metric=metric, **weight), rtol=rtol)


@pytest.mark.parametrize(
    ("task", "params", "metric"),
    [
        (CLASSIFIER, {}, None),
        (CLASSIFIER, {"metric": "auc"}, None),
        (CLASSIFIER, {"metric": ["auc", "l1"]}, ["l1", "l2"]),
        (CLASSIFIER, {"metrics": "auc,binary_error"}, None),
        (CLASSIFIER, {"metric": "None"}, "auc"),
        (CLASSIFIER, {}, ["error", "auc", "logloss"]),
        (REGRESSOR, {}, None),
        (REGRESSOR, {}, "mae"),
        (REGRESSOR, {"objective": "huber"}, None),
        (REGRESSOR, {"objective": "rmse"}, "l1"),
    ],
)
def test_names_and_defaults_are_lightgbms(task, params, metric):
    assert_same_history(*fit_both(task, params, eval_metric=metric))


def brier(y_true, y_pred):
    return "brier", np.mean((y_true - y_pred) ** 2), False


def weighted_brier(y_true, y_pred, weight):
    return "weighted_brier", np.average((y_true - y_pred) ** 2, weights=weight), False


def several(y_true, y_pred, weight, group):
    assert group is None
    return [("first", float(np.mean(y_pred)), True), ("second", float(np.max(y_pred)), True)]


@pytest.mark.parametrize("metric", [brier, weighted_brier, several, [weighted_brier, "auc", several]])
def test_functions_are_called_as_by_lightgbm(metric):
    assert_same_history(*fit_both(CLASSIFIER, eval_metric=metric, eval_sample_weight=[MORE_LOANS.weight]))


def test_functions_receive_probabilities():
    seen = []

    def look(y_true, y_pred):
        seen.append(y_pred)
        return "looked", 0.0, False

    model = fit_fair(CLASSIFIER, eval_metric=look)
    assert len(seen) == SMALL["n_estimators"]
    for i, probabilities in enumerate(seen):
        want = model.predict_proba(MORE_LOANS.X, num_iteration=i + 1)[:, 1]
        np.testing.assert_allclose(probabilities, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "fit",
    [
        {"eval_X": (LOANS.X, MORE_LOANS.X), "eval_y": (LOANS.y, MORE_LOANS.y), "eval_names": ["here", "there"]},
        {"eval_X": (MORE_LOANS.X, LOANS.X[:99]), "eval_y": (MORE_LOANS.y, LOANS.y[:99]), "eval_names": ["there"]},
        {"eval_names": "there"},
        {"eval_class_weight": [{0: 1.0, 1: 3.0}]},
        {"eval_class_weight": ["balanced"], "eval_sample_weight": {0: MORE_LOANS.weight}},
        {"eval_init_score": [np.linspace(-1, 1, 400)]},
        {"eval_init_score": [np.linspace(-1, 1, 400)], "init_score": np.linspace(1, -1, 600)},
        {"init_score": np.linspace(1, -1, 600)},
    ],
)
def test_evaluation_arguments_mean_what_they_mean_in_lightgbm(fit):
    assert_same_history(*fit_both(CLASSIFIER, {"metric": ["binary_logloss", "auc"]}, **fit))


@pytest.mark.parametrize("weight", [0, 1.0])
def test_the_list_of_metrics_is_not_changed(weight):
    names = ["logloss", "error"]
    fit_fair(CLASSIFIER, weight, eval_metric=names)
    assert names == ["logloss", "error"]


def test_saturated_probabilities_cost_what_they_cost_in_lightgbm():
    metrics = ["binary_logloss", "cross_entropy", "binary_error"]
    start = [np.linspace(-200, 200, 400)]
    assert_same_history(*fit_both(CLASSIFIER, {"metric": metrics}, eval_init_score=start), rtol=1e-9)


@pytest.mark.parametrize("task", [CLASSIFIER, REGRESSOR])
@pytest.mark.parametrize("names", [None, ["here"]])
def test_the_training_rows_are_recognised(task, names):
    fair_class, _, sample, held_out = task
    fit = {"sensitive_features": sample.groups, "eval_names": names, "eval_metric": "fair_objective"}
    model = fair_class(**SMALL).fit(
        sample.X, sample.y, **fit, eval_X=(sample.X, held_out.X), eval_y=(sample.y, held_out.y),
        eval_sensitive_features=[None, held_out.groups],
    )  # fmt: skip
    first = "here" if names else "training"
    assert list(model.evals_result_) == [first, "valid_1"]
    values = model.evals_result_[first]["fair_objective"]
    assert values == sorted(values, reverse=True)  # what is trained falls on the training rows
    pairs = fair_class(**SMALL).fit(
        sample.X, sample.y, **fit, eval_set=[(sample.X, sample.y), (held_out.X, held_out.y)],
        eval_sensitive_features=[None, held_out.groups],
    )  # fmt: skip
    assert pairs.evals_result_ == model.evals_result_


# -------------------------------------------------------------------------------- metrics of this package


def scores_by_iteration(model, sample):
    for i in range(model.n_estimators_):
        raw = model.predict(sample.X, raw_score=True, num_iteration=i + 1)
        yield raw, (expit(raw) if hasattr(model, "classes_") else raw)


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.classes != "many"])
@pytest.mark.parametrize("weighted", [False, True])
def test_recorded_metrics_are_those_of_the_predictions(name, weighted):
    weight = MORE_LOANS.weight if weighted else None
    fit = {"eval_sample_weight": [weight]} if weighted else {}
    control = {"control_features": np.arange(len(MORE_LOANS.y)) % 3} if METRICS[name].needs_control else {}
    fit |= {f"eval_{key}": value for key, value in control.items()}
    model = fit_fair(CLASSIFIER, params={"decision_threshold": 0.4}, eval_metric=name, **fit)
    canonical = CLASSIFIER_METRICS[name].name if name in CLASSIFIER_METRICS else name
    recorded = model.evals_result_["valid_0"][canonical]
    metric = METRICS[name]
    groups = {"sensitive_features": MORE_LOANS.groups} if metric.needs_groups else {}
    extra = {"threshold": 0.4} if name == "tradeoff_objective" else control
    for value, (_, p) in zip(recorded, scores_by_iteration(model, MORE_LOANS), strict=True):
        y_pred = (p >= 0.4).astype(int) if metric.kind == "label" else p
        want = metric.function(MORE_LOANS.y, y_pred, sample_weight=weight, **groups, **extra)
        assert value == pytest.approx(want, rel=1e-9, abs=1e-12)
    assert np.ptp(recorded) > 1e-4


@pytest.mark.parametrize("name", ["wasserstein_distance", "kolmogorov_smirnov", "normalized_wasserstein"])
def test_recorded_distances_are_those_of_the_predictions(name):
    model = fit_fair(REGRESSOR, eval_metric=name)
    for value, (_, z) in zip(model.evals_result_["valid_0"][name], scores_by_iteration(model, MORE_WAGES), strict=True):
        want = METRICS[name].function(MORE_WAGES.y, z, sensitive_features=MORE_WAGES.groups)
        assert value == pytest.approx(want, rel=1e-9)


def squared_distance(scores, groups):
    """Return W2^2 of two groups by their quantile functions on a fine common grid of levels (exact: steps)."""
    a, b = (np.sort(scores[groups == g]) for g in np.unique(groups))
    levels = np.unique(np.concatenate([np.arange(1, len(a) + 1) / len(a), np.arange(1, len(b) + 1) / len(b)]))
    widths = np.diff(levels, prepend=0.0)
    middle = levels - widths / 2
    return np.sum(widths * (a[(middle * len(a)).astype(int)] - b[(middle * len(b)).astype(int)]) ** 2)


@pytest.mark.parametrize("task", [CLASSIFIER, REGRESSOR])
def test_objective_and_its_parts_are_those_of_the_predictions(task):
    names = ["fair_objective", "base_loss", "fairness_penalty"]
    model = fit_fair(task, 3.0, {"transport": "exact"}, eval_metric=names)
    sample = task[3]
    history = model.evals_result_["valid_0"]
    assert list(history) == names
    for i, (raw, score) in enumerate(scores_by_iteration(model, sample)):
        if task is CLASSIFIER:
            loss = np.mean(np.logaddexp(0, raw) - sample.y * raw)
        else:
            loss = np.mean((raw - sample.y) ** 2) / 2
        penalty = squared_distance(score, sample.groups)
        assert history["base_loss"][i] == pytest.approx(loss, rel=1e-6)
        assert history["fairness_penalty"][i] == pytest.approx(penalty, rel=1e-6)
        assert history["fair_objective"][i] == pytest.approx(loss + 3.0 * penalty, rel=1e-6)


@pytest.mark.parametrize("task", [CLASSIFIER, REGRESSOR])
def test_base_loss_needs_no_groups(task):
    with_groups = fit_fair(task, eval_metric="base_loss")
    without = fit_fair(task, eval_metric="base_loss", eval_sensitive_features=None)
    assert without.evals_result_ == with_groups.evals_result_


def test_label_weights_in_the_loss_are_those_of_training():
    # One label only in the evaluation rows: its own balance would be a division by zero.
    positive = MORE_LOANS.part(MORE_LOANS.y == 1)
    model = fit_fair(CLASSIFIER, params={"is_unbalance": True}, evaluated=positive, eval_metric="base_loss")
    p = model.predict_proba(positive.X)[:, 1]
    assert model.evals_result_["valid_0"]["base_loss"][-1] == pytest.approx(-np.log(p).mean(), rel=1e-6)


@pytest.mark.parametrize(
    ("fit", "want"),
    [
        ({}, ["fair_objective"]),
        ({"eval_sensitive_features": None}, ["binary_logloss"]),
        ({"eval_metric": "auc"}, ["auc", "binary_logloss"]),
        ({"eval_metric": "demographic_parity_difference"}, ["demographic_parity_difference"]),
        (
            {"eval_metric": ["fairness_penalty", "auc", brier, "equalized_odds_sum", "l2"]},
            ["fairness_penalty", "auc", "equalized_odds_sum", "l2", "brier"],
        ),
        ({"eval_metric": ["auc", "fair_objective", "auc"]}, ["auc", "fair_objective"]),
        ({"eval_metric": ("auc", "base_loss")}, ["auc", "base_loss"]),
    ],
)
def test_metrics_are_recorded_in_the_order_asked_for(fit, want):
    assert list(fit_fair(CLASSIFIER, **fit).evals_result_["valid_0"]) == want
