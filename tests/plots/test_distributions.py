import numpy as np
import pytest

from otfairboost.plots.distributions import distributions_info, plot_distributions

SCORES = np.array([0.1, 0.2, 0.6, 0.9, 0.5, 0.4])
GROUPS = np.array(["a", "a", "a", "b", "b", "b"])


def test_shares_and_selection():
    info = distributions_info(SCORES, sensitive_features=GROUPS, threshold=0.5)
    a, b = info.groups
    assert (a.label, b.label) == ("a", "b")
    assert a.selected == pytest.approx(1 / 3)
    assert b.selected == pytest.approx(2 / 3)
    assert info.gap == pytest.approx(1 / 3)
    assert a.share == pytest.approx(0.5)


def test_weights_count():
    info = distributions_info(SCORES, sensitive_features=GROUPS, sample_weight=[1, 1, 2, 0, 1, 3])
    a, b = info.groups
    assert a.selected == pytest.approx(0.5)
    assert b.selected == pytest.approx(0.25)
    assert (a.share, b.share) == (pytest.approx(0.5), pytest.approx(0.5))
    np.testing.assert_allclose(b.values, [0.4, 0.5])
    np.testing.assert_allclose(b.cdf, [0.75, 1.0])


def test_densities_integrate_to_one():
    rng = np.random.default_rng(0)
    info = distributions_info(rng.normal(size=500), sensitive_features=rng.integers(0, 3, 500), threshold=None)
    for group in info.groups:
        assert (group.density * np.diff(info.edges)).sum() == pytest.approx(1.0)
        assert np.isnan(group.selected)


def test_probabilities_are_shown_on_the_whole_range():
    info = distributions_info(SCORES, sensitive_features=GROUPS)
    assert (info.edges[0], info.edges[-1]) == (0.0, 1.0)


def test_constant_scores():
    info = distributions_info(np.full(6, 7.0), sensitive_features=GROUPS, threshold=None)
    assert np.isfinite(info.edges).all()
    assert info.edges[-1] > info.edges[0]


def test_rows_without_a_group_are_not_shown():
    info = distributions_info(SCORES, sensitive_features=["a", "a", "a", "b", "b", None])
    assert info.groups[1].selected == pytest.approx(1.0)


def test_drawing_labels_every_group(tmp_path):
    infos = [distributions_info(SCORES, sensitive_features=GROUPS, title=title) for title in ("before", "after")]
    figure = plot_distributions(infos, {"after": "gap 33.3 points"})
    texts = [text.get_text() for panel in figure.axes for text in panel.get_legend().get_texts()]
    assert texts == ["a: 33.3% selected", "b: 66.7% selected"] * 2
    assert figure.axes[1].get_title(loc="left") == "after\ngap 33.3 points"
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
