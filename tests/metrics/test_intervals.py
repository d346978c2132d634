import numpy as np
import pytest
from scipy import stats

from metric_rows import make_rows
from otfairboost.metrics import METRICS, bootstrap_interval

KEYWORDS = {"n_resamples": 250}


def brute_force(metric, y, score, groups, weight, confidence, n_resamples=250):
    """Draw rows one by one within groups, and take quantiles."""
    rng = np.random.default_rng(7)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    values = []
    for _ in range(n_resamples):
        rows = np.concatenate([rng.choice(member, len(member)) for member in members])
        pred = (score[rows] >= 0.5).astype(int) if METRICS[metric].kind == "label" else score[rows]
        weights = None if weight is None else weight[rows]
        values.append(METRICS[metric].function(y[rows], pred, sensitive_features=groups[rows], sample_weight=weights))
    return np.quantile(values, [1 - confidence, confidence]), np.std(values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "metric",
    ["demographic_parity_difference", "equalized_odds_difference", "kolmogorov_smirnov", "mean_absolute_error"],
)
def test_bounds_are_those_of_rows_drawn_one_by_one(metric, weighted):
    y, _, score, groups, weight = make_rows(0, 3, 400)
    weight = weight if weighted else None
    got = bootstrap_interval(
        metric, y, score, sensitive_features=groups, sample_weight=weight, confidence=0.9, **KEYWORDS
    )
    want, deviation = brute_force(metric, y, score, groups, weight, 0.9)
    np.testing.assert_allclose([got.low, got.high], want, atol=0.5 * deviation)
    pred = (score >= 0.5).astype(int) if METRICS[metric].kind == "label" else score
    assert got.value == pytest.approx(
        METRICS[metric].function(y, pred, sensitive_features=groups, sample_weight=weight)
    )


def test_bounds_of_two_rates_are_the_exact_ones():
    # 300 of 1000 against 200 of 1000: the difference of two binomials is normal up to 1/sqrt(n) of its deviation.
    decision = np.repeat([1, 0, 1, 0], [300, 700, 200, 800])
    groups = np.repeat(["a", "b"], 1000)
    got = bootstrap_interval(
        "demographic_parity_difference", decision, decision, sensitive_features=groups, n_resamples=2000
    )
    deviation = np.sqrt(0.3 * 0.7 / 1000 + 0.2 * 0.8 / 1000)
    assert got.value == pytest.approx(0.1)
    np.testing.assert_allclose([got.low, got.high], 0.1 + deviation * stats.norm.ppf([0.05, 0.95]), atol=3e-3)


def test_the_upper_bound_covers_the_true_gap():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 250)
    covered = []
    for _ in range(50):
        decision = (rng.random(500) < np.where(groups == 0, 0.35, 0.30)).astype(float)
        bounds = bootstrap_interval(
            "demographic_parity_difference", decision, decision, sensitive_features=groups, n_resamples=60
        )
        covered.append(bounds.high >= 0.05)
    assert np.mean(covered) >= 0.9


def test_rows_without_a_group_do_not_count_in_a_gap_but_in_performance():
    y, _, score, groups, _ = make_rows(1, 2, 300)
    some = np.array(groups, dtype=object)
    some[:50] = None
    gap = bootstrap_interval("demographic_parity_difference", y, score, sensitive_features=some, n_resamples=20)
    without = METRICS["demographic_parity_difference"].function(
        y[50:], (score[50:] >= 0.5).astype(int), sensitive_features=groups[50:]
    )
    assert gap.value == pytest.approx(without)
    precision = bootstrap_interval("average_precision", y, score, sensitive_features=some, n_resamples=20)
    assert precision.value == pytest.approx(METRICS["average_precision"].function(y, score))


def test_rows_of_weight_zero_are_absent():
    y, _, score, groups, _ = make_rows(4, 2, 200)
    weight = np.repeat([1.0, 0.0], 100)
    got = bootstrap_interval(
        "demographic_parity_difference", y, score, sensitive_features=groups, sample_weight=weight, n_resamples=50
    )
    want = bootstrap_interval(
        "demographic_parity_difference", y[:100], score[:100], sensitive_features=groups[:100], n_resamples=50
    )
    assert got == pytest.approx(want)


def test_same_seed_same_bounds_and_order_of_rows_does_not_matter():
    y, _, score, groups, _ = make_rows(2, 2, 200)
    order = np.random.default_rng(0).permutation(200)
    first = bootstrap_interval("kolmogorov_smirnov", y, score, sensitive_features=groups, n_resamples=30)
    again = bootstrap_interval(
        "kolmogorov_smirnov", y[order], score[order], sensitive_features=groups[order], n_resamples=30
    )
    assert first == pytest.approx(again)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 1.0}, "confidence=1.0 must lie between 0.5 and 1"),
        ({"confidence": 0.2}, "confidence=0.2 must lie"),
        ({"n_resamples": 0}, "n_resamples=0 must be at least 1"),
        ({"metric": "fairness"}, "metric='fairness' is unknown; allowed are"),
        ({"y_true": [0, 1]}, "y_true has 2 rows, but score has 20"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 rows, but score has 20"),
        ({"sample_weight": np.zeros(20)}, "sample_weight lies between 0 and 0"),
        ({"sensitive_features": ["a", "b"]}, "sensitive_features has 2 rows"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    y, _, score, groups, _ = make_rows(3, 2, 20)
    given = {"metric": "kolmogorov_smirnov", "y_true": y, "score": score, "sensitive_features": groups, **arguments}
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(**given)
