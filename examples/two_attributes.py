"""Two attributes at once: credit scores independent of sex and of region, compared as intersections and as a sum.

Generated applicants; the region of a third of them is not known. Intersections compare the four combinations, and leave
out whoever lacks a region. The sum has one penalty for each attribute with a weight of its own: everybody counts in
that of sex. Run it with

    python examples/two_attributes.py [folder for the picture]

What to look for:

- the printed table: both ways bring both gaps down; in the sum, the gap by region falls further with its weight.
- ``two_attributes.png``: selection rates of the four combinations under each model.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otfairboost import FairLGBMClassifier
from otfairboost.metrics import accuracy, demographic_parity_difference, group_rates

WAYS: dict[str, dict[str, Any]] = {
    "plain": {"fairness_weight": 0.0},
    "intersection": {"fairness_weight": 10.0},
    "sum": {"fairness_weight": 10.0, "multi_attribute": "sum"},
    "sum, region x 5": {"fairness_weight": 10.0, "multi_attribute": "sum", "attribute_weights": [1.0, 5.0]},
}


class CreditInfo(NamedTuple):
    """One model on applicants it has not seen."""

    way: str
    accuracy: float
    sex_gap: float
    region_gap: float
    rates: dict[Any, float]


def simulate(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (income, years at work, debts, account), whether the loan was repaid, and sex with region."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["women", "men"], n_rows), rng.choice(["north", "south"], n_rows)
    man, south = (sex == "men").astype(float), (region == "south").astype(float)
    income = rng.normal(2.6 + 0.7 * man - 0.5 * south, 0.8)
    years = rng.gamma(2.0, 2.0 + man)
    debts = rng.gamma(1.5, 0.6 + 0.5 * south)
    account = rng.normal(size=n_rows)
    raw = 0.9 * income + 0.1 * years - 0.8 * debts + 0.6 * account - 2.0
    repaid = (raw + rng.logistic(size=n_rows) > 0).astype(int)
    features = np.column_stack([sex, region]).astype(object)
    features[rng.random(n_rows) < 1 / 3, 1] = None
    return np.column_stack([income, years, debts, account]), repaid, features


def compute(n_rows: int) -> tuple[CreditInfo, ...]:
    """Train one model for each way and measure it on as many fresh applicants."""
    X, y, features = simulate(n_rows, seed=0)
    fresh_X, fresh_y, fresh = simulate(n_rows, seed=1)
    found = []
    for way, parameters in WAYS.items():
        model = FairLGBMClassifier(**parameters, n_estimators=60, num_leaves=8, n_jobs=1, verbosity=-1)
        decision = model.fit(X, y, sensitive_features=features).predict(fresh_X)
        gaps = [demographic_parity_difference(fresh_y, decision, sensitive_features=fresh[:, j]) for j in (0, 1)]
        rates = group_rates(fresh_y, decision, sensitive_features=fresh)
        found.append(CreditInfo(way, accuracy(fresh_y, decision), *gaps, rates))
    return tuple(found)


def draw(info: tuple[CreditInfo, ...], output: Path) -> None:
    """Draw the selection rates of the combinations, model by model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    labels = list(info[0].rates)
    for j, label in enumerate(labels):
        positions = np.arange(len(info)) + (j - 1.5) * 0.2
        ax.bar(positions, [one.rates[label] for one in info], 0.18, label=" & ".join(label))
    ax.set_xticks(np.arange(len(info)), [one.way for one in info])
    ax.set(ylabel="share of loans granted", ylim=(0, 1))
    ax.legend(ncols=2)
    output.mkdir(parents=True, exist_ok=True)
    figure.savefig(output / "two_attributes.png", dpi=120)


def main(output: Path, n_rows: int = 20_000) -> tuple[CreditInfo, ...]:
    """Compute, print and draw."""
    info = compute(n_rows)
    print("way               accuracy  gap by sex  gap by region")
    for one in info:
        print(f"{one.way:16s}  {one.accuracy:8.4f}  {one.sex_gap:10.4f}  {one.region_gap:13.4f}")
    draw(info, output)
    return info


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
