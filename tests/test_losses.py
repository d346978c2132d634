import lightgbm as lgb
import numpy as np
import pytest
from scipy import optimize, special

from oracles import central_gradient
from otfairboost.losses import AbsoluteError, HuberLoss, LogLoss, SquaredError

UNWEIGHTED = np.empty(0, np.float32)
LOSSES = {
    "binary": LogLoss(),
    "regression": SquaredError(),
    "huber": HuberLoss(0.7),
    "regression_l1": AbsoluteError(1.3),
}


def rows(name, n=60, seed=0):
    """Targets as float32, raw predictions away from the kinks of the losses, and weights."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4 if name == "binary" else rng.normal(size=n)).astype(np.float32)
    raw = y + rng.choice([-1, 1], n) * rng.choice([0.05, 0.3, 0.6, 0.8, 2.0, 9.0], n)
    return y, raw.astype(np.float64), rng.exponential(size=n).astype(np.float32)


def derivatives(loss, y, raw, weight=UNWEIGHTED):
    response = np.empty(len(y))
    assert loss.write_response(raw, 0.0, response)
    grad, hess = np.full((2, len(y)), np.nan, np.float32)
    loss.write_derivatives(y, response, weight, grad, hess)
    return grad, hess


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_agrees_with_finite_differences(name):
    loss = LOSSES[name]
    y, raw, _ = rows(name)
    gradient, _ = derivatives(loss, y, raw)
    expected = central_gradient(lambda moved: loss.row_values(y, moved).sum(), raw)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert gradient.dtype == np.float32


@pytest.mark.parametrize("name", ["binary", "regression"])
def test_exact_hessians_agree_with_finite_differences(name):
    loss = LOSSES[name]
    y, raw, _ = rows(name)
    above, below = (loss.row_values(y, raw + step) for step in (1e-3, -1e-3))
    expected = (above - 2 * loss.row_values(y, raw) + below) / 1e-6
    np.testing.assert_allclose(derivatives(loss, y, raw)[1], expected, rtol=1e-4, atol=1e-7)


def test_approximate_hessians():
    """Huber: 1 throughout. Absolute error: the quadratic with this curvature lies above the loss and touches it."""
    y, raw, _ = rows("huber")
    assert (derivatives(LOSSES["huber"], y, raw)[1] == 1).all()
    loss = LOSSES["regression_l1"]
    gradient, hessian = (part.astype(float) for part in derivatives(loss, y, raw))
    distance = np.abs(raw - y)
    far = distance > 0.3 * loss.unit
    for step in np.linspace(-12, 12, 49):
        above = loss.row_values(y, raw) + gradient * step + 0.5 * hessian * step**2
        assert (above >= loss.row_values(y, raw + step) - 1e-5)[far].all()
    np.testing.assert_allclose(hessian, loss.unit / np.maximum(distance, 0.3 * loss.unit), rtol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_known_values(name):
    by_hand = {
        "binary": [(1, 0.0, np.log(2)), (0, 2.0, np.log1p(np.exp(2))), (1, -800.0, 800.0), (0, -800.0, 0.0)],
        "regression": [(1, 3.0, 2.0)],
        "huber": [(0, 0.5, 0.125), (0, -2.0, 0.7 * 2 - 0.245)],
        "regression_l1": [(1, -1.0, 2.6)],
    }
    for y, raw, value in by_hand[name]:
        assert LOSSES[name].row_values(np.float32([y]), np.array([raw]))[0] == pytest.approx(value)


@pytest.mark.parametrize("name", LOSSES)
def test_weights_multiply(name):
    loss = LOSSES[name]
    y, raw, weight = rows(name)
    plain, weighted = derivatives(loss, y, raw), derivatives(loss, y, raw, weight)
    for before, after in zip(plain, weighted, strict=True):
        np.testing.assert_allclose(after, before * weight, rtol=1e-6)
    assert loss.value(y, raw, weight) == pytest.approx(np.average(loss.row_values(y, raw), weights=weight))
    assert loss.value(y, raw, UNWEIGHTED) == pytest.approx(loss.row_values(y, raw).mean())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["binary", "regression", "regression_l1"])
def test_the_initial_score_minimises_the_loss(name, weighted):
    loss = LOSSES[name]
    y, _, weight = rows(name, n=301)
    weight = weight if weighted else UNWEIGHTED
    best = optimize.minimize_scalar(
        lambda raw: loss.value(y, np.full(301, raw), weight), bounds=(-5, 5), method="bounded"
    )
    assert loss.value(y, np.full(301, loss.initial_score(y, weight)), weight) <= best.fun + 1e-9
    assert loss.initial_score(y, weight) == pytest.approx(best.x, abs=2e-2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_initial_score_is_lightgbms(name, weighted):
    """A column that cannot be split leaves LightGBM with the constant it starts from."""
    y, _, weight = rows(name, n=301)
    data = lgb.Dataset(np.zeros((301, 1)), y, weight=weight if weighted else None)
    params = {"objective": name, "alpha": 0.7, "verbose": -1, "min_data_in_leaf": 1, "feature_pre_filter": False}
    expected = lgb.train(params, data, 1).predict(np.zeros((1, 1)), raw_score=True)[0]
    ours = LOSSES[name].initial_score(y, weight if weighted else UNWEIGHTED)
    # LightGBM interpolates its weighted median between two neighbouring targets.
    assert ours == pytest.approx(expected, abs=2e-2 if name == "regression_l1" else 1e-6)


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_one_class_has_a_finite_initial_score(y):
    assert 34 < abs(LogLoss().initial_score(np.float32(y), UNWEIGHTED)) < 35


def test_probabilities():
    raw = np.array([-1e308, -800.0, -1.0, 0.0, 1.0, 40.0, 800.0])
    response = np.empty(7)
    assert LogLoss().write_response(raw, 0.5, response)
    np.testing.assert_allclose(
        response, [0, 0, 1 / (1 + np.exp(0.5)), 1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(-1.5)), 1, 1], atol=1e-300
    )
    gradient, hessian = derivatives(LogLoss(), np.float32([0, 1, 0, 1, 0, 1, 1]), raw)
    assert np.isfinite(gradient).all()
    assert (hessian >= 0).all()


def test_probabilities_are_right_to_the_last_bits():
    raw = np.concatenate([np.linspace(-690, 690, 100_001), np.random.default_rng(0).normal(0, 3, 100_000)])
    response = np.empty(len(raw))
    LogLoss().write_response(raw, 0.0, response)
    np.testing.assert_allclose(response, special.expit(raw), rtol=1e-15)
    LogLoss().write_response(raw, 0.3, response)
    np.testing.assert_allclose(response, special.expit(raw + 0.3), rtol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", LOSSES)
def test_raw_predictions_that_are_not_finite_are_noticed(name, bad):
    response = np.empty(3)
    assert not LOSSES[name].write_response(np.array([0.1, bad, 0.2]), 0.0, response)
    assert LOSSES[name].write_response(np.array([0.1, -0.5, 0.2]), 1.0, response)
    if name != "binary":
        np.testing.assert_allclose(response, [1.1, 0.5, 1.2])


@pytest.mark.parametrize("weight", [UNWEIGHTED, np.float32([1, 1, 2, 5, 1])])
def test_the_unit_of_absolute_error_is_the_mean_deviation_from_the_median(weight):
    y = np.float32([1, 2, 3, 4, 10])
    repeated = y if not len(weight) else np.repeat(y, weight.astype(int))
    loss = AbsoluteError.for_target(y, weight)
    assert loss.unit == pytest.approx(np.abs(repeated - np.median(repeated)).mean())
    assert AbsoluteError.for_target(np.float32([3, 3]), UNWEIGHTED).unit == 1.0


def test_absolute_error_scales_with_the_target_as_squared_error_does():
    y, raw, _ = rows("regression_l1")
    values = [AbsoluteError.for_target(c * y, UNWEIGHTED).value(c * y, c * raw, UNWEIGHTED) for c in (1, 100)]
    assert values[1] == pytest.approx(100**2 * values[0], rel=1e-5)


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf])
def test_bad_huber_alpha(alpha):
    with pytest.raises(ValueError, match=rf"^alpha={alpha!r} of objective='huber' must be a positive number$"):
        HuberLoss(alpha)
