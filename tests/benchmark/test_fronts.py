"""Pareto fronts and hypervolumes against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from otfairboost.benchmark.fronts import hypervolume, pareto_front

# Few distinct values, so that ties occur.
coordinates = st.integers(-2, 6).map(lambda value: value / 4)
point_sets = st.lists(st.tuples(coordinates, coordinates), max_size=12)


def dominates(a, b):
    return a[0] >= b[0] and a[1] >= b[1] and a != b


@given(point_sets)
def test_front_is_what_nothing_dominates(points):
    front = pareto_front(points)
    expected = {p for p in points if not any(dominates(q, p) for q in points)}
    assert len(front) == len(expected)
    assert {points[i] for i in front} == expected
    assert [points[i][0] for i in front] == sorted((p[0] for p in expected), reverse=True)
    assert all(points.index(points[i]) == i for i in front)  # the first of equal ones


@given(point_sets, st.tuples(coordinates, coordinates))
def test_hypervolume_counts_cells(points, reference):
    # Coordinates are multiples of 1/4: count the cells of that size that some point covers.
    centres = np.arange(-2, 6) / 4 + 1 / 8
    covered = sum(
        any(reference[0] < x <= p[0] and reference[1] < y <= p[1] for p in points) for x in centres for y in centres
    )
    assert hypervolume(points, reference) == pytest.approx(covered / 16)


def test_missing_coordinates_are_left_out():
    points = [(np.nan, 0.9), (0.5, 0.5), (0.7, np.nan)]
    assert_array_equal(pareto_front(points), [1])
    assert hypervolume(points) == 0.25


def test_nothing_reaches_nothing():
    assert len(pareto_front([])) == 0
    assert hypervolume([]) == 0.0
