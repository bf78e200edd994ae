# SPDX-License-Identifier: GPL-2.0-or-later
"""Markdown of notebooks and cards as HTML.

A heading can be linked to, a link leads to its page of the report, a commit that is named by its
first twelve digits to Linux's own tree; what is wide scrolls in itself.
"""

import re
from collections.abc import Callable
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

_COMMIT: Final = r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{12}\b"

Lead = Callable[[str], str]
"""Says where a link leads in the report, whatever it is in its file."""


def as_html(text: str, lead: Lead = str) -> str:
    """Return markdown as HTML.

    Parameters
    ----------
    text : str
    lead : callable
        Takes a link's target and returns the one in the report.
    """
    html = mistune.create_markdown(renderer=_Renderer(lead), plugins=["table", _commits])(text)
    return str(html)


def line_as_html(text: str) -> str:
    """Return a line of markdown as HTML, without a paragraph around it."""
    return as_html(text).strip().removeprefix("<p>").removesuffix("</p>")


def plain(html: str) -> str:
    """Return the text of some HTML, its marks left out."""
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
