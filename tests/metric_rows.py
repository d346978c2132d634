"""Rows that the metrics' tests share, and lists of metrics by kind."""

import numpy as np

from otfairboost.metrics import METRICS

PERFORMANCE = (
    "average_precision", "roc_auc", "accuracy", "log_loss", "mean_absolute_error", "mean_squared_error"
)  # fmt: skip
OF_TWO = {name: metric for name, metric in METRICS.items() if metric.classes != "many"}
LABEL = [name for name, metric in METRICS.items() if metric.function.__module__ == "otfairboost.metrics.parity"]
SCORE = ["wasserstein_distance", "kolmogorov_smirnov", "normalized_wasserstein"]
FAIRNESS = LABEL + SCORE
SEEDS_AND_GROUPS = [(0, 2), (1, 3), (2, 4), (3, 5)]


def make_rows(seed=0, n_groups=2, n=200):
    """Labels, decisions, scores that depend on the group, groups, weights; every group has both labels."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.repeat(np.arange(n_groups), 4), rng.integers(0, n_groups, n - 4 * n_groups)])
    y = (rng.random(n) < 0.3 + 0.1 * group).astype(int)
    y[: 4 * n_groups] = np.tile([0, 1, 0, 1], n_groups)
    score = np.round(np.clip(0.2 * y + 0.1 * group + 0.5 * rng.random(n), 0, 1), 2)  # rounded: ties
    weight = rng.integers(0, 5, n) + 0.25
    return y, (score >= 0.5).astype(int), score, np.array(list("abcde"))[group], weight


def prediction(name, decision, score):
    return score if METRICS[name].kind == "score" else decision


def one_vs_rest(group):
    return [(group == label) for label in np.unique(group)]
