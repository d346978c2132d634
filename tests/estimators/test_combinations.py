"""Every loss x criterion x kind of attribute: trained, and its own gap halved on fresh rows, or refused by name.

One table each of losses, criteria and kinds; a new one is one entry.
"""

import re
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from otfairboost import FairLGBMClassifier, FairLGBMRegressor, FairXGBClassifier, FairXGBRegressor, criteria
from otfairboost.metrics import (
    binned_equalized_odds_wasserstein,
    conditional_wasserstein_distance,
    sum_over_attributes,
    top_k_selection_rate_difference,
    wasserstein_distance,
)

TREES = {"n_jobs": 1, "learning_rate": 0.3}
LIGHTGBM = {**TREES, "num_leaves": 6, "verbosity": -1, "min_child_samples": 30}
XGBOOST = {**TREES, "max_leaves": 6, "max_depth": 3, "verbosity": 0}


class Rows(NamedTuple):
    X: np.ndarray
    mean: np.ndarray
    sex: np.ndarray
    age: np.ndarray
    level: np.ndarray
    noise: np.random.Generator


def make_rows(n_rows, seed):
    """Return rows whose target depends on sex and age beyond what level, which both raise, explains."""
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, n_rows), rng.uniform(20, 70, n_rows)
    X = rng.normal(size=(n_rows, 5))
    X[:, 0] += 1.2 * sex
    X[:, 1] += (age - 45) / 15
    X[:, 2] = sex  # so that groups differ among rows of equal target as well
    X[:, 3] = age
    level = (X[:, 4] + rng.normal(size=n_rows) > 0).astype(int) + (X[:, 4] > 1)
    mean = 0.5 * X[:, 0] + 0.5 * X[:, 1] + 0.6 * sex + 0.02 * (age - 45) + 0.4 * level
    return Rows(X, mean, np.array(["f", "m"])[sex], age, level, rng)


class LossCase(NamedTuple):
    """An estimator with its loss, and a target for it."""

    make: Callable[..., Any]
    target: Callable[[Rows], Any]
    params: dict[str, Any] = {}  # noqa: RUF012  # never written to


def real(rows):
    return 10.0 + rows.mean + 0.4 * rows.noise.normal(size=len(rows.mean))


def count(rows):
    return rows.noise.poisson(np.exp(0.6 * rows.mean)).astype(float)


def amount(rows):
    return rows.noise.gamma(3.0, np.exp(0.6 * rows.mean) / 3.0) + 1e-3


def label(rows):
    return (2.0 * rows.mean - 1.0 + rows.noise.logistic(size=len(rows.mean)) > 0).astype(int)


def grade(rows):
    return np.digitize(rows.mean + 0.4 * rows.noise.logistic(size=len(rows.mean)), [0.4, 1.4])


def share(rows):
    return np.round(1.0 / (1.0 + np.exp(1.0 - 2.0 * rows.mean)), 2)


LOSSES = {
    "binary": LossCase(FairLGBMClassifier, label, LIGHTGBM),
    "cross_entropy": LossCase(FairLGBMClassifier, label, {**LIGHTGBM, "objective": "cross_entropy"}),
    **{
        name: LossCase(FairLGBMRegressor, target, {**LIGHTGBM, "objective": name})
        for name, target in {
            "regression": real, "regression_l1": real, "huber": real, "fair": real, "quantile": real, "mape": real,
            "poisson": count, "gamma": amount, "tweedie": amount,
        }.items()
    },
    "shares": LossCase(FairLGBMRegressor, share, {**LIGHTGBM, "objective": "cross_entropy"}),
    "xgboost binary": LossCase(FairXGBClassifier, label, XGBOOST),
    "multiclass": LossCase(FairLGBMClassifier, grade, LIGHTGBM),
    "xgboost multiclass": LossCase(FairXGBClassifier, grade, XGBOOST),
    "xgboost squared": LossCase(FairXGBRegressor, real, XGBOOST),
    "xgboost absolute": LossCase(FairXGBRegressor, real, {**XGBOOST, "objective": "reg:absoluteerror"}),
}  # fmt: skip


class CriterionCase(NamedTuple):
    """A criterion: parameters, arguments of fit, and its gap as ``gap(y, score, sensitive_features, rows)``."""

    gap: Callable[..., float]
    params: dict[str, Any]
    fit: Callable[[Rows], dict[str, Any]] = lambda rows: {}
    classifier: bool = True
    classes: bool = True
    regressor: bool = True
    n_estimators: int = 15
    weights: tuple[float, ...] = (4.0, 40.0)


def among(keep):
    """Return the distance among the rows whose target is kept."""

    def gap(y, score, groups, rows):
        rows = np.flatnonzero(keep(y))
        return wasserstein_distance(None, score[rows], sensitive_features=groups[rows])

    return gap


def given_label_or_interval(y, score, groups, rows):
    if y.dtype.kind == "i":
        return max(among(lambda y, k=k: y == k)(y, score, groups, rows) for k in np.unique(y))
    return binned_equalized_odds_wasserstein(y, score, sensitive_features=groups, target_bins=3, agg="mean")


def given_level(y, score, groups, rows):
    return conditional_wasserstein_distance(
        y, score, sensitive_features=groups, control_features=rows.level, agg="mean"
    )


CRITERIA = {
    "demographic_parity": CriterionCase(
        lambda y, score, groups, rows: wasserstein_distance(y, score, sensitive_features=groups), {}
    ),
    "conditional_demographic_parity": CriterionCase(
        given_level,
        {"fairness": "conditional_demographic_parity"},
        lambda rows: {"control_features": rows.level},
    ),
    "equalized_odds": CriterionCase(given_label_or_interval, {"fairness": "equalized_odds", "target_bins": 3}),
    "true_positive_rate_parity": CriterionCase(
        among(lambda y: y == 1), {"fairness": "true_positive_rate_parity"}, classes=False, regressor=False
    ),
    "false_positive_rate_parity": CriterionCase(
        among(lambda y: y == 0), {"fairness": "false_positive_rate_parity"}, classes=False, regressor=False
    ),
    "own strata": CriterionCase(
        among(lambda y: y > y.mean()),
        {"fairness": lambda target: np.where(target.values > target.values.mean(), "upper", None)},
    ),
    "top": CriterionCase(
        lambda y, score, groups, rows: top_k_selection_rate_difference(y, score, sensitive_features=groups, top=0.3),
        {"focus_quantile": 0.7, "focus": 4.0},
        classes=False,
        n_estimators=60,  # ranks change late, and small weights leave scores their spread
        weights=(0.3, 2.0),
    ),
}


class AttributeCase(NamedTuple):
    """A kind of attribute: parameters, what fit is given, and a gap's value on fresh rows."""

    params: dict[str, Any]
    features: Callable[[Rows], Any]
    groups: Callable[[Rows], list[np.ndarray]]  # one array of groups for each gap that is added up


def generation(rows):
    return np.digitize(rows.age, [37.0, 53.0])


ATTRIBUTES = {
    "two groups": AttributeCase({}, lambda rows: rows.sex, lambda rows: [rows.sex]),
    "continuous": AttributeCase(
        {"sensitive_bins": [37.0, 53.0]}, lambda rows: rows.age, lambda rows: [generation(rows)]
    ),
    "intersection": AttributeCase(
        {"sensitive_bins": {"age": [45.0]}},
        lambda rows: pd.DataFrame({"sex": rows.sex, "age": rows.age}),
        lambda rows: [np.char.add(rows.sex, (rows.age >= 45.0).astype(str))],
    ),
    "sum": AttributeCase(
        {"sensitive_bins": {"age": [37.0, 53.0]}, "multi_attribute": "sum"},
        lambda rows: pd.DataFrame({"sex": rows.sex, "age": rows.age}),
        lambda rows: [rows.sex, generation(rows)],
    ),
}
ROWS, FRESH = make_rows(1200, 0), make_rows(1500, 1)


@pytest.fixture(scope="module")
def targets():
    """Return the targets of both sets of rows by the function that makes them."""
    return {
        target: (target(ROWS._replace(noise=np.random.default_rng(2))),
                 target(FRESH._replace(noise=np.random.default_rng(3))))
        for target in {case.target for case in LOSSES.values()}
    }  # fmt: skip


def score_of(model):
    """Return one score for each row, or, with several classes, one for each of them."""
    if not hasattr(model, "classes_"):
        return model.predict(FRESH.X)
    probability = model.predict_proba(FRESH.X)
    return probability if len(model.classes_) > 2 else probability[:, 1]


@pytest.fixture(scope="module")
def plain(targets):
    """Return a function that returns a loss's scores without a penalty, fitted once."""
    scores = {}

    def scores_of(name, n_estimators):
        if (name, n_estimators) not in scores:
            case = LOSSES[name]
            model = case.make(**{**case.params, "n_estimators": n_estimators, "fairness_weight": 0})
            scores[name, n_estimators] = score_of(model.fit(ROWS.X, targets[case.target][0]))
        return scores[name, n_estimators]

    return scores_of


COMBINATIONS = list(product(LOSSES, CRITERIA, ATTRIBUTES))


def accepts(loss, criterion):
    """Return whether the library accepts a criterion with a loss."""
    if LOSSES[loss].target is grade:
        return CRITERIA[criterion].classes
    is_classifier = LOSSES[loss].make in (FairLGBMClassifier, FairXGBClassifier)
    return CRITERIA[criterion].classifier if is_classifier else CRITERIA[criterion].regressor


def refusal(loss, criterion):
    """Return what the library says."""
    if criterion == "top":
        return "focus_quantile=0.7 is not available with more than two classes"
    if LOSSES[loss].target is grade:
        return f"fairness={criterion!r} "
    return f"fairness={criterion!r} compares groups among rows of the same label and needs a discrete target; a regr"


@pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")
@pytest.mark.parametrize(("loss", "criterion", "attribute"), [c for c in COMBINATIONS if accepts(*c[:2])])
def test_the_gap_is_halved_on_fresh_rows(loss, criterion, attribute, targets, plain):
    case, rule, kind = LOSSES[loss], CRITERIA[criterion], ATTRIBUTES[attribute]
    y, fresh_y = targets[case.target]

    def gap(score):
        columns = score.T if score.ndim == 2 else [score]
        return sum(rule.gap(fresh_y, one, groups, FRESH) for groups in kind.groups(FRESH) for one in columns)

    before = gap(plain(loss, rule.n_estimators))
    params = {**case.params, **rule.params, **kind.params, "n_estimators": rule.n_estimators}
    reached = []
    for weight in rule.weights:
        model = case.make(**params, fairness_weight=weight)
        model.fit(ROWS.X, y, sensitive_features=kind.features(ROWS), **rule.fit(ROWS))
        reached.append(gap(score_of(model)))
        if reached[-1] <= 0.5 * before:
            break
    assert min(reached) <= 0.5 * before, (before, reached)


@pytest.mark.parametrize(("loss", "criterion", "attribute"), [c for c in COMBINATIONS if not accepts(*c[:2])])
def test_what_is_not_accepted_is_refused_by_name(loss, criterion, attribute, targets):
    case, rule, kind = LOSSES[loss], CRITERIA[criterion], ATTRIBUTES[attribute]
    model = case.make(**{**case.params, **rule.params, **kind.params})
    with pytest.raises(ValueError, match="^" + re.escape(refusal(loss, criterion))):
        model.fit(ROWS.X, targets[case.target][0], sensitive_features=kind.features(ROWS), **rule.fit(ROWS))


def test_the_table_has_every_criterion():
    assert {case.params.get("fairness", "demographic_parity") for case in CRITERIA.values()} >= set(criteria.CRITERIA)


def test_summed_gaps_are_the_metric_of_the_library():
    score = FRESH.mean
    features = pd.DataFrame({"sex": FRESH.sex, "age": generation(FRESH)})
    by_hand = sum(
        wasserstein_distance(None, score, sensitive_features=groups) for groups in ATTRIBUTES["sum"].groups(FRESH)
    )
    assert sum_over_attributes("wasserstein_distance", None, score, sensitive_features=features) == by_hand
