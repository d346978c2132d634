"""scikit-learn's own checks of estimators.

They know nothing of sensitive features. So they run on the plain model (``fairness_weight=0``), and, with all of the
penalty at work, on subclasses that make up groups themselves.
"""

import lightgbm as lgb
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.made_up_groups import assert_penalty_is_at_work, fit_with_groups
from otfairboost import FairLGBMClassifier, FairLGBMRegressor


class GroupedClassifier(FairLGBMClassifier):
    fit = fit_with_groups


class GroupedRegressor(FairLGBMRegressor):
    fit = fit_with_groups


# No parameter beyond those of the signature: scikit-learn wants no other attributes to be set by __init__.
PLAIN = [FairLGBMClassifier(fairness_weight=0, n_jobs=1), FairLGBMRegressor(fairness_weight=0, n_jobs=1)]
GROUPED = [
    GroupedClassifier(n_jobs=1),
    GroupedClassifier(n_jobs=1, transport="exact", multi_group="barycenter", focus=4.0),
    GroupedRegressor(n_jobs=1),
    GroupedRegressor(n_jobs=1, transport="exact", objective="huber"),
    GroupedClassifier(n_jobs=1, max_gap=0.9, gap_cv=2),
    GroupedRegressor(n_jobs=1, max_gap=0.9, gap_cv=2),
]


def expected_failures(estimator):
    if estimator.fairness_weight > 0:
        return {}
    # What LightGBM exempts itself from, and does fail (the checks of weights it exempts as well pass as they are run).
    return {
        "check_all_zero_sample_weights_error": "LightGBM takes weights that are all zero on purpose, to continue models"
    }


@parametrize_with_checks(PLAIN + GROUPED, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:sensitive_features. groups of fewer than 30 rows")  # the checks' data are small
@pytest.mark.filterwarnings("ignore:max_gap=0.9 is kept")  # on few rows all decisions may be the same
@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse matrix")  # LightGBM's own, when it predicts
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", PLAIN)
def test_no_more_is_exempted_than_by_lightgbm(estimator):
    theirs = lgb.LGBMModel()._more_tags()["_xfail_checks"]
    assert set(expected_failures(estimator)) <= set(theirs)


def test_the_checks_do_reach_the_penalty():
    assert_penalty_is_at_work(GroupedRegressor(n_jobs=1), FairLGBMRegressor(fairness_weight=0, n_jobs=1))
