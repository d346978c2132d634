"""Parameters by name and alias: what is read here must be what LightGBM takes."""

import lightgbm as lgb
import numpy as np
import pytest

from otfairboost.boosters.lightgbm_parameters import (
    drop_parameter,
    is_parameter,
    read_flag,
    read_number,
    read_parameter,
    refuse_ignored_parameters,
    sum_row_wise,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.integers(0, 2, size=60)


def lightgbm_reads(params, name):
    """Return a parameter as LightGBM writes it into the model it trains with these parameters."""
    booster = lgb.train({"verbosity": -1, "num_threads": 1, **params}, lgb.Dataset(X, Y), 1)
    return booster.model_to_string().partition(f"[{name}: ")[2].partition("]")[0]


@pytest.mark.parametrize(
    "params",
    [
        {"learning_rate": 0.3},
        {"eta": 0.3},
        {"shrinkage_rate": 0.3},
        {"learning_rate": 0.2, "eta": 0.3},
        {"eta": 0.2, "shrinkage_rate": 0.3},
        {"shrinkage_rate": 0.3, "eta": 0.2},
    ],
)
def test_the_alias_is_read_that_lightgbm_reads(params):
    assert read_number(params, "learning_rate", 0.1) == float(lightgbm_reads(params, "learning_rate"))


@pytest.mark.parametrize("value", [True, False, "true", "false", "+", "-", "True", "FALSE"])
def test_flags_are_read_as_by_lightgbm(value):
    params = {"unbalanced_sets": value, "objective": "binary"}
    assert read_flag(params, "is_unbalance", False) == (lightgbm_reads(params, "is_unbalance") == "1")


def test_defaults_stand_in_for_what_is_missing_or_none():
    assert read_parameter({"eta": None}, "learning_rate", 0.7) == 0.7
    assert read_number({}, "alpha", 0.9) == 0.9
    assert read_flag({}, "boost_from_average", True) is True


def test_numbers_that_are_none_are_named():
    with pytest.raises(ValueError, match=r"^learning_rate='fast' must be a number$"):
        read_number({"eta": "fast"}, "learning_rate", 0.1)


def test_dropping_takes_every_alias():
    params = {"metric": "auc", "metrics": "l1", "metric_types": "l2", "num_leaves": 3}
    drop_parameter(params, "metric")
    assert params == {"num_leaves": 3}


@pytest.mark.parametrize(("name", "known"), [("eta", True), ("num_leaves", True), ("fairness_weight", False)])
def test_parameters_are_known_by_every_name(name, known):
    assert is_parameter(name) is known


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"boosting": "dart"},
        {"boosting_type": "goss"},
        {"pos_bagging_fraction": 1.0, "neg_bagging_fraction": 1},
        {"reg_sqrt": False},
        {"reg_sqrt": "false"},
        {"sigmoid": 1.0},
        {"num_class": 1},
        {"num_machines": 1, "machines": ""},
    ],
)
def test_harmless_values_are_let_through(params):
    refuse_ignored_parameters(params)


def train_on_margins(params):
    def log_loss(raw_prediction, data):
        p = 1 / (1 + np.exp(-raw_prediction))
        return p - data.get_label(), p * (1 - p)

    params = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5, "seed": 1, **params, "objective": log_loss}
    return lgb.train(params, lgb.Dataset(X, Y), 8).predict(X)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"pos_bagging_fraction": 0.3, "bagging_freq": 1}, "pos_bagging_fraction=0.3"),
        ({"neg_bagging_fraction": 0.3, "bagging_freq": 1}, "neg_bagging_fraction=0.3"),
        ({"reg_sqrt": True}, "reg_sqrt=True"),
        ({"sigmoid": 3.0}, "sigmoid=3.0"),
    ],
)
def test_what_is_refused_is_what_lightgbm_ignores(params, named):
    np.testing.assert_array_equal(train_on_margins(params), train_on_margins({}))
    with pytest.raises(ValueError, match=f"^{named} is not available with fairness_weight > 0: "):
        refuse_ignored_parameters(params)


def test_forests_are_refused_by_lightgbm_too():
    params = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do not support custom objective"):
        train_on_margins(params)
    with pytest.raises(ValueError, match=r"^boosting='rf' is not available with fairness_weight > 0: "):
        refuse_ignored_parameters(params)


@pytest.mark.parametrize(
    ("params", "shape", "row_wise"),
    [
        ({}, (1000, 32), True),
        ({}, (1000, 33), False),  # of 255 bins each
        ({"max_bins": 63}, (1000, 130), True),
        ({}, (1 << 20, 16), True),
        ({}, (1 << 20, 17), False),
        ({"num_threads": 16}, (1000, 5), True),
        ({"n_jobs": 17}, (1000, 5), False),
        ({"force_col_wise": True}, (1000, 5), False),
        ({"force_row_wise": False}, (1000, 5), False),
        ({"device": "gpu"}, (1000, 5), False),
    ],
)
def test_gradients_are_summed_row_by_row_where_that_is_faster(params, shape, row_wise):
    chosen = sum_row_wise(params, *shape)
    assert chosen == ({**params, "force_row_wise": True} if row_wise else params)
    assert "force_row_wise" not in params or params["force_row_wise"] is False
