"""What cannot be trained on a cluster is refused before anything is."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

import otfairboost
from on_dask.clustered import lay_frames, make_table
from otfairboost import FairLGBMClassifier, FairXGBRegressor, distributed
from otfairboost.distributed import DaskFairXGBClassifier, DaskFairXGBRegressor, dask_model

TABLE = make_table(400)
X, Y, GROUPS = (da.from_array(values, chunks=(100, *values.shape[1:])) for values in (TABLE.X, TABLE.y, TABLE.groups))


@pytest.fixture(autouse=True)
def nothing_is_trained(client, monkeypatch):
    def refuse(*arguments, **keywords):
        raise AssertionError("training was started")

    monkeypatch.setattr(dask_model.xgb_dask, "train", refuse)


def fit(X=X, y=Y, sensitive_features=GROUPS, params=None, kind=DaskFairXGBClassifier, **arguments):
    kind(n_estimators=2, **params or {}).fit(X, y, sensitive_features=sensitive_features, **arguments)


def frame(values, npartitions=4, shift=0):
    table = pd.DataFrame(values, columns=list("abcde")) if values.ndim == 2 else pd.Series(values, name="s")
    table.index += shift
    return dd.from_pandas(table, npartitions=npartitions)


def brier(y, score):
    return float(np.mean((y - score) ** 2))


def parts_of(*parts):
    """Return a column whose partitions have types of their own, as readers of many files give them."""
    return dd.from_map(lambda part: part, [pd.Series(part) for part in parts], meta=pd.Series(parts[0][:0]))


def mixed(first, second):
    return parts_of(*[np.resize(np.array(values), 100) for values in (first, second, first, first)])


CASES = {
    "other partitions": (
        {"sensitive_features": GROUPS.rechunk(200)},
        ValueError, "sensitive_features has 2 partitions, but X has 4; both need the same rows in the same partitions",
    ),
    "other lengths": (
        {"sensitive_features": GROUPS.rechunk(((50, 150, 100, 100),))},
        ValueError, "sensitive_features has 50 rows in partition 0, but X has 100",
    ),
    "lengths that only the workers know": (
        {"X": X, "y": Y[Y != "maybe"], "sensitive_features": GROUPS[Y == "yes"]},
        ValueError, r"sensitive_features has \d+ rows in partition 0, but X has 100",
    ),
    "other divisions": (
        {"X": frame(TABLE.X), "y": frame(TABLE.y), "sensitive_features": frame(TABLE.groups, shift=7)},
        ValueError, r"sensitive_features has other divisions than X: \(7, 107, .* against \(0, 100,",
    ),
    "unknown divisions, other index": (
        {
            "X": frame(TABLE.X).clear_divisions(),
            "y": frame(TABLE.y),
            "sensitive_features": frame(TABLE.groups, shift=7).clear_divisions(),
        },
        ValueError, "sensitive_features has another index than X in partition 0, so their rows may not belong together",
    ),
    "types by partition": (
        {"sensitive_features": mixed(["a", "b"], [1, 2])},
        TypeError, "sensitive_features holds text in partition 0 but integers in partition 1; all partitions need",
    ),
    "integers that missing values made floats": (
        {"sensitive_features": mixed([1, 2], [1.0, np.nan])},
        ValueError, r"sensitive_features is missing \(NaN\) in 50 rows, the first in partition 1",
    ),
    "missing groups": (
        {"sensitive_features": da.from_array(np.where(np.arange(400) < 250, TABLE.groups, None), chunks=100)},
        ValueError, r"sensitive_features is missing \(NaN\) in 150 rows, the first in partition 2; on Dask every row",
    ),
    "one group": ({"sensitive_features": da.full(400, "a", chunks=100)}, ValueError, "holds only 'a'; at least two"),
    "many groups": (
        {"sensitive_features": da.arange(400, chunks=100) // 4},
        ValueError, "has 100 distinct values, at most 50 make sense as groups",
    ),
    "no groups": ({"sensitive_features": None}, ValueError, "sensitive_features is missing; with fairness_weight=5.0"),
    "arrays of one machine": ({"X": TABLE.X}, TypeError, "X is a numpy.ndarray; on Dask allowed are dask.array.Array"),
    "groups of one machine": ({"sensitive_features": TABLE.groups}, TypeError, "sensitive_features is a numpy.ndarray"),
    "split columns": ({"X": X.rechunk((100, 2))}, ValueError, "X is split by columns, into 3 blocks"),
    "one class": ({"y": da.full(400, 1, chunks=100)}, ValueError, r"y must have 2 classes, got 1 \(1\)"),
    "missing labels": (
        {"y": da.where(da.from_array(np.arange(400), chunks=100) < 399, 1.0, np.nan)},
        ValueError, r"y \(partition 3\) contains 1 missing values",
    ),
    "negative weights": (
        {"sample_weight": da.full(400, -1.0, chunks=100)}, ValueError, "sample_weight must not be negative, got -1",
    ),
    "no weight": ({"sample_weight": da.zeros(400, chunks=100)}, ValueError, "sample_weight is zero for every row"),
    "exact transport": (
        {"params": {"transport": "exact"}}, ValueError, "transport='exact' needs all rows in one place; with",
    ),
    "sum": ({"params": {"multi_attribute": "sum"}}, ValueError, "multi_attribute='sum' is not available with"),
    "bins": ({"params": {"sensitive_bins": 3}}, ValueError, "sensitive_bins=3 is not available with several workers"),
    "control": (
        {"params": {"fairness": "conditional_demographic_parity"}},
        ValueError, "fairness='conditional_demographic_parity' is not available with several workers",
    ),
    "target gap": ({"params": {"max_gap": 0.1}}, ValueError, "max_gap=0.1 is not available on Dask"),
    "other objectives": (
        {"params": {"objective": "reg:absoluteerror"}, "kind": DaskFairXGBRegressor, "y": X[:, 1]},
        ValueError, "objective='reg:absoluteerror' is not available on Dask; allowed is 'reg:squarederror'",
    ),
    "functions as metrics": (
        {"params": {"eval_metric": brier}, "eval_set": [(X, Y)]},
        ValueError, "eval_metric 'brier' is a function, which would see one worker's rows only",
    ),
    "row by row metrics": (
        {"params": {"eval_metric": "mean_absolute_error"}, "kind": DaskFairXGBRegressor, "y": X[:, 1],
         "eval_set": [(X, X[:, 1])]},
        ValueError, "'mean_absolute_error' reads targets and predictions row by row",
    ),
    "groups of the evaluation set": (
        {"params": {"eval_metric": "fair_objective"}, "eval_set": [(X, Y)]},
        ValueError, r"'fair_objective' needs eval_sensitive_features\[0\], which is missing",
    ),
    "unseen groups": (
        {"eval_set": [(X + 0, Y)], "eval_sensitive_features": da.where(GROUPS == "a", "a", "z")},
        ValueError, r"eval_sensitive_features\[0\] holds groups that were not seen in training: z; seen were a, b",
    ),
    "stopping on nothing": ({"params": {"early_stopping_rounds": 3}}, ValueError, "early_stopping_rounds=3 needs rows"),
    "misspelt": ({"params": {"fairness_wieght": 3}}, ValueError, "fairness_wieght is not a parameter; fairness_weight"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_is_refused(case):
    arguments, kind, message = CASES[case]
    with pytest.raises(kind, match=message):
        fit(**arguments)


def test_a_closed_client_is_refused(client):
    closed = Client(client.scheduler.address, set_as_default=False)
    closed.close()
    model = DaskFairXGBClassifier()
    model.client = closed
    with pytest.raises(ValueError, match="client is closed; fit needs one that is connected to a cluster"):
        model.fit(X, Y, sensitive_features=GROUPS)


def test_row_aligned_frames_with_unknown_divisions_pass(client, workers):
    """They get as far as training: every partition's index was compared."""
    columns = [lay_frames(client, np.split(values, 4), workers) for values in (TABLE.X, TABLE.y, TABLE.groups)]
    with pytest.raises(AssertionError, match="training was started"):
        fit(*columns)


@pytest.mark.parametrize("place", [otfairboost, distributed])
def test_lightgbm_and_spark_are_refused_by_name(place):
    with pytest.raises(ImportError, match=r"lightgbm.dask runs the objective on each.*Use .*DaskFairXGBRegressor"):
        place.DaskFairLGBMRegressor  # noqa: B018
    with pytest.raises(ImportError, match=r"xgboost.spark takes no objective but.*Use .*DaskFairXGBClassifier"):
        place.SparkFairXGBClassifier  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'DaskFairCatBoost'"):
        place.DaskFairCatBoost  # noqa: B018


@pytest.mark.parametrize("estimator", [FairLGBMClassifier(), FairXGBRegressor()])
def test_estimators_of_one_machine_do_not_fetch_collections(estimator):
    with pytest.raises(TypeError, match=r"X is a Dask collection.*use otfairboost.distributed.DaskFairXGB"):
        estimator.fit(X, Y, sensitive_features=GROUPS)
