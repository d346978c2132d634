"""What a user can say about fairness: one record, checked before anything is trained."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from otfairboost.attributes import Attributes, GroupingRules, MultiAttribute, name_column
from otfairboost.binning import check_bins
from otfairboost.class_objective import ClassObjective
from otfairboost.comparison import MULTI_GROUP, MultiGroup
from otfairboost.criteria import Target, find_criterion, stratify
from otfairboost.groups import Groups
from otfairboost.losses import SCORE_SPACES, Link, Loss, Offset, ScoreSpace, SoftmaxLoss
from otfairboost.objective import FairObjective
from otfairboost.penalty import TRANSPORTS, AnyPenalty, Penalty, TransportName
from otfairboost.penalty_sum import PenaltySum
from otfairboost.plan import Plan, plan_comparisons
from otfairboost.reduction import Reduce, alone
from otfairboost.row_derivatives import HessianForm
from otfairboost.scores import EXPONENTIAL_SCORE, IDENTITY_SCORE, LINK_SCORE, LOGISTIC, ScoreMap
from otfairboost.top_focus import TopFocus
from otfairboost.transport.exact import TIES, Ties
from otfairboost.transport.grid import MAX_BINS, MIN_BINS, default_bins
from otfairboost.transport.histogram import Scratch

Float32 = NDArray[np.float32]

CLASS_BINS = 4096
"""At most so many bins for each of several classes, unless told otherwise: their tables have to share the cache."""


@dataclass(frozen=True, kw_only=True)
class FairnessSettings:
    """The fairness parameters of an estimator, which documents them."""

    fairness: str | Callable[[Target], Any]
    fairness_weight: float
    multi_group: MultiGroup
    group_weighting: Any
    transport: TransportName
    ties: Ties
    bandwidth: float
    n_bins: int | None
    focus: float
    decision_threshold: float
    fairness_hessian: float | Literal["auto", "paper"]
    score_space: ScoreSpace = "response"
    focus_quantile: float | None = None
    sensitive_bins: Any = None
    min_group_size: int | None = None
    multi_attribute: MultiAttribute = "intersection"
    attribute_weights: Any = None
    control_bins: Any = None
    target_bins: Any = 5

    def __post_init__(self) -> None:
        if not callable(self.fairness):
            find_criterion(self.fairness)
        check_number("fairness_weight", self.fairness_weight, "a finite number >= 0", lambda v: v >= 0)
        check_choice("multi_group", self.multi_group, MULTI_GROUP)
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
        if self.focus_quantile is not None:
            allowed = "None or a number between 0 and 1"
            check_number("focus_quantile", self.focus_quantile, allowed, lambda v: 0 < v < 1)
            if self.score_space == "link":
                raise ValueError(
                    f"focus_quantile={self.focus_quantile!r} needs score_space='response', got score_space='link'"
                )
        check_number("decision_threshold", self.decision_threshold, "a number between 0 and 1", lambda v: 0 < v < 1)
        if not isinstance(self.fairness_hessian, str):
            allowed = "'auto', 'paper' or a finite number >= 0"
            check_number("fairness_hessian", self.fairness_hessian, allowed, lambda v: v >= 0)
        elif self.fairness_hessian not in ("auto", "paper"):
            raise ValueError(
                f"fairness_hessian={self.fairness_hessian!r} is unknown; allowed are 'auto', 'paper' and a number >= 0"
            )
        check_bins("control_bins", self.control_bins)
        if self.target_bins is None or isinstance(self.target_bins, Mapping):
            raise TypeError(f"target_bins={self.target_bins!r} must be a number of quantiles or a list of edges")
        check_bins("target_bins", self.target_bins)
        _ = self.grouping  # checks its part

    @property
    def grouping(self) -> GroupingRules:
        """Return how sensitive features become groups."""
        return GroupingRules(
            sensitive_bins=self.sensitive_bins,
            min_group_size=self.min_group_size,
            multi_attribute=self.multi_attribute,
            attribute_weights=self.attribute_weights,
            group_weighting=self.group_weighting,
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
            return HessianForm(2.0 * learning_rate, False)
        return HessianForm(float(self.fairness_hessian), False)

    def score_map(self, link: Link) -> ScoreMap:
        """Return what the penalty compares: probabilities sharpened by ``focus``, predictions, or what they link to."""
        if link == "identity":
            return IDENTITY_SCORE
        if link == "softmax":
            self._refuse_for_several_classes()
            return ScoreMap(LOGISTIC, float(self.focus), 0.0)
        if self.score_space == "link":
            return LINK_SCORE
        if link == "log":
            return EXPONENTIAL_SCORE
        # With focus 1 the origin would only shift probabilities around; the paper's score has none.
        origin = float(special.logit(self.decision_threshold)) if self.focus != 1 else 0.0
        return ScoreMap(LOGISTIC, float(self.focus), origin)

    def _count_bins(self, n_rows: int, plan: Plan, n_outputs: int) -> int:
        if self.n_bins is not None:
            return int(self.n_bins)
        bins = default_bins(n_rows, plan.n_cells, plan.n_groups)
        return bins if n_outputs == 1 else min(bins, CLASS_BINS)

    def _refuse_for_several_classes(self) -> None:
        if self.score_space == "link":
            raise ValueError(
                "score_space='link' is not available with more than two classes: raw predictions of a row mean "
                "something relative to each other only; allowed is 'response'"
            )
        if self.focus_quantile is not None:
            raise ValueError(
                f"focus_quantile={self.focus_quantile!r} is not available with more than two classes, which have no "
                "single ranking; leave it at None"
            )
        if self.decision_threshold != 0.5:
            raise ValueError(
                f"decision_threshold={self.decision_threshold!r} is not available with more than two classes, where "
                "the largest probability decides; leave it at 0.5"
            )

    def plan(
        self,
        target: Target,
        groups: Groups | Attributes,
        distribution_weight: Float32,
        *,
        name: str = "sensitive_features",
        reduce: Reduce = alone,
    ) -> tuple[Plan, ...]:
        """Return which rows are compared in each attribute, which does not depend on the weight."""
        strata = stratify(self.fairness, target)
        attributes = self._attributes(groups)
        return tuple(
            plan_comparisons(
                part.groups, strata, distribution_weight, part.weighting, reduce=reduce,
                name=name if len(attributes.parts) == 1 else name_column(name, part.columns[0]),
            )
            for part in attributes.parts
        )  # fmt: skip

    def objective(
        self,
        loss: Loss,
        target: Target,
        groups: Groups | Attributes,
        weight: Float32,
        distribution_weight: Float32,
        *,
        learning_rate: float,
        n_jobs: int,
        offset: Offset = 0.0,
        name: str = "sensitive_features",
        reduce: Reduce = alone,
        plan: Sequence[Plan] | None = None,
    ) -> FairObjective:
        """Return the objective on one set of rows.

        Parameters
        ----------
        loss, target, groups
            The base loss; the target; the rows' groups, or several attributes.
        weight, distribution_weight : float32 arrays of shape (n_rows,), or empty if all rows weigh 1
            Weights in the loss; weights in the groups' score distributions.
        learning_rate, n_jobs
            The booster's.
        offset : float or array of shape (n_outputs,)
            Constant that the booster's raw predictions lack.
        name : str
            What to call the sensitive features in messages.
        reduce : callable
            Sums an array over workers.
        plan : sequence of Plan, optional
            Of these rows, if it is made already (:meth:`plan`).
        """
        if plan is None:
            plan = self.plan(target, groups, distribution_weight, name=name, reduce=reduce)
        score_map, scale = self.score_map(loss.link), loss.penalty_scale(self.score_space)
        if self.focus_quantile is not None:
            score_map, scale = self._top_score(loss, target)
        weights = self._attributes(groups).weights
        y = np.ascontiguousarray(target.values, dtype=np.float32)
        form = self.hessian_form(learning_rate)
        fairness_weight = float(self.fairness_weight)
        make_penalty = partial(self._penalty, plan, weights, score_map, reduce, loss.n_outputs)
        if isinstance(loss, SoftmaxLoss):
            scratch = [Scratch() for _ in plan]
            penalties = [make_penalty(scratch) for _ in range(loss.n_outputs)]
            return ClassObjective(loss, y, weight, penalties, fairness_weight, form, n_jobs, offset, scale)
        penalty: AnyPenalty = make_penalty([None] * len(plan))
        if self.focus_quantile is not None:
            level = float(self.focus_quantile)
            penalty = TopFocus(penalty, level, score_map.steepness, distribution_weight, reduce)
        return FairObjective(loss, y, weight, penalty, fairness_weight, form, n_jobs, offset, scale, reduce)

    def _attributes(self, groups: Groups | Attributes) -> Attributes:
        return groups if isinstance(groups, Attributes) else Attributes.of(groups, self.group_weighting)

    def _penalty(
        self,
        plan: Sequence[Plan],
        weights: Sequence[float],
        score_map: ScoreMap,
        reduce: Reduce,
        n_outputs: int,
        scratch: Sequence[Scratch | None],
    ) -> Penalty | PenaltySum:
        """Return the penalty of one output: that of the attribute, or the sum of those of several."""
        parts = [
            self._attribute_penalty(one, score_map, reduce, n_outputs, own)
            for one, own in zip(plan, scratch, strict=True)
        ]
        return parts[0] if tuple(weights) == (1.0,) else PenaltySum(parts, weights)

    def _attribute_penalty(
        self, plan: Plan, score_map: ScoreMap, reduce: Reduce, n_outputs: int, scratch: Scratch | None
    ) -> Penalty:
        n_rows = int(reduce(np.array([float(len(plan.cell))]))[0])
        return Penalty(
            plan,
            score_map,
            multi_group=self.multi_group,
            transport=self.transport,
            ties=self.ties,
            bandwidth=float(self.bandwidth),
            n_bins=self._count_bins(n_rows, plan, n_outputs),
            reduce=reduce,
            scratch=scratch,
        )

    def _top_score(self, loss: Loss, target: Target) -> tuple[ScoreMap, float]:
        r"""Return what is compared around a quantile, and the penalty's factor.

        Probabilities are sharpened as by ``focus``. Of other losses :math:`\sigma(\kappa (F - t) / s)` has the slope
        :math:`\kappa / 4 s` at the quantile, so the factor :math:`16 s^2` puts a squared distance there, at
        :math:`\kappa = 1`, into the unit that it has between raw predictions.
        """
        if loss.link == "logit":
            return ScoreMap(LOGISTIC, float(self.focus), 0.0), loss.penalty_scale("response")
        unit = target.unit if loss.link == "identity" else 1.0
        return ScoreMap(LOGISTIC, self.focus / unit, 0.0), 16.0 * unit**2 * loss.penalty_scale("link")


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
