"""Figures as files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from otfairboost.extras import require
from otfairboost.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# No date and no random names: the same figure is the same file.
_METADATA: dict[str, dict[str, str | None]] = {".png": {"Software": None}, ".svg": {"Date": None}}


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> list[Path]:
    """Write a figure as PNG and SVG; return the paths.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path
        Without a suffix.
    """
    matplotlib = require("matplotlib", "plot")
    written = []
    for suffix, metadata in _METADATA.items():
        target = Path(f"{os.fspath(path)}{suffix}")
        with replacing(target) as temporary, matplotlib.rc_context({"svg.hashsalt": "otfairboost"}):
            figure.savefig(temporary, metadata=metadata)
        written.append(target)
    return written
