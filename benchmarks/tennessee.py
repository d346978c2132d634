"""ACSIncome Tennessee, cross-validated: plain LightGBM and the fair model at several weights, beside the paper.

    python -m benchmarks.tennessee --data-home FOLDER --output docs/results/tennessee.md

One untuned configuration for all, where the paper reports the best of 100; the fuller comparison, with other methods,
is the benchmark's. The rows below the first ones switch our departures from the paper on and off.
"""

import argparse
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from otfairboost import FairLGBMClassifier, metrics
from otfairboost.datasets import load_acs_income
from otfairboost.files import replacing

PARAMETERS: dict[str, Any] = {
    "n_estimators": 300, "num_leaves": 31, "learning_rate": 0.1, "colsample_bytree": 0.8, "subsample": 0.8,
    "subsample_freq": 1, "random_state": 0, "verbosity": -1,
}  # fmt: skip


class Task(NamedTuple):
    """One question asked of the data, and the paper's answer to it."""

    title: str
    attribute: str
    fairness: str
    gap: str
    paper: tuple[tuple[str, float, float, float], ...]
    settings: tuple[dict[str, Any], ...]


_WEIGHTS = tuple({"fairness_weight": weight} for weight in (0.0, 1.0, 2.0, 5.0, 10.0))
_PAPER_FORM = {"fairness_hessian": "paper", "transport": "kde"}

TASKS = {
    "sex": Task(
        "Demographic parity by sex",
        "SEX",
        "demographic_parity",
        "demographic_parity_difference",
        (("paper, baseline", 77.3, 18.5, 78.4), ("paper, OT-FairBoost", 75.6, 1.4, 81.4)),
        (
            *_WEIGHTS,
            *({"fairness_weight": weight, "focus": focus} for focus, weight in ((2, 2.0), (4, 1.0), (8, 0.5))),
            *({"fairness_weight": weight, "fairness_hessian": "paper"} for weight in (2.0, 5.0)),
            *({"fairness_weight": 5.0, "fairness_hessian": factor} for factor in (0.0, 0.1, 1.0)),
            *({"fairness_weight": 5.0, **other} for other in (
                {"transport": "exact"}, {"transport": "exact", "ties": "right"}, {"transport": "kde"},
                {"transport": "kde", "bandwidth": 0.5}, _PAPER_FORM,
            )),
        ),
    ),
    "odds": Task(
        "Equalized odds by sex (gap: sum of both rates' gaps)",
        "SEX",
        "equalized_odds",
        "equalized_odds_sum",
        (("paper, baseline", 77.3, 22.7, 77.3), ("paper, OT-FairBoost", 77.4, 3.1, 82.3)),
        (
            *_WEIGHTS,
            {"fairness_weight": 1.0, "focus": 4},
            {"fairness_weight": 5.0, "fairness_hessian": "paper"},
            {"fairness_weight": 5.0, **_PAPER_FORM},
        ),
    ),
    "ethnicity": Task(
        "Demographic parity by ethnicity (gap: largest one against the rest)",
        "RAC1P",
        "demographic_parity",
        "one_vs_rest_demographic_parity",
        (("paper, baseline", 76.9, 20.2, 77.6), ("paper, OT-FairBoost", 76.3, 4.2, 81.2)),
        (
            *_WEIGHTS,
            *(
                {"fairness_weight": 5.0, "multi_group": multi_group, "group_weighting": weighting}
                for multi_group, weighting in (("one_vs_rest", "size"), ("barycenter", "equal"), ("barycenter", "size"))
            ),
            {"fairness_weight": 1.0, "focus": 4},
            {"fairness_weight": 5.0, **_PAPER_FORM},
        ),
    ),
}  # fmt: skip


class Row(NamedTuple):
    """Means over folds, in points, with standard deviations."""

    name: str
    pr_auc: tuple[float, float]
    gap: tuple[float, float]
    objective: tuple[float, float]


def run_task(task: Task, X: NDArray, y: NDArray, groups: NDArray, *, n_folds: int, small: bool) -> Iterator[Row]:
    """Cross-validate every setting of a task on the same folds."""
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
    overrides = {"n_estimators": 10, "n_jobs": 1} if small else {}
    for setting in task.settings:
        scores = []
        for train, test in folds:
            model = FairLGBMClassifier(fairness=task.fairness, **{**PARAMETERS, **overrides, **setting})
            model.fit(X[train], y[train], sensitive_features=groups[train])
            probability = np.asarray(model.predict_proba(X[test]))[:, 1]
            decision = (probability >= 0.5).astype(int)
            gap = metrics.METRICS[task.gap].function(y[test], decision, sensitive_features=groups[test])
            pr_auc = metrics.average_precision(y[test], probability)
            scores.append((100 * pr_auc, 100 * gap, 75 * pr_auc + 25 * (1 - gap)))
        name = ", ".join(
            f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in setting.items()
        )
        columns = list(zip(*scores, strict=True))
        yield Row(name, *((mean(column), stdev(column)) for column in columns))


def main(arguments: list[str] | None = None) -> list[Row]:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-home", help="folder with the data; else it is downloaded")
    parser.add_argument("--output", help="Markdown file to write")
    parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="few trees: to see that it works")
    options = parser.parse_args(arguments)
    data = load_acs_income(states=("TN",), year=2018, data_home=options.data_home, encoding="one-hot")
    X, y = data.features.to_numpy(np.float32), data.target.to_numpy()
    lines = [
        "# ACSIncome Tennessee, one untuned configuration",
        "",
        "    python -m benchmarks.tennessee --data-home FOLDER --output docs/results/tennessee.md",
        "",
        f"{time.strftime('%Y-%m-%d')}; otfairboost {version('otfairboost')}, lightgbm {version('lightgbm')}; "
        f"{len(y):,} rows, {X.shape[1]} columns, {options.folds} folds; {PARAMETERS}. Means over folds ± standard "
        "deviation, in points; Obj.75 = 0.75 PR AUC + 0.25 (1 - gap). The paper's rows are the best of 100 tuned "
        "configurations.",
    ]
    rows = []
    for name in options.tasks:
        task = TASKS[name]
        groups = data.sensitive_features[task.attribute].to_numpy()
        lines += ["", f"## {task.title}", "", "| setting | PR AUC | gap | Obj.75 |", "|---|---|---|---|"]
        lines += [f"| {label} | {a:.1f} | {b:.1f} | {c:.1f} |" for label, a, b, c in task.paper]
        print("\n".join(lines[-4 - len(task.paper) :]), flush=True)
        for row in run_task(task, X, y, groups, n_folds=options.folds, small=options.small):
            rows.append(row)
            values = " | ".join(f"{m:.2f} ± {s:.2f}" for m, s in (row.pr_auc, row.gap, row.objective))
            lines.append(f"| {row.name} | {values} |")
            print(lines[-1], flush=True)
    if options.output:
        with replacing(Path(options.output)) as path:
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


if __name__ == "__main__":
    main()
