# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cells of notebook 02 compute."""

import itertools
from statistics import NormalDist
from typing import Final

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.machine.constants import costs_by_name
from swapsim.patches import rounds
from swapsim.patches.batched_removal import studies
from swapsim.patches.batched_removal.lab import HOLD
from swapsim.patches.batched_removal.prediction import MIDDLE, at_middle
from swapsim.patches.batched_removal.workload import (
    PATCH,
    chance_of_change,
    error_of_change,
    spreads_percent,
)
from swapsim.patches.lab import LEDGER
from swapsim.patches.rounds import agreement
from swapsim.patches.what_if import gains, trials, values
from swapsim.published import data
from swapsim.published import table as printed_table
from swapsim.study import wide

_PAGE_ACQUISITIONS: Final = 4
"""Of 4.8's lock per page swapped out: added, writeback begun and ended, removed."""

_FILE_ACQUISITIONS: Final = 5
"""Of a file's mapping per page: added, dirtied, writeback begun and ended, removed."""

_FILE_SIZE: Final = 3  # size of the rewritten file in multiples of the memory
_LIST_PAGES: Final = 32
_DEVIATIONS: Final = NormalDist().inv_cdf(0.95)
"""Change, in standard deviations, that chance exceeds in one direction as often as a row may."""


_OF_A_JOIN: Final = 3
"""Acquisitions of xa_lock for a page that joins the swap cache and leaves it without being written:
added, deleted, its shadow cleared when the slot is given back."""


_WAITS_FOR_TREE: Final = "cycles.tree_lock."

_POINT: Final = ("tag_share", "next_share", "uneven_percent")
"""What a point of the predictions consists of."""


def published(table: str, kernel: str, metric: str) -> float:
    """Return a cell of the tables of 1/4."""
    cells = data.published_tables().filter(patch=PATCH, table=table, kernel=kernel)
    return float(cells.filter(mail="B-batched-removal", metric=metric)["value"].item())


def waits_needed(*, saved_a_page: float) -> pl.DataFrame:
    """Return how much of each published system time must be waits for the lock.

    A page takes the lock four times. If a wait is as long as before, waits decrease by the share of
    acquisitions that are saved, so a change needs waits of at least the change divided by it.
    """
    saved = saved_a_page / _PAGE_ACQUISITIONS
    needed = pl.when(pl.col("change") < 0).then(-pl.col("change") / saved)
    return (
        printed_table("B", "usemem")
        .filter(pl.col("metric").str.contains("System"))
        .select("metric", base="vanilla", value="batch-v1", change=100 * (pl.col("ratio") - 1))
        .with_columns(saved_percent=pl.lit(100 * saved), needed_percent=needed)
    )


def noise_of_rows(predicted: pl.DataFrame) -> pl.DataFrame:
    """Return how much two equal kernels differ, by the mail's noise and by uneven sweeps."""
    rows = predicted.filter(tag_share=MIDDLE.tag_share, next_share=MIDDLE.next_share)
    return (
        rows.group_by("metric", "published")
        .agg(
            pl.col("null_low").min(),
            pl.col("null_high").max(),
            chance_low=pl.col("chance").min(),
            chance_high=pl.col("chance").max(),
        )
        .with_columns(
            pl.col("published").map_elements(of, pl.Float64).alias(name)
            for name, of in (("mail_error", error_of_change), ("mail_chance", chance_of_change))
        )
        .select(
            *("metric", "published", "mail_error", "mail_chance"),
            *("null_low", "null_high", "chance_low", "chance_high"),
        )
        .sort("metric")
    )


def draw_null(null: pl.DataFrame, noise: pl.DataFrame) -> alt.ConcatChart:
    """Draw 95 % of the changes of two equal kernels, the published ones, and what noise allows."""
    mail = noise.select(
        "published", threads=pl.col("metric").str.extract(r"Elapsd-(\d+)$").cast(pl.UInt32)
    )
    rows = (
        wide(null, "part_percent", "change_percent")
        .join(mail, on="threads", maintain_order="left")
        .sort("uneven_percent", "threads")
        .select(
            "published",
            low="2.5",
            high="97.5",
            change="50.0",
            uneven=pl.format("uneven by {} %", pl.col("uneven_percent").cast(pl.Int64)),
            threads=pl.format("{} threads", "threads").replace("1 threads", "1 thread"),
        )
    )
    half = _DEVIATIONS * error_of_change(0)
    return charts.dots(
        rows,
        "change",
        "threads",
        published="published",
        panel="uneven",
        columns=2,
        own_axes=True,
        width=330,
        band=(-half, half),
        title="What two equal kernels differ by, and what the mail prints",
        words={"change": "change in elapsed time, % (less is better)"},
    )


def held_out(predicted: pl.DataFrame) -> pl.DataFrame:
    """Compare vanilla's figures that were not fitted with those of the sweeps.

    Quotients agree within one standard deviation of the quotient of two means; the deviation of a
    run agrees between the two that the mail's Min and Amean give.
    """
    rows = []
    for more, less in ((1, 3), (3, 5), (5, 7), (8, 7)):
        top, bottom = (
            predicted.filter(metric=f"Amean Elapsd-{threads}").select(*_POINT, "base")
            for threads in (more, less)
        )
        quotient = top.join(bottom, on=_POINT, maintain_order="left").select(
            *_POINT, figure=pl.col("base") / pl.col("base_right")
        )
        first, second = (
            published("usemem", "vanilla", f"Amean Elapsd-{threads}") for threads in (more, less)
        )
        error = first / second * error_of_change(0) / 100
        rows.append((f"elapsed time, {more} by {less} threads", first / second, error, quotient))
    low, high = spreads_percent()
    spread = predicted.filter(metric="Amean Elapsd-8").select(*_POINT, figure="spread_percent")
    rows.append(("deviation of a run, 8 threads, %", (low + high) / 2, (high - low) / 2, spread))
    near = (pl.col("simulated") - pl.col("published")).abs() <= pl.col("tolerance")
    return pl.DataFrame(
        {
            "what": what,
            "published": printed,
            "tolerance": tolerance,
            "simulated": figures.filter(at_middle())["figure"].item(),
            "low": figures["figure"].min(),
            "high": figures["figure"].max(),
        }
        for what, printed, tolerance, figures in rows
    ).with_columns(verdict=agreement(near))


def rewrite() -> pl.DataFrame:
    """Estimate what batching saves where one file is written again, followed by a kswapd.

    Writer, flusher and kswapd take the lock five times per page, and with the patch one of the five
    only once in 32 pages. An acquisition that finds the lock held waits for half a hold, and the
    lock's cache line moves. The mail gives neither the memory nor the hold. The file is three times
    as large as the memory, so it was written at 37 MB/s with 4 GB, at 150 with 16.
    """
    system, elapsed = (
        published("xfsio", "vanilla", f"Amean pwrite-single-rewrite-async-{part}")
        for part in ("System", "Elapsd")
    )
    travel = costs_by_name()["travel_same_socket_ns"]
    rows = []
    for memory, hold in itertools.product((4.0, 8.0, 16.0), (100, 300, 1000)):
        pages = _FILE_SIZE * memory * 2**30 / 2**12
        share = pages * _FILE_ACQUISITIONS * hold / 1e9 / elapsed
        wait = share * hold / 2 + travel
        saved = pages * (1 - 1 / _LIST_PAGES) * wait / 1e9
        rows.append((memory, hold, pages / elapsed, 100 * share, wait, 100 * saved / system))
    names = ("memory_gb", "hold_ns", "pages_a_second", "held_percent", "wait_ns", "saved_percent")
    return pl.DataFrame(rows, schema=names, orient="row")


def draw_gain_by_list() -> alt.ConcatChart:
    """Draw the gain by length of lists and cost of a further removal, for each number of tasks."""
    gained = gains(studies.gain_by_list(), over=["seed"])
    return charts.heat(
        gained.select(pl.col("setting").cast(pl.Int64), "label", "fit", "middle", "low", "high"),
        "setting",
        "fit",
        "middle",
        panel="label",
        columns=2,
        width=330,
        figures=".0f",
        title="Gain by batching, in pages written",
        words={"setting": "pages in a list", "fit": "next_share", "middle": "gain, %"},
    )


def describe_sleep() -> str:
    """Return how long 8 kswapds of one thread sleep, page by page and batched."""
    cases, fits = studies.by_kswapds((8,)), studies.fits_by_next_share((MIDDLE.next_share,))
    single, batched = (values(each) for each in trials(cases, fits, studies.POLICIES, (1,)))
    return (
        f"Page by page 8 kswapds sleep for {single['idle.kswapd']:.0f} % of the time, batched "
        f"(next_share {MIDDLE.next_share}) for {batched['idle.kswapd']:.0f} %; the thread works "
        f"without a lock for {single['run.writer']:.0f} and {batched['run.writer']:.0f} %."
    )


def describe_searches() -> str:
    """Return how often 32 tasks take si->lock again after a search for a slot, by removals."""
    policies = studies.POLICIES
    runs = [
        ("page by page", 8, {"page by page": policies["page by page"]}),
        ("lists of 4", 4, {"batched": policies["batched"]}),
        ("lists of 8", 8, {"batched": policies["batched"]}),
    ]
    fits = studies.fits_by_next_share((0.1,))
    parts = []
    for words, pages, policy in runs:
        (trial,) = trials(studies.by_list((pages,), (32,)), fits, policy, (1,))
        value = values(trial)
        again = value["acquisitions.si_lock.scan_swap_map_slots"]
        waits = sum(share for name, share in value.items() if name.startswith(_WAITS_FOR_TREE))
        parts.append(f"{words} {again:.2f} times ({waits:.0f} %)")
    return (
        "With 32 tasks and next_share 0.1 a page takes si->lock again after a search (in brackets, "
        f"the share of CPU time in waits for tree_lock): {', '.join(parts)}."
    )


def draw_holds(holds: pl.DataFrame) -> alt.ConcatChart:
    """Draw how long holds and waits are by the length of lists and cost of a further removal."""
    return charts.lines(
        holds.with_columns(pl.col("next_share").cast(pl.String)),
        "list_pages",
        "value",
        "next_share",
        panel="metric",
        log="xy",
        domain=(0.5, 1000),
        width=215,
        height=220,
        title="How long a hold lasts, and how long others wait",
        words={
            "list_pages": "pages in a list",
            "value": "microseconds",
            "next_share": "next_share",
        },
    )


def draw_counts(medians: pl.DataFrame) -> alt.ConcatChart:
    """Draw what a real kernel counts per page that reclaim frees, without the patch and with it."""
    shown = ("pages a batched hold", "si->lock acquisitions", "xa_lock acquisitions")
    return charts.lines(
        medians.filter(pl.col("metric").is_in(shown)).sort("metric", "n_tasks", "policy"),
        *("n_tasks", "median", "policy"),
        title="Linux 6.1 without the patch and with it",
        words={"n_tasks": "tasks", "median": "{}", "policy": "batched removal"},
        panel="metric",
        own_axes=True,
        width=200,
        height=160,
    )


def compare_lab(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the locks of LEDGER, and the length of a hold, with a real kernel's MEDIANS."""
    judged = simulated.filter(pl.col("metric").is_in([*LEDGER, HOLD]))
    return pl.concat(
        rounds.compare_counts(
            judged.filter(n_tasks=tasks), medians.filter(n_tasks=tasks)
        ).with_columns(n_tasks=pl.lit(tasks, dtype=pl.UInt32))
        for tasks in judged["n_tasks"].unique().sort()
    )


def xa_lock_misses(compared: pl.DataFrame) -> pl.DataFrame:
    """Explain the difference of the swap cache's lock in `compare_lab`, in acquisitions per page.

    The machine swaps out each page that joins the swap cache, and removes complete lists. A slot's
    acquisition of the slot cache's mutex counts the pages that joined (``joins``); the lab counts
    holds, which are shorter (``short_holds``). The difference and the rest that both leave are in
    percent of the measured count.
    """
    keys = ["n_tasks", "policy"]
    tree, slots, hold = (
        compared.filter(metric=metric).select(*keys, "measured", "simulated", "verdict")
        for metric in ("xa_lock acquisitions", "slot cache mutex acquisitions", HOLD)
    )
    joins = _OF_A_JOIN * (pl.col("measured_slots") - pl.col("simulated_slots"))
    short_holds = 1 / pl.col("measured_hold") - 1 / pl.col("simulated_hold")
    rest = pl.col("measured") - pl.col("simulated") - pl.col("joins") - pl.col("short_holds")
    return (
        tree.join(slots, on=keys, suffix="_slots")
        .join(hold, on=keys, how="left", suffix="_hold")
        .with_columns(joins=joins, short_holds=short_holds.fill_null(0))
        .with_columns(
            difference_percent=100 * (1 - pl.col("simulated") / pl.col("measured")),
            rest_percent=100 * rest / pl.col("measured"),
        )
        .select(*tree.columns, "joins", "short_holds", "difference_percent", "rest_percent")
        .sort("policy", "n_tasks")
    )
