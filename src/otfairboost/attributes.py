r"""Sensitive attributes: from the columns that users pass to what is compared.

One attribute has one partition of the rows into groups. Several columns make one attribute, whose groups are the
intersections, or one attribute each: the penalty is then :math:`\sum_j a_j P_j`, with :math:`a_j` from
``attribute_weights``, and a row whose value is missing in one column still counts in the others.

Rules (edges, pooled groups) are learnt on the training rows and reused on others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.binning import Bins, check_bins, encode_column, find_bins
from otfairboost.columns import Column, read_columns
from otfairboost.groups import Groups, drop_unused, format_label, intersect, recode, refuse_many
from otfairboost.plan import GROUP_WEIGHTINGS, GroupWeighting

Float = NDArray[np.float64]
MultiAttribute = Literal["intersection", "sum"]
MULTI_ATTRIBUTE: tuple[str, ...] = ("intersection", "sum")


class Pooling(NamedTuple):
    """Groups that count as one.

    Attributes
    ----------
    before, after : tuple
        Labels.
    table : int32 array of shape (len(before) + 1,)
        The code afterwards of each code before; the last entry is for missing values.
    """

    before: tuple[Any, ...]
    after: tuple[Any, ...]
    table: NDArray[np.int32]


class Attribute(NamedTuple):
    """One partition of the rows.

    Attributes
    ----------
    columns : tuple
        Names of the columns behind it.
    groups : Groups
    weighting : {"equal", "size"} or array of shape (n_groups,)
        How much each group counts.
    weight : float
        Of the attribute in the sum.
    bins : tuple of edges or None
        By column; what makes intervals of its values.
    pooling : Pooling or None
    """

    columns: tuple[Any, ...]
    groups: Groups
    weighting: GroupWeighting | Float
    weight: float
    bins: tuple[Bins | None, ...]
    pooling: Pooling | None

    def like(self, columns: Sequence[Column], name: str) -> "Attribute":
        """Return the same attribute on other rows."""
        parts = [encode_column(column, bins, name, least=0)[0] for column, bins in zip(columns, self.bins, strict=True)]
        groups = drop_unused(intersect(parts))
        if self.pooling is not None:
            groups = recode(groups, self.pooling.before, name)
            groups = Groups(self.pooling.table[groups.codes], self.pooling.after)
        else:
            groups = recode(groups, self.groups.labels, name)
        return self._replace(groups=groups)

    def part(self, rows: NDArray[Any]) -> "Attribute":
        """Return some of the rows; groups that they lack are gone, unless rows to come may be pooled into them."""
        groups = self.groups._replace(codes=self.groups.codes[rows])
        if self.pooling is not None:
            return self._replace(groups=groups)
        weighting = self.weighting
        if not isinstance(weighting, str):
            weighting = weighting[groups.counts() > 0]
        return self._replace(groups=drop_unused(groups), weighting=weighting)


class Attributes(NamedTuple):
    """All attributes of a set of rows."""

    parts: tuple[Attribute, ...]

    @classmethod
    def of(cls, groups: Groups, weighting: Any = "equal") -> "Attributes":
        """Return these groups as the only attribute."""
        return cls((Attribute(("",), groups, weighting, 1.0, (None,), None),))

    def without_rows(self) -> "Attributes":
        """Return all but the rows: labels, weights and edges."""
        none = np.empty(0, np.int32)
        return Attributes(tuple(part._replace(groups=part.groups._replace(codes=none)) for part in self.parts))

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.parts[0].groups.codes)

    @property
    def labels(self) -> Any:
        """Return the groups' labels: of one attribute a tuple, of several a dict by column."""
        if len(self.parts) == 1:
            return self.parts[0].groups.labels
        return {part.columns[0]: part.groups.labels for part in self.parts}

    @property
    def weights(self) -> tuple[float, ...]:
        """Return each attribute's weight in the sum."""
        return tuple(part.weight for part in self.parts)

    @property
    def edges(self) -> dict[Any, tuple[float, ...]]:
        """Return the edges of the binned columns by name."""
        return {
            column: tuple(np.asarray(bins, dtype=np.float64).tolist())
            for part in self.parts
            for column, bins in zip(part.columns, part.bins, strict=True)
            if bins is not None
        }

    def codes(self) -> Float:
        """Return codes as metrics take them, NaN where missing: one column, or one for each attribute."""
        columns = [np.where(part.groups.codes < 0, np.nan, part.groups.codes) for part in self.parts]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def decode(self) -> NDArray[Any]:
        """Return labels, None where missing: one column, or one for each attribute."""
        columns = [part.groups.decode() for part in self.parts]
        if len(columns) == 1:
            return columns[0]
        decoded = np.empty((self.n_rows, len(columns)), dtype=object)
        for j, column in enumerate(columns):
            decoded[:, j] = column
        return decoded

    def kinds(self) -> NDArray[np.int32]:
        """Return one code for all attributes together, to deal rows out evenly."""
        if len(self.parts) == 1:
            return self.parts[0].groups.codes
        columns = np.column_stack([part.groups.codes for part in self.parts])
        return np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)

    def like(self, features: Any, *, n_rows: int, name: str) -> "Attributes":
        """Return the same attributes of other rows."""
        if isinstance(features, Attributes):
            return features
        columns = read_columns(features, name, n_rows=n_rows)
        n_columns = sum(len(part.columns) for part in self.parts)
        if len(columns) != n_columns:
            raise ValueError(f"{name} has {len(columns)} columns, but sensitive_features has {n_columns}")
        if len(self.parts) == 1:
            return Attributes((self.parts[0].like(columns, name),))
        return Attributes(
            tuple(
                part.like([column], name_column(name, part.columns[0]))
                for part, column in zip(self.parts, columns, strict=True)
            )
        )

    def part(self, rows: NDArray[Any]) -> "Attributes":
        """Return some of the rows."""
        return Attributes(tuple(part.part(rows) for part in self.parts))


def name_column(argument: str, column: Any) -> str:
    """Return what to call one of several columns in messages."""
    return f"{argument}[{column!r}]"


@dataclass(frozen=True, kw_only=True)
class GroupingRules:
    """The parameters of an estimator, which documents them, that say how columns become groups."""

    sensitive_bins: Any = None
    min_group_size: int | None = None
    multi_attribute: MultiAttribute = "intersection"
    attribute_weights: Any = None
    group_weighting: Any = "equal"

    def __post_init__(self) -> None:
        check_bins("sensitive_bins", self.sensitive_bins)
        least = self.min_group_size
        if least is not None and (isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 1):
            raise ValueError(f"min_group_size={least!r} must be None or an integer >= 1")
        if not isinstance(self.multi_attribute, str) or self.multi_attribute not in MULTI_ATTRIBUTE:
            allowed = ", ".join(map(repr, MULTI_ATTRIBUTE))
            raise ValueError(f"multi_attribute={self.multi_attribute!r} is unknown; allowed are {allowed}")
        if self.attribute_weights is not None:
            if self.multi_attribute != "sum":
                raise ValueError(
                    f"attribute_weights={self.attribute_weights!r} needs multi_attribute='sum', got 'intersection'"
                )
            _check_weights("attribute_weights", self.attribute_weights)
        self._check_group_weighting()

    def read(self, features: Any, *, n_rows: int, name: str = "sensitive_features") -> Attributes:
        """Learn the rules on these rows, and return what they make of them."""
        if isinstance(features, Attributes):
            return features
        columns = read_columns(features, name, n_rows=n_rows)
        names = [column.name for column in columns]
        bins = find_bins("sensitive_bins", self.sensitive_bins, names)
        if self.multi_attribute == "sum":
            weights = self._find_attribute_weights(names)
            return Attributes(
                tuple(
                    self._read_attribute([column], [own], name_column(name, column.name), weight)
                    for column, own, weight in zip(columns, bins, weights, strict=True)
                )
            )
        return Attributes((self._read_attribute(columns, bins, name, 1.0),))

    def _read_attribute(self, columns: list[Column], bins: list[Bins | None], name: str, weight: float) -> Attribute:
        least = 1 if self.min_group_size is None else int(self.min_group_size)
        alone = len(columns) == 1 and bins[0] is not None  # then small intervals go to their neighbours
        encoded = [
            encode_column(column, own, name, least=least if alone else 1)
            for column, own in zip(columns, bins, strict=True)
        ]
        groups = drop_unused(intersect([one for one, _ in encoded]))
        pooling = None
        if self.min_group_size is not None and not alone:
            groups, pooling = pool_groups(groups, least)
        if self.min_group_size is not None and len(groups.labels) == 1:
            raise ValueError(
                f"min_group_size={self.min_group_size} leaves one group of {name}, "
                f"{format_label(groups.labels[0])!r}; at least two are needed to compare"
            )
        refuse_many(groups, name)
        names = tuple(column.name for column in columns)
        weighting = self._find_group_weighting(names[0], groups, name)
        return Attribute(names, groups, weighting, weight, tuple(edges for _, edges in encoded), pooling)

    def _find_attribute_weights(self, names: list[Any]) -> list[float]:
        given = self.attribute_weights
        if given is None:
            return [1.0] * len(names)
        if isinstance(given, Mapping):
            if set(given) != set(names):
                raise ValueError(f"attribute_weights has the columns {list(given)}; sensitive_features has {names}")
            return [float(given[name]) for name in names]
        if len(given) != len(names):
            raise ValueError(f"attribute_weights has {len(given)} entries, but sensitive_features {len(names)} columns")
        return [float(one) for one in given]

    def _check_group_weighting(self) -> None:
        given = self.group_weighting
        if isinstance(given, Mapping):
            for column, one in given.items():
                if self.multi_attribute == "sum":
                    _check_weighting(f"group_weighting[{column!r}]", one)
            if self.multi_attribute != "sum":
                _check_weights("group_weighting", given)
        else:
            _check_weighting("group_weighting", given)

    def _find_group_weighting(self, column: Any, groups: Groups, name: str) -> GroupWeighting | Float:
        given = self.group_weighting
        if self.multi_attribute == "sum" and isinstance(given, Mapping):
            given = given.get(column, "equal")
        if not isinstance(given, Mapping):
            return given
        if set(given) != set(groups.labels):
            seen, needed = (", ".join(map(format_label, labels)) for labels in (given, groups.labels))
            raise ValueError(f"group_weighting has the groups {seen}; {name} has {needed}")
        return np.array([float(given[label]) for label in groups.labels])


def pool_groups(groups: Groups, least: int) -> tuple[Groups, Pooling | None]:
    """Put groups of fewer than ``least`` rows together as one; it takes in the smallest others until it has as many."""
    counts = groups.counts()
    small = counts < least
    if not small.any() or len(counts) < 2:
        return groups, None
    while counts[small].sum() < least and not small.all():
        small[np.where(small, np.iinfo(np.int64).max, counts).argmin()] = True
    kept = [label for label, one in zip(groups.labels, small, strict=True) if not one]
    pooled = " | ".join(format_label(label) for label, one in zip(groups.labels, small, strict=True) if one)
    table = np.append(np.where(small, len(kept), np.cumsum(~small) - 1), -1).astype(np.int32)
    pooling = Pooling(groups.labels, (*kept, pooled), table)
    return Groups(table[groups.codes], pooling.after), pooling


def _check_weighting(argument: str, value: Any) -> None:
    if isinstance(value, Mapping):
        _check_weights(argument, value)
    elif not isinstance(value, str) or value not in GROUP_WEIGHTINGS:
        allowed = ", ".join(map(repr, GROUP_WEIGHTINGS))
        raise ValueError(f"{argument}={value!r} is unknown; allowed are {allowed}")


def _check_weights(argument: str, given: Any) -> None:
    values = list(given.values()) if isinstance(given, Mapping) else given
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
        raise TypeError(f"{argument}={given!r} must be a dict or a list of numbers > 0")
    for value in values:
        good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not good or not (np.isfinite(value) and value > 0):
            raise ValueError(f"{argument} holds {value!r}; allowed are finite numbers > 0")
