"""The page in a real browser, opened from disk."""

import os
import shutil
import time

import numpy as np
import pytest

from otfairboost import metrics
from otfairboost.metrics.rate_intervals import gap_interval, wilson_interval
from otfairboost.report import Candidate, build_report, write_report
from report.samples import make_candidates, make_rows

BROWSER = os.environ.get("OTFAIRBOOST_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason="no browser; install chromium (Debian: apt-get install chromium) or let OTFAIRBOOST_BROWSER name one",
)
N_ROWS, N_WEIGHTS = 34_003, 20
Y, GROUPS, MERIT, BIAS = make_rows(N_ROWS)
CANDIDATES = make_candidates(MERIT, BIAS, np.linspace(0, 20, N_WEIGHTS).round(2))
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        # Root, as in containers, may not use the browser's own sandbox.
        running = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def report():
    return build_report(CANDIDATES, Y, sensitive_features=GROUPS, chosen=5, title="A <b>bold</b> title")


@pytest.fixture(scope="module")
def path(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(report, path)
    return path


class Opened:
    """A page, and everything that went wrong or out of it."""

    def __init__(self, browser, path, viewport):
        self.page = browser.new_page(viewport=viewport)
        self.problems, self.requests = [], []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        start = time.perf_counter()
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", state="attached")
        self.seconds = time.perf_counter() - start

    def number(self, selector, name="data-value"):
        return float(self.page.get_attribute(selector, name))

    def set_threshold(self, index):
        self.page.eval_on_selector(
            "#threshold",
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
            index,
        )


@pytest.fixture
def open_page(browser):
    opened = []

    def open_one(path, viewport=DESKTOP):
        opened.append(Opened(browser, path, viewport))
        return opened[-1]

    yield open_one
    for one in opened:
        one.page.close()
        assert one.problems == []
        assert [url for url in one.requests if not url.startswith("file:")] == []
        assert len(one.requests) == 1


def check_figures(opened, model, threshold):
    """Every rate, gap and interval on the page is what Python computes from the rows."""
    decision = (CANDIDATES[model].scores >= threshold).astype(int)
    for name, rows in {
        "selection_rate": np.ones(N_ROWS, bool),
        "true_positive_rate": Y == 1,
        "false_positive_rate": Y == 0,
    }.items():
        rates = metrics.group_rates(Y, decision, sensitive_features=GROUPS, rate=name)
        counts = []
        for g, (label, rate) in enumerate(rates.items()):
            cell = f'[data-rate="{name}"][data-group="{g}"]'
            member = rows & (label == GROUPS)
            counts.append((decision[member].sum(), member.sum()))
            assert opened.number(cell) == pytest.approx(rate, abs=1e-12)
            ends = opened.number(cell, "data-low"), opened.number(cell, "data-high")
            assert ends == pytest.approx(wilson_interval(*counts[-1]), abs=1e-12)
        gap = {"selection_rate": "demographic_parity"}.get(name, name) + "_difference"
        cell = f'[data-gap="{gap}"]'
        expected = metrics.get_metric(gap).function(Y, decision, sensitive_features=GROUPS)
        assert opened.number(cell) == pytest.approx(expected, abs=1e-12)
        ends = opened.number(cell, "data-low"), opened.number(cell, "data-high")
        assert ends == pytest.approx(gap_interval(*zip(*counts, strict=True)), abs=1e-12)


def test_small_and_fast_for_a_whole_frontier(open_page, path):
    assert path.stat().st_size < 1_000_000  # 6 MB are allowed
    seconds = [open_page(path).seconds for _ in range(3)]
    assert min(seconds) < 2.0


def test_shows_the_chosen_model_at_the_threshold_in_use(open_page, path, report):
    opened = open_page(path)
    assert opened.page.inner_text("h1") == "A <b>bold</b> title"
    assert opened.page.inner_text("#picked h3").startswith(CANDIDATES[5].name)
    check_figures(opened, 5, 0.5)
    shown = opened.number("#gap-value")
    assert shown == pytest.approx(report.models[5].measures["demographic_parity_difference"].value)


def test_a_click_picks_a_model(open_page, path):
    opened = open_page(path)
    before = opened.number("#gap-value")
    opened.page.click('.dot[data-model="0"] .halo', force=True)
    assert opened.page.inner_text("#picked h3") == CANDIDATES[0].name
    assert opened.number("#gap-value") > before
    check_figures(opened, 0, 0.5)
    assert opened.page.get_attribute('.dot[data-model="0"]', "aria-checked") == "true"


def test_the_keyboard_picks_models_and_moves_the_threshold(open_page, path, report):
    opened = open_page(path)
    opened.page.focus('.dot[aria-checked="true"]')
    opened.page.keyboard.press("End")
    last = max(range(N_WEIGHTS), key=lambda i: report.models[i].measures["demographic_parity_difference"].value)
    assert opened.page.evaluate("document.activeElement.dataset.model") == str(last)
    opened.page.keyboard.press("ArrowLeft")
    picked = int(opened.page.evaluate("document.activeElement.dataset.model"))
    assert picked != last
    opened.page.focus("#threshold")
    opened.page.keyboard.press("ArrowRight")
    threshold = report.thresholds[report.threshold_index + 1]
    assert float(opened.page.inner_text("#threshold-value")) == threshold
    assert opened.page.get_attribute("#threshold", "aria-valuetext") == f"{threshold:g}"
    check_figures(opened, picked, threshold)


def test_the_slider_moves_every_figure(open_page, path, report):
    opened = open_page(path)
    for index in (0, 31, 140, len(report.thresholds) - 1):
        opened.set_threshold(index)
        check_figures(opened, 5, report.thresholds[index])
        result = report.models[5].groups[1]
        for name, value in {
            "tp": result.selected_positive[index],
            "fp": result.selected_negative[index],
        }.items():
            text = opened.page.inner_text(f'[data-cell="{name}"][data-group="1"]').split()[0]
            assert int(text.replace(",", "")) == value
    opened.page.click("#threshold-reset")
    assert opened.page.inner_text("#threshold-value") == "0.5"


def test_usable_on_a_phone(open_page, path):
    opened = open_page(path, PHONE)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    box = opened.page.locator('.dot[data-model="12"] .halo').bounding_box()
    opened.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert opened.page.inner_text("#picked h3") != ""
    opened.set_threshold(60)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    small = opened.page.evaluate(
        "[...document.querySelectorAll('button, select, input')].filter(e => e.offsetParent)"
        ".map(e => e.getBoundingClientRect().height).filter(height => height < 32)"
    )
    assert small == []  # fingers need room


def test_prints_on_a4(open_page, path, tmp_path):
    opened = open_page(path)
    opened.page.emulate_media(media="print")
    opened.page.set_viewport_size({"width": 700, "height": 990})  # A4 within its margins, at 96 dots per inch
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 700
    assert not opened.page.is_visible("#threshold")
    document = opened.page.pdf(prefer_css_page_size=True)
    assert document.startswith(b"%PDF")
    size = document.split(b"/MediaBox")[1].split(b"]")[0].strip(b" [").split()
    assert [round(float(number)) for number in size[2:]] in ([595, 842], [594, 841], [596, 842], [595, 841])


def test_every_control_and_chart_has_a_name(open_page, path):
    opened = open_page(path)
    nameless = opened.page.evaluate(
        """[...document.querySelectorAll('button, select, input, svg:not([aria-hidden]), [role=radio]')]
        .filter((e) => e.offsetParent !== null || e.ownerSVGElement || e.tagName === 'svg')
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length)))
        .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert opened.page.get_attribute("html", "lang") == "en"


def contrast(one, other):
    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        return np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_colours_of_groups_stand_out(open_page, path):
    opened = open_page(path)
    for colour in opened.page.evaluate("COLOURS"):
        assert contrast(colour, "#ffffff") > 3  # as asked for graphics by the accessibility guidelines
    for ink in ("#1b2430", "#4d5866"):
        assert contrast(ink, "#f3f5f8") > 4.5


def test_other_kinds_of_report(open_page, tmp_path):
    y, groups, merit, bias = make_rows(800, n_groups=5)
    evil = np.char.add(groups, "</script><img src=x onerror=alert(1)>")
    kinds = {
        "one": build_report([Candidate("<i>only</i>", merit > 0)], y, sensitive_features=evil),
        "bare": build_report(make_candidates(merit, bias), sensitive_features=evil),
        "regression": build_report(
            [Candidate("a", 50 * merit, 0.0), Candidate("b", 50 * merit + bias, 1.0)], 52 * merit,
            sensitive_features=groups, task="regression",
        ),
        "odds": build_report(make_candidates(merit, bias), y, sensitive_features=groups, fairness="equalized_odds"),
    }  # fmt: skip
    for name, report in kinds.items():
        write_report(report, tmp_path / f"{name}.html")
        opened = open_page(tmp_path / f"{name}.html", PHONE)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        assert opened.page.is_visible("#tradeoff") == (name != "one")
        assert opened.page.is_visible("#decisions") == (name in ("one", "odds"))
        assert opened.page.locator("img").count() == 0
    label = opened.page.inner_text("#summary")
    assert "larger of both gaps" in label
    decision = (make_candidates(merit, bias)[report.chosen].scores >= 0.5).astype(int)
    expected = metrics.equalized_odds_difference(y, decision, sensitive_features=groups)
    assert opened.number("#gap-value") == pytest.approx(expected, abs=1e-12)
