import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from otfairboost.report import Candidate, build_report, render_report, write_report
from otfairboost.report.html import encode_json
from report.samples import make_candidates, make_rows

Y, GROUPS, MERIT, BIAS = make_rows(1000)
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{data}}&\"'<!--"


class Reader(HTMLParser):
    """Collects elements, attributes and text, as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def evil_page():
    groups = np.where(GROUPS == "group 0", EVIL, "plain")
    candidates = [
        one._replace(name=f"{one.name} {EVIL}", parameters={EVIL: EVIL}) for one in make_candidates(MERIT, BIAS)
    ]
    report = build_report(
        candidates, Y, sensitive_features=groups, title=EVIL, reason=EVIL, sensitive_name=EVIL, target_name=EVIL,
        details={EVIL: {EVIL: EVIL}, "Versions": {EVIL: EVIL}},
    )  # fmt: skip
    return render_report(report)


def test_no_string_of_the_user_becomes_markup(evil_page):
    page = Reader(evil_page)
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert any(EVIL in text for text in page.text)  # it is shown as it is


def test_the_data_survive_the_escapes(evil_page):
    start = evil_page.index('id="report-data">') + len('id="report-data">')
    data = json.loads(evil_page[start : evil_page.index("</script>", start)])
    assert data["groups"][0]["label"] == EVIL
    assert data["models"][0]["parameters"] == [[EVIL, EVIL]]


def test_json_cannot_end_its_element():
    assert not re.search("[<>&]", encode_json({EVIL: [EVIL, 1.5, None]}))
    assert json.loads(encode_json({EVIL: 1})) == {EVIL: 1}


def test_nothing_is_fetched_from_outside(evil_page):
    page = Reader(evil_page)
    links = [value for name, value in page.attributes if name in ("src", "href", "action", "data", "srcset")]
    assert links == ["#rates"]
    policy = next(value for name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    style = evil_page[evil_page.index("<style>") : evil_page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_the_result_is_readable_without_a_script():
    report = build_report(make_candidates(MERIT, BIAS), Y, sensitive_features=GROUPS, chosen=2, reason="fair enough")
    text = " ".join(Reader(render_report(report)).text)
    decision = make_candidates(MERIT, BIAS)[2].scores >= 0.5
    for group in ("group 0", "group 1"):
        assert f"{100 * decision[group == GROUPS].mean():.1f}% of “{group}”" in text
    assert "fair enough" in text
    assert "With “weight 0” the gap is" in text
    assert "numpy" in text  # versions


@pytest.mark.parametrize(
    ("fairness", "words"),
    [
        ("true_positive_rate_parity", "with a positive outcome"),
        ("false_positive_rate_parity", "with a negative outcome"),
        ("equalized_odds", "Among people with the same outcome"),
    ],
)
def test_headline_follows_the_criterion(fairness, words):
    report = build_report(MERIT > 0, Y, sensitive_features=GROUPS, fairness=fairness)
    assert words in render_report(report)


def test_regression_page():
    report = build_report([Candidate("a", 10 * MERIT)], 9 * MERIT, sensitive_features=GROUPS, task="regression")
    assert "differ by at most" in render_report(report)


def test_an_existing_page_is_replaced_only_as_a_whole(tmp_path, monkeypatch):
    report = build_report(make_candidates(MERIT, BIAS), Y, sensitive_features=GROUPS)
    path = tmp_path / "page.html"
    path.write_text("old")
    with monkeypatch.context() as broken:
        broken.setattr("pathlib.Path.write_text", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            write_report(report, path)
    assert path.read_text() == "old"
    write_report(report, path)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
