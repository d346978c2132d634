"""Slow, independent answers that the fast ones are tested against.

Nothing here imports otfairboost. Distances are POT's, linear programs SciPy's, maps are read off quantile functions in
rational arithmetic.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import ot
from scipy import optimize, stats
from scipy.special import expit

# ---- Distances ---------------------------------------------------------------------------------------------------


def normalise(weight, n):
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    return weight / weight.sum()


def pot_distance(x, y, x_weight=None, y_weight=None):
    """W2^2 by POT's one-dimensional solver."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    a, b = normalise(x_weight, len(x)), normalise(y_weight, len(y))
    return float(ot.emd2_1d(x, y, a, b, metric="sqeuclidean"))


def pot_plan(x, y, x_weight=None, y_weight=None):
    """The optimal coupling by POT's general network simplex, on the matrix of costs."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    cost = np.square(x[:, None] - y[None, :])
    return ot.emd(normalise(x_weight, len(x)), normalise(y_weight, len(y)), cost)


def linear_program_distance(x, y, x_weight=None, y_weight=None):
    """W2^2 by SciPy's linear programming, straight from the definition."""
    n, m = len(x), len(y)
    cost = np.square(np.subtract.outer(np.asarray(x, float), np.asarray(y, float))).ravel()
    marginals = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    masses = np.concatenate([normalise(x_weight, n), normalise(y_weight, m)])
    return float(optimize.linprog(cost, A_eq=marginals, b_eq=masses, method="highs").fun)


# ---- Maps, exactly -----------------------------------------------------------------------------------------------


def rational_atoms(values, weight=None):
    """Return {value: mass}, ascending, in rational arithmetic; values of zero weight left out."""
    weight = [1] * len(values) if weight is None else weight
    mass = {}
    for value, w in zip(
        map(Fraction, np.asarray(values, float)), map(Fraction, np.asarray(weight, float)), strict=True
    ):
        if w > 0:
            mass[value] = mass.get(value, Fraction(0)) + w
    total = sum(mass.values())
    return {value: mass[value] / total for value in sorted(mass)}


def integrate_quantile(atoms, low, high, power=1, shift=Fraction(0)):
    """Return the integral of (Q(tau) - shift)^power over [low, high], Q the quantile function of ``atoms``."""
    total, level = Fraction(0), Fraction(0)
    for value, mass in atoms.items():
        overlap = min(high, level + mass) - max(low, level)
        if overlap > 0:
            total += overlap * (value - shift) ** power
        level += mass
    return total


def rational_map(x, y, x_weight=None, y_weight=None):
    """Return T(x_i) of every row, averaged over ties: the mean of Q_y over the quantile interval of x_i's block."""
    source, target = rational_atoms(x, x_weight), rational_atoms(y, y_weight)
    image, level = {}, Fraction(0)
    for value, mass in source.items():
        image[value] = integrate_quantile(target, level, level + mass) / mass
        level += mass
    return np.array([float(image.get(Fraction(float(value)), np.nan)) for value in x])


def rational_distance(x, y, x_weight=None, y_weight=None):
    """Return W2^2, the integral of (Q_x - Q_y)^2, in rational arithmetic."""
    source, target = rational_atoms(x, x_weight), rational_atoms(y, y_weight)
    cost, level = Fraction(0), Fraction(0)
    for value, mass in source.items():
        cost += integrate_quantile(target, level, level + mass, power=2, shift=value)
        level += mass
    return float(cost)


# ---- Finite differences ------------------------------------------------------------------------------------------


def move(values, rows, by):
    moved = np.array(values, dtype=np.float64)
    moved[rows] += by
    return moved


def one_sided_gradient(function, values, rows, steps):
    """Return the paper's oracle: the difference quotient of moving ``rows`` by each step, averaged over the steps."""
    start = function(values)
    return float(np.mean([(function(move(values, rows, step)) - start) / step for step in steps]))


def extrapolated_gradient(function, values, rows, step):
    """Return the one-sided difference quotient without its error of first order in the step."""
    near = one_sided_gradient(function, values, rows, [step / 2])
    return 2 * near - one_sided_gradient(function, values, rows, [step])


def one_sided_hessian(function, values, row, step):
    """Return the second difference of moving one row (paper, proof of Proposition 1)."""
    here, near, far = (function(move(values, row, k * step)) for k in range(3))
    return (far - 2 * near + here) / step**2


def mixed_hessian(function, values, step):
    """Return the matrix of one-sided second derivatives: to the left in i, to the right in j (right twice if i = j)."""
    n = len(values)
    here = function(values)
    left = np.array([function(move(values, i, -step)) for i in range(n)])
    right = np.array([function(move(values, j, step)) for j in range(n)])
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                matrix[i, i] = one_sided_hessian(function, values, i, step)
            else:
                both = function(move(move(values, i, -step), j, step))
                matrix[i, j] = -(both - left[i] - right[j] + here) / step**2
    return matrix


def central_gradient(function, values, step=1e-5):
    """Return the gradient by central differences."""
    return np.array(
        [(function(move(values, i, step)) - function(move(values, i, -step))) / (2 * step) for i in range(len(values))]
    )


# ---- Smoothed maps -----------------------------------------------------------------------------------------------


class SmoothedSample:
    """SciPy's kernel density estimate; bandwidths are factors of the standard deviation without its correction."""

    def __init__(self, values, weight, bandwidth):
        weight = normalise(weight, len(values))
        # gaussian_kde multiplies its factor by the bias-corrected deviation; undo the correction.
        self.kde = stats.gaussian_kde(values, bw_method=bandwidth * np.sqrt(1 - np.sum(weight**2)), weights=weight)
        self.reach = np.max(np.abs(values)) + 40 * np.sqrt(self.kde.covariance[0, 0])

    def level(self, value):
        return self.kde.integrate_box_1d(-np.inf, value)

    def quantile(self, level):
        return optimize.brentq(lambda value: self.level(value) - level, -self.reach, self.reach, xtol=1e-12)


# ---- The penalty -------------------------------------------------------------------------------------------------


def score_of(raw, focus=1.0, threshold=0.5):
    """Return the probability, sharpened around the threshold."""
    origin = np.log(threshold / (1 - threshold)) if focus != 1 else 0.0
    return expit(focus * (raw - origin))


def group_distance(samples, multi_group, shares):
    """Return D of one stratum; ``samples`` are (values, weights) of each group, ``shares`` sum to 1."""
    if multi_group == "one_vs_rest":
        total = 0.0
        for g, (values, weight) in enumerate(samples):
            others = [sample for h, sample in enumerate(samples) if h != g]
            rest, rest_weight = (np.concatenate(parts) for parts in zip(*others, strict=True))
            total += shares[g] * pot_distance(values, rest, weight, rest_weight)
        return total
    pairs = list(combinations(range(len(samples)), 2))
    together = np.array([shares[g] * shares[h] for g, h in pairs])
    costs = [pot_distance(samples[g][0], samples[h][0], samples[g][1], samples[h][1]) for g, h in pairs]
    return float(together @ costs / together.sum())


def slow_penalty(score, groups, strata, weight, *, multi_group, group_weighting):
    """Return sum_k pi_k D_k from the definitions; groups and strata of -1 are not compared."""
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, np.float64)
    total = 0.0
    for stratum in sorted(set(strata) - {-1}):
        members = [(strata == stratum) & (groups == group) for group in sorted(set(groups) - {-1})]
        members = [rows for rows in members if weight[rows].sum() > 0]
        if len(members) < 2:
            continue
        masses = np.array([weight[rows].sum() for rows in members])
        shares = np.ones(len(masses)) if group_weighting == "equal" else masses
        samples = [(score[rows], weight[rows]) for rows in members]
        total += masses.sum() / weight.sum() * group_distance(samples, multi_group, shares / shares.sum())
    return total
