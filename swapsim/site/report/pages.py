# SPDX-License-Identifier: GPL-2.0-or-later
"""All pages of a report in reading order, and the verdict on each claim that they show."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nbformat
import polars as pl
from markupsafe import Markup, escape

from swapsim import claims, live
from swapsim.claims.addresses import address
from swapsim.claims.tables import MEASURED_VERDICT, SIMULATED_VERDICT
from swapsim.claims.texts import COUNTED
from swapsim.errors import InputError
from swapsim.frames import glossary
from swapsim.io import read_text, write_atomically
from swapsim.io.paths import data_root, patches_root
from swapsim.patches import newer_kernels
from swapsim.site import links, overview, standing
from swapsim.site.notebooks import lead_of
from swapsim.site.report.cells import panel_figure
from swapsim.site.report.shell import (
    NOTEBOOKS,
    RULES,
    STORED,
    Page,
    as_html,
    fill,
    heading_name,
    lead_from,
    line_as_html,
    ran,
)

FIRST: Final = "tags"  # the panel of the front page
_MINUS: Final = "\N{MINUS SIGN}"
_FUNCTION: Final = re.compile(r"[\w.-]*_raw_spin_lock\w*\.(\w+)[\w.]*")
_IN_SHORT: Final = r'lock in <abbr title="\g<0>">\1</abbr>'
"""A row of perf's profile, and the function in it that takes the lock."""

_WORDS: Final = {"simulated": SIMULATED_VERDICT.words, "measured": MEASURED_VERDICT.words}


def _claims(judged: pl.DataFrame) -> list[dict[str, Any]]:
    """Return THREE_COLUMNS as pages show them: its texts (CLAIM_TEXTS), each figure in one dict."""
    texts = claims.claim_texts(judged).iter_rows(named=True)
    stated = {row["claim"]: row for row in claims.published_claims().iter_rows(named=True)}
    cells = _cells()
    return [
        {
            **text,
            "what": Markup(_FUNCTION.sub(_IN_SHORT, str(escape(text["what"])))),
            **_published(text["published"], row, stated[row["claim"]], cells),
            "section": row["section"],
            "repeats": row["repeats"],
            "letters": row["claim"].partition("-")[0],  # they stand for one mail, or for several
            "simulated": _figure(text, row, "simulated", text["range"]),
            "measured": _figure(text, row, "measured", text["interval"]),
        }
        for text, row in zip(texts, judged.iter_rows(named=True), strict=True)
    ]


_PROSE: Final = re.compile("^prose[^|]*")  # claims and printed cells name its place differently


def _cells() -> dict[tuple[str, str], str]:
    """Return the text of each printed figure, with its deviation, by mail and locator."""
    deviation = pl.format("\u00a0\u00b1\u00a0{}%", pl.col("stddev_percent").cast(pl.Int64))
    printed = pl.col("printed").str.strip_suffix("%")
    cells = claims.published_tables().select(
        "mail", "locator", pl.concat_str(printed, deviation, ignore_nulls=True)
    )
    return {(mail, _PROSE.sub("", where)): text for mail, where, text in cells.iter_rows()}


def _published(
    words: str,
    row: Mapping[str, Any],
    stated: Mapping[str, Any],
    cells: Mapping[tuple[str, str], str],
) -> dict[str, str]:
    """Return what a mail prints of a claim: ``sides`` are the figures of its two kernels.

    A claim that is no change has its figure, or ``words``.
    """
    where, _, named = _PROSE.sub("", stated["locator"]).rpartition(" | ")
    kernels = named.split(" -> ")
    printed = [
        cells.get((row["mail"], f"{where} | {kernel}"), f"{figure:.15g}")
        for kernel, figure in zip(kernels, (row["base"], row["value"]), strict=True)
        if figure is not None
    ]
    plain = row["value"] is not None and (row["kind"] == "figure" or row["base"] is None)
    unit = stated["unit"]
    if printed and printed[-1].endswith("%"):  # after a deviation
        unit = f"({unit})"
    return {
        "kernels": " \u2192 ".join(dict.fromkeys(kernels)),
        "published": f"{printed[-1]} {unit}".strip() if plain else _typeset(words),
        "sides": "" if plain or not printed else " \u2192 ".join(printed) + f" {unit}",
    }


def _figure(
    text: Mapping[str, str], row: Mapping[str, Any], source: str, within: str
) -> dict[str, Any]:
    """Return a figure's texts: ``kind`` decides its colour, ``verdict`` is that on the one scale.

    ``what`` stands for the claim's own quantity; ``seen`` says that a page had shown the figure
    before its rule was stored.
    """
    verdict, says = row[f"{source}_verdict"], text[f"{source}_verdict"]
    absent = verdict not in COUNTED
    return {
        "text": _typeset(text[source]),
        "range": _typeset(within),
        "kind": "absent" if absent else verdict.replace(" ", "-"),
        "says": says,
        "verdict": says.partition(":")[0] if absent else verdict,
        "sides": text[f"{source}_sides"],
        "rests": text[f"{source}_rests"],
        "what": row[f"{source}_what"],
        "seen": not absent and row["seen"] in (source, "both"),
    }


def _typeset(text: str) -> str:
    """Return a text with a typographic minus sign for each negative figure."""
    return re.sub(r"(?<![^ (])-(?=\d)", _MINUS, text)


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
    entries = [(path.stem, *title_and_verdict(each)) for path, each in notebooks.items()]
    titles = {name: title for name, title, _ in entries}
    stored = [articles.page(name, title, NOTEBOOKS) for name, title in titles.items()]
    runs = [ran(page.name, page.article, made_now) for page in stored]
    made = fill("made", entries=entries, runs=runs, provenance=origin)
    return [
        articles.page("index", "Swap laboratory", "", made),
        _live(stored),
        *stored,
        *(_card(card, titles, output) for card in claims.patch_cards().iter_rows(named=True)),
        *(articles.page(_mail_page(name), _subject(name), "Mails") for name in mail_pages()),
        articles.page("claims", "Every claim", "Reference"),
        _of_markdown(RULES, output),
        _of_markdown(STORED, output),
        _words(),
    ]


def _live(stored: Sequence[Page]) -> Page:
    """Return the page of all panels, each with the pages of the notebooks that have it."""
    found: dict[str, tuple[str, list[Page]]] = {}
    for page in stored:
        for name, shown in _PANEL.findall(page.article):
            found.setdefault(name, (shown, []))[1].append(page)
    panels = [(live.panel(name).panel, Markup(shown), of) for name, (shown, of) in found.items()]
    return Page("live", "Turn a knob", "", fill("live", panels=panels))


def title_and_verdict(notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """Return a notebook's title, and the sentence with which its lead begins."""
    title = str(notebook.cells[0].source).strip().partition("\n")[0]
    return title.lstrip("# "), lead_of(notebook).partition("\n")[0]


def front(judged: pl.DataFrame) -> str:
    """Return the front page's question, first panel and verdicts (THREE_COLUMNS of all claims)."""
    headlines = _claims(overview.headlines(judged))
    return fill(
        "front",
        panel=Markup(panel_figure(FIRST)),
        headlines=headlines,
        answers=overview.main_answers(judged).rename({"main claim": "claimed"}).rows(named=True),
        first={claim["patch"]: claim for claim in reversed(headlines)},
        line=lambda text: Markup(line_as_html(text)),
        typeset=_typeset,
        mails=links.mail_of_each_claim(),
        titles=_titles(),
        caveats=dict(claims.patch_cards().select("patch", "caveat").iter_rows()),
        counted=claims.verdicts_by_mail(judged).rows(named=True),
        subjects=_subjects(),
        verdict_words=_WORDS,
        standing=standing.table(judged).rows(named=True),
        said=(standing.compared(judged), standing.weak_evidence(judged)),
        repeated=judged["repeats"].count(),
        newest=newer_kernels.on_newest().rows(named=True),
        rules=RULES,
        stored=STORED,
    )


def claims_article(judged: pl.DataFrame) -> str:
    """Return all claims with their verdicts, by patch."""
    titles = _titles()
    return fill(
        "claims",
        claims=_claims(judged),
        by_kind=_turned(standing.by_kind(judged), "verdict").rows(named=True),
        both=standing.both_columns(judged).rows(named=True),
        said=(standing.compared(judged), standing.weak_evidence(judged)),
        mails=links.mail_of_each_claim(),
        titles=titles,
        subjects=_subjects(),
        cards={patch: _card_page(patch) for patch in titles},
        rules=RULES,
        stored=STORED,
    )


def _turned(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table whose columns are rows, under the names in its first column."""
    heads = table.to_series(0).cast(pl.String).to_list()
    rest = table.select(pl.nth(range(1, table.width)))
    return rest.transpose(include_header=True, header_name=name, column_names=heads)


def mail_article(judged: pl.DataFrame, mail: str) -> str:
    """Return a mail's claims in its order: each table and each place in its text."""
    stated = judged.filter(mail=mail)
    own = _claims(stated)
    sections = claims.sections().filter(mail=mail)["section"]
    (patch,) = claims.mails().filter(mail=mail)["patch"]
    return fill(
        "mail",
        link=claims.links().row(by_predicate=pl.col("name") == mail, named=True),
        address=address,
        outcome=Markup(line_as_html(overview.outcomes().get(patch, ""))),
        **claims.mails().row(by_predicate=pl.col("mail") == mail, named=True),
        titles=_titles(),
        sections=[
            (
                section.removeprefix("prose: "),
                not section.startswith("prose: "),
                [each for each in own if each["section"] == section],
            )
            for section in sections
        ],
        leads=_leads(mail),
        notebook=_notebook(mail),
        heading_name=heading_name,
        counted=claims.verdicts_by_mail(stated).rows(named=True),
        verdict_words=_WORDS,
        rules=RULES,
    )


def _leads(mail: str) -> dict[str, dict[str, str]]:
    """Return the page and heading that compute each section's answers, empty without one."""
    return {
        row["section"].removeprefix("prose: "): {
            source: _heading(row[source]) for source in ("simulated", "measured")
        }
        for row in claims.sections().filter(mail=mail).iter_rows(named=True)
    }


def _notebook(mail: str) -> str:
    """Return the notebook that answers a mail's claims: its patch's, unless only a part does."""
    leads = claims.sections().filter(mail=mail).select("simulated", "measured").rows()
    found = {str(lead).partition(": ")[0] for row in leads for lead in row if lead}
    (patch,) = claims.mails().filter(mail=mail)["patch"]
    return patch if patch in found or not found else min(found)


def _heading(lead: str | None) -> str:
    """Return the address of ``notebook: heading``; empty for none."""
    page, _, heading = (lead or "").partition(": ")
    return f"{page}.html#{heading_name(heading)}" if page else ""


def _subject(mail: str) -> str:
    """Return the subject of a mail, with version and reply in place of the words before it."""
    link = claims.links().row(by_predicate=pl.col("name") == mail, named=True)
    found = re.match(r"(?i)(Re: )?(?:\[(?:[^]]*\bv(\d+))?[^]]*\] )?(.*)", str(link["title"]))
    reply, version, subject = found.groups() if found else (None, None, link["title"])
    marks = [f"v{version}"] * bool(version) + [f"reply of {link['date']}"] * bool(reply)
    return f"{subject} ({', '.join(marks)})" if marks else str(subject)


def _subjects() -> dict[str, str]:
    """Return the subject of each mail that has claims."""
    return {name: _subject(name) for name in mail_pages()}


def mail_pages() -> list[str]:
    """Return the mails that have claims, in the order of the claims."""
    return claims.published_claims()["mail"].unique(maintain_order=True).to_list()


def _mail_page(mail: str) -> str:
    """Return the name of a mail's page."""
    return f"mail-{mail}"


def _titles() -> dict[str, str]:
    """Return the title of each patch's card."""
    return dict(claims.patch_cards().select("patch", "title").iter_rows())


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
        body=Markup(as_html(body if title.startswith("# ") else card["body"], lead)),
        **{name: Markup(line_as_html(card[name])) for name in ("outcome", "before", "after")},
    )
    return Page(_card_page(patch), card["title"], "Cards", article)


_FILES: Final = {RULES: "README.md", STORED: "stored-before.md"}
"""A page -> its file in data/published."""


def markdown(name: str) -> str:
    """Return the text of a page that is a file of data/published."""
    return read_text(data_root() / "published" / _FILES[name])


def _of_markdown(name: str, output: Path) -> Page:
    """Return the page of a file of data/published, with the title of that file."""
    home, text = data_root() / "published", markdown(name)
    title = text.partition("\n# ")[2].partition("\n")[0]
    article = f"<article>{as_html(text, lead_from(home, data_root().parent, output))}</article>"
    return Page(name, title, "Reference", article)


def _words() -> Page:
    """Return the page of all tables and vocabularies, from their declarations."""
    title = "What the columns and metrics mean"
    groups = glossary.groups()
    columns = (column for table in glossary.tables() for column in table.columns)
    article = fill(
        "words",
        title=title,
        groups=groups,
        packages=dict.fromkeys(group.name.rpartition(".")[0] for group in groups),
        units=dict.fromkeys(sorted({column.unit for column in columns} - {""})),
        line=lambda text: Markup(line_as_html(text)),
        block=lambda text: Markup(as_html(text)),
    )
    return Page("words", title, "Reference", article)
