import re

import numpy as np
import pandas as pd
import pytest

from otfairboost.criteria import CRITERIA, Strata, Target, criterion, find_criterion, read_control, stratify
from otfairboost.groups import encode_groups

LABELS = np.array([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("name", "codes", "names"),
    [
        ("demographic_parity", [0, 0, 0, 0], ("all rows",)),
        ("equalized_odds", [0, 1, 1, 0], ("target = no", "target = yes")),
        ("true_positive_rate_parity", [-1, 0, 0, -1], ("target = yes",)),
        ("false_positive_rate_parity", [0, -1, -1, 0], ("target = no",)),
    ],
)
@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_strata(name, codes, names, dtype):
    strata = stratify(name, Target(LABELS.astype(dtype), ["no", "yes"]))
    assert strata.codes.tolist() == codes
    assert strata.codes.dtype == np.int32
    assert strata.names == names


def test_there_are_five_criteria():
    assert set(CRITERIA) == {
        "demographic_parity", "conditional_demographic_parity", "equalized_odds", "true_positive_rate_parity",
        "false_positive_rate_parity",
    }  # fmt: skip


def test_demographic_parity_takes_a_continuous_target():
    assert stratify("demographic_parity", Target(np.array([0.3, 7.1]), None)).codes.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["true_positive_rate_parity", "false_positive_rate_parity"])
def test_the_others_need_a_discrete_target(name):
    message = (
        f"^fairness='{name}' compares groups among rows of the same label and needs a discrete target; "
        "a regressor takes 'demographic_parity', 'conditional_demographic_parity' and 'equalized_odds'$"
    )
    with pytest.raises(ValueError, match=message):
        stratify(name, Target(np.array([0.3, 7.1]), None))


@pytest.mark.parametrize("name", ["parity", "", None, ["equalized_odds"], 3])
def test_unknown_criterion(name):
    with pytest.raises(ValueError, match="is unknown; allowed are 'conditional_demographic_parity', ") as caught:
        find_criterion(name)
    assert str(caught.value).startswith(f"fairness={name!r} is unknown")
    assert all(repr(known) in str(caught.value) for known in CRITERIA)


def test_a_new_criterion_is_one_function(monkeypatch):
    monkeypatch.setattr("otfairboost.criteria.CRITERIA", dict(CRITERIA))

    @criterion
    def by_sign(target):
        return Strata((target.values > 0).astype(np.int32), ("negative", "positive"))

    assert stratify("by_sign", Target(np.array([-2.0, 3.0]), None)).codes.tolist() == [0, 1]
    assert find_criterion("by_sign") is by_sign


def test_equalized_odds_of_a_continuous_target_has_intervals():
    target = Target(np.array([1.0, 5.0, 9.0, 5.0]), None, edges=np.array([5.0, 8.0]))
    strata = stratify("equalized_odds", target)
    assert strata.codes.tolist() == [0, 1, 2, 1]
    assert strata.names == ("target in [-inf, 5)", "target in [5, 8)", "target in [8, inf)")
    assert np.bincount(stratify("equalized_odds", Target(np.arange(100.0), None)).codes).tolist() == [20] * 5


def test_conditional_parity_has_one_stratum_per_combination():
    control = encode_groups([["a", 1], ["b", 1], ["a", None], ["a", 1]])
    strata = stratify("conditional_demographic_parity", Target(LABELS, ["no", "yes"], control=control))
    assert strata.codes.tolist() == [0, 1, -1, 0]
    assert strata.names == ("control = a & 1", "control = b & 1")
    with pytest.raises(ValueError, match=r"among rows of the same control_features, which are missing$"):
        stratify("conditional_demographic_parity", Target(LABELS, ["no", "yes"]))


@pytest.mark.parametrize(
    "returned",
    [
        lambda target: np.where(target.values > 1, "high", "low"),
        lambda target: Strata((target.values <= 1).astype(np.int32), ("high", "low")),
        lambda target: pd.Series(target.values > 1),
    ],
)
def test_a_function_of_the_users_makes_strata(returned):
    target = Target(np.array([0.0, 3.0, 1.0, 7.0]), None)
    strata = stratify(returned, target)
    assert len(strata.names) == 2
    assert strata.codes[0] == strata.codes[2] != strata.codes[1] == strata.codes[3]


def test_rows_that_a_function_leaves_out_are_not_compared():
    assert stratify(lambda _: ["a", None, "b", "a"], Target(LABELS, None)).codes.tolist() == [0, -1, 1, 0]
    message = "what fairness(target) returns has 3 rows, but X has 4; it needs one row per row of X"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        stratify(lambda _: [1, 2, 3], Target(LABELS, None))
    with pytest.raises(ValueError, match="has 101 distinct values; at most 100 make sense as strata"):
        stratify(lambda _: np.arange(101), Target(np.zeros(101), None))


def test_control_features_are_binned_by_the_training_rows():
    train = read_control([1.0, 2.0, 3.0, 4.0, None], 2, n_rows=5)
    assert train.groups.codes.tolist() == [0, 0, 1, 1, -1]
    later = read_control([100.0, 200.0, 2.5], 2, n_rows=3, like=train, name="eval_control_features[0]")
    assert later.groups.labels == ("[-inf, 3)", "[3, inf)")
    assert later.groups.codes.tolist() == [1, 1, 0]
    # An interval without rows here is still one of the training rows'.
    gap = read_control([0.0, 9.0], None, n_rows=2, like=read_control([1.0, 2.0, 3.0, 3.0], [2.0, 3.0], n_rows=4))
    assert gap.groups.labels == ("[-inf, 2)", "[3, inf)")
    np.testing.assert_array_equal(train.part(np.array([4, 0])).codes, [np.nan, 0.0])


@pytest.mark.parametrize(
    ("features", "bins", "message"),
    [
        (
            np.arange(30.0), None,
            "control_features has a different value in every row, so no two rows are compared; cut it into intervals "
            "with control_bins, or give a coarser feature",
        ),
        (
            np.repeat(np.arange(150.0), 2), None,
            "control_features has 150 distinct values, at most 100 make sense as strata; cut continuous ones into",
        ),
        ([None] * 4, None, "control_features holds only missing values; at least one row must have them all"),
        (list("ab"), 3, "control_features must be numbers; text and dates cannot be binned"),
    ],
)  # fmt: skip
def test_control_features_that_compare_nothing_are_refused(features, bins, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        read_control(features, bins, n_rows=len(features))


def test_a_criterion_by_another_name_is_pointed_to():
    with pytest.raises(ValueError, match=r"fairness='equal_opportunity' is unknown \('true_positive_rate_parity' is"):
        find_criterion("equal_opportunity")
