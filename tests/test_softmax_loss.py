import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from otfairboost.losses import SoftmaxLoss


def make_classes(seed=0, n=500, k=4):
    rng = np.random.default_rng(seed)
    return rng.normal(scale=3, size=(k, n)), rng.integers(0, k, n).astype(np.float32)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_probabilities_are_scipys(n_classes):
    raw, _ = make_classes(k=n_classes, n=777)  # not a whole number of blocks
    offset = np.linspace(-1, 1, n_classes)
    response = np.empty_like(raw)
    loss = SoftmaxLoss(n_classes)
    assert loss.write_response(raw, offset, response)
    np.testing.assert_allclose(response, softmax(raw + offset[:, None], axis=0), rtol=1e-13)
    assert loss.write_rows(raw, 0.0, 8.0, raw, 5, 301)  # in place, and of these rows alone
    fresh, _ = make_classes(k=n_classes, n=777)
    np.testing.assert_allclose(raw[:, 5:301], softmax(8 * fresh[:, 5:301], axis=0), rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(raw[:, 301:], fresh[:, 301:])
    np.testing.assert_allclose(softmax(loss.raw_prediction(response), axis=0), response, rtol=1e-12)


def test_far_out_predictions_stay_finite():
    raw = np.array([[0.0, 800.0, -1e8], [1000.0, 800.0, 1e8], [-5.0, 0.0, 0.0]])
    response = np.empty_like(raw)
    assert SoftmaxLoss(3).write_response(raw, 0.0, response)
    np.testing.assert_allclose(response, softmax(raw, axis=0), atol=1e-300)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_predictions_that_are_not_finite_are_told(bad):
    raw, _ = make_classes()
    raw[2, 300] = bad
    assert not SoftmaxLoss(4).write_response(raw, 0.0, np.empty_like(raw))


@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_are_those_of_the_value(weighted):
    raw, y = make_classes(n=40)
    weight = np.random.default_rng(1).uniform(0.5, 2, 40).astype(np.float32) if weighted else np.empty(0, np.float32)
    loss = SoftmaxLoss(4)
    w = weight if weighted else np.ones(40)
    np.testing.assert_allclose(loss.row_values(y, raw), -log_softmax(raw, axis=0)[y.astype(int), np.arange(40)])
    assert loss.value(y, raw, weight) == pytest.approx(np.average(loss.row_values(y, raw), weights=w))
    response, grad, hess = np.empty_like(raw), *np.full((2, 4, 40), 7, np.float32)
    loss.write_response(raw, 0.0, response)
    loss.write_derivatives(y, response, weight, grad, hess)
    for k in range(4):
        steps = np.zeros((4, 1))
        steps[k] = 1e-4
        low, here, high = (loss.row_values(y, raw + sign * steps) for sign in (-1, 0, 1))
        np.testing.assert_allclose(grad[k], w * (high - low) / 2e-4, atol=1e-5)
        np.testing.assert_allclose(hess[k], 4 / 3 * w * (high - 2 * here + low) / 1e-8, atol=1e-4)


def test_sums_that_overflow_are_told():
    raw, y = make_classes(n=10)
    response = softmax(raw, axis=0)
    for grad, hess in ((np.inf, 0), (0, np.inf), (np.nan, 0), (0, np.nan)):
        parts = np.full((4, 10), grad, np.float32), np.full((4, 10), hess, np.float32)
        assert not SoftmaxLoss(4).add_rows(y, response, np.empty(0, np.float32), *parts, 0, 10)


def test_initial_scores_are_log_shares():
    y = np.array([0, 1, 1, 2], np.float32)
    np.testing.assert_allclose(SoftmaxLoss(3).initial_score(y, np.empty(0, np.float32)), np.log([0.25, 0.5, 0.25]))
    weighted = SoftmaxLoss(3).initial_score(y, np.array([3, 1, 0, 0], np.float32))
    np.testing.assert_allclose(weighted, np.log([0.75, 0.25, 1e-15]))


def test_what_a_saved_model_says():
    assert SoftmaxLoss(5).model_line == "multiclass num_class:5"
