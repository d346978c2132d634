"""The objective of rows that lie on several workers is that of all rows in one place."""

from itertools import pairwise

import numpy as np
import pytest

from objectives import UNWEIGHTED, make_rows, make_settings
from otfairboost.criteria import Target
from otfairboost.groups import Groups
from otfairboost.losses import LogLoss, SquaredError
from otfairboost.reduction import alone
from workers import run_workers

LABELS = ("a", "b", "c")


def evaluate(rows, loss, classes, reduce=alone, **changes):
    settings = make_settings(transport="histogram", fairness_weight=3.0, **changes)
    objective = settings.objective(
        loss, Target(rows.y, classes), Groups(rows.groups.astype(np.int32), LABELS), rows.weight, rows.weight,
        learning_rate=0.3, n_jobs=1, reduce=reduce,
    )  # fmt: skip
    grad, hess = objective.derivatives(rows.raw)
    value = objective.value(rows.raw)
    return grad.copy(), hess.copy(), value, objective.penalty.n_bins


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "classes", "changes"),
    [
        (LogLoss(), ("no", "yes"), {"fairness": "equalized_odds"}),
        (LogLoss(), ("no", "yes"), {"multi_group": "barycenter", "focus": 4.0}),
        (SquaredError(), None, {}),
    ],
)
def test_workers_together_are_one_machine(loss, classes, changes, weighted):
    rows = make_rows(5, 9000, 3, weighted=weighted)
    rows = type(rows)(*(column[np.argsort(rows.groups, kind="stable")] if len(column) else column for column in rows))
    grad, hess, value, n_bins = evaluate(rows, loss, classes, **changes)
    bounds = [0, 2500, 2500, 2600, 9000]  # one worker has no rows, and the first has one group alone
    parts = [
        type(rows)(*(column[low:high] if len(column) else UNWEIGHTED for column in rows))
        for low, high in pairwise(bounds)
    ]
    results = run_workers(4, lambda worker, reduce: evaluate(parts[worker], loss, classes, reduce, **changes))
    np.testing.assert_allclose(np.concatenate([one[0] for one in results]), grad, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.concatenate([one[1] for one in results]), hess, rtol=1e-5, atol=1e-6)
    for one in results:
        np.testing.assert_allclose(one[2], value, rtol=1e-10)
        assert one[3] == n_bins
