"""How well ``max_gap`` keeps its promise: repeated splits of ACSIncome Tennessee and Adult, by sex.

    python -m benchmarks.target_gap --data-home FOLDER --output docs/results/target_gap.md

For every split and target: is the gap on the test rows within the target, give or take sampling error, and does the
model lose accuracy against models of fixed weights? Each finished split is kept in ``--records``, so a run that was
stopped goes on; ``--splits 50`` after ``--splits 5`` adds 45.
"""

import argparse
import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.tennessee import PARAMETERS
from otfairboost import FairLGBMClassifier, metrics
from otfairboost.datasets import load_acs_income, load_adult
from otfairboost.files import replacing

TARGETS = (0.05, 0.02)
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
GAP = "demographic_parity_difference"


class Data(NamedTuple):
    """Rows, labels and groups."""

    X: Any
    y: NDArray
    groups: NDArray

    def part(self, rows: NDArray) -> "Data":
        """Return some rows."""
        return Data(*(column[rows] for column in self))


def load_tennessee(data_home: str | None) -> Data:
    """Return ACSIncome Tennessee by sex."""
    data = load_acs_income(states=("TN",), year=2018, data_home=data_home, encoding="one-hot")
    return Data(data.features.to_numpy(np.float32), data.target.to_numpy(), data.sensitive_features["SEX"].to_numpy())


def load_census(data_home: str | None) -> Data:
    """Return Adult by sex."""
    data = load_adult(data_home=data_home)
    return Data(
        data.features.to_numpy(np.float32), data.target.to_numpy(), data.sensitive_features["sex"].to_numpy(str)
    )


DATA: dict[str, Callable[[str | None], Data]] = {"tennessee": load_tennessee, "adult": load_census}


def measure(model: FairLGBMClassifier, test: Data) -> dict[str, float]:
    """Return the gap with its sampling error and PR AUC on test rows."""
    score = np.asarray(model.predict_proba(test.X))[:, 1]
    gap = metrics.bootstrap_interval(GAP, test.y, score, sensitive_features=test.groups)
    return {
        "weight": model.fairness_weight_,
        "gap": gap.value,
        "gap_low": gap.low,
        "gap_high": gap.high,
        "pr_auc": metrics.average_precision(test.y, score),
    }


def run_split(data: Data, seed: int, parameters: dict[str, Any], folds: int) -> dict[str, Any]:
    """Fit every target and every fixed weight on three quarters of the rows, and measure on the rest."""
    kinds = [f"{label} {group}" for label, group in zip(data.y, data.groups, strict=True)]
    rows = train_test_split(np.arange(len(data.y)), test_size=0.25, random_state=seed, stratify=kinds)
    train, test = (data.part(part) for part in rows)
    result: dict[str, Any] = {"seed": seed, "targets": {}, "fixed": []}
    for target in TARGETS:
        model = FairLGBMClassifier(**parameters, max_gap=target, gap_cv=folds, on_unreachable="raise")
        try:
            model.fit(train.X, train.y, sensitive_features=train.groups)
        except ValueError as error:
            result["targets"][str(target)] = {"error": str(error)}
            continue
        found = {"n_weights_tried": len(model.search_history_), "held_out_gap": model.gap_}
        result["targets"][str(target)] = {**measure(model, test), **found}
    prepared = FairLGBMClassifier(**parameters).prepare_fit(train.X, train.y, sensitive_features=train.groups)
    result["fixed"] = [measure(prepared.fit(weight), test) for weight in WEIGHTS]
    return result


class Summary(NamedTuple):
    """One line of the table."""

    data: str
    target: float
    splits: int
    reached: int
    within: float
    within_or_error: float
    gap: float
    pr_auc: float
    pr_auc_fixed: float
    most_tried: int


def summarise(name: str, target: float, records: list[dict[str, Any]]) -> Summary:
    """Return shares and means over splits; the fixed weights' PR AUC is read off their mean curve at the same gap."""
    found = [record["targets"][str(target)] for record in records]
    reached = [one for one in found if "error" not in one]
    curve = sorted(
        (
            mean(record["fixed"][i]["gap"] for record in records),
            mean(record["fixed"][i]["pr_auc"] for record in records),
        )
        for i in range(len(WEIGHTS))
    )
    if not reached:
        return Summary(name, target, len(found), 0, *[float("nan")] * 5, 0)
    gap = mean(one["gap"] for one in reached)
    return Summary(
        name,
        target,
        len(found),
        len(reached),
        mean(one["gap"] <= target for one in reached),
        mean(one["gap_low"] <= target for one in reached),
        gap,
        mean(one["pr_auc"] for one in reached),
        float(np.interp(gap, *zip(*curve, strict=True))),
        max(one["n_weights_tried"] for one in reached),
    )


def load_records(path: Path, settings: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the splits that are finished; raise if they are of other settings."""
    if not path.exists():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    if content["settings"] != settings:
        raise SystemExit(f"{path} holds splits with other settings; give another --records")
    return content["records"]


def save_records(path: Path, settings: dict[str, Any], records: dict[str, Any]) -> None:
    """Write all finished splits."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps({"settings": settings, "records": records}), encoding="utf-8")


def format_page(summaries: list[Summary], settings: dict[str, Any]) -> str:
    """Return the table as a page."""
    trees, folds = settings["parameters"]["n_estimators"], settings["folds"]
    lines = [
        "# What `max_gap` keeps, on rows nobody has seen",
        "",
        f"    python -m benchmarks.target_gap --data-home FOLDER --trees {trees} --folds {folds} --output FILE",
        "",
        f"{time.strftime('%Y-%m-%d')}; otfairboost {version('otfairboost')}, lightgbm {version('lightgbm')}; "
        f"{settings}. Demographic parity by sex. Each split trains on three quarters of the rows and tests on the "
        "rest. *Within*: the test gap is at most the target; *within + error*: its lower 95% bound is. *PR AUC, fixed "
        "weight*: that of models of fixed weights at the same test gap, read off their mean curve.",
        "",
        "| data | target | splits | reached | within | within + error | test gap | PR AUC | PR AUC, fixed weight "
        "| weights tried, at most |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for s in summaries:
        lines.append(
            f"| {s.data} | {s.target:g} | {s.splits} | {s.reached} | {s.within:.0%} | {s.within_or_error:.0%} | "
            f"{s.gap:.4f} | {s.pr_auc:.4f} | {s.pr_auc_fixed:.4f} | {s.most_tried} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> list[Summary]:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-home", help="folder with the data; else it is downloaded")
    parser.add_argument("--data", nargs="*", choices=list(DATA), default=list(DATA))
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--folds", type=int, default=5, help="folds of each search")
    parser.add_argument("--trees", type=int, default=PARAMETERS["n_estimators"])
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--records", type=Path, default=Path("output/target_gap.json"), help="finished splits")
    parser.add_argument("--output", help="Markdown file to write")
    options = parser.parse_args(arguments)
    parameters = {**PARAMETERS, "n_estimators": options.trees}
    settings = {"parameters": parameters, "folds": options.folds}
    records = load_records(options.records, settings)
    summaries = []
    for name in options.data:
        data = DATA[name](options.data_home)
        finished = records.setdefault(name, [])
        for seed in range(len(finished), options.splits):
            finished.append(run_split(data, seed, {**parameters, "n_jobs": options.n_jobs}, options.folds))
            save_records(options.records, settings, records)
            print(name, json.dumps(finished[-1]["targets"]), flush=True)
        for target in TARGETS:
            summaries.append(summarise(name, target, finished[: options.splits]))
    page = format_page(summaries, settings)
    print(page)
    if options.output:
        with replacing(options.output) as path:
            path.write_text(page, encoding="utf-8")
    return summaries


if __name__ == "__main__":
    main()
