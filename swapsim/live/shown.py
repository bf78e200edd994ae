# SPDX-License-Identifier: GPL-2.0-or-later
"""A panel with a setting: what a notebook shows and stores of it, and its rows in Python.

In JupyterLab it is a widget that computes in the browser, also when the kernel has ended. A stored
notebook has a picture and JSON: the setting and the figures, which nbval compares. A page from
``file://`` may fetch nothing and start no worker from a file. So the script, which both have, has
the core as text (gzip, base64), and the worker's script as a string.
"""

import base64
import gzip
import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

import polars as pl

from swapsim.charts import VEGA_LITE, plain_numbers, png
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
        page = self.for_page()
        made = _class()(panel=page, setting=page["first"])
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


_HERE: Final = Path(__file__).parent
_HEAD: Final = "globalThis.swapsim ??= { models: {} };"

EMBED: Final = "globalThis.vegaEmbed = vegaEmbed;"
"""The script whose bundle (vl_convert.javascript_bundle) draws charts for the panels."""


@cache
def script() -> str:
    """Return a classic script, which defines ``swapsim.live`` and ``swapsim.bundle``."""
    models = (path.read_text(encoding="utf-8") for path in sorted(_HERE.glob("models/*.js")))
    worker = "\n".join((_HEAD, text("core.js"), *models, text("configs.js"), text("worker.js")))
    code = json.dumps({"script": worker, "layout": json.loads(text("core.json"))})
    parts = {"wasm": packed((_HERE / "core.wasm").read_bytes()), "code": packed(code.encode())}
    bundle = f"swapsim.bundle = {json.dumps(parts)};"
    return "\n".join((_HEAD, bundle, _short("configs.js"), _short("panel.js")))


def page() -> str:
    """Return the script of a page of the report; charts.js, which it needs, is loaded before."""
    return "\n".join((script(), _short("page.js")))


def packed(content: bytes) -> str:
    """Return bytes as `swapsim.unpacked` of configs.js reads them."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def _short(name: str) -> str:
    """Return a script without indentation and without lines that are comments, but its licence."""
    return re.sub(r"(?m)^ *(?://(?! SPDX).*\n)?", "", text(name))


def text(name: str) -> str:
    """Return a file of this package."""
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _class() -> Any:
    """Return the class of the widgets, whose script is made once."""
    import anywidget
    import traitlets
    import vl_convert

    vega: str = vl_convert.javascript_bundle(EMBED, vl_version=VEGA_LITE)

    class LiveWidget(anywidget.AnyWidget):
        _esm = "\n".join((vega, script(), text("widget.js")))
        _css = "\n".join((text("widget.css"), text("panel.css")))
        panel = traitlets.Dict().tag(sync=True)
        setting = traitlets.Dict().tag(sync=True)
        picture = traitlets.Unicode().tag(sync=True)

    return LiveWidget
