"""Bad evaluation sets and metrics: they are refused before anything is trained."""

import numpy as np
import polars as pl
import pytest

from estimators.bad_calls import LOANS, WAGES, assert_refused, case
from estimators.samples import SMALL
from otfairboost import FairLGBMClassifier

EVAL = {"eval_X": LOANS.X[:99], "eval_y": LOANS.y[:99], "eval_sensitive_features": LOANS.groups[:99]}
TWO = {"eval_X": (LOANS.X[:99], LOANS.X[99:]), "eval_y": (LOANS.y[:99], LOANS.y[99:])}
EVALUATION = [
    case("eval_metric 'fairness' is unknown or not available with fairness_weight > 0; allowed are a function and "
         "accuracy, auc", **EVAL, eval_metric="fairness"),
    case("eval_metric holds 3; allowed are names and functions", error=TypeError, **EVAL, eval_metric=["auc", 3]),
    case(f"eval_metric {len!r} takes 1 arguments; allowed are functions of 2, 3 or 4", error=TypeError, **EVAL,
         eval_metric=len),
    case("eval_metric 'accuracy' compares decisions, but a regressor has scores only", regressor=True,
         eval_X=WAGES.X, eval_y=WAGES.y[::-1], eval_metric="accuracy"),
    case("eval_metric 'roc_auc' cannot be computed on the training rows: y_true holds", regressor=True,
         eval_X=WAGES.X, eval_y=WAGES.y, eval_metric="roc_auc"),
    case("eval_metric 'fair_objective' needs eval_sensitive_features[0], which is missing",
         **EVAL | {"eval_sensitive_features": None}, eval_metric="fair_objective"),
    case("eval_metric 'wasserstein_distance' compares groups, but eval_sensitive_features[0] holds only 'blue'",
         **EVAL | {"eval_sensitive_features": ["blue"] * 99}, eval_metric="wasserstein_distance"),
    case("eval_metric 'fair_objective' compares groups, but eval_sensitive_features[0] holds only missing values",
         **EVAL | {"eval_sensitive_features": [None] * 99}),
    case("eval_sensitive_features[0] has 98 rows, but X has 99",
         **EVAL | {"eval_sensitive_features": LOANS.groups[:98]}),
    case("eval_sensitive_features[0] holds groups that were not seen in training: red; seen were blue, green",
         **EVAL | {"eval_sensitive_features": ["blue", "red", "red"] * 33}),
    case("eval_sensitive_features has 1 entries, but there are 2 evaluation sets", **TWO,
         eval_sensitive_features=[LOANS.groups[:99]]),
    case("eval_sensitive_features must be a list with one entry per evaluation set, got ndarray", error=TypeError,
         **TWO, eval_sensitive_features=LOANS.groups),
    case("eval_sensitive_features has the keys ['sex']; allowed are the numbers", **TWO,
         eval_sensitive_features={"sex": LOANS.groups}),
    case("eval_sensitive_features is given, but there is no evaluation set", eval_sensitive_features=LOANS.groups),
    case("eval_y[0] holds labels that were not seen in training: [7]; seen were [0, 1]", **EVAL | {"eval_y": [7] * 99}),
    case("eval_y[0] contains 99 missing values", **EVAL | {"eval_y": np.full(99, np.nan)}),
    case("eval_y[0] has 98 rows, but eval_X[0] has 99", **EVAL | {"eval_y": LOANS.y[:98]}),
    case("eval_y[1] contains infinity", regressor=True, eval_X=(WAGES.X, WAGES.X),
         eval_y=(WAGES.y, np.full(300, np.inf))),
    case("eval_X[0] has 3 columns, but X has 5", **EVAL | {"eval_X": LOANS.X[:99, :3]}),
    case("eval_X[0] has 0 sample(s); at least 1 are needed", **EVAL | {"eval_X": LOANS.X[:0]}),
    case("eval_X[0] has columns that LightGBM cannot read: 'a' (String)",
         **EVAL | {"eval_X": pl.DataFrame({"a": LOANS.groups})}),
    case("eval_X and eval_y go together; eval_X is given and eval_y is not", **EVAL | {"eval_y": None}),
    case("eval_X and eval_y must both be tuples of the same length", **TWO | {"eval_y": (LOANS.y,)}),
    case("eval_set and eval_X, eval_y say the same; give one of them", **EVAL, eval_set=[(LOANS.X, LOANS.y)]),
    case("eval_set[0] must be a pair (X, y), got ndarray", eval_set=[LOANS.X, LOANS.y]),
    case("eval_sample_weight[0] has 98 rows, but eval_X[0] has 99", **EVAL, eval_sample_weight=[np.ones(98)]),
    case("eval_sample_weight[0] must not be negative, got -2", **EVAL, eval_sample_weight=[np.full(99, -2.0)]),
    case("eval_sample_weight[0] is zero for every row", **EVAL, eval_sample_weight=[np.zeros(99)]),
    case("eval_sample_weight must be a list with one entry per evaluation set, got ndarray", error=TypeError, **EVAL,
         eval_sample_weight=np.ones(99)),
    case("eval_sample_weight has 2 entries, but there are 1 evaluation sets", **EVAL,
         eval_sample_weight=[np.ones(99)] * 2),
    case("eval_init_score[0] has 98 rows, but eval_X[0] has 99", **EVAL, eval_init_score=[np.ones(98)]),
    case("eval_class_weight[0] holds labels that y has not: [7]", **EVAL, eval_class_weight=[{7: 1.0}]),
    case("eval_metric 'gamma' needs a positive target, but that of evaluation set 0 goes down to -1", regressor=True,
         eval_X=WAGES.X[:2], eval_y=[-1.0, 1.0], eval_metric="gamma"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "fit", "error", "message", "regressor"), EVALUATION)
def test_bad_evaluation_is_refused(params, fit, error, message, regressor):
    assert_refused(params, fit, error, message, regressor)


def test_a_function_that_returns_something_else_is_named():
    def mean(y_true, y_pred):
        return float(np.mean(y_pred))

    with pytest.raises(TypeError, match=r"eval_metric <function .*mean.* returned 0\.\d+, not \(name, value, greater"):
        FairLGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, **EVAL, eval_metric=mean)


def test_fairness_metrics_of_a_plain_model_need_two_classes():
    fit = {"y": np.ones(300), "eval_X": LOANS.X, "eval_y": np.ones(300), "eval_metric": "fair_objective"}
    message = "y must have at least 2 classes with fairness_weight > 0 or fairness metrics, got one class (1.0)"
    assert_refused({"fairness_weight": 0}, fit, ValueError, message, False)
