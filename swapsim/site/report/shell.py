# SPDX-License-Identifier: GPL-2.0-or-later
"""What surrounds each article (title, contents, style, script, origin), and markdown as HTML.

A heading has a name to link to. A commit of data/published/links.csv that is given by its first
twelve digits becomes a link to Linux's tree. A wide table scrolls by itself.
"""

import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import mistune
import vl_convert
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from mistune.core import InlineState
from mistune.inline_parser import InlineParser
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from swapsim.charts import VEGA_LITE
from swapsim.live import shown
from swapsim.site import links
from swapsim.site.report.current import git

TEMPLATES: Final = Path(__file__).parent / "templates"
NOTEBOOKS: Final = "Notebooks"  # the heading of the notebooks in the contents

_PAGES: Final = (
    (re.compile(r"(?:notebooks/)?(\d\d[a-z]?-[a-z0-9-]+)\.ipynb"), r"\1.html"),
    (re.compile(r"patches/(\d\d-[a-z0-9-]+)/card\.md"), r"patch-\1.html"),
    (re.compile(r"swapsim/guide/(\w+)\.py"), r"api/swapsim/guide/\1.html"),
)

_COMMIT: Final = rf"\b[0-9a-f]{{{links.SHORT}}}\b"

Lead = Callable[[str], str]
"""A function from a link's target in its file to its target in the report."""


def lead_from(home: Path, root: Path, output: Path) -> Lead:
    """Return the function that leads links."""
    return partial(_lead, home=home, root=root, output=output)


def _lead(target: str, home: Path, root: Path, output: Path) -> str:
    """Return the target of a link: a page, a file outside of the report, or what it was."""
    path, sharp, part = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    inside = os.path.relpath(home / path, root)
    for pattern, page in _PAGES:
        if found := pattern.fullmatch(inside):
            return found.expand(page) + sharp + part
    return os.path.relpath(home / path, output) + sharp + part


def as_html(text: str, lead: Lead = str) -> str:
    """Return markdown as HTML."""
    html = mistune.create_markdown(renderer=_Renderer(lead), plugins=["table", _commits])(text)
    return str(html)


def line_as_html(text: str) -> str:
    """Return a line of markdown as HTML, without a paragraph around it."""
    return as_html(text).strip().removeprefix("<p>").removesuffix("</p>")


def plain(html: str) -> str:
    """Return the text of some HTML without its tags."""
    return re.sub(r"<[^>]+>", "", html)


def heading_name(text: str) -> str:
    """Return the name by which a heading is linked to."""
    return re.sub(r"[^a-z0-9]+", "-", unescape(text).lower()).strip("-")


class _Renderer(mistune.HTMLRenderer):
    def __init__(self, lead: Lead) -> None:
        super().__init__(escape=True)
        self._lead = lead

    def heading(self, text: str, level: int, **_: Any) -> str:
        return f'<h{level} id="{heading_name(plain(text))}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        words = re.sub(r"</?a\b[^>]*>", "", text)  # a commit in a link's words is no second link
        return super().link(words, self._lead(url), title)

    def commit(self, name: str) -> str:
        return f'<a href="{links.address("commit", name)}"><code>{name}</code></a>'

    def codespan(self, text: str) -> str:
        return super().codespan(text.replace("\\|", "|"))  # in a table, as GitHub shows it

    def table(self, text: str) -> str:
        return f'<div class="wide" tabindex="0"><table>\n{text}</table></div>\n'

    def block_html(self, html: str) -> str:
        return "" if html.startswith("<!--") else super().block_html(html)

    def block_code(self, code: str, info: str | None = None) -> str:
        try:
            lexer = get_lexer_by_name(info or "text")
        except ClassNotFound:
            lexer = get_lexer_by_name("text")
        inside = highlight(code, lexer, HtmlFormatter(nowrap=True))
        return f'<pre class="highlight" tabindex="0">{inside}</pre>\n'


def _commits(md: mistune.Markdown) -> None:
    def read(_: InlineParser, found: re.Match[str], state: InlineState) -> int:
        kind = "commit" if found[0] in links.commits() else "text"
        state.append_token({"type": kind, "raw": found[0]})
        return found.end()

    md.inline.register("commit", _COMMIT, read, before="link")


_LIBRARIES: Final = ("swapsim", "polars", "numpy", "scipy", "numba", "altair", "nbconvert")

_STORED: Final = re.compile(r"([a-z0-9-]+) \(([\d,]+) rows\)")
_RECOMPUTED: Final = re.compile(r"^([a-z0-9-]+): ([^:\n]+): computed here$", re.M)
_RUN: Final = re.compile(r'<article data-begun="([^"]+)" data-seconds="(\d+)">')


def provenance() -> dict[str, Any]:
    """Return the origin of a report that is written now; without a checkout it has no commit."""
    name = _field(Path("/proc/cpuinfo"), "model name") or platform.processor()
    memory = re.match(r"\d+", _field(Path("/proc/meminfo"), "MemTotal"))
    return {
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": git("rev-parse", "--short=12", "HEAD"),
        "changed": bool(git("status", "--porcelain", "--untracked-files=no")),
        "versions": [
            ("Python", platform.python_version()),
            *((name, version(name)) for name in _LIBRARIES),
            ("Vega-Lite", VEGA_LITE),
        ],
        "machine": [
            f"{name or platform.machine()}, {os.cpu_count()} CPUs",
            f"{int(memory[0]) / 2**20:.0f} GiB of memory" if memory else "size of memory unknown",
            f"{platform.system()} {platform.release()}",
        ],
    }


def ran(name: str, article: str, made_now: Sequence[str]) -> dict[str, Any]:
    """Return the run of a notebook, from its article.

    It is reused if an earlier report ran the same sources. Stored results have name and rows, those
    that were stale and computed have name and reason.
    """
    recorded = _RUN.match(article)
    begun, seconds = recorded.groups() if recorded else ("", "0")
    printed = re.findall(r"<pre class=\"printed\".*?</pre>", article, re.S)
    stored = re.findall(r'<p class="stored">.*?</p>', article)
    return {
        "name": name,
        "begun": begun,
        "seconds": int(seconds),
        "reused": name not in made_now,
        "stored": _STORED.findall("".join(stored)),
        "recomputed": _RECOMPUTED.findall(unescape(plain("\n".join(printed)))),
    }


def _field(path: Path, name: str) -> str:
    """Return a field of a file of /proc; empty where it is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(rf"^{name}\s*:\s*(.*)$", text, re.M)
    return found[1] if found else ""


STYLE: Final = "style.css"
SCRIPT: Final = "charts.js"
LIVE: Final = "live.js"  # the script of panels, which only a page with one loads
REFERENCE: Final = (
    ("api/swapsim/guide.html", "A guide by task"),
    ("api/swapsim/cli.html", "The commands"),
    ("api/swapsim.html", "The Python interface"),
)
"""First pages of the reference; the last one has the search."""
_SNIPPETS: Final = ("fitted.js", SCRIPT, "fit.js", "code.js")

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
    def notebook(self) -> str:
        """The file of the notebook that this page shows; empty for other pages."""
        return f"notebooks/{self.name}.ipynb" if self.group == NOTEBOOKS else ""

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


def write(folder: Path, pages: Sequence[Page], provenance: Mapping[str, Any]) -> None:
    """Write all pages of a report, and their style and script."""
    neighbours = zip([None, *pages], pages, [*pages[1:], None], strict=False)
    for before, page, after in neighbours:
        text = fill(
            "shell",
            page=page,
            pages=pages,
            before=before,
            after=after,
            provenance=provenance,
            reference=REFERENCE,
        )
        (folder / f"{page.name}.html").write_text(page.first_line + text, encoding="utf-8")
    (folder / STYLE).write_text(style(), encoding="utf-8")
    (folder / SCRIPT).write_text(bundle(), encoding="utf-8")
    (folder / LIVE).write_text(shown.page(), encoding="utf-8")


def style() -> str:
    """Return the style of all pages."""
    code = (
        f"@media (prefers-color-scheme: {scheme}) {{\n{_colours(style)}\n}}"
        for scheme, style in _CODE_BY_SCHEME
    )
    own = (TEMPLATES / STYLE).read_text(encoding="utf-8")
    return "\n".join([own, shown.text("panel.css"), *code])


def _colours(style: str) -> str:
    formatter = HtmlFormatter(style=style, nobackground=True)
    return str(formatter.get_style_defs(".highlight"))


@cache
def bundle() -> str:
    """Return the script that draws charts, fits tables and opens code, with its libraries."""
    own = ((TEMPLATES / name).read_text(encoding="utf-8") for name in _SNIPPETS)
    snippet = "\n".join((shown.EMBED, *own))
    return vl_convert.javascript_bundle(snippet, vl_version=VEGA_LITE)
