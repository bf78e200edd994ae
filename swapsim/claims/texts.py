# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of claims and their verdicts: README, report, cards and notebooks print these."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.checks import checked
from swapsim.claims.tables import DIRECTION_VERDICT, SOURCE, THREE_COLUMNS
from swapsim.frames.figures import LARGE_PERCENT, factor_text

_NO_DECIMALS: Final = 100
NO_PERCENT: Final = 0.005
"""Percentages and points below this are shown as zero."""
_COUNTED: Final = ("agrees", "contradicts", "open", "not_determinable", "not_judged")
_TEXTS: Final = (
    *("claim", "patch", "what", "published", "simulated", "range", "simulated_verdict"),
    *("measured", "measured_verdict"),
)
_NO_FIGURE: Final = ("not simulated", "not measured")


def figure_text(value: float | None, unit: str, *, relative: bool) -> str:
    """Return a figure with its unit; empty without a figure.

    A change has its sign and one decimal, or is a factor from +1000 % on; any other figure has
    three significant digits, and no decimals from 100 on.
    """
    if value is None:
        return ""
    if relative:
        return factor_text(value) if value >= LARGE_PERCENT else f"{_change(value)} %"
    if abs(value) >= _NO_DECIMALS:
        return f"{value:,.0f} {unit}"
    nothing = unit.startswith("%") and abs(value) < NO_PERCENT
    return f"{0.0 if nothing else value:.3g} {unit}"


@checked
def range_text(low: float | None, high: float | None, unit: str, *, relative: bool) -> str:
    """Return a range with one unit, once if its ends look the same; empty without an end."""
    if low is None or high is None:
        return ""
    if relative and high >= LARGE_PERCENT:
        first, last = factor_text(low), factor_text(high)
    elif relative:
        first, last = _change(low), f"{_change(high)} %"
    else:
        first = figure_text(low, unit, relative=False).removesuffix(f" {unit}")
        last = figure_text(high, unit, relative=False)
    return last if last in (first, f"{first} %", f"{first} {unit}") else f"{first} to {last}"


def _change(percent: float) -> str:
    """Return a change in percent with its sign; zero has none."""
    text = f"{percent:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


@checked
def lead(sentence: str, bullets: Mapping[str, str]) -> str:
    """Return the lead of a notebook: one sentence, and a bullet for each head."""
    lines = [f"- {head}: {text}" for head, text in bullets.items()]
    return "\n".join([sentence, "", *lines])


@checked
def lead_on(sentence: str, *, does: str, worth: str, when: str) -> str:
    """Return the lead of a patch's notebook, with its three bullets."""
    return lead(
        sentence, {"What it does": does, "What it is worth": worth, "When it does not matter": when}
    )


@checked
def claim_texts(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Return the texts of THREE_COLUMNS: what is claimed, each figure with its unit, verdicts."""
    rows = [_texts(row) for row in THREE_COLUMNS.check(three_columns).iter_rows(named=True)]
    return pl.DataFrame(rows, schema=dict.fromkeys(_TEXTS, pl.String))


@checked
def verdicts_by_patch(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts of each patch's claims, in a row for each source that has a figure."""
    grouped = THREE_COLUMNS.check(three_columns).group_by("patch", maintain_order=True)
    frames = []
    for source in ("simulated", "measured"):
        verdict = pl.col(f"{source}_verdict")
        counts = {name: (verdict == name.replace("_", " ")).sum() for name in _COUNTED}
        missing = verdict.is_in(_NO_FIGURE).sum()
        frames.append(
            grouped.agg(claims=pl.len(), **counts, no_figure=missing).with_columns(
                source=pl.lit(source)
            )
        )
    order = three_columns.select(pl.col("patch").unique(maintain_order=True))
    frame = order.join(
        pl.concat(frames).filter(pl.col("no_figure") < pl.col("claims")),
        on="patch",
        maintain_order="left_right",
    )
    return frame.select(
        "patch",
        pl.col("source").cast(SOURCE.dtype),
        pl.col("claims", *_COUNTED, "no_figure").cast(pl.UInt32),
    )


def _texts(row: dict[str, Any]) -> dict[str, str]:
    """Return a claim's texts."""
    how = {"unit": row["unit"], "relative": row["relative"]}
    return {
        "claim": row["claim"],
        "patch": row["patch"],
        "what": row["metric"],
        "published": figure_text(row["published"], **how) or _in_words(row),
        "simulated": figure_text(row["simulated"], **how),
        "range": range_text(row["low"], row["high"], **how),
        "simulated_verdict": row["simulated_verdict"],
        "measured": figure_text(row["measured"], **how),
        "measured_verdict": _measured_verdict(row),
    }


def _in_words(row: dict[str, Any]) -> str:
    """Return what a claim without a figure states."""
    if row["unit"] == "behaviour":
        return "what the code does"
    separator = ": " if row["unit"] == "direction" else ", "
    return str(row["metric"]).rpartition(separator)[2]


def _measured_verdict(row: dict[str, Any]) -> str:
    """Return the measured verdict; where direction and size differ, the verdict on each."""
    direction, size = row["direction"], row["size"]
    if direction and size in DIRECTION_VERDICT.words and direction != size:
        return f"direction {direction}, size {size}"
    return str(row["measured_verdict"])
