# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of claims and their verdicts: README, report, cards and notebooks print these."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from swapsim.checks import checked
from swapsim.claims.judging import STAYS_WITHIN_PERCENT
from swapsim.claims.tables import (
    CLAIM_TEXTS,
    MEASURED_VERDICT,
    SIMULATED_VERDICT,
    SOURCE,
    THREE_COLUMNS,
)
from swapsim.frames.figures import LARGE_PERCENT, factor_text

_NO_DECIMALS: Final = 100
NO_PERCENT: Final = 0.005  # percentages and points below this are shown as zero
_VERDICTS: Final = {"simulated": SIMULATED_VERDICT.words, "measured": MEASURED_VERDICT.words}
COUNTED: Final = tuple(
    dict.fromkeys(
        word
        for words in _VERDICTS.values()
        for word in words
        if word not in ("not simulated", "not measured")
    )
)
"""All verdicts on a figure, in the order in which they are counted."""


def figure_text(value: float | None, unit: str, *, relative: bool) -> str:
    """Return a figure with its unit; empty without a figure.

    A change has its sign and one decimal (two next to 0 and -100 %), or is a factor from +1000 %
    on; any other figure has three significant digits, and no decimals from 100 on.
    """
    if value is None:
        return ""
    if relative:
        return factor_text(value) if value >= LARGE_PERCENT else f"{_change(value)} %"
    if abs(value) >= _NO_DECIMALS:
        return f"{value:,.0f} {unit}".strip()
    nothing = unit.startswith("%") and abs(value) < NO_PERCENT
    return f"{0.0 if nothing else value:.3g} {unit}".strip()


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
    """Return a change in percent with its sign; zero has none.

    Next to zero and to -100 % it has two decimals.
    """
    text = f"{percent:+.1f}"
    if text not in ("+0.0", "-0.0", "-100.0"):
        return text
    if abs(percent) < NO_PERCENT:
        return "0.0"
    return text if percent <= NO_PERCENT - 100 else f"{percent:+.2f}"


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
    """Return the texts of THREE_COLUMNS (CLAIM_TEXTS)."""
    rows = [_texts(row) for row in THREE_COLUMNS.check(three_columns).iter_rows(named=True)]
    return CLAIM_TEXTS.check(pl.DataFrame(rows, schema=CLAIM_TEXTS.schema))


@checked
def verdicts_by_mail(
    three_columns: pl.DataFrame, keys: Sequence[str] = ("patch", "mail")
) -> pl.DataFrame:
    """Count the verdicts on each mail's claims, or on those of other keys, a row for each source.

    A claim that repeats another one is not counted; ``no_answer`` counts those that have a reason
    in place of an answer.
    """
    counted = three_columns.filter(pl.col("repeats").is_null())
    grouped = counted.group_by(keys, maintain_order=True)
    frames = []
    for source in _VERDICTS:
        verdict = pl.col(f"{source}_verdict").cast(pl.String)
        counts = {name.replace(" ", "_"): (verdict == name).sum() for name in COUNTED}
        without = verdict.str.starts_with("not ") & (verdict != "not determinable")
        frames.append(
            grouped.agg(claims=pl.len(), **counts, no_answer=without.sum()).with_columns(
                source=pl.lit(source, SOURCE.dtype)
            )
        )
    order = counted.select(keys).unique(maintain_order=True)
    frame = order.join(pl.concat(frames), on=keys, maintain_order="left_right")
    names = ("claims", *(name.replace(" ", "_") for name in COUNTED), "no_answer")
    return frame.select(*keys, "source", pl.col(names).cast(pl.UInt32))


def _texts(row: dict[str, Any]) -> dict[str, str]:
    """Return a claim's texts."""
    how = {"unit": row["unit"], "relative": row["relative"]}
    of_model, of_kernel = (_how(row, source) for source in ("simulated", "measured"))
    no_change = row["simulated_verdict"] == "base not reproduced"
    return {
        "claim": row["claim"],
        "patch": row["patch"],
        "mail": row["mail"],
        "section": row["section"].removeprefix("prose: "),
        "what": row["metric"],
        "published": figure_text(row["published"], **how) or _in_words(row),
        "simulated": "" if no_change else figure_text(row["simulated"], **of_model),
        "simulated_sides": _sides(row, "simulated"),
        "range": "" if no_change else range_text(row["low"], row["high"], **of_model),
        "simulated_verdict": _simulated_verdict(row),
        "simulated_rests": _simulated_rests(row),
        "measured": _measured(row, of_kernel),
        "measured_sides": _sides(row, "measured"),
        "interval": range_text(row["measured_low"], row["measured_high"], **of_kernel),
        "measured_verdict": _measured_verdict(row),
        "measured_rests": _measured_rests(row),
    }


def _how(row: dict[str, Any], source: str) -> dict[str, Any]:
    """Return how an answer is printed: a change from a base of zero is a plain difference."""
    from_zero = row["relative"] and row[f"{source}_base"] == 0
    unit = "" if from_zero else row["unit"]
    return {"unit": unit, "relative": row["relative"] and not from_zero}


def _sides(row: dict[str, Any], source: str) -> str:
    """Return a source's figures without the change and with it; empty for a plain figure."""
    base, value = row[f"{source}_base"], row[f"{source}_value"]
    if row["kind"] == "figure" or None in (base, value):
        return ""
    return " \u2192 ".join(figure_text(each, "", relative=False) for each in (base, value))


_OVER: Final = {
    "open constants": "over what the mail leaves open",
    "ages": "over ages of the device",
    "seeds": "over {} seed{}",
    "interval": "95 % interval over {} seed{}",
}


def _simulated_rests(row: dict[str, Any]) -> str:
    """Return what a simulated verdict rests on."""
    if row["range_over"] is None:
        return ""
    rounds = row["simulated_rounds"] or 1
    over = _OVER[row["range_over"]].format(rounds, "s" if rounds > 1 else "")
    return "; ".join(part for part in (row["simulated_what"], over, _tolerance(row)) if part)


def _measured_rests(row: dict[str, Any]) -> str:
    """Return what a measured verdict rests on."""
    rounds = row["measured_rounds"]
    stays = row["kind"] == "change" and row["claimed"] == "stays"
    within = f"stays: within {STAYS_WITHIN_PERCENT:.0f} %" if stays and rounds else None
    of_rounds = f"{rounds} round{'s' if rounds > 1 else ''}" if rounds else None
    parts = (row["measured_what"], of_rounds, within)
    return "; ".join(part for part in parts if part)


def _tolerance(row: dict[str, Any]) -> str | None:
    if row["tolerance"] is None:
        return None
    if row["published"] == 0 and not row["relative"]:
        return f"up to {figure_text(row['tolerance'], row['unit'], relative=False)} counts as zero"
    if row["kind"] == "change" and row["published"] - row["tolerance"] <= -100:
        return "what is left " + (
            "within a factor of 2" if row["published"] > -100 else "up to 5 %"
        )
    unit = "points" if row["relative"] else row["unit"]
    return f"tolerance {figure_text(row['tolerance'], unit, relative=False)}"


def _in_words(row: dict[str, Any]) -> str:
    """Return what a claim without a figure states."""
    if row["kind"] == "code":
        return "what the code does"
    metric = str(row["metric"])
    words = metric.rpartition(": " if ": " in metric else ", ")[2]
    return words if row["kind"] in ("direction", "remark") else str(row["claimed"] or words)


def _measured(row: dict[str, Any], how: Mapping[str, Any]) -> str:
    """Return the measured figure, or in how many cases a statement on the code holds."""
    if row["cases"] == 0:
        return "no case decides"
    if row["cases"] is not None:
        return f"{row['held']:,} of {row['cases']:,}"
    return figure_text(row["measured"], **how)


def _simulated_verdict(row: dict[str, Any]) -> str:
    """Return the simulated verdict with the reason for a missing answer, or a base's quotient."""
    verdict = str(row["simulated_verdict"])
    if verdict == "base not reproduced" and row["base_ratio"] is not None:
        return f"{verdict} (\u00d7{row['base_ratio']:.2g})"
    return _with_reason(verdict, row["simulated_reason"])


def _measured_verdict(row: dict[str, Any]) -> str:
    """Return the measured verdict, and that size or count is another one than the printed."""
    verdict = _with_reason(str(row["measured_verdict"]), row["measured_reason"])
    stand_in = row["kind"] == "change" and row["measured_what"] is not None
    notes = ["another count"] * stand_in + ["other size"] * (row["size"] == "other")
    return ", ".join([verdict, *notes])


def _with_reason(verdict: str, reason: str | None) -> str:
    return f"{verdict}: {reason}" if reason else verdict
