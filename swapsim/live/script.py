# SPDX-License-Identifier: GPL-2.0-or-later
"""The script of a page with panels: the core, the models, the panels, all in one text.

A page from ``file://`` may fetch nothing and start no worker from a file. So the script has the
core as text (gzip, base64), and the worker's script as a string.
"""

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_HEAD: Final = "globalThis.swapsim ??= { models: {} };"


@cache
def script() -> str:
    """Return a classic script, which defines ``swapsim.live`` and ``swapsim.bundle``."""
    core = {"wasm": _wasm(), "layout": json.loads(_text("core.json")), "worker": _worker()}
    bundle = f"swapsim.bundle = {json.dumps(core, separators=(',', ':'))};"
    return "\n".join((_HEAD, bundle, _text("configs.js"), _text("panel.js")))


def page() -> str:
    """Return the script of a page of the report; charts.js, which it needs, is loaded before."""
    return "\n".join((script(), _text("page.js")))


def _worker() -> str:
    models = (path.read_text(encoding="utf-8") for path in sorted(_HERE.glob("models/*.js")))
    return "\n".join((_HEAD, _text("core.js"), *models, _text("configs.js"), _text("worker.js")))


def _wasm() -> str:
    packed = gzip.compress((_HERE / "core.wasm").read_bytes(), 9, mtime=0)
    return base64.b64encode(packed).decode()


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
