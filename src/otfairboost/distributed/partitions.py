"""Dask collections, read and checked partition by partition before anything is trained.

A column's partition lies where Dask put it, and stays there: only what it holds (length, labels, range) comes to the
client.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client

from otfairboost.estimators.inputs import read_column, read_numbers
from otfairboost.groups import encode_groups

MAX_LABELS = 1000
"""More distinct labels than this in one partition are not sent to the client."""


class Part(NamedTuple):
    """What the client has to know of one partition of a column.

    Attributes
    ----------
    rows : int
    digest : str or None
        Of the partition's index; None for arrays, which have none.
    labels : tuple
        Distinct values, of a column of labels or groups.
    kind : str
        What these are: integers, text, and so on; empty if there are none.
    missing : int
        Number of rows without a group.
    low, high : float
        Of numbers.
    """

    rows: int
    digest: str | None = None
    labels: tuple[Any, ...] = ()
    kind: str = ""
    missing: int = 0
    low: float = 0.0
    high: float = 0.0


Read = Callable[[Any, str], Part]


def read_length(part: Any, name: str) -> Part:
    """Read a partition of X."""
    return Part(len(part), _digest(part))


def read_labels(part: Any, name: str) -> Part:
    """Read a partition of a target of classes."""
    column = read_column(_squeeze(part), name)
    labels = pd.unique(column).tolist() if column.dtype.kind == "O" else np.unique(column).tolist()
    return Part(len(column), _digest(part), tuple(labels[:MAX_LABELS]), _kind_of(labels))


def read_values(part: Any, name: str) -> Part:
    """Read a partition of numbers."""
    column = read_numbers(_squeeze(part), name)
    low, high = (float(column.min()), float(column.max())) if len(column) else (0.0, 0.0)
    return Part(len(column), _digest(part), low=low, high=high)


def read_groups(part: Any, name: str) -> Part:
    """Read a partition of sensitive features."""
    if len(part) == 0:
        return Part(0, _digest(part))
    groups = encode_groups(part, name=name)
    return Part(len(groups.codes), _digest(part), groups.labels, _kind_of(groups.labels), int((groups.codes < 0).sum()))


def check_collection(values: Any, name: str, *, frame: bool = False) -> None:
    """Raise unless an argument is a Dask collection of rows; ``frame``: one with columns."""
    if isinstance(values, da.Array):
        if values.ndim > 2 or (frame and values.ndim != 2):
            raise ValueError(f"{name} has {values.ndim} dimensions; allowed are {'2' if frame else '1 or 2'}")
        if values.ndim == 2 and values.numblocks[1] > 1:
            raise ValueError(
                f"{name} is split by columns, into {values.numblocks[1]} blocks; partitions must hold whole rows: "
                f"{name}.rechunk({{1: -1}})"
            )
    elif not isinstance(values, dd.DataFrame if frame else dd.DataFrame | dd.Series):
        allowed = "dask.array.Array and dask.dataframe." + ("DataFrame" if frame else "Series")
        raise TypeError(
            f"{name} is a {type(values).__module__}.{type(values).__qualname__}; on Dask allowed are {allowed}"
        )


def count_partitions(values: Any) -> int:
    """Return the number of partitions."""
    return int(values.numblocks[0] if isinstance(values, da.Array) else values.npartitions)


def read_parts(client: Client, columns: Sequence[tuple[Any, str, Read]]) -> list[list[Part]]:
    """Return what each partition of several row-aligned columns holds; raise for the first that cannot be read.

    The first column is X, which the others' partitions must agree with: in their number, then in their rows and,
    between data frames, in their index. So unknown divisions do no harm.
    """
    (first, first_name, _), *others = columns
    expected = count_partitions(first)
    for values, name, _ in others:
        if count_partitions(values) != expected:
            raise ValueError(
                f"{name} has {count_partitions(values)} partitions, but {first_name} has {expected}; both need "
                f"the same rows in the same partitions: repartition or rechunk {name} like {first_name}"
            )
        _check_divisions(values, name, first, first_name)
    tasks = [
        [dask.delayed(_read_safely)(part, name, read, i) for i, part in enumerate(delay_partitions(values))]
        for values, name, read in columns
    ]
    results: list[list[Any]] = client.gather([client.compute(row) for row in tasks])
    for row in results:
        for one in row:
            if isinstance(one, Exception):
                raise one
    for (_, name, _), parts in zip(others, results[1:], strict=True):
        _check_alignment(parts, name, results[0], first_name)
    return results


def delay_partitions(values: Any) -> list[Any]:
    """Return each partition as a delayed value."""
    if isinstance(values, da.Array):
        return list(values.to_delayed().ravel())
    return list(values.to_delayed(optimize_graph=False))


def join_labels(parts: Sequence[Part], name: str) -> list[Any]:
    """Return all partitions' labels; raise if partitions hold values of different types."""
    first = next((i for i, part in enumerate(parts) if part.kind), None)
    if first is None:
        return []
    for i, part in enumerate(parts):
        if part.kind and part.kind != parts[first].kind:
            raise TypeError(
                f"{name} holds {parts[first].kind} in partition {first} but {part.kind} in partition {i}; "
                "all partitions need the same type: cast the column, for example with .astype(str)"
            )
    return list(dict.fromkeys(label for part in parts for label in part.labels))


def refuse_missing(parts: Sequence[Part], name: str) -> None:
    """Raise for rows without a group: on a cluster they are more often a join gone wrong than meant."""
    missing = [(i, part.missing) for i, part in enumerate(parts) if part.missing]
    if missing:
        raise ValueError(
            f"{name} is missing (NaN) in {sum(n for _, n in missing)} rows, the first in partition {missing[0][0]}; "
            "on Dask every row needs a group: fill them in, for example with .fillna('unknown'), or drop these rows"
        )


def map_column(values: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a column of float32, ``function(partition, *arguments)``, in the same partitions."""
    if isinstance(values, da.Array):
        axis = [1] if values.ndim == 2 else []
        return da.map_blocks(
            _map_array, values, function, arguments, dtype=np.float32, drop_axis=axis, meta=np.empty(0, np.float32)
        )
    return values.map_partitions(_map_series, function, arguments, meta=pd.Series([], dtype=np.float32))


def _map_array(part: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return np.asarray(function(_squeeze(part), *arguments), np.float32)


def _map_series(part: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return pd.Series(np.asarray(function(_squeeze(part), *arguments), np.float32), index=part.index)


def _read_safely(part: Any, name: str, read: Read, i: int) -> Part | Exception:
    """Read a partition; return errors of the user's as values, so that no worker logs them as its own."""
    try:
        return read(part, f"{name} (partition {i})")
    except (TypeError, ValueError) as error:
        return error


def _check_divisions(values: Any, name: str, first: Any, first_name: str) -> None:
    if isinstance(values, da.Array) or isinstance(first, da.Array):
        return
    if values.known_divisions and first.known_divisions and values.divisions != first.divisions:
        raise ValueError(
            f"{name} has other divisions than {first_name}: {_shorten(values.divisions)} against "
            f"{_shorten(first.divisions)}; both need the same rows in the same partitions: "
            f"{name}.repartition(divisions={first_name}.divisions)"
        )


def _check_alignment(parts: Sequence[Part], name: str, first: Sequence[Part], first_name: str) -> None:
    for i, (part, expected) in enumerate(zip(parts, first, strict=True)):
        if part.rows != expected.rows:
            raise ValueError(
                f"{name} has {part.rows} rows in partition {i}, but {first_name} has {expected.rows}; both need the "
                f"same rows in the same partitions: repartition or rechunk {name} like {first_name}"
            )
        if part.digest is not None and expected.digest is not None and part.digest != expected.digest:
            raise ValueError(
                f"{name} has another index than {first_name} in partition {i}, so their rows may not belong together; "
                "join them into one data frame, or, if they do belong together, pass arrays: "
                f"{name}.to_dask_array(lengths=True)"
            )


def _digest(part: Any) -> str | None:
    if not isinstance(part, pd.DataFrame | pd.Series):
        return None
    hashes = pd.util.hash_pandas_object(part.index).to_numpy()
    return hashlib.blake2b(np.ascontiguousarray(hashes).tobytes(), digest_size=16).hexdigest()


def _squeeze(part: Any) -> Any:
    """Return a data frame of one column as that column."""
    return part.iloc[:, 0] if isinstance(part, pd.DataFrame) and part.shape[1] == 1 else part


def _kind_of(labels: Sequence[Any]) -> str:
    names = {bool: "booleans", int: "integers", float: "floats", str: "text"}
    found = set()
    for label in labels:
        parts = label if isinstance(label, tuple) else (label,)
        found.add(" & ".join(names.get(type(part), type(part).__name__) for part in parts))
    return " and ".join(sorted(found))


def _shorten(divisions: Sequence[Any]) -> str:
    shown = [str(one) for one in divisions]
    return f"({', '.join(shown if len(shown) <= 6 else [*shown[:3], '...', *shown[-2:]])})"
