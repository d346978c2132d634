import numpy as np
import pandas as pd
import pytest

from metric_rows import FAIRNESS, LABEL, SCORE
from otfairboost import metrics
from otfairboost.metrics import METRICS


def check_error(metric, kind, message, y_true=(0, 1, 0, 1), y_pred=(0, 1, 1, 0), **keywords):
    keywords = {"sensitive_features": list("aabb")} | keywords
    with pytest.raises(kind, match=message):
        metric(y_true, y_pred, **keywords)


@pytest.mark.parametrize("name", FAIRNESS)
@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"y_true": [0, 1, 0]}, "y_true has 3 rows, but y_pred has 4"),
        ({"sensitive_features": list("aab")}, "sensitive_features has 3 rows, but y_pred has 4"),
        ({"sample_weight": [1, 1, 1, 1, 1]}, "sample_weight has 5 rows, but y_pred has 4"),
        ({"sample_weight": [1, 1, 1, -2]}, "sample_weight lies between -2.0 and 1.0; no weight may be negative"),
        ({"sample_weight": [0, 0, 0, 0]}, "sample_weight lies between 0.0 and 0.0.*one must be positive"),
        ({"sample_weight": [1, 1, 1, np.nan]}, "sample_weight holds 1 NaN"),
        ({"sensitive_features": list("aaaa")}, "sensitive_features must hold at least 2 .* found 1: a$"),
        ({"sensitive_features": [None] * 4}, "sensitive_features must hold at least 2 .* found 0: none"),
        ({"sample_weight": [1, 1, 0, 0]}, "at least 2 .* of positive weight, found 1: a"),
        ({"sensitive_features": None}, "sensitive_features is None"),
        ({"y_pred": np.zeros((4, 2))}, r"y_pred has shape \(4, 2\).*one column"),
        ({"y_true": [], "y_pred": [], "sensitive_features": []}, r"y_pred has shape \(0,\).*at least one row"),
    ],
)
def test_errors_of_all_metrics(name, keywords, message):
    check_error(METRICS[name].function, ValueError, message, **keywords)


@pytest.mark.parametrize("name", LABEL)
@pytest.mark.parametrize(
    ("y_pred", "message"),
    [
        ([0.1, 0.9, 0.4, 0.3], "y_pred holds 0.1, 0.9, 0.4, 0.3 besides pos_label=1.*threshold"),
        ([0.5, 1.0, 1.0, 0.5], "y_pred holds 0.5 besides pos_label=1"),
        ([0.5, 0.5, 0.5, 0.5], "y_pred holds 0.5 besides pos_label=1"),
        ([0, 1, 2, 1], "y_pred holds 0, 2 besides pos_label=1"),
        (["no", "yes", "no", "yes"], "y_pred holds 'no', 'yes' besides pos_label=1.*set pos_label"),
        (["no"] * 4, "y_pred holds 'no' besides pos_label=1"),
        ([0, 1, np.nan, 1], "y_pred holds 0.0, nan besides pos_label=1"),
        ([None, 1, None, 1], "y_pred holds None besides pos_label=1"),
        (pd.array([True, False, None, True], dtype="boolean"), "y_pred holds missing values"),
    ],
    ids=str,
)
def test_decisions_must_be_two_labels(name, y_pred, message):
    check_error(METRICS[name].function, ValueError, message, y_pred=y_pred)


@pytest.mark.parametrize(
    "name",
    [
        "true_positive_rate_difference",
        "false_positive_rate_difference",
        "equalized_odds_difference",
        "equalized_odds_sum",
    ],
)
def test_true_labels_must_be_the_same_two(name):
    metric = METRICS[name].function
    check_error(metric, ValueError, "y_true holds 0, 2 besides pos_label=1", y_true=[0, 1, 2, 1])
    check_error(metric, ValueError, "pos_label=1 y_true has -1 and y_pred 0; both", y_true=[-1, 1, -1, 1])
    check_error(metric, ValueError, "y_true has shape", y_true=None)


@pytest.mark.parametrize("name", ["demographic_parity_difference", "demographic_parity_ratio", *SCORE])
def test_true_labels_are_ignored(name):
    y_pred = [0, 1, 0, 0]
    values = {
        METRICS[name].function(y_true, y_pred, sensitive_features=list("aabb"))
        for y_true in (None, [0, 1, 1, 0], [0.5, 2, 7, np.nan], list("wxyz"))
    }
    assert len(values) == 1


@pytest.mark.parametrize("name", SCORE)
def test_scores_must_be_finite_numbers(name):
    metric = METRICS[name].function
    check_error(metric, ValueError, "y_pred holds 2 NaN or infinite values", y_pred=[0.1, np.nan, np.inf, 0])
    check_error(metric, TypeError, "y_pred has dtype <U3; allowed are numbers", y_pred=["0.1", "0.2", "0.3", "0.4"])


def test_unknown_choices():
    check_error(
        metrics.demographic_parity_difference, ValueError, "method='max' is unknown.*'to_overall'", method="max"
    )
    check_error(metrics.demographic_parity_ratio, ValueError, "method='max' is unknown", method="max")
    check_error(metrics.equalized_odds_difference, ValueError, "agg='max' is unknown.*'worst_case'", agg="max")
    check_error(metrics.group_rates, ValueError, "rate='tpr' is unknown.*'true_positive_rate'", rate="tpr")
    with pytest.raises(ValueError, match=r"metric='auc' is unknown; allowed are .*'roc_auc'"):
        metrics.get_metric("auc")


@pytest.mark.parametrize(
    ("keywords", "kind", "message"),
    [
        ({"alpha": 1.5}, ValueError, "alpha=1.5 is not allowed; it must lie between 0 and 1"),
        ({"alpha": -0.1}, ValueError, "alpha=-0.1"),
        ({"alpha": np.nan}, ValueError, "alpha=nan"),
        ({"performance": "auc"}, ValueError, "performance='auc' is unknown; allowed are .*'roc_auc'"),
        ({"fairness": "dp"}, ValueError, "fairness='dp' is unknown"),
        ({"fairness": 3}, TypeError, "fairness is a int; allowed are a name, a Metric and a function"),
        ({"y_pred": [0.1, 0.2, 0.3, np.nan]}, ValueError, "y_score holds 1 NaN"),
        ({"pos_label": "yes"}, ValueError, "y_true holds 0, 1 besides pos_label='yes'"),
    ],
)
def test_tradeoff_errors(keywords, kind, message):
    check_error(metrics.tradeoff_objective, kind, message, **keywords)
