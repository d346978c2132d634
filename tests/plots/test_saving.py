from matplotlib.figure import Figure

from otfairboost.plots.saving import save_figure


def draw():
    figure = Figure()
    figure.subplots().scatter([1, 2], [3, 4])
    return figure


def test_the_same_figure_is_the_same_file(tmp_path):
    first, second = save_figure(draw(), tmp_path / "a" / "v1.2"), save_figure(draw(), tmp_path / "b" / "v1.2")
    assert [path.name for path in first] == ["v1.2.png", "v1.2.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
