"""The focus on a quantile: its threshold, and derivatives that hold it fixed."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from objectives import make_objective, make_rows, make_settings
from oracles import central_gradient, slow_penalty
from otfairboost.criteria import Target
from otfairboost.losses import LogLoss, PoissonLoss, SquaredError
from otfairboost.threads import RowChunks
from otfairboost.top_focus import find_quantile
from workers import run_workers

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
NONE = np.empty(0, np.float32)


def sorted_quantile(values, weight, level):
    order = np.argsort(values)
    held = np.cumsum(weight[order])
    return values[order][np.searchsorted(held, level * held[-1] - 1e-9)]


@given(
    st.lists(st.tuples(st.floats(-1e300, 1e300), st.integers(0, 9)), min_size=1, max_size=60),
    st.floats(0.01, 0.99),
)
def test_the_quantile_is_that_of_sorted_rows(rows, level):
    values = np.array([value for value, _ in rows]) + 0.0  # no negative zeros
    weight = np.array([one for _, one in rows], np.float32)
    weight[0] += 1
    got = find_quantile(values, weight, level, RowChunks(len(values)))
    assert got == sorted_quantile(values, weight.astype(float), level)
    unweighted = find_quantile(values, NONE, level, RowChunks(len(values)))
    assert unweighted == sorted_quantile(values, np.ones(len(values)), level)


def test_the_top_tenth_of_ten_is_one():
    assert find_quantile(np.arange(10.0), NONE, 0.9, RowChunks(10)) == 8.0
    assert find_quantile(np.arange(100.0), NONE, 0.07, RowChunks(100)) == 6.0  # 0.07 * 100 is not 7


def test_threads_and_chunks_do_not_matter():
    values = np.random.default_rng(0).normal(size=100_000)
    with RowChunks(len(values), 2) as chunks:
        got = find_quantile(values, NONE, 0.37, chunks)
    assert got == np.sort(values)[36_999]


def test_workers_agree_on_the_quantile_of_all_rows():
    values = np.random.default_rng(1).normal(size=3000)
    parts = [values[:100], values[100:1700], values[1700:]]
    found = run_workers(3, lambda i, reduce: find_quantile(parts[i], NONE, 0.8, RowChunks(len(parts[i])), reduce))
    assert set(found) == {np.sort(values)[2399]}


LOSSES = {"logit": LogLoss(), "identity": SquaredError(), "log": PoissonLoss(2.0)}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("link", LOSSES)
def test_gradient_by_finite_differences_with_the_threshold_held_fixed(link, weighted):
    loss, unit = LOSSES[link], 3.0 if link == "identity" else 1.0
    rows = make_rows(3, n=60, n_groups=3, weighted=weighted, missing=4)
    y = rows.y.astype(np.float32)
    target = Target(y, ("no", "yes") if link == "logit" else None, unit=unit)
    settings = make_settings(focus_quantile=0.7, focus=3.0, fairness_weight=2.0)
    objective = settings.objective(
        loss, target, rows.encoded_groups(), rows.weight, rows.weight, learning_rate=0.1, n_jobs=1, offset=0.25
    )
    gradient = objective.derivatives(rows.raw.copy())[0].astype(float)
    threshold = objective.penalty.threshold
    weight = rows.weight.astype(float) if weighted else np.ones(60)
    assert threshold == sorted_quantile(rows.raw + 0.25, weight, 0.7)  # all rows, also those without a group
    total = weight.sum()
    factor = {"logit": 1.0, "identity": 16 * unit**2, "log": 16 * loss.penalty_scale("link")}[link]

    def value(raw):
        score = expit(3.0 / unit * (raw + 0.25 - threshold))
        penalty = slow_penalty(
            score, rows.groups, np.zeros(60, int), weight, multi_group="one_vs_rest", group_weighting="equal"
        )
        return (weight * loss.row_values(y, raw + 0.25)).sum() + 2.0 * total * factor * penalty

    np.testing.assert_allclose(
        gradient, central_gradient(value, rows.raw), rtol=2e-3, atol=2e-3 * np.abs(gradient).max()
    )
    assert objective.value(rows.raw).penalty == pytest.approx(
        factor * slow_penalty(
            expit(3.0 / unit * (rows.raw + 0.25 - threshold)), rows.groups, np.zeros(60, int), weight,
            multi_group="one_vs_rest", group_weighting="equal",
        )
    )  # fmt: skip


def test_values_leave_raw_predictions_alone():
    rows = make_rows(4)
    raw = rows.raw.copy()
    objective = make_objective(rows, focus_quantile=0.5, focus=4.0)
    before = objective.value(raw)
    np.testing.assert_array_equal(raw, rows.raw)
    assert objective.value(raw) == before


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_a_quantile_outside_0_to_1_is_refused(value):
    with pytest.raises(
        ValueError, match=re.escape(f"focus_quantile={value!r} must be None or a number between 0 and 1")
    ):
        make_settings(focus_quantile=value)


def test_it_needs_responses():
    with pytest.raises(ValueError, match=r"^focus_quantile=0.9 needs score_space='response', got score_space='link'$"):
        make_settings(focus_quantile=0.9, score_space="link")
