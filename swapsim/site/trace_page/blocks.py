# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of which a trace's page is made: text, table, chart, verdict."""

import base64
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Final

import polars as pl

from swapsim.charts import MIME, png
from swapsim.site.report.cells import figure
from swapsim.tables import Table

if TYPE_CHECKING:
    import altair as alt

    from swapsim.traces.verification import Verdict

Blocks = Iterator[str]


def listed(words: list[str]) -> str:
    """Return words joined by commas and a last "and"."""
    return ", ".join([*words[:-2], " and ".join(words[-2:])])


def text(words: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(words)}</p>"


def verdict(found: "Verdict") -> str:
    """Return what a verification found, in a sentence and in its own lines."""
    compared = {kind: count for kind, count in found.counts.items() if count[1]}
    if found.agrees:
        named = [f"{n:,} {_KINDS.get(kind, kind)}" for kind, (_, n) in compared.items()]
        head = f"The model agrees with the kernel in all that was compared: {listed(named)}"
    else:
        named = [
            f"{equal:,} of {n:,} {_KINDS.get(kind, kind)}" for kind, (equal, n) in compared.items()
        ]
        head = f"The model differs from the kernel; equal are {listed(named)}"
    lines = "\n".join(map(escape, found.describe()))
    return f'<p>{head}.</p>\n<pre class="printed" tabindex="0">{lines}</pre>'


_KINDS: Final = {
    "moves": "list moves",
    "picks": "picks from lists",
    "turns": "turns of devices",
    "types": "choices of a type of pages",
    "tiers": "choices of a tier",
    "agings": "decisions to age",
    "sizes": "scan sizes",
}
"""What a verification compares, where its kind's name is not enough."""


def table(frame: pl.DataFrame, meanings: Table | Mapping[str, str], *, fold: str = "") -> str:
    """Return a table with a folded list of what its columns mean, both in a fold if it has one."""
    if isinstance(meanings, Table):
        meanings = {column.name: column.meaning for column in meanings.columns}
    shown = frame._repr_html_()
    entries = "".join(
        f"<dt><code>{escape(name)}</code></dt><dd>{escape(meanings[name])}</dd>"
        for name in frame.columns
        if meanings
    )
    table = f'<div class="wide one-below" tabindex="0">{shown}</div>'
    listed = (
        f'<details class="fold"><summary>{_COLUMNS}</summary><dl>{entries}</dl></details>'
        if meanings
        else ""
    )
    if not fold:
        return f"{table}{listed}"
    return f'<details class="fold"><summary>{escape(fold)}</summary>{table}{listed}</details>'


_COLUMNS: Final = "What the columns mean"


def chart(drawn: "alt.TopLevelMixin") -> str:
    """Return a chart that the page's script draws, with its picture until then."""
    spec = drawn.to_dict()
    picture = base64.b64encode(png(spec)).decode()
    return figure({"data": {MIME: spec, "image/png": picture}})
