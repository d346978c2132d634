"""Continuous columns, such as age, as groups: intervals by quantiles or by given edges."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otfairboost.columns import Column
from otfairboost.groups import Groups, factorize

Float = NDArray[np.float64]
Bins = int | Sequence[float] | Float
"""A number of quantiles, or the edges between intervals."""

MAX_INTERVALS = 50


def bin_attribute(
    values: Any,
    *,
    n_groups: int = 4,
    edges: Sequence[float] | None = None,
    min_group_size: int = 1,
    name: str = "values",
) -> NDArray[Any]:
    """Return the interval of each value, to be given as ``sensitive_features``.

    The estimators' parameter ``sensitive_bins`` does the same and keeps the edges for evaluation sets.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Numbers; NaN and None are missing.
    n_groups : int, default=4
        How many intervals of about as many rows each; fewer where many rows are equal.
    edges : sequence of float, optional
        Where intervals begin, in place of quantiles: ``[25, 65]`` makes below 25, 25 to below 65, and 65 on.
        Give the same edges for rows that come later.
    min_group_size : int, default=1
        Intervals of fewer rows are put together with the smaller of their neighbours until there are none.
    name : str
        What to call the values in messages.

    Returns
    -------
    object array of shape (n_rows,)
        Intervals as text, ``"[25, 65)"``; None where the value is missing.
    """
    numbers = _read_numbers(values, name)
    if edges is None:
        _check_count(n_groups, "n_groups")
    inner = learn_edges(numbers, n_groups if edges is None else _read_edges(edges, "edges"))
    if isinstance(min_group_size, bool) or not isinstance(min_group_size, int) or min_group_size < 1:
        raise ValueError(f"min_group_size={min_group_size!r} must be an integer >= 1")
    return cut(numbers, pool_edges(inner, numbers, min_group_size)).decode()


def check_bins(argument: str, bins: Any) -> None:
    """Raise unless a parameter is None, a number of quantiles, edges, or a dict from columns to these."""
    if bins is None:
        return
    if isinstance(bins, Mapping):
        for column, one in bins.items():
            check_bins(f"{argument}[{column!r}]", one)
    elif isinstance(bins, Sequence | np.ndarray) and not isinstance(bins, str | bytes):
        _read_edges(bins, argument)
    else:
        _check_count(bins, argument)


def find_bins(argument: str, bins: Any, names: Sequence[Any]) -> list[Bins | None]:
    """Return the bins of each column that ``names`` lists; a dict has them by name or position."""
    if not isinstance(bins, Mapping):
        return [bins] * len(names)
    unknown = [key for key in bins if key not in names and key not in range(len(names))]
    if unknown:
        raise ValueError(f"{argument} names columns that are not there: {unknown}; there are {list(names)}")
    return [bins.get(name, bins.get(j)) for j, name in enumerate(names)]


def encode_column(column: Column, bins: Bins | None, name: str, least: int = 1) -> tuple[Groups, Float | None]:
    """Return the groups of a column, and the edges between them if it is binned.

    Parameters
    ----------
    column : Column
    bins : int, sequence of float or None
        None takes its values as they are.
    name : str
        What to call the column in messages.
    least : int
        Intervals of fewer rows are pooled.
    """
    if bins is None:
        return factorize(column.values, column.missing, name), None
    values: Any = column.values
    if column.missing is not None and column.missing.any():
        values = np.where(column.missing, np.nan, values)
    numbers = _read_numbers(values, name)
    inner = pool_edges(learn_edges(numbers, bins), numbers, least)
    return cut(numbers, inner), inner


def learn_edges(numbers: Float, bins: Bins, weight: NDArray[Any] | None = None) -> Float:
    """Return the edges: quantiles if ``bins`` is a number, itself otherwise. NaN is missing.

    The edge at share q is the smallest value that, with all below it, holds more than q of the weight: a value of the
    data, so that equal values stay together.
    """
    if not isinstance(bins, int | np.integer):
        return np.asarray(bins, dtype=np.float64)
    known = ~np.isnan(numbers)
    values = numbers[known]
    if weight is None:
        values = np.sort(values)
        held = np.arange(1.0, len(values) + 1.0)
    else:
        order = np.argsort(values)
        values, held = values[order], np.cumsum(weight[known][order], dtype=np.float64)
    shares = np.arange(1, bins) / bins * held[-1] * (1.0 + 1e-12)  # a share that rounding puts just below is held
    inner = np.unique(values[np.searchsorted(held, shares, side="right")])
    return inner[inner > values[0]]  # an edge at the minimum bounds nothing


def pool_edges(inner: Float, numbers: Float, least: int) -> Float:
    """Take edges out until every interval has enough rows, or there is one."""
    known = numbers[~np.isnan(numbers)]
    while len(inner):
        counts = np.bincount(np.searchsorted(inner, known, side="right"), minlength=len(inner) + 1)
        smallest = int(counts.argmin())
        if counts[smallest] >= least:
            break
        left = counts[smallest - 1] if smallest > 0 else np.inf
        right = counts[smallest + 1] if smallest < len(inner) else np.inf
        inner = np.delete(inner, smallest - 1 if left <= right else smallest)
    return inner


def cut(numbers: Float, inner: Float) -> Groups:
    """Return the interval of each number, in ascending order; NaN is missing."""
    bounds = [np.format_float_positional(edge, trim="-") for edge in inner]  # all digits: no two edges look alike
    labels = [f"[{low}, {high})" for low, high in zip(["-inf", *bounds], [*bounds, "inf"], strict=True)]
    codes = np.searchsorted(inner, numbers, side="right")
    return Groups(np.where(np.isnan(numbers), -1, codes).astype(np.int32), tuple(labels))


def _read_numbers(values: Any, name: str) -> Float:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers; text and dates cannot be binned") from None
    if numbers.ndim != 1:
        raise ValueError(f"{name} has shape {numbers.shape}; allowed is (n_rows,)")
    if np.isinf(numbers).any():
        raise ValueError(f"{name} contains infinity; it must be finite or missing")
    if np.isnan(numbers).all():
        raise ValueError(f"{name} holds only missing values; at least one number is needed")
    return numbers


def _read_edges(edges: Any, name: str) -> Float:
    try:
        inner = np.asarray(edges, dtype=np.float64)
    except (TypeError, ValueError):
        inner = np.empty(0)
    if inner.ndim != 1 or len(inner) == 0 or not np.isfinite(inner).all() or (np.diff(inner) <= 0).any():
        raise ValueError(f"{name}={edges!r} must be finite numbers in ascending order, each once")
    if len(inner) >= MAX_INTERVALS:
        raise ValueError(f"{name} has {len(inner)} edges; at most {MAX_INTERVALS - 1} are allowed")
    return inner


def _check_count(count: Any, name: str) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 2 <= count <= MAX_INTERVALS:
        raise ValueError(f"{name}={count!r} must be an integer from 2 to {MAX_INTERVALS}")
