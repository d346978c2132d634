import numpy as np
import pytest

from otfairboost import FairLGBMClassifier
from otfairboost.datasets import make_loan_applications
from otfairboost.plots.distributions import distributions_info, iterations_info, plot_by_iteration, plot_cdfs
from otfairboost.plots.training import plot_training, training_info

METRICS = ["base_loss", "wasserstein_distance", "demographic_parity_difference"]


@pytest.fixture(scope="module")
def fitted():
    X, y, sex, _ = make_loan_applications(1200, random_state=0)
    model = FairLGBMClassifier(fairness_weight=3, n_estimators=12, num_leaves=7, verbosity=-1, n_jobs=1)
    model.fit(
        X[:800], y[:800], sensitive_features=sex[:800], eval_X=(X[:800], X[800:]), eval_y=(y[:800], y[800:]),
        eval_sensitive_features=[sex[:800], sex[800:]], eval_metric=METRICS, eval_names=["train", "test"],
    )  # fmt: skip
    return model, X[800:], sex[800:]


def test_history_by_metric(fitted):
    model = fitted[0]
    info = training_info(model.evals_result_, best_iteration=4)
    assert [curve.metric for curve in info.curves] == METRICS
    np.testing.assert_array_equal(info.curves[1].values["test"], model.evals_result_["test"]["wasserstein_distance"])
    figure = plot_training(info)
    assert [panel.get_title(loc="left") for panel in figure.axes] == [name.replace("_", " ") for name in METRICS]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["train", "test"]
    assert training_info(model.evals_result_, metrics=["base_loss"]).curves[0].metric == "base_loss"


def test_errors(fitted):
    with pytest.raises(ValueError, match="metrics has 'auc'; recorded were 'base_loss'"):
        training_info(fitted[0].evals_result_, metrics=["auc"])
    with pytest.raises(ValueError, match="evals_result is empty"):
        training_info({})
    with pytest.raises(ValueError, match=r"iterations=\[0, 13\] must be numbers from 1 to 12"):
        iterations_info(fitted[0], fitted[1], sensitive_features=fitted[2], iterations=[0, 13])


def test_distributions_by_iteration(fitted):
    model, X, sex = fitted
    infos = iterations_info(model, X, sensitive_features=sex, iterations=[1, 12])
    assert [info.title for info in infos] == ["1 tree", "12 trees"]
    last = distributions_info(model.predict_proba(X)[:, 1], sensitive_features=sex)
    for one, other in zip(infos[1].groups, last.groups, strict=True):
        np.testing.assert_allclose(one.cdf, other.cdf)
    np.testing.assert_array_equal(infos[0].edges, infos[1].edges)
    assert len(plot_by_iteration(infos).axes) == 4


def test_cdf_lines_end_at_one(fitted):
    model, X, sex = fitted
    info = distributions_info(model.predict_proba(X)[:, 1], sensitive_features=sex, title="after")
    (panel,) = plot_cdfs([info], {"after": "gap small"}).axes
    assert panel.get_title(loc="left") == "after\ngap small"
    lines = panel.get_lines()[:2]
    for line, group in zip(lines, info.groups, strict=True):
        assert line.get_label() == group.label
        assert line.get_ydata()[[0, -1]].tolist() == [0.0, 1.0]
        at = np.searchsorted(line.get_xdata(), 0.5) - 1  # the vertical distance at the threshold is the gap
        assert 1 - line.get_ydata()[at] == pytest.approx(group.selected)
