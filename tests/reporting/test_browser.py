"""A report in a browser: it opens, tells of its points, fits a phone, and asks nobody for anything."""

import os
import shutil

import numpy as np
import pytest
from tests.reporting_helpers import CASES, HOSTILE, page_of

from pegasos import LinearSVC
from pegasos.reporting import Report, report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("PEGASOS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to open pages in")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page of each kind."""
    made = tmp_path_factory.mktemp("pages")
    for case in CASES:
        page_of(case, training=True).save(made / f"{case}.html")
    return made


@pytest.fixture
def visit(browser, folder):
    """Open a page; it has no error to tell of, and asks for nothing but itself."""
    contexts, troubles = [], []

    def opened(case, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, has_touch=True)
        contexts.append(context)
        page, address = context.new_page(), (folder / f"{case}.html").as_uri()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: request.url != address and troubles.append(request.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_opens_and_fits(visit, case, width, scheme):
    page = visit(case, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.scrollWidth") <= width


def test_the_pointer_shows_values(visit):
    page = visit("two_classes")
    chart = page.locator("#convergence .by-epoch figure").nth(1)
    tip = chart.locator(".tip")
    assert not tip.is_visible()
    chart.scroll_into_view_if_needed()
    box = chart.locator(".plot svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] / 2)
    assert tip.is_visible()
    last = tip.text_content()
    assert "gap" in last
    assert "primal" in last
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2)
    assert tip.text_content() != last
    page.mouse.move(0, 0)
    assert not tip.is_visible()


def test_a_touch_shows_values(visit):
    page = visit("two_classes", 375)
    chart = page.locator("#margins figure")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".plot svg").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = chart.locator(".tip")
    assert tip.is_visible()
    assert "examples" in tip.text_content()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] - 60)  # elsewhere
    assert not tip.is_visible()


def test_links_in_a_notebook_stay_in_the_report(browser, folder):
    """A frame's `srcdoc` has the address of the notebook: to go to "#errors" there would load the notebook."""
    shown = Report((folder / "two_classes.html").read_text(encoding="utf-8"))._repr_html_()
    (folder / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{shown}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    try:
        page.goto((folder / "notebook.html").as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("nav a", has_text="Margins").click()
        section = frame.locator("#margins")
        section.wait_for()
        page.wait_for_function("document.activeElement.tagName === 'IFRAME'")
        assert section.evaluate("one => one === document.activeElement")
        section.evaluate("() => new Promise((done) => setTimeout(done, 800))")  # it scrolls smoothly
        assert 0 <= section.evaluate("one => one.getBoundingClientRect().top") < 100
        assert frame.locator("h1").count() == 1
        assert page.url.endswith("notebook.html")
    finally:
        page.close()


def test_links_of_a_page_of_its_own_have_addresses(visit):
    page = visit("two_classes")
    page.locator("nav a", has_text="Margins").click()
    assert page.url.endswith("#margins")


def test_arrow_keys_show_values(visit):
    page = visit("three_classes")
    chart = page.locator("#convergence .by-epoch figure").last
    chart.locator(".plot svg").focus()
    tip, told = chart.locator(".tip"), []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        told.append(tip.text_content())
    assert told[0] == told[2] == told[4]
    assert told[0] != told[1]
    assert told[3] not in (told[0], "")
    assert told[5].partition("\n")[0] != told[0].partition("\n")[0]
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_tips_stay_on_the_page(visit):
    page = visit("three_classes", 375)
    for chart in page.locator("figure").all():
        if not chart.is_visible():
            continue
        chart.locator(".plot svg").focus()
        for key in ("Home", "End"):
            page.keyboard.press(key)
            box = chart.locator(".tip").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 375


def test_epochs_or_seconds(visit):
    page = visit("two_classes")
    assert page.locator(".by-epoch").is_visible()
    assert not page.locator(".by-seconds").is_visible()
    page.locator("#axis-epoch").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".by-seconds").is_visible()
    assert not page.locator(".by-epoch").is_visible()


def test_hostile_names_are_shown_as_text(visit):
    page = visit("hostile")
    page.mouse.move(640, 400)
    shown = page.locator("body").inner_text()
    assert HOSTILE[0] in shown
    assert HOSTILE[1] in shown
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(visit, scheme):
    """At least 4.5, as WCAG's level AA asks of text; 3 of lines and bars."""
    page = visit("two_classes", scheme=scheme)
    ratios = page.evaluate(
        """() => {
          const style = getComputedStyle(document.documentElement);
          const light = (name) => {
            const hex = style.getPropertyValue(name).trim().slice(1);
            const parts = [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
            const [r, g, b] = parts.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ratio = (a, b) => {
            const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
            return (high + 0.05) / (low + 0.05);
          };
          const texts = [["--text", "--card"], ["--text", "--page"], ["--quiet", "--card"], ["--quiet", "--page"],
            ["--accent", "--card"], ["--accent", "--page"], ["--good", "--good-soft"], ["--bad", "--bad-soft"],
            ["--quiet", "--good-soft"], ["--quiet", "--bad-soft"], ["--text", "--soft"], ["--page", "--text"]];
          const drawn = [0, 1, 2, 3, 4, 5, 6].map((k) => [`--s${k}`, "--card"]);
          return [texts.map((pair) => ratio(...pair)), drawn.map((pair) => ratio(...pair))];
        }"""
    )
    assert min(ratios[0]) >= 4.5
    assert min(ratios[1]) >= 3


def test_on_paper_everything_is_there(visit):
    page = visit("two_classes")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#again table").first.is_visible()
    assert not page.locator("nav").is_visible()
    assert len(page.pdf()) > 10_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.locator("#again table").first.is_visible()


def test_paper_divides_no_table_and_no_chart(visit):
    page = visit("three_classes")
    page.emulate_media(media="print")
    style = "(one, name) => getComputedStyle(one).getPropertyValue(name)"
    for where in ("#errors .heat", "#errors figure, #margins figure", "#again pre", "#errors tr"):
        assert page.locator(where).first.evaluate(style, "break-inside") == "avoid"
    for where in ("h2", "#errors caption", "figcaption"):
        assert page.locator(where).first.evaluate(style, "break-after") == "avoid"
    assert page.locator("thead th").first.evaluate(style, "position") == "static"


@pytest.mark.parametrize("width", [375, 1280])
def test_all_rows_of_a_confusion_matrix_are_seen(visit, folder, width):
    X = np.repeat(np.eye(12), 3, axis=0)
    report(LinearSVC(random_state=0).fit(X, np.arange(36) // 3), X, np.arange(36) // 3).save(folder / "twelve.html")
    matrix = visit("twelve", width).locator(".scroll:has(> .heat)")
    assert matrix.evaluate("one => one.scrollHeight <= one.clientHeight")


def test_points_of_charts_are_not_on_paper(visit):
    page = visit("two_classes")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("#convergence > details").evaluate("one => one.open")


def test_paper_has_no_thousand_rows(visit):
    page = visit("two_classes")
    page.locator("#again > details tbody").first.evaluate("body => { body.innerHTML += '<tr><td>1'.repeat(81); }")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened = page.locator("section > details").evaluate_all("all => all.map((one) => one.open)")
    assert sorted(set(opened)) == [False, True]
    assert not page.locator("#again > details").first.evaluate("one => one.open")
