"""LightGBM's parameters by main name or alias, and those that a custom objective makes useless."""

from collections.abc import Callable
from typing import Any

from lightgbm.basic import _ConfigAliases

from otfairboost.threads import count_threads

_MAX_ROW_WISE_BINS = 8192  # of all columns: sums of more do not stay close to the processor
_MAX_ROW_WISE_THREADS = 16  # each has sums of its own
_MAX_ROW_WISE_ENTRIES = 1 << 24  # rows times columns, each a byte of memory more


def read_parameter(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """Return a parameter by its main name or any alias; where there are several, the one that LightGBM takes."""
    for alias in (name, *sorted(_ConfigAliases.get(name) - {name}, key=lambda alias: (len(alias), alias))):
        if params.get(alias) is not None:
            return params[alias]
    return default


def read_number(params: dict[str, Any], name: str, default: float) -> float:
    """Return a numeric parameter, or raise naming it."""
    value = read_parameter(params, name, default)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} must be a number") from None


def read_flag(params: dict[str, Any], name: str, default: bool) -> bool:
    """Return a yes-or-no parameter, which LightGBM also takes as a word."""
    value = read_parameter(params, name, default)
    return value.strip().lower() in ("true", "+") if isinstance(value, str) else bool(value)


def drop_parameter(params: dict[str, Any], name: str) -> None:
    """Take a parameter and its aliases out."""
    for alias in _ConfigAliases.get(name):
        params.pop(alias, None)


def sum_row_wise(params: dict[str, Any], n_rows: int, n_columns: int) -> dict[str, Any]:
    """Return parameters with which LightGBM sums up gradients and hessians row by row, if that is faster.

    It takes the hessians of its own objectives for constant where they are, and can then do without them. Ours differ
    between rows, and to go through rows once for all columns instead of once for each makes up for a part of that.
    LightGBM by itself would try both ways and go by the time of one look at the data, so that two fits may differ in
    their last digits. Parameters that say how to do it stay as they are.
    """
    told = any(read_parameter(params, name) is not None for name in ("force_row_wise", "force_col_wise", "device_type"))
    fits = (
        n_columns * read_number(params, "max_bin", 255) <= _MAX_ROW_WISE_BINS
        and n_rows * n_columns <= _MAX_ROW_WISE_ENTRIES
        and count_threads(int(read_number(params, "num_threads", 0))) <= _MAX_ROW_WISE_THREADS
    )
    return {**params, "force_row_wise": True} if fits and not told else params


def parameter_names() -> set[str]:
    """Return the names and aliases of all of LightGBM's parameters."""
    aliases = _ConfigAliases._get_all_param_aliases()
    return {name for main, others in aliases.items() for name in (main, *others)}


def is_parameter(name: str) -> bool:
    """Return whether LightGBM knows a parameter of this name."""
    return name in parameter_names()


_BY_LABEL = "bagging by label needs a built-in objective; use sample_weight or bagging_fraction"
_MACHINES = "each machine would see the groups of its own rows only"
_IGNORED: tuple[tuple[str, Callable[[dict[str, Any], str], bool], str], ...] = (
    ("boosting", lambda p, n: read_parameter(p, n) in ("rf", "random_forest"), "a random forest has no gradient steps"),
    ("pos_bagging_fraction", lambda p, n: read_number(p, n, 1.0) != 1.0, _BY_LABEL),
    ("neg_bagging_fraction", lambda p, n: read_number(p, n, 1.0) != 1.0, _BY_LABEL),
    ("reg_sqrt", lambda p, n: read_flag(p, n, False), "transform the target yourself instead"),
    ("sigmoid", lambda p, n: read_number(p, n, 1.0) != 1.0, "probabilities are sigmoid(raw prediction); leave it at 1"),
    ("num_machines", lambda p, n: read_number(p, n, 1.0) != 1.0, _MACHINES),
    ("machines", lambda p, n: bool(read_parameter(p, n)), _MACHINES),
    ("machine_list_filename", lambda p, n: bool(read_parameter(p, n)), _MACHINES),
)


def refuse_ignored_parameters(params: dict[str, Any], n_outputs: int = 1) -> None:
    """Raise for parameters that LightGBM ignores, or gets wrong, with a custom objective of so many outputs."""
    if read_number(params, "num_class", 1.0) != n_outputs:
        raise ValueError(
            f"num_class={read_parameter(params, 'num_class')!r} is not available with fairness_weight > 0: the classes "
            "are those of y; leave it out"
        )
    for name, is_set, why in _IGNORED:
        if is_set(params, name):
            value = read_parameter(params, name)
            raise ValueError(f"{name}={value!r} is not available with fairness_weight > 0: {why}")
