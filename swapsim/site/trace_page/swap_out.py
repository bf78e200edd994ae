# SPDX-License-Identifier: GPL-2.0-or-later
"""What patches A, B and D would have changed: locks, removals and slots."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import charts, mapping, removal, slots
from swapsim.errors import InputError
from swapsim.ffi import MAPPING_KERNELS
from swapsim.site.trace_page import blocks
from swapsim.slots import charts as slots_charts
from swapsim.slots.metrics import LEADING, METRICS
from swapsim.slots.workbench import ranking

_KERNEL: Final = MAPPING_KERNELS[-1]
"""Whose rules the replays of A and B follow: the newest, as the recorded kernel's are like them."""

_SEEDS: Final = 20
"""Seeds of a replay of slots, those of the command."""

_SUBTITLE: Final = "dots are medians, lines their 96 % intervals; ranks compare seed by seed"
_RANKS: Final = {
    "rank": "place, or the places that runs with the same seed allow",
    "policy": "rule for cluster_next",
    "median": "median over the runs",
    "low": "lower end of the median's interval",
    "high": "upper end of it",
    "tied_with": "policies that are neither better nor worse",
}


def of_tags(folder: Path) -> blocks.Blocks:
    """Yield the acquisitions of the lock for a page, with writeback tags and without."""
    sites = mapping.replay(folder, kernels=_KERNEL)
    totals = mapping.totals_per_page(sites)
    yield blocks.text(
        "How often is the mapping's lock taken for a page, and how much work is done under it, "
        f"with writeback tags in the swap cache and without (patch A, as 'swapsim replay "
        f"mapping --kernel {_KERNEL}'; the default there is 4.8)? Linux has patch A since "
        "4.9, so the kernel that was recorded keeps no such tags."
    )
    out = totals.filter(flow="swap, written").sort("tags", descending=True)
    if out.height:
        locks, walks = (out[name].to_list() for name in ("acquisitions", "tree_walks"))
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
    yield blocks.chart(mapping.chart(sites))
    yield blocks.table(totals, mapping.LOCK_SITES_PER_PAGE)


def of_removal(folder: Path) -> blocks.Blocks:
    """Yield the acquisitions of removal page by page, and with one hold for a mapping."""
    by_kernel = removal.replay(folder).drop("trace")
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
        charts.bars(
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
    yield blocks.table(removed, removal.BATCHED_REMOVAL)


def of_slots(folder: Path) -> blocks.Blocks:
    """Yield how often CPUs meet in a trunk, by the rule of their cluster_next."""
    measured = slots.replay(folder, seeds=_SEEDS)
    valued = set(measured.drop_nulls("value")["metric"])
    ranks = {name: ranking(measured, name) for name in LEADING if name in valued}
    yield blocks.text(
        "Each CPU scans for a free swap slot from cluster_next. Which rule keeps CPUs apart (patch "
        "D), so that the lock of a trunk, 64 MB of the swap cache, stays with one CPU?"
    )
    yield from map(blocks.text, _moved(ranks[_MOVED]) if _MOVED in ranks else ())
    try:
        yield blocks.verdict(slots.verify(folder))
    except InputError as error:  # a trace of one's own may not say how its kernel was set up
        yield blocks.text(f"Not compared with the kernel: {error}")
    yield blocks.text(
        f"The trace's requests under each rule, as 'swapsim replay slots': medians "
        f"over {_SEEDS} seeds, and their 96 % intervals. Ranks compare rules "
        "seed by seed, so the intervals of two that are not tied may overlap."
    )
    yield blocks.chart(
        slots_charts.moves_against_locality(
            measured, title="Cache-line transfers against locality", subtitle=_SUBTITLE
        )
    )
    for metric, of in ranks.items():
        figure = METRICS[metric]
        head = f"{metric}: {figure.meaning} ({figure.unit}, {figure.better} is better)"
        yield blocks.table(of.select(*_RANKS), _RANKS, fold="" if metric == _MOVED else head)


def _moved(ranking: pl.DataFrame) -> list[str]:
    """Return in words how often the rules of the ranking move a lock's line."""
    rows = {row["policy"]: row for row in ranking.iter_rows(named=True)}
    shared, merged = rows["shared"], rows[_MERGED]
    better = [name for name, row in rows.items() if _MERGED in row["better_than"]]
    lists = {"better": merged["better_than"], "tied": merged["tied_with"]}
    than_shared = next((word for word, names in lists.items() if "shared" in names), "worse")
    best = [f"{name}, {_percent(rows[name])}" for name in better]
    tied = merged["tied_with"]
    return [
        f"With one base for all (shared) {_percent(shared)} of the additions to the swap cache "
        f"fetch the lock's line from another CPU, with the merged rule ({_MERGED}) "
        f"{_percent(merged)}, which is {than_shared}.",
        f"Better than the merged rule: {blocks.listed(best) if best else 'none'}. Tied with it: "
        f"{blocks.listed(tied) if tied else 'none'}.",
    ]


def _percent(row: Mapping[str, Any]) -> str:
    """Return a share's median and its interval, in percent."""
    median, low, high = (100 * row[name] for name in ("median", "low", "high"))
    return f"{median:.1f} % ({low:.1f} to {high:.1f})"


_MERGED: Final = "percpu-rerandomise"


_MOVED: Final = "lock.moved.add"
