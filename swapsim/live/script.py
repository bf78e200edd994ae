# SPDX-License-Identifier: GPL-2.0-or-later
"""The script of a page with panels, and the widget of JupyterLab, which has the same script.

A page from ``file://`` may fetch nothing and start no worker from a file. So the script has the
core as text (gzip, base64), and the worker's script as a string.
"""

import base64
import gzip
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

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

    from swapsim.charts import VEGA_LITE

    vega: str = vl_convert.javascript_bundle(EMBED, vl_version=VEGA_LITE)

    class LiveWidget(anywidget.AnyWidget):
        _esm = "\n".join((vega, script(), text("widget.js")))
        _css = "\n".join((text("widget.css"), text("panel.css")))
        panel = traitlets.Dict().tag(sync=True)
        setting = traitlets.Dict().tag(sync=True)
        picture = traitlets.Unicode().tag(sync=True)

    return LiveWidget


def widget(panel: Mapping[str, Any]) -> Any:
    """Return the widget of a panel (`LivePanel.for_page`)."""
    return _class()(panel=dict(panel), setting=panel["first"])
