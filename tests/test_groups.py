import re
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.groups import MAX_GROUPS, Groups, encode_groups, format_label

CODES = [1, 0, 1, 2, 0]  # of b a b c a, and of the like in every other type


def string_columns():
    letters = ["b", "a", "b", "c", "a"]
    yield "list", letters
    yield "tuple", tuple(letters)
    yield "numpy str", np.array(letters)
    yield "numpy object", np.array(letters, object)
    yield "numpy string dtype", np.array(letters, np.dtypes.StringDType())
    yield "numpy column", np.array(letters)[:, None]
    yield "list of rows", [[letter] for letter in letters]
    yield "generator", (letter for letter in letters)
    yield "pandas", pd.Series(letters, index=[9, 9, 1, 0, 5])
    yield "pandas object", pd.Series(letters, dtype=object)
    yield "pandas string", pd.Series(letters, dtype="string")
    yield "pandas pyarrow", pd.Series(letters, dtype=pd.ArrowDtype(pa.string()))
    yield "pandas categorical", pd.Series(pd.Categorical(letters, ["z", "c", "b", "a"]))
    yield "pandas index", pd.Index(letters)
    yield "pandas extension array", pd.array(letters, dtype="string")
    yield "pandas frame", pd.DataFrame({"s": letters})
    yield "polars", pl.Series(letters)
    yield "polars categorical", pl.Series(letters, dtype=pl.Categorical)
    yield "polars enum", pl.Series(letters, dtype=pl.Enum(["z", "c", "b", "a"]))
    yield "polars frame", pl.DataFrame({"s": letters})
    yield "pyarrow", pa.array(letters)
    yield "pyarrow dictionary", pa.array(letters).dictionary_encode()
    yield "pyarrow chunked", pa.chunked_array([letters[:2], letters[2:]])
    yield "pyarrow table", pa.table({"s": letters})


def number_columns():
    numbers = [5, -3, 5, 70000, -3]
    yield "list", numbers
    for dtype in (np.int32, np.int64, np.float32, np.float64, object):
        yield f"numpy {np.dtype(dtype)}", np.array(numbers, dtype)
    for dtype in ("int64", "Int64", "float64", "Float64", "int64[pyarrow]", "category"):
        yield f"pandas {dtype}", pd.Series(numbers).astype(dtype)
    yield "polars", pl.Series(numbers)
    yield "pyarrow", pa.array(numbers)


def identified(columns):
    return [pytest.param(column, id=name) for name, column in columns]


@pytest.mark.parametrize("column", identified(string_columns()))
def test_strings(column):
    groups = encode_groups(column, n_rows=5)
    assert groups.codes.tolist() == CODES
    assert groups.codes.dtype == np.int32
    assert groups.labels == ("a", "b", "c")
    assert all(type(label) is str for label in groups.labels)


@pytest.mark.parametrize("column", identified(number_columns()))
def test_numbers(column):
    groups = encode_groups(column, n_rows=5)
    assert groups.codes.tolist() == CODES
    assert groups.labels == (-3, 5, 70000)
    assert all(type(label) in (int, float) for label in groups.labels)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64])
def test_small_and_unsigned_integers(dtype):
    highest = int(np.iinfo(dtype).max)
    groups = encode_groups(np.array([highest, 0, highest, 3], dtype))
    assert groups.codes.tolist() == [2, 0, 2, 1]
    assert groups.labels == (0, 3, highest)


@pytest.mark.parametrize(
    "column",
    [
        [True, False, True],
        np.array([True, False, True]),
        pd.Series([True, False, True]),
        pd.Series([True, False, True], dtype="boolean"),
        pl.Series([True, False, True]),
        pa.array([True, False, True]),
    ],
    ids=lambda column: type(column).__module__,
)
def test_booleans(column):
    groups = encode_groups(column)
    assert groups.codes.tolist() == [1, 0, 1]
    assert groups.labels == (False, True)
    assert all(type(label) is bool for label in groups.labels)


def missing_columns():
    yield "list", ["b", None, "a", float("nan")], ("a", "b")
    yield "numpy object", np.array(["b", None, "a", np.nan], object), ("a", "b")
    yield "numpy float", np.array([2.0, np.nan, 1.0, np.nan]), (1.0, 2.0)
    yield "numpy masked", np.ma.array([2, 7, 1, 9], mask=[0, 1, 0, 1]), (1, 2)
    yield "pandas", pd.Series(["b", None, "a", np.nan]), ("a", "b")
    yield "pandas string", pd.Series(["b", pd.NA, "a", None], dtype="string"), ("a", "b")
    yield "pandas object", pd.Series(["b", pd.NA, "a", pd.NaT], dtype=object), ("a", "b")
    yield "pandas integer", pd.Series([2, pd.NA, 1, None], dtype="Int64"), (1, 2)
    yield "pandas boolean", pd.Series([True, pd.NA, False, None], dtype="boolean"), (False, True)
    yield "pandas pyarrow", pd.Series([2, None, 1, None], dtype="int64[pyarrow]"), (1, 2)
    yield "pandas categorical", pd.Series(pd.Categorical(["b", None, "a", None])), ("a", "b")
    yield "pandas dates", pd.Series(pd.to_datetime(["2020-01-02", None, "2020-01-01", None])), None
    yield "polars", pl.Series(["b", None, "a", None]), ("a", "b")
    yield "polars integer", pl.Series([2, None, 1, None]), (1, 2)
    yield "polars boolean", pl.Series([True, None, False, None]), (False, True)
    yield "polars float", pl.Series([2.0, None, 1.0, float("nan")]), (1.0, 2.0)
    yield "polars categorical", pl.Series(["b", None, "a", None], dtype=pl.Categorical), ("a", "b")
    yield "pyarrow", pa.array(["b", None, "a", None]), ("a", "b")
    yield "pyarrow integer", pa.chunked_array([[2, None], [1, None]]), (1, 2)
    yield "pyarrow table", pa.table({"s": [True, None, False, None]}), (False, True)


@pytest.mark.parametrize(
    ("column", "labels"), [pytest.param(column, labels, id=name) for name, column, labels in missing_columns()]
)
def test_missing_values_belong_to_no_group(column, labels):
    groups = encode_groups(column, n_rows=4)
    assert groups.codes.tolist() == [1, -1, 0, -1]
    assert labels is None or groups.labels == labels
    assert groups.counts().tolist() == [1, 1]


def test_only_missing_values():
    for column in ([None, None], np.array([np.nan, np.nan]), pl.Series([None, None], dtype=pl.String)):
        groups = encode_groups(column)
        assert groups.codes.tolist() == [-1, -1]
        assert groups.labels == ()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"sex": ["f", "m", "f", "m", None], "old": [True, True, False, True, True]}),
        pl.DataFrame({"sex": ["f", "m", "f", "m", None], "old": [True, True, False, True, True]}),
        pa.table({"sex": ["f", "m", "f", "m", None], "old": [True, True, False, True, True]}),
        np.array([["f", True], ["m", True], ["f", False], ["m", True], [None, True]], object),
        [("f", True), ("m", True), ("f", False), ("m", True), (None, True)],
    ],
    ids=["pandas", "polars", "pyarrow", "numpy", "list"],
)
def test_several_columns_are_intersected(frame):
    groups = encode_groups(frame, n_rows=5)
    assert groups.labels == (("f", False), ("f", True), ("m", True))
    assert groups.codes.tolist() == [1, 2, 0, 2, -1]


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * 3), min_size=1, max_size=30))
def test_intersections_are_the_distinct_rows(rows):
    groups = encode_groups(rows)
    complete = sorted({row for row in rows if None not in row})
    assert list(groups.labels) == complete
    assert groups.codes.tolist() == [-1 if None in row else complete.index(row) for row in rows]


@given(st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40), st.text(max_size=2)), max_size=40))
def test_values_of_several_types(values):
    groups = encode_groups(values)
    assert [None if code < 0 else groups.labels[code] for code in groups.codes] == values
    assert len(set(groups.labels)) == len(groups.labels)


def test_other_values_that_can_be_groups():
    assert encode_groups([date(2020, 1, 2), date(2019, 1, 1)]).codes.tolist() == [1, 0]
    assert encode_groups([Decimal("2.5"), Decimal("1.5")]).labels == (Decimal("1.5"), Decimal("2.5"))
    halves = encode_groups(pd.qcut(pd.Series([1.0, 2.0, 3.0, 4.0]), 2))
    assert halves.codes.tolist() == [0, 0, 1, 1]


# ---- Codes of an earlier encoding --------------------------------------------------------------------------------


def test_codes_refer_to_given_labels():
    groups = encode_groups(["c", "a", None], labels=("a", "b", "c"))
    assert groups.codes.tolist() == [2, 0, -1]
    assert groups.labels == ("a", "b", "c")
    assert groups.counts().tolist() == [1, 0, 1]
    assert encode_groups(np.array([2.0, 1.0]), labels=(1, 2)).codes.tolist() == [1, 0]


def test_unknown_groups():
    message = "^eval holds groups that were not seen in training: d, e; seen were a, b$"
    with pytest.raises(ValueError, match=message):
        encode_groups(["a", "e", None, "d"], labels=("a", "b"), name="eval")
    message = "^sensitive_features holds groups that were not seen in training: m & 1; seen were f & 0, f & 1$"
    with pytest.raises(ValueError, match=message):
        encode_groups([("m", 1), ("f", 0)], labels=(("f", 0), ("f", 1)))


# ---- Errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "kind", "message"),
    [
        (None, ValueError, "S is None; it needs one value per row"),
        ("sex", TypeError, "S='sex' is a text; pass the column itself, one value per row"),
        ({"sex": [1, 2]}, TypeError, "S is a dict; pass a data frame or an array of shape (n_rows, n_columns) instead"),
        (7, TypeError, "S of type int cannot be read as an array: 'int' object is not iterable"),
        ([[1, 2], [3]], TypeError, "S of type list cannot be read as an array: rows of different lengths"),
        (np.zeros((2, 2, 2)), ValueError, "S has shape (2, 2, 2); allowed are (n_rows,) and (n_rows, n_columns)"),
        (np.array(3), ValueError, "S has shape (); allowed are (n_rows,) and (n_rows, n_columns)"),
        (np.zeros((4, 0)), ValueError, "S has shape (4, 0); allowed are (n_rows,) and (n_rows, n_columns)"),
        (pd.DataFrame(index=range(3)), ValueError, "S has no columns"),
        (np.array([1j, 2j]), TypeError, "S has dtype complex128; allowed are strings, numbers and booleans"),
        (
            pd.Series([{1}, {2}]),
            TypeError,
            "S holds values that cannot be groups (for example {1}); allowed are strings, numbers and booleans",
        ),
        (
            pd.Series(["a", ("b", ["c"])]),
            TypeError,
            "S holds values that cannot be groups (for example ('b', ['c'])); "
            "allowed are strings, numbers and booleans",
        ),
        (
            list(range(MAX_GROUPS + 1)),
            ValueError,
            "S has 51 distinct values, at most 50 make sense as groups; "
            "bin a continuous attribute (sensitive_bins, otfairboost.binning) or merge rare values first",
        ),
    ],
)
def test_what_cannot_be_groups(features, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        encode_groups(features, name="S")


def test_the_limit_counts_intersections():
    rows = [(i, j) for i in range(8) for j in range(8)]
    with pytest.raises(ValueError, match=r"^sensitive_features has 64 distinct values, at most 50 make sense"):
        encode_groups(rows)
    assert len(encode_groups(rows[:MAX_GROUPS]).labels) == MAX_GROUPS
    assert len(encode_groups(np.random.default_rng(0).integers(0, 50, 1000)).labels) == 50


@pytest.mark.parametrize("features", [["a", "b"], pd.Series(["a", "b"]), np.zeros((2, 3))])
def test_lengths_must_agree(features):
    message = "^sensitive_features has 2 rows, but X has 3; it needs one row per row of X$"
    with pytest.raises(ValueError, match=message):
        encode_groups(features, n_rows=3)


def test_labels_as_text():
    assert format_label("f") == "f"
    assert format_label(True) == "True"
    assert format_label(("f", 3, None)) == "f & 3 & None"


def test_counts_leave_missing_rows_out():
    assert Groups(np.array([0, -1, 2, 2], np.int32), ("a", "b", "c")).counts().tolist() == [1, 0, 2]
