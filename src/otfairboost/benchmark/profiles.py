"""How much is run: from a look at the whole chain to the paper's full protocol."""

from typing import NamedTuple


class Profile(NamedTuple):
    """The size of a study.

    Attributes
    ----------
    name : str
    n_folds : int
        Folds of the cross-validation.
    n_configurations : int
        Random configurations of every method.
    max_models : int or None
        Most models that a method may train in a fold. One that trains many in each configuration tries fewer of these.
    timeout : float
        Seconds after which a fit is given up and recorded as such.
    max_rows : int or None
        Larger data sets are cut down to a random sample of this size.
    fairness_weights : tuple of float
        Fairness weights at which the first configuration is fitted again, for the figure of metrics against weight.
    """

    name: str
    n_folds: int
    n_configurations: int
    max_models: int | None
    timeout: float
    max_rows: int | None
    fairness_weights: tuple[float, ...]


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("quick", 3, 2, 26, 600.0, 6_000, (0.3, 3.0, 20.0)),
        Profile("standard", 5, 20, 52, 3600.0, None, (0.1, 0.3, 1.0, 2.0, 5.0, 10.0, 20.0)),
        Profile("paper", 5, 100, None, 14_400.0, None, (0.1, 0.2, 0.5, 1.0, 2.0, 3.5, 5.0, 7.5, 10.0, 15.0, 20.0)),
    )
}


def get_profile(name: str) -> Profile:
    """Return the profile of that name; an unknown one is an error that lists the known."""
    if name not in PROFILES:
        raise ValueError(f"profile={name!r} is not known; allowed are {', '.join(PROFILES)}")
    return PROFILES[name]
