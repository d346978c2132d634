import numpy as np
import pytest

from otfairboost.plots.method_scatter import MethodSeries, ScatterInfo, overall_front, plot_method_scatter


def series(label, points, *, emphasis=False, reference=False):
    array = np.array(points, dtype=float)
    return MethodSeries(label, "#112233", "o", emphasis, reference, array, array[:1], array)


def info(*shown, x_is_good=True):
    return ScatterInfo("title", "note", "x", "y", x_is_good, shown)


@pytest.mark.parametrize("x_is_good", [True, False])
def test_overall_front_against_loops(x_is_good):
    rng = np.random.default_rng(0)
    for _ in range(30):
        shown = info(*(series(str(i), rng.integers(0, 5, (6, 2))) for i in range(3)), x_is_good=x_is_good)
        points = [tuple(p) for one in shown.series for p in one.front]
        sign = 1 if x_is_good else -1

        def dominates(a, b, sign=sign):
            return sign * a[0] >= sign * b[0] and a[1] <= b[1] and a != b

        expected = [p for p in points if not any(dominates(q, p) for q in points)]
        assert [tuple(p) for p in overall_front(shown)] == expected


def test_steps_show_what_is_reached():
    """Between two points of a front one has to put up with the gap of the one that performs better."""
    for x_is_good, style in ((True, "steps-pre"), (False, "steps-post")):
        shown = info(series("a", [(1, 2), (3, 4)]), x_is_good=x_is_good)
        line = plot_method_scatter([shown]).axes[0].lines[0]
        assert line.get_drawstyle() == style


def test_one_panel_has_a_close_up_and_several_have_not():
    shown = info(series("far", [(-50, 40), (-40, 60)]), series("near", [(1, 2), (3, 4)], emphasis=True))
    plain = series("plain", [(9, 90)], reference=True)
    whole, close = plot_method_scatter([shown._replace(series=(*shown.series, plain))]).axes
    assert whole.get_ylim()[1] > 90
    assert whole.get_xlim()[0] < -50
    assert close.get_xlim() == pytest.approx((1 - 0.24, 3 + 0.24))
    assert close.get_ylim()[1] == pytest.approx(4.48)
    figure = plot_method_scatter([shown, shown, shown])
    assert [axes.get_xlim()[0] < -50 for axes in figure.axes] == [True] * 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["far", "near"]
