import doctest
import pickle
from functools import partial
from math import lcm

import fairlearn.metrics as fairlearn_metrics
import numpy as np
import ot
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import sklearn.metrics as sklearn_metrics
from fairlearn.metrics import MetricFrame
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from otfairboost import metrics
from otfairboost.metrics import METRICS, Metric

PERFORMANCE = (
    "average_precision", "roc_auc", "accuracy", "log_loss", "mean_absolute_error", "mean_squared_error"
)  # fmt: skip
LABEL = [name for name, metric in METRICS.items() if metric.kind == "label" and name not in PERFORMANCE]
SCORE = ["wasserstein_distance", "kolmogorov_smirnov", "normalized_wasserstein"]
FAIRNESS = LABEL + SCORE
SEEDS_AND_GROUPS = [(0, 2), (1, 3), (2, 4), (3, 5)]


def make_rows(seed=0, n_groups=2, n=200):
    """Labels, decisions, scores that depend on the group, groups, weights; every group has both labels."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.repeat(np.arange(n_groups), 4), rng.integers(0, n_groups, n - 4 * n_groups)])
    y = (rng.random(n) < 0.3 + 0.1 * group).astype(int)
    y[: 4 * n_groups] = np.tile([0, 1, 0, 1], n_groups)
    score = np.round(np.clip(0.2 * y + 0.1 * group + 0.5 * rng.random(n), 0, 1), 2)  # rounded: ties
    weight = rng.integers(0, 5, n) + 0.25
    return y, (score >= 0.5).astype(int), score, np.array(list("abcde"))[group], weight


def prediction(name, decision, score):
    return score if METRICS[name].kind == "score" else decision


def one_vs_rest(group):
    return [(group == label) for label in np.unique(group)]


# ---- Fairlearn -------------------------------------------------------------------------------------------------


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


# ---- Distances against scipy, POT and quantile functions -------------------------------------------------------


def worst_pot_cost(score, member_sets, weight):
    """Squared W2 by POT of each group against the rest."""
    costs = []
    for member in member_sets:
        a, b = weight[member] / weight[member].sum(), weight[~member] / weight[~member].sum()
        costs.append(ot.emd2_1d(score[member], score[~member], a, b, metric="sqeuclidean"))
    return costs


@pytest.mark.parametrize(("seed", "n_groups"), SEEDS_AND_GROUPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_wasserstein_agrees_with_pot(weighted, seed, n_groups):
    y, _, score, group, weight = make_rows(seed, n_groups)
    expected = np.sqrt(max(worst_pot_cost(score, one_vs_rest(group), weight if weighted else np.ones(len(y)))))
    keywords = {"sensitive_features": group, "sample_weight": weight if weighted else None}
    assert metrics.wasserstein_distance(y, score, **keywords) == pytest.approx(expected, rel=1e-9)


def test_wasserstein_agrees_with_quantile_functions():
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=12), rng.exponential(size=9)
    # Both quantile functions are constant between multiples of 1 / lcm: midpoints integrate them exactly.
    n = lcm(len(x), len(z))
    level = (np.arange(n) + 0.5) / n
    quantiles = [np.quantile(sample, level, method="inverted_cdf") for sample in (x, z)]
    expected = np.sqrt(np.mean((quantiles[0] - quantiles[1]) ** 2))
    group = [0] * len(x) + [1] * len(z)
    ours = metrics.wasserstein_distance(None, np.concatenate([x, z]), sensitive_features=group)
    assert ours == pytest.approx(expected, rel=1e-12)


def test_wasserstein_of_a_shift_is_the_shift():
    x = np.random.default_rng(5).normal(size=50)
    scores, group = np.concatenate([x, x + 0.7]), np.repeat([0, 1], 50)
    assert metrics.wasserstein_distance(None, scores, sensitive_features=group) == pytest.approx(0.7)
    # W2^2 = 0.49 against twice the variance
    assert metrics.normalized_wasserstein(None, scores, sensitive_features=group) == pytest.approx(
        0.49 / (2 * np.var(x))
    )


@pytest.mark.parametrize(("seed", "n_groups"), SEEDS_AND_GROUPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_normalized_wasserstein_agrees_with_the_appendix(weighted, seed, n_groups):
    y, _, score, group, weight = make_rows(seed, n_groups)
    w = weight if weighted else np.ones(len(y))
    expected = []
    for member, cost in zip(one_vs_rest(group), worst_pot_cost(score, one_vs_rest(group), w), strict=True):
        # Second form of the appendix: the spread is W2^2 to the point mass at the mean.
        spread = 0.0
        for side in (member, ~member):
            share = w[side] / w[side].sum()
            mean = np.array([np.sum(share * score[side])])
            spread += ot.emd2_1d(score[side], mean, share, np.ones(1), metric="sqeuclidean")
        expected.append(cost / spread)
    keywords = {"sensitive_features": group, "sample_weight": weight if weighted else None}
    assert metrics.normalized_wasserstein(y, score, **keywords) == pytest.approx(max(expected), rel=1e-9)


def test_normalized_wasserstein_of_constant_scores():
    group = [0] * 3 + [1] * 7
    assert metrics.normalized_wasserstein(None, np.full(10, 0.1), sensitive_features=group) == 0
    assert metrics.normalized_wasserstein(None, np.repeat([0.1, 0.3], [3, 7]), sensitive_features=group) == np.inf
    one_constant = metrics.normalized_wasserstein(None, [0.0, 0.0, -1.0, 1.0], sensitive_features=[0, 0, 1, 1])
    assert one_constant == pytest.approx(1.0)  # W2^2 = 1, variances 0 and 1


@pytest.mark.parametrize(("seed", "n_groups"), SEEDS_AND_GROUPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_kolmogorov_smirnov_agrees_with_scipy(weighted, seed, n_groups):
    y, _, score, group, weight = make_rows(seed, n_groups)
    repeats = (4 * weight).astype(int) if weighted else np.ones(len(y), int)  # quarters: whole after times 4
    expected = max(
        ks_2samp(
            np.repeat(score[member], repeats[member]), np.repeat(score[~member], repeats[~member]), method="asymp"
        ).statistic
        for member in one_vs_rest(group)
    )
    keywords = {"sensitive_features": group, "sample_weight": weight if weighted else None}
    assert metrics.kolmogorov_smirnov(y, score, **keywords) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_groups", [2, 4])
def test_kolmogorov_smirnov_is_the_worst_gap_of_any_threshold(n_groups):
    y, _, score, group, weight = make_rows(6, n_groups)
    keywords = {"sensitive_features": group, "sample_weight": weight}
    gaps = [
        metrics.one_vs_rest_demographic_parity(y, (score > threshold).astype(int), **keywords)
        for threshold in np.unique(score)
    ]
    assert metrics.kolmogorov_smirnov(y, score, **keywords) == pytest.approx(max(gaps), abs=1e-12)


# ---- Properties ------------------------------------------------------------------------------------------------


@st.composite
def samples(draw, max_size=30):
    """Return (y, decision, score, group, weight) with two to four groups, ties and zero weights."""
    n = draw(st.integers(2, max_size))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    binary = st.integers(0, 1)
    y, decision, group, weight = column(binary), column(binary), column(st.integers(0, 3)), column(binary | st.just(3))
    score = column(st.integers(-8, 8)) / 8
    assume(len(np.unique(group[weight > 0])) >= 2)
    return y, decision, score, group, weight


properties = settings(deadline=None, max_examples=50)


def evaluate(y, decision, score, group, weight):
    """Return every fairness metric by name."""
    return {
        name: METRICS[name].function(
            y, prediction(name, decision, score), sensitive_features=group, sample_weight=weight
        )
        for name in FAIRNESS
    }


@properties
@given(sample=samples(), seed=st.integers(0, 100))
def test_order_of_rows_does_not_matter(sample, seed):
    p = np.random.default_rng(seed).permutation(len(sample[0]))
    shuffled = [column[p] for column in sample]
    assert evaluate(*shuffled) == pytest.approx(evaluate(*sample), abs=1e-7, nan_ok=True)


@properties
@given(sample=samples())
def test_a_weight_counts_as_that_many_rows(sample):
    *columns, weight = sample
    repeated = [np.repeat(column, weight) for column in columns]
    assert evaluate(*repeated, None) == pytest.approx(evaluate(*sample), abs=1e-7, nan_ok=True)


@properties
@given(sample=samples(), factor=st.sampled_from([1e-300, 0.1, 7, 5e307]))
def test_the_unit_of_weights_does_not_matter(sample, factor):
    *columns, weight = sample
    scaled = evaluate(*columns, factor * weight)
    assert scaled == pytest.approx(evaluate(*sample), abs=1e-7, nan_ok=True)


@properties
@given(sample=samples(), names=st.permutations(["w", "x", "y", "z"]))
def test_names_of_groups_do_not_matter(sample, names):
    *columns, group, weight = sample
    renamed = evaluate(*columns, np.array(names)[group], weight)
    assert renamed == pytest.approx(evaluate(*sample), abs=1e-7, nan_ok=True)


@properties
@given(sample=samples())
def test_values_lie_in_their_range(sample):
    _, decision, _, _, weight = sample
    values = evaluate(*sample)
    if not (decision * weight).any():
        assert np.isnan(values.pop("demographic_parity_ratio"))
    bounds = {"equalized_odds_sum": 2, "wasserstein_distance": 2, "normalized_wasserstein": np.inf}
    for name, value in values.items():
        assert 0 <= value <= bounds.get(name, 1), name


@properties
@given(sample=samples(max_size=12))
def test_groups_that_are_copies_of_each_other_are_at_parity(sample):
    y, decision, score, _, weight = (np.tile(column, 2) for column in sample)
    values = evaluate(y, decision, score, np.repeat(["left", "right"], len(y) // 2), weight)
    assert values.pop("demographic_parity_ratio") == pytest.approx(
        1.0 if (decision * weight).any() else np.nan, nan_ok=True
    )
    assert values == pytest.approx(dict.fromkeys(values, 0.0), abs=1e-12)


@properties
@given(sample=samples(), factor=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_scaling_and_shifting_scores(sample, factor, shift):
    _, _, score, group, weight = sample
    keywords = {"sensitive_features": group, "sample_weight": weight}
    moved = factor * score + shift
    assume(len(np.unique(moved)) == len(np.unique(score)))
    for name, degree in (("wasserstein_distance", 1), ("kolmogorov_smirnov", 0), ("normalized_wasserstein", 0)):
        metric = METRICS[name].function
        value = metric(None, score, **keywords)
        assert metric(None, moved, **keywords) == pytest.approx(factor**degree * value, rel=1e-6, abs=1e-5)


# ---- Input: containers, types, labels, missing values ----------------------------------------------------------


@pytest.mark.parametrize("name", FAIRNESS)
@pytest.mark.parametrize(
    "container",
    [
        list,
        pd.Series,
        pl.Series,
        pa.array,
        lambda column: pd.Series(column, index=range(5, 5 + len(column))),
        lambda column: np.asarray(column)[:, None],
    ],
    ids=["list", "pandas", "polars", "pyarrow", "pandas-index", "column"],
)
def test_containers(name, container):
    y, decision, score, group, weight = make_rows(7, 3)
    y_pred = prediction(name, decision, score)
    metric = METRICS[name].function
    expected = metric(y, y_pred, sensitive_features=group, sample_weight=weight)
    y, y_pred, group, weight = (container(column.tolist()) for column in (y, y_pred, group, weight))
    assert metric(y, y_pred, sensitive_features=group, sample_weight=weight) == expected


@pytest.mark.parametrize("name", SCORE)
def test_float32_scores_and_weights(name):
    y, _, score, group, weight = make_rows(8, 3)
    metric, score = METRICS[name].function, score.astype(np.float32)
    expected = metric(y, score.astype(np.float64), sensitive_features=group, sample_weight=weight)
    value = metric(y, score, sensitive_features=group, sample_weight=weight.astype(np.float32))
    assert isinstance(value, float)
    assert value == expected


@pytest.mark.parametrize("name", FAIRNESS)
def test_results_are_plain_floats(name):
    y, decision, score, group, _ = make_rows(8, 3)
    value = METRICS[name].function(y, prediction(name, decision, score), sensitive_features=group)
    assert type(value) is float


@pytest.mark.parametrize("name", LABEL)
@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([False, True], 1),
        ([False, True], True),
        ([-1, 1], 1),
        ([0.0, 1.0], 1),
        ([1, 2], 2),
        (["no", "yes"], "yes"),
        (np.array(["yes", "no"], dtype=object), "no"),
        ([1, 0], 0),
    ],
    ids=str,
)
def test_labels(name, labels, pos_label):
    y, decision, _, group, weight = make_rows(9, 3)
    keywords = {"sensitive_features": group, "sample_weight": weight}
    expected = METRICS[name].function(y, decision, **keywords)
    y, decision = np.asarray(labels)[y], np.asarray(labels)[decision]
    assert METRICS[name].function(y, decision, pos_label=pos_label, **keywords) == expected


def test_decisions_may_be_all_alike():
    group = list("aabb")
    for label, pos_label in ((0, 1), (-1, 1), (1, 1), (False, 1), ("no", "yes"), ("yes", "yes")):
        keywords = {"sensitive_features": group, "pos_label": pos_label}
        assert metrics.demographic_parity_difference(None, [label] * 4, **keywords) == 0


@pytest.mark.parametrize("name", FAIRNESS)
@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_of_no_group_count_nowhere(name, missing):
    y, decision, score, group, weight = make_rows(10, 3)
    y_pred = prediction(name, decision, score)
    known = np.arange(len(y)) % 4 != 0
    group = np.array([label if kept else missing for label, kept in zip(group, known, strict=True)], dtype=object)
    methods = ["between_groups", "to_overall", "one_vs_rest"]
    takes_method = name in LABEL and name not in ("one_vs_rest_demographic_parity", "equalized_odds_sum")
    for options in [{"method": method} for method in methods] if takes_method else [{}]:
        metric = partial(METRICS[name].function, **options)
        value = metric(y, y_pred, sensitive_features=group, sample_weight=weight)
        expected = metric(y[known], y_pred[known], sensitive_features=group[known], sample_weight=weight[known])
        assert value == expected


def test_a_group_of_weight_0_is_absent():
    decision, group, weight = [1, 0, 0, 0, 1, 1], list("aabbcc"), [1, 1, 1, 1, 0, 0]
    keywords = {"sensitive_features": group, "sample_weight": weight}
    assert metrics.demographic_parity_difference(None, decision, **keywords) == 0.5
    assert metrics.group_rates(None, decision, **keywords) == {"a": 0.5, "b": 0.0}


def test_several_columns_are_intersections_as_in_fairlearn():
    y, decision, score, group, weight = make_rows(11, 2)
    frame = pd.DataFrame({"sex": group, "age": np.where(np.arange(len(y)) % 2 == 0, "old", "young")})
    keywords = {"sensitive_features": frame, "sample_weight": weight}
    for name in ("demographic_parity_difference", "equalized_odds_difference"):
        expected = getattr(fairlearn_metrics, name)(y, decision, **keywords)
        assert getattr(metrics, name)(y, decision, **keywords) == pytest.approx(expected)
    joined = frame["sex"] + frame["age"]
    expected = metrics.wasserstein_distance(y, score, sensitive_features=joined, sample_weight=weight)
    assert metrics.wasserstein_distance(y, score, **keywords) == expected
    assert set(metrics.group_rates(y, decision, **keywords)) == {(sex, age) for sex in "ab" for age in ("old", "young")}


def test_groups_of_one_row():
    keywords = {"sensitive_features": ["a", "b", "c"]}
    assert metrics.demographic_parity_difference([1, 0, 1], [1, 0, 0], **keywords) == 1
    assert metrics.equalized_odds_sum([1, 0, 1], [1, 0, 0], **keywords) == 1
    assert metrics.kolmogorov_smirnov(None, [0.1, 0.2, 0.3], **keywords) == 1
    # c against a and b: half the mass moves 0.2, half 0.1
    assert metrics.wasserstein_distance(None, [0.1, 0.2, 0.3], **keywords) == pytest.approx(np.sqrt(0.025))


def test_group_rates_by_hand():
    rates = metrics.group_rates([1, 1, 0, 1], [1, 0, 1, 1], sensitive_features=list("aabb"), sample_weight=[3, 1, 1, 1])
    assert rates == {"a": 0.75, "b": 1.0}
    assert metrics.group_rates(None, [1, 0], sensitive_features=["only", "only"]) == {"only": 0.5}


# ---- Performance, trade-off, registry --------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_performance_metrics_are_scikit_learns(weighted):
    y, decision, score, group, weight = make_rows(12)
    weight = weight if weighted else None
    expected = {
        "average_precision": sklearn_metrics.average_precision_score(y, score, sample_weight=weight),
        "roc_auc": sklearn_metrics.roc_auc_score(y, score, sample_weight=weight),
        "accuracy": sklearn_metrics.accuracy_score(y, decision, sample_weight=weight),
        "log_loss": sklearn_metrics.log_loss(y, score, sample_weight=weight),
        "mean_absolute_error": sklearn_metrics.mean_absolute_error(y, score, sample_weight=weight),
        "mean_squared_error": sklearn_metrics.mean_squared_error(y, score, sample_weight=weight),
    }
    assert set(expected) == set(PERFORMANCE)
    for name, value in expected.items():
        metric, y_pred = METRICS[name].function, prediction(name, decision, score)
        assert metric(y, y_pred, sensitive_features=group, sample_weight=weight) == value
        assert metric(y, y_pred, sample_weight=weight) == value
    named = np.array(["zero", "one"])[y]  # "one" < "zero": the greater label is not the positive one
    for name in ("average_precision", "roc_auc", "log_loss"):
        value = METRICS[name].function(named, score, sample_weight=weight, pos_label="one")
        assert value == pytest.approx(expected[name])


def test_log_loss_of_one_class():
    assert metrics.log_loss([0, 0], [0.5, 0.5]) == pytest.approx(np.log(2))


def test_tradeoff_by_hand():
    y, score, group = [0, 1, 0, 1], [0.1, 0.8, 0.5, 0.9], list("aabb")
    # The scores rank perfectly: average precision 1. At 0.5 (included) half of a and all of b are selected.
    keywords = {"sensitive_features": group}
    assert metrics.tradeoff_objective(y, score, **keywords) == pytest.approx(0.75 * 1 + 0.25 * 0.5)
    assert metrics.tradeoff_objective(y, score, alpha=0, **keywords) == pytest.approx(0.5)
    assert metrics.tradeoff_objective(y, score, alpha=1, **keywords) == pytest.approx(1)
    assert metrics.tradeoff_objective(y, score, threshold=0.85, **keywords) == pytest.approx(0.75 + 0.25 * 0.5)
    assert metrics.tradeoff_objective(y, score, threshold=0.6, **keywords) == pytest.approx(1)


def test_tradeoff_of_a_regression_by_hand():
    # MAE 0.1; the groups' predictions are shifted by 0.3.
    y, y_pred, group = [0.1, 0.3, 0.4, 0.6], [0.2, 0.4, 0.5, 0.7], [0, 0, 1, 1]
    value = metrics.tradeoff_objective(
        y,
        y_pred,
        sensitive_features=group,
        performance="mean_absolute_error",
        fairness="wasserstein_distance",
    )
    assert value == pytest.approx(0.75 * 0.9 + 0.25 * 0.7)


@pytest.mark.parametrize("weighted", [False, True])
def test_tradeoff_of_other_metrics_and_functions(weighted):
    y, decision, score, group, weight = make_rows(13, 3)
    weight = weight if weighted else None
    keywords = {"sensitive_features": group, "sample_weight": weight}
    odds = fairlearn_metrics.equalized_odds_difference(y, decision, **keywords)
    ratio = fairlearn_metrics.demographic_parity_ratio(y, decision, **keywords)
    auc = sklearn_metrics.roc_auc_score(y, score, sample_weight=weight)
    objective = partial(metrics.tradeoff_objective, y, score, alpha=0.4, **keywords)

    expected = pytest.approx(0.4 * auc + 0.6 * (1 - odds))
    assert objective(performance="roc_auc", fairness="equalized_odds_difference") == expected
    assert objective(performance=metrics.roc_auc, fairness=metrics.equalized_odds_difference) == expected
    assert objective(performance=sklearn_metrics.roc_auc_score, fairness="equalized_odds_difference") == expected
    fairlearns = Metric("odds", fairlearn_metrics.equalized_odds_difference, "label", False)
    assert objective(performance="roc_auc", fairness=fairlearns) == expected

    def gap_of_means(y_true, y_pred, *, sensitive_features, sample_weight=None):
        return 0.125

    assert objective(performance="roc_auc", fairness=gap_of_means) == pytest.approx(0.4 * auc + 0.6 * 0.875)
    # The ratio grows with parity: it is not subtracted from 1.
    assert objective(performance="roc_auc", fairness="demographic_parity_ratio") == pytest.approx(
        0.4 * auc + 0.6 * ratio
    )


@pytest.mark.parametrize("performance", ["average_precision", "accuracy"])
@pytest.mark.parametrize("fairness", ["demographic_parity_difference", "equalized_odds_sum"])
def test_tradeoff_of_named_labels(performance, fairness):
    y, _, score, group, weight = make_rows(14)
    options = {"performance": performance, "fairness": fairness, "sample_weight": weight}
    expected = metrics.tradeoff_objective(y, score, sensitive_features=group, **options)
    for labels, pos_label in ((["yes", "no"], "no"), ([-1, 1], 1)):
        named = np.array(labels)[y]
        value = metrics.tradeoff_objective(named, score, sensitive_features=group, pos_label=pos_label, **options)
        assert value == expected


def test_tradeoff_performance_counts_rows_of_no_group():
    y, score, group = [0, 1, 0, 1, 1], [0.1, 0.8, 0.6, 0.9, 0.0], ["a", "a", "b", "b", None]
    value = metrics.tradeoff_objective(y, score, sensitive_features=group)
    precision = sklearn_metrics.average_precision_score(y, score)
    assert precision < 1
    assert value == pytest.approx(0.75 * precision + 0.25 * 0.5)


def test_registry():
    y, decision, score, group, weight = make_rows(15)
    for name, metric in METRICS.items():
        assert metric == metrics.get_metric(name)
        assert metric.name == name == metric.function.__name__
        y_pred = prediction(name, decision, score)
        value = metric.function(y, y_pred, sensitive_features=group, sample_weight=weight)
        assert np.isfinite(value)


def test_registry_directions():
    """A perfect and fair prediction is at least as good as any other by every metric."""
    y, decision, score, group, weight = make_rows(16)
    y, decision, score = np.tile(y, 2), np.tile(decision, 2), np.tile(score, 2)
    copies, weight = np.repeat(["left", "right"], len(y) // 2), np.tile(weight, 2)
    for name, metric in METRICS.items():
        best = metric.function(y, prediction(name, y, y.astype(float)), sensitive_features=copies)
        other = metric.function(
            y, prediction(name, decision, score), sensitive_features=np.tile(group, 2), sample_weight=weight
        )
        assert best > other if metric.greater_is_better else best < other, name


def test_example_of_the_module():
    assert doctest.testmod(metrics).attempted > 0
    assert doctest.testmod(metrics).failed == 0


# ---- scikit-learn scorers --------------------------------------------------------------------------------------


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


# ---- Errors ----------------------------------------------------------------------------------------------------


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
