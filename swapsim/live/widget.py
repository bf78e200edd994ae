# SPDX-License-Identifier: GPL-2.0-or-later
"""A panel in JupyterLab, by anywidget: the report's Vega, and the same script as in the report."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import anywidget
import traitlets
import vl_convert

from swapsim.charts.theme import VEGA_LITE
from swapsim.live import script


@cache
def _class() -> type[anywidget.AnyWidget]:
    """Return the class of the widgets, whose script is made once."""
    vega: str = vl_convert.javascript_bundle(script.text("fitted.js"), vl_version=VEGA_LITE)

    class LiveWidget(anywidget.AnyWidget):
        _esm = "\n".join((vega, script.script(), script.text("widget.js")))
        _css = "\n".join((script.text("widget.css"), script.text("panel.css")))
        panel = traitlets.Dict().tag(sync=True)
        setting = traitlets.Dict().tag(sync=True)
        picture = traitlets.Unicode().tag(sync=True)

    return LiveWidget


def widget(panel: Mapping[str, Any]) -> anywidget.AnyWidget:
    """Return the widget of a panel (`LivePanel.for_page`)."""
    return _class()(panel=dict(panel), setting=panel["first"])
