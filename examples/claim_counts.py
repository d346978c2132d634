"""Insurance claim counts by sex: a Poisson model whose expected counts do not depend on it.

Generated contracts. Men drive more and in stronger cars, and both raise the number of claims; sex itself is no column
of the model. A tariff made of these features charges men more. The fairness weight takes that difference out. Run it
with

    python examples/claim_counts.py [folder for the picture]

What to look for:

- the printed table: the deviance rises a little with the weight while the distance between the sexes falls; the mean
  stays, so that the premiums still pay for the claims.
- ``claim_counts.png``: the distributions of expected counts come together.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otfairboost import FairLGBMRegressor
from otfairboost.metrics import wasserstein_distance

WEIGHTS = (0.0, 1.0, 10.0)
COLOURS = {"women": "#0072B2", "men": "#E69F00"}


class TariffInfo(NamedTuple):
    """One model on contracts it has not seen."""

    fairness_weight: float
    expected: np.ndarray
    deviance: float
    distance: float


class ClaimInfo(NamedTuple):
    """What the picture shows."""

    sex: np.ndarray
    claims: np.ndarray
    tariffs: tuple[TariffInfo, ...]


def simulate(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (mileage, power, age, region), claims and sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["women", "men"], n_rows)
    man = (sex == "men").astype(float)
    mileage = rng.gamma(4.0, 2.5 + man)
    power = rng.normal(80.0 + 25.0 * man, 20.0)
    age, region = rng.uniform(18, 80, n_rows), rng.integers(0, 5, n_rows).astype(float)
    raw = 0.05 * mileage + 0.008 * power + 0.5 * (age < 25) + 0.2 * (region == 2) - 3.2
    return np.column_stack([mileage, power, age, region]), rng.poisson(np.exp(raw)).astype(float), sex


def mean_deviance(claims: np.ndarray, expected: np.ndarray) -> float:
    """Return the mean Poisson deviance."""
    ratio = np.where(claims > 0, claims / expected, 1.0)
    return float(2.0 * (claims * np.log(ratio) - claims + expected).mean())


def compute(n_rows: int) -> ClaimInfo:
    """Train one tariff for each weight and measure it on as many fresh contracts."""
    X, claims, sex = simulate(n_rows, seed=0)
    fresh_X, fresh_claims, fresh_sex = simulate(n_rows, seed=1)
    tariffs = []
    for weight in WEIGHTS:
        model = FairLGBMRegressor(
            objective="poisson", fairness_weight=weight, n_estimators=60, num_leaves=8, n_jobs=1, verbosity=-1
        )
        expected = model.fit(X, claims, sensitive_features=sex).predict(fresh_X)
        distance = wasserstein_distance(fresh_claims, expected, sensitive_features=fresh_sex)
        tariffs.append(TariffInfo(weight, expected, mean_deviance(fresh_claims, expected), distance))
    return ClaimInfo(fresh_sex, fresh_claims, tuple(tariffs))


def draw(info: ClaimInfo, output: Path) -> None:
    """Draw the distribution of expected counts by sex, one panel for each weight."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3), layout="constrained")
    axes = figure.subplots(1, len(info.tariffs), sharex=True, sharey=True)
    bins = np.linspace(0, np.quantile(info.tariffs[0].expected, 0.99), 40)
    for ax, tariff in zip(axes, info.tariffs, strict=True):
        for sex, colour in COLOURS.items():
            ax.hist(tariff.expected[info.sex == sex], bins, density=True, alpha=0.5, color=colour, label=sex)
        ax.set(title=f"weight {tariff.fairness_weight:g}", xlabel="expected claims")
    axes[0].set_ylabel("density")
    axes[0].legend()
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / "claim_counts.png", dpi=120)


def main(output: Path, n_rows: int = 20_000) -> ClaimInfo:
    """Compute, print and draw."""
    info = compute(n_rows)
    print("weight  mean claims  deviance  distance between the sexes")
    for tariff in info.tariffs:
        mean = tariff.expected.mean()
        print(f"{tariff.fairness_weight:6g}  {mean:11.4f}  {tariff.deviance:8.4f}  {tariff.distance:.4f}")
    draw(info, output)
    return info


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
