# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch C does, in sentences: on the lists of a real kernel, in its runs, and simulated."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim import claims, traces
from swapsim.claims.tables import DIRECTIONS, SIMULATED_CLAIMS
from swapsim.claims.texts import figure_text
from swapsim.patches.stall_decisions.judgement import FACTOR
from swapsim.patches.stall_decisions.lab import (
    LAB_FACTOR,
    compare_orders,
    compare_with_lab,
    directions,
    steps,
)
from swapsim.patches.stall_decisions.mail import STEPS
from swapsim.patches.stall_decisions.tables import SIMULATED_VERDICTS
from swapsim.stall.tables import VERIFIED_STALLS
from swapsim.stall.verify import verified_stalls

HEADLINES: Final = {
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Page writes file": "file pages written by reclaim",
}
"""The rows of the card's headlines, and their words."""

_SCANNED: Final = "C-disk-kswapd-pages-scanned"
_LARGEST: Final = "Ops memcachetest-2.84"
_MAILS_LARGEST: Final = "Ops memcachetest-4055M"


def verdict(verified: pl.DataFrame, measured: pl.DataFrame) -> str:
    """Return the lead of notebook 03.

    Parameters
    ----------
    verified, measured : polars.DataFrame
        Schemas VERIFIED_STALLS, and RESULTS of EXPERIMENT.
    """
    found = VERIFIED_STALLS.check(verified)
    passes, decided = int(found["passes"].sum()), int(found["decided"].sum())
    judged = DIRECTIONS.check(directions(measured))
    agree, against = ((judged["verdict"] == word).sum() for word in ("agrees", "contradicts"))
    base, *_, last = STEPS
    rate = claims.steps(measured, (base, last), [_LARGEST]).row(0, named=True)
    moves = " and ".join(_moved(measured, metric) for metric in HEADLINES)
    return claims.lead_on(
        f"In a real kernel that runs by the rules before and after patch C, {moves}; these are "
        f"medians of the rounds.",
        does=f"Reclaim sleeps after a list of pages and not in its middle, and kswapd writes file "
        f"pages only after a list in which all pages are dirty and none is being written. The "
        f"model of these rules decides {decided:,} of {passes:,} passes as a real kernel did.",
        worth=f"Of the mail's claims of direction {agree} of {judged.height} agree in that kernel "
        f"and {against} contradict; the others are open. {_works(measured)}",
        when=f"For memcached, whose rate next to the largest file changes by {_in_percent(rate)}: "
        f"the collapse that the mail shows is cured before the series, in its base. Nor for a disk "
        f"that is never congested, where patches 4 to 6 change nothing.",
    )


def verdict_simulated(
    judged: pl.DataFrame,
    figures: pl.DataFrame,
    guests: pl.DataFrame,
    measured: pl.DataFrame,
    machines: pl.DataFrame,
) -> str:
    """Return the lead of notebook 03b.

    Parameters
    ----------
    judged, figures : polars.DataFrame
        Schemas SIMULATED_VERDICTS and SIMULATED_CLAIMS.
    guests, measured : polars.DataFrame
        As for `compare_with_lab`.
    machines : polars.DataFrame
        From `differences`: where the series changes what.
    """
    rows = SIMULATED_VERDICTS.check(judged).filter(pl.col("standing") != "not modelled")
    by_size = rows.filter(pl.col("cells") > 0)
    sized = (by_size["inside"] == by_size["cells"]).sum()
    ordered = rows.drop_nulls("order")["order"]
    scans = SIMULATED_CLAIMS.check(figures).filter(claim=_SCANNED).row(0, named=True)
    table = compare_with_lab(guests, measured)
    disk = rows.filter(metric=_MAILS_LARGEST, table="parallelio, disk").row(0, named=True)
    memory = machines.filter(pl.col("factor").str.starts_with("memory"))
    alike = memory.group_by("setting").agg(pl.col("differs").any()).filter(~pl.col("differs"))
    where = (
        f" with {min(alike['setting'].to_list()):.0f} GB of memory or more, or"
        if alike.height
        else ""
    )
    return claims.lead_on(
        f"In the simulated machine of the mail the three kernels stand in the mail's order in "
        f"{(ordered == 'agrees').sum()} of {ordered.len()} rows, and {sized} of {by_size.height} "
        f"rows are within a factor of {FACTOR:.0f} of the mail.",
        does=_collapses(rows),
        worth=f"On the disk the series changes what kswapd scans by {_of_claim(scans)}. In the "
        f"lab's own test {int(table['near'].sum())} of {table.height} figures are within a factor "
        f"of {LAB_FACTOR}.",
        when=f"For memcached on the disk, whose rate next to the largest file the series changes "
        f"by {_change(disk['points'])} (published: {_change(disk['change'])}). Nor{where} on a "
        f"kernel with LRU lists of the node in place of the zones' lists.",
    )


def verdict_on_lists(verified: pl.DataFrame) -> str:
    """Return how far the rules decide as a real kernel did."""
    names = ("folios", "lists", "counted", "passes", "decided", "throttles", "held")
    found = VERIFIED_STALLS.check(verified)
    total = {name: int(found[name].sum()) for name in names}
    return (
        f"Of {total['passes']:,} passes of reclaim that a real kernel made in {found.height} runs, "
        f"the model of patch C's rules decides {total['decided']:,} as the kernel did; it has the "
        f"same counters for {total['counted']:,} of {total['lists']:,} lists and the same decision "
        f"for {total['held']:,} of {total['throttles']:,} requests for a throttle."
    )


def counted() -> str:
    """Return `verdict_on_lists` on the shipped traces."""
    return verdict_on_lists(verified_stalls(traces.shipped("stall-decisions")))


def headline_fit() -> None:
    """Return None: the reclaim simulator is not fitted by the contention machine's constants."""


def chances() -> None:
    """Return None: the mail prints no deviation of a run."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the patch changes no lock."""


def verdict_in_lab_guest(simulated: pl.DataFrame, measured: pl.DataFrame) -> str:
    """Return how near the simulated lab guest comes to the lab.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    str
        Two sentences.
    """
    table = compare_with_lab(simulated, measured)
    order = compare_orders(simulated, measured).filter(pl.col("pairs") > 0)
    pairs, right = (int(order[name].sum()) for name in ("pairs", "in_order"))
    return (
        f"Of {table.height} figures of the lab's test, {int(table['near'].sum())} are within a "
        f"factor of {LAB_FACTOR}. Of the {pairs} pairs of rule sets that the lab distinguishes, "
        f"{right} are in the lab's order; in {(order['verdict'] == 'agrees').sum()} of "
        f"{order.height} rows all of them are."
    )


def _collapses(rows: pl.DataFrame) -> str:
    """Return where memcached collapses by 3.9's rules alone, as in the mail."""
    large = rows.drop_nulls("collapse")
    words = {"parallelio, disk": "on the disk", "parallelio, nfs": "over NFS"}
    alone = [words for table, words in words.items() if large.filter(table=table)["collapse"].all()]
    where = " and ".join(alone) or "in no test"
    return (
        f"Next to large files memcached collapses by the rules of 3.9 alone {where}, as in the "
        f"mail on both. Its cure is in mmotm, the base of the series; the series then removes "
        f"kswapd's scans and file writes."
    )


def _of_claim(row: Mapping[str, Any]) -> str:
    """Return a simulated change of a claim with its range and the published one."""
    stated = claims.published_claims().filter(claim=row["claim"])["change"].item()
    span = claims.range_text(row["low"], row["high"], "%", relative=True)
    return f"{_change(row['simulated'])} ({span}; published: {_change(stated)})"


def _change(percent: float) -> str:
    return figure_text(percent, "%", relative=True)


def _in_percent(ends: Mapping[str, Any]) -> str:
    """Return the change of a row of PAIRED in percent of its base, with its interval."""
    low, high = (100 * ends[name] / ends["base"] for name in ("low", "high"))
    span = claims.range_text(low, high, "%", relative=True)
    return f"{_change(100 * (ends['value'] / ends['base'] - 1))} ({span})"


def _works(measured: pl.DataFrame) -> str:
    """Return which patches make the changes of the headline figures."""
    made = {metric: _first_patches(measured, metric) for metric in HEADLINES}
    if len(set(made.values())) == 1 and None not in made.values():
        return f"Of both changes {made.popitem()[1]}."
    parts = [f"of {HEADLINES[metric]} {words}" for metric, words in made.items() if words]
    return f"Of the changes, {'; '.join(parts)}." if parts else ""


def _moved(measured: pl.DataFrame, metric: str) -> str:
    """Return how a figure changes with all eight patches."""
    base, *_, last = STEPS
    ends = claims.steps(measured, (base, last), [metric]).row(0, named=True)
    if ends["seen"] == "either" or ends["base"] == 0:
        return f"{HEADLINES[metric]} go neither way in all rounds"
    return f"{HEADLINES[metric]} change by {_in_percent(ends)}"


def _first_patches(measured: pl.DataFrame, metric: str) -> str | None:
    """Return the share of a figure's change that the first patches make; None without a change."""
    base, *prefixes = STEPS
    ends = claims.steps(measured, (base, prefixes[-1]), [metric]).row(0, named=True)
    if ends["seen"] == "either" or ends["base"] == 0:
        return None
    change = ends["value"] - ends["base"]
    values = dict(steps(measured, [metric]).select("policy", "value").iter_rows())
    shares = {prefix: (values[prefix] - ends["base"]) / change for prefix in prefixes}
    # With nine tenths, the change from mmotm to the complete series counts as done.
    there = next(prefix for prefix, share in shares.items() if share >= 0.9)
    count = _NUMBERS[int(there.removeprefix("series-")) - 1]
    return f"{100 * shares[there]:.0f} % is made by the first {count} of the eight patches"


_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
