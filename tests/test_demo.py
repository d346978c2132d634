import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from otfairboost import demo
from otfairboost.datasets import make_loan_applications


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo, "_N_TRAIN", 3000)
    monkeypatch.setattr(demo, "_N_TEST", 2000)


def test_generated_data():
    data = make_loan_applications(5000, random_state=1)
    assert data.X.shape == (5000, len(data.feature_names))
    assert set(data.sensitive_features) == {"female", "male"}
    assert set(data.y) == {0, 1}
    assert np.isnan(data.X).any()
    rates = [data.y[data.sensitive_features == sex].mean() for sex in ("female", "male")]
    assert rates[1] - rates[0] > 0.1  # the history is not fair
    again = make_loan_applications(5000, random_state=1)
    np.testing.assert_array_equal(again.X, data.X)
    with pytest.raises(ValueError, match="n_rows=0 must be at least 1"):
        make_loan_applications(0)


def test_fair_model_has_the_smaller_gap_at_little_cost(small):
    plain, fair = demo.run_demo(n_jobs=1).models
    assert fair.demographic_parity_difference < 0.6 * plain.demographic_parity_difference
    assert fair.wasserstein_distance < 0.6 * plain.wasserstein_distance
    assert fair.accuracy > plain.accuracy - 0.05
    rates = plain.selection_rates
    assert plain.demographic_parity_difference == pytest.approx(max(rates.values()) - min(rates.values()))
    assert plain.demographic_parity_ratio == pytest.approx(min(rates.values()) / max(rates.values()))
    assert plain.distributions.gap == pytest.approx(plain.demographic_parity_difference)


def test_weight_zero_is_the_plain_model(small):
    plain, fair = demo.run_demo(fairness_weight=0.0, n_jobs=1).models
    assert fair.pr_auc == plain.pr_auc


def test_summary_against_scikit_learn(small):
    rng = np.random.default_rng(0)
    y, score, groups = rng.integers(0, 2, 200), rng.random(200), np.array(["a", "b"])[rng.integers(0, 2, 200)]
    summary = demo._summarise("any", y, score, groups, 1.0)
    assert summary.accuracy == pytest.approx(accuracy_score(y, score >= 0.5))


def test_command_line_prints_a_table_and_writes_a_picture(small, tmp_path, monkeypatch, capsys):
    from otfairboost import cli

    monkeypatch.setattr(sys, "argv", ["otfairboost", "demo", "--output", str(tmp_path / "demo"), "--n-jobs", "1"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    for row in ("accuracy", "PR AUC", "ROC AUC", "selected: female", "Wasserstein-2 distance", "seconds to fit"):
        assert row in printed
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["score_distributions.png"]


def test_bad_weight_is_refused_before_anything_is_written(tmp_path):
    command = [
        sys.executable,
        "-m",
        "otfairboost.cli",
        "demo",
        "--fairness-weight",
        "-1",
        "--output",
        str(tmp_path / "x"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "fairness-weight" in run.stderr
    assert not (tmp_path / "x").exists()
