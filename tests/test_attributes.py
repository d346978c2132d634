"""From columns to groups: intervals, intersections and sums, pooling, weights; learnt once and reused."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.attributes import Attributes, GroupingRules, pool_groups
from otfairboost.groups import Groups, encode_groups

SEX = np.array(["f", "m", "f", "m", "f", "m", None, "f"], dtype=object)
AGE = np.array([20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, np.nan])


def read(features, **rules):
    return GroupingRules(**rules).read(features, n_rows=len(features))


def test_without_rules_the_groups_are_those_of_encode_groups():
    columns = np.array([["a", "x"], ["b", "x"], ["a", "y"], ["b", None]], dtype=object)
    (part,) = read(columns).parts
    expected = encode_groups(columns)
    np.testing.assert_array_equal(part.groups.codes, expected.codes)
    assert part.groups.labels == expected.labels
    assert part.weighting == "equal"


def test_a_continuous_column_becomes_intervals_and_keeps_its_edges():
    attributes = read(AGE, sensitive_bins=[35, 65])
    assert attributes.labels == ("[-inf, 35)", "[35, 65)", "[65, inf)")
    assert attributes.parts[0].groups.codes.tolist() == [0, 0, 1, 1, 1, 2, 2, -1]
    assert attributes.edges == {0: (35.0, 65.0)}
    others = attributes.like([64.0, -5.0, None, 1000.0], n_rows=4, name="eval")
    assert others.parts[0].groups.codes.tolist() == [1, 0, -1, 2]
    assert others.labels == attributes.labels


@pytest.mark.parametrize("make", [pd.DataFrame, lambda columns: pd.DataFrame(columns).to_numpy(dtype=object)])
def test_a_sum_has_one_attribute_per_column_and_rows_missing_in_one_stay_in_the_others(make):
    features = make({"sex": SEX, "age": AGE})
    names = ["sex", "age"] if isinstance(features, pd.DataFrame) else [0, 1]
    attributes = read(features, multi_attribute="sum", sensitive_bins={names[1]: 2}, attribute_weights=[1, 3])
    assert [part.columns for part in attributes.parts] == [(name,) for name in names]
    assert attributes.weights == (1.0, 3.0)
    np.testing.assert_array_equal(
        attributes.codes(), [[0, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1], [np.nan, 1], [0, np.nan]]
    )
    assert list(attributes.labels) == names
    assert attributes.decode()[5].tolist() == ["m", attributes.labels[names[1]][1]]
    assert len(np.unique(attributes.kinds())) == 6
    again = attributes.like(features[:3], n_rows=3, name="e")
    np.testing.assert_array_equal(again.codes(), attributes.codes()[:3])


def test_intersections_of_a_binned_and_a_named_column():
    attributes = read(pd.DataFrame({"sex": SEX, "age": AGE}), sensitive_bins={"age": [50]})
    assert attributes.labels == tuple((s, a) for s in "fm" for a in ("[-inf, 50)", "[50, inf)"))
    assert attributes.parts[0].groups.codes.tolist() == [0, 2, 0, 3, 1, 3, -1, -1]


@given(st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=80), st.integers(1, 30))
def test_pooled_groups_are_large_enough_or_one(values, least):
    groups = encode_groups(values)
    pooled, pooling = pool_groups(groups, least)
    assert (pooled.counts() >= least).all() or len(pooled.labels) == 1
    assert pooled.counts().sum() == len(values)
    if pooling is None:
        assert pooled == groups
    for label, count in zip(groups.labels, groups.counts(), strict=True):
        if count >= 2 * least and len(pooled.labels) > 1 and count > groups.counts().min():
            assert any(label == one or label in str(one).split(" | ") for one in pooled.labels)


def test_small_groups_are_pooled_and_later_rows_follow():
    values = ["a"] * 10 + ["b"] * 9 + ["c"] * 3 + ["d"] * 2
    attributes = read(values, min_group_size=4)
    assert attributes.labels == ("a", "b", "c | d")
    assert attributes.parts[0].groups.counts().tolist() == [10, 9, 5]
    later = attributes.like(["d", "a", "c"], n_rows=3, name="eval")
    assert later.parts[0].groups.codes.tolist() == [2, 0, 2]
    some = attributes.part(np.arange(12)).like(["d", "b"], n_rows=2, name="eval")
    assert some.parts[0].groups.codes.tolist() == [2, 1]
    # A pool that is still too small takes in the smallest other group.
    assert read(["a"] * 10 + ["b"] * 9 + ["c"], min_group_size=4).labels == ("a", "b | c")


def test_small_intervals_go_to_their_neighbours():
    ages = [20] * 10 + [40] * 2 + [60] * 8
    assert read(ages, sensitive_bins=[30, 50], min_group_size=5).labels == ("[-inf, 30)", "[30, inf)")


def test_parts_drop_groups_that_they_lack():
    attributes = read(list("aabbc"), group_weighting={"a": 1, "b": 2, "c": 4})
    part = attributes.part(np.array([0, 4]))
    assert part.labels == ("a", "c")
    assert part.parts[0].weighting.tolist() == [1.0, 4.0]
    assert GroupingRules().read(part, n_rows=2) is part


def test_groups_alone_are_attributes():
    assert Attributes.of(Groups(np.array([0, 1], np.int32), ("a", "b"))).labels == ("a", "b")


TWO = pd.DataFrame({"sex": list("fmfm"), "region": list("nnss")})


@pytest.mark.parametrize(
    ("features", "rules", "message"),
    [
        (AGE, {"sensitive_bins": [65, 25]}, "sensitive_bins=[65, 25] must be finite numbers in ascending order, each"),
        (AGE, {"sensitive_bins": [25, 25]}, "sensitive_bins=[25, 25] must be finite numbers in ascending order, each"),
        (AGE, {"sensitive_bins": 1}, "sensitive_bins=1 must be an integer from 2 to 50"),
        (AGE, {"sensitive_bins": 2.5}, "sensitive_bins=2.5 must be an integer from 2 to 50"),
        (AGE, {"sensitive_bins": list(range(60))}, "sensitive_bins has 60 edges; at most 49 are allowed"),
        (AGE, {"sensitive_bins": {"age": 0}}, "sensitive_bins['age']=0 must be an integer from 2 to 50"),
        (AGE, {"sensitive_bins": {"age": 3}}, "sensitive_bins names columns that are not there: ['age']; there are"),
        (SEX, {"sensitive_bins": 3}, "sensitive_features must be numbers; text and dates cannot be binned"),
        ([np.nan] * 4, {"sensitive_bins": 3}, "sensitive_features holds only missing values; at least one number"),
        ([np.inf, 1], {"sensitive_bins": 3}, "sensitive_features contains infinity; it must be finite or missing"),
        (AGE, {"min_group_size": 0}, "min_group_size=0 must be None or an integer >= 1"),
        (AGE, {"min_group_size": 2.0}, "min_group_size=2.0 must be None or an integer >= 1"),
        (
            ["a", "b", "b"], {"min_group_size": 3},
            "min_group_size=3 leaves one group of sensitive_features, 'a | b'; at least two are needed to compare",
        ),
        (TWO, {"multi_attribute": "all"}, "multi_attribute='all' is unknown; allowed are 'intersection', 'sum'"),
        (
            TWO, {"attribute_weights": [1, 1]},
            "attribute_weights=[1, 1] needs multi_attribute='sum', got 'intersection'",
        ),
        (
            TWO, {"multi_attribute": "sum", "attribute_weights": [1, 2, 3]},
            "attribute_weights has 3 entries, but sensitive_features 2 columns",
        ),
        (
            TWO, {"multi_attribute": "sum", "attribute_weights": {"sex": 1}},
            "attribute_weights has the columns ['sex']; sensitive_features has ['sex', 'region']",
        ),
        (
            TWO, {"multi_attribute": "sum", "attribute_weights": [1, -2]},
            "attribute_weights holds -2; allowed are finite numbers > 0",
        ),
        (
            TWO, {"multi_attribute": "sum", "group_weighting": {"sex": "many"}},
            "group_weighting['sex']='many' is unknown; allowed are 'equal', 'size'",
        ),
        (list("ab"), {"group_weighting": {"a": 1}}, "group_weighting has the groups a; sensitive_features has a, b"),
        (list("ab"), {"group_weighting": {"a": 1, "b": 0}}, "group_weighting holds 0; allowed are finite numbers > 0"),
        (np.arange(80.0), {"multi_attribute": "sum"}, "sensitive_features[0] has 80 distinct values, at most 50 make"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(features, rules, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        read(features, **rules)


def test_other_rows_need_as_many_columns_and_known_groups():
    attributes = read(TWO, multi_attribute="sum")
    with pytest.raises(ValueError, match=r"^eval has 1 columns, but sensitive_features has 2$"):
        attributes.like(list("fm"), n_rows=2, name="eval")
    with pytest.raises(ValueError, match=r"^eval\['region'\] holds groups that were not seen in training: east"):
        attributes.like(TWO.replace("s", "east"), n_rows=4, name="eval")
