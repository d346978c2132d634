"""What is not baked, and what is noticed when a baked model is read back."""

import re

import lightgbm as lgb
import numpy as np
import pytest

from boosters.models import BASE, log_loss, log_odds, train
from otfairboost.boosters import baking
from otfairboost.boosters.baking import bake

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
