"""Fairness itself: on generated rows the gap that a criterion names falls as its weight grows, on fresh rows too.

Gaps are computed here from scores and decisions, not by the library.
"""

import lightgbm as lgb
import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from estimators.samples import STEADY, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor

PARAMS = {**STEADY, "n_estimators": 50, "num_leaves": 8, "min_child_samples": 40}
THREE = ("blue", "green", "red")


@pytest.fixture(scope="module")
def loans():
    return make_loans(2500, proxy=3.0), make_loans(5000, seed=1, proxy=3.0)


@pytest.fixture(scope="module")
def many_loans():
    return make_loans(2500, groups=THREE), make_loans(5000, seed=1, groups=THREE)


@pytest.fixture(scope="module")
def wages():
    return make_wages(2500, proxy=3.0), make_wages(5000, seed=1, proxy=3.0)


def fit(model, sample, **arguments):
    return model.fit(sample.X, sample.y, sensitive_features=sample.groups, **arguments)


def spread(values, groups, rows=slice(None)):
    """Return the largest difference between the groups' means."""
    return np.ptp([values[rows][groups[rows] == group].mean() for group in np.unique(groups)])


def quantile_distance(values, groups):
    """Return the largest W2 between two groups, by their quantiles at common levels."""
    levels = (np.arange(400) + 0.5) / 400
    quantiles = [np.quantile(values[groups == group], levels) for group in np.unique(groups)]
    return max(np.sqrt(np.mean((a - b) ** 2)) for a in quantiles for b in quantiles)


GAPS = {
    "demographic_parity": lambda d, s: spread(d, s.groups),
    "equalized_odds": lambda d, s: max(spread(d, s.groups, s.y == 1), spread(d, s.groups, s.y == 0)),
    "true_positive_rate_parity": lambda d, s: spread(d, s.groups, s.y == 1),
    "false_positive_rate_parity": lambda d, s: spread(d, s.groups, s.y == 0),
}
COMBINATIONS = [  # transport, multi_group, groups, focus
    ("histogram", "one_vs_rest", 2, 1.0),
    ("histogram", "one_vs_rest", 3, 4.0),
    ("histogram", "barycenter", 3, 1.0),
    ("exact", "one_vs_rest", 3, 1.0),
    ("exact", "barycenter", 2, 4.0),
    ("kde", "one_vs_rest", 2, 4.0),
    ("kde", "barycenter", 3, 1.0),
]


@pytest.mark.parametrize(("transport", "multi_group", "n_groups", "focus"), COMBINATIONS)
@pytest.mark.parametrize("criterion", GAPS)
def test_the_gap_of_each_criterion_falls(criterion, transport, multi_group, n_groups, focus, loans, many_loans):
    sample, fresh = loans if n_groups == 2 else many_loans
    ways = {"fairness": criterion, "transport": transport, "multi_group": multi_group, "focus": focus}
    plain = fit(FairLGBMClassifier(**PARAMS, fairness_weight=0), sample)
    fair = fit(FairLGBMClassifier(**PARAMS, **ways, fairness_weight=8.0 if focus == 1 else 2.0), sample)
    for rows, remaining in ((sample, 0.5), (fresh, 0.6)):
        before, after = (
            GAPS[criterion]((model.predict_proba(rows.X)[:, 1] >= 0.5).astype(float), rows) for model in (plain, fair)
        )
        assert before > 0.12
        assert after < remaining * before
    # Fair, and still of use: it ranks, and it selects.
    p, p_plain = (model.predict_proba(fresh.X)[:, 1] for model in (fair, plain))
    assert roc_auc_score(fresh.y, p) > roc_auc_score(fresh.y, p_plain) - 0.08
    assert 0.1 < (p >= 0.5).mean() < 0.9


@pytest.mark.parametrize("transport", ["histogram", "exact", "kde"])
def test_the_distance_falls_with_the_weight(transport, loans):
    sample, fresh = loans
    scores = [
        fit(FairLGBMClassifier(**PARAMS, fairness_weight=weight, transport=transport), sample).predict_proba(X)[:, 1]
        for X in (sample.X, fresh.X)
        for weight in (0, 1.0, 4.0, 16.0, 64.0)
    ]
    distances = [quantile_distance(p, sample.groups) for p in scores[:5]]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.1 * distances[0]
    distances = [quantile_distance(p, fresh.groups) for p in scores[5:]]
    assert distances[0] > distances[1] > distances[2] > 1.5 * distances[4]
    aucs = [roc_auc_score(sample.y, p) for p in scores[:5]]
    assert aucs == sorted(aucs, reverse=True)  # what it costs


@pytest.mark.parametrize("objective", ["regression", "regression_l1", "huber"])
@pytest.mark.parametrize("transport", ["histogram", "exact", "kde"])
def test_regression_distances_fall_with_the_weight(objective, transport, wages):
    sample, fresh = wages
    params = {**PARAMS, "objective": objective, "alpha": 2.0, "transport": transport}
    predictions = [
        fit(FairLGBMRegressor(**params, fairness_weight=weight), sample).predict(fresh.X) for weight in (0, 1.0, 8.0)
    ]
    distances = [quantile_distance(z, fresh.groups) for z in predictions]
    assert distances[1] < 0.3 * distances[0]
    assert distances[2] < 0.6 * distances[1]
    green = fresh.groups == "green"
    ks = [ks_2samp(z[green], z[~green]).statistic for z in predictions]
    assert max(ks[1:]) < 0.4 * ks[0]
    errors = [np.abs(z - fresh.y).mean() for z in predictions]
    assert errors[0] < errors[1] < 0.8 * np.abs(fresh.y - np.median(sample.y)).mean()


def test_the_weight_means_the_same_for_any_number_of_rows(loans):
    sample, fresh = loans
    doubled = type(sample)(*(np.concatenate([column, column]) for column in sample))
    params = PARAMS | {"fairness_weight": 4.0, "min_child_samples": 1, "min_child_weight": 0.0, "max_bin": 63}
    once = fit(FairLGBMClassifier(**params), sample).predict_proba(fresh.X)
    twice = fit(FairLGBMClassifier(**params), doubled).predict_proba(fresh.X)
    assert np.abs(once - twice).mean() < 0.01


def test_a_row_of_weight_2_is_two_rows(loans):
    # Few values a column, so that LightGBM's bins are the same for both.
    sample = loans[0]._replace(X=np.round(2 * np.nan_to_num(loans[0].X)))
    heavy = sample.X[:, 0] > 0
    again = type(sample)(*(np.concatenate([column, column[heavy]]) for column in sample))
    params = {"fairness_weight": 4.0, "transport": "exact", "min_child_samples": 1, "min_data_in_bin": 1,
              "n_estimators": 5}  # fmt: skip
    weighted = fit(FairLGBMClassifier(**PARAMS | params), sample, sample_weight=np.where(heavy, 2.0, 1.0))
    repeated, unweighted = (fit(FairLGBMClassifier(**PARAMS | params), rows) for rows in (again, sample))
    want = repeated.predict_proba(sample.X)
    np.testing.assert_allclose(weighted.predict_proba(sample.X), want, rtol=0, atol=1e-9)
    assert np.abs(unweighted.predict_proba(sample.X) - want).max() > 0.01


def test_class_weights_do_not_count_in_the_distributions(loans):
    # They weigh the loss alone: with a loss that hardly counts, distributions meet where they met without them.
    sample, _ = loans
    fair = {"fairness_weight": 1e6, "n_estimators": 1, "metric": "fairness_penalty", "transport": "exact"}
    penalties = [
        fit(FairLGBMClassifier(**PARAMS | fair, class_weight=class_weight), sample, eval_X=sample.X, eval_y=sample.y,
            init_score=np.nan_to_num(sample.X[:, 3])).evals_result_["training"]["fairness_penalty"][0]
        for class_weight in (None, {0: 1.0, 1: 9.0})
    ]  # fmt: skip
    assert penalties[1] == pytest.approx(penalties[0], rel=1e-3)


def test_group_weighting_by_size_neglects_a_small_group():
    sample = make_loans(3000, groups=THREE)
    kept = (sample.groups != "red") | (np.arange(3000) % 8 == 0)
    sample = sample.part(kept)
    gaps = {}
    for weighting in ("equal", "size"):
        model = fit(FairLGBMClassifier(**PARAMS, fairness_weight=3.0, group_weighting=weighting), sample)
        p = model.predict_proba(sample.X)[:, 1]
        gaps[weighting] = abs(p[sample.groups == "red"].mean() - p[sample.groups != "red"].mean())
    assert gaps["equal"] < gaps["size"]


def test_groups_need_not_be_a_feature_and_may_be_one(loans):
    sample, _ = loans
    with_group = sample._replace(X=np.column_stack([sample.X, sample.groups == "green"]))
    for rows in (sample, with_group):
        plain = lgb.LGBMClassifier(**PARAMS).fit(rows.X, rows.y)
        fair = fit(FairLGBMClassifier(**PARAMS, fairness_weight=16.0), rows)
        gaps = [quantile_distance(m.predict_proba(rows.X)[:, 1], rows.groups) for m in (plain, fair)]
        assert gaps[1] < 0.3 * gaps[0]


@pytest.mark.parametrize(
    "params",
    [{"boosting_type": "dart"}, {"linear_tree": True}, {"colsample_bytree": 0.6}, {"data_sample_strategy": "goss"},
     {"subsample": 0.5, "subsample_freq": 1}],
)  # fmt: skip
def test_every_kind_of_boosting_becomes_fairer(params, loans):
    sample, fresh = loans
    gaps = [
        quantile_distance(
            fit(FairLGBMClassifier(**PARAMS | params, fairness_weight=w), sample).predict_proba(fresh.X)[:, 1],
            fresh.groups,
        )
        for w in (0, 8.0)
    ]
    assert gaps[1] < 0.6 * gaps[0]


@pytest.mark.parametrize("learning_rate", [0.3, 0.7, 1.0])
def test_groups_that_start_apart_meet_without_passing_each_other(learning_rate):
    """With less curvature than twice the learning rate they would change places in every round."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 4000)
    X = np.column_stack([rng.normal(size=(4000, 3)), groups])
    apart = 2.0 * groups
    y = X[:, 0] + 0.3 * rng.normal(size=4000) + apart
    model = FairLGBMRegressor(
        **{**PARAMS, "n_estimators": 12, "num_leaves": 31}, fairness_weight=100, learning_rate=learning_rate
    )
    model.fit(X, y, sensitive_features=groups, init_score=apart)
    gaps = np.array(
        [
            np.diff([(apart + model.predict(X, num_iteration=k))[groups == g].mean() for g in (0, 1)])[0]
            for k in range(1, 13)
        ]
    )
    assert gaps.min() > -0.1
    assert abs(gaps[-1]) < 0.1
