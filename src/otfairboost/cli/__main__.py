"""``python -m otfairboost.cli`` is the command ``otfairboost``."""

from otfairboost.cli import main

if __name__ == "__main__":
    main()
