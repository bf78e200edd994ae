# SPDX-License-Identifier: GPL-2.0-or-later
"""A notebook that was run as the article of a page: nbconvert with a template of ours."""

import base64
import html
import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import nbformat
from nbconvert import HTMLExporter
from traitlets.config import Config

from swapsim.site.report.markdown import Lead, as_html

TEMPLATES: Final = Path(__file__).parent / "templates"

_PICTURE_SCALE: Final = 1.5
"""Dots of a chart's picture to a pixel of the page (`charts.png`)."""


def article(notebook: nbformat.NotebookNode, lead: Lead, begun: datetime, seconds: float) -> str:
    """Return a notebook's cells as one HTML element that tells when they were run.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        With its outputs.
    lead : callable
        Where its links lead.
    begun : datetime.datetime
    seconds : float
        How long it ran.
    """
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="notebook",
        extra_template_basedirs=[str(TEMPLATES)],
        filters={"as_html": partial(as_html, lead=lead), "as_figure": figure},
        config=Config({"CSSHTMLHeaderPreprocessor": {"enabled": False}}),
    )
    body, _ = exporter.from_notebook_node(notebook)
    told = f'data-begun="{begun:%Y-%m-%d %H:%M} UTC" data-seconds="{seconds:.0f}"'
    return f"<article {told}>\n{body}</article>"


def figure(output: Mapping[str, Any]) -> str:
    """Return a chart's picture, and beside it what a script can draw it from.

    Parameters
    ----------
    output : mapping
        A cell's output: ``data`` with image/png and, as a rule, a Vega-Lite specification.
    """
    data = output["data"]
    spec = next((data[kind] for kind in sorted(data) if "vegalite" in kind), None)
    encoded = data["image/png"].replace("\n", "")
    width, height = _pixels(base64.b64decode(encoded[:64]))
    picture = (
        f'<img src="data:image/png;base64,{encoded}" alt="{html.escape(_told(output, spec))}" '
        f'width="{width}" height="{height}">'
    )
    drawn = "" if spec is None else f'<script type="application/json">{_script(spec)}</script>'
    return f'<figure class="chart" tabindex="0">{picture}{drawn}</figure>'


def _pixels(png: bytes) -> tuple[int, int]:
    """Return a picture's size on the page: its first chunk has both."""
    size = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    width, height = (round(dots / _PICTURE_SCALE) for dots in size)
    return width, height


def _script(spec: object) -> str:
    """Return JSON that no tag of the page can end."""
    return json.dumps(spec, separators=(",", ":")).replace("<", "\\u003c")


def _told(output: Mapping[str, Any], spec: Mapping[str, Any] | None) -> str:
    """Return the words for who does not see a chart."""
    metadata = output.get("metadata", {}).get("image/png", {})
    if told := metadata.get("alt") or (spec or {}).get("description"):
        return str(told)
    title = (spec or {}).get("title", "")
    parts = [title] if isinstance(title, str) else [title.get("text"), title.get("subtitle")]
    lines = [line for part in parts for line in (part if isinstance(part, list) else [part])]
    return ". ".join(str(line) for line in lines if line) or "A chart; the text beside it says more"
