"""Ways to call XGBoost's fair estimators that are refused: a message in XGBoost's names, and nothing trained."""

import copy
import re
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
import xgboost as xgb

import otfairboost
from estimators.samples import make_loans, make_wages
from otfairboost import FairXGBClassifier, FairXGBRegressor

SMALL = {"n_jobs": 1, "n_estimators": 5, "max_depth": 3}
LOANS, WAGES = make_loans(200), make_wages(200)
FITTED = {
    kind: kind(**SMALL).fit(rows.X, rows.y, sensitive_features=rows.groups)
    for kind, rows in ((FairXGBClassifier, LOANS), (FairXGBRegressor, WAGES))
}
PAIR = (LOANS.X.copy(), LOANS.y.copy())  # other arrays: not known to be the training rows


def never(*_, **__):
    raise AssertionError("trained in spite of bad input")


@pytest.mark.parametrize(
    ("kind", "params", "arguments", "error", "message"),
    [
        (0, {}, {"sensitive_features": None}, ValueError, "sensitive_features is missing"),
        (0, {}, {"y": LOANS.y[:9]}, ValueError, "y has 9 rows, but X has 200"),
        (0, {}, {"y": np.ones(200)}, ValueError, "y must have at least 2 classes with fairness_weight > 0"),
        (0, {"objective": "multi:softmax"}, {"y": np.arange(200) % 3}, ValueError,
         "objective='multi:softmax' is not available with fairness_weight > 0 or fairness metrics; allowed with 3 "
         "classes is 'multi:softprob'"),
        (0, {}, {"y": np.arange(200) % 3, "base_margin": np.zeros(200)}, ValueError,
         "base_margin has shape (200,), but y has 3 classes and X has 200 rows; allowed are (200, 3)"),
        (0, {"fairness": "true_positive_rate_parity"}, {"y": np.arange(200) % 3}, ValueError,
         "fairness='true_positive_rate_parity' needs a target of two classes"),
        (0, {}, {"base_margin": [0.0]}, ValueError, "base_margin has 1 rows, but X has 200"),
        (0, {}, {"sample_weight": np.zeros(200)}, ValueError, "sample_weight is zero for every row"),
        (0, {}, {"xgb_model": 3}, TypeError, "xgb_model is a int; allowed are"),
        (0, {}, {"eval_set": [PAIR], "sample_weight_eval_set": [[1.0]]}, ValueError,
         "sample_weight_eval_set[0] has 1 rows, but X of eval_set[0] has 200"),
        (0, {}, {"eval_set": [(LOANS.X[:, :2], LOANS.y)]}, ValueError, "X of eval_set[0] has 2 columns, but X has 5"),
        (0, {}, {"eval_set": [(LOANS.X, LOANS.y + 1)]}, ValueError, "y of eval_set[0] holds labels that were not seen"),
        (0, {}, {"eval_sensitive_features": LOANS.groups}, ValueError,
         "eval_sensitive_features is given, but there is no evaluation set; give eval_set as well"),
        (0, {"early_stopping_rounds": 3}, {}, ValueError, "early_stopping_rounds=3 needs rows to stop on"),
        (0, {"eval_metric": "fair_objective"}, {"eval_set": [PAIR]}, ValueError,
         "eval_metric 'fair_objective' needs eval_sensitive_features[0]"),
        (0, {"objective": "binary:hinge"}, {}, ValueError, "objective='binary:hinge' is not available"),
        (1, {"objective": "reg:gamma"}, {}, ValueError, "objective='reg:gamma' is not available"),
        (1, {"y": 0}, {"y": np.full(200, 1e39)}, ValueError, "y has values beyond 3.40282e+38, which the booster's"),
        (0, {"booster": "gblinear"}, {}, ValueError, "booster='gblinear' is not available with fairness_weight > 0"),
        (0, {"process_type": "update"}, {}, ValueError, "process_type='update' is not available"),
        (0, {"learning_rate": "fast"}, {}, ValueError, "learning_rate='fast' must be a number"),
        (0, {"fairness_weigth": 3}, {}, ValueError, "fairness_weigth is not a parameter; fairness_weight is"),
        (0, {"fairness": "odds"}, {}, ValueError, "fairness='odds' is unknown"),
        (0, {"max_gap": 0.1}, {"base_margin": np.zeros(200)}, ValueError,
         "base_margin is not available with max_gap: predictions do not contain it; use xgb_model"),
        (0, {"max_gap": 0.1, "gap_cv": "eval_set"}, {}, ValueError,
         "gap_cv='eval_set' measures the gap on the first evaluation set; give eval_set and"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_and_the_fitted_model_stays(kind, params, arguments, error, message):
    kind, rows = ((FairXGBClassifier, LOANS), (FairXGBRegressor, WAGES))[kind]
    params.pop("y", None)
    model = copy.deepcopy(FITTED[kind])
    booster = model._Booster
    fresh = kind(**SMALL | params)
    vars(model).update(vars(fresh))
    given = {"X": rows.X, "y": rows.y, "sensitive_features": rows.groups, "verbose": False, **arguments}
    with mock.patch.object(xgb.Booster, "update", never), pytest.raises(error, match="^" + re.escape(message)):
        model.fit(**given)
    assert model._Booster is booster
    assert model.groups_ == ("blue", "green")


def test_an_unknown_metric_is_xgboosts_error_and_nothing_is_kept():
    model = FairXGBClassifier(**SMALL, eval_metric="fair_objectiv")
    with pytest.raises(ValueError, match="Unknown metric function fair_objectiv"):
        model.fit(*PAIR, sensitive_features=LOANS.groups, eval_set=[PAIR], verbose=False)
    assert not hasattr(model, "_Booster")


def test_an_absent_extra_names_the_line_to_run():
    code = """
import sys
sys.modules["xgboost"] = None
import otfairboost
try:
    otfairboost.FairXGBClassifier
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "xgboost is not installed; run: pip install 'otfairboost[xgboost]'"


def test_the_package_lists_what_it_imports_late():
    assert {"FairXGBClassifier", "FairXGBRegressor", "FairLGBMClassifier"} <= set(dir(otfairboost))
    with pytest.raises(AttributeError, match="FairXGBRanker"):
        _ = otfairboost.FairXGBRanker
