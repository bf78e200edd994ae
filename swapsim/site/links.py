# SPDX-License-Identifier: GPL-2.0-or-later
"""Links to the mails that print the claims, and to the commits that merged them, as Markdown."""

import re
from collections.abc import Mapping
from functools import cache

import polars as pl

from swapsim import claims
from swapsim.claims.addresses import SHORT, address


@cache
def commits() -> frozenset[str]:
    """Return the commits that links.csv names, by their first digits."""
    rows = claims.links()
    named = [*rows.filter(kind="commit")["target"], *rows["merged"].drop_nulls()]
    return frozenset(commit[:SHORT] for commit in named)


def addresses() -> frozenset[str]:
    """Return all addresses that a text may link to."""
    rows = claims.links().drop_nulls("target").select("kind", "target")
    cited = {address(kind, target) for kind, target in rows.iter_rows()}
    return frozenset(cited | {address("commit", commit) for commit in commits()})


def mails() -> dict[str, str]:
    """Return the address of each mail whose message ID is known."""
    rows = claims.links().filter(kind="mail").drop_nulls("target").select("name", "target")
    return {name: address("mail", target) for name, target in rows.iter_rows()}


def mail_of_each_claim() -> dict[str, str]:
    """Return the address of the mail that makes each claim, without claims of unknown mails."""
    known = mails()
    rows = claims.published_claims().select("claim", "mail").iter_rows()
    return {claim: known[mail] for claim, mail in rows if mail in known}


def mails_of(patch: str) -> pl.DataFrame:
    """Return the rows of links.csv of the mails of a patch, each mail once."""
    own = claims.mails().filter(patch=patch).select(name="mail")
    rows = own.join(claims.links(), on="name", maintain_order="left")
    return rows.unique(["target", "title"], keep="first", maintain_order=True)


def list_of_mails(card: Mapping[str, str]) -> str:
    """Return the mails of a card as a list of links, and the commits that its fields name."""
    rows = mails_of(card["patch"])
    lines = [f"- {_mail(row)}" for row in rows.iter_rows(named=True)]
    fields = " ".join(card[name] for name in ("outcome", "before", "after"))
    merged = {commit[:SHORT] for commit in rows["merged"].drop_nulls()}
    named = re.findall(rf"\b[0-9a-f]{{{SHORT}}}\b", fields)
    others = [each for each in dict.fromkeys(named) if each in commits() - merged]
    recalled = len(set(named) - commits())
    more = f"; {recalled} more, from memory and without a link, in the fields above"
    if others:
        lines.append(f"- Commits: {', '.join(map(commit_link, others))}{more if recalled else ''}")
    return "\n".join(lines)


def commit_link(commit: str) -> str:
    """Return a link to a commit by its first digits."""
    return f"[{commit[:SHORT]}]({address('commit', commit)})"


def with_commits(text: str) -> str:
    """Return a text in which each commit of links.csv is a link."""

    def linked(found: re.Match[str]) -> str:
        return commit_link(found[0]) if found[0] in commits() else found[0]

    return re.sub(rf"\b[0-9a-f]{{{SHORT}}}\b", linked, text)


def _mail(row: Mapping[str, str]) -> str:
    title = re.sub(r"([\[\]_*])", r"\\\1", row["title"])
    linked = f"[{title}]({address('mail', row['target'])})" if row["target"] else title
    day = f", {row['date']}" if row["date"] else ""
    merged = f"; merged as {commit_link(row['merged'])}" if row["merged"] else ""
    return f"{linked}, {row['author']}{day}{merged}"
