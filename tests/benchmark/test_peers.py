"""What is particular to single peers."""

import warnings

import numpy as np
import pytest
from fairlearn import reductions

from loan_tasks import SMALL, TASKS, split
from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.methods.fair_xgboost import advantaged_group, label_gap, penalised_log_loss
from otfairboost.benchmark.methods.reductions import multiplier_grid
from otfairboost.benchmark.rows import Prediction, Rows


def make_rows(n=400, weighted=False, groups=("a", "b")):
    rng = np.random.default_rng(0)
    s = rng.choice(groups, n).astype(object)
    y = (rng.random(n) < np.where(s == "a", 0.6, 0.3)).astype(float)
    return Rows(None, y, s, rng.uniform(0.5, 2.0, n) if weighted else None)


def load_constraints(task, train):
    moment = reductions.DemographicParity() if task.criterion == "demographic_parity" else reductions.EqualizedOdds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of how Fairlearn uses pandas
        moment.load_data(train.X, train.y.astype(int), sensitive_features=train.s)
    return moment


@pytest.mark.parametrize("name", ["dp", "groups", "eodds"])
@pytest.mark.parametrize("direction_seed", [None, 3])
def test_multipliers_shift_costs_towards_parity_by_at_most_the_limit(name, direction_seed):
    task = TASKS[name]
    train, _ = split(task)
    grid = multiplier_grid(task, train, 0.3, 4, direction_seed)
    constraints = load_constraints(task, train)
    shifts = np.column_stack([constraints.signed_weights(grid[i]) for i in grid.columns])
    np.testing.assert_allclose(shifts, np.outer(shifts[:, 3], [0.25, 0.5, 0.75, 1.0]), atol=1e-12)
    cells = [train.s == group for group in sorted(set(train.s))]
    if task.criterion == "equalized_odds":
        cells = [member & (train.y == label) for member in cells for label in (0, 1)]
    for rows in cells:
        assert np.ptp(shifts[rows, 3]) < 1e-12  # all rows of a cell alike, however small it is
    assert np.abs(shifts[:, 3]).max() == pytest.approx(0.3)
    if direction_seed is None:
        rates = {group: train.y[train.s == group].mean() for group in set(train.s)}
        best, worst = max(rates, key=rates.get), min(rates, key=rates.get)
        assert (shifts[train.s == best] < 0).all()  # a yes costs more
        assert (shifts[train.s == worst] > 0).all()


def test_grid_search_hands_all_members_along():
    task = TASKS["dp"]
    train, test = split(task)
    own = {"grid_limit": 0.8, "grid_size": 5, "direction_seed": None}
    prediction = METHODS["fair_gs"].fit_predict(task, SMALL, own, train, test, 1, 0)
    members = [prediction, *prediction.extra]
    assert len(members) == 5
    signed = sorted(
        member.score[test.s == "male"].mean() - member.score[test.s == "female"].mean() for member in members
    )
    assert signed[0] < 0.0 < signed[-1]  # from one side of parity to the other
    assert len(set(signed)) == 5


def test_members_stand_at_the_same_place_whatever_the_order_of_rows():
    task = TASKS["groups"]
    train, _ = split(task)
    order = np.argsort(train.s.astype(str), kind="stable")[::-1]
    turned = Rows(train.X.iloc[order], train.y[order], train.s[order])
    first, second = (multiplier_grid(task, rows, 0.3, 3, 5) for rows in (train, turned))
    assert first.index.equals(second.index)
    np.testing.assert_allclose(first, second)


@pytest.mark.parametrize("name", ["fair_gs", "fair_eg"])
def test_weights_that_differ_within_a_label_are_refused(name):
    train, test = split(TASKS["balanced"])
    varied = train._replace(sample_weight=np.linspace(1.0, 2.0, len(train.y)))
    own = METHODS[name].default(TASKS["balanced"])
    with pytest.raises(ValueError, match=r"sample_weight has \d+ values in rows of label 0"):
        METHODS[name].fit_predict(TASKS["balanced"], SMALL, own, varied, test, 1, 0)


@pytest.mark.parametrize("name", ["fair_gs", "fair_eg"])
def test_weights_by_label_become_costs(name):
    task = TASKS["balanced"]
    train, test = split(task)
    own = {
        "fair_gs": {"grid_size": 1, "grid_limit": 0.01, "direction_seed": None},
        "fair_eg": {"difference_bound": 0.5},
    }
    rare = np.flatnonzero((train.y == 0) | (np.arange(len(train.y)) % 10 == 0))  # few positive labels are left
    train = Rows(train.X.iloc[rare], train.y[rare], train.s[rare], None)
    balanced = train._replace(sample_weight=np.where(train.y == 1, 1 / train.y.mean(), 1.0))
    plain, weighted = (
        METHODS[name].fit_predict(task, SMALL, own[name], rows, test, 1, 0).score.mean() for rows in (train, balanced)
    )
    assert weighted > plain + 0.2


def test_the_randomised_rule_decides_and_its_models_rank():
    task = TASKS["dp"]
    train, test = split(task)
    prediction = METHODS["fair_eg"].fit_predict(task, SMALL, {"difference_bound": 0.01}, train, test, 1, 0)
    assert len(np.unique(prediction.score)) > len(test.y) // 3
    assert (prediction.label != (prediction.score >= 0.5)).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_penalised_log_loss_has_the_derivatives_of_its_formula(weighted):
    rows = make_rows(50, weighted)
    raw = np.random.default_rng(1).normal(size=50)
    mu, step = 0.3, 1e-5
    weight = np.ones(50) if rows.sample_weight is None else rows.sample_weight
    advantaged = rows.s == "a"

    def loss(raw):
        def cross_entropy(target):
            return np.logaddexp(0.0, raw) - target * raw

        return weight * (cross_entropy(rows.y) - mu * cross_entropy(advantaged))

    gradient, hessian = penalised_log_loss(rows, mu)(raw, None)
    np.testing.assert_allclose(gradient, (loss(raw + step) - loss(raw - step)) / (2 * step), atol=1e-6)
    second = (loss(raw + step) - 2 * loss(raw) + loss(raw - step)) / step**2
    np.testing.assert_allclose(hessian, second, atol=1e-4)


def test_the_advantaged_group_and_the_gap_in_labels():
    rows = make_rows()
    assert advantaged_group(rows) == "a"
    assert label_gap(rows) == pytest.approx(rows.y[rows.s == "a"].mean() - rows.y[rows.s == "b"].mean())
    weight = np.where((rows.s == "b") & (rows.y == 1), 50.0, 1.0)
    assert advantaged_group(rows._replace(sample_weight=weight)) == "b"


def test_fairgbm_refuses_weights_before_it_trains():
    rows = make_rows(weighted=True)
    with pytest.raises(ValueError, match="sample_weight is given; FairGBM fails on weights that differ"):
        METHODS["fairgbm"].fit_predict(TASKS["eodds"], SMALL, {"multiplier_learning_rate": 0.1}, rows, rows, 1, 0)


def test_w1_post_decides_by_group_and_keeps_the_order_inside():
    task = TASKS["dp"]
    train, test = split(task)
    plain = METHODS["baseline"].fit_predict(task, SMALL, {}, train, test, 1, 0).score
    prediction = METHODS["w1_post"].fit_predict(task, SMALL, {"gap_bound": 0.0}, train, test, 1, 0)
    offsets = {group: np.unique(np.round((prediction.score - plain)[test.s == group], 9)) for group in set(test.s)}
    assert all(len(offset) == 1 for offset in offsets.values())
    np.testing.assert_array_equal(prediction.label, prediction.score >= 0.5)


def test_w2_post_keeps_the_difference_it_is_told_to():
    task = TASKS["regression"]
    train, test = split(task)
    method = METHODS["w2_post"]
    none, half, all_of_it = (
        method.fit_predict(task, SMALL, {"kept_difference": kept}, train, test, 1, 0).score for kept in (0.0, 0.5, 1.0)
    )
    np.testing.assert_allclose(half, (none + all_of_it) / 2)
    plain = METHODS["baseline"].fit_predict(task, SMALL, {}, train, test, 1, 0).score
    np.testing.assert_allclose(all_of_it, plain)
    gaps = [task.evaluate(test.y, Prediction(score), test.s)["w2"] for score in (none, half)]
    assert gaps[0] < 0.3 * gaps[1]
