from functools import partial

import fairlearn.metrics as fairlearn_metrics
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from metric_rows import FAIRNESS, LABEL, SCORE, make_rows, prediction
from otfairboost import metrics
from otfairboost.metrics import METRICS


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
