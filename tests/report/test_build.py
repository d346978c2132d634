import json

import numpy as np
import pytest
from fairlearn import metrics as fairlearn_metrics
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from otfairboost.report import Candidate, build_report, summarise
from otfairboost.report.grid import threshold_grid
from otfairboost.report.html import page_data
from otfairboost.report.measures import _binned_average_precision, _binned_roc_auc, _draw_binned
from report.samples import make_candidates, make_rows

Y, GROUPS, MERIT, BIAS = make_rows(n_groups=3)
CANDIDATES = make_candidates(MERIT, BIAS)


@pytest.fixture(scope="module")
def report():
    return build_report(CANDIDATES, Y, sensitive_features=GROUPS, chosen=2, reason="it is fair")


def test_counts_are_confusion_matrices_at_every_threshold(report):
    for number in (0, 57, report.threshold_index, len(report.thresholds) - 1):
        decision = (CANDIDATES[1].scores >= report.thresholds[number]).astype(int)
        for group, result in zip(report.groups, report.models[1].groups, strict=True):
            rows = group.label == GROUPS
            (_, fp), (_, tp) = confusion_matrix(Y[rows], decision[rows], labels=[0, 1])
            assert (result.selected_negative[number], result.selected_positive[number]) == (fp, tp)


def test_measures_against_fairlearn_and_scikit_learn(report):
    for candidate, model in zip(CANDIDATES, report.models, strict=True):
        decision = (candidate.scores >= 0.5).astype(int)
        for name in ("demographic_parity_difference", "equalized_odds_difference", "true_positive_rate_difference"):
            expected = getattr(fairlearn_metrics, name)(Y, decision, sensitive_features=GROUPS)
            measure = model.measures[name]
            assert measure.value == pytest.approx(expected)
            assert 0 <= measure.low <= measure.value <= measure.high <= 1
        measure = model.measures["average_precision"]
        assert measure.value == pytest.approx(average_precision_score(Y, candidate.scores))
        assert measure.low < measure.value < measure.high


def test_intervals_of_areas_are_as_wide_as_a_row_wise_bootstrap(report):
    rng = np.random.default_rng(0)
    score = CANDIDATES[0].scores
    drawn = [rng.integers(len(Y), size=len(Y)) for _ in range(300)]
    low, high = np.quantile([average_precision_score(Y[rows], score[rows]) for rows in drawn], [0.025, 0.975])
    measure = report.models[0].measures["average_precision"]
    assert measure.high - measure.low == pytest.approx(high - low, rel=0.25)
    assert measure.low == pytest.approx(low, abs=0.01)


def test_binned_areas_are_close_to_those_of_the_rows():
    for candidate in CANDIDATES:
        counts = _draw_binned(Y.astype(float), candidate.scores)[:1]
        assert _binned_average_precision(counts)[0] == pytest.approx(
            average_precision_score(Y, candidate.scores), abs=0.005
        )
        assert _binned_roc_auc(counts)[0] == pytest.approx(roc_auc_score(Y, candidate.scores), abs=0.001)


def test_groups_and_densities(report):
    assert sum(group.n_rows for group in report.groups) == report.n_rows == len(Y)
    for group in report.groups:
        rows = group.label == GROUPS
        assert (group.n_rows, group.n_positive) == (rows.sum(), Y[rows].sum())
    for model in report.models:
        for result in model.groups:
            assert (result.density * np.diff(report.edges)).sum() == pytest.approx(1.0)


def test_chosen_and_reference(report):
    assert (report.chosen, report.reference, report.reason) == (2, 0, "it is fair")
    best = build_report(CANDIDATES, Y, sensitive_features=GROUPS)
    objective = [
        0.75 * model.measures["average_precision"].value
        + 0.25 * (1 - model.measures["demographic_parity_difference"].value)
        for model in best.models
    ]
    assert best.chosen == int(np.argmax(objective))
    assert "75% performance" in best.reason
    alone = build_report(CANDIDATES[0].scores, Y, sensitive_features=GROUPS)
    assert (alone.models[0].name, alone.chosen, alone.reference) == ("model", 0, None)


def test_rows_without_a_group_are_left_out_and_counted():
    groups = np.where(np.arange(len(Y)) % 10 == 0, None, GROUPS.astype(object))
    kept = groups != None  # noqa: E711
    report = build_report(CANDIDATES, Y, sensitive_features=groups)
    alone = build_report(
        [one._replace(scores=one.scores[kept]) for one in CANDIDATES], Y[kept], sensitive_features=GROUPS[kept]
    )
    assert report.n_without_group == (~kept).sum()
    assert report.models[1].measures == alone.models[1].measures


def test_without_labels_there_are_selection_rates_alone():
    report = build_report(CANDIDATES, sensitive_features=GROUPS)
    assert set(report.models[0].measures) == {
        "demographic_parity_difference",
        "kolmogorov_smirnov",
        "wasserstein_distance",
    }
    assert report.groups[0].n_positive is None
    assert report.models[0].groups[0].selected_positive.sum() == 0
    assert "Smallest gap" in report.reason
    summary = summarise(report)
    assert "true_positive_rate" not in summary["groups"]["group 0"]


def test_regression():
    target = 100 * MERIT + 50 * BIAS
    predictions = [Candidate("a", target + 10, 0.0), Candidate("b", 100 * MERIT, 3.0)]
    report = build_report(predictions, target, sensitive_features=GROUPS, task="regression")
    assert (report.gap, report.performance) == ("kolmogorov_smirnov", "mean_absolute_error")
    assert report.models[0].measures["mean_absolute_error"].value == pytest.approx(10)
    assert report.models[0].groups[0].mean_absolute_error.value == pytest.approx(10)
    assert report.models[1].measures["kolmogorov_smirnov"].value < report.models[0].measures["kolmogorov_smirnov"].value
    summary = summarise(report, 1)
    rows = GROUPS == "group 1"
    assert summary["groups"]["group 1"]["selection_rate"]["value"] == pytest.approx(
        (predictions[1].scores[rows] >= report.threshold).mean()
    )


def test_summary_is_plain_json_and_has_the_rates(report):
    summary = json.loads(json.dumps(summarise(report)))
    assert summary["model"] == "weight 5"
    rows = GROUPS == "group 2"
    decision = CANDIDATES[2].scores >= 0.5
    figures = summary["groups"]["group 2"]
    assert figures["selection_rate"]["value"] == pytest.approx(decision[rows].mean())
    assert figures["true_positive_rate"]["value"] == pytest.approx(decision[rows & (Y == 1)].mean())
    assert figures["true_positive_rate"]["low"] < figures["true_positive_rate"]["value"]


def test_other_labels_and_a_group_without_positives():
    labels = np.where((Y == 1) & (GROUPS != "group 0"), "good", "bad")
    report = build_report(CANDIDATES[:1], labels, sensitive_features=GROUPS, pos_label="good")
    assert report.groups[0].n_positive == 0
    assert summarise(report)["groups"]["group 0"]["true_positive_rate"] == {"value": None}
    json.dumps(page_data(report), allow_nan=False)


BAD = [
    ({"task": "ranking"}, "task='ranking' is unknown"),
    ({"fairness": "karma"}, "fairness='karma' is unknown"),
    ({"performance": "luck"}, "performance='luck' is unknown; allowed are 'average_precision'"),
    ({"threshold": float("nan")}, "threshold=nan must be a finite number"),
    ({"threshold": "high"}, "threshold='high' must be a finite number"),
    ({"chosen": 9}, "chosen=9 must be the number of a candidate, from 0 to 3"),
    ({"reference": -1}, "reference=-1 must be the number of a candidate"),
    ({"sensitive_features": np.zeros(len(Y))}, "sensitive_features must hold at least 2 groups, found 1: 0.0"),
    ({"sensitive_features": GROUPS[:-1]}, "sensitive_features has 2999 rows"),
    ({"y_true": Y[:-1]}, "y_true has 2999 rows, but the scores have 3000"),
    ({"y_true": None, "fairness": "equalized_odds"}, "fairness='equalized_odds' compares rows of the same label"),
    ({"candidates": [CANDIDATES[0], Candidate("x", [1.0])]}, "the scores of 'x' has 1 rows"),
    ({"candidates": [CANDIDATES[0], MERIT]}, "candidates holds a ndarray; allowed are Candidate objects"),
    ({"candidates": Candidate("x", MERIT)}, "threshold is missing, and the scores lie between"),
    ({"candidates": np.full(len(Y), np.nan)}, "scores holds 3000 NaN"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input(change, message):
    arguments = {"candidates": CANDIDATES, "y_true": Y, "sensitive_features": GROUPS, **change}
    with pytest.raises((ValueError, TypeError), match=message):
        build_report(**arguments)


@pytest.mark.parametrize(
    ("scores", "threshold", "ends"),
    [
        (np.linspace(0, 1, 50), 0.5, (0.0, 1.0)),
        (np.linspace(0, 1, 50), 0.123456, (0.0, 1.0)),
        (np.linspace(0, 0.03, 500), 0.01, (0.0, 0.03)),
        (np.linspace(300, 850, 500), 600, (300.0, 850.0)),
        (np.full(10, 7.0), 7.0, (7.0, 7.0)),
    ],
)
def test_grid_is_round_fine_and_holds_the_threshold(scores, threshold, ends):
    grid = threshold_grid(scores, threshold)
    assert threshold in grid.tolist()
    assert (np.diff(grid) > 0).all()
    span = ends[1] - ends[0]
    assert (grid[0], grid[-1]) == (pytest.approx(ends[0], abs=0.05 * span), pytest.approx(ends[1], abs=0.05 * span))
    assert len(grid) <= 210
    if span:
        assert np.diff(grid).max() <= span / 75
