# SPDX-License-Identifier: GPL-2.0-or-later
"""README, cards, report and notebooks print the verdicts of one table, in the same words."""

import re
from html import unescape

import nbformat
import polars as pl
import pytest

from swapsim import claims
from swapsim.errors import InputError
from swapsim.io.paths import data_root, notebooks_root, patches_root, repository_root
from swapsim.patches import newer_kernels
from swapsim.site import overview, readme, rules
from swapsim.site.patches import PATCHES
from swapsim.site.report import pages
from swapsim.site.report.shell import heading_name

MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def judged() -> pl.DataFrame:
    """Give the table that all places read."""
    return overview.judged()


def test_every_claim_is_in_the_table_once(judged: pl.DataFrame) -> None:
    """In the order of the file, with the range of each simulated figure around it."""
    assert judged["claim"].to_list() == claims.published_claims()["claim"].to_list()
    over_runs = pl.col("range_over") != "interval"  # that is one of differences
    figures = judged.filter(pl.col("simulated").is_not_null(), over_runs)
    near = 1e-9 * figures["simulated"].abs()
    assert figures.height > 100
    assert (figures["low"] <= figures["simulated"] + near).all()
    assert (figures["high"] >= figures["simulated"] - near).all()
    assert judged.filter(pl.col("simulated").is_not_null())["range_over"].null_count() == 0


def test_readme_and_cards_are_current(judged: pl.DataFrame) -> None:
    """'make readme' would change nothing."""
    for path, made in (
        (repository_root() / "README.md", readme.with_tables),
        (patches_root() / "README.md", readme.of_patches),
        (data_root() / "published" / "README.md", readme.of_rules),
    ):
        text = path.read_text(encoding="utf-8")
        assert made(text, judged) == text
    for patch in PATCHES:
        card = (patches_root() / patch.PATCH / "card.md").read_text(encoding="utf-8")
        assert readme.card_with_table(card, patch.PATCH, judged) == card


def test_the_rules_page_has_an_example_of_each_verdict(judged: pl.DataFrame) -> None:
    """One for each word that a claim has in a column, of a claim that has it, with its row."""
    table = rules.table_of_examples(judged)
    wanted = {
        (source, word)
        for source in ("simulated", "measured")
        for word in judged[f"{source}_verdict"].cast(pl.String).unique()
    } - {("simulated", "not judged"), ("measured", "not judged")}
    assert {(source, word) for _, source, word, _ in rules.EXAMPLES} == wanted
    texts = {row["claim"]: row for row in claims.claim_texts(judged).iter_rows(named=True)}
    for claim, source, word, _ in rules.EXAMPLES:
        (line,) = (each for each in table.splitlines() if f"| `{claim}`:" in each)
        assert line.startswith(f"| **{word}** |")
        assert texts[claim]["published"] in line
        assert texts[claim][source] in line
    other = judged.with_columns(simulated_verdict=judged["simulated_verdict"].shuffle(1))
    with pytest.raises(InputError, match="no example of"):
        rules.table_of_examples(other)


def test_the_history_of_the_rules_begins_with_its_dates() -> None:
    """Each row of its first table leads to a section of that page, and each section has a row."""
    text = (data_root() / "published" / "stored-before.md").read_text(encoding="utf-8")
    table, _, rest = text.partition("\n## ")
    leads = set(re.findall(r"\]\(#([a-z0-9-]+)\)", table))
    heads = re.findall(r"^##+ (.*)$", f"## {rest}", re.MULTILINE)
    assert leads == {heading_name(head) for head in heads}
    days = re.findall(r"^\| (\d\d)\b", table, re.MULTILINE)
    assert days == sorted(days)
    assert days


def test_readme_is_short() -> None:
    """A newcomer reads it to its end; what is longer has a place of its own."""
    assert len((repository_root() / "README.md").read_text().splitlines()) <= 140


def test_each_section_of_a_mail_has_its_place_and_leads_to_a_heading() -> None:
    """In the mail's order; each cell of its page leads to the paragraph that computes it."""
    sections = claims.sections()
    stated = claims.published_claims().with_columns(
        section=pl.col("locator").str.split(" | ").list.first()
    )
    keys = ["mail", "section"]
    assert set(stated.select(keys).rows()) == set(sections.select(keys).rows())
    for lead in {*sections["simulated"].drop_nulls(), *sections["measured"].drop_nulls()}:
        name, _, heading = lead.partition(": ")
        notebook = nbformat.read(notebooks_root() / f"{name}.ipynb", as_version=4)
        lines = [line for cell in notebook.cells for line in cell.source.splitlines()]
        assert f"## {heading}" in lines, lead


def plain_figure(text: str) -> str:
    """Return a text that begins with a figure without that figure's trailing zeros."""
    return re.sub(r"^[\d.]+(?= |$)", lambda figure: str(float(figure[0])), text)


def rows_of_page(article: str) -> dict[str, tuple[str, ...]]:
    """Return what a page shows of each claim: published; figure, range and verdict of both."""
    found = {}
    for line in article.splitlines():
        named = re.search(r'<tr id="([^"]+)"[ >]|mail-[^"#]+#([^"]+)">', line)
        cells = re.findall(r"<td class=.*?</td>", line)
        if named and len(cells) == 3:
            parts = [plain_figure(re.sub(r" <small>.*?</small>|<[^>]+>", "", cells[0]))]
            for cell in cells[1:]:
                for kind in ("figure", "range", "says"):
                    part = re.search(rf'<span class="{kind}"(?: title="[^"]+")?>(.*?)</span>', cell)
                    parts.append(part[1] if part else "")
            plain = [unescape(part).replace(MINUS, "-").replace("\u2013", "") for part in parts]
            found[named[1] or named[2]] = tuple(plain)
    return found


def as_shown(judged: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the texts of claims in the order of `rows_of_page`, a figure with all its digits."""
    of_model = ("simulated", "range", "simulated_verdict")
    of_kernel = ("measured", "interval", "measured_verdict")
    texts = claims.claim_texts(judged).select("claim", "published", *of_model, *of_kernel)
    figures = judged.drop_nulls("value").filter(
        (pl.col("kind") == "figure") | pl.col("base").is_null()
    )
    own = {row["claim"]: f"{row['value']} {row['unit']}".strip() for row in figures.to_dicts()}
    return {
        name: (plain_figure(own.get(name, text)), *rest) for name, text, *rest in texts.iter_rows()
    }


def test_the_report_shows_the_table(judged: pl.DataFrame) -> None:
    """All claims on their page; the main ones, and the counts by mail, on the front page."""
    assert rows_of_page(pages.claims_article(judged)) == as_shown(judged)
    front = pages.front(judged)
    assert rows_of_page(front) == as_shown(overview.headlines(judged))
    for name, counted in claims.verdicts_by_mail(judged).group_by("mail", maintain_order=True):
        row = re.search(rf'<tr><th scope="row"><a href="mail-{name[0]}.html">.*?</tr>', front, re.S)
        assert row is not None
        shown = sorted(map(int, re.findall(r">(\d+) ", row[0])))
        counts = counted.drop("patch", "mail", "source", "claims").rows()
        assert shown == sorted(count for of_source in counts for count in of_source if count)
    for row in newer_kernels.on_newest().iter_rows(named=True):
        assert all(
            f"<td>{row[name]}</td>" in unescape(front).replace(MINUS, "-")
            for name in ("state", "now", "figure")
        )


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("A-lock-add", "10.86\u00a0\u00b1\u00a012% \u2192 8.31\u00a0\u00b1\u00a016% (% of cycles)"),
        ("A-prose-swap-out", "~1.2 \u2192 ~1.48 GB/s"),
        ("B-system-1", "260.53 \u2192 192.98 s"),
        ("C-disk-kswapd-efficiency", "13 \u2192 66 %"),
        ("D-lock-remove", "7.03 % of cycles"),
    ],
)
def test_a_mails_page_has_its_figures_as_it_prints_them(
    judged: pl.DataFrame, claim: str, text: str
) -> None:
    """With all digits, the deviation and the unit."""
    mail = judged.filter(claim=claim)["mail"].item()
    row = pages.mail_article(judged, mail).partition(f'<tr id="{claim}">')[2]
    assert f'<span class="sides">{text}</span>' in row.partition("</tr>")[0]


def test_a_page_for_each_mail_has_its_claims_in_its_order(judged: pl.DataFrame) -> None:
    """Each claim once, with its kernels and verdicts, below its place in the mail."""
    kernels = dict(claims.published_claims().select("claim", "locator").rows())
    texts = {row["claim"]: row for row in claims.claim_texts(judged).iter_rows(named=True)}
    seen: list[str] = []
    for mail in pages.mail_pages():
        article = pages.mail_article(judged, mail)
        rows = re.findall(r'<tr id="([^"]+)">.*?</tr>', article, re.S)
        order = claims.sections().filter(mail=mail)["section"].to_list()
        places = [judged.row(by_predicate=pl.col("claim") == name, named=True) for name in rows]
        positions = [order.index(each["section"]) for each in places]
        assert positions == sorted(positions)
        for name, row in zip(rows, re.findall(r"<tr id=.*?</tr>", article, re.S), strict=True):
            for source in ("simulated", "measured"):
                assert texts[name][f"{source}_verdict"] in unescape(row)
        shown = {
            sides for name in rows for sides in kernels[name].rpartition(" | ")[2].split(" -> ")
        }
        assert all(each in unescape(article) for each in shown)
        seen += rows
    assert sorted(seen) == sorted(judged["claim"])
