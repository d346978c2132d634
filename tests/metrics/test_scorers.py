import pickle

import fairlearn.metrics as fairlearn_metrics
import numpy as np
import ot
import pytest
import sklearn
import sklearn.metrics as sklearn_metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from metric_rows import OF_TWO, make_rows
from otfairboost import metrics
from otfairboost.metrics import METRICS


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def make_features(seed=0, n=300):
    y, _, _, group, weight = make_rows(seed, 2, n)
    rng = np.random.default_rng(seed)
    X = np.column_stack([y + rng.normal(size=n), (group == "a") + rng.normal(size=n)])
    return X, y, group, weight


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("name", ["demographic_parity_ratio", "equalized_odds_sum", "wasserstein_distance"])
def test_grid_search_routes_sensitive_features(name):
    X, y, group, weight = make_features()
    metric = METRICS[name]
    scorer = make_scorer(
        metric.function,
        response_method="predict" if metric.kind == "label" else "predict_proba",
        greater_is_better=metric.greater_is_better,
    ).set_score_request(sensitive_features=True, sample_weight=True)
    model = LogisticRegression().set_fit_request(sample_weight=False)
    grid = {"C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, scoring=scorer, cv=KFold(2))
    search.fit(X, y, sensitive_features=group, sample_weight=weight)

    expected = np.zeros((2, 2))
    for i, C in enumerate(grid["C"]):
        for j, (train, test) in enumerate(KFold(2).split(X)):
            fitted = LogisticRegression(C=C).fit(X[train], y[train])
            y_pred = fitted.predict(X[test]) if metric.kind == "label" else fitted.predict_proba(X[test])[:, 1]
            value = metric.function(y[test], y_pred, sensitive_features=group[test], sample_weight=weight[test])
            expected[i, j] = value if metric.greater_is_better else -value
    for j in range(2):
        np.testing.assert_allclose(search.cv_results_[f"split{j}_test_score"], expected[:, j])


@pytest.mark.usefixtures("routing")
def test_grid_search_on_the_tradeoff_with_named_labels():
    X, y, group, _ = make_features(1)
    y = np.array(["yes", "no"])[y]
    scorer = make_scorer(
        metrics.tradeoff_objective, response_method="predict_proba", alpha=0.5, threshold=0.4, pos_label="no"
    ).set_score_request(sensitive_features=True)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-3, 1.0]}, scoring=scorer, cv=KFold(2))
    search.fit(X, y, sensitive_features=group)
    refitted = search.best_estimator_
    p_no = refitted.predict_proba(X)[:, list(refitted.classes_).index("no")]
    precision = sklearn_metrics.average_precision_score(y == "no", p_no)
    gap = fairlearn_metrics.demographic_parity_difference(y, (p_no >= 0.4).astype(int), sensitive_features=group)
    score = scorer(refitted, X, y, sensitive_features=group)
    assert score == pytest.approx(0.5 * precision + 0.5 * (1 - gap))


@pytest.mark.usefixtures("routing")
def test_one_scorer_suits_classifiers_and_regressors():
    X, y, group, _ = make_features(2)
    scorer = make_scorer(
        metrics.wasserstein_distance, response_method=("predict_proba", "predict"), greater_is_better=False
    ).set_score_request(sensitive_features=True)
    for model, response in ((LogisticRegression(), "predict_proba"), (LinearRegression(), "predict")):
        result = cross_validate(
            model, X, y, scoring=scorer, cv=KFold(2), params={"sensitive_features": group}, return_estimator=True
        )
        for fitted, value, (_, test) in zip(result["estimator"], result["test_score"], KFold(2).split(X), strict=True):
            score = getattr(fitted, response)(X[test])
            score = score[:, 1] if score.ndim == 2 else score
            member = group[test] == "a"
            expected = np.sqrt(ot.emd2_1d(score[member], score[~member], metric="sqeuclidean"))
            assert value == pytest.approx(-expected)


def test_metrics_and_scorers_can_be_pickled():
    for metric in METRICS.values():
        assert pickle.loads(pickle.dumps(metric)) == metric
        pickle.loads(pickle.dumps(make_scorer(metric.function)))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("name", list(OF_TWO))
def test_every_metric_is_a_scorer(name):
    X, y, group, _ = make_features(3)
    metric = METRICS[name]
    control = {"control_features": np.arange(len(y)) % 3} if metric.needs_control else {}
    model = LinearRegression() if name.startswith("mean_") else LogisticRegression()
    result = cross_validate(
        model, X, y, scoring=metrics.fairness_scorer(name), cv=KFold(2), params={"sensitive_features": group, **control}
    )["test_score"]
    for value, (train, test) in zip(result, KFold(2).split(X), strict=True):
        fitted = model.fit(X[train], y[train])
        if metric.kind == "label" or name.startswith("mean_"):
            y_pred = fitted.predict(X[test])
        else:
            y_pred = fitted.predict_proba(X[test])[:, 1]
        kept = {key: value[test] for key, value in control.items()}
        want = metric.function(y[test], y_pred, sensitive_features=group[test], **kept)
        assert value == pytest.approx(want if metric.greater_is_better else -want)


@pytest.mark.usefixtures("routing")
def test_scorers_take_weights_and_arguments_of_the_metric():
    X, y, group, weight = make_features(4)
    scorer = metrics.fairness_scorer("tradeoff_objective", sample_weight=True, alpha=0.3)
    model = LogisticRegression().set_fit_request(sample_weight=False)
    result = cross_validate(
        model, X, y, scoring=scorer, cv=[(np.arange(150), np.arange(150, 300))],
        params={"sensitive_features": group, "sample_weight": weight},
    )["test_score"]  # fmt: skip
    score = LogisticRegression().fit(X[:150], y[:150]).predict_proba(X[150:])[:, 1]
    want = metrics.tradeoff_objective(
        y[150:], score, sensitive_features=group[150:], sample_weight=weight[150:], alpha=0.3
    )
    assert result == pytest.approx([want])


def test_without_routing_scorers_say_what_to_do():
    with pytest.raises(RuntimeError, match=r"run: sklearn.set_config\(enable_metadata_routing=True\)"):
        metrics.fairness_scorer("roc_auc")
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"^metric='roc' is unknown"),
    ):
        metrics.fairness_scorer("roc")
