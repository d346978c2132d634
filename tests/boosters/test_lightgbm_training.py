"""Training a booster on a fair objective, below the estimators."""

import lightgbm as lgb
import numpy as np
import pytest
from scipy.special import expit, logit

from otfairboost.boosters.lightgbm import EvaluationSet, NothingToSplitError, train_booster
from otfairboost.criteria import Target
from otfairboost.groups import encode_groups
from otfairboost.losses import LogLoss
from otfairboost.objective import FairObjective
from otfairboost.settings import FairnessSettings

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 3))
GROUPS = RNG.integers(0, 2, size=N)
Y = (X[:, 0] + GROUPS + RNG.logistic(size=N) > 1.2).astype(np.float32)
PARAMS = {"num_threads": 1, "verbosity": -1, "num_leaves": 6, "force_col_wise": True, "deterministic": True}
UNIT = np.empty(0, np.float32)
START = float(logit(Y.mean(dtype=np.float64)))


def make_settings(weight=1.0):
    return FairnessSettings(
        fairness="demographic_parity", fairness_weight=weight, multi_group="one_vs_rest", group_weighting="equal",
        transport="histogram", ties="average", bandwidth=0.1, n_bins=None, focus=1.0, decision_threshold=0.5,
        fairness_hessian="auto",
    )  # fmt: skip


def make_objective(settings, offset=START):
    return settings.objective(
        LogLoss(), Target(Y, (0, 1)), encode_groups(GROUPS), UNIT, UNIT, learning_rate=0.1, n_jobs=1, offset=offset
    )


def train(rows=X, weight=1.0, fair=True, rounds=6, **kwargs):
    settings = make_settings(weight)
    objective = make_objective(settings) if fair else None
    data = kwargs.pop("train_set", None) or lgb.Dataset(rows, Y, params=PARAMS)
    return train_booster(PARAMS, data, rounds, loss=LogLoss(), objective=objective, settings=settings, **kwargs)


def test_without_an_objective_it_is_lightgbms():
    booster, history = train(fair=False)
    plain = lgb.train({**PARAMS, "objective": "binary"}, lgb.Dataset(X, Y), 6)
    np.testing.assert_array_equal(booster.predict(X), plain.predict(X))
    assert history == {}


def test_the_offset_ends_up_in_the_booster():
    booster, _ = train(weight=1e-30)
    plain = lgb.train({**PARAMS, "objective": "binary"}, lgb.Dataset(X, Y), 6)
    np.testing.assert_allclose(booster.predict(X), plain.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("fair", [True, False])
def test_metrics_see_raw_predictions_less_the_offset(fair):
    seen = {"here": [], "there": []}
    train_set = lgb.Dataset(X, Y, params=PARAMS)
    held_out = lgb.Dataset(X[:50], Y[:50], reference=train_set, params=PARAMS)

    def look(name):
        def evaluate(predicted):
            seen[name].append(predicted)
            return [("second", 0.5, False), ("first", 0.25, True)]

        return evaluate

    sets = [EvaluationSet("there", held_out, look("there")), EvaluationSet("here", train_set, look("here"))]
    booster, history = train(fair=fair, train_set=train_set, metrics=["first", "auc", "second"], evaluation_sets=sets)
    offset = START if fair else 0.0
    for name, rows in (("here", X), ("there", X[:50])):
        assert len(seen[name]) == 6
        np.testing.assert_allclose(seen[name][-1] + offset, booster.predict(rows, raw_score=True), atol=1e-9)
        assert list(history[name]) == ["first", "auc", "second"]
    assert list(history) == ["here", "there"]  # LightGBM's order: the training set first


def test_where_nothing_can_be_split_the_model_is_constant():
    seen = []
    train_set = lgb.Dataset(np.ones((N, 2)), Y, params=PARAMS)
    evaluation = EvaluationSet("training", train_set, lambda raw: seen.append(raw) or [("seen", 0.0, False)])
    booster, history = train(train_set=train_set, evaluation_sets=[evaluation], metrics=["seen"])
    np.testing.assert_allclose(booster.predict(np.ones((3, 2))), Y.mean(), rtol=1e-6)
    np.testing.assert_allclose(expit(seen[-1] + START), Y.mean(), rtol=1e-6)
    assert len(history["training"]["seen"]) == 6


def test_where_nothing_can_be_split_a_model_is_not_continued():
    booster, _ = train()
    with pytest.raises(NothingToSplitError, match="min_child_samples"):
        train(np.ones((N, 3)), init_model=booster)


def test_the_model_given_to_continue_from_stays_as_it_was():
    booster, _ = train()
    before = booster.model_to_string()
    settings = make_settings()
    continued, _ = train_booster(
        PARAMS, lgb.Dataset(X, Y), 4, loss=LogLoss(), objective=make_objective(settings, offset=0.0), settings=settings,
        init_model=booster,
    )  # fmt: skip
    assert continued.num_trees() == 10
    assert booster.model_to_string() == before
    assert "\nobjective=binary sigmoid:1\n" in continued.model_to_string()


def test_scores_take_the_place_of_raw_predictions(monkeypatch):
    """Eight bytes a row that need not be allocated in every round."""
    seen = []
    derivatives = FairObjective.derivatives

    def watch(self, raw, **options):
        before = raw.copy()
        result = derivatives(self, raw, **options)
        seen.append(np.abs(raw - expit(before + START)).max())
        return result

    monkeypatch.setattr(FairObjective, "derivatives", watch)
    train(rounds=3)
    assert len(seen) == 3
    assert max(seen) < 1e-12
