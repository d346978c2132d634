"""Continuous sensitive attributes, such as age, as groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def bin_attribute(
    values: Any,
    *,
    n_groups: int = 4,
    edges: Sequence[float] | None = None,
    min_group_size: int = 1,
    name: str = "values",
) -> NDArray[Any]:
    """Return the interval of each value, to be given as ``sensitive_features``.

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
    known = ~np.isnan(numbers)
    inner = _quantile_edges(numbers[known], n_groups) if edges is None else _read_edges(edges)
    if isinstance(min_group_size, bool) or not isinstance(min_group_size, int) or min_group_size < 1:
        raise ValueError(f"min_group_size={min_group_size!r} must be an integer >= 1")
    inner = _pool(inner, numbers[known], min_group_size)
    bounds = [np.format_float_positional(edge, trim="-") for edge in inner]  # all digits: no two edges look alike
    labels = [f"[{low}, {high})" for low, high in zip(["-inf", *bounds], [*bounds, "inf"], strict=True)]
    groups = np.empty(len(numbers), dtype=object)
    groups[known] = np.array(labels, dtype=object)[np.searchsorted(inner, numbers[known], side="right")]
    return groups


def _read_numbers(values: Any, name: str) -> NDArray[np.float64]:
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


def _read_edges(edges: Sequence[float]) -> NDArray[np.float64]:
    inner = np.asarray(edges, dtype=np.float64)
    if inner.ndim != 1 or len(inner) == 0 or not np.isfinite(inner).all() or (np.diff(inner) <= 0).any():
        raise ValueError(f"edges={edges!r} must be finite numbers in ascending order, each once")
    return inner


def _quantile_edges(numbers: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    if isinstance(n_groups, bool) or not isinstance(n_groups, int) or not 2 <= n_groups <= 50:
        raise ValueError(f"n_groups={n_groups!r} must be an integer from 2 to 50")
    # Quantiles that are values of the data, so that equal values stay together; an edge at the minimum bounds nothing.
    inner = np.unique(np.quantile(numbers, np.arange(1, n_groups) / n_groups, method="higher"))
    return inner[inner > numbers.min()]


def _pool(inner: NDArray[np.float64], numbers: NDArray[np.float64], least: int) -> NDArray[np.float64]:
    """Take edges out until every interval has enough rows, or there is one."""
    while len(inner):
        counts = np.bincount(np.searchsorted(inner, numbers, side="right"), minlength=len(inner) + 1)
        smallest = int(counts.argmin())
        if counts[smallest] >= least:
            break
        left = counts[smallest - 1] if smallest > 0 else np.inf
        right = counts[smallest + 1] if smallest < len(inner) else np.inf
        inner = np.delete(inner, smallest - 1 if left <= right else smallest)
    return inner
