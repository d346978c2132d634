r"""The hessian matrix of W2^2 in the samples of one group, by finite differences.

A booster uses one curvature per row, as if the hessian matrix were diagonal. Here an oracle moves two samples at a time
and measures every entry. Run it with

    python examples/oracle_hessian_matrix.py [folder for the picture]

What to look for:

- Left: sample i moves down and sample j moves up (the paper's mixed one-sided derivative; on the diagonal, the second
  right-hand derivative). The diagonal is 2 / n and all else is 0, duplicates included: the matrix is diagonal.
- Right: both samples move up. Distinct samples still give 0. Duplicates, the squares along the diagonal, compete for
  the same place in the order, and W2^2 has a kink there: the quotient doubles when the step is halved, so that there is
  no derivative for it to approach.

References
----------
The paper, appendix "Non-Diagonal Hessian Terms".
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

GRID = 1e-3  # scores are multiples of this, so that no two distinct ones are closer
STEP = 1e-4  # the oracle's; twice the step is less than GRID


class HessianInfo(NamedTuple):
    """What the picture shows."""

    score: np.ndarray  # of the first group, ascending
    mixed: np.ndarray  # of shape (n, n): row i moves down, row j up
    same_side: np.ndarray  # of shape (n, n): both move up
    same_side_half: np.ndarray  # the same with half the step

    @property
    def off_diagonal(self) -> float:
        """Return the largest mixed entry off the diagonal, relative to the diagonal's mean."""
        return _largest_off_diagonal(self.mixed)

    @property
    def same_side_growth(self) -> float:
        """Return how much the largest same-side entry grows when the step is halved."""
        return _largest_off_diagonal(self.same_side_half) / _largest_off_diagonal(self.same_side)


def _largest_off_diagonal(matrix: np.ndarray) -> float:
    rest = matrix[~np.eye(len(matrix), dtype=bool)]
    return float(np.abs(rest).max() / np.diag(matrix).mean())


def simulate(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of two groups, ascending: Beta distributed, three in ten of them on a few common values."""
    rng = np.random.default_rng(seed)
    groups = []
    for a, b in ((2.0, 4.5), (4.0, 3.0)):
        score = rng.beta(a, b, n_samples)
        repeated = rng.random(n_samples) < 0.3
        score[repeated] = rng.choice(rng.beta(a, b, 8), repeated.sum())
        groups.append(np.sort(np.round(score / GRID) * GRID))
    return groups[0], groups[1]


def mixed_differences(score: np.ndarray, other: np.ndarray, step_i: float, step_j: float) -> np.ndarray:
    r"""Return, for all pairs of samples, the quotient of W2^2 when i moves by ``step_i`` and j by ``step_j``.

    .. math:: [W(i, j) - W(i) - W(j) + W()] / (step_i \, step_j)

    with W(...) the W2^2 when these samples have moved. For groups of equal size it is the mean of squared differences
    of the sorted scores. Differences are taken term by term, so that terms which did not change cancel without
    rounding. The diagonal holds the second right-hand derivative.
    """
    n = len(score)
    up = np.eye(n) * step_j

    def costs(moved: np.ndarray) -> np.ndarray:
        moved.sort(axis=-1)
        moved -= other
        return np.square(moved, out=moved)

    still = costs(score.copy())
    change_j = costs(score + up) - still
    matrix, buffer = np.empty((n, n)), np.empty((n, n))
    for i in range(n):
        moved = score.copy()
        moved[i] += step_i
        change = costs(np.add(moved, up, out=buffer))
        change -= costs(moved)
        change -= change_j
        matrix[i] = change.sum(axis=1)
    matrix /= n * step_i * step_j
    second = costs(score + 2 * up) - still - 2 * change_j
    np.fill_diagonal(matrix, second.sum(axis=1) / (n * step_j**2))
    return matrix


def compute(n_samples: int = 500, seed: int = 0) -> HessianInfo:
    """Measure the matrix on the first of two groups of that many samples."""
    score, other = simulate(n_samples, seed)
    # When two duplicates move up together, the second step is the shorter one: equal steps would leave them tied.
    return HessianInfo(
        score,
        mixed_differences(score, other, -STEP, STEP),
        mixed_differences(score, other, STEP, STEP / 2),
        mixed_differences(score, other, STEP / 2, STEP / 4),
    )


def draw(info: HessianInfo):
    """Return the picture, a matplotlib figure."""
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    n = len(info.score)
    figure = Figure(figsize=(11.5, 5.4), layout="constrained", dpi=130)
    panels = figure.subplots(1, 2, sharey=True)
    matrices = {"One sample down, one up": info.mixed, "Both samples up: no limit on duplicates": info.same_side}
    norm = SymLogNorm(linthresh=0.02, vmin=-200.0, vmax=200.0)  # both signs and several magnitudes
    for panel, (title, matrix) in zip(panels, matrices.items(), strict=True):
        image = panel.imshow(n * matrix, cmap="PuOr_r", norm=norm, interpolation="nearest")
        panel.set_title(title, loc="left")
        panel.set_xlabel("sample j, in ascending order of score")
    panels[0].set_ylabel("sample i, in ascending order of score")
    bar = figure.colorbar(image, ax=panels, shrink=0.85, ticks=[-200, -2, -0.02, 0, 0.02, 2, 200])
    bar.ax.set_yticklabels(["−200", "−2", "−0.02", "0", "0.02", "2", "200"])
    bar.set_label("n × hessian entry")
    return figure


def main(output: str | Path = "output/examples", n_samples: int = 500, seed: int = 0) -> HessianInfo:
    """Compute, print the largest off-diagonal entries and write the picture."""
    info = compute(n_samples, seed)
    diagonal = n_samples * np.diag(info.mixed)
    print(f"{n_samples} samples, {len(np.unique(info.score))} of them distinct")
    print(f"n x diagonal: {diagonal.min():.9f} to {diagonal.max():.9f} (Proposition 1: 2)")
    print(f"largest off-diagonal entry, relative to the diagonal: {info.off_diagonal:.1e} (one down, one up)")
    print(
        f"with both up: {_largest_off_diagonal(info.same_side):.1e}, "
        f"and {info.same_side_growth:.2f} times as much with half the step"
    )
    path = Path(output) / "oracle_hessian_matrix.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(info).savefig(path)
    print(f"picture: {path}")
    return info


if __name__ == "__main__":
    main(*sys.argv[1:2])
