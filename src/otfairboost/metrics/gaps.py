"""Which gap belongs to which criterion."""

from typing import Any

from otfairboost.metrics.registry import METRICS, Metric

# In decisions, and in scores, which are all that a regressor has.
_DECISION_GAPS = {
    "demographic_parity": "demographic_parity_difference",
    "conditional_demographic_parity": "conditional_demographic_parity_difference",
    "equalized_odds": "equalized_odds_difference",
    "true_positive_rate_parity": "true_positive_rate_difference",
    "false_positive_rate_parity": "false_positive_rate_difference",
}
_SCORE_GAPS = {
    "demographic_parity": "kolmogorov_smirnov",
    "conditional_demographic_parity": "conditional_kolmogorov_smirnov",
    "equalized_odds": "binned_equalized_odds_difference",
}
# Of several attributes that are compared one by one.
_SUMS = {
    "demographic_parity_difference": "summed_demographic_parity_difference",
    "equalized_odds_difference": "summed_equalized_odds_difference",
    "kolmogorov_smirnov": "summed_kolmogorov_smirnov",
}


_GAPS_OF_CLASSES = {
    "demographic_parity": "multiclass_demographic_parity_difference",
    "equalized_odds": "multiclass_equalized_odds_difference",
}


def find_gap(
    argument: str,
    name: str | None,
    *,
    fairness: Any,
    classification: bool,
    several_classes: bool = False,
    top: bool = False,
    summed: bool = False,
) -> Metric:
    """Return the gap of that name; of a criterion if there is no name.

    Parameters
    ----------
    argument : str
        What to call the name in messages.
    name : str or None
    fairness : str or callable
        The criterion. That of a function of the user's has no gap by default.
    classification : bool
        Whether there are decisions. Regressors have scores only.
    several_classes : bool
        Whether there are more than two classes. The gap is then the largest over them.
    top : bool
        Whether the top of the ranking is what counts, in demographic parity.
    summed : bool
        Whether several attributes are compared one by one.
    """
    if name is None:
        own = fairness if isinstance(fairness, str) else ""
        if top and own == "demographic_parity" and not summed:
            name = "top_k_selection_rate_difference"
        else:
            of_labels = _GAPS_OF_CLASSES if several_classes else _DECISION_GAPS
            name = (of_labels if classification else _SCORE_GAPS).get(own, "")
            name = _SUMS.get(name, "") if summed else name
    allowed = [
        known.name
        for known in METRICS.values()
        if known.needs_groups
        and not known.greater_is_better
        and (classification or known.kind == "score")
        and (known.classes == "many") == several_classes
    ]
    if name not in allowed:
        seen = f"{argument}={name!r} is not a gap" if name else f"{argument} is needed with fairness={fairness!r}"
        raise ValueError(f"{seen}; allowed are {', '.join(map(repr, allowed))}")
    return METRICS[name]
