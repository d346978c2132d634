import numpy as np
import pytest

from otfairboost import FairLGBMClassifier
from otfairboost.datasets import make_loan_applications
from otfairboost.report import frontier_report
from otfairboost.selection import FairnessFrontier


@pytest.fixture(scope="module")
def frontier():
    X, y, sex, _ = make_loan_applications(900, random_state=0)
    estimator = FairLGBMClassifier(n_estimators=8, num_leaves=7, decision_threshold=0.4, verbosity=-1, n_jobs=1)
    return FairnessFrontier(estimator, weights=[0, 2, 8], cv=2, n_jobs=1).fit(
        X, y, sensitive_features=np.where(np.arange(900) < 30, None, sex)
    )


def test_every_weight_is_a_model_on_the_held_out_rows(frontier):
    report = frontier_report(frontier, chosen=2.0, title="loans", sensitive_name="sex")
    assert [model.fairness_weight for model in report.models] == [0, 2, 8]
    assert (report.chosen, report.reference, report.threshold) == (1, 0, 0.4)
    assert [group.label for group in report.groups] == ["female", "male"]
    assert (report.n_rows, report.n_without_group) == (870, 30)
    score = frontier.predictions_[1]
    rows = frontier.held_out_.groups.codes == 1
    selected = (score[rows] >= 0.4).sum()
    result = report.models[1].groups[1]
    k = report.threshold_index
    assert result.selected_negative[k] + result.selected_positive[k] == selected
    assert report.models[1].parameters["n_estimators"] == "8"


def test_default_choice_is_the_best(frontier):
    report = frontier_report(frontier)
    assert report.models[report.chosen].fairness_weight == frontier.best().fairness_weight
    assert "75%" in report.reason


def test_errors(frontier):
    with pytest.raises(ValueError, match=r"chosen=3.0 is none of the frontier's weights 0, 2, 8"):
        frontier_report(frontier, chosen=3)
    bare = FairnessFrontier(frontier.estimator)
    with pytest.raises(ValueError, match="needs the held-out predictions"):
        frontier_report(bare)
