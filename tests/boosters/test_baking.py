"""A baked booster against the unbaked one, and against the same model trained with LightGBM's own objective."""

import copy
import pickle
import subprocess
import sys

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from boosters.models import (
    BASE,
    N_ROWS,
    SAME_AS_NATIVE,
    VARIANTS,
    log_loss,
    log_odds,
    train,
    train_three_ways,
    trees_of,
)
from otfairboost.boosters.baking import bake

# ----------------------------------------------------------------------------------------- predictions


@pytest.mark.parametrize("variant", VARIANTS)
def test_prediction_is_the_unbaked_one_plus_the_initial_score(variant, data, tmp_path):
    X, y = data
    _, unbaked, baked = train_three_ways(VARIANTS[variant], X, y)
    raw_prediction = unbaked.predict(X) + log_odds(y)
    if "no_split" not in variant:
        assert np.ptp(raw_prediction) > 0.3  # otherwise there would be little to compare

    np.testing.assert_allclose(baked.predict(X, raw_score=True), raw_prediction, rtol=0, atol=1e-12)
    np.testing.assert_allclose(baked.predict(X), expit(raw_prediction), rtol=0, atol=1e-12)
    baked.save_model(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(loaded.predict(X), baked.predict(X))


@pytest.mark.parametrize("variant", SAME_AS_NATIVE)
def test_model_text_is_the_one_of_the_native_model(variant, data):
    X, y = data
    native, _, baked = train_three_ways(SAME_AS_NATIVE[variant], X, y)
    np.testing.assert_allclose(baked.predict(X), native.predict(X), rtol=0, atol=1e-15)

    texts = native.model_to_string().split("\n"), baked.model_to_string().split("\n")
    different = [(a, b) for a, b in zip(*texts, strict=True) if a != b]
    for theirs, ours in different:
        key = theirs.partition("=")[0]
        if key == "internal_value":  # a text of 6 digits, to which the initial score was added
            theirs, ours = (np.array(line.partition("=")[2].split(), float) for line in (theirs, ours))
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-6)
        else:  # without a metric named by the user, LightGBM writes its default for the objective
            assert (theirs, ours) == ("[metric: binary_logloss]", "[metric: custom]") or key == "tree_sizes"
    assert len(different) <= 3


def test_only_the_trees_of_the_first_iteration_are_touched(data, trained):
    _, unbaked, baked = trained
    before, after = trees_of(unbaked.model_to_string()), trees_of(baked.model_to_string())
    assert len(after) == len(before) == 15
    assert after[1:] == before[1:]
    changed = {line.partition("=")[0] for line, old in zip(after[0], before[0], strict=True) if line != old}
    assert changed == {"leaf_value", "internal_value", "shrinkage"}


def test_the_booster_given_is_not_changed(data):
    X, y = data
    unbaked = train({"objective": log_loss}, X, y, init_score=log_odds(y), rounds=3)
    text, params = unbaked.model_to_string(), dict(unbaked.params)
    bake(unbaked, objective="binary sigmoid:1", init_score=log_odds(y))
    assert unbaked.model_to_string() == text
    assert unbaked.params == params


# -------------------------------------------------------------------------- what else a booster can do


def test_contributions_leaves_and_importances_are_those_of_the_native_model(data, trained):
    X, _ = data
    native, _, baked = trained
    ours, theirs = (booster.predict(X, pred_contrib=True) for booster in (baked, native))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.sum(axis=1), baked.predict(X, raw_score=True), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(baked.predict(X, pred_leaf=True), native.predict(X, pred_leaf=True))
    for kind in ("split", "gain"):
        np.testing.assert_array_equal(baked.feature_importance(kind), native.feature_importance(kind))


def test_dumps_are_those_of_the_native_model(trained):
    native, _, baked = trained
    pd.testing.assert_frame_equal(baked.trees_to_dataframe(), native.trees_to_dataframe(), rtol=1e-5)
    dump, expected = baked.dump_model(), native.dump_model()
    assert dump["objective"] == expected["objective"] == "binary sigmoid:1"
    assert dump["tree_info"][0]["shrinkage"] == 1
    assert dump["tree_info"][1:] == expected["tree_info"][1:]


# Without path smoothing: there LightGBM's own models end the process in `refit` (4.7.0).
@pytest.mark.parametrize("variant", sorted(SAME_AS_NATIVE.keys() - {"path_smooth"}))
def test_refit_is_the_one_of_the_native_model(variant, data):
    X, y = data
    native, _, baked = train_three_ways(SAME_AS_NATIVE[variant], X, y)
    half = slice(0, N_ROWS // 2)
    expected = native.refit(X[half], y[half], decay_rate=0.3).predict(X)
    np.testing.assert_allclose(baked.refit(X[half], y[half], decay_rate=0.3).predict(X), expected, atol=1e-12)
    assert np.abs(expected - native.predict(X)).max() > 1e-3
    reloaded = lgb.Booster(model_str=baked.model_to_string())  # its parameters come from the text
    np.testing.assert_allclose(reloaded.refit(X[half], y[half], decay_rate=0.3).predict(X), expected, atol=1e-12)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_predict_the_same(copied, data, trained):
    X, _ = data
    baked = trained[2]
    np.testing.assert_array_equal(copied(baked).predict(X), baked.predict(X))


def test_params_are_those_of_training_with_a_named_objective(trained):
    native, _, baked = trained
    assert baked.params == native.params | {"sigmoid": 1}
    loaded = lgb.Booster(model_str=baked.model_to_string()).params
    assert loaded["objective"] == "binary"
    assert loaded["num_leaves"] == BASE["num_leaves"]


def test_settings_of_the_objective_reach_the_link_and_the_parameters(data):
    X, y = data
    unbaked = train({"objective": log_loss}, X, y, rounds=3)
    baked = bake(unbaked, objective="binary sigmoid:2.5")
    np.testing.assert_allclose(baked.predict(X), expit(2.5 * unbaked.predict(X)), rtol=0, atol=1e-12)
    assert baked.params["sigmoid"] == lgb.Booster(model_str=baked.model_to_string()).params["sigmoid"] == 2.5


LIGHTGBM_ALONE = """
import sys
import lightgbm, numpy
booster = lightgbm.Booster(model_file=sys.argv[1])
numpy.save(sys.argv[3], booster.predict(numpy.load(sys.argv[2])))
assert "otfairboost" not in sys.modules
"""


def test_saved_model_gives_the_same_probabilities_where_only_lightgbm_is_imported(data, tmp_path):
    X, y = data
    model, rows, answer = (str(tmp_path / name) for name in ("model.txt", "rows.npy", "answer.npy"))
    _, unbaked, baked = train_three_ways({"linear_tree": True}, X, y)
    baked.save_model(model)
    np.save(rows, X)
    subprocess.run([sys.executable, "-c", LIGHTGBM_ALONE, model, rows, answer], check=True)
    np.testing.assert_allclose(np.load(answer), expit(unbaked.predict(X) + log_odds(y)), rtol=0, atol=1e-12)
