"""Latent normal correlations that give the published correlations after the columns' own transforms.

A column is f(Z) with Z standard normal. In Hermite polynomials f = sum_k a_k h_k, and for two columns whose latent
variables have correlation r, cov(f(Z), g(Z')) = sum_k a_k b_k r^k: a polynomial in r to be inverted, pair by pair.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr

from otfairboost.datasets.fairjob_simulation.marginals import Marginal

Array = NDArray[np.float64]

N_HERMITE = 120
"""Order of the expansion. Heavy tails need many terms once the latent correlation is near 1."""

LARGEST_CORRELATION = 0.995
"""Bound of the latent correlations: a pair that would need more is left at what this gives."""

SMALLEST_EIGENVALUE = 1e-3
"""Bound of the latent correlation matrix, which is factorised and inverted."""


def latent_correlation(columns: Mapping[str, Marginal], target: Array) -> Array:
    """Return the latent correlation matrix of a Gaussian copula.

    Parameters
    ----------
    columns : mapping of str to Marginal
        Distributions of the columns, in the order of ``target``.
    target : float array of shape (n_columns, n_columns)
        Pearson correlations of the columns themselves.

    Returns
    -------
    float array of shape (n_columns, n_columns)
        Positive definite, ones on the diagonal. Pair by pair every target can be met, but the solutions together
        need not be a correlation matrix: the one whose columns' correlations are nearest to ``target`` in the sum
        of squares is returned.
    """
    coefficients = np.stack([_hermite_coefficients(marginal) for marginal in columns.values()])
    first, second = np.triu_indices(len(coefficients), 1)
    products = coefficients[first] * coefficients[second]
    pairwise = _invert(products, target[first, second])
    latent = np.eye(len(coefficients))
    latent[first, second] = latent[second, first] = pairwise
    return _nearest_attainable(products, target[first, second], latent)


def _hermite_coefficients(marginal: Marginal) -> Array:
    """Return a_1..a_K of the standardised column in the normalised Hermite polynomials."""
    z = np.linspace(-8, 8, 32001)
    density = np.exp(-(z**2) / 2)
    density /= density.sum()
    value = marginal.quantile(ndtr(z))
    value -= density @ value
    value /= np.sqrt(density @ value**2)
    weighted = density * value
    coefficients = np.empty(N_HERMITE)
    before, now = np.ones_like(z), z
    for k in range(1, N_HERMITE + 1):
        coefficients[k - 1] = weighted @ now
        before, now = now, (z * now - np.sqrt(k) * before) / np.sqrt(k + 1)
    return coefficients


def _invert(products: Array, target: Array) -> Array:
    """Solve sum_k c_k r^k = target for r in each row, by bisection."""
    low = np.full(len(target), -LARGEST_CORRELATION)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        below = _polynomial(products, middle)[0] < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _polynomial(products: Array, r: Array) -> tuple[Array, Array]:
    """Evaluate sum_k c_k r^k and its derivative by Horner's rule."""
    value, slope = np.zeros_like(r), np.zeros_like(r)
    for k in range(products.shape[1] - 1, -1, -1):
        slope = slope * r + value + products[:, k]
        value = (value + products[:, k]) * r
    return value, slope


def _nearest_attainable(products: Array, target: Array, start: Array) -> Array:
    """Minimise the squared errors of the columns' correlations over latent correlation matrices.

    A matrix is written as x_i . x_j with vectors of length 1, which makes it positive semidefinite whatever the
    vectors are; a small multiple of the identity keeps it definite.
    """
    n = len(start)
    first, second = np.triu_indices(n, 1)
    eigenvalues, basis = np.linalg.eigh(start)
    vectors = basis * np.sqrt(np.maximum(eigenvalues, SMALLEST_EIGENVALUE))

    def loss(flat: Array) -> tuple[float, Array]:
        length = np.linalg.norm(flat.reshape(n, n), axis=1, keepdims=True)
        unit = flat.reshape(n, n) / length
        latent = (1 - SMALLEST_EIGENVALUE) * (unit @ unit.T)[first, second]
        value, slope = _polynomial(products, latent)
        error = value - target
        pull = np.zeros((n, n))
        pull[first, second] = 2 * (1 - SMALLEST_EIGENVALUE) * error * slope
        gradient = (pull + pull.T) @ unit
        gradient -= unit * (gradient * unit).sum(axis=1, keepdims=True)
        return float(error @ error), (gradient / length).ravel()

    solution = minimize(loss, vectors.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    unit = solution.x.reshape(n, n)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    latent = (1 - SMALLEST_EIGENVALUE) * unit @ unit.T
    np.fill_diagonal(latent, 1.0)
    return latent
