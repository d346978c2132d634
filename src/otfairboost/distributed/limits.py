"""What one machine can do and several cannot yet."""

from typing import Any

from otfairboost.criteria import WITHOUT_CONTROL
from otfairboost.plan import GROUP_WEIGHTINGS
from otfairboost.settings import FairnessSettings

# Of the others workers would have to agree on edges, strata or groups before they begin.
_ALLOWED: dict[str, tuple[Any, ...]] = {
    "fairness": tuple(sorted(WITHOUT_CONTROL)),
    "group_weighting": GROUP_WEIGHTINGS,
    "focus_quantile": (None,),
    "sensitive_bins": (None,),
    "min_group_size": (None,),
    "multi_attribute": ("intersection",),
    "attribute_weights": (None,),
    "control_bins": (None,),
}


def refuse_settings(settings: FairnessSettings, *, is_classifier: bool) -> None:
    """Raise for settings that need all rows in one place."""
    if settings.transport != "histogram":
        raise ValueError(
            f"transport={settings.transport!r} needs all rows in one place; with several workers allowed is "
            "'histogram', whose bins they add up"
        )
    for name, allowed in _ALLOWED.items():
        value = getattr(settings, name)
        if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
            named = ", ".join(map(repr, allowed))
            raise ValueError(f"{name}={value!r} is not available with several workers; allowed: {named}")
    if settings.fairness == "equalized_odds" and not is_classifier:
        raise ValueError("fairness='equalized_odds' is not available with several workers in regression")
