"""How the groups' score distributions come together while the booster trains.

Generated lending data with two groups, one of which has lower incomes; models that differ in the fairness weight alone;
scores of the training rows after each iteration. Run it with

    python examples/convergence.py [folder for the pictures]

What to look for:

- ``convergence_cdfs.png``: from left to right the scores spread out from the average, because the trees learn; from
  top to bottom the two groups' curves close up, because the penalty weighs more.
- ``convergence_w2.png``: W2^2 between the groups relative to the spread of their scores, so that scores which merely
  stay close together do not count as fair. The greater the weight, the faster it falls and the lower it ends.

References
----------
The paper, appendix "Empirical Convergence".
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otfairboost import FairLGBMClassifier
from otfairboost.metrics import average_precision, normalized_wasserstein

WEIGHTS = (0.0, 0.1, 1.0, 10.0)
ITERATIONS = (1, 10, 25, 50, 100)
GROUPS = ("A", "B")
GROUP_COLOURS = ("#0072B2", "#E69F00")
WEIGHT_COLOURS = ("#000000", "#CC79A7", "#009E73", "#D55E00")


class ModelInfo(NamedTuple):
    """One model during its training, on the training rows."""

    fairness_weight: float
    scores: dict[int, dict[str, np.ndarray]]  # by iteration and group, ascending
    normalized_w2: np.ndarray  # after each iteration
    precision: float  # PR AUC after the last iteration


class ConvergenceInfo(NamedTuple):
    """What the pictures show."""

    models: tuple[ModelInfo, ...]


def simulate(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels and groups: two features follow the group, and the label follows the features."""
    rng = np.random.default_rng(seed)
    group = rng.choice(GROUPS, n_rows, p=(0.45, 0.55))
    shift = (group == "B").astype(float)
    income = rng.normal(0.9 * shift, 1.0)
    seniority = rng.gamma(2.0, 1.0 + 0.4 * shift)
    debt, age = rng.normal(size=n_rows), rng.uniform(20, 65, n_rows)
    raw = 1.1 * income + 0.35 * (seniority - 2.4) - 0.8 * debt + 0.4 * np.sin(age / 8) - 0.6
    repaid = (rng.random(n_rows) < 1 / (1 + np.exp(-raw))).astype(int)
    return np.column_stack([income, seniority, debt, age]), repaid, group


def train(X: np.ndarray, y: np.ndarray, group: np.ndarray, fairness_weight: float) -> ModelInfo:
    """Train one model and look at it after each iteration."""
    n_iterations = ITERATIONS[-1]
    model = FairLGBMClassifier(
        fairness_weight=fairness_weight, n_estimators=n_iterations, random_state=0, n_jobs=1, verbose=-1
    ).fit(X, y, sensitive_features=group)
    staged = [model.booster_.predict(X, num_iteration=t) for t in range(1, n_iterations + 1)]
    return ModelInfo(
        fairness_weight,
        {t: {label: np.sort(staged[t - 1][group == label]) for label in GROUPS} for t in ITERATIONS},
        np.array([normalized_wasserstein(y, score, sensitive_features=group) for score in staged]),
        average_precision(y, staged[-1]),
    )


def compute(n_rows: int = 5000, seed: int = 0) -> ConvergenceInfo:
    """Train a model for each fairness weight on that many generated rows."""
    X, y, group = simulate(n_rows, seed)
    return ConvergenceInfo(tuple(train(X, y, group, weight) for weight in WEIGHTS))


def draw_cdfs(info: ConvergenceInfo):
    """Return the grid of cumulative distributions, a matplotlib figure: a row per weight, a column per iteration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8.4), layout="constrained", dpi=130)
    panels = figure.subplots(len(info.models), len(ITERATIONS), sharex=True, sharey=True)
    for row, model in zip(panels, info.models, strict=True):
        for panel, iteration in zip(row, ITERATIONS, strict=True):
            for label, colour in zip(GROUPS, GROUP_COLOURS, strict=True):
                scores = model.scores[iteration][label]
                panel.ecdf(scores, color=colour, linewidth=1.7, label=f"group {label}")
            gap = model.normalized_w2[iteration - 1]
            panel.text(0.97, 0.06, f"{gap:.3f}", ha="right", fontsize=9, color="0.3", transform=panel.transAxes)
            panel.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(f"weight {model.fairness_weight:g}\n\nshare of the group")
    for panel, iteration in zip(panels[0], ITERATIONS, strict=True):
        panel.set_title(f"iteration {iteration}", loc="left", fontsize=11)
    for panel in panels[-1]:
        panel.set_xlabel("score")
    panels[0, 0].set_xlim(0, 1)
    panels[0, 0].set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panels[0, -1].legend(frameon=False, fontsize=9, loc="upper left")
    figure.suptitle(
        "Scores of the training rows; in the corners the normalised $W_2^2$ between the groups", fontsize=12
    )
    return figure


def draw_w2(info: ConvergenceInfo):
    """Return the normalised distance by iteration, a matplotlib figure."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    figure = Figure(figsize=(7.5, 4.6), layout="constrained", dpi=130)
    panel = figure.subplots()
    for model, colour in zip(info.models, WEIGHT_COLOURS, strict=True):
        iteration = np.arange(1, len(model.normalized_w2) + 1)
        panel.plot(iteration, model.normalized_w2, color=colour, linewidth=2, label=f"{model.fairness_weight:g}")
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter("")
    panel.set_xticks(ITERATIONS)
    panel.legend(frameon=False, title="fairness weight", loc="lower left")
    panel.set_xlim(1, ITERATIONS[-1])
    panel.set_xlabel("iteration")
    panel.set_ylabel("normalised $W_2^2$ between the groups")
    panel.set_title("Distance between the groups' scores, relative to their spread", loc="left", fontsize=11)
    panel.spines[["top", "right"]].set_visible(False)
    return figure


def main(output: str | Path = "output/examples", n_rows: int = 5000, seed: int = 0) -> ConvergenceInfo:
    """Compute, print the distances and write the pictures."""
    info = compute(n_rows, seed)
    print(f"normalised W2^2 between the groups on {n_rows} training rows, by iteration")
    print(f"{'weight':>8}" + "".join(f"{t:>9}" for t in ITERATIONS) + f"{'PR AUC':>10}")
    for model in info.models:
        distances = "".join(f"{model.normalized_w2[t - 1]:9.4f}" for t in ITERATIONS)
        print(f"{model.fairness_weight:8g}{distances}{model.precision:10.3f}")
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("convergence_cdfs", draw_cdfs), ("convergence_w2", draw_w2)):
        draw(info).savefig(folder / f"{name}.png")
        print(f"picture: {folder / name}.png")
    return info


if __name__ == "__main__":
    main(*sys.argv[1:2])
