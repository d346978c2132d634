import numpy as np
import pytest
from scipy.special import expit, logit

from otfairboost.scores import (
    EXPONENTIAL,
    EXPONENTIAL_SCORE,
    IDENTITY,
    IDENTITY_SCORE,
    LINK,
    LINK_SCORE,
    LOGISTIC,
    ScoreMap,
    slope_at,
)
from otfairboost.transport.grid import robust_grid, unit_grid

KAPPAS = [1.0, 2.0, 2.5, 4.0, 7.3, 8.0, 33.0, 64.0, 65.0, 1000.0]


def sharpen(probability, kappa, origin):
    score = np.full(len(probability), np.nan)
    ScoreMap(LOGISTIC, kappa, origin).write(probability, score)
    return score


@pytest.mark.parametrize("threshold", [0.5, 0.1, 0.9])
@pytest.mark.parametrize("kappa", KAPPAS)
def test_scores_are_sigmoids_of_steeper_raw_predictions(kappa, threshold):
    origin = logit(threshold) if kappa != 1 else 0.0
    # Beyond +-14 a probability of 1 - 1e-6 has too few digits left to tell the raw prediction.
    raw = np.concatenate([np.linspace(-14, 14, 201), origin + np.linspace(-1, 1, 101) / kappa])
    np.testing.assert_allclose(sharpen(expit(raw), kappa, origin), expit(kappa * (raw - origin)), atol=1e-8 * kappa)


@pytest.mark.parametrize("threshold", [0.5, 1e-9, 1 - 1e-9])
@pytest.mark.parametrize("kappa", KAPPAS[1:])
def test_saturated_probabilities(kappa, threshold):
    saturated = np.array([0.0, 5e-324, 1e-320, 1e-100, 1 - 1e-16, 1.0])
    np.testing.assert_allclose(sharpen(saturated, kappa, logit(threshold)), [0, 0, 0, 0, 1, 1], atol=1e-7)


def test_without_focus_scores_are_the_responses():
    response = np.array([0.0, 0.25, 1.0])
    for score_map in (IDENTITY_SCORE, ScoreMap(LOGISTIC, 1.0, 0.0)):
        assert score_map.is_response
        score = np.empty(3)
        score_map.write(response, score)
        assert (score == response).all()
    assert not ScoreMap(LOGISTIC, 2.0, 0.0).is_response
    assert not ScoreMap(LOGISTIC, 1.0, 0.3).is_response


def test_scores_can_be_written_over_the_responses():
    response = np.array([0.2, 0.7])
    ScoreMap(LOGISTIC, 4.0, 0.5).write(response, response)
    np.testing.assert_allclose(response, expit(4 * (logit([0.2, 0.7]) - 0.5)))


@pytest.mark.parametrize("kappa", [1.0, 2.5, 8.0])
def test_slope_agrees_with_finite_differences(kappa):
    raw = np.linspace(-3, 3, 61)
    score_map = ScoreMap(LOGISTIC, kappa, 0.4)
    slope = (expit(kappa * (raw + 1e-6 - 0.4)) - expit(kappa * (raw - 1e-6 - 0.4))) / 2e-6
    score = expit(kappa * (raw - 0.4))
    np.testing.assert_allclose(score_map.curvature(score, score), slope, atol=1e-8)
    kernel = [slope_at(u, LOGISTIC, kappa) for u in score]
    np.testing.assert_allclose(kernel, slope, atol=1e-8)
    assert (IDENTITY_SCORE.curvature(raw, raw) == 1).all()
    assert slope_at(0.3, IDENTITY, kappa) == 1.0


@pytest.mark.parametrize("kappa", [1.0, 8.0])
def test_curvature_is_the_steeper_of_tangent_and_secant(kappa):
    grid = np.concatenate([[1e-12, 1e-6, 1e-3], np.linspace(0.01, 0.99, 99), 1 - np.array([1e-3, 1e-6, 1e-12])])
    score, target = (part.ravel() for part in np.meshgrid(grid, grid))
    apart = score != target
    curvature = ScoreMap(LOGISTIC, kappa, 0.0).curvature(score, target)
    # Both slopes by the raw predictions they join.
    tangent = kappa * score * (1 - score)
    secant = tangent.copy()
    secant[apart] = (score - target)[apart] / ((logit(score) - logit(target)) / kappa)[apart]
    assert (curvature >= tangent * (1 - 1e-12)).all()
    # Where the two differ by less than 5% the tangent serves for both.
    np.testing.assert_allclose(curvature, np.maximum(tangent, secant), rtol=0.05)
    far = np.abs(score - target) > 0.1
    np.testing.assert_allclose(curvature[far], np.maximum(tangent, secant)[far], rtol=1e-9)
    # Also where the target is the more saturated one, but on the other side.
    across = (score < 0.02) & (target > 0.99) & (target * (1 - target) < score * (1 - score))
    assert (secant > 2 * tangent)[across].all()
    assert across.any()


def test_curvature_of_saturated_scores_is_finite():
    score = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 5e-324, 0.5])
    target = np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.5, 0.5, np.nextafter(0.5, 1)])
    curvature = ScoreMap(LOGISTIC, 8.0, 0.0).curvature(score, target)
    assert np.isfinite(curvature).all()
    assert (curvature[[1, 2, 4, 5, 6]] > 0.05).all()
    assert curvature[-1] == pytest.approx(2.0)


def test_a_step_along_the_curvature_does_not_pass_the_target():
    """Newton's step (u - t) / curvature in the raw prediction, from anywhere to anywhere."""
    rng = np.random.default_rng(0)
    score, target = expit(rng.uniform(-12, 12, (2, 2000)))
    for kappa in (1.0, 8.0):
        step = (score - target) / ScoreMap(LOGISTIC, kappa, 0.0).curvature(score, target)
        distance = (logit(score) - logit(target)) / kappa
        assert (np.abs(step) <= 1.05 * np.abs(distance)).all()


def test_predictions_are_compared_as_they_are():
    score, target = np.array([1.0, -5.0]), np.array([3.0, 8.0])
    assert (IDENTITY_SCORE.curvature(score, target) == 1).all()


def test_probabilities_and_predictions_have_their_grids():
    assert IDENTITY_SCORE.make_grid is robust_grid
    assert ScoreMap(LOGISTIC, 4.0, 0.0).make_grid is unit_grid
    assert EXPONENTIAL_SCORE.make_grid is LINK_SCORE.make_grid is robust_grid


def test_exponential_slopes_agree_with_finite_differences():
    raw = np.linspace(-5, 5, 61)
    slope = (np.exp(raw + 1e-6) - np.exp(raw - 1e-6)) / 2e-6
    np.testing.assert_allclose(EXPONENTIAL_SCORE.curvature(np.exp(raw), np.exp(raw)), slope, rtol=1e-8)
    np.testing.assert_allclose([slope_at(u, EXPONENTIAL, 1.0) for u in np.exp(raw)], slope, rtol=1e-8)
    assert (LINK_SCORE.curvature(raw, raw) == 1).all()
    assert slope_at(0.3, LINK, 1.0) == 1.0
    assert EXPONENTIAL_SCORE.is_response
    assert LINK_SCORE.is_raw
    assert not LINK_SCORE.is_response


def test_a_step_of_exponential_scores_does_not_pass_the_target():
    rng = np.random.default_rng(0)
    score, target = np.exp(rng.uniform(-8, 8, (2, 2000)))
    curvature = EXPONENTIAL_SCORE.curvature(score, target)
    assert (curvature >= score).all()
    step, distance = (score - target) / curvature, np.log(score / target)
    assert (np.abs(step) <= 1.05 * np.abs(distance)).all()
    up = target > 1.05 * score  # the secant leads to the target exactly
    np.testing.assert_allclose(step[up], distance[up], rtol=1e-9)
    assert (EXPONENTIAL_SCORE.curvature(np.zeros(2), np.array([0.0, 1.0])) == 0).all()
