"""What is refused with more than two classes; nothing is trained or forgotten."""

import re

import lightgbm as lgb
import numpy as np
import pytest

from estimators.bad_calls import LOANS, N, assert_refused, case
from estimators.samples import SMALL, make_grades
from otfairboost import FairLGBMClassifier

GRADES = make_grades(N)
EVAL = {"eval_X": LOANS.X[:99], "eval_y": GRADES.y[:99], "eval_sensitive_features": LOANS.groups[:99]}
TWO_GRADES = np.flatnonzero(GRADES.y != "poor")[:80]
LACKING = {name: values[TWO_GRADES] for name, values in
           {"eval_X": LOANS.X, "eval_y": GRADES.y, "eval_sensitive_features": LOANS.groups}.items()}  # fmt: skip

CASES = [
    case("objective='multiclassova' is not available with fairness_weight > 0 or fairness metrics; allowed with 3 "
         "classes is 'multiclass'", {"objective": "multiclassova"}),
    case("objective='binary' is not available with fairness_weight > 0 or fairness metrics; allowed with 3 classes is "
         "'multiclass'", {"objective": "binary"}),
    case("objective='multiclass' is not available with fairness_weight > 0 or fairness metrics; allowed are 'binary'",
         {"objective": "multiclass"}, y=LOANS.y),
    case("fairness='true_positive_rate_parity' needs a target of two classes, a positive and a negative one, but y has "
         "3; allowed with more classes are 'demographic_parity' and 'equalized_odds'",
         {"fairness": "true_positive_rate_parity"}),
    case("fairness='false_positive_rate_parity' needs a target of two", {"fairness": "false_positive_rate_parity"}),
    case("score_space='link' is not available with more than two classes", {"score_space": "link"}),
    case("decision_threshold=0.4 is not available with more than two classes", {"decision_threshold": 0.4}),
    case("init_score has shape (300,), but y has 3 classes and X has 300 rows; allowed are (300, 3) and, one class "
         "after the other, (900,)", init_score=np.zeros(N)),
    case("init_score contains infinity", init_score=np.full((N, 3), np.inf)),
    case("eval_init_score[0] has shape (99, 2), but y has 3 classes and eval_X[0] has 99 rows", **EVAL,
         eval_init_score=[np.zeros((99, 2))]),
    case("init_model has 1 trees per iteration; only a model with 3, one for each class of y, can be continued",
         init_model=lgb.LGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y)),
    case("eval_y[0] holds labels that were not seen in training: ['best']", **(EVAL | {"eval_y": ["best"] * 99})),
    case("eval_y[0] has no row of class poor; eval_metric 'fair_objective' compares groups within each class",
         {"fairness": "equalized_odds"}, **LACKING),
    case("eval_y[0] has no row of class poor; eval_metric 'multiclass_equalized_odds_difference' compares", **LACKING,
         eval_metric="multiclass_equalized_odds_difference"),
    case("eval_metric 'demographic_parity_difference' is for two classes, but y has 3; allowed are ", **EVAL,
         eval_metric="demographic_parity_difference"),
    case("eval_metric 'multiclass_log_loss' is for more than two classes, which y does not have", y=LOANS.y,
         eval_X=LOANS.X[:99], eval_y=LOANS.y[:99], eval_metric="multiclass_log_loss"),
    case("eval_metric 'auc' is unknown or not available with fairness_weight > 0; allowed are a function and accuracy, "
         "auc_mu, ", **EVAL, eval_metric="auc"),
    case("eval_metric 'multiclass_wasserstein_distance' needs eval_sensitive_features[0], which is missing",
         eval_X=EVAL["eval_X"], eval_y=EVAL["eval_y"], eval_metric="multiclass_wasserstein_distance"),
    case("gap_metric='demographic_parity_difference' is not a gap; allowed are 'multiclass_demographic_parity_d",
         {"max_gap": 0.1, "gap_metric": "demographic_parity_difference"}),
    case("gap_cv: the training rows of fold 0 have no row of class poor; use fewer folds",
         {"max_gap": 0.1, "gap_cv": [(TWO_GRADES, np.flatnonzero(GRADES.y == "poor"))]}),
]  # fmt: skip


@pytest.mark.parametrize(("params", "fit", "error", "message", "regressor"), CASES)
def test_bad_calls_are_refused(params, fit, error, message, regressor):
    assert_refused(params, {"y": GRADES.y} | fit, error, message, regressor)


@pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
def test_evaluation_sets_may_lack_a_class_where_nothing_is_compared_within_it():
    model = FairLGBMClassifier(**SMALL).fit(LOANS.X, GRADES.y, sensitive_features=LOANS.groups, **LACKING)
    assert list(model.evals_result_["valid_0"]) == ["fair_objective"]


def test_a_model_of_several_classes_does_not_continue_with_two():
    first = FairLGBMClassifier(**SMALL).fit(LOANS.X, GRADES.y, sensitive_features=LOANS.groups)
    with pytest.raises(ValueError, match=re.escape("init_model has 3 trees per iteration; only a model with one, for")):
        FairLGBMClassifier(**SMALL).fit(LOANS.X, LOANS.y, sensitive_features=LOANS.groups, init_model=first)
