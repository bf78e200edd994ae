# SPDX-License-Identifier: GPL-2.0-or-later
"""Each claim as published, simulated and measured, each figure with a verdict."""

from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.site import overview

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
