"""Tasks: what they load, and how they judge."""

import numpy as np
import pytest
from fairlearn import metrics as fairlearn_metrics
from scipy import stats
from sklearn import metrics as sklearn_metrics

from loan_tasks import loan_task
from otfairboost.benchmark.evaluation import CLASSIFICATION_METRICS, REGRESSION_METRICS
from otfairboost.benchmark.rows import Prediction
from otfairboost.benchmark.tasks import TASKS, get_task
from otfairboost.datasets import MissingDataError, adult, communities_crime
from small_data_files import LAW_TEXT, PREPARED_TEXT, adult_text, communities_text, compas_text, fairjob_text, write


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a folder with small files of every data set."""
    for module, names in ((adult, ("TRAIN", "TEST")), (communities_crime, ("FILE",))):
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name)._replace(sha256=None))
    write(tmp_path / "acsincome_tn" / "acsincome_tn_2018.csv", PREPARED_TEXT)
    write(tmp_path / "adult" / "adult.data", adult_text(30))
    write(tmp_path / "adult" / "adult.test", adult_text(10, test=True))
    write(tmp_path / "communities_crime" / "communities.data", communities_text(20))
    write(tmp_path / "compas" / "compas_two_years.csv", compas_text())
    write(tmp_path / "law_school" / "law_data.csv", LAW_TEXT)
    write(tmp_path / "fairjob" / "fairjob.csv", fairjob_text(60))
    return tmp_path


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_task_loads(home, task):
    data = task.load(home)
    n_rows = len(data.X)
    assert n_rows == len(data.y) == len(data.s) > 0
    assert data.description
    assert not data.simulated
    assert data.y.min() == 0.0 or task.kind == "classification"
    assert 0.0 <= data.y.min() <= data.y.max() <= 1.0
    assert (len(set(data.s)) > 2) == task.multi_group
    rows = data.take(np.array([2, 0]))
    assert rows.X.index.tolist() == [2, 0]
    assert rows.y.tolist() == data.y[[2, 0]].tolist()
    assert rows.s.tolist() == data.s[[2, 0]].tolist()
    assert task.performance in (CLASSIFICATION_METRICS if task.kind == "classification" else REGRESSION_METRICS)


def test_features_are_one_hot_keep_the_sensitive_attribute_and_have_one_type(home):
    X = get_task("tennessee_dp").load(home).X
    assert {"SEX_1", "SEX_2", "RAC1P_1", "AGEP"} <= set(X.columns)
    assert set(X.dtypes) == {np.dtype(np.float32)}


def test_ethnicity_has_the_natives_among_the_others(home):
    data = get_task("tennessee_ethnicity").load(home)
    assert data.s.tolist() == ["white", "black", "asian", "other", "other"]


def test_the_law_school_target_is_scaled_and_says_so(home):
    data = get_task("law_school_dp").load(home)
    assert data.y.tolist() == pytest.approx([0.0, 1.0, 0.63 / 1.07])
    assert data.s.tolist() == ["White", "other", "White"]
    assert "Target scaled from -0.98..0.09 to 0..1" in data.description


def test_fairjob_is_balanced_and_not_searched(home):
    task = get_task("fairjob_dp")
    data = task.load(home)
    weight = data.sample_weight
    assert weight[data.y == 1].sum() == pytest.approx(weight[data.y == 0].sum())
    assert weight.mean() == pytest.approx(1.0)
    assert (task.configurations, task.fairness_weight, task.report_times) == ("default", 10.0, True)
    assert data.X["cat0"].dtype == "category"


def test_absent_data_say_so(tmp_path, monkeypatch):
    monkeypatch.setenv("OTFAIRBOOST_DATA", str(tmp_path))
    monkeypatch.setattr(adult, "TRAIN", adult.TRAIN._replace(url="file:///nowhere"))
    with pytest.raises(MissingDataError, match=r"adult\.data"):
        get_task("adult_dp").load()


def test_a_sample_of_rows_is_the_same_at_every_call(home):
    task = get_task("adult_dp")
    first, second = (task.load(home, max_rows=15) for _ in range(2))
    assert len(first.y) == 15
    assert first.X.equals(second.X)
    assert len(task.load(home, max_rows=1000).y) == 40
    with pytest.raises(ValueError, match="max_rows=0 must be at least 1"):
        task.load(home, max_rows=0)


def test_unknown_task():
    with pytest.raises(ValueError, match=r"task='adults' is unknown; allowed are tennessee_dp, .*law_school_dp"):
        get_task("adults")


@pytest.fixture
def judged():
    rng = np.random.default_rng(0)
    s = rng.choice(["a", "b", "c"], 600).astype(object)
    y = (rng.random(600) < 0.4).astype(float)
    return y, np.clip(0.3 * y + 0.7 * rng.random(600) - 0.1 * (s == "a"), 0, 1), s


@pytest.mark.parametrize("own_rule", [False, True])
def test_classification_metrics_against_other_packages(judged, own_rule):
    y, score, s = judged
    label = (score >= (0.3 if own_rule else 0.5)).astype(int)
    values = loan_task().evaluate(y, Prediction(score, label if own_rule else None), s, np.arange(600.0))
    assert tuple(values) == CLASSIFICATION_METRICS
    rates = {group: label[s == group].mean() for group in "abc"}
    expected = {
        "pr_auc": sklearn_metrics.average_precision_score(y, score),
        "roc_auc": sklearn_metrics.roc_auc_score(y, score),
        "accuracy": (label == y).mean(),
        "delta_dp": fairlearn_metrics.demographic_parity_difference(y, label, sensitive_features=s),
        "disparate_impact": fairlearn_metrics.demographic_parity_ratio(y, label, sensitive_features=s),
        "delta_max_dp": max(abs(rate - label[s != group].mean()) for group, rate in rates.items()),
        "delta_eodds_max": fairlearn_metrics.equalized_odds_difference(y, label, sensitive_features=s),
        "delta_eodds_sum": 2 * fairlearn_metrics.equalized_odds_difference(y, label, sensitive_features=s, agg="mean"),
        "ks": max(stats.ks_2samp(score[s == group], score[s != group]).statistic for group in "abc"),
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value), name
    assert loan_task().objective(values, 0.6) == pytest.approx(0.6 * values["pr_auc"] + 0.4 * (1 - values["delta_dp"]))


def test_nobody_selected_is_no_disparate_impact(judged):
    y, score, s = judged
    values = loan_task().evaluate(y, Prediction(score / 10), s)
    assert values["disparate_impact"] == 1.0
    assert values["delta_dp"] == 0.0


def test_regression_metrics(judged):
    y, score, s = judged
    s = np.where(s == "c", "b", s)
    task = loan_task(kind="regression", performance="one_minus_mae", gap="w2")
    values = task.evaluate(y, Prediction(score), s)
    assert tuple(values) == REGRESSION_METRICS
    assert values["mae"] == pytest.approx(np.abs(y - score).mean())
    assert values["mse"] == pytest.approx(((y - score) ** 2).mean())
    levels = (np.arange(20_000) + 0.5) / 20_000
    quantiles = [np.quantile(score[s == group], levels, method="inverted_cdf") for group in "ab"]
    assert values["w2"] == pytest.approx(np.sqrt(np.mean((quantiles[0] - quantiles[1]) ** 2)), abs=1e-4)
    assert task.objective(values) == pytest.approx(0.75 * (1 - values["mae"]) + 0.25 * (1 - values["w2"]))


def test_objective_refuses_other_shares():
    with pytest.raises(ValueError, match=r"alpha=1\.5 is not allowed; it must lie between 0 and 1"):
        loan_task().objective({"pr_auc": 1.0, "delta_dp": 0.0}, 1.5)
