import lightgbm as lgb
import numpy as np
import pytest
from scipy import optimize, special

from otfairboost.losses import (
    AbsoluteError,
    CrossEntropy,
    FairLoss,
    GammaLoss,
    HuberLoss,
    LogLoss,
    PercentageError,
    PoissonLoss,
    QuantileLoss,
    SquaredError,
    TweedieLoss,
)

UNWEIGHTED = np.empty(0, np.float32)
LOSSES = {
    "binary": LogLoss(),
    "regression": SquaredError(),
    "huber": HuberLoss(0.7),
    "regression_l1": AbsoluteError(1.3),
    "fair": FairLoss(0.8),
    "quantile": QuantileLoss(1.3, 0.7),
    "mape": PercentageError(1.3, 0.4),
    "poisson": PoissonLoss(2.0, 0.6),
    "gamma": GammaLoss(2.0),
    "tweedie": TweedieLoss(2.0, 1.3),
    "cross_entropy": CrossEntropy(0.4),
}
LOG_LINK = ("poisson", "gamma", "tweedie")
LIGHTGBM_PARAMS = {
    "alpha": 0.7, "fair_c": 0.8, "poisson_max_delta_step": 0.6, "tweedie_variance_power": 1.3,
}  # fmt: skip


def rows(name, n=60, seed=0):
    """Targets as float32, raw predictions away from the kinks of the losses, and weights."""
    rng = np.random.default_rng(seed)
    if name == "binary":
        y = rng.random(n) < 0.4
    elif name == "cross_entropy":
        y = np.round(rng.random(n), 1)  # with 0 and 1
    elif name in LOG_LINK:
        y = rng.gamma(0.8, 2.5, n) + 0.01 if name == "gamma" else np.floor(rng.gamma(0.8, 2.5, n))
    else:
        y = (4.0 if name == "mape" else 1.0) * rng.normal(size=n)
    y = y.astype(np.float32)
    step = rng.choice([-1, 1], n) * rng.choice([0.05, 0.3, 0.6, 0.8, 2.0, 9.0], n)
    raw = np.log(y + 0.1) + 0.3 * step if name in LOG_LINK else y + step
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
    expected = [(loss.row_values(y, raw + step)) for step in (1e-5, -1e-5)]
    np.testing.assert_allclose(gradient, (expected[0] - expected[1]) / 2e-5, rtol=1e-5, atol=1e-6)
    assert gradient.dtype == np.float32


@pytest.mark.parametrize("name", ["binary", "regression", "fair", "poisson", "gamma", "tweedie", "cross_entropy"])
def test_exact_hessians_agree_with_finite_differences(name):
    loss = LOSSES[name]
    y, raw, _ = rows(name)
    above, below = (loss.row_values(y, raw + step) for step in (1e-3, -1e-3))
    expected = (above - 2 * loss.row_values(y, raw) + below) / 1e-6
    if name == "poisson":  # LightGBM's guard
        expected *= np.exp(0.6)
    # The second difference of a loss of size 30 is off by some 1e-8.
    np.testing.assert_allclose(derivatives(loss, y, raw)[1], expected, rtol=2e-3 if name == "fair" else 1e-4, atol=1e-7)


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
    for name, slope, q in (("quantile", 2 * 1.3, 0.84), ("mape", 2 * 1.3 / 0.4, 1.0)):
        y, raw, _ = rows(name)
        if name == "mape":
            slope = slope / np.maximum(1.0, np.abs(y))
        expected = slope * 0.5 * q / np.maximum(np.abs(raw - y), 0.3 * q**2 * 1.3)
        np.testing.assert_allclose(derivatives(LOSSES[name], y, raw)[1], expected, rtol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_known_values(name):
    by_hand = {
        "binary": [(1, 0.0, np.log(2)), (0, 2.0, np.log1p(np.exp(2))), (1, -800.0, 800.0), (0, -800.0, 0.0)],
        "regression": [(1, 3.0, 2.0)],
        "huber": [(0, 0.5, 0.125), (0, -2.0, 0.7 * 2 - 0.245)],
        "regression_l1": [(1, -1.0, 2.6)],
        "fair": [(1, 3.0, 0.8 * 2 - 0.64 * np.log(1 + 2 / 0.8))],
        "quantile": [(1, 3.0, 2.6 * 0.3 * 2), (3, 1.0, 2.6 * 0.7 * 2)],
        "mape": [(0.5, 2.5, 2 * 1.3 / 0.4), (-4, 4.0, 1.3 / 0.4 * 8 / 4)],
        "poisson": [(3, np.log(2), 2 - 3 * np.log(2)), (0, -800.0, 0.0)],
        "gamma": [(3, np.log(2), 1.5 + np.log(2))],
        "tweedie": [(3, np.log(2), 2**0.7 / 0.7 + 3 * 2**-0.3 / 0.3)],
        "cross_entropy": [(0.25, np.log(3), -0.25 * np.log(0.75) - 0.75 * np.log(0.25))],
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
@pytest.mark.parametrize("name", [name for name in LOSSES if name not in ("huber", "fair")])
def test_the_initial_score_minimises_the_loss(name, weighted):
    loss = LOSSES[name]
    y, _, weight = rows(name, n=301)
    weight = weight if weighted else UNWEIGHTED
    best = optimize.minimize_scalar(
        lambda raw: loss.value(y, np.full(301, raw), weight), bounds=(-5, 5), method="bounded"
    )
    assert loss.value(y, np.full(301, loss.initial_score(y, weight)), weight) <= best.fun + 1e-9
    flat = name == "mape"  # between two targets of nearly the same loss
    assert loss.initial_score(y, weight) == pytest.approx(best.x, abs=0.1 if flat else 2e-2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_initial_score_is_lightgbms(name, weighted):
    """A column that cannot be split leaves LightGBM with the constant it starts from."""
    y, _, weight = rows(name, n=301)
    data = lgb.Dataset(np.zeros((301, 1)), y, weight=weight if weighted else None)
    params = {"objective": name, "verbose": -1, "min_data_in_leaf": 1, "feature_pre_filter": False, **LIGHTGBM_PARAMS}
    expected = lgb.train(params, data, 1).predict(np.zeros((1, 1)), raw_score=True)[0]
    ours = LOSSES[name].initial_score(y, weight if weighted else UNWEIGHTED)
    if name == "mape" or (weighted and name in ("regression_l1", "quantile")):
        # LightGBM's is not the weighted quantile itself, but lies within a row of it.
        inside = np.sort([*y, ours]).tolist()
        position = inside.index(ours)
        assert inside[position - 2] <= expected <= inside[position + 2]
    else:
        assert ours == pytest.approx(expected, abs=1e-6)


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
    expected = np.array([1.1, 0.5, 1.2])
    if name in LOG_LINK:
        expected = np.exp(expected)
    elif LOSSES[name].link == "logit":
        expected = special.expit(expected)
    np.testing.assert_allclose(response, expected)
    np.testing.assert_allclose(LOSSES[name].raw_prediction(response), [1.1, 0.5, 1.2])


@pytest.mark.parametrize("name", LOG_LINK)
def test_responses_that_overflow_are_noticed(name):
    assert not LOSSES[name].write_response(np.array([0.1, 800.0]), 0.0, np.empty(2))


@pytest.mark.parametrize("name", [*LOG_LINK, "binary"])
def test_raw_predictions_of_extreme_responses_are_finite(name):
    assert np.isfinite(LOSSES[name].raw_prediction(np.array([0.0, 1.0]))).all()


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


def test_tweedie_of_power_1_is_poisson():
    y, raw, weight = rows("poisson")
    tweedie, poisson = TweedieLoss(2.0, 1.0), PoissonLoss(2.0, 1e-12)
    np.testing.assert_allclose(tweedie.row_values(y, raw), poisson.row_values(y, raw))
    for ours, expected in zip(derivatives(tweedie, y, raw, weight), derivatives(poisson, y, raw, weight), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_the_median_is_a_quantile():
    y, raw, weight = rows("regression_l1")
    half = QuantileLoss(1.3, 0.5)
    np.testing.assert_allclose(half.row_values(y, raw), LOSSES["regression_l1"].row_values(y, raw))
    for ours, expected in zip(
        derivatives(half, y, raw, weight), derivatives(LOSSES["regression_l1"], y, raw, weight), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("weight", [UNWEIGHTED, np.float32([1, 1, 2, 5, 1])])
def test_the_unit_of_percentage_error_is_in_the_targets_unit(weight):
    y = np.float32([1, 2, 4, 8, 20])
    repeated = y if not len(weight) else np.repeat(y, weight.astype(int))
    loss = PercentageError.for_target(y, weight)
    inverse = 1 / repeated
    values = np.sort(repeated)
    best = min((np.average(np.abs(repeated - value), weights=inverse), value) for value in values)
    assert loss.unit == pytest.approx(best[0], rel=1e-6)
    # Weights of mean 1 over the rows, so that constants count as in absolute error.
    assert np.average(loss.row_values(repeated, repeated + 1.0)) == pytest.approx(loss.unit, rel=1e-6)


@pytest.mark.parametrize("make", [QuantileLoss.for_target, AbsoluteError.for_target, PercentageError.for_target])
def test_a_constant_target_has_a_unit(make):
    assert make(np.float32([3, 3]), UNWEIGHTED).unit == 1.0


@pytest.mark.parametrize(("name", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.3)])
def test_the_penalty_is_in_the_unit_of_the_curvature(name, power):
    """In the response, at y = mu = the mean, the loss is half a squared error times the penalty's unit."""
    y = np.float32([1.0, 2.0, 6.0])
    loss = {"poisson": PoissonLoss, "gamma": GammaLoss, "tweedie": TweedieLoss}[name].for_target(
        y, UNWEIGHTED, **({"tweedie_variance_power": 1.3} if name == "tweedie" else {})
    )
    mean = np.float32([3.0])
    around = [loss.row_values(mean, np.log([3.0 + step]))[0] for step in (-1e-3, 0.0, 1e-3)]
    assert loss.penalty_scale("response") == pytest.approx(np.diff(around, 2)[0] / 1e-6, rel=1e-4)
    assert loss.penalty_scale("response") == pytest.approx(3.0**-power)
    assert loss.penalty_scale("link") == pytest.approx(3.0 ** (2 - power))


def test_other_losses_compare_responses_in_their_own_unit():
    for name in ("binary", "regression", "huber", "fair", "quantile", "cross_entropy"):
        assert LOSSES[name].penalty_scale("response") == 1.0
    assert SquaredError().penalty_scale("link") == 1.0
    rate = LogLoss.for_target(np.float32([1, 0, 0, 0]), UNWEIGHTED)
    assert rate.penalty_scale("link") == pytest.approx(0.1875**2)


BAD_PARAMETERS = [
    (lambda: FairLoss(0.0), "fair_c=0.0 of objective='fair' must be a positive number"),
    (lambda: FairLoss(np.nan), "fair_c=nan of objective='fair' must be a positive number"),
    (lambda: QuantileLoss(1.0, 1.0), "alpha=1.0 of objective='quantile' must be a number between 0 and 1"),
    (lambda: QuantileLoss(1.0, 0.0), "alpha=0.0 of objective='quantile' must be a number between 0 and 1"),
    (lambda: QuantileLoss(1.0, np.nan), "alpha=nan of objective='quantile' must be a number between 0 and 1"),
    (lambda: PoissonLoss(1.0, -1.0),
     "poisson_max_delta_step=-1.0 of objective='poisson' must be a positive number"),
    (lambda: TweedieLoss(1.0, 2.0),
     "tweedie_variance_power=2.0 of objective='tweedie' must be a number from 1 to below 2"),
    (lambda: TweedieLoss(1.0, 0.9),
     "tweedie_variance_power=0.9 of objective='tweedie' must be a number from 1 to below 2"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), BAD_PARAMETERS, ids=[message for _, message in BAD_PARAMETERS])
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize(
    ("name", "y", "message"),
    [
        ("poisson", [1, -2, -3], r"y must be numbers >= 0 with objective='poisson', got -2 \(2 such rows\)"),
        ("tweedie", [-0.5], r"y must be numbers >= 0 with objective='tweedie', got -0.5 \(1 such rows\)"),
        ("gamma", [1, 0], r"y must be positive numbers with objective='gamma', got 0 \(1 such rows\)"),
        ("cross_entropy", [0, 1.5], r"y must be numbers from 0 to 1 with objective='cross_entropy', got 1.5 .*"),
        ("poisson", [0, 0], "y is zero for every row; with objective='poisson' at least one must be positive"),
    ],
)
def test_targets_that_a_loss_has_no_value_for(name, y, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        LOSSES[name].check_target(np.float32(y), "y")
    LOSSES[name].check_target(np.float32([0.3, 1.0]), "y")
    SquaredError().check_target(np.float32(y), "y")
