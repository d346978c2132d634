import numpy as np
import pytest

from otfairboost.criteria import CRITERIA, Strata, Target, criterion, find_criterion, stratify

LABELS = np.array([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("name", "codes", "names"),
    [
        ("demographic_parity", [0, 0, 0, 0], ("all rows",)),
        ("equalized_odds", [0, 1, 1, 0], ("target = no", "target = yes")),
        ("true_positive_rate_parity", [-1, 0, 0, -1], ("target = yes",)),
        ("false_positive_rate_parity", [0, -1, -1, 0], ("target = no",)),
    ],
)
@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_strata(name, codes, names, dtype):
    strata = stratify(name, Target(LABELS.astype(dtype), ["no", "yes"]))
    assert strata.codes.tolist() == codes
    assert strata.codes.dtype == np.int32
    assert strata.names == names


def test_there_are_four_criteria():
    assert set(CRITERIA) == {
        "demographic_parity", "equalized_odds", "true_positive_rate_parity", "false_positive_rate_parity"
    }  # fmt: skip


def test_demographic_parity_takes_a_continuous_target():
    assert stratify("demographic_parity", Target(np.array([0.3, 7.1]), None)).codes.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["equalized_odds", "true_positive_rate_parity", "false_positive_rate_parity"])
def test_the_others_need_a_discrete_target(name):
    message = (
        f"^fairness='{name}' compares groups among rows of the same label and needs a discrete target; "
        "a regressor takes fairness='demographic_parity'$"
    )
    with pytest.raises(ValueError, match=message):
        stratify(name, Target(np.array([0.3, 7.1]), None))


@pytest.mark.parametrize("name", ["parity", "", None, ["equalized_odds"], 3])
def test_unknown_criterion(name):
    with pytest.raises(ValueError, match="is unknown; allowed are 'demographic_parity', 'equalized_odds', ") as caught:
        find_criterion(name)
    assert str(caught.value).startswith(f"fairness={name!r} is unknown")
    assert all(repr(known) in str(caught.value) for known in CRITERIA)


def test_a_new_criterion_is_one_function(monkeypatch):
    monkeypatch.setattr("otfairboost.criteria.CRITERIA", dict(CRITERIA))

    @criterion
    def by_sign(target):
        return Strata((target.values > 0).astype(np.int32), ("negative", "positive"))

    assert stratify("by_sign", Target(np.array([-2.0, 3.0]), None)).codes.tolist() == [0, 1]
    assert find_criterion("by_sign") is by_sign
