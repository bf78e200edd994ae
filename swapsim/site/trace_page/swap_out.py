# SPDX-License-Identifier: GPL-2.0-or-later
"""What patches A, B and D would have changed: locks, removals and scan bases."""

from pathlib import Path
from typing import Final

import polars as pl

from swapsim import charts, mapping, removal, slots
from swapsim.errors import InputError
from swapsim.ffi import MAPPING_KERNELS
from swapsim.site.trace_page import blocks
from swapsim.slots.workbench import require_later_requests, same_rows

_KERNEL: Final = MAPPING_KERNELS[-1]
"""Whose rules the replays of A and B follow: the newest, as the recorded kernel's are like them."""

_SEEDS: Final = 5
"""Seeds of a replay of slots; the command takes more."""


def of_tags(folder: Path) -> blocks.Blocks:
    """Yield the acquisitions of the lock for a page, with writeback tags and without."""
    sites = mapping.writeback_tags(folder, kernel=_KERNEL)
    totals = mapping.totals_per_page(sites)
    yield blocks.text(
        "How often is the mapping's lock taken for a page, and how much work is done under it, "
        f"with writeback tags in the swap cache and without (patch A, as 'swapsim replay "
        f"writeback-tags --kernel {_KERNEL}'; the default there is 4.8)? Linux has patch A since "
        "4.9, so the kernel that was recorded keeps no such tags."
    )
    out = totals.filter(flow="swap, written").sort("tags", descending=True)
    if out.height:
        locks, walks = (out[name].to_list() for name in ("acquisitions", "descents"))
        yield blocks.text(
            f"A page that is written to swap takes the lock {locks[-1]:.2f} times, and would take "
            f"it {locks[0]:.2f} times with tags; walks of the tree under it are {walks[-1]:.2f} "
            f"and {walks[0]:.2f}. That is over {out['pages'][0]:,} pages."
        )
        yield blocks.text(
            "How often one such page takes the lock follows from the rules; the trace adds how "
            "many pages take which way, at which steps, and how much of a tree they walk there. "
            "These are counts: the guide's page on a machine of your own simulates times."
        )
    yield from map(blocks.text, (f"{line}." for line in mapping.doubts(sites, folder)))
    yield blocks.chart(mapping.charts.work_by_site(mapping.per_page(sites)))
    yield blocks.table(totals, mapping.tables.LOCK_SITES_PER_PAGE)


def of_removal(folder: Path) -> blocks.Blocks:
    """Yield the acquisitions of removal page by page, and with one hold for a mapping."""
    by_kernel = removal.batched_removal(folder).drop("trace")
    alike = by_kernel.group_by(pl.exclude("kernel"), maintain_order=True)
    removed = alike.agg(pl.col("kernel").str.join(", ")).select(by_kernel.columns)
    yield blocks.text(
        "Reclaim takes pages out of their mappings list by list. How often is a mapping's lock "
        "taken page by page, and how often if one hold removes all pages of a mapping (patch B)?"
    )
    last = removed.row(-1, named=True)
    saved = 100 * (1 - last["batched"] / max(last["page_by_page"], 1))
    yield blocks.text(
        f"One hold for the pages of a mapping takes {last['batched']:,} acquisitions in place of "
        f"{last['page_by_page']:,} for {last['pages']:,} pages, {saved:.0f} % fewer (rules of "
        f"{last['kernel']}); a hold then removes {last['pages_a_hold']:.1f} pages, at most "
        f"{last['longest']:,}."
    )
    variants = {"page_by_page": "page by page", "batched": "one hold a mapping"}
    long = removed.select("kernel", *(pl.col(name) / pl.col("pages") for name in variants)).unpivot(
        index="kernel", variable_name="variant", value_name="a_page"
    )
    yield blocks.chart(
        charts.general.bars(
            long.with_columns(pl.col("variant").replace(variants)),
            "a_page",
            "variant",
            panel="kernel",
            columns=3,
            width=200,
            figures=".2f",
            title="Acquisitions of the mappings' locks for a page",
            subtitle="by the rules of a kernel",
            words={"a_page": "acquisitions a page"},
        )
    )
    yield blocks.table(removed, removal.tables.BATCHED_REMOVAL)


def of_slots(folder: Path) -> blocks.Blocks:
    """Yield how often CPUs meet in a trunk, by the rule of their scan base."""
    measured = slots.cluster_next(folder, seeds=_SEEDS)
    require_later_requests(measured, folder)
    means = slots.means(measured, slots.LEADING).drop("factor", "setting")
    yield blocks.text(
        "Each CPU scans for a free swap slot from a base. Which base keeps CPUs apart (patch D), "
        "so that the lock of a trunk, 64 MB of the swap cache, stays with one CPU?"
    )
    moved = {name: 100 * share for name, share in means.select("policy", _MOVED).iter_rows()}
    least = min(moved, key=moved.__getitem__)
    others = f"; least with {least}, {moved[least]:.0f} %" if least != "shared" else ""
    yield blocks.text(
        f"With one base for all (shared) {moved['shared']:.0f} % of the additions to the swap "
        f"cache fetch the lock's line from another CPU, with the merged rule (percpu-rerandomise) "
        f"{moved['percpu-rerandomise']:.0f} %{others}."
    )
    try:
        yield blocks.verdict(slots.verify_slots(folder))
    except InputError as error:  # a trace of one's own may not say how its kernel was set up
        yield blocks.text(f"Not compared with the kernel: {error}")
    yield blocks.text(
        f"The trace's requests under each scan base, means over {_SEEDS} seeds; "
        "'swapsim replay cluster-next' takes more, and its means differ by that."
    )
    yield blocks.chart(
        slots.charts.moves_against_locality(measured, title="Moved lines against locality")
    )
    known = {name: slots.METRICS[name] for name in slots.LEADING}
    meanings = {name: each.meaning for name, each in known.items()} | _ALONE
    words = {name: f"{meanings[name]}, {each.unit}" for name, each in known.items()}
    yield blocks.table(means, {"policy": "rule by which a CPU gets its base"} | words)
    yield from map(blocks.text, same_rows(means, folder))


_MOVED: Final = "lock.moved.add"


_ALONE: Final = {
    "lock.moved.add": "share of the additions to the swap cache that take a trunk's lock which "
    "another CPU held last",
    "lock.moved.free": "share of the clears of a freed slot's shadow that take a trunk's lock "
    "which another CPU held last",
    "trunk.pairs": "pairs of CPUs whose last slots are in one trunk, the mean over rounds of time",
    "scanned.again": "share of the scanned slots that another CPU had just scanned",
}
"""Meanings that can be read without the metric before, which METRICS has them rest on."""
