# SPDX-License-Identifier: GPL-2.0-or-later
"""A chart as a file: a page that works offline, or a picture."""

import altair as alt
import vl_convert

from swapsim.charts.theme import VEGA_LITE, on_ground, png
from swapsim.errors import InputError


def rendered(chart: alt.TopLevelMixin, suffix: str) -> bytes:
    """Return the bytes of a chart's file.

    Parameters
    ----------
    chart : altair.Chart
        Or any other altair object with a specification.
    suffix : {".html", ".svg", ".png"}

    Raises
    ------
    InputError
        The suffix is another one.
    """
    spec = chart.to_dict()
    match suffix:
        case ".html":
            page: str = vl_convert.vegalite_to_html(
                spec, vl_version=VEGA_LITE, bundle=True, renderer="svg"
            )
            return page.encode()
        case ".svg":
            return vl_convert.vegalite_to_svg(on_ground(spec), vl_version=VEGA_LITE).encode()
        case ".png":
            return png(spec)
    raise InputError(f"no chart is written as {suffix!r}: choose .html, .svg or .png")
