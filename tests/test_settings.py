import re

import numpy as np
import pytest
from scipy.special import logit

from objectives import UNWEIGHTED, make_objective, make_rows, make_settings
from otfairboost.criteria import CRITERIA
from otfairboost.losses import LogLoss
from otfairboost.row_derivatives import HessianForm
from otfairboost.scores import IDENTITY_SCORE, LOGISTIC, ScoreMap
from otfairboost.transport.grid import default_bins

pytestmark = pytest.mark.filterwarnings("ignore:.*groups of fewer than 30 rows")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"fairness": "parity"},
            "fairness='parity' is unknown; allowed are " + ", ".join(sorted(map(repr, CRITERIA))) + " and a function",
        ),
        ({"control_bins": [3, 1]}, "control_bins=[3, 1] must be finite numbers in ascending order, each once"),
        ({"target_bins": 1}, "target_bins=1 must be an integer from 2 to 50"),
        ({"target_bins": [2.0, 2.0]}, "target_bins=[2.0, 2.0] must be finite numbers in ascending order, each once"),
        ({"min_group_size": -1}, "min_group_size=-1 must be None or an integer >= 1"),
        ({"fairness_weight": -0.1}, "fairness_weight=-0.1 must be a finite number >= 0"),
        ({"fairness_weight": np.nan}, "fairness_weight=nan must be a finite number >= 0"),
        ({"fairness_weight": np.inf}, "fairness_weight=inf must be a finite number >= 0"),
        ({"multi_group": "all"}, "multi_group='all' is unknown; allowed are 'one_vs_rest', 'barycenter'"),
        ({"group_weighting": 1}, "group_weighting=1 is unknown; allowed are 'equal', 'size'"),
        ({"transport": "sinkhorn"}, "transport='sinkhorn' is unknown; allowed are 'histogram', 'exact', 'kde'"),
        ({"ties": "middle"}, "ties='middle' is unknown; allowed are 'average', 'right', 'left'"),
        (
            {"ties": "right", "transport": "histogram"},
            "ties='right' needs transport='exact', got transport='histogram'",
        ),
        ({"bandwidth": 0}, "bandwidth=0 must be a finite number > 0"),
        ({"bandwidth": np.inf}, "bandwidth=inf must be a finite number > 0"),
        ({"n_bins": 15}, "n_bins=15 must be None or an integer from 16 to 65536"),
        ({"n_bins": 65537}, "n_bins=65537 must be None or an integer from 16 to 65536"),
        ({"focus": 0.9}, "focus=0.9 must be a number from 1 to 1000"),
        ({"focus": 1001}, "focus=1001 must be a number from 1 to 1000"),
        ({"decision_threshold": 0.0}, "decision_threshold=0.0 must be a number between 0 and 1"),
        ({"decision_threshold": 1}, "decision_threshold=1 must be a number between 0 and 1"),
        (
            {"fairness_hessian": "exact"},
            "fairness_hessian='exact' is unknown; allowed are 'auto', 'paper' and a number >= 0",
        ),
        ({"fairness_hessian": -1.0}, "fairness_hessian=-1.0 must be 'auto', 'paper' or a finite number >= 0"),
        ({"fairness_hessian": np.nan}, "fairness_hessian=nan must be 'auto', 'paper' or a finite number >= 0"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else "",
)
def test_bad_values(changes, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make_settings(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fairness_weight": "1"}, "fairness_weight='1' must be a finite number >= 0, got str"),
        ({"target_bins": None}, "target_bins=None must be a number of quantiles or a list of edges"),
        (
            {"multi_attribute": "sum", "attribute_weights": 3},
            "attribute_weights=3 must be a dict or a list of numbers > 0",
        ),
        ({"focus_quantile": "0.9"}, "focus_quantile='0.9' must be None or a number between 0 and 1, got str"),
        ({"fairness_weight": True}, "fairness_weight=True must be a finite number >= 0, got bool"),
        ({"fairness_weight": None}, "fairness_weight=None must be a finite number >= 0, got NoneType"),
        ({"bandwidth": [0.1]}, "bandwidth=[0.1] must be a finite number > 0, got list"),
        ({"n_bins": 100.0}, "n_bins=100.0 must be None or an integer from 16 to 65536, got float"),
        ({"n_bins": True}, "n_bins=True must be None or an integer from 16 to 65536, got bool"),
        ({"focus": "8"}, "focus='8' must be a number from 1 to 1000, got str"),
        ({"decision_threshold": None}, "decision_threshold=None must be a number between 0 and 1, got NoneType"),
        (
            {"fairness_hessian": None},
            "fairness_hessian=None must be 'auto', 'paper' or a finite number >= 0, got NoneType",
        ),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else "",
)
def test_bad_types(changes, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        make_settings(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"fairness_weight": 0},
        {"fairness_weight": np.float32(2.5)},
        {"n_bins": 16},
        {"n_bins": np.int64(65536)},
        {"focus": 1000},
        {"fairness_hessian": 0},
        {"fairness_hessian": "paper"},
        {"ties": "left", "transport": "exact"},
    ],
)
def test_good_values(changes):
    assert make_objective(make_rows(0), **changes).derivatives(make_rows(0).raw)[0].shape == (60,)


def test_settings_cannot_be_changed():
    with pytest.raises(AttributeError):
        make_settings().focus = 3.0


@pytest.mark.parametrize(
    ("fairness_hessian", "learning_rate", "expected"),
    [
        ("auto", 0.05, HessianForm(0.1, False)),
        ("auto", 0.3, HessianForm(0.6, False)),
        ("auto", 0.5, HessianForm(1.0, False)),
        ("auto", 1.0, HessianForm(2.0, False)),
        ("paper", 0.05, HessianForm(1.0, True)),
        (0, 0.05, HessianForm(0.0, False)),
        (0.25, 0.9, HessianForm(0.25, False)),
    ],
)
def test_hessian_forms(fairness_hessian, learning_rate, expected):
    assert make_settings(fairness_hessian=fairness_hessian).hessian_form(learning_rate) == expected


def test_what_is_compared():
    assert make_settings(focus=4.0).score_map("identity") == IDENTITY_SCORE
    assert make_settings().score_map("logit") == ScoreMap(LOGISTIC, 1.0, 0.0)
    sharpened = make_settings(focus=4, decision_threshold=0.2).score_map("logit")
    assert sharpened == (LOGISTIC, 4.0, pytest.approx(logit(0.2)))
    # Without focus the paper's score, whatever the threshold.
    assert make_settings(decision_threshold=0.2).score_map("logit") == ScoreMap(LOGISTIC, 1.0, 0.0)


def test_settings_reach_the_objective():
    rows = make_rows(1, n=200, n_groups=3, weighted=True)
    objective = make_objective(
        rows, fairness_weight=2, multi_group="barycenter", group_weighting="size", transport="kde", bandwidth=0.3,
        focus=2, fairness="equalized_odds", learning_rate=0.2, offset=0.4,
    )  # fmt: skip
    penalty = objective.penalty
    assert (objective.fairness_weight, objective.offset, objective.hessian) == (2.0, 0.4, HessianForm(0.4, False))
    assert (penalty.multi_group, penalty.transport, penalty.ties) == ("barycenter", "kde", "average")
    assert penalty.n_bins == default_bins(200, n_cells=6, n_groups=3)
    assert make_objective(rows, n_bins=77).penalty.n_bins == 77
    assert [comparison.name for comparison in penalty.plan.comparisons] == ["target = no", "target = yes"]
    np.testing.assert_allclose(
        penalty.plan.comparisons[0].shares, penalty.plan.comparisons[0].weights / rows.weight[rows.y == 0].sum()
    )


def test_loss_and_distribution_weights_go_where_they_belong():
    rows = make_rows(2)
    loss_weight = np.full(60, 4.0, np.float32)
    target, groups = rows.target(), rows.encoded_groups()
    made = make_settings().objective(LogLoss(), target, groups, loss_weight, UNWEIGHTED, learning_rate=0.1, n_jobs=1)
    assert len(made.penalty.plan.weight) == 0
    plain = make_objective(rows)
    np.testing.assert_allclose(made.derivatives(rows.raw)[0], 4 * plain.derivatives(rows.raw)[0], rtol=1e-5)


def test_messages_name_the_sensitive_features():
    rows = make_rows(3)
    rows.groups[:] = 0
    with pytest.raises(ValueError, match=r"^eval_sensitive_features\[1\] holds only 'a'; at least two groups"):
        make_settings().objective(
            LogLoss(), rows.target(), rows.encoded_groups(), UNWEIGHTED, UNWEIGHTED, learning_rate=0.1, n_jobs=1,
            name="eval_sensitive_features[1]",
        )  # fmt: skip
