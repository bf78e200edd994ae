# SPDX-License-Identifier: GPL-2.0-or-later
"""The theme of all charts, for light and dark pages, and charts in notebooks and files."""

import base64
import io
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl
import vl_convert
from PIL import Image

from swapsim.charts.quick import alt
from swapsim.errors import InputError

VEGA_LITE: Final = "6.4"
"""The Vega-Lite that renders pictures and the report: that of the Vega which vl-convert has.

It draws altair's charts as the Vega-Lite of altair's schema does. JupyterLab has one of its own,
and each of them warns of a schema that is newer than itself.
"""

_JUPYTERLAB: Final = "5"
"""JupyterLab's own Vega-Lite; its MIME type is that of this major version, too."""

MIME: Final = f"application/vnd.vegalite.v{_JUPYTERLAB}+json"

_WORDS: Final = "currentColor"
"""Text has the colour of the page's text: black in a picture, pale on a dark page.

Only SVG knows the colour of the page, so charts are drawn as SVG.
"""

_AS_SVG: Final = {"usermeta": {"embedOptions": {"renderer": "svg"}}}
_GRID: Final = "rgba(128, 128, 128, 0.22)"
_LINE: Final = "rgba(128, 128, 128, 0.8)"
_DIGITS: Final = 6
"""Significant digits of a figure in a notebook's chart, more than a picture shows."""


@alt.theme.register("swapsim", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return {
        "config": {
            "background": "transparent",
            "view": {"stroke": None},
            "mark": {"tooltip": True},
            "title": {
                "anchor": "start",
                "fontSize": 14,
                "offset": 12,
                "subtitlePadding": 4,
                "color": _WORDS,
                "subtitleColor": _WORDS,
            },
            "text": {"color": _WORDS},
            "axis": {
                "labelFontSize": 11,
                "titleFontSize": 12,
                "labelSeparation": 6,
                "gridColor": _GRID,
                "labelColor": _WORDS,
                "titleColor": _WORDS,
                "domainColor": _LINE,
                "tickColor": _LINE,
            },
            "scale": {"rectBandPaddingInner": 0.05},
            "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": _WORDS},
            "legend": {
                "labelFontSize": 11,
                "titleFontSize": 12,
                "labelLimit": 320,
                "titleLimit": 400,
                "labelColor": _WORDS,
                "titleColor": _WORDS,
                "symbolOpacity": 1,
            },
        }
    }


def use() -> None:
    """Show charts in notebooks as interactive ones, with a picture as a fallback.

    Frames are printed with up to 40 rows, all their columns and four digits.
    JupyterLab draws the specification: marks have tooltips, a click into a legend selects, dragging
    and the wheel with Ctrl move and zoom numeric axes, a double click resets them. GitHub shows the
    picture; nbval compares the specification. With SWAPSIM_PICTURES=no in the environment there is
    no picture, which takes most of the time of a chart.
    """
    alt.renderers.register("swapsim", _shown)
    alt.renderers.enable("swapsim")
    pl.Config(tbl_rows=40, tbl_cols=-1, float_precision=4)


def png(spec: dict[str, Any]) -> bytes:
    """Return the picture of a chart's Vega-Lite (``chart.to_dict()``), black on white."""
    return packed(vl_convert.vegalite_to_png(on_ground(spec), vl_version=VEGA_LITE, scale=1.5))


def packed(png: bytes) -> bytes:
    """Return the same picture with a palette of 64 colours: a tenth of the renderer's bytes.

    The palette covers the colours, so that a rare one, such as that of a legend, stays; each is the
    mean of what it stands for, so that grey stays grey.
    """
    made = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        cover = Image.Quantize.MAXCOVERAGE
        few = picture.convert("RGB").quantize(64, cover, kmeans=1, dither=Image.Dither.NONE)
        few.save(made, "PNG", optimize=True, dpi=picture.info.get("dpi", (72, 72)))
    return made.getvalue()


def rendered(chart: alt.TopLevelMixin, suffix: str) -> bytes:
    """Return a chart's file by its suffix: .html, which works offline, .svg or .png."""
    spec = chart.to_dict()
    match suffix:
        case ".html":
            page: str = vl_convert.vegalite_to_html(
                of_version(spec), vl_version=VEGA_LITE, bundle=True, renderer="svg"
            )
            return page.encode()
        case ".svg":
            return vl_convert.vegalite_to_svg(on_ground(spec), vl_version=VEGA_LITE).encode()
        case ".png":
            return png(spec)
    raise InputError(f"no chart is written as {suffix!r}: choose .html, .svg or .png")


def on_ground(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart's Vega-Lite with a white background, for a picture."""
    return of_version(spec) | {"background": "white"}


def of_version(spec: Mapping[str, Any], version: str = VEGA_LITE) -> dict[str, Any]:
    """Return a chart's Vega-Lite with the schema of a major version, in place of altair's."""
    major = version.partition(".")[0]
    return {**spec, "$schema": f"https://vega.github.io/schema/vega-lite/v{major}.json"}


def plain_numbers(value: Any) -> Any:
    """Return JSON as a browser writes it, with 1 for 1.0.

    A notebook's charts then stay the same when JupyterLab saves the notebook.
    """
    match value:
        case dict():
            return {name: plain_numbers(each) for name, each in value.items()}
        case list():
            return [plain_numbers(each) for each in value]
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
    return value


def compact(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart whose rows have the fields alone that it names, with six digits.

    A notebook of more than a megabyte is not shown by code hosts.
    """
    named = set(re.findall(r"\w+", " ".join(_texts({**spec, "datasets": None}))))
    rows = {
        name: [
            {field: _rounded(value) for field, value in row.items() if _names(field) <= named}
            for row in rows
        ]
        for name, rows in spec.get("datasets", {}).items()
    }
    return {**spec, "datasets": rows} if rows else spec


def _texts(part: Any) -> Iterator[str]:
    """Yield each text of a chart that is no name of a property."""
    match part:
        case str():
            yield part
        case dict():
            for inner in part.values():
                yield from _texts(inner)
        case list():
            for inner in part:
                yield from _texts(inner)


def _names(field: str) -> set[str]:
    return set(re.findall(r"\w+", field))


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _shown(spec: dict[str, Any], **_: object) -> tuple[dict[str, object], dict[str, object]]:
    """Return a chart's output in a notebook, and the metadata of its parts."""
    title = spec.get("title") or "chart"
    text = title.get("text", "chart") if isinstance(title, dict) else title
    data = {
        MIME: plain_numbers(of_version(compact(spec), _JUPYTERLAB) | _AS_SVG),
        "text/plain": f"<chart: {text}>",
    }
    if os.environ.get("SWAPSIM_PICTURES") != "no":
        data["image/png"] = base64.b64encode(png(spec)).decode()
    return data, {"image/png": {"alt": spec.get("description", text)}}
