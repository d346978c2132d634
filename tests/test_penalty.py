import re
import warnings
from itertools import product

import numpy as np
import pytest
from scipy.special import logit

from objectives import GAUSS_NEWTON, Rows, add_derivatives, make_penalty, make_rows
from oracles import (
    central_gradient,
    extrapolated_gradient,
    one_sided_hessian,
    pot_distance,
    rational_map,
    score_of,
    slow_penalty,
)
from otfairboost.criteria import Strata
from otfairboost.groups import Groups
from otfairboost.penalty import TRANSPORTS, Penalty, prepare
from otfairboost.plan import GROUP_WEIGHTINGS, TINY_GROUP, plan_comparisons
from otfairboost.reduction import alone
from otfairboost.row_derivatives import HessianForm
from otfairboost.scores import IDENTITY_SCORE
from otfairboost.threads import MIN_CHUNK, RowChunks
from workers import run_workers

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")

PAPER = HessianForm(1.0, True)
STRATA = {
    "demographic_parity": lambda y: np.zeros(len(y), int),
    "equalized_odds": lambda y: y,
    "true_positive_rate_parity": lambda y: np.where(y == 1, 0, -1),
    "false_positive_rate_parity": lambda y: np.where(y == 0, 0, -1),
}
# Every pair of multi_group, weighting, groups and focus; criteria, weights and missing groups in turn.
CONFIGURATIONS = [
    {
        "multi_group": multi_group,
        "group_weighting": weighting,
        "n_groups": n_groups,
        "focus": focus,
        "fairness": list(STRATA)[i % 4],
        "weighted": i % 3 != 0,
        "missing": 7 * (i % 5 == 1),
    }
    for i, (multi_group, weighting, n_groups, focus) in enumerate(
        product(["one_vs_rest", "barycenter"], GROUP_WEIGHTINGS, [2, 3, 5], [1.0, 4.0])
    )
]


def build(configuration, seed=0, *, levels=None, **changes):
    """Return rows, the library's penalty on them, and the slow one as a function of raw predictions."""
    choice = {key: configuration[key] for key in ("multi_group", "group_weighting", "focus", "fairness")}
    rows = make_rows(
        seed,
        n_groups=configuration["n_groups"],
        weighted=configuration["weighted"],
        missing=configuration["missing"],
        levels=levels,
    )
    penalty = make_penalty(rows, decision_threshold=0.4, **choice, **changes)

    def slow(raw):
        return slow_penalty(
            score_of(raw, choice["focus"], 0.4),
            rows.groups,
            STRATA[choice["fairness"]](rows.y),
            rows.weight if len(rows.weight) else None,
            multi_group=choice["multi_group"],
            group_weighting=choice["group_weighting"],
        )

    return rows, penalty, slow, score_of(rows.raw, choice["focus"], 0.4)


def name_of(configuration):
    return "-".join(str(value) for value in configuration.values())


# ---- Value and gradient against the definitions -------------------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_value_and_gradient_agree_with_the_definition(configuration):
    """Distances by POT, the gradient in the raw prediction by central differences, all rows."""
    rows, penalty, slow, score = build(configuration)
    assert penalty.value(score, RowChunks(len(score))) == pytest.approx(slow(rows.raw), rel=1e-9)
    gradient, hessian = add_derivatives(penalty, score)
    expected = central_gradient(slow, rows.raw)
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * np.abs(expected).max())
    compared = (rows.groups >= 0) & (STRATA[configuration["fairness"]](rows.y) >= 0)
    assert (hessian[compared] > 0).all()
    assert (gradient[~compared] == 0).all()
    assert (hessian[~compared] == 0).all()


@pytest.mark.parametrize("configuration", CONFIGURATIONS[::3], ids=name_of)
@pytest.mark.parametrize("transport", ["exact", "histogram"])
def test_gradient_of_rows_that_move_together(configuration, transport):
    """As the rows of a leaf do, whatever their groups: blocks of equal raw predictions, moved to either side."""
    rows, penalty, slow, score = build(configuration, seed=1, levels=9, transport=transport)
    gradient, _ = add_derivatives(penalty, score)
    scale = np.abs(gradient).sum()
    for value in np.unique(rows.raw):
        block = np.flatnonzero(rows.raw == value)
        for step in (1e-4, -1e-4):
            expected = extrapolated_gradient(slow, rows.raw, block, step)
            assert gradient[block].sum() == pytest.approx(expected, abs=1e-6 * scale)


@pytest.mark.parametrize("multi_group", ["one_vs_rest", "barycenter"])
@pytest.mark.parametrize("n_groups", [2, 4])
def test_regression_scores(multi_group, n_groups):
    rows = make_rows(2, n_groups=n_groups, weighted=True)
    penalty = make_penalty(rows, classification=False, multi_group=multi_group)

    def slow(raw):
        strata = np.zeros(len(raw), int)
        return slow_penalty(raw, rows.groups, strata, rows.weight, multi_group=multi_group, group_weighting="equal")

    assert penalty.value(rows.raw, RowChunks(60)) == pytest.approx(slow(rows.raw), rel=1e-9)
    gradient, _ = add_derivatives(penalty, rows.raw)
    np.testing.assert_allclose(gradient, central_gradient(slow, rows.raw), atol=1e-8)


@pytest.mark.parametrize("ties", ["right", "left"])
def test_one_sided_derivatives(ties):
    """The paper's, in both groups, with duplicates; the raw prediction is the score."""
    rows = make_rows(3, levels=15, weighted=True)
    penalty = make_penalty(rows, classification=False, ties=ties)
    gradient, hessian = add_derivatives(penalty, rows.raw, PAPER)
    direction = 1 if ties == "right" else -1
    gap = np.diff(np.unique(rows.raw)).min()

    def cost(raw):
        members = [rows.groups == group for group in (0, 1)]
        return pot_distance(*(raw[m] for m in members), *(rows.weight[m] for m in members))

    for i in range(len(rows.raw)):
        expected = extrapolated_gradient(cost, rows.raw, i, direction * gap / 3)
        assert gradient[i] == pytest.approx(expected, abs=1e-8)
        assert hessian[i] == pytest.approx(one_sided_hessian(cost, rows.raw, i, direction * gap / 3), rel=1e-4)


# ---- Transports against one another ------------------------------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS[1::2], ids=name_of)
def test_histogram_is_exact_where_scores_have_bins_of_their_own(configuration):
    _, exact, _, score = build(configuration, seed=4, levels=25)
    _, binned, _, _ = build(configuration, seed=4, levels=25, transport="histogram")
    for ours, expected in zip(add_derivatives(binned, score), add_derivatives(exact, score), strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-10 * np.abs(expected).max())
    chunks = RowChunks(len(score))
    assert binned.value(score, chunks) == pytest.approx(exact.value(score, chunks), rel=1e-10)
    np.testing.assert_allclose(binned.targets(score, chunks), exact.targets(score, chunks), atol=1e-10)


def smooth_rows(n, n_groups, seed=5):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, n_groups, n), rng.integers(0, 2, n)
    raw = 0.4 * groups + 0.8 * y + rng.normal(size=n) - 1
    return Rows(raw, y, groups, rng.uniform(0.5, 2, n).astype(np.float32))


@pytest.mark.parametrize("classification", [True, False])
@pytest.mark.parametrize(("multi_group", "n_groups"), [("one_vs_rest", 2), ("one_vs_rest", 4), ("barycenter", 4)])
@pytest.mark.parametrize(("transport", "limit"), [("histogram", 0.01), ("kde", 0.05)])
def test_histogram_and_kde_are_close_to_exact(transport, limit, multi_group, n_groups, classification):
    """Root mean square error of the gradient, relative; the kernel smooths the difference between the groups a bit."""
    rows = smooth_rows(20_000, n_groups)
    fairness = "equalized_odds" if classification else "demographic_parity"
    score = score_of(rows.raw) if classification else rows.raw
    chunks = RowChunks(len(score))
    choice = {"multi_group": multi_group, "fairness": fairness, "classification": classification, "bandwidth": 0.05}
    exact, other = (make_penalty(rows, transport=name, **choice) for name in ("exact", transport))
    gradient, expected = (add_derivatives(penalty, score)[0] for penalty in (other, exact))
    assert np.linalg.norm(gradient - expected) <= limit * np.linalg.norm(expected)
    assert other.value(score, chunks) == pytest.approx(exact.value(score, chunks), rel=1e-3)


def test_the_kernels_bandwidth_is_passed_on():
    rows = smooth_rows(3000, 2)
    score = score_of(rows.raw)
    targets = [
        make_penalty(rows, transport="kde", bandwidth=bandwidth).targets(score, RowChunks(3000))
        for bandwidth in (0.01, 2.0)
    ]
    assert np.abs(targets[0] - targets[1]).max() > 0.05


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_results_are_bit_identical_for_every_number_of_threads(transport):
    n_rows = 4 * MIN_CHUNK
    rows = smooth_rows(n_rows, 3)
    score = score_of(rows.raw, 4.0)
    penalty = make_penalty(rows, transport=transport, fairness="equalized_odds", focus=4.0)
    value, derivatives = penalty.value(score, RowChunks(n_rows)), add_derivatives(penalty, score)
    for n_jobs in (2, 3, 4):
        with RowChunks(n_rows, n_jobs) as chunks:
            assert chunks.n_threads == n_jobs
            assert penalty.value(score, chunks) == value
        for ours, expected in zip(add_derivatives(penalty, score, n_jobs=n_jobs), derivatives, strict=True):
            assert (ours == expected).all()


def test_a_value_in_between_does_not_change_the_next_derivatives():
    """Grids follow from round to round; metrics of other scores must not lead them astray."""
    rows = smooth_rows(20_000, 2)
    first, next_ = rows.raw, 1.2 * rows.raw
    followed = []
    for between in ([], [50.0 + 0.01 * rows.raw]):
        penalty = make_penalty(rows, classification=False, transport="histogram")
        add_derivatives(penalty, first)
        for score in between:
            penalty.value(score, RowChunks(len(score)))
        followed.append(add_derivatives(penalty, next_))
    afresh = add_derivatives(make_penalty(rows, classification=False, transport="histogram"), next_)
    assert all((one == other).all() for one, other in zip(*followed, strict=True))
    assert any((one != other).any() for one, other in zip(followed[0], afresh, strict=True))  # it did follow


def test_workers_that_sum_their_histograms_have_one_penalty():
    """Three workers hold a part of the rows each; summing over them gives each part the targets of all rows."""
    rows = smooth_rows(8000, 3)
    score, score_map = score_of(rows.raw), make_penalty(rows).score_map
    parts = np.array_split(np.random.default_rng(0).permutation(8000), 3)

    def work(part, reduce):
        groups = Groups(rows.groups[part].astype(np.int32), ("a", "b", "c"))
        strata = Strata(rows.y[part].astype(np.int32), ("no", "yes"))
        plan = plan_comparisons(groups, strata, rows.weight[part], "size", reduce=reduce)
        penalty = Penalty(plan, score_map, n_bins=1024, reduce=reduce)
        return penalty.targets(score[part], RowChunks(len(part))), penalty.value(score[part], RowChunks(len(part)))

    expected, value = work(np.arange(8000), alone)
    results = run_workers(3, lambda worker, reduce: work(parts[worker], reduce))
    for part, (targets, part_value) in zip(parts, results, strict=True):
        np.testing.assert_allclose(targets, expected[part], atol=1e-12)
        assert part_value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_memory_that_was_never_written_is_never_read(transport, monkeypatch):
    """Rows of a stratum that is left out, of no weight and of no group: with poison in every new array."""
    rows = make_rows(6, n=80, n_groups=3, weighted=True, missing=5)
    groups, weight = rows.groups.copy(), rows.weight.copy()
    groups[rows.y == 0] = np.where(groups[rows.y == 0] > 0, 0, groups[rows.y == 0])  # one group among the negatives
    weight[(rows.y == 1) & (groups == 2)] = 0.0
    rows = rows._replace(groups=groups, weight=weight)
    score = score_of(rows.raw)

    def derive():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            penalty = make_penalty(rows, fairness="equalized_odds", transport=transport, n_bins=64)
            return (*add_derivatives(penalty, score, scale=100.0), penalty.targets(score, RowChunks(80)))

    clean = derive()
    empty = np.empty

    def poisoned(*args, **kwargs):
        array = empty(*args, **kwargs)
        if array.dtype.kind == "f":
            array.fill(np.nan)
        return array

    monkeypatch.setattr(np, "empty", poisoned)
    for ours, expected in zip(derive(), clean, strict=True):
        assert np.isfinite(ours).all()
        assert (ours == expected).all()
    left_out = (rows.y == 0) | (groups == 2) | (groups < 0)
    assert (clean[0][left_out] == 0).all()
    assert (clean[0][~left_out] != 0).all()
    assert (clean[2][rows.y == 0] == score[rows.y == 0]).all()


# ---- Hessian -----------------------------------------------------------------------------------------------------


def test_the_papers_hessian_is_2_over_n_times_the_slope():
    rows = make_rows(7, n=60)
    score = score_of(rows.raw)
    _, hessian = add_derivatives(make_penalty(rows), score, PAPER)
    np.testing.assert_allclose(hessian, 2 / 30 * score * (1 - score), rtol=1e-12)


@pytest.mark.parametrize("transport", ["exact", "histogram"])
@pytest.mark.parametrize("factor", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("focus", [1.0, 4.0])
def test_hessian_is_the_factor_times_slope_times_guarded_slope(focus, factor, transport):
    rows = make_rows(8, n=60, weighted=True, levels=30)
    u = score_of(rows.raw, focus)
    _, hessian = add_derivatives(make_penalty(rows, focus=focus, transport=transport), u, HessianForm(factor, False))
    slope = focus * u * (1 - u)
    for group in (0, 1):
        own, other = rows.groups == group, rows.groups != group
        target = rational_map(u[own], u[other], rows.weight[own], rows.weight[other])
        secant = focus * (u[own] - target) / (logit(u[own]) - logit(target))
        mass = rows.weight[own] / rows.weight[own].astype(float).sum()
        guarded = 2 * mass * factor * slope[own] * np.maximum(slope[own], secant)
        np.testing.assert_allclose(hessian[own], guarded, rtol=0.05)
        assert (hessian[own] >= 2 * mass * factor * slope[own] ** 2 * (1 - 1e-6)).all()
    assert factor == 0.0 or np.isfinite(hessian).all()


def test_regression_hessian_is_that_of_the_distance():
    rows = make_rows(9)
    _, hessian = add_derivatives(make_penalty(rows, classification=False), rows.raw, HessianForm(0.6, False))
    np.testing.assert_allclose(hessian, 0.6 * 2 / 30, rtol=1e-12)


def test_derivatives_are_scaled_and_added():
    rows = make_rows(10)
    score, penalty = score_of(rows.raw), make_penalty(rows)
    once = add_derivatives(penalty, score)
    grad, hess = np.full((2, 60), 3.0)
    prepare(penalty, score, RowChunks(60)).add(10, 50, 5.0, GAUSS_NEWTON, grad, hess)
    for ours, base in zip((grad, hess), once, strict=True):
        np.testing.assert_allclose(ours[10:50], 3 + 5 * base[10:50], rtol=1e-12)
        assert (ours[:10] == 3).all()
        assert (ours[50:] == 3).all()


# ---- The plan ----------------------------------------------------------------------------------------------------


def plan(groups, strata=None, weight=(), labels="abc", weighting="equal", **keywords):
    groups = np.array(groups, np.int32)
    strata = np.zeros(len(groups), int) if strata is None else strata
    names = tuple(f"target = {k}" for k in range(max(strata) + 1))
    return plan_comparisons(
        Groups(groups, tuple(labels)),
        Strata(np.array(strata, np.int32), names),
        np.array(weight, np.float32),
        weighting,
        **keywords,
    )


def test_cells_weights_and_shares():
    groups, strata = [0, 1, 2, 0, 1, -1, 2, 0], [0, 0, 0, 1, 1, 1, 1, -1]
    weight = [1, 2, 3, 4, 5, 6, 7, 8]
    for weighting in GROUP_WEIGHTINGS:
        made = plan(groups, strata, weight, weighting=weighting)
        assert made.cell.tolist() == [0, 1, 2, 3, 4, -1, 5, -1]
        assert made.n_cells == 6
        first, second = made.comparisons
        assert (first.name, second.name) == ("target = 0", "target = 1")
        assert (first.cells, second.cells) == ((0, 1, 2), (3, 4, 5))
        assert second.labels == ("a", "b", "c")
        assert second.weights.tolist() == [4, 5, 7]
        # A stratum's share is that of all weight, rows that are not compared included.
        assert (first.share, second.share) == pytest.approx((6 / 36, 16 / 36))
        expected = [1 / 3] * 3 if weighting == "equal" else [4 / 16, 5 / 16, 7 / 16]
        np.testing.assert_allclose(second.shares, expected)
    assert plan([0, 1, 0], labels="ab").comparisons[0].weights.tolist() == [2, 1]


def caught(function):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        result = function()
    return result, [str(warning.message) for warning in record]


def test_tiny_groups_are_named_with_their_size():
    groups = np.repeat([0, 1, 2], [TINY_GROUP, TINY_GROUP - 1, 2])
    _, messages = caught(lambda: plan(groups, name="S"))
    assert messages == [
        "S: groups of fewer than 30 rows say little about a distribution: "
        "b (29 rows where target = 0), c (2 rows where target = 0)"
    ]
    assert caught(lambda: plan(np.repeat([0, 1], 30), labels="ab"))[1] == []


def test_a_stratum_that_lacks_a_group():
    groups, strata = np.repeat([0, 1, 2, 0, 1], 40), np.repeat([0, 0, 0, 1, 1], 40)
    made, messages = caught(lambda: plan(groups, strata))
    assert messages == ["sensitive_features: no rows of group c where target = 1; the other groups are compared"]
    assert made.comparisons[1].labels == ("a", "b")
    assert made.comparisons[1].cells == (3, 4)


def test_a_stratum_with_one_group_is_left_out():
    groups, strata = np.repeat([0, 1, 2, 1], 40), np.repeat([0, 0, 0, 1], 40)
    made, messages = caught(lambda: plan(groups, strata, name="eval_sensitive_features[0]"))
    assert messages == ["eval_sensitive_features[0]: no rows of group a, c where target = 1; the stratum is left out"]
    assert [comparison.name for comparison in made.comparisons] == ["target = 0"]
    assert made.cell.tolist() == np.repeat([0, 1, 2, -1], 40).tolist()


def test_a_group_without_weight_is_absent():
    groups = np.repeat([0, 1, 2], 40)
    made, messages = caught(lambda: plan(groups, weight=np.repeat([1, 0, 2], 40)))
    assert messages == ["sensitive_features: no rows of group b where target = 0; the other groups are compared"]
    assert made.comparisons[0].cells == (0, 2)
    assert made.cell.tolist() == np.repeat([0, -1, 2], 40).tolist()


@pytest.mark.parametrize(
    ("groups", "strata", "labels", "message"),
    [
        ([0, 0, -1], None, "a", "sensitive_features holds only 'a'; at least two groups are needed to compare"),
        (
            [-1, -1],
            None,
            "",
            "sensitive_features holds only missing values; at least two groups are needed to compare",
        ),
        (
            [0, 1],
            [0, 1],
            "ab",
            "sensitive_features: no stratum of target = 0, target = 1 holds two groups, so none can be compared",
        ),
    ],
)
def test_nothing_to_compare(groups, strata, labels, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        caught(lambda: plan(groups, strata, labels=labels))


def test_one_sided_derivatives_compare_two_groups():
    rows = make_rows(0, n_groups=3)
    with pytest.raises(ValueError, match=r"^ties='right' compares two groups; for more groups use ties='average'$"):
        make_penalty(rows, ties="right")
    assert Penalty(make_penalty(rows).plan, IDENTITY_SCORE).ties == "average"
