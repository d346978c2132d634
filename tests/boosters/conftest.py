"""Rows and models that several tests bake."""

import numpy as np
import pytest

from boosters.models import N_ROWS, train_three_ways


@pytest.fixture(scope="module")
def data():
    """Rows with missing values, and a label with a rare positive class (an initial score far from 0)."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, 5))
    y = (X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + rng.normal(size=N_ROWS) > 1.5).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def trained(data):
    """The plain variant, for tests that only read it."""
    return train_three_ways({}, *data)
