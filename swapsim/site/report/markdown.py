# SPDX-License-Identifier: GPL-2.0-or-later
"""Markdown of notebooks and cards as HTML, and where its links lead in a report.

A heading has a name to link to. A commit that is given by its first twelve digits becomes a link
to Linux's tree. A wide table scrolls by itself.
"""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import mistune
from mistune.core import InlineState
from mistune.inline_parser import InlineParser
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

COMMITS: Final = "https://git.kernel.org/linus/"
MAILS: Final = "https://lore.kernel.org/r/"

TEMPLATES: Final = Path(__file__).parent / "templates"

RULES: Final = "rules"
"""The page of data/published/README.md."""

_PAGES: Final = (
    (re.compile(r"(?:notebooks/)?(\d\d-[a-z0-9-]+)\.ipynb"), r"\1.html"),
    (re.compile(r"patches/(\d\d-[a-z0-9-]+)/card\.md"), r"patch-\1.html"),
    (re.compile(r"data/published/README\.md"), f"{RULES}.html"),
)

_COMMIT: Final = r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{12}\b"

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


class _Renderer(mistune.HTMLRenderer):
    def __init__(self, lead: Lead) -> None:
        super().__init__(escape=True)
        self._lead = lead

    def heading(self, text: str, level: int, **_: Any) -> str:
        name = re.sub(r"[^a-z0-9]+", "-", plain(text).lower()).strip("-")
        return f'<h{level} id="{name}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return super().link(text, self._lead(url), title)

    def commit(self, name: str) -> str:
        return f'<a href="{COMMITS}{name}"><code>{name}</code></a>'

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
        state.append_token({"type": "commit", "raw": found[0]})
        return found.end()

    md.inline.register("commit", _COMMIT, read, before="link")
