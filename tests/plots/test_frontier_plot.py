from types import SimpleNamespace

import numpy as np
import pytest

from otfairboost.plots.frontier import fitted_frontier_info, frontier_info, plot_frontier, plot_metrics_by_weight

WEIGHT = [5, 0, 1, 0, 1, 5]
GAP = [0.04, 0.2, 0.1, 0.22, 0.12, 0.02]
PERFORMANCE = [0.70, 0.80, 0.60, 0.82, 0.64, 0.74]


def test_folds_are_averaged_and_sorted_by_weight():
    info = frontier_info(WEIGHT, GAP, PERFORMANCE, chosen=5)
    np.testing.assert_allclose(info.weight, [0, 1, 5])
    np.testing.assert_allclose(info.gap, [0.21, 0.11, 0.03])
    np.testing.assert_allclose(info.performance, [0.81, 0.62, 0.72])
    np.testing.assert_allclose(info.gap_error, np.std([0, 0.02], ddof=1))
    assert info.chosen == 2


def test_efficient_models_by_brute_force():
    rng = np.random.default_rng(0)
    gap, performance = rng.random(30).round(1), rng.random(30).round(1)
    for greater in (True, False):
        info = frontier_info(np.arange(30), gap, performance, greater_is_better=greater)
        sign = 1 if greater else -1
        for i in range(30):
            beaten = any(
                gap[j] <= gap[i]
                and sign * performance[j] >= sign * performance[i]
                and (gap[j], performance[j]) != (gap[i], performance[i])
                for j in range(30)
            )
            assert info.efficient[i] == (not beaten)


def test_errors():
    with pytest.raises(ValueError, match=r"chosen=3 is none of the weights 0, 1, 5"):
        frontier_info(WEIGHT, GAP, PERFORMANCE, chosen=3)
    with pytest.raises(ValueError, match="weight, gap and performance have 6, 2, 6 rows"):
        frontier_info(WEIGHT, GAP[:2], PERFORMANCE)
    with pytest.raises(ValueError, match="gap has 2 rows, but weight has 6"):
        plot_metrics_by_weight(WEIGHT, {"gap": GAP[:2]})


def test_a_fitted_frontier_without_its_diverged_weights():
    values = np.array([[[0.8, 0.2], [0.7, 0.1]], [[np.nan, np.nan], [0.5, 0.1]], [[0.6, 0.02], [0.6, 0.04]]])
    frontier = SimpleNamespace(
        weights_=np.array([0.0, 1.0, 9.0]), values_=values, metrics_=("mean_absolute_error", "kolmogorov_smirnov"),
        performance_="mean_absolute_error", gap_="kolmogorov_smirnov",
    )  # fmt: skip
    info = fitted_frontier_info(frontier, chosen=9.0)
    np.testing.assert_allclose(info.weight, [0, 9])
    np.testing.assert_allclose(info.gap, [0.15, 0.03])
    assert not info.greater_is_better
    assert plot_frontier(info).yaxis_inverted()


def test_drawing(tmp_path):
    panel = plot_frontier(frontier_info(WEIGHT, GAP, PERFORMANCE, chosen=5, performance_name="PR AUC"))
    assert panel.get_ylabel() == "PR AUC"
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["chosen: weight 5"]
    assert [text.get_text() for text in panel.texts] == ["5", "0"]  # the efficient ones
    panel = plot_metrics_by_weight(WEIGHT, {"gap": GAP, "roc_auc": PERFORMANCE})
    assert panel.get_xscale() == "symlog"
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["gap", "roc auc"]
    panel.figure.savefig(tmp_path / "weights.png")
