"""Baking models of every kind: categories, names, links, several classes, continued, stopped early."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from boosters.models import (
    BASE,
    N_ROWS,
    cross_entropy,
    log_loss,
    log_loss_metric,
    log_odds,
    train,
    train_three_ways,
    trees_of,
)
from otfairboost.boosters.baking import bake

# ------------------------------------------------------------------------------------- kinds of models


def test_pandas_categories(data, tmp_path):
    X, y = data
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abcde"))
    city = rng.choice(["Oslo", "São Paulo", 'say "x"', "Tree=0", "r", "s", "t", "u"], size=N_ROWS)
    y = np.where(np.isin(city, ["Oslo", "Tree=0", "u"]), 1 - y, y)
    frame["city"] = pd.Series(city).where(rng.random(N_ROWS) > 0.1).astype("category")
    params = {"min_data_per_group": 10, "cat_smooth": 1.0}
    native, unbaked, baked = train_three_ways(params, frame, y)
    assert any("num_cat=1" in tree for tree in trees_of(baked.model_to_string())[:1])

    baked.save_model(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    # Other codes for the same categories: they are resolved by name, from the last line of the model text.
    shuffled = frame.assign(
        city=frame["city"]
        .cat.add_categories("new")
        .cat.reorder_categories(["new", "u", "t", "s", "r", "Tree=0", 'say "x"', "São Paulo", "Oslo"])
    )
    for booster in (baked, loaded):
        assert booster.pandas_categorical == native.pandas_categorical
        np.testing.assert_allclose(booster.predict(frame), expit(unbaked.predict(frame) + log_odds(y)), atol=1e-12)
        np.testing.assert_array_equal(booster.predict(shuffled), booster.predict(frame))
    np.testing.assert_allclose(baked.predict(frame), native.predict(frame), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "names",
    [
        ["größe", "年齢", "with space", "😀", "e"],  # LightGBM itself turns the space into an underscore
        ["Tree=0", "objective=x", "tree_sizes=1", "max_feature_idx=4", "parameters"],
    ],
    ids=["unicode", "words_of_the_format"],
)
def test_feature_names(names, data):
    X, y = data
    native, unbaked, baked = train_three_ways({}, pd.DataFrame(X).set_axis(names, axis=1), y, rounds=4)
    assert baked.feature_name() == native.feature_name()
    np.testing.assert_allclose(baked.predict(X, raw_score=True), unbaked.predict(X) + log_odds(y), atol=1e-12)


def squared_error(raw_prediction, data):
    return raw_prediction - data.get_label(), np.ones_like(raw_prediction)


def poisson_deviance(raw_prediction, data):
    # The second derivative with LightGBM's safeguard, poisson_max_delta_step = 0.7.
    return np.exp(raw_prediction) - data.get_label(), np.exp(raw_prediction + 0.7)


@pytest.mark.parametrize(
    ("objective", "function", "link"),
    [("regression", squared_error, lambda mean: mean), ("poisson", poisson_deviance, np.log)],
)
def test_other_links(objective, function, link, data):
    X, _ = data
    y = np.random.default_rng(3).poisson(np.exp(1 + np.nan_to_num(X[:, 0]))).astype(float)
    native = train({"objective": objective}, X, y)
    unbaked = train({"objective": function}, X, y, init_score=link(y.mean()))
    baked = bake(unbaked, objective=objective, init_score=link(y.mean()))
    np.testing.assert_allclose(baked.predict(X), native.predict(X), rtol=1e-14)
    np.testing.assert_allclose(baked.predict(X, raw_score=True), unbaked.predict(X) + link(y.mean()), atol=1e-12)


@pytest.mark.parametrize("params", [{}, {"linear_tree": True}], ids=["constant_leaves", "linear_leaves"])
def test_several_trees_per_iteration(params, data):
    X, _ = data
    y = np.digitize(np.nan_to_num(X[:, 0] + X[:, 1]), [-0.5, 1.5])
    init_score = np.log(np.bincount(y) / N_ROWS)
    assert len(set(init_score)) == 3
    native = train({**params, "objective": "multiclass", "num_class": 3}, X, y)
    unbaked = train({**params, "objective": cross_entropy, "num_class": 3}, X, y, init_score=init_score)
    baked = bake(unbaked, objective="multiclass num_class:3", init_score=init_score)
    assert (baked.current_iteration(), baked.num_trees()) == (15, 45)
    raw_prediction = unbaked.predict(X) + init_score
    np.testing.assert_allclose(baked.predict(X, raw_score=True), raw_prediction, rtol=0, atol=1e-12)
    np.testing.assert_allclose(baked.predict(X), softmax(raw_prediction, axis=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(baked.predict(X), native.predict(X), rtol=0, atol=1e-15)
    assert trees_of(baked.model_to_string())[3:] == trees_of(native.model_to_string())[3:]

    one_for_all = bake(unbaked, objective="multiclass num_class:3", init_score=0.7, num_iteration=4)
    expected = unbaked.predict(X, num_iteration=4) + 0.7
    np.testing.assert_allclose(one_for_all.predict(X, raw_score=True), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("quiet_from", [0, 3], ids=["first_iteration_too", "later"])
def test_constant_trees_of_one_class(quiet_from, data):
    """Class 1 stops having gradients, so its trees are single leaves beside the others' full ones."""
    X, _ = data
    y = np.digitize(np.nan_to_num(X[:, 0] + X[:, 1]), [-0.5, 1.5])
    calls = []

    def quiet(raw_prediction, data):
        gradient, hessian = cross_entropy(raw_prediction, data)
        calls.append(None)
        if len(calls) > quiet_from:
            gradient[:, 1] = 0
        return gradient, hessian

    init_score = np.array([0.2, -1.3, 0.0])
    unbaked = train({"objective": quiet, "num_class": 3}, X, y, init_score=init_score, rounds=6)
    leaves = [tree[1] for tree in trees_of(unbaked.model_to_string())]
    assert [leaf == "num_leaves=1" for leaf in leaves[1::3]] == [i >= quiet_from for i in range(6)]
    assert "num_leaves=1" not in leaves[0::3]
    baked = bake(unbaked, objective="multiclass num_class:3", init_score=init_score)
    expected = unbaked.predict(X) + init_score
    np.testing.assert_allclose(baked.predict(X, raw_score=True), expected, rtol=0, atol=1e-12)


def test_model_continued_from_a_baked_one(data):
    X, y = data
    native, _, baked = train_three_ways({}, X, y, rounds=6)
    expected = train({"objective": "binary"}, X, y, rounds=5, init_model=native)
    longer = train({"objective": log_loss}, X, y, rounds=5, init_model=baked)
    longer = bake(longer, objective="binary sigmoid:1")
    assert longer.num_trees() == 11
    np.testing.assert_allclose(longer.predict(X), expected.predict(X), rtol=0, atol=1e-15)
    # LightGBM's own objective can go on from it as well.
    native_after_baked = train({"objective": "binary"}, X, y, rounds=5, init_model=baked)
    np.testing.assert_allclose(native_after_baked.predict(X), expected.predict(X), rtol=0, atol=1e-15)


@pytest.mark.parametrize("init_score", [0.0, 1e-16, -1e-16])
def test_nothing_to_add_leaves_the_trees_alone(init_score, trained):
    unbaked = trained[1]
    baked = bake(unbaked, objective="binary sigmoid:1", init_score=init_score)
    assert trees_of(baked.model_to_string()) == trees_of(unbaked.model_to_string())


# -------------------------------------------------------------------------------------- best iteration


def train_until_best(objective, X, y, *, init_score=None, **kwargs):
    def dataset(rows, **more):
        scores = None if init_score is None else np.full(len(y[rows]), init_score)
        return lgb.Dataset(X[rows], y[rows], init_score=scores, **more)

    first, last = slice(0, 400), slice(400, None)
    train_set = dataset(first)
    return lgb.train(
        BASE | {"objective": objective, "learning_rate": 0.3},
        train_set,
        200,
        valid_sets=[dataset(last, reference=train_set), train_set],
        valid_names=["held_out", "seen"],
        feval=log_loss_metric if callable(objective) else None,
        callbacks=[lgb.early_stopping(10, verbose=False)],
        **kwargs,
    )


@pytest.mark.parametrize("keep_training_booster", [False, True])
def test_best_iteration_is_as_after_native_training(keep_training_booster, data, tmp_path):
    X, y = data
    start = log_odds(y[:400])
    native = train_until_best("binary", X, y)
    unbaked = train_until_best(log_loss, X, y, init_score=start, keep_training_booster=keep_training_booster)
    best = native.best_iteration
    assert 1 < best < 100
    assert unbaked.current_iteration() == best + 10 * keep_training_booster

    baked = bake(unbaked, objective="binary sigmoid:1", init_score=start)
    assert baked.best_iteration == baked.current_iteration() == baked.num_trees() == best
    assert native.current_iteration() == native.num_trees() == best
    for name in ("held_out", "seen"):
        assert baked.best_score[name] == pytest.approx(native.best_score[name], rel=1e-6)
    assert baked.name_valid_sets == native.name_valid_sets == ["held_out"]
    assert baked._train_data_name == native._train_data_name == "seen"
    np.testing.assert_allclose(baked.predict(X), native.predict(X), rtol=0, atol=1e-15)

    baked.save_model(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    assert loaded.num_trees() == best
    np.testing.assert_array_equal(loaded.predict(X), baked.predict(X))
    assert pickle.loads(pickle.dumps(baked)).best_iteration == best


@pytest.mark.parametrize(
    ("num_iteration", "trees", "best_iteration"),
    [(None, "best", "best"), (4, 4, 4), (10_000, "all", "all"), (0, "all", "best"), (-1, "all", "best")],
)
def test_iterations_kept(num_iteration, trees, best_iteration, data):
    X, y = data
    unbaked = train_until_best(log_loss, X, y, init_score=0.4, keep_training_booster=True)
    sizes = {"best": unbaked.best_iteration, "all": unbaked.best_iteration + 10}
    baked = bake(unbaked, objective="binary sigmoid:1", init_score=0.4, num_iteration=num_iteration)
    assert baked.num_trees() == baked.current_iteration() == sizes.get(trees, trees)
    assert baked.best_iteration == sizes.get(best_iteration, best_iteration)
    expected = expit(unbaked.predict(X, num_iteration=baked.best_iteration) + 0.4)
    np.testing.assert_allclose(baked.predict(X), expected, rtol=0, atol=1e-12)


def test_without_early_stopping_there_is_no_best_iteration(trained):
    native, _, baked = trained
    assert baked.best_iteration == native.best_iteration == 0
    assert baked.current_iteration() == 15
