"""Versions of what computes: written into model cards and report pages."""

import sys
from importlib import metadata

_PACKAGES = ("otfairboost", "lightgbm", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that figures depend on."""
    found = {"python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from a folder that is not installed
            continue
    return found
