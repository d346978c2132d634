"""Figures with limits: measured by name, printed one per line, written as JSON."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
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


Measurement = Callable[..., Iterator[Figure]]


def make_parser(description: str | None, measurements: Sequence[Measurement], output: str) -> argparse.ArgumentParser:
    """Return the options that all scripts of measurements have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default=output)
    parser.add_argument("--small", action="store_true", help="few rows: to see that it works")
    parser.add_argument("--only", nargs="*", help="names of measurements", choices=[m.__name__ for m in measurements])
    return parser


def measure_all(
    options: argparse.Namespace, measurements: Sequence[Measurement], sizes: Any, **keywords: Any
) -> list[Figure]:
    """Measure what the options name, print each figure when it is there, write them all."""
    figures = []
    for measure in measurements:
        if options.only and measure.__name__ not in options.only:
            continue
        for figure in measure(sizes, **keywords):
            figures.append(figure)
            print(figure.line(), flush=True)
    write_figures(figures, options.output, sizes=sizes._asdict())
    return figures
