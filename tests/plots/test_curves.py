import numpy as np
import pytest
from sklearn import metrics

from otfairboost.plots.curves import plot_precision_recall, plot_roc, precision_recall_info, roc_info

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 300)
SCORE = np.clip(0.3 * Y + RNG.random(300) * 0.7, 0, 1).round(2)
GROUPS = np.array(["a", "b", "c"])[RNG.integers(0, 3, 300)]
WEIGHT = RNG.random(300)


@pytest.mark.parametrize(
    ("info_of", "area_of"),
    [(roc_info, metrics.roc_auc_score), (precision_recall_info, metrics.average_precision_score)],
)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_areas_against_scikit_learn(info_of, area_of, weight):
    info = info_of(Y, SCORE, sensitive_features=GROUPS, sample_weight=weight)
    for group in info.groups:
        rows = group.label == GROUPS
        assert group.area == pytest.approx(
            area_of(Y[rows], SCORE[rows], sample_weight=None if weight is None else weight[rows])
        )


def test_operating_points_lie_on_the_curves():
    decision = SCORE >= 0.5
    roc = roc_info(Y, SCORE, sensitive_features=GROUPS)
    pr = precision_recall_info(Y, SCORE, sensitive_features=GROUPS)
    for one, other in zip(roc.groups, pr.groups, strict=True):
        rows = one.label == GROUPS
        recall = metrics.recall_score(Y[rows], decision[rows])
        assert one.operating_point == pytest.approx((decision[rows & (Y == 0)].mean(), recall))
        assert other.operating_point == pytest.approx((recall, metrics.precision_score(Y[rows], decision[rows])))
        assert np.interp(one.operating_point[0], one.x, one.y) == pytest.approx(one.operating_point[1], abs=0.02)


def test_groups_of_one_label_are_named_and_left_out():
    y = np.where(GROUPS == "b", 1, Y)
    info = roc_info(y, SCORE, sensitive_features=GROUPS)
    assert info.left_out == ("b",)
    assert [group.label for group in info.groups] == ["a", "c"]
    assert "without both labels: b" in [text.get_text() for text in plot_roc(info).get_legend().get_texts()]


def test_other_labels_and_no_threshold():
    info = roc_info(np.where(Y == 1, "yes", "no"), SCORE, sensitive_features=GROUPS, pos_label="yes", threshold=None)
    assert [group.area for group in info.groups] == [
        group.area for group in roc_info(Y, SCORE, sensitive_features=GROUPS).groups
    ]
    assert info.groups[0].operating_point is None


def test_drawing(tmp_path):
    panel = plot_roc(roc_info(Y, SCORE, sensitive_features=GROUPS))
    assert panel.get_xlabel() == "false positive rate"
    again = plot_precision_recall(precision_recall_info(Y, SCORE, sensitive_features=GROUPS), ax=panel)
    assert again is panel
    panel.figure.savefig(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5000
