"""Trees on a cluster are those of one machine, wherever the rows lie; without the workers' sums they are not."""

import json
from functools import partial

import numpy as np
import pytest

from on_dask.clustered import make_table, spread
from otfairboost import FairXGBClassifier, FairXGBRegressor
from otfairboost.distributed import DaskFairXGBClassifier, DaskFairXGBRegressor, dask_model

SMALL = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1, "verbosity": 0}
TABLE = make_table()
SORTED = TABLE.take(np.argsort(TABLE.groups, kind="stable"))
LAYOUTS = {
    "even": (TABLE, [750] * 4),
    "sorted by group": (SORTED, [750] * 4),
    "uneven": (SORTED, [5, 2000, 95, 900]),
    "empty partitions": (SORTED, [0, 1700, 0, 1300]),
}
KINDS = {
    "classifier": (FairXGBClassifier, DaskFairXGBClassifier, "y"),
    "regressor": (FairXGBRegressor, DaskFairXGBRegressor, "wage"),
}


def fit(model, table, target, **arguments):
    return model.fit(table.X, getattr(table, target), sensitive_features=table.groups, verbose=False, **arguments)


def nodes(model):
    """Return splits and leaves of every tree."""
    trees = [json.loads(tree) for tree in model.get_booster().get_dump(dump_format="json", with_stats=False)]

    def walk(node):
        if "leaf" in node:
            return [("leaf", node["leaf"])]
        here = (node["split"], node["split_condition"], node["yes"], node["missing"])
        return [here, *(one for child in node["children"] for one in walk(child))]

    return [walk(tree) for tree in trees]


def assert_same_trees(one, other):
    for mine, theirs in zip(nodes(one), nodes(other), strict=True):
        assert [node[0] for node in mine] == [node[0] for node in theirs]
        assert [node[2:] for node in mine if node[0] != "leaf"] == [node[2:] for node in theirs if node[0] != "leaf"]
        np.testing.assert_allclose([node[1] for node in mine], [node[1] for node in theirs], rtol=1e-3, atol=1e-5)


@pytest.fixture(scope="module")
def alone():
    return {
        (kind, weighted): fit(local(**SMALL), TABLE, target, **({"sample_weight": TABLE.weight} if weighted else {}))
        for kind, (local, _, target) in KINDS.items()
        for weighted in (False, True)
    }


@pytest.mark.parametrize("n_workers", [2, 4])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_those_of_one_machine(client, workers, alone, kind, layout, n_workers):
    _, on_dask, target = KINDS[kind]
    table, lengths = LAYOUTS[layout]
    rows = spread(client, table, lengths, workers[:n_workers])
    model = fit(on_dask(**SMALL), rows, target)
    expected = [sum(lengths[i::n_workers]) for i in range(n_workers)]
    assert sorted(model.rows_per_worker_) == sorted(expected)  # as many workers as rows were laid on
    assert_same_trees(model, alone[kind, False])
    np.testing.assert_allclose(
        model.to_local().predict(TABLE.X, output_margin=True),
        alone[kind, False].predict(TABLE.X, output_margin=True),
        atol=1e-4,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_data_frames_change_nothing_about_it(client, workers, alone, kind):
    _, on_dask, target = KINDS[kind]
    rows = spread(client, SORTED, [900, 2100, 0], workers[:2], frames=True)
    assert not rows.X.known_divisions
    model = fit(on_dask(**SMALL), rows, target, sample_weight=rows.weight)
    assert sorted(n_rows for n_rows in model.rows_per_worker_ if n_rows) == [900, 2100]
    assert_same_trees(model, alone[kind, True])


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_workers_sums_trees_differ(client, workers, alone, kind, monkeypatch):
    """The control: each worker's penalty on its own rows. Sorted by group it would not even see two groups."""
    _, on_dask, target = KINDS[kind]
    monkeypatch.setattr(dask_model, "WorkerObjective", partial(dask_model.WorkerObjective, reduce=np.asarray))
    rows = spread(client, TABLE, [1000, 2000], workers[:2])
    model = fit(on_dask(**SMALL), rows, target)
    assert sorted(model.rows_per_worker_) == [1000, 2000]
    with pytest.raises(AssertionError):
        assert_same_trees(model, alone[kind, False])


CRITERIA = [
    {"fairness": "equalized_odds"},
    {"multi_group": "barycenter", "focus": 4.0},
    {"fairness": "true_positive_rate_parity", "group_weighting": "size"},
]


@pytest.mark.parametrize("params", CRITERIA, ids=str)
def test_criteria_of_three_groups_one_of_them_in_one_partition(client, workers, params):
    table = make_table(2000, 1, labels=("a", "b", "c"))
    table = table.take(np.argsort(table.groups, kind="stable"))
    rows = spread(client, table, [650, 650, 700], workers[:3])
    model = fit(DaskFairXGBClassifier(**SMALL | params), rows, "y")
    assert len(model.rows_per_worker_) == 3
    assert model.groups_ == ("a", "b", "c")
    assert_same_trees(model, fit(FairXGBClassifier(**SMALL | params), table, "y"))


def test_without_fairness_it_is_xgboost(client, workers):
    rows = spread(client, TABLE, [1500, 1500], workers[:2])
    model = fit(DaskFairXGBClassifier(**SMALL, fairness_weight=0), rows, "y")
    assert_same_trees(model, fit(FairXGBClassifier(**SMALL, fairness_weight=0), TABLE, "y"))
