import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otfairboost.metrics import METRICS
from otfairboost.selection.points import FrontierNumbers, FrontierPoint, knee_point, pareto_points

PRECISION, ERROR = METRICS["average_precision"], METRICS["mean_absolute_error"]
SIXTEENTHS = st.integers(0, 16).map(lambda i: i / 16)  # so that ties occur


def make_points(pairs):
    return [FrontierPoint(float(i), performance, gap, {}, i) for i, (performance, gap) in enumerate(pairs)]


@given(st.lists(st.tuples(SIXTEENTHS, SIXTEENTHS), min_size=1, max_size=12), st.booleans())
def test_the_front_is_what_nothing_dominates(pairs, is_loss):
    points = make_points(pairs)
    front = pareto_points(points, ERROR if is_loss else PRECISION)

    def dominates(a, b):
        better = a.performance <= b.performance if is_loss else a.performance >= b.performance
        return better and a.gap <= b.gap and (a.performance, a.gap) != (b.performance, b.gap)

    wanted = {(p.performance, p.gap) for p in points if not any(dominates(q, p) for q in points)}
    assert [(p.performance, p.gap) for p in front] == sorted(wanted, key=lambda pair: pair[1])
    for point in front:  # of equal ones the smallest weight
        assert not any(q[1:3] == point[1:3] and q.fairness_weight < point.fairness_weight for q in points)


def test_the_knee_is_farthest_from_the_line_between_the_ends():
    front = make_points([(0.60, 0.00), (0.70, 0.02), (0.79, 0.05), (0.80, 0.20)])
    ends = np.array([[0.0, 0.60], [0.20, 0.80]])
    scaled = [np.array([(p.gap - ends[0, 0]) / 0.2, (p.performance - ends[0, 1]) / 0.2]) for p in front]
    distance = [abs(x - y) / np.sqrt(2) for x, y in scaled]
    assert knee_point(front, PRECISION) == front[int(np.argmax(distance))] == front[2]


@pytest.mark.parametrize("pairs", [[(0.5, 0.1)], [(0.5, 0.1), (0.6, 0.2)]])
def test_short_fronts_have_a_knee(pairs):
    front = make_points(pairs)
    assert knee_point(front, PRECISION) in front


def test_numbers_as_columns():
    values = np.arange(12.0).reshape(2, 3, 2)
    numbers = FrontierNumbers(np.array([0.0, 5.0]), (PRECISION, METRICS["kolmogorov_smirnov"]), values)
    columns = numbers.columns()
    for weight, fold, metric, value in zip(*columns.values(), strict=True):
        i, j = [0.0, 5.0].index(weight), ["average_precision", "kolmogorov_smirnov"].index(metric)
        assert values[i, fold, j] == value
    assert len(columns["value"]) == 12


def test_weights_without_numbers_are_no_points():
    values = np.ones((3, 2, 2))
    values[1, 0, 1] = np.nan
    numbers = FrontierNumbers(np.array([0.0, 1.0, 2.0]), (PRECISION, METRICS["kolmogorov_smirnov"]), values)
    points = numbers.points("average_precision", "kolmogorov_smirnov")
    assert [(point.fairness_weight, point.position) for point in points] == [(0.0, 0), (2.0, 2)]
    assert points[0].metrics == {"average_precision": 1.0, "kolmogorov_smirnov": 1.0}
    with pytest.raises(ValueError, match=r"^gap='roc_auc' was not computed; computed were 'average_precision', 'kolm"):
        numbers.find("gap", "roc_auc")
