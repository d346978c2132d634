"""Scores of several models on the same rows, without training any."""

import numpy as np
from scipy.special import expit

from otfairboost.report import Candidate


def make_rows(n_rows=3000, n_groups=2, seed=0):
    """Return labels, group names and the parts of the scores: merit, and what depends on the group."""
    rng = np.random.default_rng(seed)
    code = rng.choice(n_groups, n_rows, p=np.arange(1, n_groups + 1) / np.arange(1, n_groups + 1).sum())
    merit, bias = rng.normal(size=n_rows), 1.2 * (code / (n_groups - 1) - 0.5)
    y = (rng.random(n_rows) < expit(1.5 * merit + 0.5 * bias)).astype(int)
    return y, np.array([f"group {i}" for i in range(n_groups)])[code], merit, bias


def make_candidates(merit, bias, weights=(0, 1, 5, 20), seed=1):
    """Return models whose scores depend the less on the group, and the more on chance, the larger the weight."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=len(merit))
    return [
        Candidate(
            f"weight {weight:g}",
            expit(merit + bias * np.exp(-weight / 4) + 0.6 * noise * (1 - np.exp(-weight / 8))).round(
                3
            ),  # some are thresholds a reader can choose
            float(weight),
            {"n_estimators": 100, "learning_rate": 0.1},
        )
        for weight in weights
    ]
