import sys

import numpy as np
import pandas as pd
import pytest

from otfairboost.datasets import load_adult, load_fairjob, simulate_fairjob
from otfairboost.datasets.frames import drop_sensitive_columns, encode_categories


@pytest.fixture
def table():
    return pd.DataFrame(
        {"n": [1.5, 2.5, 3.5], "code": [20, 10, 20], "text": ["b", "a [x]", None], "full": ["u v", "w", "u v"]}
    )


CATEGORICAL = ("code", "text", "full", "not there")


def test_one_hot(table):
    encoded = encode_categories(table, CATEGORICAL, "one-hot")
    expected = {
        "n": [1.5, 2.5, 3.5],
        "code_10": [0, 1, 0],
        "code_20": [1, 0, 1],
        "text_a_x_": [0, 1, 0],
        "text_b": [1, 0, 0],
        "text_missing": [0, 0, 1],
        "full_u_v": [1, 0, 1],
        "full_w": [0, 1, 0],
    }
    assert {name: encoded[name].tolist() for name in encoded} == expected


def test_category(table):
    encoded = encode_categories(table, CATEGORICAL, "category")
    assert [str(encoded[name].dtype) for name in encoded] == ["float64", "category", "category", "category"]
    assert encoded["text"].isna().tolist() == [False, False, True]


def test_ordinal_keeps_numbers_and_numbers_text(table):
    encoded = encode_categories(table, CATEGORICAL, "ordinal")
    assert encoded["code"].tolist() == [20, 10, 20]
    np.testing.assert_array_equal(encoded["text"], [1, 0, np.nan])
    assert encoded["full"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("encoding", ["one-hot", "category", "ordinal"])
def test_the_table_is_left_alone(table, encoding):
    before = table.copy()
    encode_categories(table, CATEGORICAL, encoding)
    pd.testing.assert_frame_equal(table, before)


def test_unknown_encoding(table):
    with pytest.raises(ValueError, match=r"encoding='onehot' is unknown; allowed are 'one-hot', 'category', 'ordinal'"):
        encode_categories(table, CATEGORICAL, "onehot")


def test_drop_sensitive(table):
    behind = {"A": ["code"], "B": ["text", "full"]}
    assert list(drop_sensitive_columns(table, False, behind)) == ["n", "code", "text", "full"]
    assert list(drop_sensitive_columns(table, True, behind)) == ["n"]
    assert list(drop_sensitive_columns(table, ["B"], behind)) == ["n", "code"]
    with pytest.raises(ValueError, match=r"drop_sensitive='C' is unknown; allowed are 'A', 'B'"):
        drop_sensitive_columns(table, ["C"], behind)
    with pytest.raises(TypeError, match="drop_sensitive='B' is a string"):
        drop_sensitive_columns(table, "B", behind)


@pytest.mark.parametrize("function", [load_adult, load_fairjob, simulate_fairjob])
def test_without_pandas(monkeypatch, function):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'otfairboost\[datasets\]'"):
        function()
