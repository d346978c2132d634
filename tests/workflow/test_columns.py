import numpy as np
import pandas as pd
import pytest

from otfairboost.workflow.columns import (
    FeatureColumn,
    booster_names,
    categorical_positions,
    encode_columns,
    learn_columns,
)

TRAIN = pd.DataFrame({"n": [1.5, None, 3], "flag": [True, False, True], "city": ["Rome", None, "Oslo"]})


def test_text_becomes_the_number_of_its_category():
    columns = learn_columns(TRAIN)
    assert columns == (FeatureColumn("n"), FeatureColumn("flag"), FeatureColumn("city", ("Oslo", "Rome")))
    assert categorical_positions(columns) == [2]
    np.testing.assert_array_equal(encode_columns(TRAIN, columns, "it"), [[1.5, 1, 1], [np.nan, 0, np.nan], [3, 1, 0]])


def test_new_rows_are_read_like_those_of_training():
    columns = learn_columns(TRAIN)
    new = pd.DataFrame({"city": ["Lima", "Rome"], "extra": [1, 2], "flag": [None, True], "n": ["7", "8.5"]})
    np.testing.assert_array_equal(encode_columns(new, columns, "it"), [[7, np.nan, np.nan], [8.5, 1, 1]])


def test_errors():
    columns = learn_columns(TRAIN)
    with pytest.raises(ValueError, match=r"new\.csv lacks the columns flag, city, which the model was trained on"):
        encode_columns(TRAIN[["n"]], columns, "new.csv")
    with pytest.raises(ValueError, match=r"column 'n' of new\.csv holds 'many', but it was numbers in training"):
        encode_columns(TRAIN.assign(n=["1", "many", "3"]), columns, "new.csv")
    with pytest.raises(ValueError, match="column 'id' is text with 1,001 distinct values, more than 1,000"):
        learn_columns(pd.DataFrame({"id": [f"a{i}" for i in range(1001)]}))
    with pytest.raises(ValueError, match="column 'born' holds dates"):
        learn_columns(pd.DataFrame({"born": pd.to_datetime(["2001-01-01"])}))


def test_names_for_the_booster():
    columns = [FeatureColumn(name) for name in ("a b", "a[b", "a_b", "", 'q",:{}', "ä")]
    names = booster_names(columns)
    assert names == ["a_b", "a_b_2", "a_b_3", "_", "q_", "__2"]
