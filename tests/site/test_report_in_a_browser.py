# SPDX-License-Identifier: GPL-2.0-or-later
"""The report in a real browser: at each width nothing is cut off, and nothing is fetched."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import chromium
import polars as pl
import pytest
from chromium import Page
from reports import of_stored_outputs, one_notebook, small

from swapsim import charts, live
from swapsim.io import notebooks_root
from swapsim.site import report

pytestmark = pytest.mark.skipif(chromium.CHROMIUM is None, reason=chromium.MISSING)

LONG = "a_name_of_a_verb(" + ", ".join(f"argument_{number}={number}" for number in range(30)) + ")"
CELLS = f"""\
import altair as alt, polars as pl
from swapsim import charts
charts.use()
wide = pl.DataFrame({{f"a column of some width {{n}}": [n] for n in range(20)}})
display(wide)
print("{"=" * 300}")
frame = pl.DataFrame({{"place": [1, 2, 3]}})
charts.points(frame, "place", "place", size=900, title="A wide chart", width=900)  # {LONG}
"""
CUT_OFF = """
(() => {
  const window_width = document.documentElement.clientWidth;
  const column = document.querySelector("main").getBoundingClientRect().right;
  const cut = [...document.querySelectorAll("body *")].filter((element) => {
    if (element.ownerSVGElement) return element.matches("text") && /…$/.test(element.textContent);
    const { left, right } = element.getBoundingClientRect();
    const end = element.closest("main") ? column : window_width;
    return left < -1 || right > end + 1 || element.scrollWidth > element.clientWidth + 1
      && getComputedStyle(element).display != "inline";
  });
  return cut.map((element) =>
    `${element.tagName} ${element.getAttribute("class")} ${element.textContent.slice(0, 60)}`);
})()
"""
OPENED = 'for (const part of document.querySelectorAll("details")) part.open = true'
SETTLED = """
[...document.querySelectorAll("figure.chart:has(> script)")].every((figure) => {
  const { natural, room } = figure.dataset;
  return room && Math.min(natural, room) == Math.min(natural, figure.clientWidth);
})
"""
OWN = ("file:", "data:", "blob:")
"""Addresses that need no network; a blob is the worker of a page's panels."""
FRAME = "new Promise((next) => requestAnimationFrame(() => setTimeout(() => next(true))))"
TALL = 60_000
"""Height of a window in which all charts of a page are drawn."""

DRAWN = "document.querySelector('figure.drawn .role-mark path') != null"
SHOWN = """
[...document.querySelectorAll("figure.chart img")].map((picture) =>
  getComputedStyle(picture).display)
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a report of one notebook with wide contents, and of the real cards and tables."""
    root = tmp_path_factory.mktemp("browser")
    wide = f"\n\n```\n {'-' * 200}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    with pytest.MonkeyPatch.context() as patched:
        one_notebook(small(root, patched), CELLS, text=f"\n\n{'Words. ' * 50}{wide}")
        return report.write(root / "report").parent


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the report of all notebooks as they are stored."""
    with pytest.MonkeyPatch.context() as patched:
        yield of_stored_outputs(tmp_path_factory.mktemp("stored"), patched)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Give one browser for all pages."""
    with chromium.browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


def cut_off(page: Page) -> list[str]:
    """Return what is wider than its place, as soon as each chart is drawn for its place.

    A table of a part that was opened is made to fit in the frame after the one of its event.
    """
    page.evaluate(OPENED)
    page.wait_for(FRAME)
    page.wait_for(SETTLED)
    page.wait_for(FRAME)
    found: list[str] = page.evaluate(CUT_OFF)
    return found


@pytest.mark.parametrize("width", [1100, 400])
def test_what_is_too_wide_is_made_to_fit(pages: Path, browser: Page, width: int) -> None:
    """Code, a table, a diagram, a print, a chart; and nothing is fetched."""
    browser.open((pages / "00-one.html").as_uri(), width=width, height=TALL)
    assert cut_off(browser) == []
    assert all(address.startswith(OWN) for address in browser.fetched)
    assert browser.complaints == []


PAGES = [
    *("index", "live", "mail-A", "mail-B", "mail-C", "mail-D"),
    "patch-03-stall-decisions",
    *(path.stem for path in sorted(notebooks_root().glob("*.ipynb"))),
]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_of_a_page_is_cut_off(stored: Path, browser: Page, name: str) -> None:
    """At three widths nothing is wider than its place; no label is shortened, nothing is fetched.

    A window of 1400 pixels has enough width for each table as it is.
    """
    browser.open((stored / f"{name}.html").as_uri(), width=1920, height=TALL)
    for width, dark in ((1920, False), (1400, True), (420, False)):
        browser.resize(width=width, height=TALL, dark=dark)
        assert cut_off(browser) == [], f"at {width} pixels"
        if width > 420:
            assert browser.evaluate("document.querySelectorAll('.stacked').length") == 0
    assert all(address.startswith(OWN) for address in browser.fetched)
    assert browser.complaints == []


def test_what_is_cut_off_is_found(stored: Path, browser: Page) -> None:
    """The check fails for a page whose style lets something be wider than its place."""
    browser.open((stored / "06-your-own.html").as_uri(), width=420, height=TALL)
    browser.evaluate("window.broken = document.createElement('style'); 0")
    browser.evaluate("document.head.append(broken)")
    for style in (
        ".dataframe { min-width: 1200px !important }",
        ".code pre { white-space: pre !important }",
        "figure.chart svg { max-width: none !important; width: 900px }",
        "h1 { margin-left: -20px }",
    ):
        assert cut_off(browser) == []
        browser.evaluate(f"broken.textContent = {json.dumps(style)}")
        assert cut_off(browser), style
        browser.evaluate("broken.textContent = ''")


def test_a_chart_speaks_at_the_mouse(pages: Path, browser: Page) -> None:
    """Its script draws it in place of the picture, in the page's colours."""
    browser.open((pages / "00-one.html").as_uri(), height=3000, dark=True)
    browser.wait_for(DRAWN)
    assert browser.wait_for(
        "document.querySelector('#vg-tooltip-element.visible')?.innerText",
        doing=lambda: browser.point_at("figure.drawn .role-mark path"),
    )
    words, text = browser.evaluate(
        "[document.querySelector('figure.drawn svg .role-title text'), document.body].map("
        "(each, at) => getComputedStyle(each)[at ? 'color' : 'fill'])"
    )
    assert words == text
    assert browser.evaluate(SHOWN) == ["none"]
    assert browser.complaints == []


def test_the_file_of_a_chart_draws_it_without_a_warning(tmp_path: Path, browser: Page) -> None:
    """A chart that is written as .html has a schema that its own Vega-Lite knows."""
    drawn = alt.Chart(pl.DataFrame({"x": [1]}), title="A file").mark_bar().encode(x="x:Q")
    file = tmp_path / "chart.html"
    file.write_bytes(charts.rendered(drawn, ".html"))
    browser.open(file.as_uri())
    browser.wait_for("document.querySelector('svg .role-mark path') != null")
    assert browser.complaints == []


def test_the_wheel_moves_the_page_and_with_ctrl_the_axis(pages: Path, browser: Page) -> None:
    """A chart does not stop a user who scrolls the page."""
    browser.open((pages / "00-one.html").as_uri(), height=500)
    browser.evaluate("document.querySelector('figure.chart').scrollIntoView({block: 'start'})")
    browser.wait_for(DRAWN)
    mark = "figure.drawn .role-mark path"
    browser.point_at(mark)
    axis = "[...document.querySelectorAll('.role-axis-label text')].map((each) => each.textContent)"
    before = browser.evaluate(f"[{axis}.join(), scrollY]")
    browser.wait_for(f"scrollY < {before[1]}", doing=lambda: browser.wheel(mark, -200))
    assert browser.evaluate(f"{axis}.join()") == before[0]
    browser.wait_for(
        f"{axis}.join() != {json.dumps(before[0])}",
        doing=lambda: browser.wheel(mark, -400, ctrl=True),
    )


def test_the_reference_is_searched_without_a_server(pages: Path, browser: Page) -> None:
    """Its index is a script next to its pages, and its pages lead back to the report."""
    first = (pages / "api" / "swapsim.html").as_uri()
    browser.open(first, width=400)
    assert browser.evaluate("document.documentElement.scrollWidth") == 400
    browser.open(first)
    browser.evaluate("document.querySelector('input[type=search]').focus()")
    browser.write("InputError")
    browser.wait_for("document.querySelector('main').innerText.includes('swapsim.InputError')")
    for words, name, target in (
        ("own+machine", "Your machine", "api/swapsim/guide/your_machine.html"),
        ("refault", "Term: refault", "api/swapsim/guide/terms.html#reclaim"),
    ):
        browser.open(f"{first}?search={words}")
        found = "document.querySelector('.search-result a')"
        browser.wait_for(f"{found}?.textContent == '{name}'")
        assert browser.evaluate(f"{found}.href") == f"{pages.as_uri()}/{target}"
    assert (
        browser.evaluate("document.querySelector('.report a').href")
        == (pages / "index.html").as_uri()
    )
    assert browser.complaints == []


@pytest.mark.parametrize(
    ("name", "begins"), [("00-one", "A wide chart"), ("index", "What are tags worth")]
)
def test_without_scripts_and_on_paper_a_chart_is_a_picture(
    pages: Path, browser: Page, name: str, begins: str
) -> None:
    """So is a panel. The alternative text is the title, or the question and its figures."""
    page = (pages / f"{name}.html").as_uri()
    with browser.without_scripts():
        browser.open(page)
        assert browser.evaluate(SHOWN) == ["block"]
    browser.open(page, height=3000)
    browser.wait_for(DRAWN)
    browser.on_paper()
    assert browser.evaluate(SHOWN) == ["block"]
    assert browser.evaluate("document.querySelector('figure.chart img').alt").startswith(begins)
    controls = "getComputedStyle(document.querySelector('.controls') ?? document.head).display"
    assert browser.evaluate(controls) == "none"


PANEL = """
(() => {
  const panel = document.querySelector("figure.panel");
  const picture = getComputedStyle(panel.querySelector("img")).display != "none";
  return [panel.querySelector(".figures").innerText.split("\\n")[0], picture];
})()
"""
TO_THE_PANEL = "document.querySelector('figure.panel').scrollIntoView()"


def test_a_panel_has_its_picture_until_its_first_result(stored: Path, browser: Page) -> None:
    """Controls, picture and figures are those of the first setting."""
    for width in (1280, 400):
        browser.open("about:blank")
        browser.open((stored / "01-writeback-tags.html").as_uri(), width=width, height=100)
        figure, pictured = browser.evaluate(PANEL)
        assert pictured
        browser.evaluate(TO_THE_PANEL)
        browser.wait_for(ALL_SEEDS)
        assert browser.evaluate(PANEL) == [figure, False]
    assert browser.complaints == []


def test_a_panel_whose_model_cannot_run_keeps_its_picture(stored: Path, browser: Page) -> None:
    """One line says why, such as where a browser allows no worker."""
    browser.open("about:blank")
    browser.open((stored / "01-writeback-tags.html").as_uri(), width=1280, height=100)
    refusal = "constructor() { throw new Error('no worker'); }"
    browser.evaluate(f"globalThis.Worker = class {{ {refusal} }}")
    browser.evaluate(TO_THE_PANEL)
    browser.wait_for("document.querySelector('figure.panel.failed') != null")
    said, pictured = browser.evaluate(PANEL)
    assert said == "the model cannot run in this page: no worker"
    assert pictured


CODE = "[...document.querySelectorAll('details.code')]"


def test_code_is_closed_until_it_is_wanted(stored: Path, browser: Page) -> None:
    """A button opens and closes all of it; on paper all is shown."""
    browser.open((stored / "01-writeback-tags.html").as_uri())
    assert browser.evaluate(f"{CODE}.length") > 5
    press = "document.querySelector('.all-code').click()"
    for opened, words in ((True, "Hide all code"), (False, "Show all code")):
        browser.evaluate(press)
        browser.wait_for(f"document.querySelector('.all-code').textContent == '{words}'")
        assert browser.evaluate(f"{CODE}.every((each) => each.open == {json.dumps(opened)})")
    browser.on_paper()
    browser.wait_for(f"{CODE}.every((each) => each.querySelector('.highlight').checkVisibility())")


SAID = "document.querySelector('figure.panel .figures').innerText"
ALL_SEEDS = """
document.querySelector("figure.panel.drawn") && !document.querySelector("figure.panel .counted")
""".strip()
SLIDER = "document.querySelector('figure.panel input[name=writers]')"
BUTTON = """
[...document.querySelectorAll("figure.panel button")]
  .find((each) => /%s/.test(each.textContent)).click()
"""


def test_a_panel_follows_its_keys_its_address_and_its_buttons(pages: Path, browser: Page) -> None:
    """An arrow key turns a slider, a sent address has its state, a button takes it back."""
    page = (pages / "index.html").as_uri()
    browser.open(page, height=3000)
    first = browser.wait_for(f"{ALL_SEEDS} && {SAID}")
    assert browser.evaluate("location.href") == page
    browser.evaluate(f"{SLIDER}.focus()")
    browser.press("ArrowRight", 39)
    one = browser.wait_for(f"{SAID} != {json.dumps(first)} && {SAID}")
    assert one.endswith("seed 1 of 5 ...")
    turned = browser.wait_for(f"{ALL_SEEDS} && {SAID}")
    assert browser.evaluate(f"{SLIDER}.getAttribute('aria-valuetext')") == "16"
    sent = browser.evaluate("location.href")
    assert sent == f"{page}#panel=tags&writers=16"
    code = "document.querySelector('figure.panel pre').textContent"
    browser.wait_for(
        f"{code}.trim() == {json.dumps(live.panel('tags', writers=16).python.strip())}"
    )
    browser.open("about:blank")
    browser.open(sent, height=3000)
    browser.wait_for(
        f"document.querySelector('figure.panel.drawn') && {SAID} == {json.dumps(turned)}"
    )
    browser.evaluate(BUTTON % "Back")
    browser.wait_for(f"{SAID} == {json.dumps(first)}")
    assert browser.evaluate("location.href") == page
    assert browser.complaints == []


TURNED = """
(() => {
  const knob = document.querySelector("#tags [name=writers]");
  knob.value = 0;
  knob.dispatchEvent(new Event("input"));
})()
"""


def test_an_address_has_what_is_turned_in_each_panel(stored: Path, browser: Page) -> None:
    """Drawing writes nothing; a turned knob adds its panel's part, and Back takes it out."""
    page = (stored / "live.html").as_uri()
    browser.open(f"{page}#panel=locks&hold=200", height=9000)
    browser.wait_for("document.querySelectorAll('#tags.drawn, #locks.drawn').length == 2")
    assert browser.evaluate("location.href") == f"{page}#panel=locks&hold=200"
    browser.evaluate(TURNED)
    both = "#panel=tags&writers=1&panel=locks&hold=200"
    assert browser.evaluate("location.hash") == both
    browser.open("about:blank")
    browser.open(page + both, height=9000)
    browser.wait_for("document.querySelectorAll('#tags.drawn, #locks.drawn').length == 2")
    knobs = "document.querySelector('#{} [name={}]').getAttribute('aria-valuetext')"
    assert browser.evaluate(knobs.format("tags", "writers")) == "1"
    assert browser.evaluate(knobs.format("locks", "hold")) == "200"
    browser.evaluate("document.querySelector('#tags button').click()")
    assert browser.evaluate("location.hash") == "#panel=locks&hold=200"
    assert browser.complaints == []


def test_an_unknown_value_of_an_address_is_the_first_one(stored: Path, browser: Page) -> None:
    """The other values of the address are turned."""
    page = (stored / "live.html").as_uri()
    browser.open("about:blank")
    browser.open(f"{page}#panel=locks&hold=200&kind=none&wheels=4&panel=nosuch", height=900)
    browser.wait_for("document.querySelector('#locks.drawn') != null")
    values = "['hold', 'kind'].map((name) => document.querySelector(`#locks [name=${name}]`)"
    found = browser.evaluate(f"{values}.getAttribute('aria-valuetext'))")
    assert found == ["200", "queued lock"]
    assert browser.complaints == []


def test_a_chart_that_cannot_be_as_narrow_as_its_place_has_a_width(
    stored: Path, browser: Page
) -> None:
    """In a window of 240 pixels no part of it is a NaN."""
    browser.open((stored / "live.html").as_uri(), width=240, height=TALL)
    browser.wait_for(SETTLED)
    assert browser.complaints == []


def test_a_setting_without_constants_is_one_line(pages: Path, browser: Page) -> None:
    """The panel says so, and goes on with the next setting."""
    sent = f"{(pages / 'index.html').as_uri()}#panel=tags&tag_share=0.01&map_share=0.8"
    browser.open(sent, height=3000)
    browser.wait_for("document.querySelector('figure.panel.failed') != null")
    assert "no constants meet the base column" in browser.evaluate(SAID)
    browser.evaluate(BUTTON % "Back")
    browser.wait_for("document.querySelector('figure.panel.drawn:not(.failed)') != null")


def test_a_page_without_panels_loads_no_panel(pages: Path, browser: Page) -> None:
    """And one with panels at most 100 KB more."""
    browser.open((pages / "patch-03-stall-decisions.html").as_uri())
    assert not [address for address in browser.fetched if address.endswith("live.js")]
    front = (pages / "index.html").read_text(encoding="utf-8")
    (panel,) = re.findall(r'<script type="application/gzip">(.*?)</script>', front)
    assert (pages / "live.js").stat().st_size + len(panel.encode()) <= 100 * 1024
