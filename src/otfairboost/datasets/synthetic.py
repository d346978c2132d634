"""Generated data: loan applications from a history that was not fair."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special


class LoanApplications(NamedTuple):
    """Generated loan applications.

    Attributes
    ----------
    X : float64 array of shape (n_rows, 8)
        The application, see ``feature_names``; some values are missing.
    y : int array of shape (n_rows,)
        Whether the loan was granted.
    sensitive_features : str array of shape (n_rows,)
        The applicant's sex, ``"female"`` or ``"male"``; not a column of ``X``.
    feature_names : tuple of str
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    sensitive_features: NDArray[np.str_]
    feature_names: tuple[str, ...]


_FEATURES = (
    "age",
    "income",
    "years_employed",
    "weekly_hours",
    "occupation",
    "existing_debt",
    "late_payments",
    "savings_months",
)


def make_loan_applications(n_rows: int = 20_000, *, random_state: int | None = None) -> LoanApplications:
    """Generate loan applications in which sex is not a feature but shows through several.

    Women work fewer hours, in other occupations and for less income, and past decisions held part of that against
    them twice: a model that learns from these decisions selects men more often, though it never sees the column.

    Parameters
    ----------
    n_rows : int, default=20_000
        Number of applications.
    random_state : int, optional
        Seed.

    Returns
    -------
    LoanApplications
    """
    if n_rows < 1:
        raise ValueError(f"n_rows={n_rows!r} must be at least 1")
    rng = np.random.default_rng(random_state)
    male = rng.random(n_rows) < 0.52
    skill = rng.normal(size=n_rows)
    age = np.clip(rng.gamma(9.0, 4.5, n_rows) + 18, 18, 80)
    hours = np.clip(rng.normal(np.where(male, 41, 33), 8), 5, 70)
    occupation = np.clip(np.round(3 + 1.2 * skill + 1.5 * male + rng.normal(0, 1.3, n_rows)), 0, 9)
    income = np.exp(7.2 + 0.35 * skill + 0.012 * hours + 0.08 * occupation + rng.normal(0, 0.25, n_rows))
    employed = np.clip(rng.gamma(2.0, 3.0, n_rows) * (0.8 + 0.3 * male), 0, age - 16)
    debt = rng.gamma(1.5, 4000, n_rows)
    late = rng.poisson(np.exp(-0.6 - 0.5 * skill))
    savings = rng.gamma(1.2, 2.5, n_rows) * np.exp(0.3 * skill)
    merit = 1.1 * skill - 0.45 * late + 0.12 * np.log1p(savings) - debt / 15_000 + 0.25 * np.log1p(employed)
    bias = 0.45 * male + 0.03 * (hours - 37) + 0.25 * (occupation - 4)
    y = (rng.random(n_rows) < special.expit(merit + bias - 0.9)).astype(np.int64)
    X = np.column_stack([age, income, employed, hours, occupation, debt, late, savings])
    X[rng.random(n_rows) < 0.08, 7] = np.nan  # savings are not always stated
    return LoanApplications(X, y, np.where(male, "male", "female"), _FEATURES)
