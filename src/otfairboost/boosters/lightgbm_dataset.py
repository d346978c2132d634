"""LightGBM's data set of a matrix, made in less time.

LightGBM reads a sample of the rows value by value on one thread, and sorts each column of it by a general algorithm.
Both are done here by NumPy, on all threads, and LightGBM is given the sample instead of the matrix. It asks for the
same rows and finds the same bins: what comes out is the same data set, byte for byte.
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import lightgbm as lgb
import numpy as np
from lightgbm.basic import _LIB, _c_str, _get_sample_count, _safe_call
from numpy.typing import NDArray

from otfairboost.boosters.lightgbm_parameters import read_number
from otfairboost.threads import count_threads

Matrix = NDArray[Any]
Sample = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Of one column: the values that are not zero, and which of the sampled rows they are in."""

_MIN_ENTRIES = 1 << 18  # there is nothing to gain on fewer
_ZERO = np.float32(1e-35)  # what LightGBM takes for zero
_COLUMNS_AT_A_TIME = 32
_ROWS_AT_A_TIME = 1 << 15
_DATA_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}  # C_API_DTYPE_FLOAT32 and _FLOAT64


class SampledDataset(lgb.Dataset):
    """A ``lightgbm.Dataset`` that samples the rows of a matrix of floats itself."""

    def _Dataset__init_from_np2d(self, *, mat: Matrix, params_str: str, ref_dataset: Any) -> lgb.Dataset:
        """Do LightGBM's step from a matrix to a data set."""
        bins_are_known = ref_dataset is not None
        if bins_are_known or mat.ndim != 2 or mat.dtype not in _DATA_TYPES or mat.size < _MIN_ENTRIES:
            make: Any = super()
            return make._Dataset__init_from_np2d(mat=mat, params_str=params_str, ref_dataset=ref_dataset)
        chosen = _choose_rows(len(mat), params_str)
        n_threads = count_threads(int(read_number(self.params or {}, "num_threads", 0)))
        self._handle = _create(_sample_columns(mat, chosen, n_threads), len(chosen), len(mat), params_str)
        _push_rows(self._handle, mat)
        return self


def _choose_rows(n_rows: int, params_str: str) -> NDArray[np.int32]:
    """Return the rows that LightGBM would look at, in their order."""
    chosen = np.empty(_get_sample_count(n_rows, params_str), np.int32)
    n_chosen = ctypes.c_int32()
    _safe_call(
        _LIB.LGBM_SampleIndices(ctypes.c_int32(n_rows), _c_str(params_str), _address(chosen), ctypes.byref(n_chosen))
    )
    return chosen[: n_chosen.value]


def _sample_columns(mat: Matrix, chosen: NDArray[np.int32], n_threads: int) -> list[Sample]:
    everywhere = np.arange(len(chosen), dtype=np.int32)

    def sample(column: Matrix) -> Sample:
        column = np.ascontiguousarray(column)
        rows, used = everywhere, np.abs(column) > _ZERO
        used |= np.isnan(column)
        if not used.all():
            rows, column = rows[used], column[used]
        # LightGBM sorts the values where they are, and then no longer minds that rows are in another order. Before it
        # takes out missing ones, and what it leaves behind depends on where they were: so these columns it has to sort.
        ordered = np.sort(column)
        if len(ordered) and np.isnan(ordered[-1]):
            ordered = column
        return ordered.astype(np.float64), rows

    sampled: list[Sample] = []
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, mat.shape[1], _COLUMNS_AT_A_TIME):
            some = mat[:, start : start + _COLUMNS_AT_A_TIME]
            some = some if len(chosen) == len(mat) else some[chosen]
            sampled += pool.map(sample, some.T)
    return sampled


def _create(columns: list[Sample], n_sampled: int, n_rows: int, params_str: str) -> ctypes.c_void_p:
    """Return the handle of a data set that has its bins and room for the rows."""
    handle, pointers = ctypes.c_void_p(), ctypes.c_void_p * len(columns)
    _safe_call(
        _LIB.LGBM_DatasetCreateFromSampledColumn(
            pointers(*(_address(values) for values, _ in columns)),
            pointers(*(_address(rows) for _, rows in columns)),
            ctypes.c_int32(len(columns)),
            (ctypes.c_int32 * len(columns))(*(len(rows) for _, rows in columns)),
            ctypes.c_int32(n_sampled),
            ctypes.c_int32(n_rows),
            ctypes.c_int64(n_rows),
            _c_str(params_str),
            ctypes.byref(handle),
        )
    )
    return handle


def _push_rows(handle: ctypes.c_void_p, mat: Matrix) -> None:
    """Sort all rows into the bins; LightGBM wants them one after the other in memory."""
    step = len(mat) if mat.flags.c_contiguous else _ROWS_AT_A_TIME
    for start in range(0, len(mat), step):
        rows = np.ascontiguousarray(mat[start : start + step])
        _safe_call(
            _LIB.LGBM_DatasetPushRows(
                handle,
                _address(rows),
                ctypes.c_int(_DATA_TYPES[rows.dtype]),
                ctypes.c_int32(rows.shape[0]),
                ctypes.c_int32(rows.shape[1]),
                ctypes.c_int32(start),
            )
        )


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
