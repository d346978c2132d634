"""Bad input: one line that says what to do, exit code 2, nothing written."""

import json

import numpy as np
import pytest

from otfairboost.cli.app import app
from otfairboost.cli.options import read_parameters, read_weights
from otfairboost.cli.running import check_outputs, run
from workflow.files import make_loans

COLUMNS = ["--target", "granted", "--sensitive", "sex"]
SMALL = ["--param", "n_estimators=3", "--n-jobs", "1"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    loans = make_loans(120)
    loans.to_csv(folder / "loans.csv", index=False)
    assert run(app, ["train", str(folder / "loans.csv"), *COLUMNS, "--output", str(folder / "m.txt"), *SMALL]) == 0
    loans.assign(granted="yes").to_csv(folder / "one_class.csv", index=False)
    make_loans(10_500).assign(id=np.arange(10_500) % 10_000).to_csv(folder / "many.csv", index=False)
    loans.assign(p=0.5, points=600.0).to_csv(folder / "scored.csv", index=False)
    (folder / "empty.csv").write_bytes(b"")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "twice.csv").write_text("a,b,a\n1,2,3\n")
    (folder / "twice.parquet").write_bytes(b"PAR1 cut off")
    card = json.loads((folder / "m.card.json").read_text())
    (folder / "newer.txt").write_bytes((folder / "m.txt").read_bytes())
    (folder / "newer.card.json").write_text(json.dumps({**card, "format_version": 99}))
    return folder


TRAIN = ["train", "{}/loans.csv", *COLUMNS, *SMALL]
BAD = [
    (["train", "{}/absent.csv", *COLUMNS], "absent.csv does not exist; check the name"),
    (["train", "{}", *COLUMNS], "is a folder; give a"),
    (["train", "{}/empty.csv", *COLUMNS], "empty.csv is empty; give a file"),
    (["train", "{}/binary.csv", *COLUMNS], "binary.csv is a binary file"),
    (["train", "{}/twice.csv", *COLUMNS], "twice.csv has more than one column 'a'; rename or drop one"),
    (["train", "{}/twice.parquet", *COLUMNS], "twice.parquet is not a whole Parquet file"),
    (["train", "{}/one_class.csv", *COLUMNS], "target 'granted' has one value only ('yes')"),
    (["train", "{}/many.csv", "--target", "granted", "--sensitive", "id"], "10000 distinct values, at most 50"),
    (["train", "{}/loans.csv", "--target", "nothing", "--sensitive", "sex"], "target names nothing, which"),
    (["train", "{}/loans.csv", "--target", "granted", "--sensitive", "gender"], "sensitive names gender, which"),
    ([*TRAIN, "--fairness-weight", "much"], "--fairness-weight"),
    ([*TRAIN, "--fairness-weight", "-1"], "--fairness-weight"),
    ([*TRAIN, "--fairness-weight", "nan"], "weight"),
    ([*TRAIN, "--fairness-weight", "1", "--max-gap", "0.1"], "leave --fairness-weight out"),
    ([*TRAIN, "--fairness", "karma"], "fairness='karma' is unknown"),
    ([*TRAIN, "--fairness", "conditional_demographic_parity"], "has no place in cards and pages of classification"),
    ([*TRAIN, "--test-size", "2"], "test_size=2.0 must be at least 0 and below 1"),
    ([*TRAIN, "--param", "num_leaves"], "--param 'num_leaves' is not of the form NAME=VALUE"),
    (
        [*TRAIN, "--param", "fairnes_weight=3"],
        "fairnes_weight is no parameter of LightGBM or of the penalty; fair",
    ),
    ([*TRAIN, "--param", "num_leafs=3"], "num_leafs is no parameter of LightGBM or of the penalty; num_leaf is"),
    ([*TRAIN, "--param", "xyzzy=3"], "xyzzy is no parameter of LightGBM or of the penalty"),
    ([*TRAIN, "--task", "ranking"], "task='ranking' is unknown"),
    ([*TRAIN, "--positive", "maybe"], "positive='maybe' does not occur in target 'granted'"),
    ([*TRAIN, "--output", "model.card.json"], "is the name of a card"),
    (["train", "{}/loans.csv", "--sensitive", "sex"], "Missing option '--target'"),
    (["trian"], "No such command 'trian'"),
    (["predict", "{}/absent.txt", "{}/loans.csv"], "absent.txt does not exist; give the model"),
    (["predict", "{}/newer.txt", "{}/loans.csv"], "format version 99, but this otfairboost reads up to 1; upgrade"),
    (["predict", "{}/loans.csv", "{}/loans.csv"], "loans.card.json does not exist"),
    (["predict", "{}/m.txt", "{}/twice.csv"], "more than one column"),
    (["predict", "{}/m.txt", "{}/loans.csv", "--output", "scores.xlsx"], "scores.xlsx does not end in"),
    (["predict", "{}/m.txt", "{}/loans.csv", "--column", "age"], "has a column 'age' already"),
    (["evaluate", "{}/scored.csv", "--scores", "p"], "--sensitive is missing"),
    (["evaluate", "{}/scored.csv", "--sensitive", "sex"], "nothing to measure"),
    (["evaluate", "{}/scored.csv", "--scores", "points", *COLUMNS], "threshold is missing, and the scores lie between"),
    (["evaluate", "{}/scored.csv", "--scores", "sex", *COLUMNS], "column 'sex' of"),
    (["evaluate", "{}/loans.csv", "--model", "{}/newer.txt"], "format version 99"),
    (["report", "{}/scored.csv", "--scores", "p", *COLUMNS, "--chosen", "q"], "--chosen q is none of the models p"),
    (["report", "{}/newer.card.json", "--scores", "p", *COLUMNS], "newer.card.json has"),
    (["export", "{}/newer.txt", "--output", "m.onnx"], "format version 99"),
    (["frontier", "{}/loans.csv", *COLUMNS, "--weights", "1,much"], "--weights holds 'much', which is no number"),
    (["frontier", "{}/loans.csv", *COLUMNS, "--weights", "-1"], "weights holds -1.0"),
    (["frontier", "{}/loans.csv", *COLUMNS, "--cv", "1"], "cv=1 must be a number of folds from 2"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[message for _, message in BAD])
def test_one_line_exit_code_two_and_nothing_written(source, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    code = run(app, [argument.replace("{}", str(source)) for argument in arguments])
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    (line,) = printed.err.strip().splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_outputs_are_not_replaced_without_force(source, tmp_path, capsys):
    for name, arguments in {
        "m.txt": ["train", "loans.csv", *COLUMNS, *SMALL],
        "s.csv": ["predict", "m.txt", "loans.csv"],
        "r.html": ["report", "scored.csv", "--scores", "p", *COLUMNS],
        "m.onnx": ["export", "m.txt"],
    }.items():
        path = tmp_path / name
        path.write_text("mine")
        full = [str(source / one) if "." in one else one for one in arguments]
        assert run(app, [*full, "--output", str(path)]) == 2
        assert f"{path} exists already; give another name, or --force" in capsys.readouterr().err
        assert path.read_text() == "mine"
        assert run(app, [*full, "--output", str(path), "--force"]) == 0
        assert path.read_bytes()[:4] != b"mine"
    (tmp_path / "frontier.csv").write_text("mine")
    full = ["frontier", str(source / "loans.csv"), *COLUMNS, "--output", str(tmp_path)]
    assert run(app, full) == 2


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a folder; give a file name"):
        check_outputs([tmp_path], force=True)
    with pytest.raises(ValueError, match=r"cannot be made, .*file is a file"):
        check_outputs([tmp_path / "file" / "below" / "model.txt"], force=False)


def test_an_unreachable_gap_writes_nothing(source, tmp_path, capsys):
    frame = make_loans(300)
    frame["proxy"] = (frame["granted"] == "yes").to_numpy() * 1.0
    frame["sex"] = np.where(frame["granted"] == "yes", "male", "female")
    frame.to_csv(tmp_path / "proxy.csv", index=False)
    arguments = [
        "train", str(tmp_path / "proxy.csv"), *COLUMNS, *SMALL, "--output", str(tmp_path / "m.txt"), "--max-gap",
        "0.000001", "--param", "gap_cv=2", "--param", "gap_metric=wasserstein_distance",
    ]  # fmt: skip
    assert run(app, arguments) == 2
    assert "max_gap" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["proxy.csv"]


def test_parameters_as_text():
    given = ["a=1", "b=0.5", "c=true", "d=dart", "e=none", "f=[1]", "g=a=b"]
    assert read_parameters(given, h=2, i=None) == {
        "a": 1, "b": 0.5, "c": True, "d": "dart", "e": None, "f": "[1]", "g": "a=b", "h": 2,
    }  # fmt: skip
    with pytest.raises(ValueError, match="--param fairness says the same as --fairness"):
        read_parameters(["fairness=x"], fairness="y")
    assert read_weights("0, 1.5") == [0.0, 1.5]
    assert read_weights(None) is None
