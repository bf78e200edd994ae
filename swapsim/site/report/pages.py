# SPDX-License-Identifier: GPL-2.0-or-later
"""All pages of a report in reading order, and the verdict on each claim that they show."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import nbformat
import polars as pl
from markupsafe import Markup

from swapsim import charts, claims
from swapsim.errors import InputError
from swapsim.frames import glossary
from swapsim.io import read_text, write_atomically
from swapsim.io.paths import data_root, patches_root
from swapsim.site import overview
from swapsim.site.report.cells import figure
from swapsim.site.report.shell import (
    MAILS,
    RULES,
    Page,
    Provenance,
    as_html,
    fill,
    lead_from,
    line_as_html,
    ran,
)

KINDS: Final = ("contradicts", "open", "agrees", "absent")
"""Colours of a figure, the worst first; absent: there is no figure, or no rule to judge it."""

_MINUS: Final = "\N{MINUS SIGN}"
_KIND_OF: Final = {kind: kind for kind in KINDS} | {
    "holds": "agrees",
    "contradicted": "contradicts",
}


@dataclass(frozen=True)
class Figure:
    """A figure with its unit, empty if it is missing; its kind (KINDS); the verdict in words."""

    text: str
    kind: str
    says: str


@dataclass(frozen=True)
class Claim:
    """A claim on a quantity; published is a direction where the mail has no figure."""

    name: str
    patch: str
    what: str
    published: str
    simulated: Figure
    measured: Figure


@dataclass(frozen=True)
class Verdicts:
    """All claims, and the main ones in the words of the cards."""

    claims: tuple[Claim, ...]
    headlines: tuple[Claim, ...]

    def counted(self, column: str) -> dict[str, int]:
        """Return how many claims have a figure of each kind in a column."""
        kinds = [getattr(claim, column).kind for claim in self.claims]
        return {kind: kinds.count(kind) for kind in KINDS}


def verdicts() -> Verdicts:
    """Judge all claims by what was simulated and measured."""
    stated = claims.published_claims()
    measured = overview.measured()
    results = pl.concat([overview.simulated(), measured])
    three = claims.three_columns(stated, results, claims.tolerances(), overview.ranges())
    directions = claims.directions(stated, measured).rename({"base": "median", "value": "other"})
    rows = three.join(
        stated.select("claim", pl.col("unit").alias("claimed_unit"), "change"),
        on="claim",
        maintain_order="left",
    ).join(
        directions.select("claim", "claimed", "verdict", "median", "other"),
        on="claim",
        how="left",
        maintain_order="left",
    )
    found = {row["claim"]: _claim(row) for row in rows.iter_rows(named=True)}
    headlines = claims.patch_cards().explode("headlines")["headlines"].to_list()
    leading = [headline.partition(": ") for headline in headlines]
    return Verdicts(
        claims=tuple(found.values()),
        headlines=tuple(replace(found[name], what=words) for name, _, words in leading),
    )


def _claim(row: dict[str, Any]) -> Claim:
    _, _, word = row["metric"].rpartition(": ")
    figure = "" if row["published"] is None else _figure(row, row["published"])
    return Claim(
        name=row["claim"],
        patch=row["patch"],
        what=row["metric"],
        published=figure or (word if row["claimed_unit"] == "direction" else "what the code does"),
        simulated=_simulated(row),
        measured=_measured(row),
    )


def _figure(row: dict[str, Any], value: float) -> str:
    """Return a change with its sign, or three significant digits with their unit."""
    if row["change"] is not None:
        return _percent(value)
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text.replace('-', _MINUS)} {row['unit']}"


def _percent(change: float) -> str:
    return f"{change:+.1f} %".replace("-", _MINUS)


def _simulated(row: dict[str, Any]) -> Figure:
    if row["simulated"] is None:
        return Figure("", "absent", "not modelled")
    verdict = row["simulated_verdict"]
    return Figure(_figure(row, row["simulated"]), _KIND_OF.get(verdict, "absent"), verdict)


def _measured(row: dict[str, Any]) -> Figure:
    """Judge a measured figure by its sign and its size; it agrees if neither contradicts."""
    size, sign = row["measured_verdict"], row["verdict"]
    said = {
        name: _KIND_OF[verdict]
        for name, verdict in (("direction", sign), ("size", size))
        if verdict in _KIND_OF
    }
    if row["measured"] is not None:
        text = _figure(row, row["measured"])
    elif sign is not None and row["median"]:
        text = _percent(100 * (row["other"] - row["median"]) / row["median"])
    else:
        text = ""
    if not said:
        return Figure(text, "absent", "not judged" if text else "not measured")
    kind = min(said.values(), key=KINDS.index)
    says = ", ".join(f"{name} {each}" for name, each in said.items())
    return Figure(text, kind, kind if len(set(said.values())) == 1 else says)


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
    origin: Provenance,
) -> list[Page]:
    """Return all pages."""
    entries = [(path.stem, *title_and_verdict(each)) for path, each in notebooks.items()]
    titles = {name: title for name, title, _ in entries}
    stored = [articles.page(name, title, "Notebooks") for name, title in titles.items()]
    runs = [ran(page.name, page.title, page.article, made_now) for page in stored]
    made = fill("made", entries=entries, runs=runs, provenance=origin)
    return [
        articles.page("index", "Swap laboratory", "", made),
        *stored,
        *(_card(card, titles, output) for card in claims.patch_cards().iter_rows(named=True)),
        articles.page("claims", "Every claim", "Reference"),
        _rules(output),
        _words(),
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


def _words() -> Page:
    """Return the page of all tables and vocabularies, from their declarations."""
    title = "What the columns and metrics mean"
    article = fill(
        "words",
        title=title,
        groups=glossary.groups(),
        line=lambda text: Markup(line_as_html(text)),
        block=lambda text: Markup(as_html(text)),
    )
    return Page("words", title, "Reference", article)
