"""A fit that is prepared once and trained at several weights gives the models of single fits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from estimators.samples import SMALL, make_loans, make_wages, trees_of
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.boosters import lightgbm as lightgbm_booster

LOANS, WAGES = make_loans(), make_wages()
WEIGHTS = (0.0, 1.0, 7.0)


def single_fit(model, sample, weight, **arguments):
    fitted = type(model)(**{**model.get_params(), "fairness_weight": weight})
    return fitted.fit(sample.X, sample.y, sensitive_features=sample.groups, **arguments)


@pytest.mark.parametrize(
    ("model", "sample"),
    [
        (FairLGBMClassifier(**SMALL), LOANS),
        (FairLGBMClassifier(**SMALL, fairness="equalized_odds", class_weight="balanced", focus=4.0), LOANS),
        (FairLGBMClassifier(**SMALL, subsample=0.7, subsample_freq=1, colsample_bytree=0.6), LOANS),
        (FairLGBMClassifier(**SMALL), LOANS._replace(y=np.array(["no", "yes"])[LOANS.y])),
        (FairLGBMClassifier(**SMALL), LOANS._replace(X=sparse.csr_matrix(np.nan_to_num(LOANS.X)))),
        (FairLGBMClassifier(**SMALL), LOANS._replace(X=pd.DataFrame(LOANS.X, columns=list("abcde")))),
        (FairLGBMRegressor(**SMALL), WAGES),
        (FairLGBMRegressor(**SMALL, objective="huber"), WAGES),
    ],
)
@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse matrix")
def test_models_are_those_of_single_fits(model, sample):
    prepared = model.prepare_fit(sample.X, sample.y, sensitive_features=sample.groups, sample_weight=sample.weight)
    for weight in (*WEIGHTS, WEIGHTS[1]):
        got = prepared.fit(weight)
        want = single_fit(model, sample, weight, sample_weight=sample.weight)
        assert trees_of(got.booster_) == trees_of(want.booster_)
        np.testing.assert_array_equal(got.predict(sample.X), want.predict(sample.X))
        assert (got.fairness_weight, got.fairness_weight_, got.groups_) == (weight, weight, want.groups_)
        assert got.n_features_in_ == want.n_features_in_
        assert vars(got).keys() == vars(want).keys()


def test_the_estimator_itself_stays_unfitted():
    model = FairLGBMClassifier(**SMALL)
    before = dict(vars(model))
    model.prepare_fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups).fit(1.0)
    assert vars(model) == before


def test_threads_may_share_it():
    prepared = FairLGBMClassifier(**SMALL).prepare_fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    weights = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda weight: prepared.fit(weight).predict_proba(LOANS.X), weights))
    for weight, got in zip(weights, together, strict=True):
        want = single_fit(FairLGBMClassifier(**SMALL), LOANS, weight).predict_proba(LOANS.X)
        np.testing.assert_array_equal(got, want)


def test_rows_are_binned_once(monkeypatch):
    handles = []
    train = lightgbm_booster.lgb.train

    def spy(params, train_set, *arguments, **keywords):
        handles.append(train_set._handle.value)
        return train(params, train_set, *arguments, **keywords)

    monkeypatch.setattr(lightgbm_booster.lgb, "train", spy)
    prepared = FairLGBMClassifier(**SMALL).prepare_fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    for weight in WEIGHTS:
        prepared.fit(weight)
    assert len(handles) == 3
    assert handles[0] is not None
    assert len(set(handles)) == 1


def test_few_rows_in_a_group_are_warned_of_once():
    groups = np.where(np.arange(600) < 10, "few", LOANS.groups)
    with pytest.warns(UserWarning, match="groups of fewer than 30 rows"):
        prepared = FairLGBMClassifier(**SMALL).prepare_fit(LOANS.X, LOANS.y, sensitive_features=groups)
    for weight in WEIGHTS:
        assert prepared.fit(weight).groups_ == ("blue", "few", "green")  # a warning is an error here


@pytest.mark.parametrize(
    ("params", "given", "message"),
    [
        ({}, {"sensitive_features": None}, "sensitive_features is missing"),
        ({}, {"y": LOANS.y[:9]}, "y has 9 rows, but X has 600"),
        ({"fairness_weigth": 3}, {}, "fairness_weigth is not a parameter; fairness_weight is"),
        ({"fairness": "odds"}, {}, "fairness='odds' is unknown"),
    ],
)
def test_bad_input_is_refused_before_training(params, given, message):
    arguments = {"X": LOANS.X, "y": LOANS.y, "sensitive_features": LOANS.groups, **given}
    with pytest.raises(ValueError, match=f"^{message}"):
        FairLGBMClassifier(**SMALL, **params).prepare_fit(**arguments)


def test_what_only_the_plain_model_can_is_refused_at_other_weights():
    model = FairLGBMClassifier(**SMALL, fairness_weight=0, boosting="rf", subsample=0.5, subsample_freq=1)
    prepared = model.prepare_fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    assert prepared.fit(0.0).n_estimators_ == 12
    with pytest.raises(ValueError, match=r"^boosting='rf' is not available with fairness_weight > 0"):
        prepared.fit(1.0)
