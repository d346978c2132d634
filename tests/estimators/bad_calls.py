"""Ways to call ``fit`` that must be refused, and what a refusal is: a message, and nothing trained or forgotten."""

import copy
import re
from unittest import mock

import lightgbm as lgb
import numpy as np
import pytest

from estimators.samples import SMALL, make_loans, make_wages
from otfairboost import FairLGBMClassifier, FairLGBMRegressor

N = 300
LOANS, WAGES = make_loans(N), make_wages(N)
_FITTED = {}


def case(message, params=None, error=ValueError, regressor=False, **fit):
    """Return one bad call: what differs from a good one, and how the message starts."""
    name = re.sub(r"\W+", "_", re.sub("0x[0-9a-f]+", "", message))[:70]  # addresses differ between workers
    return pytest.param(params or {}, fit, error, message, regressor, id=name)


def never(*_):
    raise AssertionError("trained in spite of bad input")


def fit_well(regressor):
    """Return a fitted estimator and the arguments it was fitted with."""
    sample = WAGES if regressor else LOANS
    arguments = {"X": sample.X, "y": sample.y, "sensitive_features": sample.groups}
    if regressor not in _FITTED:
        model = (FairLGBMRegressor if regressor else FairLGBMClassifier)(**SMALL)
        _FITTED[regressor] = model.fit(**arguments, eval_X=sample.X[:50], eval_y=sample.y[:50])
    return copy.deepcopy(_FITTED[regressor]), arguments


def assert_refused(params, fit, error, message, regressor):
    """Refit a fitted estimator with bad input; it must raise, train nothing and stay as it was."""
    model, arguments = fit_well(regressor)
    model.set_params(**params)
    before = {name: id(value) for name, value in vars(model).items()}
    predicted = model.booster_.predict(arguments["X"])
    with mock.patch.object(lgb.Booster, "update", never), pytest.raises(error, match="^" + re.escape(message)):
        model.fit(**arguments | fit)
    assert {name: id(value) for name, value in vars(model).items()} == before
    np.testing.assert_array_equal(model.booster_.predict(arguments["X"]), predicted)
