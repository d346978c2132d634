"""LightGBM's metrics, computed from responses under LightGBM's names.

LightGBM itself would compute them from raw predictions without link and offset, which is all it knows of a custom
objective. The formulas are those of its ``src/metric``, limits for the logarithm included.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


class Constants(NamedTuple):
    """LightGBM parameters that its metrics read."""

    alpha: float = 0.9
    fair_c: float = 1.0
    tweedie_variance_power: float = 1.5
    multi_error_top_k: float = 1.0


class NativeMetric(NamedTuple):
    """One metric.

    Attributes
    ----------
    name : str
        LightGBM's main name.
    row_values : callable
        ``row_values(y, response, constants)`` gives the value of each row.
    finish : callable
        ``finish(mean, y, weight)`` makes the metric of the weighted mean.
    greater_is_better : bool
    """

    name: str
    row_values: Callable[[Float, Float, Constants], Float]
    finish: Callable[[float, Float, Float | None], float] = lambda mean, y, weight: mean
    greater_is_better: bool = False

    def compute(self, y: Float, response: Float, weight: Float | None, constants: Constants) -> float:
        """Return the metric of these rows."""
        mean = float(np.average(self.row_values(y, response, constants), weights=weight))
        return float(self.finish(mean, y, weight))


def _log_loss(y: Float, p: Float, edge: float) -> Float:
    return -np.log(np.maximum(np.where(y > 0, p, 1.0 - p), edge))


def _cross_entropy(y: Float, p: Float, _: Constants) -> Float:
    """Return the log-loss of shares; of 0 and 1 the usual one."""
    return -y * np.log(np.maximum(p, 1e-12)) - (1.0 - y) * np.log(np.maximum(1.0 - p, 1e-12))


def _divergence(y: Float, p: Float, c: Constants) -> Float:
    return _cross_entropy(y, p, c) - _cross_entropy(y, y, c)


def _huber(y: Float, z: Float, c: Constants) -> Float:
    d = np.abs(z - y)
    return np.where(d <= c.alpha, 0.5 * d * d, c.alpha * (d - 0.5 * c.alpha))


def _fair(y: Float, z: Float, c: Constants) -> Float:
    d = np.abs(z - y)
    return c.fair_c * d - c.fair_c**2 * np.log1p(d / c.fair_c)


def _poisson(y: Float, z: Float, _: Constants) -> Float:
    z = np.maximum(z, 1e-10)
    return z - y * np.log(z)


def _tweedie(y: Float, z: Float, c: Constants) -> Float:
    z, rho = np.maximum(z, 1e-10), c.tweedie_variance_power
    return z ** (2.0 - rho) / (2.0 - rho) - y * z ** (1.0 - rho) / (1.0 - rho)


def _gamma(y: Float, z: Float, _: Constants) -> Float:
    return y / z + np.log(z, out=np.full_like(z, -np.inf), where=z > 0)


def _gamma_deviance(y: Float, z: Float, _: Constants) -> Float:
    ratio = y / (z + 1e-9)
    return ratio - np.log(ratio, out=np.full_like(ratio, -np.inf), where=ratio > 0) - 1.0


def _own_probability(y: Float, p: Float) -> Float:
    """Return each row's probability of its own class."""
    return p[np.arange(len(y)), y.astype(np.intp)]


def _class_log_loss(y: Float, p: Float, _: Constants) -> Float:
    return -np.log(np.maximum(_own_probability(y, p), 1e-15))


def _class_error(y: Float, p: Float, c: Constants) -> Float:
    """Return whether a row's own class is not among the ``multi_error_top_k`` most probable; equal ones count."""
    at_least = (p >= _own_probability(y, p)[:, None]).sum(axis=1)
    return (at_least > c.multi_error_top_k).astype(np.float64)


def _explained(mean: float, y: Float, weight: Float | None) -> float:
    return 1.0 - mean / float(np.average(np.square(y - np.average(y, weights=weight)), weights=weight))


def _total_deviance(mean: float, y: Float, weight: Float | None) -> float:
    return 2.0 * mean * (len(y) if weight is None else float(weight.sum()))  # LightGBM's is a sum


_ANY_TARGET = {
    NativeMetric("l1", lambda y, z, _: np.abs(z - y)): ("mean_absolute_error", "mae", "regression_l1"),
    NativeMetric("l2", lambda y, z, _: np.square(z - y)): (
        "mean_squared_error", "mse", "regression", "regression_l2",
    ),
    NativeMetric("rmse", lambda y, z, _: np.square(z - y), lambda mean, *_: mean**0.5): (
        "root_mean_squared_error", "l2_root",
    ),
    NativeMetric("r2", lambda y, z, _: np.square(z - y), _explained, True): (),
    NativeMetric("mape", lambda y, z, _: np.abs(z - y) / np.maximum(1.0, np.abs(y))): (
        "mean_absolute_percentage_error",
    ),
    NativeMetric("quantile", lambda y, z, c: np.maximum(c.alpha * (y - z), (c.alpha - 1.0) * (y - z))): (),
    NativeMetric("huber", _huber): (),
    NativeMetric("fair", _fair): (),
    NativeMetric("poisson", _poisson): (),
    NativeMetric("tweedie", _tweedie): (),
}  # fmt: skip
_BINARY = {
    NativeMetric("binary_logloss", lambda y, p, _: _log_loss(y, p, 1e-15)): (
        "binary",
        "logloss",
        "multi_logloss",
    ),
    NativeMetric("binary_error", lambda y, p, _: ((p > 0.5) != (y > 0)).astype(np.float64)): ("error", "multi_error"),
}
_SEVERAL_CLASSES = {
    NativeMetric("multi_logloss", _class_log_loss): ("multiclass", "softmax", "logloss", "binary_logloss"),
    NativeMetric("multi_error", _class_error): ("error", "binary_error"),
}
_SHARES = {
    NativeMetric("cross_entropy", _cross_entropy): ("xentropy",),
    NativeMetric("kullback_leibler", _divergence): ("kldiv",),
}
_POSITIVE = {
    NativeMetric("gamma", _gamma): (),
    NativeMetric("gamma_deviance", _gamma_deviance, _total_deviance): (),
}


def _by_alias(table: dict[NativeMetric, tuple[str, ...]]) -> dict[str, NativeMetric]:
    return {name: metric for metric, aliases in table.items() for name in (metric.name, *aliases)}


CLASSIFIER_METRICS = _by_alias(_ANY_TARGET | _BINARY | _SHARES)
MULTICLASS_METRICS = _by_alias(_SEVERAL_CLASSES)
REGRESSOR_METRICS = _by_alias(_ANY_TARGET | _POSITIVE | _SHARES)
