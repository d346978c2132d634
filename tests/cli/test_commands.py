"""Each command from a file to a file, in one process."""

import json

import lightgbm as lgb
import numpy as np
import onnxruntime
import pandas as pd
import pytest

from otfairboost.cli.app import app
from otfairboost.cli.running import run
from otfairboost.metrics import demographic_parity_difference
from workflow.files import make_loans

SMALL = ["--param", "n_estimators=6", "--param", "num_leaves=5", "--n-jobs", "1"]
COLUMNS = ["--target", "granted", "--sensitive", "sex"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of rows, and a trained model."""
    folder = tmp_path_factory.mktemp("loans")
    make_loans(300).to_csv(folder / "loans.csv", index=False)
    make_loans(200, seed=1).to_parquet(folder / "test.parquet")
    assert run(app, ["train", str(folder / "loans.csv"), *COLUMNS, "--output", str(folder / "m.txt"), *SMALL]) == 0
    return folder


def call(capsys, *arguments):
    """Run a command that must succeed; return what it printed, as JSON if it is."""
    code = run(app, [str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out) if "--json" in arguments else printed.out


def test_train_and_predict(folder, tmp_path, capsys):
    result = call(
        capsys, "predict", folder / "m.txt", folder / "test.parquet", "--output", tmp_path / "s.csv", "--json"
    )
    assert result == {"output": str(tmp_path / "s.csv"), "n_rows": 200, "columns": ["score", "score_selected"]}
    scored = pd.read_csv(tmp_path / "s.csv")
    assert list(scored.columns) == [*make_loans(5).columns, "score", "score_selected"]
    assert (scored["score_selected"] == (scored["score"] >= 0.5)).all()
    call(capsys, "predict", folder / "m.txt", folder / "loans.csv", "--output", tmp_path / "t.parquet", "--only-scores")
    assert list(pd.read_parquet(tmp_path / "t.parquet").columns) == ["score", "score_selected"]
    assert lgb.Booster(model_file=folder / "m.txt").num_trees() == 6


def test_train_prints_its_figures(folder, tmp_path, capsys):
    arguments = [
        "train",
        folder / "loans.csv",
        *COLUMNS,
        "--fairness-weight",
        "0",
        "--output",
        tmp_path / "p.txt",
        *SMALL,
    ]
    result = call(capsys, *arguments, "--json")
    assert set(result["metrics"]["groups"]) == {"female", "male"}
    text = call(capsys, *arguments, "--force")
    assert "Gap in selection rates" in text
    card = json.loads((tmp_path / "p.card.json").read_text())
    assert card["parameters"]["fairness_weight"] == 0
    assert card["metrics"] == result["metrics"]


def test_train_to_a_target_gap(folder, tmp_path, capsys):
    target = ["--max-gap", "0.3", "--param", "gap_cv=2", "--output", tmp_path / "g.txt"]
    call(capsys, "train", folder / "loans.csv", *COLUMNS, *target, *SMALL)
    search = json.loads((tmp_path / "g.card.json").read_text())["search"]
    assert search["gap"] <= 0.3


def test_evaluate_a_model_or_any_scores(folder, tmp_path, capsys):
    by_model = call(capsys, "evaluate", folder / "test.parquet", "--model", folder / "m.txt", "--json")
    call(capsys, "predict", folder / "m.txt", folder / "test.parquet", "--output", tmp_path / "s.csv", "--column", "p")
    by_scores = call(capsys, "evaluate", tmp_path / "s.csv", "--scores", "p", *COLUMNS, "--json")
    assert by_model["measures"] == by_scores["measures"]
    assert by_model["groups"] == by_scores["groups"]
    scored = pd.read_csv(tmp_path / "s.csv")
    gap = demographic_parity_difference(None, scored["p_selected"], sensitive_features=scored["sex"])
    assert by_scores["measures"]["demographic_parity_difference"]["value"] == pytest.approx(gap)
    text = call(capsys, "evaluate", tmp_path / "s.csv", "--scores", "p", "--sensitive", "sex")
    assert "selected" in text
    assert "true positive rate" not in text


def test_report_of_any_scores(folder, tmp_path, capsys):
    frame = make_loans(200)
    rng = np.random.default_rng(0)
    frame.assign(old=rng.random(200), new=rng.random(200)).to_csv(tmp_path / "d.csv", index=False)
    result = call(
        capsys, "report", tmp_path / "d.csv", "--scores", "old,new", "--chosen", "new", *COLUMNS, "--output",
        tmp_path / "page.html", "--title", "<script>alert(1)</script> & co", "--reason", "it is new", "--json",
    )  # fmt: skip
    assert result["chosen"]["model"] == "new"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>&lt;script&gt;alert(1)&lt;/script&gt; &amp; co</title>" in page
    assert "<script>alert" not in page
    assert "it is new" in page
    text = call(capsys, "report", folder / "test.parquet", "--model", folder / "m.txt", "--output", tmp_path / "m.html")
    assert text == ""
    assert (tmp_path / "m.html").exists()


def test_export(folder, tmp_path, capsys):
    call(capsys, "export", folder / "m.txt", "--output", tmp_path / "m.onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", options, providers=["CPUExecutionProvider"])
    card = json.loads((folder / "m.card.json").read_text())
    features = json.loads(session.get_modelmeta().custom_metadata_map["features"])
    assert features == card["features"]
    frame = make_loans(200, seed=1)
    X = np.column_stack([
        frame[one["name"]].astype(float) if one["categories"] is None
        else frame[one["name"]].map({name: code for code, name in enumerate(one["categories"])}).astype(float)
        for one in features
    ])  # fmt: skip
    probability = session.run(["probabilities"], {"X": X.astype(np.float32)})[0][:, 1]
    expected = lgb.Booster(model_file=folder / "m.txt").predict(X.astype(np.float32))
    np.testing.assert_allclose(probability, expected, atol=1e-6)


def test_frontier(folder, tmp_path, capsys):
    result = call(
        capsys, "frontier", folder / "loans.csv", *COLUMNS, "--weights", "0,2,9", "--cv", "2", "--output",
        tmp_path / "f", *SMALL, "--json",
    )  # fmt: skip
    assert [point["fairness_weight"] for point in result["points"]] == [0, 2, 9]
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == ["frontier.csv", "frontier.png", "report.html"]
    table = pd.read_csv(tmp_path / "f" / "frontier.csv")
    assert len(table) == 3 * 2 * table["metric"].nunique()
    gap = min(point["gap"] for point in result["points"])
    text = call(
        capsys, "frontier", folder / "loans.csv", *COLUMNS, "--weights", "0,2,9", "--cv", "2", "--output",
        tmp_path / "f", *SMALL, "--force", "--max-gap", gap + 1e-9,
    )  # fmt: skip
    assert "Best performance among the models" in " ".join(text.split())


def test_help_has_examples_and_exit_codes(capsys):
    for command in ("train", "predict", "evaluate", "frontier", "report", "export", "demo"):
        text = call(capsys, command, "--help")
        assert f"otfairboost {command}" in text
    assert "130 interrupted" in call(capsys, "--help")
