"""The sum over workers, by XGBoost's own collective: all that a cluster adds to the penalty."""

import numpy as np
from numpy.typing import NDArray
from xgboost import collective


def sum_over_workers(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over all workers, which must all call this, in the same order, with arrays of the same shape.

    It is the array itself where there is one worker only. XGBoost's collective belongs to the thread that started
    it: no other may call this.
    """
    if collective.get_world_size() == 1:
        return array
    total = collective.allreduce(np.ascontiguousarray(array), collective.Op.SUM)
    return total.reshape(array.shape)  # XGBoost returns it flat
