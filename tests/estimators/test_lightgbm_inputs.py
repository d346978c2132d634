"""What X, y, weights and sensitive features may be: the container must not matter."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from estimators.samples import ALMOST_PLAIN, SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor

LOANS = make_loans()
NAMES = [f"column {letter}" for letter in "abcde"]


def pandas_frame(X):
    return pd.DataFrame(X, columns=NAMES)


def pandas_categories(X):
    kind = pd.Categorical.from_codes(X[:, 4].astype(int), categories=list("uvwxyz"))
    return pandas_frame(X).assign(**{NAMES[4]: kind})


def pandas_mixed_numbers(X):
    types = {NAMES[0]: "float32", NAMES[1]: "Float64", NAMES[4]: "int8"}
    return pandas_frame(X).astype(types).assign(flag=X[:, 4] > 2)


FEATURES = {
    "numpy": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "integers": lambda X: np.nan_to_num(10 * X).astype(np.int32),
    "csr": lambda X: scipy.sparse.csr_matrix(np.nan_to_num(X)),
    "csc": lambda X: scipy.sparse.csc_matrix(np.nan_to_num(X)),
    "pandas": pandas_frame,
    "pandas_categories": pandas_categories,
    "pandas_mixed_numbers": pandas_mixed_numbers,
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}
WORDS = np.array(["no", "yes"])
LABELS = {
    "integers": lambda y: y,
    "other_integers": lambda y: np.where(y, 7, -2),
    "floats": lambda y: y.astype(float),
    "booleans": lambda y: y.astype(bool),
    "strings": lambda y: WORDS[y],
    "objects": lambda y: WORDS[y].astype(object),
    "list": lambda y: WORDS[y].tolist(),
    "pandas": lambda y: pd.Series(WORDS[y], index=np.arange(len(y))[::-1]),
    "pandas_categories": lambda y: pd.Series(WORDS[y]).astype("category"),
    "pandas_nullable": lambda y: pd.Series(y, dtype="Int64"),
    "polars": lambda y: pl.Series(WORDS[y]),
    "polars_booleans": lambda y: pl.Series(y.astype(bool)),
    "pyarrow": lambda y: pa.chunked_array([WORDS[y].tolist()]),
}
GROUPS = {
    "strings": lambda s: s,
    "objects": lambda s: s.astype(object),
    "list": lambda s: s.tolist(),
    "booleans": lambda s: s == "green",
    "integers": lambda s: np.where(s == "green", 12, -3),
    "floats": lambda s: np.where(s == "green", 1.5, 0.25),
    "column": lambda s: s[:, None],
    "pandas": lambda s: pd.Series(s, index=np.arange(len(s))[::-1]),
    "pandas_frame": lambda s: pd.DataFrame({"colour": s}),
    "pandas_categories": lambda s: pd.Series(s).astype("category"),
    "polars": lambda s: pl.Series(s),
    "polars_categories": lambda s: pl.Series(s, dtype=pl.Categorical),
    "pyarrow": lambda s: pa.array(s.tolist()),
    "pyarrow_chunks": lambda s: pa.chunked_array([s[:10].tolist(), s[10:].tolist()]),
    "generator": lambda s: (value for value in s.tolist()),
}


def fit(X=LOANS.X, y=LOANS.y, groups=LOANS.groups, **kwargs):
    params = {"fairness_weight": 3.0, **SMALL, **kwargs.pop("params", {})}
    return FairLGBMClassifier(**params).fit(X, y, sensitive_features=groups, **kwargs)


@pytest.fixture(scope="module")
def reference():
    return fit()


# ------------------------------------------------------------------------------------------------- features


@pytest.mark.parametrize("kind", FEATURES)
def test_features_are_read_as_by_lightgbm(kind):
    X = FEATURES[kind](LOANS.X)
    plain = lgb.LGBMClassifier(**SMALL).fit(X, LOANS.y)
    fair = fit(X, params={"fairness_weight": ALMOST_PLAIN})
    np.testing.assert_allclose(fair.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-12)
    assert fair.feature_name_ == plain.feature_name_
    assert fair.n_features_in_ == plain.n_features_in_
    assert hasattr(fair, "feature_names_in_") == hasattr(plain, "feature_names_in_")
    if hasattr(plain, "feature_names_in_"):
        np.testing.assert_array_equal(fair.feature_names_in_, plain.feature_names_in_)


@pytest.mark.parametrize("kind", ["pandas_categories", "polars", "csr"])
def test_evaluation_features_are_read_as_by_lightgbm(kind):
    X, X_eval = FEATURES[kind](LOANS.X), FEATURES[kind](LOANS.X[:200])
    evaluation = {"eval_X": X_eval, "eval_y": LOANS.y[:200], "eval_metric": ["binary_logloss", "auc"]}
    plain = lgb.LGBMClassifier(**SMALL).fit(X, LOANS.y, **evaluation)
    fair = fit(X, params={"fairness_weight": ALMOST_PLAIN}, **evaluation)
    for name, values in plain.evals_result_["valid_0"].items():
        np.testing.assert_allclose(fair.evals_result_["valid_0"][name], values, rtol=1e-12)


def test_evaluation_features_may_be_a_list(reference):
    # LightGBM takes lists for X only.
    fair = fit(eval_X=LOANS.X[:50].tolist(), eval_y=LOANS.y[:50].tolist(), eval_metric="binary_logloss")
    p = reference.predict_proba(LOANS.X[:50])[np.arange(50), LOANS.y[:50]]
    np.testing.assert_allclose(fair.evals_result_["valid_0"]["binary_logloss"][-1], -np.log(p).mean(), rtol=1e-12)


@pytest.mark.parametrize(
    ("X", "fit_arguments"),
    [
        (LOANS.X, {"categorical_feature": [4]}),
        (LOANS.X, {"feature_name": NAMES, "categorical_feature": [NAMES[4]]}),
        (pandas_frame(LOANS.X), {"categorical_feature": [NAMES[4]]}),
        (pandas_categories(LOANS.X), {}),
    ],
    ids=["index", "name", "pandas_name", "pandas_categories"],
)
def test_categorical_features_are_those_of_lightgbm(X, fit_arguments):
    params = {"max_cat_to_onehot": 2, "min_data_per_group": 20, "cat_smooth": 1.0}
    plain = lgb.LGBMClassifier(**SMALL, **params).fit(X, LOANS.y, **fit_arguments)
    fair = fit(X, params={"fairness_weight": ALMOST_PLAIN, **params}, **fit_arguments)
    if "feature_name" in fit_arguments:  # scikit-learn warns of an array where there were names
        X = pandas_frame(X)
    assert "cat_threshold" in plain.booster_.model_to_string()
    np.testing.assert_allclose(fair.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-12)
    assert fair.feature_name_ == plain.feature_name_
    assert fair.booster_.pandas_categorical == plain.booster_.pandas_categorical


# --------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_read_as_by_lightgbm(kind, reference):
    y = LABELS[kind](LOANS.y)
    plain = lgb.LGBMClassifier(**SMALL).fit(LOANS.X, y)
    fair = fit(y=y, eval_X=LOANS.X[:100], eval_y=LABELS[kind](LOANS.y[:100]), eval_metric="binary_error")
    np.testing.assert_array_equal(fair.predict_proba(LOANS.X), reference.predict_proba(LOANS.X))
    assert fair.classes_.dtype == plain.classes_.dtype
    np.testing.assert_array_equal(fair.classes_, plain.classes_)
    assert fair.n_classes_ == 2
    predicted = fair.predict(LOANS.X)
    assert predicted.dtype == plain.predict(LOANS.X).dtype
    np.testing.assert_array_equal(predicted, fair.classes_[reference.predict(LOANS.X)])
    wrong = reference.predict(LOANS.X[:100]) != LOANS.y[:100]
    assert fair.evals_result_["valid_0"]["binary_error"][-1] == pytest.approx(wrong.mean())


@pytest.mark.parametrize("weight", [0, 1e-30])
def test_evaluation_labels_are_translated_however_they_come(weight):
    # LightGBM 4.7.0 translates them in eval_set, and takes those in eval_y as they are.
    y = np.where(LOANS.y, 2, 1)
    model = {"params": {"fairness_weight": weight}, "y": y, "eval_metric": "binary_logloss"}
    by_pair = fit(**model, eval_set=[(LOANS.X[:99], y[:99])])
    by_name = fit(**model, eval_X=LOANS.X[:99], eval_y=y[:99])
    assert by_pair.evals_result_ == by_name.evals_result_
    p = by_pair.predict_proba(LOANS.X[:99])[np.arange(99), LOANS.y[:99]]
    np.testing.assert_allclose(by_name.evals_result_["valid_0"]["binary_logloss"][-1], -np.log(p).mean(), rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, list, pd.Series, pl.Series, lambda v: pa.chunked_array([v])])
def test_numbers_come_in_any_container(container):
    wages = make_wages()
    start = np.linspace(-1, 1, len(wages.y))
    columns = {"y": wages.y, "sample_weight": wages.weight, "init_score": start}
    want, got = (
        FairLGBMRegressor(**SMALL).fit(wages.X, sensitive_features=wages.groups, **given)
        for given in (columns, {name: container(values) for name, values in columns.items()})
    )
    np.testing.assert_array_equal(got.predict(wages.X), want.predict(wages.X))


def test_a_column_of_labels_warns_as_elsewhere():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        fit(y=LOANS.y[:, None])


# --------------------------------------------------------------------------------------- sensitive features


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_come_in_any_container(kind, reference):
    fair = fit(groups=GROUPS[kind](LOANS.groups))
    np.testing.assert_array_equal(fair.predict_proba(LOANS.X), reference.predict_proba(LOANS.X))
    assert len(fair.groups_) == 2


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_rows_without_a_group_count_in_the_loss_only(missing):
    groups = LOANS.groups.astype(object)
    groups[::3] = missing
    fair = fit(groups=groups)
    assert fair.groups_ == ("blue", "green")
    known = groups != missing if missing is None else np.arange(len(groups)) % 3 > 0
    only_known = fit(LOANS.X[known], LOANS.y[known], LOANS.groups[known])
    assert np.abs(fair.predict_proba(LOANS.X) - only_known.predict_proba(LOANS.X)).max() > 0.01
    plain = fit(params={"fairness_weight": 0})
    gap = [
        np.ptp([model.predict_proba(LOANS.X)[(LOANS.groups == g) & known, 1].mean() for g in ("blue", "green")])
        for model in (fair, plain)
    ]
    assert gap[0] < 0.7 * gap[1]


@pytest.mark.parametrize(
    "frame", [np.column_stack, lambda c: list(map(list, zip(*c, strict=True))),
              lambda c: pd.DataFrame(dict(zip("ab", c, strict=True))),
              lambda c: pl.DataFrame(dict(zip("ab", c, strict=True))),
              lambda c: pa.table(dict(zip("ab", c, strict=True)))],
    ids=["numpy", "list", "pandas", "polars", "pyarrow"],
)  # fmt: skip
def test_several_columns_form_intersections(frame):
    half = np.where(LOANS.X[:, 4] > 2, "old", "young")
    fair = fit(groups=frame([LOANS.groups, half]))
    assert fair.groups_ == (("blue", "old"), ("blue", "young"), ("green", "old"), ("green", "young"))
    joined = fit(groups=[f"{a} {b}" for a, b in zip(LOANS.groups, half, strict=True)])
    np.testing.assert_array_equal(fair.predict_proba(LOANS.X), joined.predict_proba(LOANS.X))


def test_groups_are_not_needed_to_predict(reference):
    assert reference.predict(LOANS.X[:3]).shape == (3,)
    assert reference.n_features_in_ == LOANS.X.shape[1]


@pytest.mark.parametrize(
    "wrap", [lambda s: s, lambda s: [s], lambda s: (s,), lambda s: s.tolist(), pd.Series, lambda s: {0: s}],
    ids=["array", "list", "tuple", "values", "series", "dict"],
)  # fmt: skip
def test_groups_of_a_single_evaluation_set_need_no_list(wrap):
    part = {"eval_X": LOANS.X[:300], "eval_y": LOANS.y[:300]}
    want = fit(**part, eval_sensitive_features=[LOANS.groups[:300]])
    got = fit(**part, eval_sensitive_features=wrap(LOANS.groups[:300]))
    assert got.evals_result_ == want.evals_result_
    assert list(got.evals_result_["valid_0"]) == ["fair_objective"]
