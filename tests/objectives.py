"""Rows to compare, and the library's objects built on them with one line."""

from typing import NamedTuple

import numpy as np

from otfairboost.criteria import Target, stratify
from otfairboost.groups import Groups
from otfairboost.losses import LogLoss, SquaredError
from otfairboost.penalty import Penalty, prepare
from otfairboost.plan import plan_comparisons
from otfairboost.row_derivatives import HessianForm
from otfairboost.settings import FairnessSettings
from otfairboost.threads import RowChunks
from otfairboost.transport.grid import DEFAULT_BINS

UNWEIGHTED = np.empty(0, np.float32)
GAUSS_NEWTON = HessianForm(1.0, False)
DEFAULTS = {
    "fairness": "demographic_parity", "fairness_weight": 1.0, "multi_group": "one_vs_rest", "group_weighting": "equal",
    "transport": "exact", "ties": "average", "bandwidth": 0.1, "n_bins": None, "focus": 1.0, "decision_threshold": 0.5,
    "fairness_hessian": "auto",
}  # fmt: skip


class Rows(NamedTuple):
    """Raw predictions, labels, groups (-1: missing) and weights (empty: all 1)."""

    raw: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    weight: np.ndarray

    def encoded_groups(self):
        return Groups(self.groups.astype(np.int32), tuple("abcdefgh"[: self.groups.max() + 1]))

    def target(self, *, classification=True):
        return Target(self.y, ["no", "yes"]) if classification else Target(self.y.astype(np.float64), None)


def make_rows(seed, n=60, n_groups=2, *, weighted=False, missing=0, levels=None):
    """Rows whose groups differ, each with both labels; ``levels`` distinct raw predictions, or all of them distinct."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    y, groups = (order % 2).astype(np.int64), (order // 2) % n_groups
    shift = np.linspace(-0.5, 0.7, n_groups)[groups] + 0.4 * y
    # Ranks spread with gaps, so that finite differences can step between them.
    raw = (np.argsort(np.argsort(shift + rng.normal(size=n))) + 0.3 * rng.random(n)) * (5 / n) - 2.5
    if levels is not None:
        raw = np.sort(rng.normal(size=levels))[np.minimum(((raw + 2.5) / 5 * levels).astype(int), levels - 1)]
    groups[rng.choice(n, missing, replace=False)] = -1
    weight = rng.uniform(0.2, 3.0, n).astype(np.float32) if weighted else UNWEIGHTED
    return Rows(raw, y, groups, weight)


def make_settings(**changes):
    return FairnessSettings(**{**DEFAULTS, **changes})


def make_penalty(rows, *, classification=True, **changes):
    settings = make_settings(**changes)
    strata = stratify(settings.fairness, rows.target(classification=classification))
    return Penalty(
        plan_comparisons(rows.encoded_groups(), strata, rows.weight, settings.group_weighting),
        settings.score_map("logit" if classification else "identity"),
        multi_group=settings.multi_group,
        transport=settings.transport,
        ties=settings.ties,
        bandwidth=settings.bandwidth,
        n_bins=settings.n_bins or DEFAULT_BINS,
    )


def add_derivatives(penalty, score, form=GAUSS_NEWTON, scale=1.0, n_jobs=1):
    """Return the penalty's gradient and hessian in the raw prediction."""
    grad, hess = np.zeros((2, len(score)))
    with RowChunks(len(score), n_jobs) as chunks:
        prepared = prepare(penalty, score, chunks)
        chunks.run(lambda _, start, stop: prepared.add(start, stop, scale, form, grad, hess))
    return grad, hess


def make_objective(rows, loss=None, *, classification=True, learning_rate=0.1, n_jobs=1, offset=0.0, **changes):
    return make_settings(**changes).objective(
        loss or (LogLoss() if classification else SquaredError()),
        rows.target(classification=classification),
        rows.encoded_groups(),
        rows.weight,
        rows.weight,
        learning_rate=learning_rate,
        n_jobs=n_jobs,
        offset=offset,
    )
