r"""Derivatives of the penalty against a finite-difference oracle, sample by sample.

Two simulated groups of scores, each with many duplicates (trees give all rows of a leaf the same score). An oracle
moves samples by a small step, sorts again and measures how W2^2 changes; our estimates need no steps. Run it with

    python examples/derivatives_against_oracle.py [folder for the picture]

What to look for:

- First row: the groups' distributions. Steps in the CDFs are duplicates.
- Second row: gradients. Every estimate lies on the oracle's dots, in both groups.
- Third row: distance to the oracle. The exact maps agree to rounding: the right-hand map with the oracle that moves one
  sample alone, the averaged one with the oracle that moves a sample together with its duplicates, as a tree does. The
  histogram map, the default in training, is off where a bin holds several values; the KDE map by what it smooths over.
- Fourth row: hessians. The oracle's are 2 / n for every sample, as in the paper's Proposition 1.

References
----------
The paper, "Numerical Estimation of the Derivatives" (its first figure) and "Proof of Proposition 1".
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otfairboost.criteria import Target, stratify
from otfairboost.groups import encode_groups
from otfairboost.penalty import Penalty, prepare
from otfairboost.plan import plan_comparisons
from otfairboost.row_derivatives import HessianForm
from otfairboost.scores import LOGISTIC, ScoreMap
from otfairboost.threads import RowChunks
from otfairboost.transport.grid import default_bins

GRID = 1e-4  # scores are multiples of this, so that no two distinct ones are closer
STEPS = (1e-5, 2e-5, 4e-5)  # the oracle's; twice a step is less than GRID
COLOURS = ("#0072B2", "#E69F00")  # of the groups

# Transport, what duplicates take, how to draw the line: colour, width, dashes.
ESTIMATES = {
    "exact, right-hand": ("exact", "right", "#000000", 1.0, "-"),
    "exact, averaged": ("exact", "average", "#009E73", 1.6, "-"),
    "histogram": ("histogram", "average", "#CC79A7", 1.4, "--"),
    "KDE": ("kde", "average", "#D55E00", 1.2, ":"),
}


class Derivatives(NamedTuple):
    """First and second derivative of W2^2 in each sample of a group."""

    gradient: np.ndarray
    hessian: np.ndarray


class GroupInfo(NamedTuple):
    """One group: its scores, ascending, and the derivatives there."""

    score: np.ndarray
    oracle_alone: Derivatives  # each sample moves by itself
    oracle_block: Derivatives  # each sample moves with its duplicates
    estimates: dict[str, Derivatives]


class Deviation(NamedTuple):
    """Largest deviation over the samples of both groups, relative to the largest derivative."""

    from_alone: float
    from_block: float
    hessian: float


class OracleInfo(NamedTuple):
    """What the picture shows."""

    groups: tuple[GroupInfo, GroupInfo]
    deviations: dict[str, Deviation]


def simulate(n_samples: int, seed: int) -> list[np.ndarray]:
    """Return the scores of two groups: Beta distributed, three in ten of them on a few common values."""
    rng = np.random.default_rng(seed)
    groups = []
    for a, b in ((2.0, 4.5), (4.0, 3.0)):
        score = rng.beta(a, b, n_samples)
        leaves = rng.beta(a, b, 8)
        repeated = rng.random(n_samples) < 0.3
        score[repeated] = rng.choice(leaves, repeated.sum())
        groups.append(np.sort(np.clip(np.round(score / GRID), 1, 1 / GRID - 1) * GRID))
    return groups


def ask_oracle(score: np.ndarray, other: np.ndarray, *, together: bool) -> Derivatives:
    """Return one-sided finite differences of W2^2, for groups of equal size.

    The paper's quotient E(step) is off by step / n, because W2^2 is a parabola in a sample until it meets the next;
    2 E(step) - E(2 step) is not. As in the paper, it is averaged over several steps.
    """
    moves = score[:, None] == score if together else np.eye(len(score), dtype=bool)
    target = np.sort(other)

    def costs(step: float) -> np.ndarray:
        # Row i: sample i has moved. Terms, not sums: those that did not change will cancel without rounding.
        return np.square(np.sort(score + step * moves, axis=1) - target) / len(score)

    still = costs(0.0)
    gradient, hessian = np.zeros(len(score)), np.zeros(len(score))
    for step in STEPS:
        first, second = costs(step) - still, costs(2 * step) - still
        gradient += (2 * first / step - second / (2 * step)).sum(axis=1)
        hessian += (second - 2 * first).sum(axis=1) / step**2
    share = len(STEPS) * moves.sum(axis=1)  # of one sample in what its block does
    return Derivatives(gradient / share, hessian / share)


def estimate(scores: list[np.ndarray], transport: str, ties: str) -> list[Derivatives]:
    """Return the derivatives that training would use, by group."""
    score = np.concatenate(scores)
    n_rows = len(score)
    groups = encode_groups(np.repeat([0, 1], [len(group) for group in scores]))
    everyone = stratify("demographic_parity", Target(np.zeros(n_rows), classes=(0, 1)))
    plan = plan_comparisons(groups, everyone, np.empty(0, np.float32), "equal")
    score_map = ScoreMap(LOGISTIC, 1.0, 0.0)
    penalty = Penalty(
        plan, score_map, transport=transport, ties=ties, bandwidth=0.1, n_bins=default_bins(n_rows, plan.n_cells)
    )
    gradient, hessian = np.zeros(n_rows), np.zeros(n_rows)
    with RowChunks(n_rows) as chunks:
        prepare(penalty, score, chunks).add(0, n_rows, 1.0, HessianForm(1.0, paper=True), gradient, hessian)
    # Training wants derivatives in the raw prediction; the chain rule's factor leads back to the score.
    slope = score * (1.0 - score)
    gradient, hessian = gradient / slope, hessian / slope
    return [Derivatives(gradient[groups.codes == g], hessian[groups.codes == g]) for g in (0, 1)]


def compute(n_samples: int = 1000, seed: int = 0) -> OracleInfo:
    """Compare all estimates with the oracle on two groups of that many samples."""
    scores = simulate(n_samples, seed)
    estimates = {name: estimate(scores, transport, ties) for name, (transport, ties, *_) in ESTIMATES.items()}
    groups = tuple(
        GroupInfo(
            score,
            ask_oracle(score, other, together=False),
            ask_oracle(score, other, together=True),
            {name: by_group[g] for name, by_group in estimates.items()},
        )
        for g, (score, other) in enumerate(zip(scores, scores[::-1], strict=True))
    )

    def largest(name: str, oracle: str, derivative: str) -> float:
        true = np.concatenate([getattr(getattr(group, oracle), derivative) for group in groups])
        ours = np.concatenate([getattr(group.estimates[name], derivative) for group in groups])
        return float(np.abs(ours - true).max() / np.abs(true).max())

    deviations = {
        name: Deviation(
            largest(name, "oracle_alone", "gradient"),
            largest(name, "oracle_block", "gradient"),
            largest(name, "oracle_alone", "hessian"),
        )
        for name in ESTIMATES
    }
    return OracleInfo(groups, deviations)


def draw(info: OracleInfo):
    """Return the picture, a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 11.5), layout="constrained", dpi=130)
    panels = figure.subplots(4, 2, height_ratios=(1, 1.3, 1, 0.65), sharex=True)
    n = len(info.groups[0].score)
    densities, cdfs = panels[0]
    for g, (group, colour) in enumerate(zip(info.groups, COLOURS, strict=True)):
        edges = np.linspace(0, 1, 51)
        densities.hist(group.score, edges, density=True, color=colour, alpha=0.25)
        densities.hist(group.score, edges, density=True, color=colour, histtype="step", linewidth=1.6)
        cdfs.ecdf(group.score, color=colour, linewidth=1.8, label=f"group {g}")
    densities.set_title("Densities of the scores", loc="left")
    densities.set_ylabel("density")
    cdfs.set_title("Cumulative distributions", loc="left")
    cdfs.set_ylabel("share of the group")
    cdfs.legend(frameon=False)
    for g, group in enumerate(info.groups):
        _draw_group(panels[1:, g], group, f"group {g}", COLOURS[g], n)
    for panel in panels.flat:
        panel.set_xlim(0, 1)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("score")
    return figure


def _draw_group(panels, group: GroupInfo, label: str, group_colour: str, n: int) -> None:
    """Draw gradients, their distance to the oracle, and hessians into three panels."""
    gradients, distances, hessians = panels
    dots = {"linestyle": "none", "marker": "o", "markersize": 7, "markeredgewidth": 0, "alpha": 0.3}
    dots |= {"color": group_colour, "label": "oracle, one sample moved"}
    gradients.plot(group.score, n * group.oracle_alone.gradient, **dots)
    hessians.plot(group.score, n * group.oracle_alone.hessian, **dots)
    scale = np.abs(group.oracle_alone.gradient).max()
    for order, (name, (_, ties, colour, width, dashes)) in enumerate(ESTIMATES.items()):
        ours = group.estimates[name]
        oracle = group.oracle_alone if ties == "right" else group.oracle_block
        deviation = np.maximum(np.abs(ours.gradient - oracle.gradient) / scale, 1e-15)
        line = {"color": colour, "linewidth": width, "linestyle": dashes, "label": name}
        gradients.plot(group.score, n * ours.gradient, **line)
        hessians.plot(group.score, n * ours.hessian, **line)
        distances.plot(group.score, deviation, ".", color=colour, markersize=6 - 1.2 * order, label=name)
    gradients.set_title(f"Gradient in each sample of {label}", loc="left")
    gradients.set_ylabel("n × gradient of $W_2^2$")
    gradients.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    gradients.legend(frameon=False, fontsize=9)
    distances.set_title(f"Distance to the oracle, {label}", loc="left")
    distances.set_ylabel("share of the\nlargest gradient")
    distances.set_yscale("log")
    distances.set_ylim(1e-15, 1)
    distances.legend(frameon=False, fontsize=9, ncols=4, loc="center", columnspacing=0.8, handletextpad=0.1)
    hessians.set_title(f"Hessian in each sample of {label}", loc="left")
    hessians.set_ylabel("n × hessian\nof $W_2^2$")
    hessians.set_ylim(0, 4)


def main(output: str | Path = "output/examples", n_samples: int = 1000, seed: int = 0) -> OracleInfo:
    """Compute, print the largest deviations and write the picture."""
    info = compute(n_samples, seed)
    distinct = " and ".join(str(len(np.unique(group.score))) for group in info.groups)
    print(f"2 x {n_samples} samples, {distinct} of them distinct; largest deviation from the oracle, relative:")
    print(f"{'':20}{'gradient, moved':>16}{'gradient, moved':>17}{'hessian':>10}")
    print(f"{'':20}{'alone':>16}{'with duplicates':>17}")
    for name, deviation in info.deviations.items():
        print(f"{name:20}{deviation.from_alone:16.1e}{deviation.from_block:17.1e}{deviation.hessian:10.1e}")
    path = Path(output) / "derivatives_against_oracle.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(info).savefig(path)
    print(f"picture: {path}")
    return info


if __name__ == "__main__":
    main(*sys.argv[1:2])
