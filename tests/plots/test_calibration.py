import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from otfairboost.plots.calibration import calibration_info, plot_calibration

RNG = np.random.default_rng(2)
SCORE = RNG.random(1000)
Y = (RNG.random(1000) < SCORE).astype(int)
GROUPS = np.array(["x", "y"])[RNG.integers(0, 2, 1000)]


def test_bins_against_scikit_learn():
    info = calibration_info(Y, SCORE, sensitive_features=GROUPS, n_bins=8)
    for group in info.groups:
        rows = group.label == GROUPS
        observed, predicted = calibration_curve(Y[rows], SCORE[rows], n_bins=8, strategy="quantile")
        np.testing.assert_allclose(group.observed, observed, atol=0.03)
        np.testing.assert_allclose(group.predicted, predicted, atol=0.01)
        assert group.n_rows.sum() == rows.sum()
        assert ((group.low <= group.observed) & (group.observed <= group.high)).all()


def test_equal_scores_stay_together_and_small_groups_get_few_bins():
    info = calibration_info([0, 1] * 10, [0.5] * 20, sensitive_features=["a"] * 14 + ["b"] * 6)
    assert [len(group.observed) for group in info.groups] == [1, 1]
    small = calibration_info(Y[:12], SCORE[:12], sensitive_features=["a"] * 6 + ["b"] * 6)
    assert [len(group.observed) for group in small.groups] == [1, 1]


def test_continuous_target():
    target = 100 * SCORE + RNG.normal(size=1000)
    info = calibration_info(target, 100 * SCORE, sensitive_features=GROUPS, pos_label=None)
    for group in info.groups:
        np.testing.assert_allclose(group.observed, group.predicted, atol=0.6)


@pytest.mark.parametrize("n_bins", [0, 2.5, True])
def test_bad_bins(n_bins):
    with pytest.raises(ValueError, match=f"n_bins={n_bins} must be an integer of at least 1"):
        calibration_info(Y, SCORE, sensitive_features=GROUPS, n_bins=n_bins)


def test_drawing():
    panel = plot_calibration(calibration_info(Y, SCORE, sensitive_features=GROUPS))
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["x", "y"]
