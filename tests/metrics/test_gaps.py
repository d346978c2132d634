import pytest

from otfairboost.criteria import CRITERIA
from otfairboost.metrics.gaps import find_gap


def test_every_criterion_has_a_gap():
    gaps = {name: find_gap("gap", None, fairness=name, classification=True).name for name in CRITERIA}
    assert gaps == {
        "demographic_parity": "demographic_parity_difference",
        "conditional_demographic_parity": "conditional_demographic_parity_difference",
        "equalized_odds": "equalized_odds_difference",
        "true_positive_rate_parity": "true_positive_rate_difference",
        "false_positive_rate_parity": "false_positive_rate_difference",
    }


def test_a_regressor_compares_scores():
    assert find_gap("gap", None, fairness="demographic_parity", classification=False).name == "kolmogorov_smirnov"
    odds = find_gap("gap", None, fairness="equalized_odds", classification=False)
    assert odds.name == "binned_equalized_odds_difference"
    conditional = find_gap("gap", None, fairness="conditional_demographic_parity", classification=False)
    assert conditional.name == "conditional_kolmogorov_smirnov"
    name = "wasserstein_distance"
    assert find_gap("gap", name, fairness="demographic_parity", classification=False).name == name


@pytest.mark.parametrize("name", ["demographic_parity_ratio", "roc_auc", "nothing"])
def test_what_is_no_gap_is_refused(name):
    with pytest.raises(ValueError, match=f"^gap_metric='{name}' is not a gap; allowed are 'wasserstein_distance', "):
        find_gap("gap_metric", name, fairness="demographic_parity", classification=True)


def test_a_regressor_has_no_decisions():
    with pytest.raises(ValueError, match=r"^gap='demographic_parity_difference' is not a gap"):
        find_gap("gap", "demographic_parity_difference", fairness="demographic_parity", classification=False)


def test_a_criterion_without_a_gap_needs_a_name():
    with pytest.raises(ValueError, match=r"^gap is needed with fairness='my_own'"):
        find_gap("gap", None, fairness="my_own", classification=True)


def test_the_top_of_a_ranking_and_sums_have_gaps_of_their_own():
    top = find_gap("gap", None, fairness="demographic_parity", classification=True, top=True)
    assert top.name == "top_k_selection_rate_difference"
    for fairness, classification, name in (
        ("demographic_parity", True, "summed_demographic_parity_difference"),
        ("equalized_odds", True, "summed_equalized_odds_difference"),
        ("demographic_parity", False, "summed_kolmogorov_smirnov"),
    ):
        found = find_gap("gap", None, fairness=fairness, classification=classification, summed=True)
        assert found.name == name


@pytest.mark.parametrize("fairness", [len, "conditional_demographic_parity"])
def test_a_name_is_needed_where_there_is_no_gap(fairness):
    with pytest.raises(ValueError, match=r"^gap is needed with fairness="):
        find_gap("gap", None, fairness=fairness, classification=True, summed=True)
