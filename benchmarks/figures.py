"""Figures with limits: collected, printed one per line, written as JSON."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from otfairboost.files import replacing


class Figure(NamedTuple):
    """One measured figure.

    Attributes
    ----------
    name : str
    value : float
    limit : float or None
        None: reported only.
    at_least : bool
        Whether the limit is a lower one.
    detail : str
        How it was measured.
    """

    name: str
    value: float
    limit: float | None
    at_least: bool = False
    detail: str = ""

    @property
    def verdict(self) -> str:
        """Return ok, short, or - where there is no limit."""
        if self.limit is None:
            return "-"
        return "ok" if (self.value >= self.limit if self.at_least else self.value <= self.limit) else "short"

    def line(self) -> str:
        """Return the figure as ``name value limit verdict``."""
        limit = "-" if self.limit is None else f"{'>=' if self.at_least else '<='}{self.limit:g}"
        return f"{self.name} {self.value:.4g} {limit} {self.verdict}"


def write_figures(figures: list[Figure], path: str | Path, **settings: Any) -> None:
    """Write figures with the machine and versions they were measured on."""
    record = {
        "settings": settings,
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "python": platform.python_version()},
        "versions": {name: version(name) for name in ("otfairboost", "lightgbm", "numpy", "numba", "scikit-learn")},
        "figures": [{**figure._asdict(), "verdict": figure.verdict} for figure in figures],
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(record, indent=2) + "\n")
