"""The commands in docs/command-line.md run, in order, in one folder."""

import re
import shlex
from pathlib import Path

from otfairboost.cli.app import app
from otfairboost.cli.running import run

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    commands = 0
    for language, text in blocks:
        if language == "python":
            exec(compile(text, str(PAGE), "exec"), {})
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "otfairboost"
            assert run(app, arguments) == 0, (line, capsys.readouterr().err)
            commands += 1
    assert commands >= 8
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {"audit.html", "fair.txt", "fair.card.json", "scores.csv", "page.html", "fair.onnx", "choice"}
