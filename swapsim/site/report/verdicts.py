# SPDX-License-Identifier: GPL-2.0-or-later
"""How each claim stands: published, simulated, measured, each figure with its verdict."""

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.site import overview

AGREES: Final = "agrees"
CONTRADICTS: Final = "contradicts"
OPEN: Final = "open"
ABSENT: Final = "absent"
KINDS: Final = (CONTRADICTS, OPEN, AGREES, ABSENT)
"""What colours a figure, the worst first; absent: nobody has one, or nothing to judge it by."""

_KIND_OF: Final = {
    "agrees": AGREES,
    "contradicts": CONTRADICTS,
    "open": OPEN,
    "holds": AGREES,
    "contradicted": CONTRADICTS,
}


@dataclass(frozen=True)
class Figure:
    """A figure and what is said of it.

    Attributes
    ----------
    text : str
        With its unit; empty where there is none.
    kind : str
        One of KINDS.
    says : str
        The verdict in words.
    """

    text: str
    kind: str
    says: str


@dataclass(frozen=True)
class Claim:
    """A claim and how it stands.

    Attributes
    ----------
    name : str
    patch : str
    what : str
        What is claimed of.
    published : str
        With its unit; the word where the mail has no figure.
    simulated, measured : Figure
    """

    name: str
    patch: str
    what: str
    published: str
    simulated: Figure
    measured: Figure


@dataclass(frozen=True)
class Verdicts:
    """All claims, and those that lead.

    Attributes
    ----------
    claims : tuple of Claim
    headlines : tuple of Claim
        In the cards' words.
    """

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
        stated.select("claim", pl.col("unit").alias("told_in"), "change"),
        on="claim",
        maintain_order="left",
    ).join(
        directions.select("claim", "claimed", "verdict", "median", "other"),
        on="claim",
        how="left",
        maintain_order="left",
    )
    found = {row["claim"]: _claim(row) for row in rows.iter_rows(named=True)}
    told = claims.patch_cards().explode("headlines")["headlines"].to_list()
    leading = [headline.partition(": ") for headline in told]
    return Verdicts(
        claims=tuple(found.values()),
        headlines=tuple(_in_words(found[name], words) for name, _, words in leading),
    )


def number(value: float) -> str:
    """Return a figure with as many digits as a reader needs."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


def percent(value: float) -> str:
    """Return a change with its sign."""
    return f"{value:+.1f} %".replace("-", "\N{MINUS SIGN}")


def _claim(row: dict[str, Any]) -> Claim:
    _, _, word = row["metric"].rpartition(": ")
    told = "" if row["published"] is None else _figure(row, row["published"])
    return Claim(
        name=row["claim"],
        patch=row["patch"],
        what=row["metric"],
        published=told or (word if row["told_in"] == "direction" else "what the code does"),
        simulated=_simulated(row),
        measured=_measured(row),
    )


def _in_words(claim: Claim, words: str) -> Claim:
    return Claim(claim.name, claim.patch, words, claim.published, claim.simulated, claim.measured)


def _figure(row: dict[str, Any], value: float) -> str:
    return percent(value) if row["change"] is not None else f"{number(value)} {row['unit']}"


def _simulated(row: dict[str, Any]) -> Figure:
    if row["simulated"] is None:
        return Figure("", ABSENT, "not modelled")
    verdict = row["simulated_verdict"]
    return Figure(_figure(row, row["simulated"]), _KIND_OF.get(verdict, ABSENT), verdict)


def _measured(row: dict[str, Any]) -> Figure:
    """Judge a measured figure by its sign and its size; a claim agrees if none says otherwise."""
    size, sign = row["measured_verdict"], row["verdict"]
    said = {
        name: _KIND_OF[verdict]
        for name, verdict in (("direction", sign), ("size", size))
        if verdict in _KIND_OF
    }
    if row["measured"] is not None:
        text = _figure(row, row["measured"])
    elif sign is not None and row["median"]:
        text = percent(100 * (row["other"] - row["median"]) / row["median"])
    else:
        text = ""
    if not said:
        return Figure(text, ABSENT, "not judged" if text else "not measured")
    kind = min(said.values(), key=KINDS.index)
    says = ", ".join(f"{name} {each}" for name, each in said.items())
    return Figure(text, kind, kind if len(set(said.values())) == 1 else says)
