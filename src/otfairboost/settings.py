"""What a user can say about fairness: one record, checked before anything is trained."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from otfairboost.comparison import MULTI_GROUP, MultiGroup
from otfairboost.criteria import Target, find_criterion, stratify
from otfairboost.groups import Groups
from otfairboost.losses import SCORE_SPACES, Link, Loss, ScoreSpace
from otfairboost.objective import FairObjective
from otfairboost.penalty import (
    GROUP_WEIGHTINGS,
    TRANSPORTS,
    GroupWeighting,
    HessianForm,
    Penalty,
    Plan,
    TransportName,
    plan_comparisons,
)
from otfairboost.scores import EXPONENTIAL_SCORE, IDENTITY_SCORE, LINK_SCORE, LOGISTIC, ScoreMap
from otfairboost.transport.exact import TIES, Ties
from otfairboost.transport.grid import MAX_BINS, MIN_BINS, default_bins

Float32 = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class FairnessSettings:
    """The fairness parameters of an estimator, which documents them."""

    fairness: str
    fairness_weight: float
    multi_group: MultiGroup
    group_weighting: GroupWeighting
    transport: TransportName
    ties: Ties
    bandwidth: float
    n_bins: int | None
    focus: float
    decision_threshold: float
    fairness_hessian: float | Literal["auto", "paper"]
    score_space: ScoreSpace = "response"

    def __post_init__(self) -> None:
        find_criterion(self.fairness)
        check_number("fairness_weight", self.fairness_weight, "a finite number >= 0", lambda v: v >= 0)
        check_choice("multi_group", self.multi_group, MULTI_GROUP)
        check_choice("group_weighting", self.group_weighting, GROUP_WEIGHTINGS)
        check_choice("transport", self.transport, TRANSPORTS)
        check_choice("ties", self.ties, TIES)
        if self.ties != "average" and self.transport != "exact":
            raise ValueError(f"ties={self.ties!r} needs transport='exact', got transport={self.transport!r}")
        check_number("bandwidth", self.bandwidth, "a finite number > 0", lambda v: v > 0)
        if self.n_bins is not None:
            allowed = f"None or an integer from {MIN_BINS} to {MAX_BINS}"
            if isinstance(self.n_bins, bool) or not isinstance(self.n_bins, int | np.integer):
                raise TypeError(f"n_bins={self.n_bins!r} must be {allowed}, got {type(self.n_bins).__name__}")
            if not MIN_BINS <= self.n_bins <= MAX_BINS:
                raise ValueError(f"n_bins={self.n_bins!r} must be {allowed}")
        check_number("focus", self.focus, "a number from 1 to 1000", lambda v: 1 <= v <= 1000)
        check_choice("score_space", self.score_space, SCORE_SPACES)
        if self.score_space == "link" and self.focus != 1:
            raise ValueError(f"focus={self.focus!r} needs score_space='response', got score_space='link'")
        check_number("decision_threshold", self.decision_threshold, "a number between 0 and 1", lambda v: 0 < v < 1)
        if not isinstance(self.fairness_hessian, str):
            allowed = "'auto', 'paper' or a finite number >= 0"
            check_number("fairness_hessian", self.fairness_hessian, allowed, lambda v: v >= 0)
        elif self.fairness_hessian not in ("auto", "paper"):
            raise ValueError(
                f"fairness_hessian={self.fairness_hessian!r} is unknown; allowed are 'auto', 'paper' and a number >= 0"
            )

    def hessian_form(self, learning_rate: float) -> HessianForm:
        r"""Return the penalty's curvature at a learning rate.

        The booster multiplies its steps by the learning rate :math:`\eta`. With a curvature factor :math:`f` a row's
        score goes :math:`\eta / f` of the way to its target, and the target, the other groups' scores, comes to meet
        it: :math:`f \ge 2 \eta` cannot overshoot, and more only slows the accuracy part down.

        Notes
        -----
        Departure from the paper: its factor is 1 whatever the learning rate. ``fairness_hessian="paper"`` has it.
        """
        if self.fairness_hessian == "paper":
            return HessianForm(1.0, True)
        if self.fairness_hessian == "auto":
            return HessianForm(min(1.0, 2.0 * learning_rate), False)
        return HessianForm(float(self.fairness_hessian), False)

    def score_map(self, link: Link) -> ScoreMap:
        """Return what the penalty compares: probabilities sharpened by ``focus``, predictions, or what they link to."""
        if link == "identity":
            return IDENTITY_SCORE
        if self.score_space == "link":
            return LINK_SCORE
        if link == "log":
            return EXPONENTIAL_SCORE
        # With focus 1 the origin would only shift probabilities around; the paper's score has none.
        origin = float(special.logit(self.decision_threshold)) if self.focus != 1 else 0.0
        return ScoreMap(LOGISTIC, float(self.focus), origin)

    def plan(
        self,
        target: Target,
        groups: Groups,
        distribution_weight: Float32,
        *,
        name: str = "sensitive_features",
        reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda array: array,
    ) -> Plan:
        """Return which rows are compared, which does not depend on the weight; parameters as in :meth:`objective`."""
        strata = stratify(self.fairness, target)
        return plan_comparisons(groups, strata, distribution_weight, self.group_weighting, name=name, reduce=reduce)

    def objective(
        self,
        loss: Loss,
        target: Target,
        groups: Groups,
        weight: Float32,
        distribution_weight: Float32,
        *,
        learning_rate: float,
        n_jobs: int,
        offset: float = 0.0,
        name: str = "sensitive_features",
        reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda array: array,
        plan: Plan | None = None,
    ) -> FairObjective:
        """Return the objective on one set of rows.

        Parameters
        ----------
        loss, target, groups
            The base loss; the target; the rows' groups.
        weight, distribution_weight : float32 arrays of shape (n_rows,), or empty if all rows weigh 1
            Weights in the loss; weights in the groups' score distributions.
        learning_rate, n_jobs
            The booster's.
        offset : float
            Constant that the booster's raw predictions lack.
        name : str
            What to call the sensitive features in messages.
        reduce : callable
            Sums an array over workers.
        plan : Plan, optional
            Of these rows, if it is made already (:meth:`plan`).
        """
        if plan is None:
            plan = self.plan(target, groups, distribution_weight, name=name, reduce=reduce)
        n_rows = int(reduce(np.array([float(len(groups.codes))]))[0])
        penalty = Penalty(
            plan,
            self.score_map(loss.link),
            multi_group=self.multi_group,
            transport=self.transport,
            ties=self.ties,
            bandwidth=float(self.bandwidth),
            n_bins=default_bins(n_rows, plan.n_cells) if self.n_bins is None else int(self.n_bins),
            reduce=reduce,
        )
        y = np.ascontiguousarray(target.values, dtype=np.float32)
        form = self.hessian_form(learning_rate)
        scale = loss.penalty_scale(self.score_space)
        return FairObjective(loss, y, weight, penalty, float(self.fairness_weight), form, n_jobs, offset, scale, reduce)


def check_number(name: str, value: Any, allowed: str, accepts: Callable[[float], bool]) -> None:
    """Raise unless a parameter is a finite number that ``accepts`` accepts."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name}={value!r} must be {allowed}, got {type(value).__name__}")
    if not (math.isfinite(value) and accepts(float(value))):
        raise ValueError(f"{name}={value!r} must be {allowed}")


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of these names."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown; allowed are {', '.join(map(repr, allowed))}")
