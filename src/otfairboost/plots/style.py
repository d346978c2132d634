"""How every plot looks: colours that any colour vision and a printer tell apart, quiet axes."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from otfairboost.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
"""Distinguishable with any colour vision, and in print (Okabe and Ito)."""

DASHES = ("solid", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)))
"""A second cue besides the colour; with the palette it tells 32 lines apart."""

MUTED = "0.35"


def line_styles(count: int) -> Iterator[dict[str, Any]]:
    """Yield the colour and dashes of each of ``count`` lines."""
    pairs: list[dict[str, Any]] = [{"color": colour, "linestyle": dash} for dash in DASHES for colour in PALETTE]
    return islice(cycle(pairs), count)


def new_figure(n_panels: int = 1, *, width: float = 5.4, height: float = 3.9, n_rows: int = 1) -> "Figure":
    """Return an empty figure of ``n_rows`` rows with ``n_panels`` panels each; it needs no display."""
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    return Figure(figsize=(width * n_panels, height * n_rows), layout="constrained", dpi=150)


def new_axes() -> "Axes":
    """Return the only panel of a new figure, which is its ``figure`` attribute."""
    return new_figure().subplots()


def finish(panel: "Axes", *, xlabel: str = "", ylabel: str = "", title: str = "", legend: bool = True) -> "Axes":
    """Label a panel, take away the ink that says nothing, and return it."""
    panel.set_xlabel(xlabel)
    panel.set_ylabel(ylabel)
    if title:
        panel.set_title(title, fontsize=11, loc="left")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="0.9", linewidth=0.8)
    panel.set_axisbelow(True)
    if legend and panel.get_legend_handles_labels()[0]:
        panel.legend(frameon=False, fontsize=9)
    return panel
