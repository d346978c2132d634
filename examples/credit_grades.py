"""Three credit grades by origin: a softmax model whose probabilities of every grade do not depend on it.

Generated applications. Newcomers have shorter histories and lower savings, and both lower the grade; origin itself is
no column of the model. A plain model puts newcomers into grade C more often, and into A less. The fairness weight
brings the probabilities of all three grades together. Run it with

    python examples/credit_grades.py [folder for the picture]

What to look for:

- the printed table: the largest difference in any grade's rate falls with the weight and the log loss rises; the less
  a model may know, the more applications get the grade in the middle.
- ``credit_grades.png``: rates of each grade by origin come together.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otfairboost import FairLGBMClassifier
from otfairboost.metrics import multiclass_demographic_parity_difference, multiclass_log_loss

WEIGHTS = (0.0, 5.0, 30.0)
GRADES = ("A", "B", "C")
COLOURS = {"local": "#0072B2", "newcomer": "#E69F00"}


class ModelInfo(NamedTuple):
    """One model on applications it has not seen."""

    fairness_weight: float
    rates: dict[str, np.ndarray]  # of each grade, by origin
    share: np.ndarray
    log_loss: float
    difference: float


class GradeInfo(NamedTuple):
    """What the picture shows."""

    share: np.ndarray
    models: tuple[ModelInfo, ...]


def simulate(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (history, savings, income, age), grades and origin."""
    rng = np.random.default_rng(seed)
    origin = rng.choice(list(COLOURS), n_rows, p=[0.65, 0.35])
    newcomer = (origin == "newcomer").astype(float)
    history = rng.gamma(3.0, 4.0 - 2.0 * newcomer)
    savings = rng.lognormal(1.5 - 0.6 * newcomer, 0.8)
    income, age = rng.lognormal(3.3, 0.4, n_rows), rng.uniform(20, 70, n_rows)
    quality = 0.12 * history + 0.5 * np.log(savings) + 1.2 * np.log(income) + rng.logistic(scale=0.5, size=n_rows)
    grade = np.array(GRADES[::-1])[np.digitize(quality, [5.2, 6.8])]
    return np.column_stack([history, savings, income, age]), grade, origin


def rates_of(grade: np.ndarray) -> np.ndarray:
    """Return the share of each grade."""
    return np.array([np.mean(grade == one) for one in GRADES])


def compute(n_rows: int) -> GradeInfo:
    """Train one model for each weight and measure it on as many fresh applications."""
    X, grade, origin = simulate(n_rows, seed=0)
    fresh_X, fresh_grade, fresh_origin = simulate(n_rows, seed=1)
    models = []
    for weight in WEIGHTS:
        model = FairLGBMClassifier(fairness_weight=weight, n_estimators=60, num_leaves=8, n_jobs=1, verbosity=-1)
        model.fit(X, grade, sensitive_features=origin)
        predicted = model.predict(fresh_X)
        models.append(
            ModelInfo(
                weight,
                {name: rates_of(predicted[fresh_origin == name]) for name in COLOURS},
                rates_of(predicted),
                multiclass_log_loss(fresh_grade, model.predict_proba(fresh_X)),
                multiclass_demographic_parity_difference(fresh_grade, predicted, sensitive_features=fresh_origin),
            )
        )
    return GradeInfo(rates_of(fresh_grade), tuple(models))


def draw(info: GradeInfo, output: Path) -> None:
    """Draw the rate of each grade by origin, one panel for each weight."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3), layout="constrained")
    axes = figure.subplots(1, len(info.models), sharey=True)
    for ax, model in zip(axes, info.models, strict=True):
        for i, (origin, colour) in enumerate(COLOURS.items()):
            ax.bar(np.arange(3) + 0.4 * i, model.rates[origin], width=0.38, color=colour, label=origin)
        ax.set_xticks(np.arange(3) + 0.2, GRADES)
        ax.set(title=f"weight {model.fairness_weight:g}", xlabel="predicted grade")
    axes[0].set_ylabel("share of applications")
    axes[0].legend()
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / "credit_grades.png", dpi=120)


def main(output: Path, n_rows: int = 20_000) -> GradeInfo:
    """Compute, print and draw."""
    info = compute(n_rows)
    print("weight  log loss  largest difference  " + "  ".join(f"share of {grade}" for grade in GRADES))
    for model in info.models:
        shares = "  ".join(f"{share:10.3f}" for share in model.share)
        print(f"{model.fairness_weight:6g}  {model.log_loss:8.4f}  {model.difference:18.4f}  {shares}")
    draw(info, output)
    return info


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
