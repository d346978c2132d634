"""The command line: each command parses, calls one public function, prints and writes what it returns."""

import sys

from otfairboost.extras import require


def main() -> None:
    """Run the command line."""
    try:
        require("typer", "cli")
        require("rich", "cli")
    except ImportError as error:
        sys.exit(str(error))
    from otfairboost.cli.app import app
    from otfairboost.cli.running import run

    sys.exit(run(app))
