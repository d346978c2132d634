"""Wage quantiles by sex: offers from the lower to the upper quartile that do not depend on it.

Generated employees. Women have had more interruptions and fewer hours, and both lower the wage; a range of offers made
of these features gives them less. Three models, one for each quantile, each with and without a fairness weight. Run it
with

    python examples/wage_quantiles.py [folder for the picture]

What to look for:

- the printed table: the share of wages below each predicted quantile stays near its level, while the distance between
  the sexes falls.
- ``wage_quantiles.png``: the distributions of predicted quantiles by sex come together.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otfairboost import FairLGBMRegressor
from otfairboost.metrics import wasserstein_distance

LEVELS = (0.25, 0.5, 0.75)
WEIGHTS = (0.0, 20.0)
COLOURS = {"women": "#0072B2", "men": "#E69F00"}


class QuantileInfo(NamedTuple):
    """One model on employees it has not seen."""

    level: float
    fairness_weight: float
    predicted: np.ndarray
    below: float
    distance: float


class WageInfo(NamedTuple):
    """What the picture shows."""

    sex: np.ndarray
    quantiles: tuple[QuantileInfo, ...]


def simulate(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (experience, interruptions, hours, grade), hourly wages and sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["women", "men"], n_rows)
    woman = (sex == "women").astype(float)
    experience = rng.gamma(4.0, 3.0, n_rows)
    interruptions = rng.poisson(0.4 + 1.2 * woman)
    hours = rng.normal(39.0 - 5.0 * woman, 4.0)
    grade = rng.integers(1, 5, n_rows).astype(float)
    mean = 9.0 + 0.35 * experience - 0.9 * interruptions + 0.15 * (hours - 36.0) + 2.0 * grade
    wage = mean + rng.gamma(2.0, 1.0 + 0.05 * experience)
    return np.column_stack([experience, interruptions, hours, grade]), wage, sex


def compute(n_rows: int) -> WageInfo:
    """Train one model for each quantile and weight and measure it on as many fresh employees."""
    X, wage, sex = simulate(n_rows, seed=0)
    fresh_X, fresh_wage, fresh_sex = simulate(n_rows, seed=1)
    quantiles = []
    for level in LEVELS:
        for weight in WEIGHTS:
            model = FairLGBMRegressor(
                objective="quantile", alpha=level, fairness_weight=weight, n_estimators=60, num_leaves=8, n_jobs=1,
                verbosity=-1,
            )  # fmt: skip
            predicted = model.fit(X, wage, sensitive_features=sex).predict(fresh_X)
            distance = wasserstein_distance(fresh_wage, predicted, sensitive_features=fresh_sex)
            below = float((fresh_wage <= predicted).mean())
            quantiles.append(QuantileInfo(level, weight, predicted, below, distance))
    return WageInfo(fresh_sex, tuple(quantiles))


def draw(info: WageInfo, output: Path) -> None:
    """Draw the predicted quantiles by sex: one column for each level, one row for each weight."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots(len(WEIGHTS), len(LEVELS), sharex=True, sharey=True)
    bins = np.linspace(*np.quantile([one.predicted for one in info.quantiles], [0.005, 0.995]), 40)
    for one in info.quantiles:
        ax = axes[WEIGHTS.index(one.fairness_weight), LEVELS.index(one.level)]
        for sex, colour in COLOURS.items():
            ax.hist(one.predicted[info.sex == sex], bins, density=True, alpha=0.5, color=colour, label=sex)
        ax.set_title(f"quantile {one.level:g}, weight {one.fairness_weight:g}")
    axes[-1, 1].set_xlabel("predicted hourly wage")
    axes[0, 0].legend()
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / "wage_quantiles.png", dpi=120)


def main(output: Path, n_rows: int = 20_000) -> WageInfo:
    """Compute, print and draw."""
    info = compute(n_rows)
    print("quantile  weight  wages below  distance between the sexes")
    for one in info.quantiles:
        print(f"{one.level:8g}  {one.fairness_weight:6g}  {one.below:11.3f}  {one.distance:.4f}")
    draw(info, output)
    return info


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
