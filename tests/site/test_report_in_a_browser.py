# SPDX-License-Identifier: GPL-2.0-or-later
"""The report in a real browser: nothing is cut off, whatever the width, and nothing is fetched."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import altair as alt
import nbformat
import polars as pl
import pytest

from swapsim.site import overview, report
from swapsim.site.report import whole
from swapsim.site.report.verdicts import Claim, Figure, Verdicts

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not here (Debian: chromium), so no page is looked at"
)

LONG = "a_name_of_a_verb(" + ", ".join(f"argument_{number}={number}" for number in range(30)) + ")"
CELLS = f"""\
import altair as alt, polars as pl
from swapsim import charts, tables
charts.use()
tables.use()
wide = pl.DataFrame({{f"a column of some width {{n}}": [n] for n in range(20)}})
display(wide)
print("{"=" * 300}")
chart = alt.Chart(wide, title="A wide chart").mark_bar().encode(x=wide.columns[0])
chart.properties(width=900)  # {LONG}
"""
MEASURED = """
<script>
const measure = () => {
  const page = document.documentElement;
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const inside = (element) => element && (scrolls(element) || inside(element.parentElement));
  const cut = [...document.querySelectorAll("body *")].filter((element) =>
    element.getBoundingClientRect().right > page.clientWidth + 1 && !inside(element.parentElement));
  parent.postMessage(JSON.stringify({
    width: page.clientWidth,
    scrolled: page.scrollWidth,
    cut: cut.map((element) => `${element.tagName} ${element.className}`),
    scrollers: [...document.querySelectorAll("main *")].filter(
      (element) => scrolls(element) && element.scrollWidth > element.clientWidth).length,
    fetched: performance.getEntriesByType("resource").map((entry) => entry.name),
    drawn: document.querySelectorAll("figure.drawn svg").length,
  }), "*");
};
const picture = () => document.querySelector("figure script");
const drawn = () => !picture() || document.querySelector("figure.drawn svg");
const waited = (left) => (drawn() || !left ? measure() : setTimeout(waited, 500, left - 1));
addEventListener("load", () => setTimeout(waited, 3000, 30));
</script>
"""
FRAME = """
<!DOCTYPE html><body style="margin: 0">
<script>addEventListener("message", (told) => document.body.dataset.measured = told.data);</script>
<iframe src="{page}" width="{width}" height="900" style="border: 0"></iframe>
"""
"""A window of chromium has a least width; a frame in it has none."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a report of one notebook with all that is wide, and of the real cards and tables."""
    folder = tmp_path_factory.mktemp("browser")
    name = "perf-profile.cycles-pp._raw_spin_lock_irqsave.test_clear_page_writeback.end_page"
    figures = (Figure("+25.0 %", "agrees", "agrees"), Figure("", "absent", "not measured"))
    claim = Claim("A-swap-out", "01-writeback-tags", name, "+22.3 %", *figures)
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(f"# 00 Title\n\n**{'Verdict. ' * 50}**"),
            nbformat.v4.new_markdown_cell(
                f"```\n {'-' * 200}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
            ),
            nbformat.v4.new_code_cell(CELLS),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    (folder / "notebooks").mkdir()
    nbformat.write(notebook, folder / "notebooks" / "00-one.ipynb")
    drawn = alt.Chart(pl.DataFrame({"x": [1]}), title="A picture").mark_bar().encode(x="x")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(whole, "verdicts", lambda: Verdicts((claim,) * 5, (claim,)))
        patched.setattr(whole, "notebooks_root", lambda: folder / "notebooks")
        patched.setattr(overview, "picture", lambda: drawn.properties(width=900))
        return report.write(folder / "report").parent


def looked_at(page: Path, width: int, profile: Path) -> dict[str, Any]:
    """Open a page as wide as so many pixels and return what was measured there."""
    probe, frame = page.with_name("probe.html"), page.with_name("frame.html")
    probe.write_text(page.read_text(encoding="utf-8") + MEASURED, encoding="utf-8")
    frame.write_text(FRAME.format(page=probe.name, width=width), encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--hide-scrollbars", "--dump-dom"]
    command += [f"--user-data-dir={profile}", "--virtual-time-budget=20000"]
    command += ["--window-size=1300,1000", frame.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    probe.unlink()
    frame.unlink()
    (found,) = re.findall(r'data-measured="([^"]*)"', shown)
    measured: dict[str, Any] = json.loads(unescape(found))
    return measured


@pytest.mark.parametrize("width", [1100, 400])
@pytest.mark.parametrize(
    "name", ["index", "00-one", "patch-03-stall-decisions", "claims", "rules", "words"]
)
def test_nothing_is_cut_off_and_nothing_is_fetched(
    pages: Path, tmp_path: Path, name: str, width: int
) -> None:
    """The page is as wide as its window, what is wider scrolls in itself, all comes from files."""
    found = looked_at(pages / f"{name}.html", width, tmp_path)
    assert found["width"] == width
    assert found["scrolled"] <= width
    assert found["cut"] == []
    assert all(address.startswith(("file:", "data:")) for address in found["fetched"])
    if name == "00-one":
        assert found["scrollers"] >= 4, "code, table, diagram and print are wider than the page"


def test_a_chart_comes_alive(pages: Path, tmp_path: Path) -> None:
    """Its script draws it in place of the picture, without a network."""
    assert looked_at(pages / "index.html", 1100, tmp_path)["drawn"] == 1
