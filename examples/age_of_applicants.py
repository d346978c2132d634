"""Age as a continuous attribute: job applicants whose chance of an interview does not depend on it.

Generated applications. Older applicants took their degree long ago and know fewer new tools, and a screening model made
of these features prefers the young; age itself is no column of the model. ``sensitive_bins`` makes groups of it, by
quantiles here: the penalty compares their distributions of scores. Run it with

    python examples/age_of_applicants.py [folder for the picture]

What to look for:

- the printed table: the correlation of the score with age, which the penalty never sees, falls with the distance
  between the age groups. Two groups do nearly as much as four, because the score falls steadily with age.
- ``age_of_applicants.png``: the mean score by age, which gets flat.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from otfairboost import FairLGBMClassifier
from otfairboost.metrics import roc_auc

SETTINGS = ((0.0, 4), (10.0, 2), (10.0, 4))
AGES = np.arange(22, 64, 3)


class ScreeningInfo(NamedTuple):
    """One model on applicants it has not seen."""

    fairness_weight: float
    n_groups: int
    edges: tuple[float, ...]
    score: np.ndarray
    auc: float
    correlation: float


class ApplicantInfo(NamedTuple):
    """What the picture shows."""

    age: np.ndarray
    models: tuple[ScreeningInfo, ...]


def simulate(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (years since degree, tools, grade, test), whether they were interviewed, and age."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(22, 64, n_rows)
    since = np.clip(age - rng.normal(24, 2, n_rows), 0, None)
    tools = rng.poisson(np.exp(1.6 - 0.015 * (age - 22)))
    grade, test = rng.normal(size=(2, n_rows))
    raw = 0.35 * tools + 0.9 * grade + 0.9 * test - 0.04 * since - 0.3
    interviewed = (raw + rng.logistic(size=n_rows) > 0).astype(int)
    return np.column_stack([since, tools, grade, test]), interviewed, age


def compute(n_rows: int) -> ApplicantInfo:
    """Train one model for each setting and measure it on as many fresh applicants."""
    X, y, age = simulate(n_rows, seed=0)
    fresh_X, fresh_y, fresh_age = simulate(n_rows, seed=1)
    models = []
    for weight, n_groups in SETTINGS:
        model = FairLGBMClassifier(
            fairness_weight=weight, sensitive_bins=n_groups, n_estimators=60, num_leaves=8, n_jobs=1, verbosity=-1
        )
        score = model.fit(X, y, sensitive_features=age).predict_proba(fresh_X)[:, 1]
        correlation = float(stats.spearmanr(score, fresh_age).statistic)
        edges = model.sensitive_edges_[0]
        models.append(ScreeningInfo(weight, n_groups, edges, score, roc_auc(fresh_y, score), correlation))
    return ApplicantInfo(fresh_age, tuple(models))


def draw(info: ApplicantInfo, output: Path) -> None:
    """Draw the mean score by age."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    years = np.digitize(info.age, AGES) - 1
    for model in info.models:
        means = [model.score[years == k].mean() for k in range(len(AGES))]
        label = (
            "weight 0" if model.fairness_weight == 0 else f"weight {model.fairness_weight:g}, {model.n_groups} groups"
        )
        ax.plot(AGES + 1.5, means, marker="o", label=label)
    ax.set(xlabel="age", ylabel="mean score", ylim=(0, 1))
    ax.legend()
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / "age_of_applicants.png", dpi=120)


def main(output: Path, n_rows: int = 20_000) -> ApplicantInfo:
    """Compute, print and draw."""
    info = compute(n_rows)
    print("weight  groups  ROC AUC  rank correlation with age")
    for model in info.models:
        print(f"{model.fairness_weight:6g}  {model.n_groups:6d}  {model.auc:7.4f}  {model.correlation:+.4f}")
    draw(info, output)
    return info


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
