import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from fairlearn.metrics import selection_rate as fairlearn_selection_rate

from otfairboost.metrics import (
    sum_over_attributes,
    summed_demographic_parity_difference,
    top_k_selection_rate_difference,
)


def make_scores(seed, n=300):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    return rng.normal(size=n) + (group == "b"), group


@pytest.mark.parametrize("top", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
def test_selecting_the_best_is_fairlearns_difference_of_that_decision(top, method):
    score, group = make_scores(0)
    decision = np.zeros(300, int)
    decision[np.argsort(-score)[: round(top * 300)]] = 1
    frame = MetricFrame(metrics=fairlearn_selection_rate, y_true=decision, y_pred=decision, sensitive_features=group)
    got = top_k_selection_rate_difference(None, score, sensitive_features=group, top=top, method=method)
    assert got == pytest.approx(frame.difference(method=method))


def test_ties_are_broken_at_random_in_expectation():
    rng = np.random.default_rng(1)
    score, group = make_scores(2)
    score = np.round(score)  # many ties at the limit
    rates = []
    for _ in range(2000):
        chosen = np.lexsort((rng.random(300), -score))[:60]
        rates.append([np.isin(np.flatnonzero(group == label), chosen).mean() for label in "abc"])
    expected = np.mean(rates, axis=0)
    got = top_k_selection_rate_difference(None, score, sensitive_features=group, top=0.2)
    assert got == pytest.approx(np.ptp(expected), abs=0.01)


def test_a_row_of_weight_w_is_w_rows_and_rows_without_a_group_are_ranked():
    score, group = make_scores(3)
    group = np.where(np.arange(300) % 10 == 0, None, group)
    times = np.random.default_rng(4).integers(0, 4, 300)
    weighted = top_k_selection_rate_difference(None, score, sensitive_features=group, top=0.3, sample_weight=times)
    repeated = top_k_selection_rate_difference(
        None, np.repeat(score, times), sensitive_features=np.repeat(group, times), top=0.3
    )
    assert weighted == pytest.approx(repeated)
    known = group != None  # noqa: E711  # element by element
    without = top_k_selection_rate_difference(
        None, score[known], sensitive_features=group[known], top=0.3, sample_weight=times[known]
    )
    assert weighted != pytest.approx(without)


@pytest.mark.parametrize("top", [0, 1, -0.1, 2, np.nan, "0.1", True])
def test_a_share_outside_0_to_1_is_refused(top):
    with pytest.raises(ValueError, match="must be a number between 0 and 1"):
        top_k_selection_rate_difference(None, [1.0, 2.0], sensitive_features=list("ab"), top=top)


def test_sums_over_attributes():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "region": rng.choice(["n", "s", None], 400)})
    y, decision, weight = rng.integers(0, 2, 400), rng.integers(0, 2, 400), rng.random(400)
    gaps = {}
    for name, column in frame.items():
        known = column.notna()
        gaps[name] = MetricFrame(
            metrics=fairlearn_selection_rate, y_true=y[known], y_pred=decision[known], sensitive_features=column[known],
            sample_params={"sample_weight": weight[known]},
        ).difference()  # fmt: skip
    keywords = {"sensitive_features": frame, "sample_weight": weight}
    assert summed_demographic_parity_difference(y, decision, **keywords) == pytest.approx(sum(gaps.values()))
    for weights in ([1.0, 3.0], {"region": 3.0, "sex": 1.0}):
        got = sum_over_attributes("demographic_parity_difference", y, decision, attribute_weights=weights, **keywords)
        assert got == pytest.approx(gaps["sex"] + 3 * gaps["region"])
    with pytest.raises(ValueError, match=r"^attribute_weights has 1 entries, sensitive_features 2 columns$"):
        sum_over_attributes("wasserstein_distance", y, decision, attribute_weights=[1.0], **keywords)
    with pytest.raises(
        ValueError, match=r"^attribute_weights has the columns \['age'\], sensitive_features \['sex', 'r"
    ):
        sum_over_attributes("wasserstein_distance", y, decision, attribute_weights={"age": 1.0}, **keywords)
