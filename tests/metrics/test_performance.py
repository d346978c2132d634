import numpy as np
import pytest
import sklearn.metrics as sklearn_metrics

from metric_rows import PERFORMANCE, make_rows, prediction
from otfairboost import metrics
from otfairboost.metrics import METRICS


@pytest.mark.parametrize("weighted", [False, True])
def test_performance_metrics_are_scikit_learns(weighted):
    y, decision, score, group, weight = make_rows(12)
    weight = weight if weighted else None
    expected = {
        "average_precision": sklearn_metrics.average_precision_score(y, score, sample_weight=weight),
        "roc_auc": sklearn_metrics.roc_auc_score(y, score, sample_weight=weight),
        "accuracy": sklearn_metrics.accuracy_score(y, decision, sample_weight=weight),
        "log_loss": sklearn_metrics.log_loss(y, score, sample_weight=weight),
        "mean_absolute_error": sklearn_metrics.mean_absolute_error(y, score, sample_weight=weight),
        "mean_squared_error": sklearn_metrics.mean_squared_error(y, score, sample_weight=weight),
    }
    assert set(expected) == set(PERFORMANCE)
    for name, value in expected.items():
        metric, y_pred = METRICS[name].function, prediction(name, decision, score)
        assert metric(y, y_pred, sensitive_features=group, sample_weight=weight) == value
        assert metric(y, y_pred, sample_weight=weight) == value
    named = np.array(["zero", "one"])[y]  # "one" < "zero": the greater label is not the positive one
    for name in ("average_precision", "roc_auc", "log_loss"):
        value = METRICS[name].function(named, score, sample_weight=weight, pos_label="one")
        assert value == pytest.approx(expected[name])


def test_log_loss_of_one_class():
    assert metrics.log_loss([0, 0], [0.5, 0.5]) == pytest.approx(np.log(2))
