"""Models to bake, and the same models trained with LightGBM's own objective.

The objective is written out here rather than taken from the library. Log-loss started at the log-odds of the
mean gives the trees of ``objective="binary"`` bit for bit, so LightGBM itself says what a baked model should
look like.
"""

import lightgbm as lgb
import numpy as np
from scipy.special import expit, softmax

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
