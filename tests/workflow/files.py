"""Small files of loan applications."""

import numpy as np
import pandas as pd

from otfairboost.datasets import make_loan_applications


def make_loans(n_rows=400, seed=0):
    """Return applications with text columns, missing values, a text target and the sensitive column."""
    X, y, sex, names = make_loan_applications(n_rows, random_state=seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=list(names)).round(2)
    frame["city <b>"] = np.where(rng.random(n_rows) < 0.1, None, rng.choice(["Oslo", "Rome", "12", "Lima"], n_rows))
    frame["owner"] = rng.random(n_rows) < 0.5
    frame["sex"] = sex
    frame["granted"] = np.where(y == 1, "yes", "no")
    return frame
