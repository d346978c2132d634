"""Folds, seeds and the order of the fits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from benchmark_study import LOANS, PROFILE, Few, Slow
from otfairboost.benchmark import protocol
from otfairboost.benchmark.profiles import PROFILES, get_profile
from otfairboost.benchmark.protocol import Split, assign_folds, checksum, inner_splits, outer_splits, plan


def test_folds_are_disjoint_and_stratified():
    y = np.random.default_rng(0).random(1003) < 0.1
    folds = assign_folds(y, 5, 3, stratify=True)
    assert sorted(np.bincount(folds)) == [200, 200, 201, 201, 201]
    shares = [y[folds == fold].mean() for fold in range(5)]
    assert np.ptp(shares) < 0.006
    assert_array_equal(folds, assign_folds(y, 5, 3, stratify=True))
    assert (folds != assign_folds(y, 5, 4, stratify=True)).mean() > 0.5


def test_continuous_targets_are_not_stratified():
    folds = assign_folds(np.random.default_rng(0).random(50), 5, 0, stratify=False)
    assert np.bincount(folds).tolist() == [10] * 5


def test_splits():
    assert [split.name for split in outer_splits(3)] == ["0", "1", "2"]
    assert [split.name for split in inner_splits(4)] == ["0+1", "0+2", "0+3", "1+2", "1+3", "2+3"]
    assert Split.read("1+3") == Split((1, 3))
    with pytest.raises(ValueError, match="n_folds=2 leaves nothing to fit on"):
        inner_splits(2)


def test_one_configuration_after_the_other_for_all_methods():
    units = list(plan(LOANS, [Few(), Slow()], PROFILE, 0))
    keys = [unit.key for unit in units]
    assert len(set(keys)) == len(keys)
    order = [(key.configuration, key.study, key.method) for key in keys]
    assert order == sorted(order, key=lambda one: one[:2])  # baseline before w2_post in both
    assert [key.split for key in keys[:4]] == ["0", "1", "2", "0"]
    weights = [
        (key.method, unit.own["fairness_weight"])
        for key, unit in zip(keys, units, strict=True)
        if key.study == "weights"
    ]
    assert weights == [("baseline", 0.5)] * 3 + [("baseline", 5.0)] * 3  # the other has no such dial
    assert len(units) == 2 * 2 * 3 + 6


def test_a_configuration_does_not_depend_on_what_else_is_run():
    def find(units):
        return {unit.key: unit for unit in units}

    alone = find(plan(LOANS, [Slow()], PROFILE, 0))
    together = find(plan(LOANS, [Few(), Slow()], PROFILE._replace(n_configurations=5), 0, nested=True))
    assert all(together[key] == unit for key, unit in alone.items())
    other_seed = find(plan(LOANS, [Slow()], PROFILE, 1))
    assert all(other_seed[key].seed != unit.seed and other_seed[key].own != unit.own for key, unit in alone.items())
    shared = {
        key.configuration: unit.shared
        for key, unit in together.items()
        if key.method == "baseline" and key.study == "search"
    }
    assert all(shared[key.configuration] == unit.shared for key, unit in alone.items())
    assert len({unit.seed for unit in together.values()}) == 5  # one for each configuration


def test_methods_of_many_models_try_fewer_configurations():
    class Costly(Slow):
        fits = 20

    def count(max_models):
        profile = PROFILE._replace(n_configurations=6, max_models=max_models, fairness_weights=())
        keys = [unit.key for unit in plan(LOANS, [Costly(), Few()], profile, 0)]
        return [len({key.configuration for key in keys if key.method == name}) for name in ("w2_post", "baseline")]

    assert [count(n) for n in (None, 200, 60, 1)] == [[6, 6], [6, 6], [3, 6], [1, 1]]


def test_nested_plans_add_each_pair_of_folds():
    units = [unit.key for unit in plan(LOANS, [Slow()], PROFILE, 0, nested=True)]
    assert {key.split for key in units} == {"0", "1", "2", "0+1", "0+2", "1+2"}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data._replace(y=1 - data.y),
        lambda data: data._replace(s=data.s[::-1]),
        lambda data: data._replace(X=data.X.rename(columns={"age": "Age"})),
        lambda data: data._replace(X=data.X.assign(age=data.X["age"] + 1e-3)),
        lambda data: data._replace(sample_weight=data.y + 1),
    ],
)
def test_checksum_sees_every_change(change):
    data = LOANS.load()
    assert checksum(data) == checksum(LOANS.load())
    assert checksum(change(data)) != checksum(data)


def test_fingerprint_names_versions_and_sizes():
    found = protocol.fingerprint(LOANS, PROFILE, 7, LOANS.load())
    assert found["seed"] == 7
    assert found["n_configurations"] == 2
    assert {"otfairboost", "lightgbm", "fairlearn"} <= found["versions"].keys()


def test_unknown_profiles_are_refused():
    assert get_profile("paper").n_configurations == 100
    assert get_profile("paper").n_folds == 5
    with pytest.raises(ValueError, match="profile='fast' is not known; allowed are quick, standard, paper"):
        get_profile("fast")
    assert all(profile.name == name for name, profile in PROFILES.items())
