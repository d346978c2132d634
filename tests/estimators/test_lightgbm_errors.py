"""Bad parameters, rows and groups: the message names the argument, what was seen and what is allowed."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from estimators.bad_calls import LOANS, WAGES, N, assert_refused, case, never
from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor

PARAMETERS = [
    case("fairness='parity' is unknown; allowed are 'conditional_demographic_parity', 'demographic_parity', 'equa",
         {"fairness": "parity"}),
    case("fairness_weight=-1 must be a finite number >= 0", {"fairness_weight": -1}),
    case("fairness_weight=nan must be a finite number >= 0", {"fairness_weight": np.nan}),
    case("fairness_weight=inf must be a finite number >= 0", {"fairness_weight": np.inf}),
    case("fairness_weight='1' must be a finite number >= 0, got str", {"fairness_weight": "1"}, TypeError),
    case("fairness_weight=True must be a finite number >= 0, got bool", {"fairness_weight": True}, TypeError),
    case("fairness_weight=None must be a finite number >= 0, got NoneType", {"fairness_weight": None}, TypeError),
    case("multi_group='all' is unknown; allowed are 'one_vs_rest', 'barycenter'", {"multi_group": "all"}),
    case("group_weighting='rows' is unknown; allowed are 'equal', 'size'", {"group_weighting": "rows"}),
    case("transport=['exact'] is unknown; allowed are 'histogram', 'exact', 'kde'", {"transport": ["exact"]}),
    case("ties='first' is unknown; allowed are 'average', 'right', 'left'", {"ties": "first"}),
    case("ties='right' needs transport='exact', got transport='histogram'", {"ties": "right"}),
    case("bandwidth=0 must be a finite number > 0", {"bandwidth": 0}),
    case("n_bins=3 must be None or an integer from 16 to 65536", {"n_bins": 3}),
    case("n_bins=99.5 must be None or an integer from 16 to 65536, got float", {"n_bins": 99.5}, TypeError),
    case("focus=0.5 must be a number from 1 to 1000", {"focus": 0.5}),
    case("decision_threshold=1 must be a number between 0 and 1", {"decision_threshold": 1}),
    case("fairness_hessian='full' is unknown; allowed are 'auto', 'paper' and a num", {"fairness_hessian": "full"}),
    case("fairness_hessian=-1 must be 'auto', 'paper' or a finite number >= 0", {"fairness_hessian": -1}),
    case("fairness_hessian=array([1.]) must be 'auto'", {"fairness_hessian": np.ones(1)}, TypeError),
    case("fairnes_weight is not a parameter; fairness_weight is", {"fairnes_weight": 3}),
    case("boosting='rf' is not available with fairness_weight > 0", {"boosting_type": "rf"}),
    case("boosting='random_forest' is not available with fairness_weight", {"boosting": "random_forest"}),
    case("pos_bagging_fraction=0.5 is not available", {"pos_bagging_fraction": 0.5}),
    case("neg_bagging_fraction=0.5 is not available", {"neg_bagging": 0.5}),
    case("reg_sqrt=True is not available", {"reg_sqrt": True}, regressor=True),
    case("sigmoid=2 is not available", {"sigmoid": 2}),
    case("num_class=2 is not available", {"num_class": 2}),
    case("num_machines=2 is not available", {"num_machines": 2}),
    case("machines='here:1,there:2' is not available", {"workers": "here:1,there:2"}),
    case("machine_list_filename='list.txt' is not available", {"machine_list_file": "list.txt"}),
    case("objective='poisson' is not available with fairness_weight > 0 or fairness metrics; allowed are 'binary' and "
         "'cross_entropy'", {"objective": "poisson"}),
    case(f"objective={never!r} is not available with fairness_weight > 0", {"objective": never}),
    case("objective='gamma_deviance' is not available with fairness_weight > 0 or fairness metrics; allowed are "
         "'regression', 'regression_l1', 'huber', 'fair', 'quantile', 'mape', 'poisson', 'gamma', 'tweedie' and "
         "'cross_entropy'", {"objective": "gamma_deviance"}, regressor=True),
    case("alpha=1.5 of objective='quantile' must be a number between 0 and 1", {"objective": "quantile", "alpha": 1.5},
         regressor=True),
    case("tweedie_variance_power=2.0 of objective='tweedie' must be", {"objective": "tweedie",
         "tweedie_variance_power": 2}, regressor=True),
    case("y must be numbers from 0 to 1 with objective='cross_entropy', got ", {"objective": "xentropy"},
         regressor=True),
    case("score_space='log' is unknown; allowed are 'response', 'link'", {"score_space": "log"}),
    case("focus=4 needs score_space='response', got score_space='link'", {"score_space": "link", "focus": 4}),
    case("alpha=-1.0 of objective='huber' must be a positive number", {"objective": "huber", "alpha": -1},
         regressor=True),
    case("learning_rate='fast' must be a number", {"learning_rate": "fast"}),
    case("is_unbalance and scale_pos_weight=2 exclude each other", {"is_unbalance": True, "scale_pos_weight": 2}),
    case("class_weight holds labels that y has not: ['a']; y has [0, 1]", {"class_weight": {"a": 2.0}}),
    case("class_weight must not be negative, got -1", {"class_weight": {0: -1.0}}),
    case("fairness='true_positive_rate_parity' compares groups among rows of the same label and needs a discrete tar",
         {"fairness": "true_positive_rate_parity"}, regressor=True),
    case("alpha=1.5 of objective='quantile' must be a number between 0 and 1",
         {"objective": "quantile", "alpha": 1.5}, regressor=True),
    case("sensitive_features holds only missing values; at least two groups", sensitive_features=[None] * N),
    case("sensitive_features holds only missing values; at least one number", {"sensitive_bins": 3},
         sensitive_features=[np.nan] * N),
    case("sensitive_bins=[65, 25] must be finite numbers in ascending order, each once", {"sensitive_bins": [65, 25]},
         sensitive_features=np.arange(N) % 80),
    case("sensitive_features has 300 distinct values, at most 50 make sense as groups; bin a continuous attribute "
         "(sensitive_bins", sensitive_features=np.arange(N)),
    case("sensitive_features[0] holds only missing values; at least two groups", {"multi_attribute": "sum"},
         sensitive_features=np.column_stack([np.full(N, np.nan), np.arange(N) % 2])),
    case("control_features has a different value in every row, so no two rows are compared; cut it into intervals",
         {"fairness": "conditional_demographic_parity"}, control_features=np.arange(N)),
    case("fairness='conditional_demographic_parity' compares groups among rows of the same control_features, which",
         {"fairness": "conditional_demographic_parity"}),
    case("control_features has 10 rows, but X has 300", {"fairness": "conditional_demographic_parity"},
         control_features=[0, 1] * 5),
    case("control_features is given, but fairness='demographic_parity' and the metrics do not read it",
         control_features=np.arange(N) % 2),
    case("eval_metric 'conditional_wasserstein_distance' needs eval_control_features[0], which is missing",
         eval_metric="conditional_wasserstein_distance", eval_X=LOANS.X[:50], eval_y=LOANS.y[:50],
         eval_sensitive_features=LOANS.groups[:50]),
    case("eval_control_features[0] is missing; fairness='conditional_demographic_parity' compares groups among",
         {"fairness": "conditional_demographic_parity"}, control_features=np.arange(N) % 2, eval_X=LOANS.X[:50],
         eval_y=LOANS.y[:50], eval_sensitive_features=LOANS.groups[:50], eval_metric="fair_objective"),
    case("eval_control_features is given, but there is no evaluation set; give eval_X and eval_y as well",
         eval_control_features=[0, 1]),
    case("eval_control_features[0] has 2 columns, but control_features has 1",
         {"fairness": "conditional_demographic_parity"}, control_features=np.arange(N) % 2, eval_X=LOANS.X[:50],
         eval_y=LOANS.y[:50], eval_control_features=np.zeros((50, 2))),
    case("what fairness(target) returns has 3 rows, but X has 300", {"fairness": lambda target: [1, 2, 3]}),
    case("gap_metric is needed with fairness='conditional_demographic_parity'; allowed are",
         {"fairness": "conditional_demographic_parity", "multi_attribute": "sum", "max_gap": 0.1},
         control_features=np.arange(N) % 2,
         sensitive_features=np.column_stack([np.arange(N) % 2, np.arange(N) // 2 % 2])),
    case("gap_metric='conditional_wasserstein_distance' needs control_features, which are missing",
         {"gap_metric": "conditional_wasserstein_distance", "max_gap": 0.1}),
]  # fmt: skip
ROWS = [
    case("X has 0 sample(s); at least 2 are needed", X=LOANS.X[:0], y=[], sensitive_features=[]),
    case("X has 1 sample(s); at least 2 are needed", X=LOANS.X[:1], y=[1], sensitive_features=["blue"]),
    case("X has 1 sample(s); at least 2 are needed", X=pd.DataFrame(LOANS.X[:1]), y=[1], sensitive_features=["blue"]),
    case("Expected 2D array, got 1D array instead", X=LOANS.X[:, 0]),
    case("Found array with 0 feature(s)", X=LOANS.X[:, :0]),
    case("dtype='numeric' is not compatible with arrays of bytes/strings", X=LOANS.X.astype(str)),
    case("pandas dtypes must be int, float or bool.\nFields with bad pandas dtypes: 0: str", X=pd.DataFrame(LOANS.X)
         .astype(str)),
    case("Feature (a) appears more than one time", error=lgb.basic.LightGBMError,
         X=pd.DataFrame(LOANS.X, columns=list("aabcd"))),
    case("X has columns that LightGBM cannot read: 'a' (String); allowed are integers, floats and booleans",
         X=pl.DataFrame({"a": LOANS.groups, "b": LOANS.y})),
    case("X has columns that LightGBM cannot read: 'a' (Categorical)",
         X=pl.DataFrame({"a": pl.Series(LOANS.groups, dtype=pl.Categorical)}).to_arrow()),
    case("y has 299 rows, but X has 300; both need the same number", y=LOANS.y[1:]),
    case("y has 300 rows, but X has 299; both need the same number", X=pl.DataFrame(LOANS.X[1:])),
    case("y should be a 1d array with one value per row, got None", y=None),
    case("y should be a 1d array, got an array of shape (300, 2)", y=np.c_[LOANS.y, LOANS.y]),
    case("y contains 1 missing values (NaN)", y=np.where(np.arange(N) == 7, np.nan, LOANS.y)),
    case("y contains 1 missing values (NaN)", y=np.where(np.arange(N) == 7, np.nan, WAGES.y), regressor=True),
    case("y contains 2 missing values (NaN)", y=pd.Series([None, 1, 0, None] + [1] * 296, dtype="Int64")),
    case("y contains 1 missing values (NaN)", y=[None, "a", "b"] + ["b"] * 297),
    case("y contains infinity; it must be finite", y=np.where(LOANS.y, np.inf, 0.0), regressor=True),
    case("y has values beyond 3.40282e+38, which the booster's single precision", y=1e39 * WAGES.y, regressor=True),
    case("y must be numbers, got <U5", y=LOANS.groups, regressor=True),
    case("y must be numbers, got datetime64", y=np.full(N, "2020-01-01", "M8[D]"), regressor=True),
    case("y must have at least 2 classes with fairness_weight > 0 or fairness metrics, got one class (1)",
         y=np.ones(N, int)),
    case("Unknown label type: continuous", y=WAGES.y),
    case("sample_weight has 299 rows, but X has 300", sample_weight=LOANS.weight[1:]),
    case("sample_weight must not be negative, got -1", sample_weight=-np.ones(N)),
    case("sample_weight contains 300 missing values", sample_weight=np.full(N, np.nan)),
    case("sample_weight is zero for every row; at least one must be positive", sample_weight=np.zeros(N)),
    case("sample_weight is zero for every row; at least one must be positive", sample_weight=np.full(N, 1e-50)),
    case("sample_weight should be a 1d array, got an array of shape (300, 2)", sample_weight=np.ones((N, 2))),
    case("init_score has 299 rows, but X has 300", init_score=np.zeros(N - 1)),
    case("init_score contains infinity", init_score=np.full(N, -np.inf)),
    case("init_score contains 300 missing values", init_score=np.full(N, np.nan), regressor=True),
    case("init_model is a int; allowed are a file name, a Booster and a fitted", error=TypeError, init_model=3),
    case("callbacks must be a list of functions, got function", error=TypeError, callbacks=never),
    case("callbacks must be a list of functions, but it holds 3", error=TypeError, callbacks=[3]),
]  # fmt: skip
GROUPS = [
    case("sensitive_features is missing; with fairness_weight=5.0 fit needs the group of each row (fairness_weight=0 "
         "trains the plain model)", sensitive_features=None),
    case("sensitive_features has 299 rows, but X has 300", sensitive_features=LOANS.groups[1:]),
    case("sensitive_features holds only 'blue'; at least two groups are needed", sensitive_features=["blue"] * N),
    case("sensitive_features holds only missing values; at least two groups", sensitive_features=[None] * N),
    case("sensitive_features holds only missing values; at least two", sensitive_features=np.full(N, np.nan)),
    case("sensitive_features has 51 distinct values, at most 50 make sense as groups; bin a continuous attribute",
         sensitive_features=np.arange(N) % 51),
    case("sensitive_features has 300 distinct values", sensitive_features=WAGES.y),
    case("sensitive_features is a dict; pass a data frame or an array", error=TypeError,
         sensitive_features={"a": LOANS.groups}),
    case("sensitive_features of type int cannot be read as an array", error=TypeError, sensitive_features=3),
    case("sensitive_features has shape (300, 1, 1)", sensitive_features=np.zeros((N, 1, 1))),
    case("sensitive_features has 299 rows, but X has 300", {"fairness_weight": 0}, sensitive_features=LOANS.y[1:]),
    case("ties='left' compares two groups; for more groups use ties='average'",
         {"ties": "left", "transport": "exact"}, sensitive_features=np.arange(N) % 3),
]  # fmt: skip


@pytest.mark.parametrize(("params", "fit", "error", "message", "regressor"), [*PARAMETERS, *ROWS, *GROUPS])
def test_bad_input_is_refused(params, fit, error, message, regressor):
    assert_refused(params, fit, error, message, regressor)


def test_a_model_of_several_trees_per_iteration_cannot_be_continued():
    three = lgb.LGBMClassifier(**SMALL).fit(LOANS.X, np.arange(N) % 3)
    assert_refused({}, {"init_model": three}, ValueError, "init_model has 3 trees per iteration", False)


def test_nothing_to_split_on_cannot_continue_a_model():
    plain = lgb.LGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y)
    fit = {"init_model": plain, "X": np.ones_like(LOANS.X)}
    assert_refused({}, fit, ValueError, "X has no column that can be split on, so there is nothing to continue", False)


def test_groups_without_a_common_stratum_are_refused():
    fit = {"sensitive_features": np.where(LOANS.y, "blue", "green")}
    with pytest.warns(UserWarning, match="no rows of group green where target = 1; the stratum is left out"):
        assert_refused({"fairness": "true_positive_rate_parity"}, fit, ValueError,
                       "sensitive_features: no stratum of target = 1 holds two groups", False)  # fmt: skip


# ----------------------------------------------------------------------------------- what only shows later


@pytest.mark.parametrize("transport", ["histogram", "exact"])
@pytest.mark.parametrize("evaluated", [False, True])
def test_divergence_stops_training(transport, evaluated):
    held_out = make_wages(90, seed=1)
    fit = {"eval_X": held_out.X, "eval_y": held_out.y, "eval_sensitive_features": held_out.groups} if evaluated else {}
    model = FairLGBMRegressor(
        **SMALL | {"n_estimators": 60}, transport=transport, fairness_weight=100, fairness_hessian=0, learning_rate=1.0
    )
    message = (
        r"^raw predictions became NaN or infinite at iteration \d+: training diverged. Lower learning_rate or "
        r"fairness_weight \(now 100\), raise fairness_hessian \(now a factor of 0\)"
    )
    with pytest.raises(FloatingPointError, match=message):
        model.fit(WAGES.X, WAGES.y, sensitive_features=WAGES.groups, **fit)
    assert not hasattr(model, "fitted_")
    model.set_params(fairness_hessian="auto", learning_rate=0.1).fit(WAGES.X, WAGES.y, sensitive_features=WAGES.groups)
    assert np.ptp(model.predict(WAGES.X)) < 2 * np.ptp(WAGES.y)


def test_an_interrupted_fit_leaves_the_fitted_model():
    model = FairLGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups)
    booster = model.booster_

    def interrupt(env):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(LOANS.X[:, :2], 1 - LOANS.y, sensitive_features=LOANS.groups, callbacks=[interrupt])
    assert model.booster_ is booster
    assert model.n_features_in_ == 5


def test_a_failed_first_fit_leaves_an_unfitted_model():
    model = FairLGBMClassifier(**SMALL)
    with pytest.raises(ValueError, match="sensitive_features is missing"):
        model.fit(LOANS.X, LOANS.y)
    with pytest.raises(lgb.compat.LGBMNotFittedError):
        model.predict(LOANS.X)
    assert not model.__sklearn_is_fitted__()


# -------------------------------------------------------------------------------------------------- warnings


def test_tiny_groups_warn_with_their_size():
    groups = np.where(np.arange(N) < 12, "tiny", LOANS.groups)
    with pytest.warns(UserWarning, match=r"fewer than 30 rows say little about a distribution: tiny \(12 rows"):
        FairLGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y, sensitive_features=groups)


def test_a_stratum_that_lacks_a_group_warns():
    groups = np.where((LOANS.y == 1) & (np.arange(N) % 2 == 0), "blue", "green")
    model = FairLGBMClassifier(**SMALL, fairness="equalized_odds")
    with pytest.warns(UserWarning, match="sensitive_features: no rows of group blue where target = 0; the stratum is"):
        model.fit(LOANS.X, LOANS.y, sensitive_features=groups)


def test_tiny_groups_among_evaluation_rows_warn_where_they_matter():
    few = make_loans(40, seed=1)
    fit = {"sensitive_features": LOANS.groups, "eval_X": few.X, "eval_y": few.y, "eval_sensitive_features": few.groups}
    with pytest.warns(UserWarning, match=r"eval_sensitive_features\[0\]: groups of fewer than 30 rows"):
        FairLGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y, **fit)
    FairLGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y, **fit, eval_metric="auc")  # warnings are errors


@pytest.mark.parametrize("weight", [0, 1.0])
@pytest.mark.parametrize("metric", [None, "auc", ["auc", "fair_objective", "demographic_parity_difference"]])
@pytest.mark.parametrize("by", ["eval_set", "eval_X"])
def test_normal_use_does_not_warn(weight, metric, by):
    # Warnings are errors. LightGBM 4.7 deprecates eval_set, which most code out there still has.
    evaluation = {"eval_set": [(LOANS.X, LOANS.y)]} if by == "eval_set" else {"eval_X": LOANS.X, "eval_y": LOANS.y}
    FairLGBMClassifier(**SMALL, fairness_weight=weight).fit(
        LOANS.X, LOANS.y, sample_weight=LOANS.weight, sensitive_features=LOANS.groups, **evaluation,
        eval_sensitive_features=LOANS.groups, eval_metric=metric,
    ).predict_proba(LOANS.X)  # fmt: skip
