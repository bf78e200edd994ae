# SPDX-License-Identifier: GPL-2.0-or-later
"""A panel with a setting: what a notebook shows and stores of it, and its rows in Python.

In JupyterLab it is a widget that computes in the browser, also when the kernel has ended. A stored
notebook has a picture and JSON: the setting and the figures, which nbval compares.
"""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from textwrap import wrap
from typing import Any, Final

import polars as pl

from swapsim.charts.theme import plain_numbers, png
from swapsim.errors import check_choice
from swapsim.live import drawing
from swapsim.live import panel as engine
from swapsim.progress import WIDGET

NAMES: Final = ("tags", "locks", "stalls", "trunks", "bases", "mglru")
"""The panels, in the order of their questions: each is a module of `swapsim.live.panels`."""

MIME: Final = "application/vnd.swapsim.live+json"
"""What a stored notebook has of a panel: name, setting, figures, and a digest of its picture."""

_WHERE: Final = (
    "A picture: the knobs are in JupyterLab (make lab) and, where scripts run, in the report"
)
_LINE: Final = 100  # characters of a line below a picture's title


class LivePanel:
    """A panel of this notebook: turn its controls, or read its setting and its rows in Python."""

    def __init__(self, name: str, turned: Mapping[str, object]) -> None:
        check_choice("name", name, NAMES)
        self.panel: engine.Panel = import_module(f"swapsim.live.panels.{name}").panel()
        self.setting = engine.setting_of(self.panel, turned)

    def __repr__(self) -> str:
        """Return the call that gives the panel with its setting."""
        turned = "".join(f", {name}={value!r}" for name, value in self.setting.items())
        return f"live.panel({self.panel.name!r}{turned})"

    @property
    def config(self) -> list[engine.Fields]:
        """Return the config of each run of the setting, with the first seed."""
        return [config for _, config in engine.configs(self.panel, self.setting, 1)]

    @property
    def python(self) -> str:
        """Return Python that runs the same configs."""
        return engine.as_python(self.panel, self.setting)

    def frame(self) -> pl.DataFrame:
        """Return the rows of the setting, computed by the native library."""
        return engine.run(self.panel, self.setting)

    def figures(self, rows: pl.DataFrame | None = None) -> list[str]:
        """Return the figures below the chart, of rows of the model (default: those of `frame`)."""
        found = self.frame() if rows is None else engine.shown(self.panel, rows)
        return engine.figures(self.panel, found)

    def picture(self) -> bytes:
        """Return a picture of the chart (PNG), computed by the native library."""
        return png(self._titled(self.frame()))

    def frame_picture(self, room: int = drawing.ROOM) -> bytes:
        """Return a picture (PNG) of the chart in a panel's frame of so many pixels.

        It is in the frame until the chart is drawn there.
        """
        return png(drawing.filling(self._drawn(self.frame()), room))

    def setting_in_words(self) -> str:
        """Return each control with its value."""
        return "; ".join(f"{each.label}: {self.setting[each.name]}" for each in self.panel.controls)

    def _drawn(self, rows: pl.DataFrame, **parts: object) -> dict[str, Any]:
        """Return the chart with rows, and with other parts."""
        chart = dict(self.panel.chart)
        datasets = chart.get("datasets", {}) | {engine.ROWS: rows.to_dicts()}
        return chart | parts | {"datasets": datasets}

    def _titled(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Return the chart of a picture, with the setting below the question."""
        below = [*wrap(self.setting_in_words(), _LINE), _WHERE]
        return self._drawn(rows, title={"text": self.panel.question, "subtitle": below})

    def for_page(self) -> dict[str, Any]:
        """Return all that a page needs to show the panel with this setting."""
        return engine.as_json(self.panel, dict(self.setting))

    @cached_property
    def widget(self) -> Any:
        """The widget of JupyterLab; what is turned in the browser becomes the setting."""
        from swapsim.live.widget import widget

        made = widget(self.for_page())
        made.observe(lambda change: self.setting.update(change.new), "setting")
        return made

    def stored(self) -> dict[str, Any]:
        """Return what a stored notebook has of the panel but its picture, by MIME type."""
        rows = self.frame()
        figures = engine.figures(self.panel, rows)
        drawn = hashlib.sha256(json.dumps(self._titled(rows)).encode()).hexdigest()[:16]
        stored = {"panel": self.panel.name, "setting": dict(self.setting)}
        return {
            MIME: plain_numbers(stored | {"figures": figures, "picture": drawn}),
            "text/plain": "\n".join((self.panel.question, *figures)),
        }

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        if os.environ.get("SWAPSIM_PICTURES") == "no":
            return self.stored()
        self.widget.picture = base64.b64encode(self.frame_picture()).decode()
        shown = self.widget._repr_mimebundle_()[0][WIDGET]
        picture = base64.b64encode(self.picture()).decode()
        return {**self.stored(), "image/png": picture, WIDGET: shown}


def panel(name: str, **turned: object) -> LivePanel:
    """Return a panel as it is first, or with some of its knobs turned; `knobs` lists all of them.

    Examples
    --------
    >>> from swapsim import frames, live
    >>> frames.show(live.knobs().select("panel", "question").unique(maintain_order=True))
    panel        question
    tags         What are tags worth, and where does the wait go?
    locks        How does one lock saturate?
    stalls       When does reclaim stall?
    trunks       Do CPUs meet in a trunk?
    bases        What is a base worth, and for how long?
    generations  Does reclaim take anonymous pages or file pages first?
    >>> live.panel("locks", hold=100).setting
    {'kind': 'queued lock', 'hold': '100', 'think': '57', 'near': '44', 'far': '118'}
    """
    return LivePanel(name, turned)


def knobs() -> pl.DataFrame:
    """Return a row for each knob of each panel, with what it may have, and has at first.

    Examples
    --------
    >>> from swapsim import frames, live
    >>> locks = live.knobs().filter(panel="locks")
    >>> frames.show(locks.select("knob", "values", "first"))
    knob   values                                           first
    kind   queued lock; ticket lock                         queued lock
    hold   1; 10; 50; 100; 200; 500; 1000; 2000; 5000       1
    think  0; 57; 200; 500; 1000; 2000; 5000; 10000; 20000  57
    near   1; 20; 44; 60; 90; 120                           44
    far    1; 44; 80; 118; 160; 240; 400                    118
    """
    rows = [
        (of.name, of.question, each.name, each.label, _values(*each.sets), each.first)
        for of in (panel(name).panel for name in NAMES)
        for each in of.controls
    ]
    columns = ["panel", "question", "knob", "means", "values", "first"]
    return pl.DataFrame(rows, columns, orient="row")


def _values(*names: str) -> str:
    numbered = all(name == str(number) for number, name in enumerate(names))
    return f"0 to {names[-1]}" if numbered else "; ".join(names)
