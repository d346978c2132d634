"""The objective of several classes: value, exact gradient, curvature, against definitions and finite differences."""

import re

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from objectives import UNWEIGHTED, make_objective, make_rows, make_settings
from oracles import central_gradient, slow_penalty
from otfairboost.class_objective import apply_chain_rule
from otfairboost.criteria import Target
from otfairboost.groups import Groups
from otfairboost.losses import SoftmaxLoss
from otfairboost.row_derivatives import HessianForm
from otfairboost.threads import MIN_CHUNK

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")


class Sample:
    """Rows of several classes: raw predictions of shape (n_rows, n_classes), codes, groups and weights."""

    def __init__(self, seed=0, n=36, n_classes=3, n_groups=2, *, weighted=False, missing=0):
        rng = np.random.default_rng(seed)
        self.groups = np.arange(n) % n_groups
        self.y = (np.arange(n) // n_groups) % n_classes
        shift = np.linspace(-0.6, 0.6, n_groups)[self.groups, None] * np.linspace(1, -1, n_classes)
        self.raw = rng.normal(size=(n, n_classes)) + shift + 0.4 * np.eye(n_classes)[self.y]
        self.groups[rng.choice(n, missing, replace=False)] = -1
        self.weight = rng.uniform(0.2, 3.0, n).astype(np.float32) if weighted else UNWEIGHTED
        self.loss = SoftmaxLoss(n_classes)

    def objective(self, *, learning_rate=0.1, n_jobs=1, offset=0.0, **changes):
        n_classes = self.raw.shape[1]
        return make_settings(**changes).objective(
            self.loss,
            Target(self.y.astype(np.float32), list("pqrstu"[:n_classes])),
            Groups(self.groups.astype(np.int32), tuple("abcdef"[: self.groups.max() + 1])),
            self.weight,
            self.weight,
            learning_rate=learning_rate,
            n_jobs=n_jobs,
            offset=offset,
        )

    def slow(self, raw, *, fairness_weight, fairness, multi_group, group_weighting, focus=1.0):
        """Sum of losses plus fairness_weight * W / 2 * sum over classes of POT's distances, from the definitions."""
        weight = self.weight.astype(float) if len(self.weight) else np.ones(len(raw))
        losses = -log_softmax(raw, axis=1)[np.arange(len(raw)), self.y]
        strata = self.y if fairness == "equalized_odds" else np.zeros(len(raw), int)
        distance = sum(
            slow_penalty(u, self.groups, strata, weight, multi_group=multi_group, group_weighting=group_weighting)
            for u in softmax(focus * raw, axis=1).T
        )
        return weight @ losses + fairness_weight * weight.sum() * distance / 2


CASES = [
    {"fairness": fairness, "multi_group": multi_group, "group_weighting": group_weighting, "focus": focus}
    for fairness, multi_group, group_weighting, focus in [
        ("demographic_parity", "one_vs_rest", "equal", 1.0),
        ("demographic_parity", "barycenter", "size", 1.0),
        ("equalized_odds", "one_vs_rest", "size", 1.0),
        ("equalized_odds", "barycenter", "equal", 4.0),
        ("demographic_parity", "one_vs_rest", "equal", 4.0),
    ]
]


@pytest.mark.parametrize("transport", ["exact", "histogram"])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("choice", CASES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_value_and_gradient_agree_with_the_definition(choice, n_groups, transport):
    sample = Sample(1, n_groups=n_groups, weighted=True, missing=3)
    objective = sample.objective(fairness_weight=3.0, transport=transport, **choice)
    value = objective.value(sample.raw)

    def slow(raw):
        return sample.slow(raw.reshape(sample.raw.shape), fairness_weight=3.0, **choice)

    total = float(sample.weight.sum())
    assert total * (value.loss + 3.0 * value.penalty) == pytest.approx(slow(sample.raw), rel=1e-5)
    expected = central_gradient(slow, sample.raw.ravel()).reshape(sample.raw.shape)
    gradient, hessian = objective.derivatives(sample.raw)
    assert gradient.shape == hessian.shape == sample.raw.shape
    near = 1e-5 if transport == "exact" else 1e-3
    np.testing.assert_allclose(gradient, expected, atol=near * np.abs(expected).max())
    np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-4)  # adding to all of a row changes nothing


def test_two_classes_are_the_binary_objective():
    """Half of each raw prediction on either side: the same value, gradient and steps."""
    rows = make_rows(2, weighted=True)
    sample = Sample(0, n=60, n_classes=2)
    sample.y, sample.groups, sample.weight = rows.y, rows.groups, rows.weight
    raw = np.column_stack([-rows.raw / 2, rows.raw / 2])
    for choice in ({}, {"focus": 4.0}, {"fairness_hessian": "paper"}, {"fairness_hessian": 0.7}):
        both = sample.objective(fairness_weight=3.0, **choice)
        binary = make_objective(rows, fairness_weight=3.0, **choice)
        np.testing.assert_allclose(both.value(raw), binary.value(rows.raw), rtol=1e-9)
        gradient, hessian = both.derivatives(raw)
        expected, curvature = binary.derivatives(rows.raw)
        np.testing.assert_allclose(gradient, np.column_stack([-expected, expected]), rtol=1e-4, atol=1e-5)
        # A step moves both raw predictions, so that each needs half of the binary one's: twice its curvature.
        np.testing.assert_allclose(hessian, np.column_stack([2 * curvature] * 2), rtol=1e-4)


@pytest.mark.parametrize("steepness", [1.0, 4.0])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_the_hessian_bounds_the_gauss_newton_matrix(n_classes, steepness):
    """sum_k a_k J_k J_k^T <= diag(h) for the tangents' curvature, whatever the other classes' trees do."""
    rng = np.random.default_rng(n_classes)
    raw = rng.normal(scale=2, size=(n_classes, 200))
    u = softmax(steepness * raw, axis=0)
    a = rng.uniform(0, 2, (n_classes, 200)) * (rng.random((n_classes, 200)) < 0.7)
    stiffness = (a * steepness * u * (1 - u)).astype(np.float32)
    pull, gradient = rng.normal(size=(n_classes, 200)).astype(np.float32), np.empty((n_classes, 200))
    before, hessian = pull.copy(), stiffness.copy()
    apply_chain_rule(u, steepness, HessianForm(1.0, False), pull, hessian, 0, 200)
    smallest = []
    for i in range(200):
        jacobian = steepness * (np.diag(u[:, i]) - np.outer(u[:, i], u[:, i]))  # [k, j] = du_k / dF_j
        gradient[:, i] = jacobian.T @ before[:, i]
        np.testing.assert_allclose(hessian[:, i], 2 * stiffness[:, i] @ np.abs(jacobian), rtol=1e-4, atol=1e-7)
        matrix = jacobian.T @ np.diag(a[:, i]) @ jacobian
        smallest.append(np.linalg.eigvalsh(np.diag(hessian[:, i].astype(float)) - matrix)[0])
    np.testing.assert_allclose(pull, gradient, atol=1e-6)
    assert min(smallest) > -1e-6


def test_rows_without_a_group_have_the_derivatives_of_the_loss():
    sample = Sample(3, missing=10)
    gradient, hessian = sample.objective(fairness_weight=5.0).derivatives(sample.raw)
    p = softmax(sample.raw, axis=1)
    plain = p - np.eye(3)[sample.y]
    alone = sample.groups < 0
    np.testing.assert_allclose(gradient[alone], plain[alone], atol=1e-6)
    np.testing.assert_allclose(hessian[alone], 1.5 * (p * (1 - p))[alone], atol=1e-6)
    assert np.abs(gradient - plain)[~alone].max() > 0.1


@pytest.mark.parametrize("focus", [1.0, 4.0])
def test_offsets_are_added_by_class(focus):
    sample = Sample(4)
    offset = np.array([0.3, -1.0, 0.1])
    shifted, plain = (sample.objective(fairness_weight=2.0, focus=focus, offset=one) for one in (offset, 0.0))
    np.testing.assert_allclose(shifted.value(sample.raw - offset), plain.value(sample.raw), rtol=1e-9)
    for ours, expected in zip(shifted.derivatives(sample.raw - offset), plain.derivatives(sample.raw), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("focus", [1.0, 4.0])
def test_raw_predictions_are_kept_unless_they_may_be_overwritten(focus):
    sample = Sample(5)
    raw = np.asfortranarray(sample.raw)
    objective = sample.objective(focus=focus)
    expected = [part.copy() for part in objective.derivatives(raw)]
    objective.value(raw)
    assert (raw == sample.raw).all()
    for ours, part in zip(objective.derivatives(raw, overwrite=True), expected, strict=True):
        assert (ours == part).all()
    np.testing.assert_allclose(raw, softmax(focus * sample.raw, axis=1), rtol=1e-12)  # no copy was made of LightGBM's
    assert objective.derivatives(sample.raw)[0].T.flags["C_CONTIGUOUS"]  # nor will LightGBM make one of ours


@pytest.mark.parametrize("transport", ["histogram", "kde"])
def test_results_are_bit_identical_for_every_number_of_threads(transport):
    sample = Sample(6, n=2 * MIN_CHUNK, n_groups=3, weighted=True)
    results = []
    for n_jobs in (1, 2, 3):
        objective = sample.objective(fairness="equalized_odds", transport=transport, focus=2.0, n_jobs=n_jobs)
        parts = [part.copy() for part in objective.derivatives(sample.raw)]
        results.append([*parts, np.array(objective.value(sample.raw))])
        objective.close()
    for several in results[1:]:
        assert all((ours == one).all() for ours, one in zip(several, results[0], strict=True))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_raw_predictions_that_are_not_finite_stop_training(bad):
    sample = Sample(7)
    objective = sample.objective(fairness_weight=2.5)
    objective.derivatives(sample.raw)
    sample.raw[17, 1] = bad
    with pytest.raises(FloatingPointError, match=re.escape("became NaN or infinite at iteration 1: training diverged")):
        objective.derivatives(sample.raw)


def test_derivatives_that_overflow_stop_training():
    sample = Sample(7)
    with pytest.raises(FloatingPointError, match="became NaN or infinite at iteration 0"):
        sample.objective(fairness_weight=1e40).derivatives(sample.raw)


@pytest.mark.parametrize("transport", ["exact", "histogram", "kde"])
@pytest.mark.parametrize("focus", [1.0, 8.0, 1000.0])
def test_saturated_predictions_have_finite_derivatives(transport, focus):
    sample = Sample(8)
    raw = sample.raw * np.linspace(0, 900, 36)[:, None]
    gradient, hessian = sample.objective(transport=transport, focus=focus, fairness_weight=100.0).derivatives(raw)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()
    assert (hessian >= 0).all()


def newton_path(sample, raw, learning_rate, rounds=40, **choice):
    """Boost with every row as its own leaf. Return the objective after each round."""
    objective = sample.objective(learning_rate=learning_rate, **choice)
    path = []
    for _ in range(rounds):
        value = objective.value(raw)
        path.append(value.loss + choice["fairness_weight"] * value.penalty)
        gradient, hessian = (part.astype(np.float64) for part in objective.derivatives(raw))
        # Where a probability is 1 to the last bit both are rounding; boosters do not split off such leaves.
        raw = raw - learning_rate * gradient / np.maximum(hessian, 1e-12)
    return np.array(path)


@pytest.mark.parametrize("transport", ["exact", "histogram"])
@pytest.mark.parametrize("fairness_weight", [5.0, 100.0])
@pytest.mark.parametrize("learning_rate", [0.05, 0.3])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_boosting_is_stable(learning_rate, fairness_weight, transport, n_groups):
    sample = Sample(9, n=300, n_groups=n_groups)
    for start in (
        np.tile(sample.loss.initial_score(sample.y.astype(np.float32), UNWEIGHTED), (300, 1)),
        2 * sample.raw,
    ):
        choice = {"fairness_weight": fairness_weight, "transport": transport}
        path = newton_path(sample, start, learning_rate, **choice)
        assert (np.diff(path) < 1e-6).all()
        assert path[-1] < 0.95 * path[0]


def test_too_small_a_hessian_diverges():
    sample = Sample(9, n=300)
    path = newton_path(sample, 2 * sample.raw, 0.3, fairness_weight=100.0, fairness_hessian=0.06)
    assert np.diff(path).max() > 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score_space": "link"}, "score_space='link' is not available with more than two classes"),
        ({"decision_threshold": 0.3}, "decision_threshold=0.3 is not available with more than two classes"),
        (
            {"fairness": "true_positive_rate_parity"},
            "fairness='true_positive_rate_parity' needs a target of two classes",
        ),
        ({"fairness": "false_positive_rate_parity"}, "fairness='false_positive_rate_parity' needs a target of two"),
        ({"ties": "right"}, "ties='right' compares two groups"),
    ],
)
def test_what_several_classes_do_not_have_is_refused(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Sample(0, n_groups=3).objective(**changes)


def test_one_sided_ties_work_with_two_groups():
    sample = Sample(10)
    gradients = [sample.objective(ties=ties, fairness_weight=3.0).derivatives(sample.raw)[0].copy() for ties in
                 ("average", "right")]  # fmt: skip
    np.testing.assert_allclose(*gradients, atol=1e-5)  # no ties here: all derivatives are two-sided
