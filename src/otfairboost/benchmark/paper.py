"""The figures that the paper prints, as data.

The tables of the four small tasks and of FairJob in *OT-FairBoost: Optimal Transport-Guided Gradient Boosting for
Fairness Regularization on Tabular Data*: mean and standard deviation over five folds, in points, of the best of 100
configurations (FairJob: of default parameters).
"""

from typing import NamedTuple

POINTS = 100.0
OBJECTIVE = "obj_75"
SECONDS = "seconds"


class Figure(NamedTuple):
    """A printed figure: mean and standard deviation over the folds, in points (seconds for times)."""

    mean: float
    deviation: float


_COLUMNS = ("baseline", "fair_gs", "fair_eg", "fairgbm", "otfairboost_paper", "w1_post", "w2_post")

# One row for each metric; a column without a figure is "-".
_TABLES = {
    "tennessee_dp": {
        "pr_auc": "77.3±0.9 74.2±0.6 60.2±0.9 - 75.6±1.1 70.7±0.8 74.3±1.0",
        "roc_auc": "88.5±0.6 86.9±0.4 78.4±0.4 - 87.5±0.5 83.8±0.5 86.8±0.6",
        "delta_dp": "18.5±0.6 0.9±0.8 0.6±0.7 - 1.4±1.2 2.4±1.1 0.0±0.0",
        OBJECTIVE: "78.4±0.7 80.4±0.5 70.0±0.7 - 81.4±0.9 77.4±0.7 80.7±0.7",
    },
    "tennessee_eodds": {
        "pr_auc": "77.3±0.9 77.1±1.0 60.6±1.4 76.2±0.7 77.4±1.2 - -",
        "roc_auc": "88.5±0.6 88.5±0.6 78.8±0.8 88.1±0.5 88.5±0.6 - -",
        "delta_eodds_sum": "22.7±2.0 22.2±3.1 7.4±3.6 9.2±2.2 3.1±2.7 - -",
        OBJECTIVE: "77.3±0.9 77.2±1.1 68.6±1.4 79.8±0.8 82.3±1.1 - -",
    },
    "communities_dp": {
        "mae": "9.0±0.5 - - - 13.3±1.2 17.9±0.7 14.0±0.8",
        "ks": "67.0±4.0 - - - 9.7±3.9 75.8±4.0 5.9±2.1",
        "w2": "30.1±1.1 - - - 1.4±0.5 1.6±0.1 1.4±0.5",
        OBJECTIVE: "85.6±0.5 - - - 89.7±0.9 86.2±0.5 89.1±0.6",
    },
    "tennessee_ethnicity": {
        "pr_auc": "76.9±0.4 72.9±0.5 62.2±0.5 - 76.3±0.4 68.0±1.8 74.6±0.6",
        "roc_auc": "88.4±0.2 83.1±0.3 79.2±0.4 - 88.1±0.3 82.7±1.2 87.2±0.4",
        "delta_max_dp": "20.2±3.2 34.5±0.9 5.4±0.9 - 4.2±2.2 14.0±3.9 7.8±2.1",
        OBJECTIVE: "77.6±0.8 71.1±0.4 70.3±0.5 - 81.2±0.6 72.4±1.7 79.0±0.7",
    },
    "fairjob_dp": {
        "pr_auc": "4.3±0.2 4.0±0.3 1.9±0.1 - 4.5±0.3 3.7±0.2 4.2±0.2",
        "roc_auc": "79.4±0.7 79.3±0.6 64.9±0.5 - 82.0±0.5 76.3±1.3 79.1±0.6",
        "delta_dp": "1.35±0.05 1.49±0.11 0.93±0.30 - 1.3±0.12 0.86±0.24 0.99±0.28",
        "disparate_impact": "80.98±0.63 77.97±2.09 86.28±4.16 - 94.33±0.57 86.82±3.22 85.10±3.67",
        OBJECTIVE: "27.92±0.16 27.63±0.23 26.17±0.04 - 28.03±0.22 27.56±0.10 27.90±0.17",
        SECONDS: "12.3±0.4 149.7±21.5 508.8±47.3 - 243.2±6.5 861.4±108.5 244.8±8.4",
    },
}


def _read(table: dict[str, str]) -> dict[str, dict[str, Figure]]:
    """Turn the rows of a table into {method: {metric: figure}}."""
    figures: dict[str, dict[str, Figure]] = {}
    for metric, row in table.items():
        for method, cell in zip(_COLUMNS, row.split(), strict=True):
            if cell != "-":
                mean, deviation = cell.split("±")
                figures.setdefault(method, {})[metric] = Figure(float(mean), float(deviation))
    return figures


PAPER: dict[str, dict[str, dict[str, Figure]]] = {task: _read(table) for task, table in _TABLES.items()}
"""Task to method to metric to the printed figure, in points."""


def paper_means(task: str) -> dict[str, dict[str, float]]:
    """Return {method: {metric: mean}} of a task, in the units of the metrics (0 to 1; seconds for times).

    ``otfairboost`` has the figures of ``otfairboost_paper``: both are to be read against what the paper reports for its
    method. A task that is not in the paper has none.
    """
    means = {
        method: {metric: figure.mean / (1.0 if metric == SECONDS else POINTS) for metric, figure in figures.items()}
        for method, figures in PAPER.get(task, {}).items()
    }
    if "otfairboost_paper" in means:
        means["otfairboost"] = dict(means["otfairboost_paper"])
    return means
