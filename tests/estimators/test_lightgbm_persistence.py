"""Parameters, copies and repeated runs."""

import copy
import io
import pickle
import threading

import joblib
import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from estimators.samples import SMALL, STEADY, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.threads import MIN_CHUNK

LOANS, WAGES = make_loans(), make_wages()
OWN = {
    "fairness": "equalized_odds", "fairness_weight": 2.5, "multi_group": "barycenter", "group_weighting": "size",
    "transport": "exact", "ties": "average", "bandwidth": 0.3, "n_bins": 128, "focus": 4.0, "decision_threshold": 0.3,
    "fairness_hessian": "paper", "max_gap": 0.2, "gap_metric": "kolmogorov_smirnov", "gap_cv": 3, "gap_confidence": 0.9,
    "on_unreachable": "raise", "score_space": "response", "focus_quantile": 0.8, "sensitive_bins": {},
    "min_group_size": 20, "multi_attribute": "sum", "attribute_weights": [2.0], "control_bins": [0.5], "target_bins": 4,
}  # fmt: skip
THEIRS = {"n_estimators": 7, "num_leaves": 5, "random_state": 1, "n_jobs": 1, "verbosity": -1, "objective": "binary"}
EXTRA = {"max_bins": 63, "sub_feature": 0.8, "an_unknown_one": 3}


def fit(model, sample=LOANS, **arguments):
    return model.fit(sample.X, sample.y, sensitive_features=sample.groups, **arguments)


# ------------------------------------------------------------------------------------------------ parameters


def test_parameters_come_back_as_given():
    model = FairLGBMClassifier(**OWN, **THEIRS, **EXTRA)
    assert model.get_params().items() >= {**OWN, **THEIRS, **EXTRA}.items()
    assert set(lgb.LGBMClassifier().get_params()) | set(OWN) | set(EXTRA) | {"verbosity"} == set(model.get_params())


def test_defaults_are_lightgbms_and_the_documented_ones():
    params = FairLGBMRegressor().get_params()
    assert params.items() >= lgb.LGBMRegressor().get_params().items()
    assert {name: params[name] for name in OWN} == {
        "fairness": "demographic_parity", "fairness_weight": 5.0, "multi_group": "one_vs_rest",
        "group_weighting": "equal", "transport": "histogram", "ties": "average", "bandwidth": 0.1, "n_bins": None,
        "focus": 1.0, "decision_threshold": 0.5, "fairness_hessian": "auto", "score_space": "response",
        "max_gap": None, "gap_metric": None, "gap_cv": 5, "gap_confidence": 0.95, "on_unreachable": "warn",
        "focus_quantile": None, "sensitive_bins": None, "min_group_size": None,
        "multi_attribute": "intersection", "attribute_weights": None, "control_bins": None, "target_bins": 5,
    }  # fmt: skip
    assert all(f"    {name} : " in FairLGBMRegressor.__doc__ for name in OWN)


def test_set_params_round_trips_and_is_used():
    model = FairLGBMClassifier(**THEIRS)
    assert model.set_params(**OWN, **EXTRA) is model
    assert model.get_params().items() >= {**OWN, **THEIRS, **EXTRA}.items()
    model.set_params(fairness_weight=0.5, an_unknown_one=4, n_estimators=3)
    assert model.get_params().items() >= {"fairness_weight": 0.5, "an_unknown_one": 4, "n_estimators": 3}.items()
    assert fit(model.set_params(fairness_weight=0, max_gap=None)).n_estimators_ == 3
    twin = FairLGBMClassifier(**{**THEIRS, **OWN, **EXTRA, "fairness_weight": 0, "n_estimators": 3, "max_gap": None})
    np.testing.assert_array_equal(model.predict_proba(LOANS.X), fit(twin).predict_proba(LOANS.X))


@pytest.mark.parametrize("weights", [(0, 2.0), (2.0, 0), (2.0, 5.0)])
def test_a_refitted_model_is_a_new_one(weights):
    model = FairLGBMClassifier(**SMALL, fairness_weight=weights[0])
    three = LOANS._replace(y=np.arange(len(LOANS.y)) % 3)
    fit(model, three if weights[0] == 0 else LOANS, eval_X=LOANS.X[:9], eval_y=LOANS.y[:9])
    fit(model.set_params(fairness_weight=weights[1]))
    fresh = fit(FairLGBMClassifier(**SMALL, fairness_weight=weights[1]))
    np.testing.assert_array_equal(model.predict_proba(LOANS.X), fresh.predict_proba(LOANS.X))
    assert model.evals_result_ == {}
    assert (model.objective_, model.n_classes_) == ("binary", 2)


def test_groups_of_an_earlier_fit_are_forgotten():
    model = fit(FairLGBMClassifier(**SMALL))
    assert model.groups_ == ("blue", "green")
    model.set_params(fairness_weight=0).fit(LOANS.X, LOANS.y)
    assert not hasattr(model, "groups_")
    assert fit(model).groups_ == ("blue", "green")


def test_repr_shows_what_was_set():
    text = repr(FairLGBMClassifier(fairness_weight=2.0, num_leaves=7, max_bins=63))
    assert text == "FairLGBMClassifier(fairness_weight=2.0, max_bins=63, num_leaves=7)"


def test_estimators_are_lightgbms_kind():
    assert is_classifier(FairLGBMClassifier())
    assert is_regressor(FairLGBMRegressor())
    assert isinstance(FairLGBMClassifier(), lgb.LGBMClassifier)
    for weight in (0, 1):
        assert FairLGBMClassifier(fairness_weight=weight).__sklearn_tags__().classifier_tags.multi_class


@pytest.mark.parametrize("importance_type", ["split", "gain"])
def test_importances_are_the_boosters(importance_type):
    model = fit(FairLGBMClassifier(**SMALL, importance_type=importance_type))
    assert model.feature_importances_.shape == (5,)
    np.testing.assert_array_equal(model.feature_importances_, model.booster_.feature_importance(importance_type))
    assert model.feature_importances_.max() > 0


# ---------------------------------------------------------------------------------------------------- copies


def by_joblib(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


COPIES = {"pickle": lambda m: pickle.loads(pickle.dumps(m)), "joblib": by_joblib, "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize(("fair_class", "sample"), [(FairLGBMClassifier, LOANS), (FairLGBMRegressor, WAGES)])
def test_copies_predict_the_same_and_can_be_fitted(way, fair_class, sample):
    model = fit(fair_class(**SMALL), sample, eval_X=sample.X[:99], eval_y=sample.y[:99])
    twin = COPIES[way](model)
    np.testing.assert_array_equal(twin.predict(sample.X, raw_score=True), model.predict(sample.X, raw_score=True))
    assert twin.get_params() == model.get_params()
    assert twin.evals_result_ == model.evals_result_
    assert twin.groups_ == model.groups_
    fit(twin.set_params(fairness_weight=20.0), sample)
    assert np.abs(twin.predict(sample.X, raw_score=True) - model.predict(sample.X, raw_score=True)).max() > 0.01


@pytest.mark.filterwarnings("ignore:max_gap=0.2 is kept")  # OWN is far from any default
def test_clone_is_unfitted_with_the_same_parameters():
    model = fit(FairLGBMClassifier(**OWN, **THEIRS, **EXTRA))
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not twin.__sklearn_is_fitted__()
    np.testing.assert_array_equal(fit(twin).predict_proba(LOANS.X), model.predict_proba(LOANS.X))


# ---------------------------------------------------------------------------------------------- repeated runs

RANDOM = {"n_estimators": 12, "subsample": 0.5, "subsample_freq": 1, "colsample_bytree": 0.6, "extra_trees": True}


@pytest.mark.parametrize("seed", [5, np.random.RandomState, np.random.default_rng])
def test_random_state_repeats_the_model(seed):
    def run(number):
        state = number if seed == 5 else seed(number)
        params = {**STEADY, **RANDOM, "random_state": state}
        return fit(FairLGBMClassifier(**params)).predict_proba(LOANS.X)

    np.testing.assert_array_equal(run(5), run(5))
    assert np.abs(run(5) - run(6)).max() > 1e-3


@pytest.mark.parametrize("transport", ["histogram", "exact", "kde"])
def test_threads_do_not_change_the_model(transport):
    # More rows than one chunk holds, so that the penalty is computed by both threads.
    many = make_loans(2 * MIN_CHUNK)
    params = {**STEADY, "n_estimators": 4, "num_leaves": 8, "transport": transport}
    one, two = (fit(FairLGBMClassifier(**params | {"n_jobs": n}), many) for n in (1, 2))
    assert (
        one.booster_.model_to_string().partition("parameters:")[0]
        == (two.booster_.model_to_string().partition("parameters:")[0])
    )


def test_no_thread_outlives_a_fit():
    many = make_loans(2 * MIN_CHUNK)  # fewer are one chunk, for which no thread is started
    params = {**STEADY, "n_estimators": 2, "n_jobs": 2}
    evaluation = {"eval_X": many.X[::-1], "eval_y": many.y[::-1], "eval_sensitive_features": many.groups[::-1]}
    names = []

    def look(env):
        names.extend(thread.name for thread in threading.enumerate())
        if env.iteration == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(FairLGBMClassifier(**params), many, **evaluation, callbacks=[look])
    assert any(name.startswith("otfairboost") for name in names)
    fit(FairLGBMClassifier(**params), many, **evaluation)
    assert not any(thread.name.startswith("otfairboost") for thread in threading.enumerate())


@pytest.mark.parametrize("alias", [{"num_threads": 2}, {"nthread": 2}, {"n_jobs": -1}])
def test_number_of_threads_by_any_name(alias):
    model = fit(FairLGBMClassifier(**{k: v for k, v in SMALL.items() if k != "n_jobs"}, **alias))
    np.testing.assert_allclose(
        model.predict_proba(LOANS.X), fit(FairLGBMClassifier(**SMALL)).predict_proba(LOANS.X), rtol=0, atol=1e-12
    )
