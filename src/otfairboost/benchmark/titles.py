"""How metrics and methods are called and drawn in tables and figures."""

from otfairboost.benchmark.methods import METHODS
from otfairboost.benchmark.selection import OBJECTIVE
from otfairboost.benchmark.tasks import Task

METRICS = {
    "pr_auc": "PR AUC",
    "roc_auc": "ROC AUC",
    "accuracy": "accuracy",
    "delta_dp": "ΔDP",
    "delta_max_dp": "Δmax DP",
    "delta_eodds_sum": "ΔEOdds (sum)",
    "delta_eodds_max": "ΔEOdds (max)",
    "disparate_impact": "DI",
    "mae": "MAE",
    "one_minus_mae": "1 − MAE",
    "mse": "MSE",
    "ks": "KS",
    "w2": "W₂",
}

# Distinguishable with any colour vision; ours and the paper's form are the warm ones.
STYLES = {
    "baseline": ("#000000", "o"),
    "fair_gs": ("#0072B2", "s"),
    "fair_eg": ("#56B4E9", "D"),
    "fairgbm": ("#009E73", "^"),
    "fair_xgboost": ("#7A6A4F", "v"),
    "otfairboost_paper": ("#E69F00", "P"),
    "otfairboost": ("#D55E00", "o"),
    "w1_post": ("#CC79A7", "X"),
    "w2_post": ("#6A3D9A", "h"),
}


def shown_metrics(task: Task) -> list[str]:
    """Return the metrics of a task's table, in order."""
    if task.kind == "regression":
        return ["mae", "ks", "w2", OBJECTIVE]
    gaps = [task.gap]
    if task.criterion == "equalized_odds":
        gaps.append("delta_eodds_max")
    if task.report_times:
        gaps.append("disparate_impact")
    return ["pr_auc", "roc_auc", *gaps, OBJECTIVE]


def metric_title(metric: str, alpha: float) -> str:
    """Return a metric's name for people."""
    return f"Obj α={alpha:g}" if metric == OBJECTIVE else METRICS.get(metric, metric)


def method_title(name: str) -> str:
    """Return a method's name for people."""
    return METHODS[name].title if name in METHODS else name


def method_style(name: str) -> tuple[str, str]:
    """Return a method's colour and marker."""
    return STYLES.get(name, ("#808080", "*"))
