# SPDX-License-Identifier: GPL-2.0-or-later
"""How every chart looks, and how notebooks show it."""

import base64
from typing import Any, Final

import altair as alt
import vl_convert

VEGA_LITE: Final = "5.20"
"""The Vega-Lite that renders pictures and the report: altair's, of JupyterLab's major version."""


@alt.theme.register("swapsim", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return {
        "config": {
            "view": {"stroke": None},
            "title": {"anchor": "start", "fontSize": 14, "subtitleColor": "#555", "offset": 12},
            "axis": {"labelFontSize": 11, "titleFontSize": 12, "gridColor": "#e8e8e8"},
            "legend": {"labelFontSize": 11, "titleFontSize": 12},
            "background": "white",
        }
    }


def use() -> None:
    """Show charts in notebooks as a PNG with their specification beside it.

    GitHub, JupyterLab and HTML reports all show the PNG; nbval compares the specification.
    """
    alt.renderers.register("swapsim", _static)
    alt.renderers.enable("swapsim")


def png(spec: dict[str, Any]) -> bytes:
    """Return the picture of a chart's Vega-Lite (``chart.to_dict()``)."""
    return vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=1.5)


def plain_numbers(value: Any) -> Any:
    """Return JSON as a browser writes it, which knows one kind of number: 1.0 is 1.

    So a notebook's charts stay the same when JupyterLab saves it.
    """
    match value:
        case dict():
            return {name: plain_numbers(each) for name, each in value.items()}
        case list():
            return [plain_numbers(each) for each in value]
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
    return value


def _static(spec: dict[str, Any], **_: object) -> dict[str, object]:
    title = spec.get("title") or "chart"
    text = title.get("text", "chart") if isinstance(title, dict) else title
    return {
        "application/vnd.vegalite.v5+json": plain_numbers(spec),
        "image/png": base64.b64encode(png(spec)).decode(),
        "text/plain": f"<chart: {text}>",
    }
