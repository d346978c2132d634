r"""Metrics: what users report, select models by and stop early on.

Names and signatures are Fairlearn's: ``metric(y_true, y_pred, *, sensitive_features, sample_weight=None)``.
*Label* metrics take decisions as ``y_pred``, *score* metrics take probabilities or predictions; ``METRICS``
lists them by name. In every fairness metric

- a row whose sensitive feature is missing belongs to no group, and not to the "rest" or the "overall" either;
- a row of weight w counts as w equal rows, so rows and groups of weight 0 are absent;
- several sensitive columns form intersections, one group per combination of values;
- fewer than two groups are an error.

scikit-learn's ``make_scorer`` makes scorers of them. This one suits classifiers and regressors alike:

>>> import sklearn
>>> from sklearn.metrics import make_scorer
>>> from otfairboost.metrics import wasserstein_distance
>>> scores = ("predict_proba", "predict")
>>> with sklearn.config_context(enable_metadata_routing=True):
...     scorer = make_scorer(wasserstein_distance, response_method=scores, greater_is_better=False)
...     scorer = scorer.set_score_request(sensitive_features=True)
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics as sklearn_metrics

from otfairboost.groups import encode_groups, format_label
from otfairboost.transport import measure_sample, wasserstein_squared

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Method = Literal["between_groups", "to_overall", "one_vs_rest"]

# The rows a rate is taken over: all (None), those whose true label is positive (True), or negative (False).
_RATES: dict[str, bool | None] = {
    "selection_rate": None,
    "true_positive_rate": True,
    "false_positive_rate": False,
}


def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the largest difference between the groups' selection rates.

    .. math:: \Delta DP = \max_s P(\hat Y = 1 | S = s) - \min_s P(\hat Y = 1 | S = s)

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        True labels. Selection rates ignore them.
    y_pred : array-like of shape (n_rows,)
        Decisions: ``pos_label`` and one other label. Probabilities are refused.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare.
    method : {"between_groups", "to_overall", "one_vs_rest"}
        Compare the extreme groups with each other (the formula), each group with all rows together (these two
        as in Fairlearn), or each with all other groups together. The worst comparison counts.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights, not negative.
    pos_label : scalar
        The label that means "selected". Labels may be 0/1, booleans, -1/1 or strings.

    Returns
    -------
    float
        Between 0 (parity) and 1.

    References
    ----------
    The paper, Eq. (13), there for two groups.
    """
    (rates,) = _read_rates(["selection_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.difference(method)


def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the smallest ratio between the groups' selection rates (disparate impact).

    .. math:: DI = \min_s P(\hat Y = 1 | S = s) \, / \, \max_s P(\hat Y = 1 | S = s)

    Parameters are those of :func:`demographic_parity_difference`. 1 is parity; NaN, as in Fairlearn, where
    nobody is selected. The paper, Eq. (14), there for two groups.
    """
    (rates,) = _read_rates(["selection_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.ratio(method)


def true_positive_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the largest difference between the groups' true positive rates (equal opportunity).

    .. math:: \max_s P(\hat Y = 1 | Y = 1, S = s) - \min_s P(\hat Y = 1 | Y = 1, S = s)

    Parameters are those of :func:`demographic_parity_difference`. A group without positive rows has no such
    rate: as in Fairlearn it counts as 0, which can make the gap look large. :func:`group_rates` shows NaN.
    """
    (rates,) = _read_rates(["true_positive_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.difference(method)


def false_positive_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> float:
    r"""Return the largest difference between the groups' false positive rates (predictive equality).

    .. math:: \max_s P(\hat Y = 1 | Y = 0, S = s) - \min_s P(\hat Y = 1 | Y = 0, S = s)

    Parameters are those of :func:`demographic_parity_difference`. A group without negative rows counts as 0.
    """
    (rates,) = _read_rates(["false_positive_rate"], y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return rates.difference(method)


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Literal["worst_case", "mean", "sum"] = "worst_case",
    pos_label: Any = 1,
) -> float:
    r"""Return the larger of :func:`true_positive_rate_difference` and :func:`false_positive_rate_difference`.

    .. math:: \max_y [ \max_s P(\hat Y = 1 | Y = y, S = s) - \min_s P(\hat Y = 1 | Y = y, S = s) ]

    Parameters are those of :func:`demographic_parity_difference`; ``agg`` makes one number of the two gaps:
    the larger, their mean (both as in Fairlearn) or their sum (:func:`equalized_odds_sum`).
    """
    aggregates: dict[str, Callable[[list[float]], Any]] = {"worst_case": max, "mean": np.mean, "sum": sum}
    _check_choice("agg", agg, aggregates)
    odds = ["true_positive_rate", "false_positive_rate"]
    both = _read_rates(odds, y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return float(aggregates[agg]([rates.difference(method) for rates in both]))


def equalized_odds_sum(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    r"""Return the sum of :func:`true_positive_rate_difference` and :func:`false_positive_rate_difference`.

    .. math:: \Delta EOdds = \sum_y [ \max_s P(\hat Y = 1 | Y = y, S = s) - \min_s P(\hat Y = 1 | Y = y, S = s) ]

    Between 0 and 2. The paper, "Evaluation Metrics": its numbers come out by the sum, not by the larger gap.
    Parameters are those of :func:`demographic_parity_difference`.
    """
    keywords = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
    }
    return equalized_odds_difference(y_true, y_pred, agg="sum", **keywords)


def one_vs_rest_demographic_parity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    r"""Return the largest gap between a group's selection rate and that of all other groups together.

    .. math:: \Delta_{max} DP = \max_s | P(\hat Y = 1 | S = s) - P(\hat Y = 1 | S \neq s) |

    :func:`demographic_parity_difference` with ``method="one_vs_rest"``, whose parameters it takes. The paper,
    "Evaluation Metrics", multi-class sensitive variable.
    """
    keywords = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
    }
    return demographic_parity_difference(y_true, y_pred, method="one_vs_rest", **keywords)


def group_rates(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    rate: str = "selection_rate",
    sample_weight: Any = None,
    pos_label: Any = 1,
) -> dict[Any, float]:
    """Return the rate of each group, by group label; NaN where a group has no row to take it over.

    ``rate`` is "selection_rate", "true_positive_rate" or "false_positive_rate"; the other parameters are
    those of :func:`demographic_parity_difference`. One group is enough here.
    """
    _check_choice("rate", rate, _RATES)
    (rates,) = _read_rates([rate], y_true, y_pred, sensitive_features, sample_weight, pos_label, min_groups=1)
    return dict(zip(rates.labels, rates.by_group(undefined=np.nan).tolist(), strict=True))


def selection_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = 1) -> float:
    r"""Return :math:`P(\hat Y = 1)`, for Fairlearn's ``MetricFrame``; ``y_true`` is ignored."""
    return _read_overall("selection_rate", y_true, y_pred, sample_weight, pos_label)


def true_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = 1) -> float:
    r"""Return :math:`P(\hat Y = 1 | Y = 1)`, for Fairlearn's ``MetricFrame``; 0 without positive rows."""
    return _read_overall("true_positive_rate", y_true, y_pred, sample_weight, pos_label)


def false_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = 1) -> float:
    r"""Return :math:`P(\hat Y = 1 | Y = 0)`, for Fairlearn's ``MetricFrame``; 0 without negative rows."""
    return _read_overall("false_positive_rate", y_true, y_pred, sample_weight, pos_label)


def wasserstein_distance(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    r"""Return the Wasserstein-2 distance between the groups' score distributions, not squared.

    .. math:: \max_s W_2(\mu_s, \mu_{\neg s})

    With two groups this is their distance; with more, the largest distance of a group to all others together.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or None
        Ignored.
    y_pred : array-like of shape (n_rows,)
        Scores: probabilities of the positive class, or predictions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights, not negative.

    Returns
    -------
    float
        In the unit of the scores; 0 means equal distributions.

    References
    ----------
    The paper, Eq. (8).
    """
    return _compare_one_vs_rest(_distance, y_true, y_pred, sensitive_features, sample_weight)


def kolmogorov_smirnov(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    r"""Return the largest difference between the groups' cumulative score distributions.

    .. math:: D_{KS} = \max_s \sup_\tau | P(\hat Y \leq \tau | S = s) - P(\hat Y \leq \tau | S \neq s) |

    The largest :func:`one_vs_rest_demographic_parity` that any threshold gives. Parameters are those of
    :func:`wasserstein_distance`. The paper, "Evaluation Metrics", regression.
    """
    return _compare_one_vs_rest(_largest_cdf_gap, y_true, y_pred, sensitive_features, sample_weight)


def normalized_wasserstein(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    r"""Return the squared Wasserstein-2 distance relative to the spread of the scores.

    .. math:: \max_s \frac{W_2^2(\mu_s, \mu_{\neg s})}{\sigma_s^2 + \sigma_{\neg s}^2}

    Parameters are those of :func:`wasserstein_distance`. The variances have no n - 1 correction. Where both
    sides are constant: 0 if they are equal, else infinity. The paper, appendix "Empirical Convergence".
    """
    return _compare_one_vs_rest(_relative_cost, y_true, y_pred, sensitive_features, sample_weight)


def average_precision(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    """Return the average precision (PR AUC) of scores; ``sensitive_features`` is ignored."""
    positive, score = _read_labels("y_true", y_true, pos_label)[0], _read_floats("y_pred", y_pred)
    return float(sklearn_metrics.average_precision_score(positive, score, sample_weight=sample_weight))


def roc_auc(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    """Return the area under the ROC curve of scores; ``sensitive_features`` is ignored."""
    positive, score = _read_labels("y_true", y_true, pos_label)[0], _read_floats("y_pred", y_pred)
    return float(sklearn_metrics.roc_auc_score(positive, score, sample_weight=sample_weight))


def log_loss(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None, pos_label: Any = 1
) -> float:
    """Return the log loss of the positive class's probabilities; ``sensitive_features`` is ignored."""
    positive, score = _read_labels("y_true", y_true, pos_label)[0], _read_floats("y_pred", y_pred)
    return float(sklearn_metrics.log_loss(positive, score, sample_weight=sample_weight, labels=[False, True]))


def accuracy(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> float:
    """Return the share of right labels; ``sensitive_features`` is ignored."""
    return float(sklearn_metrics.accuracy_score(y_true, y_pred, sample_weight=sample_weight))


def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None
) -> float:
    """Return the mean absolute error; ``sensitive_features`` is ignored."""
    return float(sklearn_metrics.mean_absolute_error(y_true, y_pred, sample_weight=sample_weight))


def mean_squared_error(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> float:
    """Return the mean squared error; ``sensitive_features`` is ignored."""
    return float(sklearn_metrics.mean_squared_error(y_true, y_pred, sample_weight=sample_weight))


class Metric(NamedTuple):
    """A metric and how to use it.

    Attributes
    ----------
    name : str
        Its name in ``METRICS``.
    function : callable
        ``function(y_true, y_pred, sensitive_features=..., sample_weight=...) -> float``.
    kind : {"label", "score"}
        Whether ``y_pred`` are decisions or scores.
    greater_is_better : bool
        The direction of improvement.
    """

    name: str
    function: Callable[..., float]
    kind: Literal["label", "score"]
    greater_is_better: bool


def tradeoff_objective(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    alpha: float = 0.75,
    performance: str | Metric | Callable[..., float] = "average_precision",
    fairness: str | Metric | Callable[..., float] = "demographic_parity_difference",
    threshold: float = 0.5,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    r"""Return a weighted mean of performance and fairness; greater is better.

    .. math:: Obj_\alpha = \alpha \cdot Performance + (1 - \alpha) (1 - Fairness)

    The paper's Eq. (15), with its choices for classification as defaults. Its regression has
    ``performance="mean_absolute_error"``, which enters as 1 - MAE like any loss, and
    ``fairness="wasserstein_distance"``.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels, 0/1 or booleans unless ``pos_label`` is given, or a continuous target.
    y_score : array-like of shape (n_rows,)
        Probabilities of the positive class, or predictions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
        Whom to compare. Rows where it is missing still count in the performance.
    alpha : float
        Share of the performance, from 0 to 1.
    performance, fairness : str, Metric or callable
        A name in ``METRICS``, or a callable on scores: a performance to be large, a fairness gap to be small.
    threshold : float
        Label metrics see the decisions ``y_score >= threshold``.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights, not negative.
    pos_label : scalar, optional
        The positive class in ``y_true``.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha!r} is not allowed; it must lie between 0 and 1")
    score = _read_floats("y_score", y_score)
    if pos_label is not None:
        y_true = _read_labels("y_true", y_true, pos_label)[0].astype(int)
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}

    def goodness(metric: Metric, **keywords: Any) -> float:
        y_pred = (score >= threshold).astype(int) if metric.kind == "label" else score
        value = metric.function(y_true, y_pred, **keywords)
        return value if metric.greater_is_better else 1.0 - value

    performance = _find_metric("performance", performance, greater_is_better=True)
    fairness = _find_metric("fairness", fairness, greater_is_better=False)
    parity = goodness(fairness, sensitive_features=sensitive_features, **weighted)
    return float(alpha * goodness(performance, **weighted) + (1.0 - alpha) * parity)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("demographic_parity_difference", demographic_parity_difference, "label", False),
        Metric("demographic_parity_ratio", demographic_parity_ratio, "label", True),
        Metric("one_vs_rest_demographic_parity", one_vs_rest_demographic_parity, "label", False),
        Metric("true_positive_rate_difference", true_positive_rate_difference, "label", False),
        Metric("false_positive_rate_difference", false_positive_rate_difference, "label", False),
        Metric("equalized_odds_difference", equalized_odds_difference, "label", False),
        Metric("equalized_odds_sum", equalized_odds_sum, "label", False),
        Metric("wasserstein_distance", wasserstein_distance, "score", False),
        Metric("kolmogorov_smirnov", kolmogorov_smirnov, "score", False),
        Metric("normalized_wasserstein", normalized_wasserstein, "score", False),
        Metric("tradeoff_objective", tradeoff_objective, "score", True),
        Metric("average_precision", average_precision, "score", True),
        Metric("roc_auc", roc_auc, "score", True),
        Metric("accuracy", accuracy, "label", True),
        Metric("log_loss", log_loss, "score", False),
        Metric("mean_absolute_error", mean_absolute_error, "score", False),
        Metric("mean_squared_error", mean_squared_error, "score", False),
    )
}
"""All metrics by name."""


def get_metric(name: str) -> Metric:
    """Return the metric of that name; an unknown one is an error that lists the known."""
    return _find_metric("metric", name, greater_is_better=True)


def _find_metric(argument: str, metric: Any, *, greater_is_better: bool) -> Metric:
    """Resolve a name, a Metric or a function; a function that is not in ``METRICS`` takes scores."""
    if isinstance(metric, str):
        _check_choice(argument, metric, METRICS)
        return METRICS[metric]
    if isinstance(metric, Metric):
        return metric
    if not callable(metric):
        raise TypeError(f"{argument} is a {type(metric).__name__}; allowed are a name, a Metric and a function")
    known = (entry for entry in METRICS.values() if entry.function is metric)
    return next(known, Metric(getattr(metric, "__name__", repr(metric)), metric, "score", greater_is_better))


class _Rates(NamedTuple):
    """Of each group: the weight of the rows a rate is taken over, and of those of them that are selected."""

    labels: tuple[Any, ...]
    selected: Floats
    total: Floats

    def by_group(self, undefined: float = 0.0) -> Floats:
        return _divide(self.selected, self.total, undefined)

    def overall(self) -> float:
        return float(_divide(self.selected.sum(keepdims=True), self.total.sum(keepdims=True))[0])

    def difference(self, method: str) -> float:
        return float(np.abs(self.by_group() - self._reference(method)).max())

    def ratio(self, method: str) -> float:
        low, high = np.sort([self.by_group(), self._reference(method)], axis=0)
        return float(_divide(low, high, np.nan).min())

    def _reference(self, method: str) -> Floats:
        """Return what each group's rate is compared with."""
        _check_choice("method", method, ("between_groups", "to_overall", "one_vs_rest"))
        if method == "one_vs_rest":
            others = 1.0 - np.eye(len(self.labels))
            return _divide(others @ self.selected, others @ self.total)
        return np.full(len(self.labels), self.overall() if method == "to_overall" else self.by_group().max())


def _divide(numerator: Floats, denominator: Floats, undefined: float = 0.0) -> Floats:
    """Divide; ``undefined`` where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, undefined), where=denominator > 0)


def _read_rates(
    names: Iterable[str],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    pos_label: Any,
    min_groups: int = 2,
) -> list[_Rates]:
    """Check the input and add up the weights behind each rate, by group."""
    decided, other_decision = _read_labels("y_pred", y_pred, pos_label)
    rows = _read_rows(y_true, len(decided), sensitive_features, sample_weight, min_groups)
    conditions = [_RATES[name] for name in names]
    weights = [rows.weight for _ in conditions]
    if conditions != [None]:
        positive, other_label = _read_labels("y_true", y_true, pos_label)
        if None not in (other_label, other_decision) and other_label != other_decision:
            raise ValueError(
                f"besides pos_label={pos_label!r} y_true has {other_label!r} and y_pred {other_decision!r}; "
                "both need the same two labels"
            )
        weights = [rows.weight * (positive[rows.counted] == condition) for condition in conditions]
    selected = decided[rows.counted]
    return [_Rates(rows.labels, rows.add_up(weight * selected), rows.add_up(weight)) for weight in weights]


def _read_overall(name: str, y_true: Any, y_pred: Any, sample_weight: Any, pos_label: Any) -> float:
    everyone = np.zeros(len(y_pred))
    return _read_rates([name], y_true, y_pred, everyone, sample_weight, pos_label, min_groups=1)[0].overall()


def _compare_one_vs_rest(
    compare: Callable[[Floats, Floats, Bools], float],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
) -> float:
    """Return the largest ``compare(score, weight, member)`` over the groups; the scores are ascending."""
    score = _read_floats("y_pred", y_pred)
    rows = _read_rows(y_true, len(score), sensitive_features, sample_weight)
    score = score[rows.counted]
    order = np.argsort(score, kind="stable")
    score, weight, codes = score[order], rows.weight[order], rows.codes[order]
    n_compared = 1 if len(rows.labels) == 2 else len(rows.labels)  # of two groups, each is the other's rest
    return max(compare(score, weight, codes == code) for code in range(n_compared))


def _cost(score: Floats, weight: Floats, member: Bools) -> float:
    return wasserstein_squared(score[member], score[~member], weight[member], weight[~member])


def _distance(score: Floats, weight: Floats, member: Bools) -> float:
    return float(np.sqrt(_cost(score, weight, member)))


def _relative_cost(score: Floats, weight: Floats, member: Bools) -> float:
    cost = _cost(score, weight, member)
    sides = [measure_sample(score[side], weight[side]).measure for side in (member, ~member)]
    if all(len(side.atoms) == 1 for side in sides):
        return np.inf if cost > 0 else 0.0
    return cost / sum(side.variance() for side in sides)


def _largest_cdf_gap(score: Floats, weight: Floats, member: Bools) -> float:
    inside, outside = np.cumsum(np.where(member, weight, 0.0)), np.cumsum(np.where(member, 0.0, weight))
    gap = np.abs(inside / inside[-1] - outside / outside[-1])
    last_of_equal = np.append(score[1:] > score[:-1], True)  # where the value of a CDF stands
    return float(gap[last_of_equal].max())


class _Rows(NamedTuple):
    """The rows that count: those of some group and of positive weight."""

    counted: Bools  # of all rows; weight and codes are those of the counted rows
    weight: Floats
    codes: NDArray[np.intp]
    labels: tuple[Any, ...]

    def add_up(self, values: Floats) -> Floats:
        return np.bincount(self.codes, weights=values, minlength=len(self.labels)).astype(np.float64)


def _read_rows(y_true: Any, n_rows: int, sensitive_features: Any, sample_weight: Any, min_groups: int = 2) -> _Rows:
    groups = encode_groups(sensitive_features)
    weight = np.ones(n_rows) if sample_weight is None else _read_floats("sample_weight", sample_weight)
    n_true = n_rows if y_true is None else len(_read_column("y_true", y_true))
    lengths = {"y_true": n_true, "sensitive_features": len(groups.codes), "sample_weight": len(weight)}
    for name, length in lengths.items():
        if length != n_rows:
            raise ValueError(f"{name} has {length} rows, but y_pred has {n_rows}; both need the same number")
    if (weight < 0).any() or not (weight > 0).any():
        raise ValueError(
            f"sample_weight lies between {weight.min()} and {weight.max()}; "
            "no weight may be negative and at least one must be positive"
        )
    weight = weight / weight.max()  # a sum of huge weights must not overflow
    counted = (groups.codes >= 0) & (weight > 0)
    present = np.bincount(groups.codes[counted], minlength=len(groups.labels)) > 0
    labels = tuple(label for label, kept in zip(groups.labels, present, strict=True) if kept)
    if len(labels) < min_groups:
        found = ", ".join(map(format_label, labels)) or "none"
        raise ValueError(
            f"sensitive_features must hold at least {min_groups} group(s) among the rows of positive weight, "
            f"found {len(labels)}: {found}"
        )
    return _Rows(counted, weight[counted], (np.cumsum(present) - 1)[groups.codes[counted]], labels)


def _read_labels(name: str, values: Any, pos_label: Any) -> tuple[Bools, Any]:
    """Return which labels are positive, and the other label (None if all are); refuse anything else."""
    labels = _read_column(name, values)
    try:
        positive = np.asarray(labels == pos_label, dtype=bool)
    except TypeError:  # pandas.NA is neither equal nor unequal
        raise ValueError(f"{name} holds missing values; a label metric needs every label") from None
    others = labels[~positive]
    if len(others) == 0:
        return positive, None
    other = others[:1].tolist()[0]
    if isinstance(other, str) or isinstance(pos_label, str):  # text goes with text
        is_class = isinstance(other, str) and isinstance(pos_label, str)
    else:  # a fraction is a score, not a class
        is_class = isinstance(other, int | float | np.number) and float(other).is_integer()
    if not is_class or not (others == other).all():
        seen = list(dict.fromkeys(map(repr, others[:1000].tolist())))
        raise ValueError(
            f"{name} holds {', '.join(seen[:5])} besides pos_label={pos_label!r}; allowed are pos_label and one "
            "other label (set pos_label if yours is another; compare probabilities with a threshold first)"
        )
    return positive, other


def _read_floats(name: str, values: Any) -> Floats:
    column = _read_column(name, values)
    if column.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {column.dtype}; allowed are numbers")
    floats = column.astype(np.float64)
    n_bad = np.count_nonzero(~np.isfinite(floats))
    if n_bad:
        raise ValueError(f"{name} holds {n_bad} NaN or infinite values; all must be finite")
    return floats


def _read_column(name: str, values: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or len(column) == 0:
        raise ValueError(
            f"{name} has shape {column.shape}; allowed is one column of at least one row, such as "
            "predict_proba(X)[:, 1]"
        )
    return column


def _check_choice(argument: str, value: Any, allowed: Iterable[str]) -> None:
    names = list(allowed)
    if value not in names:
        raise ValueError(f"{argument}={value!r} is unknown; allowed are {', '.join(map(repr, names))}")
