# SPDX-License-Identifier: GPL-2.0-or-later
"""The generated parts of README.md, of two READMEs and the cards, and README's picture."""

import re
import textwrap
from typing import Final

import polars as pl

from swapsim import charts, claims, clusters, traces
from swapsim.claims.texts import figure_text
from swapsim.errors import InputError
from swapsim.io.paths import data_root, patches_root, repository_root
from swapsim.patches import newer_kernels
from swapsim.site import links, overview, rules, standing
from swapsim.site.patches import PATCHES

PICTURE: Final = "patches/01-writeback-tags/acquisitions.png"
"""The README's picture, seen from the repository."""

_ABOUT_CHOSEN: Final = """\
A few claims of each mail, those of its subject or summary:"""

_ABOUT_LOCKS: Final = """\
By how much patches A and D relieve the swap cache's lock: in the mails' profiles, in the contention
machine, and on a real Linux 6.1 with the patch off and on. That kernel runs under an emulator:
acquisitions are exact, times are of no use, and contention depends on the emulator's schedule. D's
rows are of its third posting, the first second after the device was filled.
"""

_COLUMNS: Final = 120

_WORDS: Final = (
    *("patch", "by", "merged", "main claim", "answer", "mail", "claim", "quantity", "source"),
    *("state", "now", "figure"),
)
"""Columns of words, which stand on the left."""


def with_tables(text: str, judged: pl.DataFrame) -> str:
    """Return README's text with its tables recomputed, of all claims (THREE_COLUMNS)."""
    parts = {
        "answers": _of_answers(judged),
        "standing": _of_standing(judged),
        "newest": _of_newest(newer_kernels.on_newest()),
    }
    for name, part in parts.items():
        text = _between_marks(text, part, "README.md", name)
    return text


def _of_answers(judged: pl.DataFrame) -> str:
    """Return a row for each of the four patches: what it claims, and what answers."""
    rows = overview.main_answers(judged)
    mail = pl.col("mail").replace_strict(links.mails())
    return _markdown(
        rows.select(
            pl.format("[{}](patches/{}/card.md)", "title", "patch").alias("patch"),
            pl.format("[{}]({})", "by", mail).alias("by"),
            pl.col("merged").map_elements(links.with_commits, return_dtype=pl.String),
            "main claim",
            "answer",
        )
    )


def _of_standing(judged: pl.DataFrame) -> str:
    """Return how many claims have each verdict, and the weakest evidence."""
    said = f"{standing.compared(judged)} {standing.weak_evidence(judged)}"
    return f"{_markdown(standing.table(judged))}\n\n{textwrap.fill(said, _COLUMNS)}"


def of_patches(text: str, judged: pl.DataFrame) -> str:
    """Return the text of patches/README.md with its tables recomputed (THREE_COLUMNS)."""
    relief = overview.lock_relief(overview.fits())
    locks = _of_locks(relief.filter(pl.col("quantity").str.starts_with("swap cache")))
    paragraphs = [_ABOUT_LOCKS, *(patch.counted() for patch in PATCHES), _of_newer_kernels()]
    about, *counted = (textwrap.fill(part, _COLUMNS) for part in paragraphs)
    parts = (
        _of_standing(judged),
        _of_counts(judged),
        _ABOUT_CHOSEN,
        _of_claims(overview.headlines(judged), "patch", "claim"),
        _of_caveats(),
        about,
        locks,
        *counted,
    )
    return _between_marks(text, "\n\n".join(parts), "patches/README.md")


def of_rules(text: str, judged: pl.DataFrame) -> str:
    """Return the text of data/published/README.md with its tables recomputed (THREE_COLUMNS)."""
    parts = {
        "rules": rules.table_of_rules(),
        "examples": rules.table_of_examples(judged),
        "tolerances": rules.table_of_tolerances(),
    }
    for name, part in parts.items():
        text = _between_marks(text, part, "data/published/README.md", name)
    return text


def card_with_table(text: str, patch: str, judged: pl.DataFrame) -> str:
    """Return a card's text with its mails, and the table of its main claims (THREE_COLUMNS).

    Below the table is a line on what became of the patch on 7.3.
    """
    path = f"patches/{patch}/card.md"
    (card,) = claims.patch_cards().filter(patch=patch).rows(named=True)
    text = _between_marks(text, links.list_of_mails(card), path, "mails")
    rows = overview.headlines(judged).filter(patch=patch)
    parts = [_of_claims(rows, "claim")]
    for row in newer_kernels.on_newest().filter(patch=patch).iter_rows(named=True):
        line = f"**On 7.3:** {row['state']}: {row['now']}. {_sentence(row['figure'])}"
        parts.append(textwrap.fill(line, _COLUMNS, break_on_hyphens=False))
    return _between_marks(text, "\n\n".join(parts), path)


def _sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _of_newest(rows: pl.DataFrame) -> str:
    chosen = rows.select(patch=pl.format("{}: {}", "letter", "subject"), state="state", now="now")
    texts = chosen.with_columns(figure=rows["figure"])
    return _markdown(texts)


def _of_caveats() -> str:
    """Return what to know of the verdicts on each patch's main claims."""
    cards = claims.patch_cards().select("patch", "caveat")
    lines = [
        textwrap.fill(f"- **{patch}:** {caveat}", _COLUMNS, subsequent_indent="  ")
        for patch, caveat in cards.iter_rows()
    ]
    return "\n".join(lines)


def _of_newer_kernels() -> str:
    """Return a sentence on the recordings of cluster allocators that the model repeats."""
    verified = clusters.verified_clusters(traces.shipped("clusters"))
    kernels = " and ".join(sorted(verified["rules"].cast(pl.String).unique()))
    equal = ", ".join(
        f"{verified[f'{what}_equal'].sum():,} of {verified[what].sum():,} {words}"
        for what, words in (
            ("grants", "granted runs of slots"),
            ("visits", "visits of clusters"),
            ("moves", "list moves"),
        )
    )
    return (
        f"Newer kernels: of {verified.height} recordings of stock kernels {kernels}, the model of "
        f"their cluster allocators repeats {equal}."
    )


def _between_marks(text: str, part: str, path: str, name: str = "verdicts") -> str:
    """Return the text with the part between two marks replaced."""
    marks = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    if not marks.search(text):
        raise InputError(
            f"has no marks around its {name}: restore them with 'git checkout'", path=path
        )
    return marks.sub(lambda found: f"{found[1]}{part}\n{found[2]}", text)


def _of_claims(judged: pl.DataFrame, *first: str) -> str:
    texts = claims.claim_texts(judged).with_columns(pl.col(pl.String).replace("", "-"))
    chosen = texts.select(
        "patch",
        claim="what",
        published="published",
        simulated="simulated",
        range="range",
        verdict="simulated_verdict",
        measured="measured",
        verdict_="measured_verdict",
    )
    return _markdown(chosen.select(*first, pl.exclude("patch", "claim")))


def _of_counts(judged: pl.DataFrame) -> str:
    counts = standing.by_mail(claims.verdicts_by_mail(judged)).drop("patch")
    target = pl.col("mail").replace_strict(links.mails(), default=None)
    counts = counts.with_columns(mail=pl.coalesce(pl.format("[{}]({})", "mail", target), "mail"))
    return _markdown(counts.with_columns(pl.exclude("mail").cast(pl.String)))


def _of_locks(relief: pl.DataFrame) -> str:
    figures = ("published", "simulated", "measured")
    texts = [
        pl.col(name)
        .map_elements(lambda value: figure_text(value, "%", relative=True), return_dtype=pl.String)
        .fill_null("-")
        for name in figures
    ]
    return _markdown(relief.with_columns(texts))


def _markdown(rows: pl.DataFrame) -> str:
    heads = [name.replace("_", " ").strip() for name in rows.columns]
    words = [name in _WORDS or "verdict" in name for name in rows.columns]
    lines = [
        f"| {' | '.join(heads)} |",
        f"|{'|'.join('---' if left else '--:' for left in words)}|",
        *(f"| {' | '.join(map(str, row))} |" for row in rows.iter_rows()),
    ]
    return "\n".join(lines)


def write() -> None:
    """Write the verdict tables and the picture."""
    judged = overview.judged()
    for path, made in (
        (repository_root() / "README.md", with_tables),
        (patches_root() / "README.md", of_patches),
        (data_root() / "published" / "README.md", of_rules),
    ):
        path.write_text(made(path.read_text(encoding="utf-8"), judged), encoding="utf-8")
    for patch in PATCHES:
        card = patches_root() / patch.PATCH / "card.md"
        text = card_with_table(card.read_text(encoding="utf-8"), patch.PATCH, judged)
        card.write_text(text, encoding="utf-8")
    png = charts.png(overview.picture().to_dict())
    (repository_root() / PICTURE).write_bytes(png)


if __name__ == "__main__":
    write()
