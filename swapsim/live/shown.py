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
from textwrap import wrap
from typing import Any, Final

import polars as pl

from swapsim.charts import plain_numbers, png
from swapsim.live import description as engine
from swapsim.live import panels
from swapsim.progress import WIDGET

MIME: Final = "application/vnd.swapsim.live+json"
"""What a stored notebook has of a panel: name, setting, figures, and a digest of its picture."""

_WHERE: Final = (
    "A picture: the knobs are in JupyterLab (make lab) and, where scripts run, in the report"
)
_LINE: Final = 100  # characters of a line below a picture's title


class LivePanel:
    """A panel of this notebook: turn its controls, or read its setting and its rows in Python."""

    def __init__(self, name: str, turned: Mapping[str, object]) -> None:
        self.panel: engine.Panel = getattr(panels, name)()
        self.setting = engine.setting_of(self.panel, turned)

    def __repr__(self) -> str:
        """Return the call that gives the panel with its setting."""
        first = self.panel.first
        turned = [f", {name}={is_!r}" for name, is_ in self.setting.items() if is_ != first[name]]
        return f"live.panel({self.panel.name!r}{''.join(turned)})"

    @property
    def python(self) -> str:
        """Return Python that returns the same rows."""
        return f"from swapsim import live\n\n{self!r}.frame()\n"

    def frame(self) -> pl.DataFrame:
        """Return the rows of the setting, computed by the native library."""
        return engine.run(self.panel, self.setting)

    def figures(self) -> list[str]:
        """Return the figures below the chart."""
        return engine.figures(self.panel, self.frame())

    def picture(self) -> bytes:
        """Return a picture of the chart (PNG), with the setting below the question."""
        return png(self._titled(self.frame()))

    def frame_picture(self) -> bytes:
        """Return a picture (PNG) for a panel's frame, where it is until the chart is drawn."""
        return png(self._drawn(self.frame()))

    def setting_in_words(self) -> str:
        """Return each control with its value."""
        return "; ".join(f"{each.label}: {self.setting[each.name]}" for each in self.panel.controls)

    def _drawn(self, rows: pl.DataFrame, **parts: object) -> dict[str, Any]:
        """Return the chart with rows, and with other parts."""
        chart = dict(self.panel.chart)
        datasets = chart.get("datasets", {}) | {engine.ROWS: rows.to_dicts()}
        return chart | parts | {"datasets": datasets}

    def _titled(self, rows: pl.DataFrame) -> dict[str, Any]:
        below = [*wrap(self.setting_in_words(), _LINE), _WHERE]
        return self._drawn(rows, title={"text": self.panel.question, "subtitle": below})

    def for_page(self) -> dict[str, Any]:
        """Return all that a page needs to show the panel with this setting."""
        return engine.as_json(self.panel, dict(self.setting))

    @cached_property
    def widget(self) -> Any:
        """The widget of JupyterLab; what is turned in the browser becomes the setting."""
        from swapsim.live.script import widget

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
