import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from metric_rows import FAIRNESS, prediction
from otfairboost.metrics import METRICS


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
