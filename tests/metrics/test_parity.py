import fairlearn.metrics as fairlearn_metrics
import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame

from metric_rows import SEEDS_AND_GROUPS, make_rows, one_vs_rest
from otfairboost import metrics


@pytest.mark.parametrize(("seed", "n_groups"), SEEDS_AND_GROUPS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize(
    "name",
    [
        "demographic_parity_difference",
        "demographic_parity_ratio",
        "true_positive_rate_difference",
        "false_positive_rate_difference",
        "equalized_odds_difference",
    ],
)
def test_label_metrics_agree_with_fairlearn(name, method, weighted, seed, n_groups):
    y, decision, _, group, weight = make_rows(seed, n_groups)
    keywords = {"sensitive_features": group, "method": method, "sample_weight": weight if weighted else None}
    expected = getattr(fairlearn_metrics, name)(y, decision, **keywords)
    assert getattr(metrics, name)(y, decision, **keywords) == pytest.approx(expected, abs=1e-12)
    assert expected not in (0.0, 1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_equalized_odds_mean_agrees_with_fairlearn(weighted):
    y, decision, _, group, weight = make_rows(1, 4)
    keywords = {"sensitive_features": group, "agg": "mean", "sample_weight": weight if weighted else None}
    expected = fairlearn_metrics.equalized_odds_difference(y, decision, **keywords)
    assert metrics.equalized_odds_difference(y, decision, **keywords) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("seed", "n_groups"), SEEDS_AND_GROUPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_equalized_odds_sum_is_the_sum_of_fairlearns_gaps(weighted, seed, n_groups):
    y, decision, _, group, weight = make_rows(seed, n_groups)
    keywords = {"sensitive_features": group, "sample_weight": weight if weighted else None}
    expected = fairlearn_metrics.true_positive_rate_difference(
        y, decision, **keywords
    ) + fairlearn_metrics.false_positive_rate_difference(y, decision, **keywords)
    assert metrics.equalized_odds_sum(y, decision, **keywords) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("seed", "n_groups"), SEEDS_AND_GROUPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_vs_rest_is_fairlearns_gap_of_the_worst_split(weighted, seed, n_groups):
    y, decision, _, group, weight = make_rows(seed, n_groups)
    weight = weight if weighted else None

    def worst(metric, choose):
        return choose(
            metric(y, decision, sensitive_features=member, sample_weight=weight) for member in one_vs_rest(group)
        )

    keywords = {"sensitive_features": group, "sample_weight": weight}
    gap = worst(fairlearn_metrics.demographic_parity_difference, max)
    assert metrics.one_vs_rest_demographic_parity(y, decision, **keywords) == pytest.approx(gap, abs=1e-12)
    ratio = worst(fairlearn_metrics.demographic_parity_ratio, min)
    keywords["method"] = "one_vs_rest"
    assert metrics.demographic_parity_ratio(y, decision, **keywords) == pytest.approx(ratio, abs=1e-12)
    odds = worst(fairlearn_metrics.equalized_odds_difference, max)
    assert metrics.equalized_odds_difference(y, decision, **keywords) == pytest.approx(odds, abs=1e-12)


def test_a_group_without_positives_counts_as_rate_0_as_in_fairlearn():
    y, decision, group = [1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 1], list("aaabbb")
    for name in ("true_positive_rate_difference", "equalized_odds_difference"):
        ours = getattr(metrics, name)(y, decision, sensitive_features=group)
        assert ours == pytest.approx(getattr(fairlearn_metrics, name)(y, decision, sensitive_features=group))
    assert metrics.true_positive_rate_difference(y, decision, sensitive_features=group) == 0.5
    assert metrics.true_positive_rate([0, 0], [1, 0]) == fairlearn_metrics.true_positive_rate([0, 0], [1, 0]) == 0
    assert metrics.false_positive_rate([1, 1], [1, 0]) == fairlearn_metrics.false_positive_rate([1, 1], [1, 0]) == 0
    rates = metrics.group_rates(y, decision, sensitive_features=group, rate="true_positive_rate")
    assert rates["a"] == 0.5
    assert np.isnan(rates["b"])


def test_ratio_where_nobody_is_selected_is_nan_as_in_fairlearn():
    for method in ("between_groups", "to_overall"):
        keywords = {"sensitive_features": list("aabb"), "method": method}
        assert np.isnan(fairlearn_metrics.demographic_parity_ratio([0] * 4, [0] * 4, **keywords))
        assert np.isnan(metrics.demographic_parity_ratio([0] * 4, [0] * 4, **keywords))
    assert metrics.demographic_parity_ratio([0] * 4, [1, 0, 0, 0], sensitive_features=list("aabb")) == 0


def test_metric_frame_takes_the_rates():
    y, decision, _, group, weight = make_rows(2, 3)
    names = ("selection_rate", "true_positive_rate", "false_positive_rate")
    keywords = {"y_true": y, "y_pred": decision, "sensitive_features": group}
    keywords["sample_params"] = {name: {"sample_weight": weight} for name in names}
    frame = MetricFrame(metrics={name: getattr(metrics, name) for name in names}, **keywords)
    expected = MetricFrame(metrics={name: getattr(fairlearn_metrics, name) for name in names}, **keywords)
    pd.testing.assert_frame_equal(frame.by_group, expected.by_group)
    pd.testing.assert_series_equal(frame.overall, expected.overall)
    for name in names:
        rates = metrics.group_rates(y, decision, sensitive_features=group, rate=name, sample_weight=weight)
        assert rates == pytest.approx(expected.by_group[name].to_dict())


def test_metric_frame_takes_a_fairness_metric_of_another_feature():
    y, decision, _, group, weight = make_rows(3, 2)
    region = np.where(np.arange(len(y)) % 3 == 0, "north", "south")
    frame = MetricFrame(
        metrics={"dp": metrics.demographic_parity_difference, "w2": metrics.wasserstein_distance},
        y_true=y,
        y_pred=decision,
        sensitive_features=region,
        sample_params={name: {"sensitive_features": group, "sample_weight": weight} for name in ("dp", "w2")},
    )
    north = region == "north"
    expected = fairlearn_metrics.demographic_parity_difference(
        y[north], decision[north], sensitive_features=group[north], sample_weight=weight[north]
    )
    assert frame.by_group["dp"]["north"] == pytest.approx(expected)
    # On decisions, W2^2 is the share of mass that moves from 0 to 1: the demographic parity gap.
    assert frame.by_group["w2"]["north"] == pytest.approx(np.sqrt(expected))
