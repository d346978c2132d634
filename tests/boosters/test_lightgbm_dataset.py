"""A data set made from our sample is the one that LightGBM makes itself, byte for byte."""

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from otfairboost.boosters import lightgbm_dataset
from otfairboost.boosters.lightgbm_dataset import SampledDataset

ROWS = 3000
NOISE = np.random.default_rng(0)
NORMAL = NOISE.normal(size=(ROWS, 5))
MISSING = np.where(NOISE.random(NORMAL.shape) < 0.2, np.nan, NORMAL)
SPARSE = np.where(NOISE.random((ROWS, 12)) < 0.9, 0.0, NOISE.normal(size=(ROWS, 12)))
ONE_HOT = np.eye(9)[NOISE.integers(0, 9, ROWS)]
CODES = NOISE.integers(-1, 40, size=(ROWS, 3)).astype(float)
# Columns that exclude each other share a group. Where most values are equal but not 0, LightGBM tells that from values
# that it has sorted by then, and from the missing ones' leftovers.
MOSTLY_ONE = 1.0 - ONE_HOT
MOSTLY_ONE_MISSING = np.where(NOISE.random(MOSTLY_ONE.shape) < 0.03, np.nan, MOSTLY_ONE)
MIXED = np.hstack([NORMAL, MISSING, SPARSE, ONE_HOT, CODES, MOSTLY_ONE, MOSTLY_ONE_MISSING])
EXTREME = NOISE.choice([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-36, -2e-35, 5e-324, 1e300, 1.0], size=(ROWS, 4))
MATRICES = {
    "normal": NORMAL, "missing": MISSING, "sparse": SPARSE, "one_hot": ONE_HOT, "codes": CODES,
    "mostly_one": MOSTLY_ONE, "mostly_one_missing": MOSTLY_ONE_MISSING, "mixed": MIXED, "extreme": EXTREME,
    "constant": np.full((ROWS, 2), 3.0), "all_missing": np.full((ROWS, 2), np.nan), "zero": np.zeros((ROWS, 2)),
    "wide": NOISE.integers(0, 3, (400, 70)).astype(float), "no_columns": np.empty((ROWS, 0)),
}  # fmt: skip
PARAMETERS = [
    {},
    {"bin_construct_sample_cnt": 700},
    {"subsample_for_bin": 700, "data_random_seed": 5},
    {"bin_construct_sample_cnt": 700, "seed": 11},
    {"max_bin": 15, "enable_bundle": False},
    {"max_bin": 600, "min_data_in_bin": 1},
    {"zero_as_missing": True, "min_child_samples": 200},
    {"use_missing": False, "num_threads": 1},
    {"linear_tree": True},
]


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Let matrices of all sizes go our way."""
    monkeypatch.setattr(lightgbm_dataset, "_MIN_ENTRIES", 0)


def dump(kind, X, params, folder, **settings):
    """Return all that LightGBM writes of a data set."""
    dataset = kind(X, label=np.arange(len(X)) % 7, params={"verbosity": -1, **params}, **settings).construct()
    path = folder / "dump.txt"
    dataset._dump_text(path)
    return path.read_text()


@pytest.mark.parametrize("params", PARAMETERS, ids=str)
@pytest.mark.parametrize("matrix", MATRICES)
def test_same_data_set(matrix, params, tmp_path):
    """Bins, groups of columns and rows are LightGBM's own."""
    X = MATRICES[matrix]
    try:
        expected = dump(lgb.Dataset, X, params, tmp_path)
    except lgb.basic.LightGBMError as error:
        with pytest.raises(lgb.basic.LightGBMError, match=str(error)[:30]):
            dump(SampledDataset, X, params, tmp_path)
    else:
        assert dump(SampledDataset, X, params, tmp_path) == expected


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.float32),
        np.asfortranarray,
        lambda X: np.asfortranarray(X.astype(np.float32)),
        lambda X: X[::-2],
        lambda X: X[:, ::2],
        lambda X: np.repeat(X, 25, axis=0)[:70_000].copy(order="F"),
        lambda X: np.nan_to_num(X).astype(np.int32),
    ],
    ids=["float32", "by_columns", "float32_by_columns", "every_other_row", "every_other_column", "long", "integers"],
)
def test_same_data_set_of_any_layout(convert, tmp_path):
    """Matrices may be of either precision and lie in memory in any way."""
    X = convert(MIXED)
    assert dump(SampledDataset, X, {}, tmp_path) == dump(lgb.Dataset, X, {}, tmp_path)


@pytest.mark.parametrize("params", [{}, {"bin_construct_sample_cnt": 700}], ids=str)
def test_same_categories(params, tmp_path):
    """Categories get the same bins."""
    settings = {"categorical_feature": [0, 2], "feature_name": ["a", "b", "c"]}
    X = np.abs(CODES)
    assert dump(SampledDataset, X, params, tmp_path, **settings) == dump(lgb.Dataset, X, params, tmp_path, **settings)


def test_forced_bins(tmp_path):
    """Bounds that the user gives are kept."""
    bounds = tmp_path / "bounds.json"
    bounds.write_text('[{"feature": 0, "bin_upper_bound": [0.3, 0.35, 0.4]}]')
    params = {"forcedbins_filename": str(bounds), "max_bin": 20}
    expected = dump(lgb.Dataset, NORMAL, params, tmp_path)
    assert dump(SampledDataset, NORMAL, params, tmp_path) == expected
    assert dump(lgb.Dataset, NORMAL, {"max_bin": 20}, tmp_path) != expected


def test_reference(tmp_path):
    """Rows of another set are binned as those of the reference."""
    train, other = NORMAL[:2000], 2.0 * NORMAL[2000:]
    ours, plain = (kind(train, label=train[:, 0], params={"verbosity": -1}) for kind in (SampledDataset, lgb.Dataset))
    assert dump(SampledDataset, other, {}, tmp_path, reference=ours) == dump(
        lgb.Dataset, other, {}, tmp_path, reference=plain
    )
    assert ours._handle is not None


@pytest.mark.parametrize("linear_tree", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_same_model(order, linear_tree, monkeypatch):
    """Trees that are grown on it are the same; linear ones need the matrix itself too."""
    monkeypatch.setattr(lightgbm_dataset, "_ROWS_AT_A_TIME", 700)
    X = np.array(MIXED, order=order)
    params = {"verbosity": -1, "num_leaves": 7, "bin_construct_sample_cnt": 700, "seed": 3, "linear_tree": linear_tree}
    params |= {"bagging_fraction": 0.5, "bagging_freq": 1}
    y = MIXED[:, 0] + np.nan_to_num(MIXED[:, 6])
    texts = [
        lgb.train(params, kind(X, label=y, params=dict(params)), 5).model_to_string()
        for kind in (lgb.Dataset, SampledDataset)
    ]
    assert texts[0] == texts[1]


VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf, 1e-35, -1e-36]), st.floats(width=32))


@given(X=arrays(np.float32, st.tuples(st.integers(30, 60), st.integers(1, 5)), elements=VALUES), n=st.integers(20, 60))
def test_same_data_set_of_any_values(tmp_path_factory, X, n):
    """Any values, seen in part or all."""
    params = {"bin_construct_sample_cnt": n, "min_data_in_bin": 1, "min_data_in_leaf": 1}
    folder = tmp_path_factory.mktemp("dumps")
    assert dump(SampledDataset, X, params, folder) == dump(lgb.Dataset, X, params, folder)


def test_our_way_is_taken(monkeypatch):
    """Large matrices of floats are sampled here, small ones and others by LightGBM."""
    sampled = []
    create = lightgbm_dataset._create
    monkeypatch.setattr(lightgbm_dataset, "_create", lambda *args: sampled.append(len(args[0])) or create(*args))
    monkeypatch.setattr(lightgbm_dataset, "_MIN_ENTRIES", NORMAL.size)
    for X in (NORMAL, NORMAL[:-1], NORMAL.astype(np.float16)):
        SampledDataset(X, label=X[:, 0], params={"verbosity": -1}).construct()
    assert sampled == [5]
