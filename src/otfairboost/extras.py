"""Optional dependencies: imported at first use, with the line to run where they are absent."""

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Return an optional module, or say how to install it.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        The extra of this package that brings it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is not installed; run: pip install 'otfairboost[{extra}]'", name=module) from error
