import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost import FairLGBMRegressor
from otfairboost.binning import bin_attribute
from otfairboost.metrics import wasserstein_distance


def counts_of(groups):
    return {label: int((groups == label).sum()) for label in dict.fromkeys(groups) if label is not None}


def test_given_edges():
    ages = [17, 25, 64.9, 65, 90, None, np.nan]
    assert bin_attribute(ages, edges=[25, 65]).tolist() == [
        "[-inf, 25)", "[25, 65)", "[25, 65)", "[65, inf)", "[65, inf)", None, None
    ]  # fmt: skip


@given(st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=60, unique=True), st.integers(2, 8))
def test_quantiles_agree_with_pandas(values, n_groups):
    groups = bin_attribute(values, n_groups=n_groups)
    sizes = sorted(counts_of(groups).values())
    expected = pd.Series(np.argsort(np.argsort(values)))  # ranks: quantiles of close values are the same number
    assert len(sizes) == pd.qcut(expected, n_groups, labels=False).nunique()
    assert sum(sizes) == len(values)
    assert max(sizes) - min(sizes) <= 1


def test_close_edges_are_told_apart():
    assert len(counts_of(bin_attribute([1000000.0, 1000001.0, 1000002.0], edges=[1000001, 1000002]))) == 3


def test_equal_values_stay_together():
    groups = bin_attribute([0] * 70 + list(range(1, 31)), n_groups=4)
    assert counts_of(groups) == {"[-inf, 6)": 75, "[6, inf)": 25}


def test_small_groups_are_pooled_with_the_smaller_neighbour():
    ages = np.repeat([10, 20, 30, 40], [50, 3, 20, 60])
    assert counts_of(bin_attribute(ages, edges=[15, 25, 35])) == {
        "[-inf, 15)": 50, "[15, 25)": 3, "[25, 35)": 20, "[35, inf)": 60
    }  # fmt: skip
    pooled = bin_attribute(ages, edges=[15, 25, 35], min_group_size=10)
    assert counts_of(pooled) == {"[-inf, 15)": 50, "[15, 35)": 23, "[35, inf)": 60}
    assert len(counts_of(bin_attribute(ages, edges=[15, 25, 35], min_group_size=1000))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [65, 25]}, r"edges=\[65, 25\] must be finite numbers in ascending order, each once"),
        ({"edges": [25, 25]}, r"edges=\[25, 25\] must be finite numbers in ascending order, each once"),
        ({"edges": []}, r"edges=\[\] must be finite numbers in ascending order, each once"),
        ({"n_groups": 1}, "n_groups=1 must be an integer from 2 to 50"),
        ({"n_groups": 2.5}, "n_groups=2.5 must be an integer from 2 to 50"),
        ({"min_group_size": 0}, "min_group_size=0 must be an integer >= 1"),
        ({"values": ["old", "young"], "name": "age"}, "age must be numbers; text and dates cannot be binned"),
        ({"values": [[1.0]]}, r"values has shape \(1, 1\); allowed is \(n_rows,\)"),
        ({"values": [1.0, np.inf]}, "values contains infinity; it must be finite or missing"),
        ({"values": [np.nan, None]}, "values holds only missing values; at least one number is needed"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        bin_attribute(**{"values": [1.0, 2.0, 3.0], **arguments})


def test_predictions_by_age_come_together():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 70, 1500)
    X = np.column_stack([age + rng.normal(0, 8, 1500), rng.normal(size=1500)])
    y = 0.05 * age + X[:, 1] + rng.normal(0, 0.3, 1500)
    groups = bin_attribute(age, n_groups=4)
    distances = []
    for weight in (0, 10):
        model = FairLGBMRegressor(fairness_weight=weight, n_estimators=30, num_leaves=8, n_jobs=1, verbosity=-1)
        predicted = model.fit(X, y, sensitive_features=groups).predict(X)
        distances.append(wasserstein_distance(y, predicted, sensitive_features=groups))
    assert distances[1] < 0.3 * distances[0]
    assert len(model.groups_) == 4
