"""scikit-learn's own checks of estimators, on XGBoost's plain model and, with groups made up, on the fair one."""

import pytest
import xgboost as xgb
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from estimators.made_up_groups import assert_penalty_is_at_work, fit_with_groups
from otfairboost import FairXGBClassifier, FairXGBRegressor


class GroupedClassifier(FairXGBClassifier):
    fit = fit_with_groups


class GroupedRegressor(FairXGBRegressor):
    fit = fit_with_groups


PLAIN = [FairXGBClassifier(fairness_weight=0, n_jobs=1), FairXGBRegressor(fairness_weight=0, n_jobs=1)]
GROUPED = [GroupedClassifier(n_jobs=1), GroupedRegressor(n_jobs=1)]


BY_WEIGHT = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    if estimator.fairness_weight > 0:
        return dict.fromkeys(BY_WEIGHT, "groups are made up by row number, so repeated rows change theirs")
    if isinstance(estimator, xgb.XGBRegressor):
        return {"check_regressor_multioutput": "XGBoost's: predictions are in single precision"}
    return {
        **dict.fromkeys(BY_WEIGHT, "XGBoost's: weights move the limits of its bins"),
        "check_estimators_overwrite_params": "XGBoost's: with three classes it sets objective",
        "check_dont_overwrite_parameters": "XGBoost's: the same",
        "check_classifiers_multilabel_output_format_predict": "XGBoost's: it returns floats",
    }


@parametrize_with_checks(PLAIN + GROUPED, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:sensitive_features. groups of fewer than 30 rows")  # the checks' data are small
@pytest.mark.filterwarnings("ignore:Unknown data type")  # XGBoost's own, of sparse formats that it converts
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "theirs"), list(zip(PLAIN, [xgb.XGBClassifier(n_jobs=1), xgb.XGBRegressor(n_jobs=1)], strict=True))
)
@pytest.mark.filterwarnings("ignore")
def test_no_more_is_exempted_than_fails_with_xgboost(estimator, theirs):
    results = check_estimator(theirs, on_skip=None, on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert set(expected_failures(estimator)) <= failed


def test_the_checks_do_reach_the_penalty():
    assert_penalty_is_at_work(GroupedRegressor(n_jobs=1), FairXGBRegressor(fairness_weight=0, n_jobs=1))
