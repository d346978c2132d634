import numpy as np
import pytest

from otfairboost.metrics import demographic_parity_difference
from otfairboost.plots.thresholds import plot_selection, selection_info

RNG = np.random.default_rng(1)
SCORE = RNG.random(400).round(2)
GROUPS = RNG.integers(0, 2, 400)


@pytest.mark.parametrize("weight", [None, RNG.random(400)])
def test_gap_at_every_threshold_is_the_metric(weight):
    info = selection_info(SCORE, sensitive_features=GROUPS, sample_weight=weight, thresholds=[0.0, 0.25, 0.5, 1.0])
    for threshold, gap in zip(info.thresholds, info.gap, strict=True):
        decision = (threshold <= SCORE).astype(int)
        expected = demographic_parity_difference(None, decision, sensitive_features=GROUPS, sample_weight=weight)
        assert gap == pytest.approx(expected)


def test_range_of_the_grid():
    assert selection_info(SCORE, sensitive_features=GROUPS).thresholds[[0, -1]].tolist() == [0.0, 1.0]
    points = selection_info(SCORE * 500 + 300, sensitive_features=GROUPS, threshold=None).thresholds
    assert (points[0], points[-1]) == (300 + 500 * SCORE.min(), 300 + 500 * SCORE.max())


def test_drawing_labels_groups_and_gap():
    panel = plot_selection(selection_info(SCORE, sensitive_features=GROUPS))
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["0", "1", "largest gap"]
