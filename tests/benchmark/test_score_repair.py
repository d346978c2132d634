"""The map to the barycenter, against its definition on sorted scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.benchmark.methods.score_repair import fit_repair


def three_groups(n):
    rng = np.random.default_rng(0)
    scores = {"a": rng.normal(0, 1, n), "b": rng.gamma(2.0, 1.0, n), "c": rng.uniform(-3, 1, n)}
    return scores, np.concatenate(list(scores.values())), np.repeat(np.array(list("abc"), dtype=object), n)


def test_equally_many_rows_go_to_the_mean_of_their_rank():
    """Among n points each, the barycenter's i-th is the mean of the groups' i-th."""
    scores, score, s = three_groups(40)
    image = fit_repair(score, s)(score, s)
    expected = np.mean([np.sort(values) for values in scores.values()], axis=0)
    for group, values in scores.items():
        np.testing.assert_allclose(image[s == group][np.argsort(values)], expected)


def test_groups_weigh_by_their_share():
    score = np.array([0.0, 1.0, 2.0, 10.0])
    s = np.array(["a", "a", "a", "b"], dtype=object)
    repair = fit_repair(score, s)
    assert repair.shares == {"a": 0.75, "b": 0.25}
    np.testing.assert_allclose(repair(score, s), [2.5, 3.25, 4.0, 0.75 * 1.0 + 0.25 * 10.0])


def test_new_rows_of_all_groups_are_alike_and_keep_their_order():
    rng = np.random.default_rng(1)
    s = rng.choice(["a", "b"], 20_000, p=[0.3, 0.7]).astype(object)
    score = np.where(s == "a", rng.normal(0.3, 0.1, 20_000), rng.normal(0.6, 0.2, 20_000))
    repair = fit_repair(score[:10_000], s[:10_000])
    new, groups = score[10_000:], s[10_000:]
    image = repair(new, groups)
    quantiles = [np.quantile(image[groups == group], [0.1, 0.5, 0.9]) for group in "ab"]
    np.testing.assert_allclose(quantiles[0], quantiles[1], atol=0.02)
    for group in "ab":
        rows = groups == group
        assert (np.diff(image[rows][np.argsort(new[rows])]) >= 0).all()


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_the_image_lies_between_the_extremes_and_ties_stay_ties(rows):
    score = np.array([value for value, _ in rows], dtype=float)
    s = np.array(["a" if member else "b" for _, member in rows], dtype=object)
    image = fit_repair(score, s)(score, s)
    assert score.min() - 1e-9 <= image.min() <= image.max() <= score.max() + 1e-9
    for group in set(s):
        for value in set(score[s == group]):
            assert np.ptp(image[(s == group) & (score == value)]) < 1e-12


def test_a_group_not_seen_in_training():
    repair = fit_repair(np.array([0.0, 1.0]), np.array(["a", "b"], dtype=object))
    with pytest.raises(ValueError, match="s holds groups that were not seen in training: c"):
        repair(np.array([0.0]), np.array(["c"], dtype=object))
