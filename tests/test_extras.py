import math

import pytest

from otfairboost.extras import require


def test_returns_the_module():
    assert require("math", "any") is math


def test_says_what_to_run():
    with pytest.raises(ImportError, match=r"no_such_module is not installed; run: pip install 'otfairboost\[plot\]'"):
        require("no_such_module", "plot")
