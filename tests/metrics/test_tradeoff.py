from functools import partial

import fairlearn.metrics as fairlearn_metrics
import numpy as np
import pytest
import sklearn.metrics as sklearn_metrics

from metric_rows import make_rows
from otfairboost import metrics
from otfairboost.metrics import Metric


def test_tradeoff_by_hand():
    y, score, group = [0, 1, 0, 1], [0.1, 0.8, 0.5, 0.9], list("aabb")
    # The scores rank perfectly: average precision 1. At 0.5 (included) half of a and all of b are selected.
    keywords = {"sensitive_features": group}
    assert metrics.tradeoff_objective(y, score, **keywords) == pytest.approx(0.75 * 1 + 0.25 * 0.5)
    assert metrics.tradeoff_objective(y, score, alpha=0, **keywords) == pytest.approx(0.5)
    assert metrics.tradeoff_objective(y, score, alpha=1, **keywords) == pytest.approx(1)
    assert metrics.tradeoff_objective(y, score, threshold=0.85, **keywords) == pytest.approx(0.75 + 0.25 * 0.5)
    assert metrics.tradeoff_objective(y, score, threshold=0.6, **keywords) == pytest.approx(1)


def test_tradeoff_of_a_regression_by_hand():
    # MAE 0.1; the groups' predictions are shifted by 0.3.
    y, y_pred, group = [0.1, 0.3, 0.4, 0.6], [0.2, 0.4, 0.5, 0.7], [0, 0, 1, 1]
    value = metrics.tradeoff_objective(
        y,
        y_pred,
        sensitive_features=group,
        performance="mean_absolute_error",
        fairness="wasserstein_distance",
    )
    assert value == pytest.approx(0.75 * 0.9 + 0.25 * 0.7)


@pytest.mark.parametrize("weighted", [False, True])
def test_tradeoff_of_other_metrics_and_functions(weighted):
    y, decision, score, group, weight = make_rows(13, 3)
    weight = weight if weighted else None
    keywords = {"sensitive_features": group, "sample_weight": weight}
    odds = fairlearn_metrics.equalized_odds_difference(y, decision, **keywords)
    ratio = fairlearn_metrics.demographic_parity_ratio(y, decision, **keywords)
    auc = sklearn_metrics.roc_auc_score(y, score, sample_weight=weight)
    objective = partial(metrics.tradeoff_objective, y, score, alpha=0.4, **keywords)

    expected = pytest.approx(0.4 * auc + 0.6 * (1 - odds))
    assert objective(performance="roc_auc", fairness="equalized_odds_difference") == expected
    assert objective(performance=metrics.roc_auc, fairness=metrics.equalized_odds_difference) == expected
    assert objective(performance=sklearn_metrics.roc_auc_score, fairness="equalized_odds_difference") == expected
    fairlearns = Metric("odds", fairlearn_metrics.equalized_odds_difference, "label", greater_is_better=False)
    assert objective(performance="roc_auc", fairness=fairlearns) == expected

    def gap_of_means(y_true, y_pred, *, sensitive_features, sample_weight=None):
        return 0.125

    assert objective(performance="roc_auc", fairness=gap_of_means) == pytest.approx(0.4 * auc + 0.6 * 0.875)
    # The ratio grows with parity: it is not subtracted from 1.
    assert objective(performance="roc_auc", fairness="demographic_parity_ratio") == pytest.approx(
        0.4 * auc + 0.6 * ratio
    )


@pytest.mark.parametrize("performance", ["average_precision", "accuracy"])
@pytest.mark.parametrize("fairness", ["demographic_parity_difference", "equalized_odds_sum"])
def test_tradeoff_of_named_labels(performance, fairness):
    y, _, score, group, weight = make_rows(14)
    options = {"performance": performance, "fairness": fairness, "sample_weight": weight}
    expected = metrics.tradeoff_objective(y, score, sensitive_features=group, **options)
    for labels, pos_label in ((["yes", "no"], "no"), ([-1, 1], 1)):
        named = np.array(labels)[y]
        value = metrics.tradeoff_objective(named, score, sensitive_features=group, pos_label=pos_label, **options)
        assert value == expected


def test_tradeoff_performance_counts_rows_of_no_group():
    y, score, group = [0, 1, 0, 1, 1], [0.1, 0.8, 0.6, 0.9, 0.0], ["a", "a", "b", "b", None]
    value = metrics.tradeoff_objective(y, score, sensitive_features=group)
    precision = sklearn_metrics.average_precision_score(y, score)
    assert precision < 1
    assert value == pytest.approx(0.75 * precision + 0.25 * 0.5)
