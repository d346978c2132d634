"""What is asked of the methods: a data set, a sensitive attribute and a criterion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from otfairboost import datasets
from otfairboost.benchmark.evaluation import evaluate_classification, evaluate_regression
from otfairboost.benchmark.paper import paper_means
from otfairboost.benchmark.rows import Prediction, TaskData

if TYPE_CHECKING:
    from otfairboost.datasets import Dataset
    from otfairboost.datasets.sources import PathLike

Criterion = Literal["demographic_parity", "equalized_odds"]
Load = Callable[["PathLike | None", "int | None"], "Dataset"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One question, asked of every method alike.

    Attributes
    ----------
    name, title : str
    kind : {"classification", "regression"}
    criterion : {"demographic_parity", "equalized_odds"}
        What the methods are to equalise.
    attribute : str
        The sensitive attribute.
    performance, gap : str
        The metrics that the objective combines.
    loader : callable
        Takes ``data_home`` and the largest number of rows; returns the data set.
    group : str or None
        If given, this value of the attribute is compared with all others together.
    multi_group : bool
        Whether there are more than two groups.
    configurations : {"sampled", "default"}
        Whether methods search the paper's space, or have LightGBM's default parameters and one setting of their own.
    fairness_weight : float
        Of OT-FairBoost with ``configurations="default"``.
    balanced : bool
        Whether rows are weighted in training so that both labels weigh the same.
    report_times : bool
        Whether fit times are part of the question.
    """

    name: str
    title: str
    kind: Literal["classification", "regression"]
    criterion: Criterion
    attribute: str
    performance: str
    gap: str
    loader: Load
    group: str | None = None
    multi_group: bool = False
    configurations: Literal["sampled", "default"] = "sampled"
    fairness_weight: float = 5.0
    balanced: bool = False
    report_times: bool = False

    @property
    def paper(self) -> dict[str, dict[str, float]]:
        """The paper's figures, {method: {metric: mean}}; empty for a task that is not in the paper."""
        return paper_means(self.name)

    def load(self, data_home: PathLike | None = None, *, max_rows: int | None = None) -> TaskData:
        """Load the data.

        Parameters
        ----------
        data_home : path, optional
            Folder of the data sets, as in `otfairboost.datasets`.
        max_rows : int, optional
            Take a random sample of this size if there are more rows; the same one at every call.
        """
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows={max_rows!r} must be at least 1")
        data = self.loader(data_home, max_rows)
        n_rows = len(data.target)
        chosen = np.arange(n_rows)
        if max_rows is not None and max_rows < n_rows:
            chosen = np.sort(np.random.default_rng(0).choice(n_rows, max_rows, replace=False))
        X = data.features.iloc[chosen].reset_index(drop=True)
        if all(isinstance(dtype, np.dtype) for dtype in X.dtypes):  # pandas' own types are categories
            X = X.astype(np.float32)  # one block of one type: nothing is converted again at each fit
        y = data.target.to_numpy(dtype=np.float64)[chosen]
        s = data.sensitive_features[self.attribute].to_numpy(dtype=object)[chosen]
        description = f"{data.description} {data.preprocessing}"
        if self.kind == "regression":
            y, description = _to_unit_range(y, description)
        if self.group is not None:
            s = np.where(s == self.group, self.group, "other").astype(object)
        weight = _balance(y) if self.balanced else None
        return TaskData(X, y, s, weight, data.simulated, description)

    def evaluate(self, y: Any, prediction: Prediction, s: Any, sample_weight: Any = None) -> dict[str, float]:
        """Return all metrics of a prediction, in units of 0 to 1.

        Parameters
        ----------
        y, s : array-like of shape (n_rows,)
            True target and groups.
        prediction : Prediction
            Its ``extra`` members are not looked at.
        sample_weight : array-like, optional
            Not used: the weights of a task serve training, and the paper measures on the rows as they are.
        """
        measure = evaluate_classification if self.kind == "classification" else evaluate_regression
        return measure(y, prediction, s)

    def objective(self, values: Mapping[str, float], alpha: float = 0.75) -> float:
        r"""Return :math:`Obj_\alpha = \alpha \cdot Performance + (1 - \alpha)(1 - Fairness)` of a task's metrics."""
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha={alpha!r} is not allowed; it must lie between 0 and 1")
        return alpha * values[self.performance] + (1.0 - alpha) * (1.0 - values[self.gap])


def _to_unit_range(y: np.ndarray, description: str) -> tuple[np.ndarray, str]:
    """Scale a target to 0..1, so that its error and distances can be added to each other and compared."""
    low, high = float(y.min()), float(y.max())
    if (low, high) == (0.0, 1.0):
        return y, description
    return (y - low) / (high - low), f"{description} Target scaled from {low:g}..{high:g} to 0..1."


def _balance(y: np.ndarray) -> np.ndarray:
    """Return weights with which both labels weigh the same, of mean 1."""
    share = np.mean(y)
    return np.where(y == 1, 0.5 / share, 0.5 / (1.0 - share))


def _load_fairjob(data_home: PathLike | None, max_rows: int | None) -> Dataset:
    """Read the real file if it is there; else simulate. Nothing is downloaded: the licence forbids commercial use."""
    try:
        return datasets.load_fairjob(data_home=data_home, download=False)
    except datasets.MissingDataError:
        return datasets.simulate_fairjob() if max_rows is None else datasets.simulate_fairjob(max_rows)


def _load_tennessee(data_home: PathLike | None, max_rows: int | None) -> Dataset:
    return datasets.load_acs_income(states=("TN",), year=2018, data_home=data_home)


_DP = {"criterion": "demographic_parity", "kind": "classification", "performance": "pr_auc", "gap": "delta_dp"}
_DP_REGRESSION = {**_DP, "kind": "regression", "performance": "one_minus_mae", "gap": "w2"}
_DEFINED: tuple[dict[str, Any], ...] = (
    {
        "name": "tennessee_dp", "title": "Demographic parity by sex, Folktables Tennessee",
        "attribute": "SEX", "loader": _load_tennessee, **_DP,
    },
    {
        "name": "tennessee_eodds", "title": "Equalized odds by sex, Folktables Tennessee",
        "attribute": "SEX", "loader": _load_tennessee, **_DP,
        "criterion": "equalized_odds", "gap": "delta_eodds_sum",
    },
    {
        "name": "communities_dp", "title": "Regression, demographic parity, Communities and Crime",
        "attribute": "black_share", "loader": lambda home, _: datasets.load_communities_crime(data_home=home),
        **_DP_REGRESSION,
    },
    {
        "name": "tennessee_ethnicity", "title": "Demographic parity by ethnicity, Folktables Tennessee",
        "attribute": "RAC1P", "loader": _load_tennessee, **_DP, "gap": "delta_max_dp", "multi_group": True,
    },
    {
        "name": "fairjob_dp", "title": "Demographic parity, FairJob",
        "attribute": "protected_attribute", "loader": _load_fairjob, **_DP,
        "configurations": "default", "fairness_weight": 10.0, "balanced": True, "report_times": True,
    },
    {
        "name": "adult_dp", "title": "Demographic parity by sex, Adult",
        "attribute": "sex", "loader": lambda home, _: datasets.load_adult(data_home=home), **_DP,
    },
    {
        "name": "compas_dp", "title": "Demographic parity by race (African-American), COMPAS",
        "attribute": "race", "group": "African-American",
        "loader": lambda home, _: datasets.load_compas(data_home=home), **_DP,
    },
    {
        "name": "law_school_dp", "title": "Regression, demographic parity by race (white), law school",
        "attribute": "race", "group": "White",
        "loader": lambda home, _: datasets.load_law_school(data_home=home), **_DP_REGRESSION,
    },
)  # fmt: skip

TASKS: dict[str, Task] = {defined["name"]: Task(**defined) for defined in _DEFINED}
"""All tasks by name; the first five are the paper's."""


def get_task(name: str) -> Task:
    """Return the task of that name; an unknown one is an error that lists the known."""
    if name not in TASKS:
        raise ValueError(f"task={name!r} is unknown; allowed are {', '.join(TASKS)}")
    return TASKS[name]
