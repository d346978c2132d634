import doctest

import numpy as np
import pytest

from metric_rows import OF_TWO, PERFORMANCE, make_rows, prediction
from otfairboost import metrics


def control_of(metric, n_rows):
    return {"control_features": np.arange(n_rows) % 3} if metric.needs_control else {}


def test_registry():
    y, decision, score, group, weight = make_rows(15)
    for name, metric in OF_TWO.items():
        assert metric == metrics.get_metric(name)
        assert metric.name == name == metric.function.__name__
        y_pred = prediction(name, decision, score)
        value = metric.function(y, y_pred, sensitive_features=group, sample_weight=weight, **control_of(metric, len(y)))
        assert np.isfinite(value)


def test_registry_directions():
    """A perfect and fair prediction is at least as good as any other by every metric."""
    y, decision, score, group, weight = make_rows(16)
    y, decision, score = np.tile(y, 2), np.tile(decision, 2), np.tile(score, 2)
    copies, weight = np.repeat(["left", "right"], len(y) // 2), np.tile(weight, 2)
    for name, metric in OF_TWO.items():
        control = control_of(metric, len(y) // 2)
        control = {key: np.tile(value, 2) for key, value in control.items()}
        best = metric.function(y, prediction(name, y, y.astype(float)), sensitive_features=copies, **control)
        other = metric.function(
            y, prediction(name, decision, score), sensitive_features=np.tile(group, 2), sample_weight=weight, **control
        )
        assert best > other if metric.greater_is_better else best < other, name


def test_registry_knows_who_needs_groups():
    y, decision, score, _, _ = make_rows(17)
    for name, metric in OF_TWO.items():
        y_pred = prediction(name, decision, score)
        if metric.needs_groups:
            with pytest.raises(TypeError, match="sensitive_features"):
                metric.function(y, y_pred)
        else:
            assert np.isfinite(metric.function(y, y_pred))
    assert {name for name, metric in OF_TWO.items() if not metric.needs_groups} == set(PERFORMANCE)


def test_example_of_the_module():
    assert doctest.testmod(metrics).attempted > 0
    assert doctest.testmod(metrics).failed == 0
