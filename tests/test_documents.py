"""The README and the pages of docs/: their code runs, their links and pictures exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])


def names(pages):
    return [str(page.relative_to(ROOT)) for page in pages]


def python_blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


WITH_CODE = [page for page in PAGES if python_blocks(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=names(WITH_CODE))
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in python_blocks(page):
        exec(compile(block, str(page), "exec"), namespace)


def test_readme_opens_with_a_picture_and_ten_lines():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("![") < text.index("```python") < 600
    assert len(python_blocks(ROOT / "README.md")[0].splitlines()) <= 12


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
