"""Grid search, cross-validation and pipelines: sensitive features travel with the rows, with and without routing."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.metrics import demographic_parity_difference, wasserstein_distance

LOANS, WAGES = make_loans(), make_wages()
FOLDS = KFold(3)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def requesting(model):
    return model.set_fit_request(sensitive_features=True, sample_weight=True)


def gap_scorer():
    scorer = make_scorer(demographic_parity_difference, greater_is_better=False)
    return scorer.set_score_request(sensitive_features=True)


def fit_by_hand(fold, **params):
    """Return the fold's model, fitted without scikit-learn, and its test rows."""
    train, test = list(FOLDS.split(LOANS.X))[fold]
    rows = LOANS.part(train)
    model = FairLGBMClassifier(**SMALL | params)
    return model.fit(rows.X, rows.y, sample_weight=rows.weight, sensitive_features=rows.groups), LOANS.part(test)


@pytest.mark.usefixtures("routing")
def test_cross_validation_routes_to_fit_and_score():
    result = cross_validate(
        requesting(FairLGBMClassifier(**SMALL, fairness_weight=3.0)), LOANS.X, LOANS.y, cv=FOLDS,
        scoring=gap_scorer(), return_estimator=True,
        params={"sensitive_features": LOANS.groups, "sample_weight": LOANS.weight},
    )  # fmt: skip
    for fold in range(3):
        model, test = fit_by_hand(fold, fairness_weight=3.0)
        got = result["estimator"][fold]
        np.testing.assert_array_equal(got.predict_proba(LOANS.X), model.predict_proba(LOANS.X))
        want = demographic_parity_difference(test.y, model.predict(test.X), sensitive_features=test.groups)
        assert result["test_score"][fold] == pytest.approx(-want)


@pytest.mark.usefixtures("routing")
def test_grid_search_finds_the_fairer_model():
    search = GridSearchCV(
        requesting(FairLGBMClassifier(**SMALL | {"n_estimators": 25})), {"fairness_weight": [0, 30.0]}, cv=FOLDS,
        scoring=gap_scorer(), error_score="raise",
    )  # fmt: skip
    search.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, sample_weight=LOANS.weight)
    assert search.best_params_ == {"fairness_weight": 30.0}
    assert search.best_estimator_.groups_ == ("blue", "green")
    assert search.predict(LOANS.X).shape == (len(LOANS.y),)


@pytest.mark.usefixtures("routing")
def test_pipeline_routes_to_its_last_step():
    pipeline = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False), requesting(FairLGBMClassifier(**SMALL))
    )
    pipeline.fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, sample_weight=LOANS.weight)
    scaled = StandardScaler().fit_transform(LOANS.X)
    model = FairLGBMClassifier(**SMALL).fit(
        scaled, LOANS.y, sensitive_features=LOANS.groups, sample_weight=LOANS.weight
    )
    np.testing.assert_array_equal(pipeline.predict_proba(LOANS.X), model.predict_proba(scaled))


@pytest.mark.usefixtures("routing")
def test_grid_search_over_a_pipeline_with_frames():
    frame = pd.DataFrame(LOANS.X, columns=list("abcde"))
    pipeline = Pipeline([
        ("scale", StandardScaler().set_output(transform="pandas")),
        ("model", FairLGBMClassifier(**SMALL).set_fit_request(sensitive_features=True)),
    ])  # fmt: skip
    search = GridSearchCV(pipeline, {"model__focus": [1.0, 4.0], "model__fairness_weight": [2.0]}, cv=FOLDS,
                          scoring=gap_scorer(), error_score="raise")  # fmt: skip
    search.fit(frame, LOANS.y, sensitive_features=pd.Series(LOANS.groups, index=frame.index))
    assert list(search.best_estimator_["model"].feature_names_in_) == list("abcde")


@pytest.mark.usefixtures("routing")
def test_regressor_is_scored_by_distances():
    scorer = make_scorer(wasserstein_distance, greater_is_better=False).set_score_request(sensitive_features=True)
    results = [
        cross_validate(
            FairLGBMRegressor(**SMALL | {"n_estimators": 30}, fairness_weight=weight).set_fit_request(
                sensitive_features=True
            ),
            WAGES.X, WAGES.y, cv=FOLDS, scoring=scorer, params={"sensitive_features": WAGES.groups},
        )["test_score"].mean()
        for weight in (0, 20.0)
    ]  # fmt: skip
    assert results[1] > 0.5 * results[0]


@pytest.mark.usefixtures("routing")
def test_an_ensemble_routes_to_its_members():
    members = [(f"focus {f}", FairLGBMClassifier(**SMALL, focus=f)) for f in (1.0, 4.0)]
    for _, member in members:
        member.set_fit_request(sensitive_features=True)
    vote = VotingClassifier(members, voting="soft").fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    want = np.mean([
        FairLGBMClassifier(**SMALL, focus=f).fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
        .predict_proba(LOANS.X) for f in (1.0, 4.0)
    ], axis=0)  # fmt: skip
    np.testing.assert_allclose(vote.predict_proba(LOANS.X), want, rtol=1e-12)


@pytest.mark.usefixtures("routing")
def test_unrequested_groups_are_not_lost_in_silence():
    with pytest.raises(UnsetMetadataPassedError, match="sensitive_features"):
        cross_validate(FairLGBMClassifier(**SMALL), LOANS.X, LOANS.y, params={"sensitive_features": LOANS.groups})


# ------------------------------------------------------------------------------------------- without routing


@pytest.mark.parametrize("wrap", [np.asarray, list, pd.Series])
def test_grid_search_without_routing_splits_the_groups(wrap):
    search = GridSearchCV(
        FairLGBMClassifier(**SMALL), {"fairness_weight": [0, 1.0, 3.0]}, cv=FOLDS, scoring="roc_auc",
        error_score="raise",
    )  # fmt: skip
    search.fit(LOANS.X, LOANS.y, sensitive_features=wrap(LOANS.groups), sample_weight=LOANS.weight)
    model, test = fit_by_hand(1, fairness_weight=3.0)
    # scikit-learn weighs the score as well then.
    want = roc_auc_score(test.y, model.predict_proba(test.X)[:, 1], sample_weight=test.weight)
    assert search.cv_results_["split1_test_score"][2] == pytest.approx(want)


def test_cross_validation_without_routing_splits_the_groups():
    result = cross_validate(
        FairLGBMClassifier(**SMALL, fairness_weight=3.0), LOANS.X, LOANS.y, cv=FOLDS, return_estimator=True,
        params={"sensitive_features": LOANS.groups, "sample_weight": LOANS.weight},
    )  # fmt: skip
    model, _ = fit_by_hand(2, fairness_weight=3.0)
    np.testing.assert_array_equal(result["estimator"][2].predict_proba(LOANS.X), model.predict_proba(LOANS.X))


def test_pipeline_without_routing_takes_prefixed_arguments():
    pipeline = make_pipeline(StandardScaler(), FairLGBMClassifier(**SMALL))
    pipeline.fit(LOANS.X, LOANS.y, fairlgbmclassifier__sensitive_features=LOANS.groups)
    assert pipeline[-1].groups_ == ("blue", "green")
