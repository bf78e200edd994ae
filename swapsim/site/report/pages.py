# SPDX-License-Identifier: GPL-2.0-or-later
"""All pages of a report in reading order, once what takes time is on the shelf."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from swapsim import claims
from swapsim.io.paths import data_root, patches_root
from swapsim.site.report import cards, front, links, words
from swapsim.site.report.articles import Shelf
from swapsim.site.report.markdown import Lead, as_html
from swapsim.site.report.provenance import Provenance, ran
from swapsim.site.report.shell import Page

Notebooks = Mapping[Path, nbformat.NotebookNode]


def pages(
    notebooks: Notebooks, made_now: Sequence[str], shelf: Shelf, output: Path, told: Provenance
) -> list[Page]:
    """Return all pages.

    Parameters
    ----------
    notebooks : mapping of Path to nbformat.NotebookNode
        In order; a notebook's article, and those of the verdicts, are on the shelf.
    made_now : sequence of str
        Names of those that were run for this report.
    shelf : Shelf
    output : Path
        The report's folder.
    told : Provenance
    """
    first_lines = {path.stem: title_and_verdict(notebook) for path, notebook in notebooks.items()}
    titles = {name: title for name, (title, _) in first_lines.items()}
    runs = [ran(name, title, _good(shelf, name), made_now) for name, title in titles.items()]
    entries = [(name, title, verdict) for name, (title, verdict) in first_lines.items()]
    index = _shelved(shelf, "index", "Swap laboratory", "", front.made(entries, runs, told))
    return [
        index,
        *(_shelved(shelf, name, title, "Notebooks") for name, title in titles.items()),
        *(_card(card, titles, output) for card in claims.patch_cards().iter_rows(named=True)),
        _shelved(shelf, "claims", "Every claim", "Reference"),
        _rules(output),
        Page(words.NAME, words.TITLE, "Reference", words.article()),
    ]


def title_and_verdict(notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """Return a notebook's title, and the verdict that its first cell states."""
    title, *rest = str(notebook.cells[0].source).strip().splitlines()
    verdict = " ".join(line.strip("*> ") for line in rest if line.strip())
    return title.lstrip("# "), verdict.replace("`", "")


def lead_from(home: Path, root: Path, output: Path) -> Lead:
    """Return what leads the links of a file in a folder of the laboratory."""
    return partial(links.lead, home=home, root=root, output=output)


def _good(shelf: Shelf, name: str) -> str:
    article = shelf.find(name)
    assert article is not None, f"{name} is made before its page"
    return article


def _shelved(shelf: Shelf, name: str, title: str, group: str, rest: str = "") -> Page:
    return Page(name, title, group, _good(shelf, name), rest, shelf.first_line(name))


def _card(card: dict[str, Any], titles: Mapping[str, str], output: Path) -> Page:
    patch, root = card["patch"], patches_root()
    own = [(name, title) for name, title in titles.items() if name == patch]
    lead = lead_from(root / patch, root.parent, output)
    return Page(links.card_page(patch), card["title"], "Cards", cards.article(card, own, lead))


def _rules(output: Path) -> Page:
    home = data_root() / "published"
    text = (home / "README.md").read_text(encoding="utf-8")
    article = as_html(text, lead_from(home, data_root().parent, output))
    return Page(
        links.RULES,
        "What the mails print, and the rules",
        "Reference",
        f"<article>{article}</article>",
    )
