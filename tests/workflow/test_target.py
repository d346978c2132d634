import numpy as np
import pandas as pd
import pytest

from otfairboost.workflow.target import read_target


def column(values):
    return pd.Series(values, name="y")


@pytest.mark.parametrize(
    ("values", "positive", "expected", "label"),
    [
        (["no", "yes", "no"], None, [0, 1, 0], "yes"),
        ([0, 1, 1], None, [0, 1, 1], 1),
        ([1.0, 2.0, 2.0], "1", [1, 0, 0], 1.0),
        ([True, False, True], None, [1, 0, 1], True),
        (["a", "b", "c"], "b", [0, 1, 0], "b"),
        ([1, 2, 3], "3", [0, 0, 1], 3),
    ],
)
def test_labels(values, positive, expected, label):
    target = read_target(column(values), positive=positive)
    assert (target.task, target.positive) == ("classification", label)
    np.testing.assert_array_equal(target.values, expected)


def test_numbers_are_regression_unless_told_otherwise():
    assert read_target(column([1.5, 2, 3])).task == "regression"
    assert read_target(column([0, 1, 1]), task="regression").task == "regression"


BAD = [
    ({"column": column([1, 1])}, r"target 'y' has one value only \(1\); it needs at least two"),
    ({"column": column([1, None])}, "target 'y' has 1 missing values"),
    ({"column": column(["a", "b", "c"])}, "target 'y' is text with 3 distinct values; name the one"),
    ({"column": column([1, 2, 3]), "task": "classification"}, "target 'y' has 3 distinct values; name the one"),
    ({"column": column([0, 1]), "positive": "2"}, "positive='2' does not occur in target 'y', which has 0, 1"),
    ({"column": column([0, 1]), "task": "regression", "positive": "1"}, "positive='1' names a label"),
    ({"column": column([0, 1]), "task": "ranking"}, "task='ranking' is unknown"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_targets(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_target(**arguments)
