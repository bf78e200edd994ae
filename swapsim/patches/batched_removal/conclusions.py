# SPDX-License-Identifier: GPL-2.0-or-later
"""The conclusions on patch B: estimates by arithmetic, the noise that is left, the verdict."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from swapsim import claims, traces
from swapsim.claims.judging import verdict_on
from swapsim.claims.tables import CHANCES
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import costs_by_name
from swapsim.machine.tables import REWRITE
from swapsim.patches.batched_removal.prediction import MIDDLE, at_middle, judged_ranges
from swapsim.patches.batched_removal.tables import HELD_OUT, NOISE_OF_ROWS, PREDICTED_BY_POINTS
from swapsim.patches.batched_removal.workload import (
    PATCH,
    chance_of_change,
    error_of_change,
    spreads_percent,
)
from swapsim.removal.replay import batched_removal_of
from swapsim.removal.tables import BATCHED_REMOVAL, WAITS_NEEDED

MAIL: Final = "B-batched-removal"

_REWRITE_TIMES: Final = "Amean pwrite-single-rewrite-async-"
_FILE_ACQUISITIONS: Final = 5
"""Of a file's mapping per page: added, dirtied, writeback begun and ended, removed."""

_FILE_SIZE: Final = 3
"""Size of the file in multiples of the memory."""

_LIST_PAGES: Final = 32
_POINT: Final = ["tag_share", "next_share", "uneven_percent"]


def waits_needed(*, acquisitions_a_page: float, saved_a_page: float) -> pl.DataFrame:
    """Return how much of the system time must be waits for the lock, for each published row.

    If a wait is as long as before, waits decrease by the share of acquisitions that the patch
    saves, so a row's change needs waits of at least the change divided by that share. Above 100
    percent, acquisitions alone cannot explain it: waits became shorter, or other time was saved.

    Parameters
    ----------
    acquisitions_a_page : float
        Of the mapping's lock for one page at all sites, without the patch; above 0.
    saved_a_page : float
        Acquisitions that the patch saves of these; above 0, at most all of them.

    Returns
    -------
    polars.DataFrame
        Schema WAITS_NEEDED, one row per published system time of patch B, in the order of the
        claims.

    Raises
    ------
    ConfigError
        An argument is out of range.

    Source
    ------
    data/published/claims.csv, rows of patch 02.
    """
    if not acquisitions_a_page > 0:
        raise ConfigError(f"acquisitions_a_page={acquisitions_a_page}: give a number above 0")
    if not 0 < saved_a_page <= acquisitions_a_page:
        raise ConfigError(
            f"saved_a_page={saved_a_page}: give a number above 0, at most {acquisitions_a_page}"
        )
    saved = saved_a_page / acquisitions_a_page
    needed = pl.when(pl.col("change") < 0).then(-pl.col("change") / saved)
    frame = (
        claims.published_claims()
        .filter(
            (pl.col("mail") == MAIL)
            & pl.col("metric").str.contains("System", literal=True)
            & pl.col("value").is_not_null()
        )
        .select(
            "claim",
            "base",
            "value",
            "change",
            saved_percent=pl.lit(100 * saved),
            needed_percent=needed,
            enough=needed <= 100,
        )
    )
    return WAITS_NEEDED.check(frame)


def rewrite(
    memory_gb: Sequence[float] = (4, 8, 16), hold_ns: Sequence[int] = (100, 300, 1000)
) -> pl.DataFrame:
    """Estimate what batching saves where one file is written again, followed by a kswapd.

    The machine has no file pages, so this is arithmetic: writer, flusher and kswapd take the lock
    five times per page, and with the patch one of the five only once in 32 pages. An acquisition
    that finds the lock held waits for half a hold, and the lock's cache line moves.

    Parameters
    ----------
    memory_gb : sequence of float
        The mail does not give the size of memory. The file is three times as large, and was
        written at 37 MB/s with 4 GB, at 150 with 16.
    hold_ns : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema REWRITE.

    Source
    ------
    data/published/02-batched-removal.csv, table xfsio; facts on the benchmarks.
    """
    known = dict(
        claims.published_tables()
        .filter(pl.col("mail") == MAIL, pl.col("table") == "xfsio", pl.col("kernel") == "vanilla")
        .select("metric", "value")
        .iter_rows()
    )
    system, elapsed = (known[f"{_REWRITE_TIMES}{part}"] for part in ("System", "Elapsd"))
    travel = costs_by_name()["travel_same_socket_ns"]
    rows = []
    for memory, hold in itertools.product(memory_gb, hold_ns):
        pages = _FILE_SIZE * memory * 2**30 / 2**12
        held = pages * _FILE_ACQUISITIONS * hold / 1e9 / elapsed
        wait = held * hold / 2 + travel
        saved = pages * (1 - 1 / _LIST_PAGES) * wait / 1e9
        rows.append((memory, hold, pages / elapsed, 100 * held, wait, 100 * saved / system))
    return pl.DataFrame(rows, schema=REWRITE.schema, orient="row")


def verdict(
    counts: pl.DataFrame, predicted: pl.DataFrame, texts: pl.DataFrame, cures: pl.DataFrame
) -> str:
    """Return the lead of notebook 02.

    Parameters
    ----------
    counts, predicted : polars.DataFrame
        Schemas BATCHED_REMOVAL and PREDICTED_BY_POINTS.
    texts : polars.DataFrame
        Columns of CLAIM_TEXTS: the claims that are simulated, with their verdicts.
    cures : polars.DataFrame
        Schema WHAT_IF_RANGES, as `studies.gain_by_cure` returns.
    """
    pages, holds, longest = _held(counts)
    most = _row(judged_ranges(predicted), "B-elapsed-8")
    known = held_out(predicted)
    agree = known.filter(verdict="agrees").height
    first = texts.filter(pl.col("claim").str.starts_with("B-"))["simulated_verdict"]
    alone, both = (
        cures.filter(factor="non-rotational", label=label).row(0, named=True)
        for label in ("trunks of 64 MB", "both")
    )
    return claims.lead_on(
        f"Patch B removes {pages / holds:.0f} pages under one hold in place of one page, but of "
        f"the {first.len()} times that its mail prints {(first == 'contradicts').sum()} contradict "
        f"the simulation and {(first == 'not determinable').sum()} are not determinable.",
        does=f"On {pages:,} pages that a real kernel's reclaim removed from their mappings, the "
        f"lock acquisitions for the removal fall from 1 a page to {holds / pages:.2f}. The longest "
        f"hold removes {longest} pages, and all others wait for it.",
        worth=f"With 8 threads elapsed time changes by {_span(most)} over all that the mail leaves "
        f"open (published: {most['published']:+.1f} %). Of {known.height} figures of the unpatched "
        f"kernel that were held out, {agree} agree{'s' if agree == 1 else ''}.",
        when=f"Next to trunks, where the device is not rotational: with these the pages written "
        f"change by {_span(alone)} without the patch, and by {_span(both)} with it. With few tasks "
        f"it even loses, if a further removal costs as much as the first.",
    )


def _span(row: Mapping[str, Any]) -> str:
    return claims.range_text(row["low"], row["high"], "%", relative=True)


def _held(counts: pl.DataFrame) -> tuple[int, int, int]:
    """Return the pages that were removed, the holds that removed them, and the longest's pages."""
    rows = BATCHED_REMOVAL.check(counts).filter(kernel="4.8")
    return int(rows["pages"].sum()), int(rows["batched"].sum()), max(rows["longest"].to_list())


def verdict_on_counts(counts: pl.DataFrame) -> str:
    """Return a sentence on the pages of reclaim's lists in all traces, under kernel 4.8."""
    pages, holds, longest = _held(counts)
    traced = counts["trace"].n_unique()
    return (
        f"On {traced} traces of a real kernel, {pages:,} pages that reclaim removed from "
        f"their mappings, the patch takes the lock acquisitions for the removal from 1 a page to "
        f"{holds / pages:.2f}: one hold removes {pages / holds:.0f} pages on average, "
        f"{longest} at most."
    )


def counted() -> str:
    """Return `verdict_on_counts` on the shipped traces."""
    return verdict_on_counts(batched_removal_of(traces.shipped("batched-removal")))


def chances() -> pl.DataFrame:
    """Return the chance of each row of usemem by the mail's noise (CHANCES)."""
    stated = claims.published_claims().filter(
        pl.col("error").is_not_null(), pl.col("patch") == PATCH
    )
    found = pl.Series(map(chance_of_change, stated["change"].to_list()), dtype=pl.Float64)
    return CHANCES.check(stated.select("claim", chance=found))


def headline_fit() -> None:
    """Return None: the costs are the middle of those that the mail leaves open, not fitted."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the mail prints no profile of locks."""


def measured_as_mailed() -> None:
    """Return None: the lab's tests have no row of the mail's tables."""


def noise_of_rows(predicted: pl.DataFrame) -> pl.DataFrame:
    """Return what two equal kernels show for each row of the first mail.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema PREDICTED_BY_POINTS, of which the rows at the middle shares are used.

    Returns
    -------
    polars.DataFrame
        Schema NOISE_OF_ROWS, one row per claim.
    """
    rows = PREDICTED_BY_POINTS.check(predicted).filter(
        pl.col("claim").str.starts_with("B-"),
        tag_share=MIDDLE.tag_share,
        next_share=MIDDLE.next_share,
    )
    frame = rows.group_by("claim", maintain_order=True).agg(
        pl.col("published").first(),
        pl.col("null_low").min(),
        pl.col("null_high").max(),
        chance_low=pl.col("chance").min(),
        chance_high=pl.col("chance").max(),
    )
    published = frame["published"].to_list()
    frame = frame.with_columns(
        mail_error=pl.Series(map(error_of_change, published), dtype=pl.Float64),
        mail_chance=pl.Series(map(chance_of_change, published), dtype=pl.Float64),
    )
    return NOISE_OF_ROWS.check(frame.select(NOISE_OF_ROWS.names()).sort("claim"))


_SHORT: Final = "B-elapsed-{}"


def held_out(predicted: pl.DataFrame) -> pl.DataFrame:
    """Compare vanilla's figures that were not fitted with those of the sweeps (HELD_OUT).

    Quotients agree within one standard deviation of the quotient of two means; the deviation of a
    run agrees between the two that the mail's Min and Amean give.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema PREDICTED_BY_POINTS.
    """
    points = PREDICTED_BY_POINTS.check(predicted)
    middle = at_middle()
    low, high = spreads_percent()
    rows: list[tuple[str, float, float, pl.DataFrame]] = []
    for over, under in ((1, 3), (3, 5), (5, 7), (8, 7)):
        top, bottom = (
            points.filter(claim=_SHORT.format(threads)).select(*_POINT, pl.col("base"))
            for threads in (over, under)
        )
        quotient = top.join(bottom, on=_POINT, maintain_order="left").select(
            *_POINT, figure=pl.col("base") / pl.col("base_right")
        )
        published = _vanilla(over) / _vanilla(under)
        error = published * error_of_change(0) / 100
        rows.append((f"elapsed time, {over} by {under} threads", published, error, quotient))
    spread = points.filter(claim=_SHORT.format(8)).select(*_POINT, figure=pl.col("spread_percent"))
    rows.append(("deviation of a run, 8 threads, %", (low + high) / 2, (high - low) / 2, spread))
    frame = pl.DataFrame(
        [
            {
                "what": what,
                "published": published,
                "tolerance": tolerance,
                "simulated": figures.filter(middle)["figure"].item(),
                "low": figures["figure"].min(),
                "high": figures["figure"].max(),
            }
            for what, published, tolerance, figures in rows
        ]
    )
    return HELD_OUT.check(
        frame.with_columns(verdict=verdict_on("simulated")).select(HELD_OUT.names())
    )


def _vanilla(threads: int) -> float:
    cells = claims.published_tables().filter(patch=PATCH, table="usemem", kernel="vanilla")
    return float(cells.filter(metric=f"Amean Elapsd-{threads}")["value"].item())


def _row(ranges: pl.DataFrame, claim: str) -> dict[str, float]:
    found = ranges.filter(claim=claim)
    if found.height != 1:
        raise InputError(f"{found.height} ranges of {claim!r}: give predictions", field="claim")
    return found.row(0, named=True)
