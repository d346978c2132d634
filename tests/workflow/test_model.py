import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from otfairboost.metrics import demographic_parity_difference
from otfairboost.workflow import load_model, read_audit, read_table, read_training_rows, save_model, train_model
from otfairboost.workflow.card import read_card
from otfairboost.workflow.tables import Table, write_table
from otfairboost.workflow.training import _split
from workflow.files import make_loans

SMALL = {"n_estimators": 8, "num_leaves": 7, "n_jobs": 1, "fairness_weight": 2.0}


def table_of(frame, path):
    write_table(frame, path)
    return read_table(path)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    table = table_of(make_loans(), tmp_path_factory.mktemp("data") / "loans.csv")
    return read_training_rows(table, target="granted", sensitive=["sex"])


@pytest.fixture(scope="module")
def model(rows):
    return train_model(rows, SMALL)


@pytest.fixture
def saved(model, tmp_path):
    save_model(model, tmp_path / "loans.txt")
    return tmp_path / "loans.txt"


def test_features_leave_target_and_sensitive_columns_out(rows):
    assert [column.name for column in rows.features][-2:] == ["city <b>", "owner"]
    assert "sex" not in rows.X.columns
    kept = read_training_rows(rows.table, target="granted", sensitive=["sex"], keep_sensitive=True, drop=["age"])
    names = [column.name for column in kept.features]
    assert "sex" in names
    assert "age" not in names


def test_figures_of_the_card_are_those_of_the_held_out_rows(rows, model):
    metrics = model.card.metrics
    assert metrics["n_rows"] == pytest.approx(100, abs=10)
    assert sum(model.card.groups.values()) + metrics["n_rows"] == 400
    train, test = _split(rows, 0.25, 0)
    assert sorted([*train, *test]) == list(range(400))
    y, score = rows.target.values[test], model.score(rows.table)[test]
    gap = demographic_parity_difference(y, (score >= 0.5) * 1, sensitive_features=rows.table.frame["sex"].iloc[test])
    assert metrics["measures"]["demographic_parity_difference"]["value"] == pytest.approx(gap)
    assert metrics["measures"]["average_precision"]["value"] == pytest.approx(average_precision_score(y, score))
    assert train_model(rows, SMALL).card.metrics == metrics
    assert train_model(rows, SMALL, random_state=1).card.metrics != metrics


def test_a_target_gap_is_told_in_the_card(rows):
    parameters = {name: value for name, value in SMALL.items() if name != "fairness_weight"}
    card = train_model(rows, {**parameters, "max_gap": 0.2, "gap_cv": 2}).card
    search = json.loads(card.to_json())["search"]
    assert search["max_gap"] == 0.2
    assert search["gap_interval"][0] <= search["gap"] <= search["gap_interval"][1] <= 0.2
    assert search["fairness_weight"] in [step["fairness_weight"] for step in search["history"]]


def test_a_model_trained_on_all_rows_has_no_figures(rows):
    card = train_model(rows, SMALL, test_size=0).card
    assert card.metrics is None
    assert sum(card.groups.values()) == 400


def test_what_is_saved_is_a_plain_lightgbm_model_and_a_card(saved, model, rows):
    plain = lgb.Booster(model_file=saved)
    loaded = load_model(saved)
    np.testing.assert_array_equal(plain.predict(rows.X), loaded.score(rows.table))
    assert loaded.card == read_card(saved.with_suffix(".card.json"))
    assert loaded.card.features == model.card.features
    content = json.loads(saved.with_suffix(".card.json").read_text())
    assert content["data"]["sha256"] == rows.table.sha256
    assert content["parameters"]["fairness_weight"] == 2.0
    assert content["versions"]["lightgbm"] == lgb.__version__
    assert content["groups"].keys() == {"female", "male"}


def test_scores_need_neither_sensitive_columns_nor_the_same_types(saved, tmp_path):
    frame = make_loans(60, seed=9)
    expected = load_model(saved).score(table_of(frame, tmp_path / "all.csv"))
    few = frame.drop(columns=["sex", "granted"])[frame["city <b>"] == "12"]  # a text column of numbers alone
    model = load_model(saved)
    write_table(few, tmp_path / "few.csv")
    table = read_table(tmp_path / "few.csv", text=model.text_columns)
    np.testing.assert_array_equal(model.score(table), expected[(frame["city <b>"] == "12").to_numpy()])
    parquet = table_of(frame.drop(columns=["sex"]), tmp_path / "all.parquet")
    np.testing.assert_array_equal(model.score(parquet), expected)


def test_audit_of_a_model_and_of_a_column_of_scores_agree(saved, tmp_path):
    frame = make_loans(300, seed=3)
    model = load_model(saved)
    table = table_of(frame, tmp_path / "test.csv")
    scored = table_of(frame.assign(any=model.score(table)), tmp_path / "scored.csv")
    one = read_audit(table, sensitive=["sex"], target="granted", models={"loans.txt": model})
    two = read_audit(scored, sensitive=["sex"], target="granted", scores=["any"])
    assert one.models[0].measures == two.models[0].measures
    y, score = (frame["granted"] == "yes").to_numpy().astype(int), model.score(table)
    gap = demographic_parity_difference(y, (score >= 0.5).astype(int), sensitive_features=frame["sex"])
    assert two.models[0].measures["demographic_parity_difference"].value == pytest.approx(gap)
    assert two.models[0].measures["average_precision"].value == pytest.approx(average_precision_score(y, score))
    assert (one.models[0].name, one.models[0].fairness_weight) == ("loans", 2.0)
    assert two.details["Data"]["SHA-256"] == scored.sha256


def test_intersections_and_regression(tmp_path):
    frame = make_loans(500).drop(columns=["granted"])
    table = table_of(frame, tmp_path / "wages.csv")
    rows = read_training_rows(table, target="income", sensitive=["sex", "owner"])
    assert rows.target.task == "regression"
    card = train_model(rows, SMALL).card
    assert set(card.groups) == {"female & False", "female & True", "male & False", "male & True"}
    assert card.threshold is None
    assert "mean_absolute_error" in card.metrics["measures"]


def test_bad_rows(rows, tmp_path):
    table = rows.table
    many = Table(table.frame.assign(id=np.arange(400)), table.path, table.sha256)
    cases = [
        ({"sensitive": ["id"], "table": many}, r"sensitive \(id\) has 400 distinct values, at most 50"),
        ({"sensitive": []}, "sensitive is missing"),
        ({"sensitive": ["granted"]}, "sensitive names granted, which is the target"),
        ({"sensitive": ["one"], "table": Table(table.frame.assign(one=1), table.path, "")}, r"one group only \(1\)"),
        ({"drop": ["nothing"]}, "drop names nothing"),
        ({"drop": [c for c in table.frame.columns if c not in ("sex", "granted")]}, "no column left to learn from"),
    ]
    for change, message in cases:
        arguments = {"table": table, "target": "granted", "sensitive": ["sex"], **change}
        with pytest.raises(ValueError, match=message):
            read_training_rows(**arguments)
    with pytest.raises(ValueError, match=r"test_size=1.5 must be at least 0 and below 1"):
        train_model(rows, SMALL, test_size=1.5)


def test_bad_scores(tmp_path):
    frame = make_loans(50)
    table = table_of(frame.assign(p=[np.nan] + [0.5] * 49), tmp_path / "a.csv")
    for scores, message in (
        (["sex"], "column 'sex' of .* is not numbers"),
        (["p"], "column 'p' of .* has 1 missing values"),
        (["q"], "scores names q"),
        ([], "nothing to measure"),
    ):
        with pytest.raises(ValueError, match=message):
            read_audit(table, sensitive=["sex"], scores=scores)


def test_without_a_target_there_are_selection_rates(tmp_path):
    table = table_of(make_loans(200).assign(p=0.7), tmp_path / "a.csv")
    report = read_audit(table, sensitive=["sex"], scores=["p"])
    assert report.models[0].measures["demographic_parity_difference"].value == 0


BAD_CARDS = [
    (lambda card: card.update(format_version=2), "has format version 2, but this otfairboost reads up to 1; upgrade"),
    (lambda card: card.update(format_version="x"), "has format version 'x'"),
    (lambda card: card.update(format="other"), "is not a model card"),
    (lambda card: card.pop("features"), "lacks features"),
    (lambda card: card.update(features=card["features"][1:]), "features and its card"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD_CARDS, ids=[message for _, message in BAD_CARDS])
def test_bad_cards(saved, spoil, message):
    path = saved.with_suffix(".card.json")
    card = json.loads(path.read_text())
    spoil(card)
    path.write_text(json.dumps(card))
    with pytest.raises(ValueError, match=message):
        load_model(saved)


def test_absent_and_broken_models(saved, tmp_path):
    with pytest.raises(ValueError, match="does not exist; give the model"):
        load_model(tmp_path / "none.txt")
    saved.with_suffix(".card.json").rename(tmp_path / "away")
    with pytest.raises(ValueError, match=r"loans.card.json does not exist; `otfairboost train` writes it beside"):
        load_model(saved)
    (tmp_path / "away").rename(saved.with_suffix(".card.json"))
    saved.write_text("no model")
    with pytest.raises(ValueError, match="is not a whole LightGBM model"):
        load_model(saved)
    saved.with_suffix(".card.json").write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        load_model(saved)


def test_both_files_or_none(model, tmp_path, monkeypatch):
    monkeypatch.setattr(type(model.card), "to_json", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save_model(model, tmp_path / "model.txt")
    assert list(tmp_path.iterdir()) == []


def test_frame_of_training_is_not_changed(rows):
    pd.testing.assert_frame_equal(rows.table.frame, make_loans(), check_dtype=False)
