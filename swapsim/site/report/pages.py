# SPDX-License-Identifier: GPL-2.0-or-later
"""All pages of a report in reading order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, Final

import nbformat
from markupsafe import Markup

from swapsim import live, published
from swapsim.errors import InputError
from swapsim.io import laboratory_root, patches_root, read_text, write_atomically
from swapsim.published import shown as mails
from swapsim.site import links
from swapsim.site.notebooks import lead_of
from swapsim.site.patches import PATCHES, patch_cards
from swapsim.site.report.cells import chart_figure, panel_figure
from swapsim.site.report.shell import NOTEBOOKS, Page, as_html, fill, lead_from, line_as_html, ran

FIRST: Final = "tags"  # the panel of the front page
_SUMMARY: Final = re.compile(r"(?ms)^## The four patches\n(.*?)(?=^## )")
"""The section of README that the front page shows."""

_PANEL: Final = re.compile(r'(?s)(?=<figure class="chart panel" id="(\w+)">)(<figure.*?</figure>)')
_ARTICLE: Final = re.compile(r"<article.*</article>", re.DOTALL)


@dataclass(frozen=True)
class Articles:
    """The stored articles: the folders, of which the first is written to, and valid digests."""

    folders: tuple[Path, ...]
    digests: dict[str, str]

    def first_line(self, name: str) -> str:
        """Return the line with the digest of an article."""
        return f"<!-- made of {self.digests[name]} -->\n"

    def find(self, name: str) -> str | None:
        """Return the article with a valid digest, or None."""
        for folder in self.folders:
            try:
                page = read_text(folder / f"{name}.html")
            except InputError:
                continue
            article = _ARTICLE.search(page)
            if article and page.startswith(self.first_line(name)):
                return article[0]
        return None

    def put(self, name: str, article: str) -> None:
        """Store an article."""
        path = self.folders[0] / f"{name}.html"
        write_atomically(path, (self.first_line(name) + article).encode())

    def page(self, name: str, title: str, group: str, rest: str = "") -> Page:
        """Return the page of an article that is stored."""
        return Page(name, title, group, self.find(name) or "", rest, self.first_line(name))


def pages(
    notebooks: Mapping[Path, nbformat.NotebookNode],
    made_now: Sequence[str],
    articles: Articles,
    output: Path,
    origin: Mapping[str, Any],
) -> list[Page]:
    """Return all pages."""
    entries = [(path.stem, *title_and_lead(each)) for path, each in notebooks.items()]
    titles = {name: title for name, title, _ in entries}
    stored = [articles.page(name, title, NOTEBOOKS) for name, title in titles.items()]
    runs = [ran(page.name, page.article, made_now) for page in stored]
    made = fill("made", entries=entries, runs=runs, provenance=origin)
    return [
        articles.page("index", "Swap laboratory", "", made),
        _live(stored),
        *stored,
        *(articles.page(mail_page(mail), _title(mail), "The mails' tables") for mail in patches()),
        *(_card(card, titles, output) for card in patch_cards().iter_rows(named=True)),
    ]


def _live(stored: Sequence[Page]) -> Page:
    """Return the page of all panels, each with the pages of the notebooks that have it."""
    found: dict[str, tuple[str, list[Page]]] = {}
    for page in stored:
        for name, shown in _PANEL.findall(page.article):
            found.setdefault(name, (shown, []))[1].append(page)
    panels = [(live.panel(name).panel, Markup(shown), of) for name, (shown, of) in found.items()]
    return Page("live", "Turn a knob", "", fill("live", panels=panels))


def title_and_lead(notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """Return a notebook's title, and the sentence with which its lead begins."""
    title = str(notebook.cells[0].source).strip().partition("\n")[0]
    return title.lstrip("# "), lead_of(notebook).partition("\n")[0]


def summary() -> str:
    """Return the section of README on the four patches."""
    path = laboratory_root() / "README.md"  # a wheel has its text as metadata
    text = read_text(path) if path.is_file() else metadata("swapsim")["Description"]
    found = _SUMMARY.search(text)
    return found[1].strip() if found else ""


def front(output: Path) -> str:
    """Return the front page: README's table of the patches, and the first panel."""
    root = laboratory_root()
    return fill(
        "front",
        summary=Markup(as_html(summary(), lead_from(root, root, output))),
        panel=Markup(panel_figure(FIRST)),
        mails={mail_page(mail): _title(mail) for mail in patches()},
    )


def patches() -> dict[str, str]:
    """Return the patch of each mail that has tables."""
    return dict(zip(published.mails()["mail"], (each.PATCH for each in PATCHES), strict=True))


def mail_page(mail: str) -> str:
    """Return the name of the page with a mail's tables."""
    return f"mail-{mail}"


def _title(mail: str) -> str:
    return f"{mail}: {published.rows.title(mail)}"


def mail_article(mail: str) -> str:
    """Return a mail's tables, row by row, each with its chart."""
    (names,) = published.mails().filter(mail=mail)["tables"]
    compared = {name: published.compare(mail, name) for name in names}
    patch = patches()[mail]
    rule = (published.__doc__ or "").partition("\n\n")[2]
    return fill(
        "mail",
        title=_title(mail),
        sources=Markup(as_html(links.list_of_mails(patch))),
        card=_card_page(patch),
        notebook=patch,
        rule=Markup(as_html(rule)),
        tables=[
            (name, Markup(mails.show(rows)._repr_html_()), Markup(chart_figure(mails.chart(rows))))
            for name, rows in compared.items()
        ],
    )


def _card_page(patch: str) -> str:
    """Return the name of a card's page."""
    return f"patch-{patch}"


def _card(card: Mapping[str, Any], titles: Mapping[str, str], output: Path) -> Page:
    """Return a card's page, whose body lists its mails and commits."""
    patch, root = card["patch"], patches_root()
    title, _, body = card["body"].partition("\n")
    lead = lead_from(root / patch, root.parent, output)
    article = fill(
        "card",
        card=card,
        notebooks=[each for each in titles.items() if each[0][:2] == patch[:2]],
        mail=next(mail_page(mail) for mail, each in patches().items() if each == patch),
        body=Markup(as_html(body if title.startswith("# ") else card["body"], lead)),
        **{name: Markup(line_as_html(card[name])) for name in ("outcome", "before", "after")},
    )
    return Page(_card_page(patch), card["title"], "Cards", article)
