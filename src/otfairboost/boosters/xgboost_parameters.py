"""XGBoost's parameters by name or alias, and those that the penalty cannot have."""

from typing import Any

_ALIASES = {
    "learning_rate": ("learning_rate", "eta"),
    "n_jobs": ("n_jobs", "nthread"),
    "random_state": ("random_state", "seed"),
}


def read_number(params: dict[str, Any], name: str, default: float) -> float:
    """Return a numeric parameter by its name or an alias, or raise naming it."""
    for alias in _ALIASES.get(name, (name,)):
        value = params.get(alias)
        if value is not None:
            try:
                return float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{alias}={value!r} must be a number") from None
    return default


def refuse_parameters(params: dict[str, Any]) -> None:
    """Raise for parameters that do not go together with the penalty."""
    if params.get("booster") == "gblinear":
        raise ValueError(
            "booster='gblinear' is not available with fairness_weight > 0: the penalty moves rows through leaves; "
            "allowed are 'gbtree' and 'dart'"
        )
    process = params.get("process_type")
    if process not in (None, "default"):
        raise ValueError(
            f"process_type={process!r} is not available with fairness_weight > 0: trees are grown; allowed is 'default'"
        )
