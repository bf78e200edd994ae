# SPDX-License-Identifier: GPL-2.0-or-later
"""Panels in headless Chromium: the time from a slider's turn to its chart.

Each slider of a panel goes through its values, one turn at a time. The name of a row says which of
these turns it is. The peer is the first setting in Python: a run of the native library with one
seed, and its picture by vl-convert. Without Chromium there is no row.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness

sys.path.insert(0, str(harness.HERE.parent / "site"))

import chromium

from swapsim.charts import png
from swapsim.live import NAMES as PANELS
from swapsim.live import panel
from swapsim.live.description import ROWS
from swapsim.live.description import run as engine_run
from swapsim.live.shown import LivePanel
from swapsim.live.shown import page as live_page
from swapsim.site.report import cells, shell

TURNS = {"fastest": 0, "middle": 0.5, "95 of 100": 0.95, "slowest": 1}
NAMES = tuple(f"live/{name}, {turn}" for name in PANELS for turn in TURNS)

PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Panel</title>
<main><article>{}</article></main>
<script src="charts.js" defer></script><script src="live.js" defer></script></html>"""

DRAG = """
(async () => {
  const panel = document.querySelector("figure.panel");
  const next = (number) => new Promise((done) => {
    const look = () => (measures().length > number ? done() : setTimeout(look, 5));
    setTimeout(done, 20000);
    look();
  });
  const measures = () => performance.getEntriesByType("measure");
  performance.clearMeasures();
  for (const input of panel.querySelectorAll("input")) {
    const first = input.value;
    for (const value of [...Array(+input.max + 1).keys(), first]) {
      if (input.value == value) continue;
      const before = measures().length;
      input.value = value;
      input.dispatchEvent(new Event("input"));
      input.dispatchEvent(new Event("change"));
      await next(before);
    }
  }
  return measures().map((each) => each.duration);
})()
"""


def turned(shown: LivePanel, page: chromium.Page, folder: Path) -> list[float]:
    """Return the milliseconds of each turn, the fastest first."""
    figure = cells.panel_figure(shown.panel.name)
    (folder / "panel.html").write_text(PAGE.format(figure), encoding="utf-8")
    page.open((folder / "panel.html").as_uri())
    page.wait_for("document.querySelector('figure.panel.drawn') != null")
    return sorted(page.evaluate(DRAG))


def in_python(shown: LivePanel) -> float:
    """Return the milliseconds of the first setting in Python."""

    def draw() -> None:
        data = {ROWS: engine_run(shown.panel, shown.setting, [1]).to_dicts()}
        png({**shown.panel.chart, "datasets": {**shown.panel.chart.get("datasets", {}), **data}})

    return 1000 * min(harness.seconds(draw) for _ in range(3))


def run() -> Iterator[dict[str, Any]]:
    """Give four turns of each panel."""
    if chromium.CHROMIUM is None:
        return
    with tempfile.TemporaryDirectory() as made, chromium.browser(Path(made) / "profile") as page:
        folder = Path(made)
        (folder / shell.SCRIPT).write_text(shell.bundle(), encoding="utf-8")
        (folder / shell.LIVE).write_text(live_page(), encoding="utf-8")
        for name in PANELS:
            shown = panel(name)
            times, peer = turned(shown, page, folder), in_python(shown)
            for turn, share in TURNS.items():
                ours = times[round(share * (len(times) - 1))]
                row = {"name": f"live/{name}, {turn}", "unit": f"ms, of {len(times)} turns"}
                values = {"ours": harness.digits(ours), "peer": harness.digits(peer)}
                yield row | values | {"ratio": round(peer / ours, 2)}
