"""Gaps inside strata, against Fairlearn's frames and plain loops."""

import re

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from fairlearn.metrics import selection_rate as fairlearn_selection_rate
from scipy import stats

from metric_rows import make_rows
from oracles import pot_distance
from otfairboost import metrics


def make_controlled(seed, n_groups=2):
    y, decision, score, group, weight = make_rows(seed, n_groups, n=400)
    rng = np.random.default_rng(seed + 90)
    return y, decision, score, group, weight, rng.choice(["sales", "it", "law"], 400), rng.integers(0, 2, 400)


@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize(("seed", "n_groups"), [(0, 2), (1, 3)])
def test_difference_is_that_of_fairlearns_frame(seed, n_groups, method):
    y, decision, _, group, weight, department, level = make_controlled(seed, n_groups)
    control = pd.DataFrame({"department": department, "level": level})
    frame = MetricFrame(
        metrics=fairlearn_selection_rate, y_true=y, y_pred=decision, sensitive_features=group, control_features=control,
        sample_params={"sample_weight": weight},
    )  # fmt: skip
    by_stratum = frame.difference(method=method)
    keywords = {"sensitive_features": group, "control_features": control, "sample_weight": weight, "method": method}
    worst = metrics.conditional_demographic_parity_difference(y, decision, **keywords)
    assert worst == pytest.approx(by_stratum.max())
    mean = metrics.conditional_demographic_parity_difference(y, decision, agg="mean", **keywords)
    shares = pd.Series(weight).groupby([department, level]).sum()
    assert mean == pytest.approx(np.average(by_stratum, weights=shares.loc[by_stratum.index]))


def ks(a, b, wa, wb):
    points = np.concatenate([a, b])
    return max(abs(wa[a <= t].sum() / wa.sum() - wb[b <= t].sum() / wb.sum()) for t in points)


@pytest.mark.parametrize("agg", ["worst_case", "mean"])
def test_distances_of_scores_stratum_by_stratum(agg):
    y, _, score, group, weight, department, _ = make_controlled(2)
    distances, gaps, shares = [], [], []
    for one in np.unique(department):
        a, b = ((department == one) & (group == label) for label in "ab")
        distances.append(np.sqrt(pot_distance(score[a], score[b], weight[a], weight[b])))
        gaps.append(ks(score[a], score[b], weight[a], weight[b]))
        shares.append(weight[department == one].sum())
    keywords = {"sensitive_features": group, "control_features": department, "sample_weight": weight, "agg": agg}
    join = max if agg == "worst_case" else lambda values: np.average(values, weights=shares)
    assert metrics.conditional_wasserstein_distance(y, score, **keywords) == pytest.approx(join(distances))
    assert metrics.conditional_kolmogorov_smirnov(y, score, **keywords) == pytest.approx(join(gaps))


@pytest.mark.parametrize("bins", [4, [10.0, 25.0]])
def test_binned_equalized_odds_by_pandas_and_scipy(bins):
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b"], 500)
    y = rng.normal(20, 8, 500)
    score = y + rng.normal(size=500) + (group == "b")
    interval = pd.qcut(y, 4, labels=False) if bins == 4 else pd.cut(y, [-np.inf, 10, 25, np.inf], labels=False)
    parts = [(score[(interval == k) & (group == "a")], score[(interval == k) & (group == "b")]) for k in range(4)]
    parts = [(a, b) for a, b in parts if len(a)]
    got = metrics.binned_equalized_odds_difference(y, score, sensitive_features=group, target_bins=bins)
    assert got == pytest.approx(max(stats.ks_2samp(a, b).statistic for a, b in parts), abs=0.02 if bins == 4 else 1e-12)
    got = metrics.binned_equalized_odds_wasserstein(y, score, sensitive_features=group, target_bins=[10.0, 25.0])
    interval = np.digitize(y, [10, 25])
    expected = [
        pot_distance(score[(interval == k) & (group == "a")], score[(interval == k) & (group == "b")]) for k in range(3)
    ]
    assert got == pytest.approx(np.sqrt(max(expected)))


@pytest.mark.parametrize("name", ["binned_equalized_odds_difference", "binned_equalized_odds_wasserstein"])
def test_a_row_of_weight_w_is_w_rows(name):
    rng = np.random.default_rng(6)
    y, score, group, times = (
        rng.normal(size=90),
        rng.normal(size=90),
        rng.choice(["a", "b"], 90),
        rng.integers(0, 4, 90),
    )
    metric = getattr(metrics, name)
    weighted = metric(y, score, sensitive_features=group, sample_weight=times)
    repeated = metric(*(np.repeat(one, times) for one in (y, score)), sensitive_features=np.repeat(group, times))
    assert weighted == pytest.approx(repeated)


def test_strata_of_one_group_and_missing_controls_do_not_count():
    y = [1, 0, 1, 0, 1, 1]
    group, control = list("ababaa"), ["x", "x", None, "x", "y", "y"]
    got = metrics.conditional_demographic_parity_difference(y, y, sensitive_features=group, control_features=control)
    assert got == 1.0
    same = metrics.conditional_demographic_parity_difference(
        [1, 0, 0], [1, 0, 0], sensitive_features=list("aba"), control_features=list("xxx"), agg="mean"
    )
    assert same == 0.5


def test_controls_can_be_binned():
    y, decision, _, group, _, _, _ = make_controlled(3)
    income = np.random.default_rng(0).gamma(2.0, size=400)
    binned = metrics.conditional_demographic_parity_difference(
        y, decision, sensitive_features=group, control_features=income, control_bins=[1.0, 2.0]
    )
    by_hand = metrics.conditional_demographic_parity_difference(
        y, decision, sensitive_features=group, control_features=np.digitize(income, [1.0, 2.0])
    )
    assert binned == by_hand
    with pytest.raises(
        ValueError, match=r"^control_features has 400 distinct values, at most 100 make sense as strata"
    ):
        metrics.conditional_wasserstein_distance(y, income, sensitive_features=group, control_features=income)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control_features": ["x"]}, "control_features has 1 rows, but y_pred has 4; both need the same number"),
        ({"control_features": list("xyzw")}, "none of the 4 strata holds two groups, so none can be compared"),
        ({"agg": "median"}, "agg='median' is unknown; allowed are 'worst_case', 'mean'"),
        ({"control_bins": [2, 1]}, "control_bins=[2, 1] must be finite numbers in ascending order, each once"),
        ({"sensitive_features": list("aaaa")}, "sensitive_features must hold at least 2 group(s)"),
    ],
)
def test_bad_input(changes, message):
    keywords = {"sensitive_features": list("abab"), "control_features": list("xxyy"), **changes}
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        metrics.conditional_demographic_parity_difference([0, 1, 0, 1], [0, 1, 0, 1], **keywords)


def test_bad_bins_of_the_target():
    with pytest.raises(ValueError, match=r"^target_bins=\[2, 1\] must be finite numbers in ascending order"):
        metrics.binned_equalized_odds_difference([0, 1], [0, 1], sensitive_features=list("ab"), target_bins=[2, 1])
    with pytest.raises(ValueError, match=r"^sample_weight has 3 rows, but y_true has 2"):
        metrics.binned_equalized_odds_difference([0, 1], [0, 1], sensitive_features=list("ab"), sample_weight=[1, 1, 1])


def test_intervals_of_conditional_metrics_and_sums():
    y, decision, score, group, weight, department, level = make_controlled(4)
    got = metrics.bootstrap_interval(
        "conditional_demographic_parity_difference", y, score, sensitive_features=group, control_features=department,
        sample_weight=weight, n_resamples=60,
    )  # fmt: skip
    expected = metrics.conditional_demographic_parity_difference(
        y, decision, sensitive_features=group, control_features=department, sample_weight=weight
    )
    assert got.value == pytest.approx(expected)
    assert got.low < got.value < got.high or got.low < expected < got.high
    assert 0.02 < got.high - got.low < 0.6
    both = pd.DataFrame({"group": group, "level": np.where(level == 1, 1.0, np.nan)})
    both.loc[:80, "level"] = 0.0
    got = metrics.bootstrap_interval(
        "summed_wasserstein_distance", y, score, sensitive_features=both, n_resamples=20,
        options={"attribute_weights": [1.0, 2.0]},
    )  # fmt: skip
    assert got.value == pytest.approx(
        metrics.summed_wasserstein_distance(y, score, sensitive_features=both, attribute_weights=[1.0, 2.0])
    )
    target = score + np.random.default_rng(0).random(400)
    got = metrics.bootstrap_interval(
        "binned_equalized_odds_difference", target, score, sensitive_features=group, n_resamples=20, threshold=None,
        sample_weight=weight,
    )  # fmt: skip
    assert got.value == pytest.approx(
        metrics.binned_equalized_odds_difference(target, score, sensitive_features=group, sample_weight=weight)
    )
    with pytest.raises(
        ValueError, match=r"^conditional_wasserstein_distance needs control_features, which are missing$"
    ):
        metrics.bootstrap_interval("conditional_wasserstein_distance", y, score, sensitive_features=group)
