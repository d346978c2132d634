from math import lcm

import numpy as np
import ot
import pytest
from scipy.stats import ks_2samp

from metric_rows import SEEDS_AND_GROUPS, make_rows, one_vs_rest
from otfairboost import metrics


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
