r"""Losses whose best constant is a quantile: absolute error, pinball loss, absolute percentage error.

LightGBM renews each leaf to the quantile of its residuals, which a custom objective cannot. Instead a leaf's value is a
step towards that quantile, as in iteratively reweighted least squares. With :math:`r = F - y`, :math:`\alpha` the
quantile's level, :math:`q = 4 \alpha (1 - \alpha)` and :math:`s` the unit below, the hessian is

.. math:: \frac{q}{2 \max(|r|,\; 0.3\, q^2 s)}

For the median, :math:`q = 1`, and large residuals that is the curvature of the quadratic that touches the loss and lies
above it. The bound was chosen so that training and test errors follow those of LightGBM from 30 to 300 trees; without
one, leaves move too slowly. ``docs/losses.md`` says by how much they differ. The gradient is the sign of the residual,
smoothed below a hundredth of the unit.

The unit :math:`s` is the target's mean absolute deviation from that quantile. The losses are multiplied by it, so that
both they and the squared distance of the penalty are in the square of the target's unit, and a fairness weight means
the same whether the target is in cents or in dollars.
"""

import numpy as np
from numba import njit

from otfairboost.losses.base import Array, Float32, Float64, Loss, weighted_mean, weighted_quantile


class QuantileLoss(Loss):
    r"""Pinball loss times a constant unit, :math:`2 s \max(\alpha (y - F), (1 - \alpha) (F - y))`.

    Parameters
    ----------
    unit : float
        :math:`s`.
    alpha : float
        The quantile to predict. The factor 2 makes 0.5 the absolute error.
    """

    name = "quantile"

    def __init__(self, unit: float, alpha: float = 0.9) -> None:
        if not 0 < alpha < 1:
            raise ValueError(f"alpha={alpha!r} of objective={self.name!r} must be a number between 0 and 1")
        self.unit = float(unit) if unit > 0 else 1.0
        self.alpha = float(alpha)

    @classmethod
    def for_target(cls, y: Float32, weight: Float32, alpha: float = 0.9) -> "QuantileLoss":
        """Return the loss with the unit of this target."""
        level = weighted_quantile(y, weight, cls(1.0, alpha).alpha)
        return cls(weighted_mean(np.abs(y - level).astype(np.float32), weight), alpha)

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the weighted quantile."""
        return weighted_quantile(y, weight, self.alpha)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write the residual's sign, tilted, and the curvature described above."""
        _tilted(y, response, weight, self.unit, self.alpha, False, 2.0 * self.unit, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the pinball loss of each row, times twice the unit."""
        residual = raw - y
        return 2.0 * self.unit * np.maximum((1.0 - self.alpha) * residual, -self.alpha * residual)


class AbsoluteError(QuantileLoss):
    r"""Absolute error times a constant unit, :math:`s\,|F - y|`."""

    name = "regression_l1"

    def __init__(self, unit: float, alpha: float = 0.5) -> None:
        super().__init__(unit, alpha)

    @classmethod
    def for_target(cls, y: Float32, weight: Float32, alpha: float = 0.5) -> "AbsoluteError":
        """Return the loss with the unit of this target."""
        return cls(QuantileLoss.for_target(y, weight, alpha).unit)


class PercentageError(Loss):
    r"""Absolute percentage error times a unit: :math:`s\,v(y)\,|F - y|` with :math:`v \propto 1 / \max(1, |y|)`.

    Parameters
    ----------
    unit : float
        :math:`s`, the mean absolute deviation from the median, both by the weights :math:`v`.
    mean_inverse : float
        The mean of :math:`1 / \max(1, |y|)`, by which :math:`v` has mean 1.
    """

    name = "mape"

    def __init__(self, unit: float, mean_inverse: float = 1.0) -> None:
        self.unit = float(unit) if unit > 0 else 1.0
        self._factor = self.unit / mean_inverse

    @classmethod
    def for_target(cls, y: Float32, weight: Float32) -> "PercentageError":
        """Return the loss with the unit of this target."""
        inverse = _inverse_size(y, weight)
        deviation = np.abs(y - weighted_quantile(y, inverse, 0.5))
        return cls(float(np.average(deviation, weights=inverse)), weighted_mean(_inverse_size(y), weight))

    def initial_score(self, y: Float32, weight: Float32) -> float:
        """Return the median by the weights over the targets' size."""
        return weighted_quantile(y, _inverse_size(y, weight), 0.5)

    def write_derivatives(self, y: Float32, response: Float64, weight: Float32, grad: Float32, hess: Float32) -> None:
        """Write the residual's sign over the target's size, and the curvature described above."""
        _tilted(y, response, weight, self.unit, 0.5, True, 2.0 * self._factor, grad, hess)

    def row_values(self, y: Float32, raw: Float64) -> Float64:
        """Return the loss of each row."""
        return self._factor * np.abs(raw - y) / np.maximum(np.abs(y), 1.0)


def _inverse_size(y: Float32, weight: Array | None = None) -> Float32:
    inverse = (1.0 / np.maximum(np.abs(y), 1.0)).astype(np.float32)
    return inverse * weight if weight is not None and len(weight) else inverse


@njit(nogil=True, cache=True)
def _tilted(
    y: Array, response: Array, weight: Array, unit: float, alpha: float, relative: bool, factor: float,
    grad: Array, hess: Array,
) -> None:  # fmt: skip
    weighted = len(weight) > 0
    q = 4.0 * alpha * (1.0 - alpha)
    near, flat = 0.01 * unit, 0.3 * q * q * unit
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        size = abs(y[i])
        k = w * factor / (size if size > 1.0 else 1.0) if relative else w * factor
        r = response[i] - y[i]
        distance = abs(r)  # compared by hand: max would have to care about NaN, and cost ten times as much
        grad[i] = k * (0.5 * r / (distance if distance > near else near) + (0.5 - alpha))
        hess[i] = k * 0.5 * q / (distance if distance > flat else flat)
