# SPDX-License-Identifier: GPL-2.0-or-later
"""What surrounds each article: title, contents, links to its neighbours, style and script."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import vl_convert
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pygments.formatters import HtmlFormatter

from swapsim.charts.theme import VEGA_LITE
from swapsim.site.report.markdown import TEMPLATES, plain
from swapsim.site.report.provenance import Provenance

STYLE: Final = "style.css"
SCRIPT: Final = "charts.js"

_CODE_BY_SCHEME: Final = (("light", "default"), ("dark", "github-dark"))
"""Styles of pygments for code."""

_JINJA: Final = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Page:
    """A page of the report.

    ``group`` is its heading in the contents, ``rest`` HTML that is written again each time, and
    ``first_line`` the digest of a stored article.
    """

    name: str
    title: str
    group: str
    article: str
    rest: str = ""
    first_line: str = ""

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The headings below the title: name and text of each."""
        found = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', self.article)
        return [(name, plain(words)) for name, words in found]


def templates() -> list[str]:
    """Return the text of each template of a page."""
    return [path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.j2"))]


def fill(template: str, **fields: Any) -> str:
    """Return a template with its fields filled in."""
    return _JINJA.get_template(f"{template}.html.j2").render(fields)


def write(folder: Path, pages: Sequence[Page], provenance: Provenance) -> None:
    """Write all pages of a report, and their style and script."""
    neighbours = zip([None, *pages], pages, [*pages[1:], None], strict=False)
    for before, page, after in neighbours:
        text = fill(
            "shell", page=page, pages=pages, before=before, after=after, provenance=provenance
        )
        (folder / f"{page.name}.html").write_text(page.first_line + text, encoding="utf-8")
    (folder / STYLE).write_text(_style(), encoding="utf-8")
    (folder / SCRIPT).write_text(_script(), encoding="utf-8")


def _style() -> str:
    code = (
        f"@media (prefers-color-scheme: {scheme}) {{\n{_colours(style)}\n}}"
        for scheme, style in _CODE_BY_SCHEME
    )
    return "\n".join([(TEMPLATES / STYLE).read_text(encoding="utf-8"), *code])


def _colours(style: str) -> str:
    formatter = HtmlFormatter(style=style, nobackground=True)
    return str(formatter.get_style_defs(".highlight"))


@cache
def _script() -> str:
    """Return the script that draws charts, with the libraries that it needs."""
    snippet = (TEMPLATES / SCRIPT).read_text(encoding="utf-8")
    return vl_convert.javascript_bundle(snippet, vl_version=VEGA_LITE)
