"""A baked booster against the unbaked one, and against the same model trained with LightGBM's own objective.

The objective is written out here rather than taken from the library. Log-loss started at the log-odds of the
mean gives the trees of ``objective="binary"`` bit for bit, so LightGBM itself says what a baked model should
look like.
"""

import copy
import pickle
import re
import subprocess
import sys

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from otfairboost.boosters import baking
from otfairboost.boosters.baking import bake

N_ROWS = 700
# Left to itself LightGBM times both histogram layouts and takes the faster, whose sums round differently.
BASE = {"num_leaves": 12, "num_threads": 1, "verbosity": -1, "force_col_wise": True, "deterministic": True}
SAME_AS_NATIVE = {
    "plain": {},
    "bagging": {"bagging_fraction": 0.5, "bagging_freq": 1},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.3},  # sampling starts at iteration 1 / rate
    "linear": {"linear_tree": True},
    "monotone": {"monotone_constraints": [1, -1, 0, 0, 0]},
    "path_smooth": {"path_smooth": 3.0},
    "extra_trees": {"extra_trees": True},
    "quantised": {"use_quantized_grad": True},
    "quantised_renewed": {"use_quantized_grad": True, "quant_train_renew_leaf": True},
    "no_split": {"min_gain_to_split": 1e9},
    "no_split_linear": {"min_gain_to_split": 1e9, "linear_tree": True},
}
# Here a custom objective gives other trees than the built-in one. DART keeps rescaling its first tree.
OTHER_THAN_NATIVE = {
    "feature_fraction": {"feature_fraction": 0.6},
    "dart": {"boosting": "dart", "drop_rate": 0.8, "skip_drop": 0.0},
    "dart_linear": {"boosting": "dart", "drop_rate": 0.8, "skip_drop": 0.0, "linear_tree": True},
}
VARIANTS = SAME_AS_NATIVE | OTHER_THAN_NATIVE


def log_loss(raw_prediction, data):
    p, y = expit(raw_prediction), data.get_label()
    return p - y, p * (1 - p)


def log_loss_metric(raw_prediction, data):
    y = data.get_label()
    return "binary_logloss", np.mean(np.logaddexp(0, raw_prediction) - y * raw_prediction), False


def cross_entropy(raw_prediction, data):
    p = softmax(raw_prediction, axis=1)
    k = p.shape[1]
    return p - np.eye(k)[data.get_label().astype(int)], k / (k - 1) * p * (1 - p)


def log_odds(y):
    return np.log(y.mean() / (1 - y.mean()))


def train(params, X, y, *, init_score=None, rounds=15, **kwargs):
    """Train from a constant initial score, or from LightGBM's own starting point."""
    if init_score is not None:
        init_score = np.tile(init_score, (len(y), 1)).squeeze()
    return lgb.train(BASE | params, lgb.Dataset(X, y, init_score=init_score), rounds, **kwargs)


def train_three_ways(params, X, y, **kwargs):
    """Return the native, the unbaked and the baked booster."""
    native = train({**params, "objective": "binary"}, X, y, **kwargs)
    unbaked = train({**params, "objective": log_loss}, X, y, init_score=log_odds(y), **kwargs)
    return native, unbaked, bake(unbaked, objective="binary sigmoid:1", init_score=log_odds(y))


def trees_of(model_text):
    """Return the text of each tree, as lists of lines."""
    body = model_text[model_text.index("Tree=0\n") : model_text.index("end of trees")]
    return [tree.strip().split("\n") for tree in body.split("\n\n\n")][:-1]


@pytest.fixture(scope="module")
def data():
    """Rows with missing values, and a label with a rare positive class (an initial score far from 0)."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, 5))
    y = (X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + rng.normal(size=N_ROWS) > 1.5).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def trained(data):
    """The plain variant, for tests that only read it."""
    return train_three_ways({}, *data)


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


# -------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "multiclass num_class:3"}, "needs 3 tree"),
        ({"objective": "binary sigmoid"}, "key:number"),
        ({"objective": "binary sigmoid:one"}, "key:number"),
        ({"objective": "binary sigmoid:1", "init_score": np.nan}, "finite"),
        ({"objective": "binary sigmoid:1", "init_score": [0.1, 0.2]}, r"shape \(1,\)"),
    ],
)
def test_arguments_that_do_not_fit_the_model(arguments, message, trained):
    with pytest.raises(ValueError, match=message):
        bake(trained[1], **arguments)


@pytest.mark.parametrize("index", [0, 2], ids=["native", "baked"])
def test_a_model_with_an_objective_is_not_baked(index, trained):
    with pytest.raises(ValueError, match="already has an objective"):
        bake(trained[index], objective="binary sigmoid:1", init_score=0.1)


def test_unknown_objective(trained):
    with pytest.raises(lgb.basic.LightGBMError, match="no_such_loss"):
        bake(trained[1], objective="no_such_loss")


def test_a_model_without_trees(data):
    empty = lgb.Booster(BASE | {"objective": "none"}, lgb.Dataset(*data))
    with pytest.raises(ValueError, match="no trees"):
        bake(empty, objective="binary sigmoid:1", init_score=0.1)


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        ("version=v4", "version=v5"),
        ("\ntree_sizes=", "\nlengths="),
        ("\nmax_feature_idx=", "\nfeatures="),
        ("\nTree=0\n", "\nTree=a\n"),
        ("\nTree=1\n", "\nTree=b\n"),
        ("\nTree=9\n", "\nSubtree=9\n"),
        ("\nend of trees\n", "\nend\n"),
        ("\nleaf_value=", "\nleaf_output="),
        ("\nleaf_const=", "\nleaf_intercept="),
        ("\nis_linear=1", "\nis_linear=2"),
        ("\nshrinkage=", "\nrate="),
        ("\nparameters:\n", "\nconfig:\n"),
        ("\n[objective: custom]\n", "\n[loss: custom]\n"),
    ],
)
def test_a_text_of_another_form_is_refused(known, unknown, data, monkeypatch):
    X, y = data
    unbaked = train({"objective": log_loss, "linear_tree": True}, X, y, init_score=log_odds(y))
    text = unbaked.model_to_string()
    assert known in text
    monkeypatch.setattr(unbaked, "model_to_string", lambda **_: text.replace(known, unknown))
    with pytest.raises(RuntimeError, match=f"LightGBM {lgb.__version__} does not have the expected form"):
        bake(unbaked, objective="binary sigmoid:1", init_score=log_odds(y))


@pytest.mark.parametrize(
    ("step", "replacement", "message"),
    [
        ("_shift_outputs", lambda trees, bias: trees, "moved a leaf"),
        (
            "_edit_header",
            lambda header, _: re.sub("tree_sizes=.*\n", "", header),
            "objective 'binary' was read back as ''",
        ),
    ],
)
def test_the_model_read_back_is_verified(step, replacement, message, trained, monkeypatch):
    monkeypatch.setattr(baking, step, replacement)
    with pytest.raises(RuntimeError, match=message):
        bake(trained[1], objective="binary sigmoid:1", init_score=0.3)
