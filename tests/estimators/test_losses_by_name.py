"""Every loss that the estimators take by LightGBM's name: the same as LightGBM's without weight, fair with one."""

import lightgbm as lgb
import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.special import expit

from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor
from otfairboost.metrics import wasserstein_distance

TINY = 1e-12
EXACT = {
    "fair": {"fair_c": 2.0},
    "poisson": {"poisson_max_delta_step": 0.4},
    "gamma": {},
    "tweedie": {"tweedie_variance_power": 1.3},
    "cross_entropy": {},
}
RENEWED = {"quantile": {"alpha": 0.8}, "mape": {}}  # LightGBM renews their leaves


def sample_for(objective, n_rows=600, seed=0):
    """Return wages, or counts, amounts and shares that rise with them."""
    wages, rng = make_wages(n_rows, seed), np.random.default_rng(seed + 50)
    mean = np.exp(0.12 * (wages.y - 22.0))
    y = {
        "poisson": lambda: rng.poisson(mean).astype(float),
        "gamma": lambda: rng.gamma(2.0, mean / 2.0) + 1e-3,
        "tweedie": lambda: np.where(rng.random(n_rows) < 0.4, 0.0, rng.gamma(2.0, mean)),
        "cross_entropy": lambda: np.round(expit((wages.y - 24.0) / 4.0), 1),
    }.get(objective, lambda: wages.y)()
    return wages._replace(y=y)


def fit_pair(objective, sample, weight=TINY, fit=None, **params):
    params = {**SMALL, "objective": objective, **params}
    plain = LGBMRegressor(**params).fit(sample.X, sample.y, **(fit or {}))
    fair = FairLGBMRegressor(**params, fairness_weight=weight)
    return plain, fair.fit(sample.X, sample.y, sensitive_features=sample.groups, **(fit or {}))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("space", ["response", "link"])
@pytest.mark.parametrize("objective", EXACT)
def test_a_tiny_weight_gives_lightgbms_trees(objective, space, weighted):
    sample = sample_for(objective)
    fit = {"sample_weight": sample.weight} if weighted else {}
    params = {**SMALL, "objective": objective, **EXACT[objective]}
    plain = LGBMRegressor(**params).fit(sample.X, sample.y, **fit)
    fair = FairLGBMRegressor(**params, fairness_weight=TINY, score_space=space)
    fair.fit(sample.X, sample.y, sensitive_features=sample.groups, **fit)
    assert np.ptp(plain.predict(sample.X, raw_score=True)) > 0.1
    np.testing.assert_allclose(fair.predict(sample.X), plain.predict(sample.X), rtol=1e-6)
    np.testing.assert_array_equal(fair.predict(sample.X, pred_leaf=True), plain.predict(sample.X, pred_leaf=True))
    default = LGBMRegressor(**{**SMALL, "objective": objective}).fit(sample.X, sample.y, **fit)
    if EXACT[objective]:  # the parameter does something
        assert np.abs(default.predict(sample.X) / plain.predict(sample.X) - 1).max() > 1e-4


@pytest.mark.parametrize("objective", ["poisson", "gamma", "tweedie"])
def test_an_initial_score_is_in_logarithms_as_lightgbms(objective):
    sample = sample_for(objective)
    plain, fair = fit_pair(objective, sample, fit={"init_score": np.linspace(-1.0, 1.0, len(sample.y))})
    np.testing.assert_allclose(fair.predict(sample.X), plain.predict(sample.X), rtol=1e-6)


@pytest.mark.parametrize("objective", RENEWED)
def test_losses_of_renewed_leaves_come_close_to_lightgbms(objective):
    sample, fresh = sample_for(objective, 1500), sample_for(objective, 3000, seed=9)
    plain, fair = fit_pair(objective, sample, n_estimators=50, **RENEWED[objective])

    def error(prediction):
        gap = fresh.y - prediction
        return (np.abs(gap) / fresh.y if objective == "mape" else np.maximum(0.8 * gap, -0.2 * gap)).mean()

    constant = np.quantile(sample.y, 0.8 if objective == "quantile" else 0.5)
    errors = [error(z) for z in (plain.predict(fresh.X), fair.predict(fresh.X), constant)]
    assert errors[1] < 1.05 * errors[0]
    assert errors[1] < 0.8 * errors[2]


@pytest.mark.parametrize("space", ["response", "link"])
@pytest.mark.parametrize("objective", [*EXACT, *RENEWED])
def test_the_weight_brings_groups_together(objective, space):
    sample, fresh = sample_for(objective, 2000), sample_for(objective, 3000, seed=9)
    params = {**SMALL, "n_estimators": 40, "objective": objective, "score_space": space}
    distances = []
    for weight in (0.0, 2.0, 20.0):
        model = FairLGBMRegressor(**params, fairness_weight=weight)
        prediction = model.fit(sample.X, sample.y, sensitive_features=sample.groups).predict(fresh.X)
        distances.append(wasserstein_distance(fresh.y, prediction, sensitive_features=fresh.groups))
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.5 * distances[0]
    assert np.corrcoef(prediction, fresh.y)[0, 1] > 0.2  # and something is learnt


@pytest.mark.parametrize("unit", [0.01, 1000.0])
@pytest.mark.parametrize("objective", ["gamma", "tweedie", "poisson", "quantile"])
def test_the_weight_means_the_same_in_any_unit(objective, unit):
    sample = sample_for(objective)
    params = {**SMALL, "objective": objective, "fairness_weight": 3.0, "min_child_weight": 0.0}
    predictions = [
        FairLGBMRegressor(**params).fit(sample.X, c * sample.y, sensitive_features=sample.groups).predict(sample.X)
        for c in (1.0, unit)
    ]
    np.testing.assert_allclose(predictions[1], unit * predictions[0], rtol=2e-2)


@pytest.mark.parametrize("objective", ["cross_entropy", "xentropy"])
def test_the_classifier_takes_cross_entropy(objective):
    loans = make_loans()
    # LightGBM's cross-entropy does not know label weights, so neither must ours.
    params = {**SMALL, "objective": objective, "scale_pos_weight": 3.0}
    plain = LGBMClassifier(**params).fit(loans.X, loans.y)
    fair = FairLGBMClassifier(**params, fairness_weight=TINY).fit(loans.X, loans.y, sensitive_features=loans.groups)
    np.testing.assert_allclose(fair.predict_proba(loans.X), plain.predict_proba(loans.X), rtol=1e-6)
    assert "objective=cross_entropy\n" in fair.booster_.model_to_string()


@pytest.mark.parametrize("objective", ["poisson", "gamma", "tweedie", "cross_entropy", "fair", "quantile", "mape"])
def test_metrics_during_training_are_lightgbms(objective):
    sample, fresh = sample_for(objective), sample_for(objective, seed=5)
    params = {**SMALL, "objective": objective}
    fit = {"eval_X": fresh.X, "eval_y": fresh.y}
    plain = LGBMRegressor(**params).fit(sample.X, sample.y, **fit)
    fair = FairLGBMRegressor(**params, fairness_weight=TINY)
    fair.fit(sample.X, sample.y, sensitive_features=sample.groups, **fit)
    own = FairLGBMRegressor(**params, fairness_weight=0)  # LightGBM trains, our metrics undo its link
    own.fit(sample.X, sample.y, sensitive_features=sample.groups, eval_metric=["base_loss", objective], **fit)
    (name,) = plain.evals_result_["valid_0"]
    expected = plain.evals_result_["valid_0"][name]
    assert list(fair.evals_result_["valid_0"]) == [name]
    if objective in EXACT:
        np.testing.assert_allclose(fair.evals_result_["valid_0"][name], expected, rtol=1e-6)
    np.testing.assert_allclose(own.evals_result_["valid_0"][name], expected, rtol=1e-6)
    assert len(own.evals_result_["valid_0"]["base_loss"]) == 12


def test_targets_of_evaluation_sets_are_checked():
    sample = sample_for("poisson")
    model = FairLGBMRegressor(**SMALL, objective="poisson")
    with pytest.raises(ValueError, match=r"^eval_y\[0\] must be numbers >= 0 with objective='poisson', got -1 "):
        model.fit(sample.X, sample.y, sensitive_features=sample.groups, eval_X=sample.X, eval_y=sample.y * 0 - 1)
    with pytest.raises(
        ValueError, match=r"^y must be numbers >= 0 with objective='poisson', got -1 \(600 such rows\)$"
    ):
        model.fit(sample.X, sample.y * 0 - 1, sensitive_features=sample.groups)
    assert not hasattr(model, "fitted_")


@pytest.mark.parametrize("metric", ["cross_entropy", "kldiv"])
def test_metrics_of_shares_need_shares(metric):
    sample = make_wages()
    with pytest.raises(ValueError, match="needs a target from 0 to 1, but that of evaluation set 0 goes from "):
        FairLGBMRegressor(**SMALL).fit(
            sample.X, sample.y, sensitive_features=sample.groups, eval_metric=metric, eval_X=sample.X[:9],
            eval_y=sample.y[:9],
        )  # fmt: skip


def test_a_saved_model_of_counts_predicts_counts(tmp_path):
    sample = sample_for("poisson")
    model = FairLGBMRegressor(**SMALL, objective="poisson", fairness_weight=2.0)
    model.fit(sample.X, sample.y, sensitive_features=sample.groups).booster_.save_model(tmp_path / "counts.txt")
    loaded = lgb.Booster(model_file=tmp_path / "counts.txt")
    np.testing.assert_allclose(loaded.predict(sample.X), np.exp(model.predict(sample.X, raw_score=True)), rtol=1e-12)
    assert loaded.predict(sample.X).mean() == pytest.approx(sample.y.mean(), rel=0.05)
