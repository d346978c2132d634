"""FairGS and FairEG: Fairlearn's reductions around LightGBM (Agarwal et al. 2018)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from otfairboost.benchmark.methods.base import Method, Parameters, refuse_regression
from otfairboost.benchmark.methods.plain import estimator_parameters
from otfairboost.benchmark.rows import Prediction, Rows
from otfairboost.extras import require

if TYPE_CHECKING:
    import pandas as pd

    from otfairboost.benchmark.tasks import Task

NO_REGRESSION = "Fairlearn reduces demographic parity of a regression to nothing that LightGBM trains"
MEMBERS = 10  # Fairlearn's default


class FairGS(Method):
    """Fairlearn's GridSearch: LightGBM on reweighted and relabelled rows, for a grid of multipliers.

    Fairlearn's own grid reaches much too far (``grid_limit=2``: most members are useless), pushes half its members the
    wrong way, and knows nothing of group sizes. Here it is given one on which every member counts: the cost of saying
    yes to a group is changed by up to ``grid_limit`` of the cost of an error, in the direction that narrows the gap in
    the labels. With several groups, or labels to compare within, each has a random factor of the configuration's.

    In a search every configuration is one point of that grid: one model, as with all methods, and chosen as all are by
    results on rows not trained on. Without one it is a grid of ten, of which Fairlearn picks by its own trade-off on
    the training rows; the others come along.
    """

    name = "fair_gs"
    title = "FairGS"

    def extra_reason(self, task: Task) -> str | None:
        """Return that it is for classification."""
        return refuse_regression(task, NO_REGRESSION)

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw a point of the grid: how far, and in which direction."""
        limit = float(rng.uniform(0.02, 0.5))
        return {"grid_limit": limit, "grid_size": 1, "direction_seed": int(rng.integers(2**31))}

    def default(self, task: Task) -> Parameters:
        """Return a grid straight towards parity."""
        return {"grid_limit": 0.4, "grid_size": MEMBERS, "direction_seed": None}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train all members and predict with the one that Fairlearn picks."""
        reductions = require("fairlearn.reductions", "benchmark")
        search = reductions.GridSearch(
            lgb.LGBMClassifier(**estimator_parameters(shared, n_jobs, seed)),
            _constraints(task, train),
            grid=multiplier_grid(task, train, **own),
        )
        _fit(search, train)
        members = [Prediction(_probability(member, test)) for member in search.predictors_]
        best = members.pop(search.best_idx_)
        return best._replace(extra=tuple(members))


class FairEG(Method):
    """Fairlearn's ExponentiatedGradient: a randomised rule over LightGBM models.

    Decisions are those of the rule, so gaps are the rule's. As a score its share of yes-votes would be poor for no
    reason (two models, two levels), so rows are ranked by the models' mean probability, weighted as in the rule.
    Fairlearn's bound is for a group against all rows; the gap between two groups may be twice as large.
    """

    name = "fair_eg"
    title = "FairEG"
    fits = 26  # calls of LightGBM until it converged, Tennessee by sex

    def extra_reason(self, task: Task) -> str | None:
        """Return that it is for classification."""
        return refuse_regression(task, NO_REGRESSION)

    def sample(self, rng: np.random.Generator, task: Task) -> Parameters:
        """Draw the bound on the gap, from the paper's space."""
        return {"difference_bound": float(rng.uniform(0.005, 0.1))}

    def default(self, task: Task) -> Parameters:
        """Return Fairlearn's default."""
        return {"difference_bound": 0.01}

    def fit_predict(
        self, task: Task, shared: Parameters, own: Parameters, train: Rows, test: Rows, n_jobs: int, seed: int,
        shared_dataset: lgb.Dataset | None = None,
    ) -> Prediction:  # fmt: skip
        """Train the rule; rank by its models and decide by it."""
        reductions = require("fairlearn.reductions", "benchmark")
        constraints = _constraints(task, train, own["difference_bound"])
        rule = reductions.ExponentiatedGradient(
            lgb.LGBMClassifier(**estimator_parameters(shared, n_jobs, seed)),
            constraints,
            objective=constraints.default_objective(),
        )
        _fit(rule, train)
        used = [(weight, rule.predictors_[i]) for i, weight in rule.weights_.items() if weight > 0]
        score = sum(weight * _probability(model, test) for weight, model in used)
        vote = sum(weight * np.asarray(model.predict(test.X), dtype=np.float64) for weight, model in used)
        label = vote >= np.random.default_rng(seed).random(len(vote))  # as Fairlearn's predict does
        return Prediction(np.asarray(score), label.astype(np.int64))


def _constraints(task: Task, train: Rows, bound: float | None = None) -> Any:
    """Return Fairlearn's constraints, whose default objective has the costs that the training weights ask for.

    The reductions take no row weights. Those of a task depend on the label only, which is what costs of errors are.
    """
    reductions = require("fairlearn.reductions", "benchmark")
    base = reductions.DemographicParity if task.criterion == "demographic_parity" else reductions.EqualizedOdds
    weights = train.label_weights() or {0: 1.0, 1: 1.0}
    costs = {"fp": weights[0], "fn": weights[1]}

    class Constraints(base):  # type: ignore[misc, valid-type]
        def default_objective(self) -> Any:
            return reductions.ErrorRate(costs=costs)

    return Constraints(difference_bound=bound)


def _fit(reduction: Any, train: Rows) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"fairlearn\.")  # of how it uses pandas
        reduction.fit(train.X, train.y.astype(np.int64), sensitive_features=train.s)


def multiplier_grid(
    task: Task, train: Rows, grid_limit: float, grid_size: int, direction_seed: int | None
) -> pd.DataFrame:
    r"""Return Lagrange multipliers, one column for each member, indexed as Fairlearn indexes its constraints.

    With Fairlearn's signed weights :math:`\sum_h \lambda_h - \lambda_g / P(g)`, the multipliers
    :math:`\lambda_g = -P(g) d_g` with :math:`\sum_g P(g) d_g = 0` shift the cost of every row of group g by
    :math:`d_g`, whatever the group's size.
    """
    pandas = require("pandas", "benchmark")
    events = {"all": np.ones(len(train.y), dtype=bool)}
    if task.criterion == "equalized_odds":
        events = {f"label={label}": train.y == label for label in (0, 1)}
    groups = sorted(set(train.s))
    rng = None if direction_seed is None else np.random.default_rng(direction_seed)
    multipliers = {}
    for event, rows in events.items():
        shares = np.array([np.mean(rows & (train.s == group)) for group in groups])
        rates = np.array([train.y[train.s == group].mean() for group in groups])
        shift = _direction(rates, shares / shares.sum(), rng) * grid_limit
        for group, value in zip(groups, -shares * shift, strict=True):
            multipliers["+", event, group] = max(value, 0.0)
            multipliers["-", event, group] = max(-value, 0.0)
    index = pandas.MultiIndex.from_tuples(list(multipliers), names=["sign", "event", "group_id"])
    full = pandas.Series(list(multipliers.values()), index=index).sort_index()
    return pandas.DataFrame({i: full * ((i + 1) / grid_size) for i in range(grid_size)})


def _direction(rates: NDArray, shares: NDArray, rng: np.random.Generator | None) -> NDArray:
    """Return the groups' shifts towards parity: mean 0, the largest 1, with random factors if there is a generator."""
    shift = shares @ rates - rates
    if rng is not None:
        shift = shift * rng.uniform(0.3, 1.7, len(shift))
    shift = shift - shares @ shift
    return shift / np.abs(shift).max()


def _probability(model: Any, rows: Rows) -> NDArray[np.float64]:
    """Return the probability of a member; one that saw a single label has a column for that only."""
    probability = np.asarray(model.predict_proba(rows.X), dtype=np.float64)
    if probability.shape[1] == 1:
        return np.full(len(probability), float(model.classes_[0]))
    return probability[:, 1]
