"""The thresholds a reader can choose from: even, round numbers over the range of the scores."""

import math

import numpy as np

from otfairboost.metrics.inputs import Floats

N_STEPS = 200


def is_probability(score: Floats) -> bool:
    """Return whether all scores lie in [0, 1]."""
    return bool(score.min() >= 0 and score.max() <= 1)


def threshold_grid(score: Floats, threshold: float) -> Floats:
    """Return ascending thresholds over the scores' range, ``threshold`` among them.

    Parameters
    ----------
    score : array of shape (n_rows,)
        The scores of all models together.
    threshold : float
        The one in use.

    Notes
    -----
    Scores outside the 0.1% and 99.9% quantiles do not stretch the grid. Probabilities get [0, 1], unless nearly all are
    small, as they are for rare events.
    """
    low, high = (float(end) for end in np.quantile(score, [0.001, 0.999]))
    if is_probability(score):
        low = 0.0
        high = 1.0 if high > 0.2 else max(high, 2 * threshold if threshold < 0.2 else threshold)
    step = _round_up((high - low) / N_STEPS or abs(low) / N_STEPS or 1 / N_STEPS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, 3 - math.floor(math.log10(step)))
    grid = np.round(np.arange(first, last + 1) * step, digits)
    closest = int(np.argmin(np.abs(grid - threshold)))
    if abs(grid[closest] - threshold) <= 1e-9 * step:
        grid[closest] = threshold
        return grid
    return np.sort(np.append(grid, threshold))


def _round_up(step: float) -> float:
    """Return the next of 1, 2, 2.5 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= step * (1 - 1e-9))
