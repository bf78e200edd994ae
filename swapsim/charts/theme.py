# SPDX-License-Identifier: GPL-2.0-or-later
"""The theme of all charts, for light and dark pages, and charts in notebooks and files."""

import base64
import io
import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from swapsim.errors import InputError

if TYPE_CHECKING:
    import altair as alt

VEGA_LITE: Final = "6.4"
"""The Vega-Lite that renders pictures and the report: that of the Vega which vl-convert has."""

MIME: Final = "application/vnd.vegalite.v5+json"
"""The type of JupyterLab's own Vega-Lite, which warns of a schema that is newer than itself."""

_WORDS: Final = "currentColor"
"""Text has the colour of the page's text. Only SVG knows it, so charts are drawn as SVG."""

_GRID: Final = "rgba(128, 128, 128, 0.22)"
_LINE: Final = "rgba(128, 128, 128, 0.8)"
_SIZES: Final = {"labelFontSize": 11, "titleFontSize": 12}
_TEXT: Final = {"labelColor": _WORDS, "titleColor": _WORDS}
_CONFIG: Final[dict[str, Any]] = {
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
        "labelSeparation": 6,
        "gridColor": _GRID,
        "domainColor": _LINE,
        "tickColor": _LINE,
        **_SIZES,
        **_TEXT,
    },
    "scale": {"rectBandPaddingInner": 0.05},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": _WORDS},
    "legend": {"labelLimit": 320, "titleLimit": 400, "symbolOpacity": 1, **_SIZES, **_TEXT},
}


@cache
def altair() -> Any:
    """Return altair, which takes seconds to import, with the theme."""
    import altair as alt

    alt.theme.register("swapsim", enable=True)(lambda: alt.theme.ThemeConfig(config=_CONFIG))  # type: ignore[typeddict-item]
    return alt


def use() -> None:
    """Show charts in notebooks as interactive ones, with a picture as a fallback.

    Frames are printed with up to 40 rows, all their columns, whole texts and four digits.
    JupyterLab draws the specification: marks have tooltips, a click into a legend selects, dragging
    and the wheel with Ctrl move and zoom numeric axes, a double click resets them. GitHub shows the
    picture; nbval compares the specification. With SWAPSIM_PICTURES=no in the environment there is
    no picture, which takes most of the time of a chart.

    Examples
    --------
    >>> from swapsim import charts
    >>> charts.use()
    """
    altair().renderers.register("swapsim", _shown)
    altair().renderers.enable("swapsim")
    pl.Config(tbl_rows=40, tbl_cols=-1, tbl_width_chars=200, fmt_str_lengths=200)
    pl.Config(float_precision=4, thousands_separator=True, tbl_cell_numeric_alignment="RIGHT")


def _shown(spec: dict[str, Any], **_: object) -> tuple[dict[str, object], dict[str, object]]:
    """Return a chart's output in a notebook, and the metadata of its parts."""
    title = spec.get("title") or "chart"
    text = title.get("text", "chart") if isinstance(title, dict) else title
    as_svg = {"usermeta": {"embedOptions": {"renderer": "svg"}}}
    data = {MIME: plain_numbers(of_version(spec, "5") | as_svg), "text/plain": f"<chart: {text}>"}
    if os.environ.get("SWAPSIM_PICTURES") != "no":
        data["image/png"] = base64.b64encode(png(spec)).decode()
    return data, {"image/png": {"alt": spec.get("description", text)}}


def png(spec: Mapping[str, Any]) -> bytes:
    """Return the picture of a chart's Vega-Lite (``chart.to_dict()``), black on white.

    A palette of 64 colours gives a tenth of the renderer's bytes, and keeps rare ones of a legend.
    """
    import vl_convert
    from PIL import Image

    drawn = vl_convert.vegalite_to_png(_on_white(spec), vl_version=VEGA_LITE, scale=1.5)
    made, cover = io.BytesIO(), Image.Quantize.MAXCOVERAGE
    with Image.open(io.BytesIO(drawn)) as picture:
        few = picture.convert("RGB").quantize(64, cover, kmeans=1, dither=Image.Dither.NONE)
        few.save(made, "PNG", optimize=True, dpi=picture.info.get("dpi", (72, 72)))
    return made.getvalue()


def rendered(chart: "alt.TopLevelMixin", suffix: str) -> bytes:
    """Return a chart's file by its suffix: .html, which works offline, .svg or .png."""
    import vl_convert

    altair()
    spec = chart.to_dict()
    match suffix:
        case ".html":
            page: str = vl_convert.vegalite_to_html(
                of_version(spec), vl_version=VEGA_LITE, bundle=True, renderer="svg"
            )
            return page.encode()
        case ".svg":
            return vl_convert.vegalite_to_svg(_on_white(spec), vl_version=VEGA_LITE).encode()
        case ".png":
            return png(spec)
    raise InputError(f"no chart is written as {suffix!r}: choose .html, .svg or .png")


def _on_white(spec: Mapping[str, Any]) -> dict[str, Any]:
    return of_version(spec) | {"background": "white"}


def of_version(spec: Mapping[str, Any], version: str = VEGA_LITE) -> dict[str, Any]:
    """Return a chart's Vega-Lite with the schema of a major version, in place of altair's."""
    major = version.partition(".")[0]
    return {**spec, "$schema": f"https://vega.github.io/schema/vega-lite/v{major}.json"}


def plain_numbers(value: Any) -> Any:
    """Return JSON as a browser writes it, with 1 for 1.0, so that a saved notebook is the same."""
    match value:
        case dict():
            return {name: plain_numbers(each) for name, each in value.items()}
        case list():
            return [plain_numbers(each) for each in value]
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
    return value
