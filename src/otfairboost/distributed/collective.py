"""The sum over workers, by XGBoost's own collective: all that a cluster adds to the penalty."""

import time

import numpy as np
from numpy.typing import NDArray
from xgboost import collective
from xgboost.core import XGBoostError

_GRACE = 1.0


def sum_over_workers(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over all workers, which must all call this, in the same order, with arrays of the same shape.

    It is the array itself where there is one worker only. XGBoost's collective belongs to the thread that started
    it: no other may call this.
    """
    if collective.get_world_size() == 1:
        return array
    try:
        # It returns a flat copy.
        return collective.allreduce(np.ascontiguousarray(array), collective.Op.SUM).reshape(array.shape)
    except XGBoostError:
        # Most often because another worker has stopped with an error of its own. That one is to be reported first.
        time.sleep(_GRACE)
        raise
