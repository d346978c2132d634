"""Which gap belongs to which criterion."""

from otfairboost.metrics.registry import METRICS, Metric

# In decisions; what a regressor is measured by compares scores.
_GAPS = {
    "demographic_parity": "demographic_parity_difference",
    "equalized_odds": "equalized_odds_difference",
    "true_positive_rate_parity": "true_positive_rate_difference",
    "false_positive_rate_parity": "false_positive_rate_difference",
}


_GAPS_OF_CLASSES = {
    "demographic_parity": "multiclass_demographic_parity_difference",
    "equalized_odds": "multiclass_equalized_odds_difference",
}


def find_gap(
    argument: str, name: str | None, *, fairness: str, classification: bool, several_classes: bool = False
) -> Metric:
    """Return the gap of that name; of a criterion if there is no name.

    Parameters
    ----------
    argument : str
        What to call the name in messages.
    name : str or None
    fairness : str
        The criterion.
    classification : bool
        Whether there are decisions. Regressors have scores only, and ``"kolmogorov_smirnov"`` by default.
    several_classes : bool
        Whether there are more than two classes. The gap is then the largest over them.
    """
    if name is None and not classification:
        name = "kolmogorov_smirnov"
    elif name is None:
        name = (_GAPS_OF_CLASSES if several_classes else _GAPS).get(fairness, "")
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
