# SPDX-License-Identifier: GPL-2.0-or-later
"""All pages of a report in reading order: front page, notebooks, cards, claims, reference."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import nbformat
from markupsafe import Markup

from swapsim import charts, claims
from swapsim.io.paths import data_root, patches_root
from swapsim.site import overview
from swapsim.site.report import words
from swapsim.site.report.cells import figure
from swapsim.site.report.markdown import MAILS, RULES, as_html, lead_from, line_as_html
from swapsim.site.report.provenance import Provenance, ran
from swapsim.site.report.shell import Page, fill
from swapsim.site.report.verdicts import Verdicts


class _Articles(Protocol):
    """The stored articles, of `build.Articles`."""

    def first_line(self, name: str) -> str: ...
    def find(self, name: str) -> str | None: ...


def pages(
    notebooks: Mapping[Path, nbformat.NotebookNode],
    made_now: Sequence[str],
    articles: _Articles,
    output: Path,
    origin: Provenance,
) -> list[Page]:
    """Return all pages."""
    entries = [(path.stem, *title_and_verdict(each)) for path, each in notebooks.items()]
    titles = {name: title for name, title, _ in entries}
    runs = [ran(name, title, _found(articles, name), made_now) for name, title in titles.items()]
    made = fill("made", entries=entries, runs=runs, provenance=origin)
    return [
        _stored(articles, "index", "Swap laboratory", "", made),
        *(_stored(articles, name, title, "Notebooks") for name, title in titles.items()),
        *(_card(card, titles, output) for card in claims.patch_cards().iter_rows(named=True)),
        _stored(articles, "claims", "Every claim", "Reference"),
        _rules(output),
        Page(words.NAME, words.TITLE, "Reference", words.article()),
    ]


def title_and_verdict(notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """Return a notebook's title, and the verdict that its first cell states."""
    title, *rest = str(notebook.cells[0].source).strip().splitlines()
    verdict = " ".join(line.strip("*> ") for line in rest if line.strip())
    return title.lstrip("# "), verdict.replace("`", "")


def front(verdicts: Verdicts) -> str:
    """Return the front page's question, picture and verdicts."""
    spec: dict[str, Any] = overview.picture().to_dict()
    png = base64.b64encode(charts.png(spec)).decode()
    data = {"application/vnd.vegalite+json": spec, "image/png": png}
    return fill(
        "front",
        picture=Markup(figure({"data": data})),
        headlines=verdicts.headlines,
        titles=_titles(),
        total=len(verdicts.claims),
        counted={column: verdicts.counted(column) for column in ("simulated", "measured")},
        rules=RULES,
    )


def claims_article(verdicts: Verdicts) -> str:
    """Return all claims with their verdicts, by patch."""
    titles = _titles()
    return fill(
        "claims",
        claims=verdicts.claims,
        titles=titles,
        cards={patch: _card_page(patch) for patch in titles},
        rules=RULES,
    )


def _titles() -> dict[str, str]:
    """Return the title of each patch's card."""
    return dict(claims.patch_cards().select("patch", "title").iter_rows())


def _card_page(patch: str) -> str:
    """Return the name of a card's page."""
    return f"patch-{patch}"


def _found(articles: _Articles, name: str) -> str:
    article = articles.find(name)
    assert article is not None, f"{name} is stored before its page is written"
    return article


def _stored(articles: _Articles, name: str, title: str, group: str, rest: str = "") -> Page:
    return Page(name, title, group, _found(articles, name), rest, articles.first_line(name))


def _card(card: Mapping[str, Any], titles: Mapping[str, str], output: Path) -> Page:
    """Return a card's page: its mail in the archive, its commits in Linux's tree."""
    patch, root = card["patch"], patches_root()
    message, space, mark = card["message_id"].partition(" ")
    title, _, body = card["body"].partition("\n")
    lead = lead_from(root / patch, root.parent, output)
    article = fill(
        "card",
        card=card,
        message=message,
        mark=space + mark,
        mail=MAILS + message,
        notebooks=[(name, title) for name, title in titles.items() if name == patch],
        body=Markup(as_html(body if title.startswith("# ") else card["body"], lead)),
        **{name: Markup(line_as_html(card[name])) for name in ("outcome", "before", "after")},
    )
    return Page(_card_page(patch), card["title"], "Cards", article)


def _rules(output: Path) -> Page:
    home = data_root() / "published"
    text = (home / "README.md").read_text(encoding="utf-8")
    article = f"<article>{as_html(text, lead_from(home, data_root().parent, output))}</article>"
    return Page(RULES, "What the mails print, and the rules", "Reference", article)
