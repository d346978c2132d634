r"""Metrics: what users report, select models by and stop early on.

Names and signatures are Fairlearn's: ``metric(y_true, y_pred, *, sensitive_features, sample_weight=None)``.
*Label* metrics take decisions as ``y_pred``, *score* metrics take probabilities or predictions; ``METRICS``
lists them by name. Those called ``multiclass_...`` are of more than two classes. In every fairness metric

- a row whose sensitive feature is missing belongs to no group, and not to the "rest" or the "overall" either;
- a row of weight w counts as w equal rows, so rows and groups of weight 0 are absent;
- several sensitive columns form intersections, one group per combination of values; those called ``summed_``, and
  :func:`sum_over_attributes`, take each column on its own;
- fewer than two groups are an error.

For scikit-learn's own searches, :func:`fairness_scorer` makes a scorer of any of them:

>>> import sklearn
>>> from otfairboost.metrics import fairness_scorer
>>> with sklearn.config_context(enable_metadata_routing=True):
...     scorer = fairness_scorer("wasserstein_distance")
"""

from otfairboost.metrics.attribute_sums import (
    sum_over_attributes,
    summed_demographic_parity_difference,
    summed_equalized_odds_difference,
    summed_kolmogorov_smirnov,
    summed_wasserstein_distance,
)
from otfairboost.metrics.conditional import (
    binned_equalized_odds_difference,
    binned_equalized_odds_wasserstein,
    conditional_demographic_parity_difference,
    conditional_kolmogorov_smirnov,
    conditional_wasserstein_distance,
)
from otfairboost.metrics.distributions import kolmogorov_smirnov, normalized_wasserstein, wasserstein_distance
from otfairboost.metrics.intervals import Interval, bootstrap_interval
from otfairboost.metrics.multiclass import (
    metric_by_class,
    multiclass_demographic_parity_difference,
    multiclass_demographic_parity_mean,
    multiclass_demographic_parity_ratio,
    multiclass_equalized_odds_difference,
    multiclass_kolmogorov_smirnov,
    multiclass_log_loss,
    multiclass_wasserstein_distance,
    multiclass_wasserstein_mean,
)
from otfairboost.metrics.parity import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    equalized_odds_sum,
    false_positive_rate_difference,
    one_vs_rest_demographic_parity,
    true_positive_rate_difference,
)
from otfairboost.metrics.performance import (
    accuracy,
    average_precision,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    roc_auc,
)
from otfairboost.metrics.ranking import top_k_selection_rate_difference
from otfairboost.metrics.rates import false_positive_rate, group_rates, selection_rate, true_positive_rate
from otfairboost.metrics.registry import METRICS, Metric, get_metric
from otfairboost.metrics.scorers import fairness_scorer
from otfairboost.metrics.tradeoff import tradeoff_objective

__all__ = [
    "METRICS",
    "Interval",
    "Metric",
    "accuracy",
    "average_precision",
    "binned_equalized_odds_difference",
    "binned_equalized_odds_wasserstein",
    "bootstrap_interval",
    "conditional_demographic_parity_difference",
    "conditional_kolmogorov_smirnov",
    "conditional_wasserstein_distance",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equalized_odds_difference",
    "equalized_odds_sum",
    "fairness_scorer",
    "false_positive_rate",
    "false_positive_rate_difference",
    "get_metric",
    "group_rates",
    "kolmogorov_smirnov",
    "log_loss",
    "mean_absolute_error",
    "mean_squared_error",
    "metric_by_class",
    "multiclass_demographic_parity_difference",
    "multiclass_demographic_parity_mean",
    "multiclass_demographic_parity_ratio",
    "multiclass_equalized_odds_difference",
    "multiclass_kolmogorov_smirnov",
    "multiclass_log_loss",
    "multiclass_wasserstein_distance",
    "multiclass_wasserstein_mean",
    "normalized_wasserstein",
    "one_vs_rest_demographic_parity",
    "roc_auc",
    "selection_rate",
    "sum_over_attributes",
    "summed_demographic_parity_difference",
    "summed_equalized_odds_difference",
    "summed_kolmogorov_smirnov",
    "summed_wasserstein_distance",
    "top_k_selection_rate_difference",
    "tradeoff_objective",
    "true_positive_rate",
    "true_positive_rate_difference",
    "wasserstein_distance",
]
