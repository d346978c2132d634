"""Rows held out: every kind of table gives the same ones, and every fold its share of every group and label."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, ShuffleSplit

from estimators.samples import make_loans
from otfairboost.estimators.held_out import split_rows, take_rows

ROWS = np.array([5, 0, 3])
TABLE = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("wrap", "unwrap"),
    [
        (np.asarray, np.asarray),
        (np.ndarray.tolist, np.asarray),
        (sparse.csr_matrix, lambda part: part.toarray()),
        (sparse.csc_matrix, lambda part: part.toarray()),
        (lambda table: pd.DataFrame(table, columns=["a", "b"], index=list("uvwxyz")), np.asarray),
        (lambda table: pl.DataFrame(table, schema=["a", "b"]), np.asarray),
        (lambda table: pa.table({"a": table[:, 0], "b": table[:, 1]}), lambda part: part.to_pandas().to_numpy()),
    ],
)
def test_rows_of_any_table(wrap, unwrap):
    np.testing.assert_array_equal(unwrap(take_rows(wrap(TABLE), ROWS)), TABLE[ROWS])


def test_rows_of_series_and_of_nothing():
    assert take_rows(None, ROWS) is None
    for series in (pd.Series(list("abcdef"), index=range(10, 16)), pl.Series(list("abcdef")), list("abcdef")):
        assert list(take_rows(series, ROWS)) == ["f", "a", "d"]
    categories = take_rows(pd.DataFrame({"a": pd.Categorical(list("xyxyxz"))}), ROWS)
    assert list(categories["a"].cat.categories) == ["x", "y", "z"]


@pytest.mark.parametrize("classification", [True, False])
def test_every_fold_has_its_share(classification):
    sample = make_loans(1000)
    codes = (sample.groups == "green").astype(np.int32)
    codes[:90] = -1
    folds = split_rows(5, sample.y, codes, classification=classification, seed=0)
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(1000))
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 1000
        for code in (-1, 0, 1):
            for label in (0, 1) if classification else (None,):
                kind = (codes == code) & (True if label is None else sample.y == label)
                assert abs(np.count_nonzero(kind[test]) - np.count_nonzero(kind) / 5) < 1.01


def test_rare_kinds_are_spread_without_a_warning():
    y, codes = np.array([0, 1] * 50), np.zeros(100, np.int32)
    codes[:50] = 1
    codes[[0, 1, 2]] = 2
    for n_folds in (3, 5, 10):
        folds = split_rows(n_folds, y, codes, classification=True, seed=0)
        assert max(np.count_nonzero(codes[test] == 2) for _, test in folds) <= 2


def test_a_handful_of_rows_is_split_as_it_is():
    folds = split_rows(
        5, np.array([0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 0, 1], np.int32), classification=True, seed=0
    )
    assert sorted(len(test) for _, test in folds) == [1, 1, 1, 1, 2]


def test_the_seed_shuffles():
    y, codes = np.array([0, 1] * 50), np.tile([0, 0, 1, 1], 25).astype(np.int32)
    first, again, other = (split_rows(4, y, codes, classification=True, seed=seed)[0].test for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


def test_splitters_pairs_and_masks():
    y, codes = np.array([0, 1] * 10), np.tile([0, 0, 1, 1], 5).astype(np.int32)
    by_splitter = split_rows(KFold(4), y, codes, classification=True, seed=0)
    by_pairs = split_rows(list(KFold(4).split(y)), y, codes, classification=True, seed=0)
    for one, other in zip(by_splitter, by_pairs, strict=True):
        np.testing.assert_array_equal(one.test, other.test)
    mask = np.arange(20) < 5
    ((train, test),) = split_rows([(~mask, mask)], y, codes, classification=True, seed=0)
    assert (test.tolist(), len(train)) == ([0, 1, 2, 3, 4], 15)
    assert len(split_rows(ShuffleSplit(2, random_state=0), y, codes, classification=False, seed=0)) == 2


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        (1, ValueError, "gap_cv=1 must be a number of folds from 2 to the number of rows, 20"),
        (21, ValueError, "gap_cv=21 must be a number of folds"),
        (None, TypeError, "gap_cv=None must be a number of folds, a splitter"),
        (True, TypeError, "gap_cv=True must be"),
        (2.5, TypeError, "gap_cv=2.5 must be"),
        ([], ValueError, "gap_cv=\\[\\] has no folds"),
        ([([0, 1], np.empty(0, int))], ValueError, "gap_cv=.* has no folds, or one without rows"),
        ([([0, 99], [1])], ValueError, "gap_cv=.* cannot split 20 rows: index 99"),
        (KFold(40), ValueError, "gap_cv=KFold.* cannot split 20 rows"),
        (7j, ValueError, "gap_cv=7j cannot split"),
    ],
)
def test_what_is_no_split_is_refused(cv, error, message):
    y, codes = np.array([0, 1] * 10), np.tile([0, 0, 1, 1], 5).astype(np.int32)
    with pytest.raises(error, match=f"^{message}"):
        split_rows(cv, y, codes, classification=True, seed=0, name="gap_cv")
