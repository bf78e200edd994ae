# SPDX-License-Identifier: GPL-2.0-or-later
"""Links to the mails, and to the commits that merged them, as Markdown."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

import polars as pl

from swapsim.io import data_root
from swapsim.published.data import HAND
from swapsim.tables import Table, read_csv

LINK: Final = pl.Enum(("mail", "commit", "article", "source"))
MAILS: Final = Table(
    "MAILS",
    "One row per mail whose figures are in data/published.",
    {"mail": pl.String, "patch": pl.String, "hand": HAND, "message": pl.String},
)
LINKS: Final = Table(
    "LINKS",
    "One row per source that our texts cite; target: message ID, commit, number, or address.",
    {"name": pl.String, "kind": LINK},
    dict.fromkeys(("target", "title", "author", "date", "merged"), pl.String),
)


def mails() -> pl.DataFrame:
    """Read which mails the figures are from, and whether their texts were available (MAILS)."""
    return read_csv(data_root() / "published" / "mails.csv", MAILS)


def links() -> pl.DataFrame:
    """Read the mails, commits and other sources that our texts cite (LINKS)."""
    return read_csv(
        data_root() / "published" / "links.csv", LINKS, ["target", "author", "date", "merged"]
    )


SHORT: Final = 12  # digits of a commit in our texts and in its address


def address(kind: str, target: str) -> str:
    """Return the address of a mail, commit, article or other source (LINK)."""
    return {
        "mail": f"https://lore.kernel.org/all/{target}/",
        "commit": f"https://git.kernel.org/linus/{target[:SHORT]}",
        "article": f"https://lwn.net/Articles/{target}/",
    }.get(kind, target)


@cache
def commits() -> frozenset[str]:
    """Return the commits that links.csv names, by their first digits."""
    rows = links()
    named = [*rows.filter(kind="commit")["target"], *rows["merged"].drop_nulls()]
    return frozenset(commit[:SHORT] for commit in named)


def mails_of(patch: str) -> pl.DataFrame:
    """Return the rows of links.csv of the mails of a patch, each mail once."""
    own = mails().filter(patch=patch).select(name="mail")
    rows = own.join(links(), on="name", maintain_order="left")
    return rows.unique(["target", "title"], keep="first", maintain_order=True)


def list_of_mails(patch: str) -> str:
    """Return the mails of a patch as a list of links."""
    return "\n".join(f"- {_mail(row)}" for row in mails_of(patch).iter_rows(named=True))


def commit_link(commit: str) -> str:
    """Return a link to a commit by its first digits."""
    return f"[{commit[:SHORT]}]({address('commit', commit)})"


def _mail(row: Mapping[str, str]) -> str:
    title = re.sub(r"([\[\]_*])", r"\\\1", row["title"])
    linked = f"[{title}]({address('mail', row['target'])})" if row["target"] else title
    day = f", {row['date']}" if row["date"] else ""
    merged = f"; merged as {commit_link(row['merged'])}" if row["merged"] else ""
    return f"{linked}, {row['author']}{day}{merged}"
