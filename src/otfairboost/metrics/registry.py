"""The metrics by name, and what a caller has to know to use one.

A new metric is one function with :func:`register` on top, in a module that the package imports.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from otfairboost.metrics.inputs import check_choice

Function = TypeVar("Function", bound=Callable[..., float])


class Metric(NamedTuple):
    """A metric and how to use it.

    Attributes
    ----------
    name : str
        Its name in ``METRICS``.
    function : callable
        ``function(y_true, y_pred, sensitive_features=..., sample_weight=...) -> float``.
    kind : {"label", "score"}
        Whether ``y_pred`` are decisions or scores.
    greater_is_better : bool
        The direction of improvement.
    needs_groups : bool
        Whether it compares groups. The others take ``sensitive_features`` too, and ignore it.
    classes : {"two", "many", "any"}
        Of how many classes ``y_pred`` may be. Those of two take decisions or one score for each row; score metrics of
        many take probabilities of shape (n_rows, n_classes). Regressors have those of two.
    """

    name: str
    function: Callable[..., float]
    kind: Literal["label", "score"]
    greater_is_better: bool
    needs_groups: bool = True
    classes: Literal["two", "many", "any"] = "two"

    @property
    def needs_control(self) -> bool:
        """Return whether it compares groups among rows of equal control features."""
        parameter = signature(self.function).parameters.get("control_features")
        return parameter is not None and parameter.default is Parameter.empty

    def from_scores(
        self,
        y_true: Any,
        score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        threshold: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> float:
        """Return the metric of scores.

        Label metrics see the decisions ``score >= threshold``; a metric that has a threshold of its own is told it.
        None leaves both as they are, for regression. Of scores of shape (n_rows, n_classes) the largest decides:
        ``y_true`` are then the numbers of the classes. Of ``options``, such as ``control_features``, ``target_bins``,
        ``top`` or ``attribute_weights``, a metric is given those that it has.
        """
        parameters = signature(self.function).parameters
        extra = {name: value for name, value in (options or {}).items() if name in parameters}
        if self.needs_control and extra.get("control_features") is None:
            raise ValueError(f"{self.name} needs control_features, which are missing")
        if np.ndim(score) == 2:
            score = np.argmax(score, axis=1).astype(np.float64) if self.kind == "label" else score
        elif threshold is not None and self.kind == "label":
            score = (np.asarray(score) >= threshold).astype(np.float64)
        elif threshold is not None and "threshold" in parameters:
            extra["threshold"] = threshold
        if self.needs_groups or "sensitive_features" in parameters:
            extra["sensitive_features"] = sensitive_features
        if sample_weight is not None:
            extra["sample_weight"] = sample_weight
        return float(self.function(y_true, score, **extra))


METRICS: dict[str, Metric] = {}
"""All metrics by name."""


def register(
    kind: Literal["label", "score"],
    *,
    greater_is_better: bool,
    needs_groups: bool,
    classes: Literal["two", "many", "any"] = "two",
) -> Callable[[Function], Function]:
    """Return a decorator that lists a function in ``METRICS`` under its own name."""

    def listed(function: Function) -> Function:
        name = function.__name__
        METRICS[name] = Metric(name, function, kind, greater_is_better, needs_groups, classes)
        return function

    return listed


def get_metric(name: str) -> Metric:
    """Return the metric of that name; an unknown one is an error that lists the known."""
    check_choice("metric", name, METRICS)
    return METRICS[name]


def find_metric(argument: str, metric: Any, *, greater_is_better: bool, needs_groups: bool) -> Metric:
    """Resolve a name, a Metric or a function.

    A function that is not in ``METRICS`` is taken to compare scores, and to be as the keywords say.
    """
    if isinstance(metric, str):
        check_choice(argument, metric, METRICS)
        return METRICS[metric]
    if isinstance(metric, Metric):
        return metric
    if not callable(metric):
        raise TypeError(f"{argument} is a {type(metric).__name__}; allowed are a name, a Metric and a function")
    for known in METRICS.values():
        if known.function is metric:
            return known
    return Metric(getattr(metric, "__name__", repr(metric)), metric, "score", greater_is_better, needs_groups)
