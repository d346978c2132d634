"""Metrics of several classes, against Fairlearn, SciPy and scikit-learn on one class at a time."""

import fairlearn.metrics as fairlearn_metrics
import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn import metrics as sklearn_metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_validate

from otfairboost import metrics
from otfairboost.metrics import METRICS, bootstrap_interval, fairness_scorer, metric_by_class
from otfairboost.metrics.gaps import find_gap

LABELS = np.array(["fair", "good", "poor"])
MANY = [name for name, metric in METRICS.items() if metric.classes == "many"]
MANY_LABEL = [name for name in MANY if METRICS[name].kind == "label"]


def make_grades(seed=0, n=300, n_groups=3):
    """True classes, predicted ones, probabilities that depend on the group, groups, weights."""
    rng = np.random.default_rng(seed)
    code = np.arange(n) % n_groups
    true = rng.integers(0, 3, n)
    raw = rng.normal(size=(n, 3)) + 0.8 * np.eye(3)[true] + 0.5 * code[:, None] * np.array([1, 0, -1])
    probability = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    return true, probability.argmax(axis=1), probability, np.array(list("abcd"))[code], rng.integers(1, 5, n) / 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
def test_demographic_parity_is_fairlearns_of_each_class(method, weighted):
    true, predicted, _, group, weight = make_grades(1)
    true, predicted = LABELS[true], LABELS[predicted]
    keywords = {"sensitive_features": group, "sample_weight": weight if weighted else None, "method": method}
    differences, ratios = (
        [compute((true == label).astype(int), (predicted == label).astype(int), **keywords) for label in LABELS]
        for compute in (fairlearn_metrics.demographic_parity_difference, fairlearn_metrics.demographic_parity_ratio)
    )
    by_class = metric_by_class("demographic_parity_difference", true, predicted, **keywords)
    assert by_class == pytest.approx(dict(zip(LABELS.tolist(), differences, strict=True)))
    difference, ratio = (
        metrics.multiclass_demographic_parity_difference,
        metrics.multiclass_demographic_parity_ratio,
    )
    assert difference(true, predicted, **keywords) == pytest.approx(max(differences))
    assert difference(true, predicted, agg="mean", **keywords) == pytest.approx(np.mean(differences))
    assert ratio(true, predicted, **keywords) == pytest.approx(min(ratios))
    assert ratio(None, predicted, agg="mean", **keywords) == pytest.approx(np.mean(ratios))
    if method == "between_groups":
        del keywords["method"]
        assert metrics.multiclass_demographic_parity_mean(true, predicted, **keywords) == np.mean(
            list(by_class.values())
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_equalized_odds_is_fairlearns_parity_among_the_rows_of_each_class(weighted):
    true, predicted, _, group, weight = make_grades(2)
    expected = []
    for label in range(3):
        rows = true == label
        for decision in range(3):
            expected.append(
                fairlearn_metrics.demographic_parity_difference(
                    true[rows] == decision, (predicted[rows] == decision).astype(int),
                    sensitive_features=group[rows], sample_weight=weight[rows] if weighted else None,
                )
            )  # fmt: skip
    keywords = {"sensitive_features": group, "sample_weight": weight if weighted else None}
    compute = metrics.multiclass_equalized_odds_difference
    assert compute(LABELS[true], LABELS[predicted], **keywords) == pytest.approx(max(expected))
    assert compute(true, predicted, agg="mean", **keywords) == pytest.approx(np.mean(expected))


def test_with_two_classes_they_are_those_of_two():
    true, predicted, _, group, weight = make_grades(3)
    true, predicted = (true > 1).astype(int), (predicted > 1).astype(int)
    keywords = {"sensitive_features": group, "sample_weight": weight}
    for name in ("demographic_parity_difference", "equalized_odds_difference"):
        many = METRICS[f"multiclass_{name}"].function(true, predicted, **keywords)
        assert many == pytest.approx(METRICS[name].function(true, predicted, **keywords))


def test_distances_between_distributions_of_each_class():
    true, _, probability, group, _ = make_grades(4, n_groups=2)
    member = group == "a"
    keywords = {"sensitive_features": group}
    distances = []
    for column in probability.T:  # equal numbers of rows: sorted rows are matched
        distances.append(np.sqrt(np.mean(np.square(np.sort(column[member]) - np.sort(column[~member])))))
    statistics = [stats.ks_2samp(column[member], column[~member]).statistic for column in probability.T]
    assert metrics.multiclass_wasserstein_distance(true, probability, **keywords) == pytest.approx(max(distances))
    assert metrics.multiclass_wasserstein_mean(None, probability, **keywords) == pytest.approx(np.mean(distances))
    assert metrics.multiclass_kolmogorov_smirnov(true, probability, **keywords) == pytest.approx(max(statistics))
    by_class = metric_by_class("wasserstein_distance", LABELS[true], probability, **keywords)
    assert by_class == pytest.approx(dict(zip(LABELS.tolist(), distances, strict=True)))


def test_log_loss_is_scikit_learns():
    true, _, probability, _, weight = make_grades(5)
    compute = metrics.multiclass_log_loss
    expected = sklearn_metrics.log_loss(true, probability, sample_weight=weight)
    assert compute(LABELS[true], probability, sample_weight=weight) == pytest.approx(expected)
    shuffled = compute(LABELS[true], probability[:, [2, 0, 1]], sample_weight=weight, labels=LABELS[[2, 0, 1]])
    assert shuffled == pytest.approx(expected)
    some = true < 2  # a class that no row has still has its column
    expected = sklearn_metrics.log_loss(true[some], probability[some], labels=[0, 1, 2])
    assert compute(true[some], probability[some]) == pytest.approx(expected)
    single = probability.astype(np.float32)
    assert compute(true, single) == pytest.approx(sklearn_metrics.log_loss(true, probability), rel=1e-6)


def test_probabilities_decide_by_the_largest():
    true, predicted, probability, group, weight = make_grades(6)
    for name in (*MANY_LABEL, "accuracy"):
        metric = METRICS[name]
        value = metric.from_scores(true, probability, sensitive_features=group, sample_weight=weight, threshold=0.5)
        extra = {"sensitive_features": group, "sample_weight": weight}
        assert value == metric.function(true, predicted, **extra)


def test_perfect_parity_has_no_gap():
    true, predicted, probability, _, _ = make_grades(7, n=120)
    group = np.repeat(["left", "right"], 120)
    for name in MANY:
        metric = METRICS[name]
        if metric.needs_groups:
            y_pred = predicted if metric.kind == "label" else probability
            twice = metric.function(np.tile(true, 2), np.concatenate([y_pred] * 2), sensitive_features=group)
            assert twice == pytest.approx(1.0 if metric.greater_is_better else 0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["multiclass_demographic_parity_difference", "multiclass_wasserstein_distance"])
def test_bootstrap_interval_of_several_classes(name):
    true, _, probability, group, weight = make_grades(8)
    interval = bootstrap_interval(
        name, true, probability, sensitive_features=group, sample_weight=weight, n_resamples=60
    )
    value = METRICS[name].from_scores(true, probability, sensitive_features=group, sample_weight=weight)
    assert interval.value == pytest.approx(value)
    assert interval.low < value < interval.high  # of such a gap at this size


@pytest.mark.parametrize(
    ("fairness", "name"),
    [
        ("demographic_parity", "multiclass_demographic_parity_difference"),
        ("equalized_odds", "multiclass_equalized_odds_difference"),
    ],
)
def test_the_gap_of_a_criterion(fairness, name):
    choice = {"fairness": fairness, "classification": True, "several_classes": True}
    assert find_gap("gap_metric", None, **choice).name == name
    with pytest.raises(ValueError, match="gap_metric='wasserstein_distance' is not a gap; allowed are 'multiclass_dem"):
        find_gap("gap_metric", "wasserstein_distance", **choice)
    with pytest.raises(
        ValueError, match=r"gap_metric='multiclass_.* is not a gap; allowed are .*'demographic_parity_d"
    ):
        find_gap("gap_metric", name, fairness=fairness, classification=True)


@pytest.mark.parametrize("name", ["multiclass_demographic_parity_difference", "multiclass_wasserstein_mean"])
def test_they_are_scorers(name):
    true, _, probability, group, _ = make_grades(9)
    X = probability[:, :2]
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(
            LogisticRegression(), X, LABELS[true], scoring=fairness_scorer(name), cv=KFold(2),
            params={"sensitive_features": group},
        )["test_score"]  # fmt: skip
    for score, (train, test) in zip(scores, KFold(2).split(X), strict=True):
        fitted = LogisticRegression().fit(X[train], LABELS[true[train]])
        y_pred = fitted.predict(X[test]) if METRICS[name].kind == "label" else fitted.predict_proba(X[test])
        assert score == -METRICS[name].function(LABELS[true[test]], y_pred, sensitive_features=group[test])


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        *((name, {"y_pred": [0.2, 0.5, 0.7, 1.0]}, "y_pred holds 0.2; allowed are classes") for name in MANY_LABEL),
        ("multiclass_equalized_odds_difference", {"y_true": [0, 1, 2]}, "y_true has 3 rows, but y_pred has 4"),
        ("multiclass_equalized_odds_difference", {"y_true": None}, r"y_true has shape \(\)"),
        ("multiclass_demographic_parity_difference", {"y_true": [0, 1, 2]}, "y_true has 3 rows, but y_pred has 4"),
        ("multiclass_demographic_parity_difference", {"y_pred": ["a", None, "b", "b"]}, "y_pred holds missing values"),
        ("multiclass_demographic_parity_difference", {"agg": "max"}, "agg='max' is unknown; allowed are 'worst_case'"),
        ("multiclass_demographic_parity_difference", {"sensitive_features": ["a"] * 4}, "must hold at least 2 group"),
        (
            "multiclass_wasserstein_distance",
            {"y_pred": [0.1, 0.2, 0.3, 0.4]},
            r"y_pred has shape \(4,\); allowed is one",
        ),
        ("multiclass_log_loss", {"y_pred": np.full((4, 2), 0.5)}, "y_pred has 2 columns for the classes .0, 1, 2."),
        ("multiclass_log_loss", {"y_pred": np.full((4, 2), 0.5), "labels": [0, 1]}, "y_true holds .2., but y_pred has"),
        ("multiclass_log_loss", {"y_pred": np.full((3, 3), 0.3)}, "y_true has 4 rows, but y_pred has 3"),
    ],
)
def test_bad_input_is_refused(name, changes, message):
    arguments = {"y_true": [0, 1, 2, 0], "y_pred": [0, 1, 2, 1], "sensitive_features": list("aabb")} | changes
    with pytest.raises(ValueError, match=message):
        METRICS[name].function(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def test_by_class_takes_metrics_of_two():
    with pytest.raises(ValueError, match="metric='multiclass_log_loss' is one of several classes already"):
        metric_by_class("multiclass_log_loss", [0, 1], [0, 1], sensitive_features=[0, 1])
