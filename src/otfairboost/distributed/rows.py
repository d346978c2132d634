"""One set of rows on Dask: collections in, XGBoost's distributed matrix out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.preprocessing import LabelEncoder

from otfairboost.distributed.partitions import (
    check_collection,
    delay_partitions,
    join_labels,
    map_column,
    read_groups,
    read_labels,
    read_length,
    read_parts,
    read_values,
    refuse_missing,
)
from otfairboost.estimators.targets import encode_labels
from otfairboost.groups import encode_groups


class Given(NamedTuple):
    """What the user passes for one set of rows."""

    X: Any
    y: Any
    sensitive_features: Any = None
    sample_weight: Any = None
    base_margin: Any = None


class Names(NamedTuple):
    """What to call it in messages."""

    X: str = "X"
    y: str = "y"
    sensitive_features: str = "sensitive_features"
    sample_weight: str = "sample_weight"
    base_margin: str = "base_margin"


class DaskRows(NamedTuple):
    """Rows, checked and encoded.

    Attributes
    ----------
    X, y, groups, weight, margin
        Dask collections of the same partitions; the last three may be None. Labels and groups are codes.
    encoder : LabelEncoder or None
        Of the classes; None in regression.
    labels : tuple or None
        The groups.
    n_rows : int
    """

    X: Any
    y: Any
    groups: Any
    weight: Any
    margin: Any
    encoder: LabelEncoder | None
    labels: tuple[Any, ...] | None
    n_rows: int


def read_dask_rows(
    client: Client, given: Given, names: Names, *, is_classifier: bool, like: DaskRows | None = None
) -> DaskRows:
    """Read, check and encode a set of rows.

    Parameters
    ----------
    client : distributed.Client
    given, names : Given, Names
    is_classifier : bool
        Whether targets are classes.
    like : DaskRows, optional
        The training rows, whose classes and groups these must be.
    """
    for values, name in zip(given, names, strict=True):
        if values is not None or name in (names.X, names.y):
            check_collection(values, name, frame=name == names.X)
    readers = (read_length, read_labels if is_classifier else read_values, read_groups, read_values, read_values)
    kept = [i for i, values in enumerate(given) if values is not None]
    persisted = {i: client.persist(given[i]) for i in kept}
    parts = dict(
        zip(kept, read_parts(client, [(persisted[i], names[i], readers[i]) for i in kept]), strict=True)
    )  # fmt: skip
    n_rows = sum(part.rows for part in parts[0])
    if n_rows < (2 if like is None else 1):
        raise ValueError(f"{names.X} has {n_rows} sample(s); at least {2 if like is None else 1} are needed")
    encoder = _join_classes(parts[1], names.y, like) if is_classifier else None
    labels = _join_groups(parts[2], names.sensitive_features, like) if 2 in parts else None
    if 3 in parts:
        _check_weight(parts[3], names.sample_weight)
    y = map_column(persisted[1], *((_encode_labels, encoder, names.y) if is_classifier else (_keep,)))
    groups = map_column(persisted[2], _encode_groups, labels, names.sensitive_features) if 2 in parts else None
    return DaskRows(
        persisted[0], client.persist(y), None if groups is None else client.persist(groups),
        None if 3 not in parts else map_column(persisted[3], _keep),
        None if 4 not in parts else map_column(persisted[4], _keep),
        encoder, labels, n_rows,
    )  # fmt: skip


def sum_target(client: Client, rows: DaskRows) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return targets and weights that have the same weighted mean as those of all rows: two of them, or one."""
    weights = delay_partitions(rows.weight) if rows.weight is not None else [None] * len(delay_partitions(rows.y))
    tasks = [
        dask.delayed(_sum_part)(y, weight, rows.encoder is not None)
        for y, weight in zip(delay_partitions(rows.y), weights, strict=True)
    ]
    first, second = np.sum(client.gather(client.compute(tasks)), axis=0)
    if rows.encoder is not None:
        return np.array([0, 1], np.float32), np.array([first - second, second], np.float32)
    return np.array([second / first], np.float32), np.empty(0, np.float32)


def _sum_part(y: Any, weight: Any, is_classifier: bool) -> NDArray[np.float64]:
    values = np.asarray(y, np.float64)
    w = np.ones(len(values)) if weight is None else np.asarray(weight, np.float64)
    return np.array([w.sum(), w @ values])


def _join_classes(parts: Sequence[Any], name: str, like: DaskRows | None) -> LabelEncoder:
    labels = join_labels(parts, name)
    if like is not None:
        assert like.encoder is not None
        encode_labels(np.array(labels), like.encoder, name)  # raises for labels that training has not
        return like.encoder
    if len(labels) != 2:
        shown = ", ".join(map(str, sorted(labels, key=str)[:10]))
        raise ValueError(
            f"Only binary classification is supported on Dask: {name} must have 2 classes, got {len(labels)} ({shown})"
        )
    return LabelEncoder().fit(np.array(labels))


def _join_groups(parts: Sequence[Any], name: str, like: DaskRows | None) -> tuple[Any, ...]:
    refuse_missing(parts, name)
    labels = join_labels(parts, name)
    if like is not None and like.labels is not None:
        encode_groups(labels, labels=like.labels, name=name)  # raises for groups that training has not
        return like.labels
    return encode_groups(labels, name=name).labels  # in the order of one machine


def _check_weight(parts: Sequence[Any], name: str) -> None:
    lowest, highest = min(part.low for part in parts), max(part.high for part in parts)
    if lowest < 0:
        raise ValueError(f"{name} must not be negative, got {lowest:g}")
    if not highest > 0:
        raise ValueError(f"{name} is zero for every row; at least one must be positive")


def _encode_labels(part: Any, encoder: LabelEncoder, name: str) -> Any:
    return encode_labels(part, encoder, name).values if len(part) else np.empty(0, np.float32)


def _encode_groups(part: Any, labels: tuple[Any, ...], name: str) -> Any:
    return encode_groups(part, labels=labels, name=name).codes if len(part) else np.empty(0, np.float32)


def _keep(part: Any) -> Any:
    values = np.asarray(part, np.float32)
    return values.reshape(len(values))
