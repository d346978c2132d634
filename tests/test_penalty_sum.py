"""Several attributes: the sum of their penalties, in value and derivatives."""

import numpy as np
import pytest

from objectives import UNWEIGHTED, make_rows, make_settings
from oracles import central_gradient, slow_penalty
from otfairboost.attributes import GroupingRules
from otfairboost.losses import LogLoss
from otfairboost.penalty import prepare

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")


def build(**changes):
    rows = make_rows(5, n=80, n_groups=2)
    rng = np.random.default_rng(1)
    features = np.column_stack([rows.groups, rng.integers(0, 3, 80)]).astype(float)
    features[:5, 0], features[3:12, 1] = np.nan, np.nan  # partly missing in each column
    changes = {"multi_attribute": "sum", "attribute_weights": [0.5, 2.0], **changes}
    settings = make_settings(fairness_weight=3.0, **changes)
    attributes = settings.grouping.read(features, n_rows=80)
    objective = settings.objective(
        LogLoss(), rows.target(), attributes, UNWEIGHTED, UNWEIGHTED, learning_rate=0.1, n_jobs=1
    )

    def slow(raw):
        score = 1 / (1 + np.exp(-raw))
        return sum(
            weight
            * slow_penalty(
                score, np.nan_to_num(features[:, j], nan=-1).astype(int), np.zeros(80, int), None,
                multi_group="one_vs_rest", group_weighting="equal",
            )
            for j, weight in enumerate([0.5, 2.0])
        )  # fmt: skip

    return rows, objective, slow


def test_value_is_the_weighted_sum():
    rows, objective, slow = build()
    assert objective.value(rows.raw).penalty == pytest.approx(slow(rows.raw))


def test_gradient_by_finite_differences():
    rows, objective, slow = build()
    gradient, _ = objective.derivatives(rows.raw)

    def value(raw):
        return LogLoss().row_values(rows.y, raw).sum() + 3.0 * 80 * slow(raw)

    np.testing.assert_allclose(gradient, central_gradient(value, rows.raw), rtol=1e-3, atol=1e-4)


def test_hessians_add_up():
    rows, objective, _ = build()
    hessian = objective.derivatives(rows.raw)[1].astype(float)
    parts = []
    for part, weight in zip(objective.penalty.parts, objective.penalty.weights, strict=True):
        alone = make_settings(fairness_weight=3.0 * weight).objective(
            LogLoss(), rows.target(), GroupingRules().read(part.plan.cell.astype(float), n_rows=80), UNWEIGHTED,
            UNWEIGHTED, learning_rate=0.1, n_jobs=1, plan=(part.plan,),
        )  # fmt: skip
        parts.append(alone.derivatives(rows.raw)[1].astype(float))
    p = 1 / (1 + np.exp(-rows.raw))
    np.testing.assert_allclose(hessian, sum(parts) - p * (1 - p), rtol=1e-5)


def test_gaps_are_weighted_too():
    rows, objective, _ = build()
    score = 1 / (1 + np.exp(-rows.raw))
    gaps = prepare(objective.penalty, score, objective._chunks).gaps()
    parts = [prepare(part, score, objective._chunks).gaps() for part in objective.penalty.parts]
    np.testing.assert_allclose(gaps, 0.5 * parts[0] + 2.0 * parts[1])


def test_group_weights_reach_the_comparison():
    rows = make_rows(6, n=90, n_groups=3)
    settings = make_settings(group_weighting={"a": 1, "b": 1, "c": 8}, transport="exact")
    attributes = settings.grouping.read(np.array(list("abc"))[rows.groups], n_rows=90)
    objective = settings.objective(
        LogLoss(), rows.target(), attributes, UNWEIGHTED, UNWEIGHTED, learning_rate=0.1, n_jobs=1
    )
    (comparison,) = objective.penalty.plan.comparisons
    np.testing.assert_allclose(comparison.shares, [0.1, 0.1, 0.8])
