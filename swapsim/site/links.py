# SPDX-License-Identifier: GPL-2.0-or-later
"""Links to the mails, and to the commits that merged them, as Markdown."""

import re
from collections.abc import Mapping
from functools import cache

import polars as pl

from swapsim.published import data
from swapsim.published.data import SHORT, address


@cache
def commits() -> frozenset[str]:
    """Return the commits that links.csv names, by their first digits."""
    rows = data.links()
    named = [*rows.filter(kind="commit")["target"], *rows["merged"].drop_nulls()]
    return frozenset(commit[:SHORT] for commit in named)


def mails_of(patch: str) -> pl.DataFrame:
    """Return the rows of links.csv of the mails of a patch, each mail once."""
    own = data.mails().filter(patch=patch).select(name="mail")
    rows = own.join(data.links(), on="name", maintain_order="left")
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
