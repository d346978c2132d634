import numpy as np

from otfairboost.plots.weight_curves import Curve, CurvePanel, Reference, WeightCurvesInfo, plot_weight_curves


def test_curves_bands_and_references():
    weights, mean = np.array([0.1, 1.0, 10.0]), np.array([70.0, 72.0, 71.0])
    panel = CurvePanel("PR AUC", (Curve("ours", "#aa0000", mean, np.ones(3)),), (Reference("plain", "#000000", 75.0),))
    figure = plot_weight_curves(WeightCurvesInfo("title", "note", weights, (panel, panel._replace(label="gap"))))
    assert [axes.get_title("left") for axes in figure.axes] == ["PR AUC", "gap"]
    curve, reference = figure.axes[0].lines
    assert curve.get_xydata().tolist() == np.stack([weights, mean], axis=1).tolist()
    assert set(reference.get_ydata()) == {75.0}
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (69.0, 73.0)
    assert figure.axes[0].get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ours", "plain"]
