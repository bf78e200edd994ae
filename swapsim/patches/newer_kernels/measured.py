# SPDX-License-Identifier: GPL-2.0-or-later
"""What stock kernels 6.12 and 7.3 were seen to do: patches A to E by their counts.

The experiments ran under an emulator, so counts are reliable and times are not used, except those
of a guest whose clock counts instructions. A setting of an experiment says whether reclaim had two
LRU lists or generations (MGLRU), what a folio was, and how many CPUs there were.
"""

from typing import Final

import polars as pl

from swapsim.patches.rounds import difference, spread
from swapsim.published import data
from swapsim.study import over, wide

REMOVALS: Final = "removal-lists-newer"
DECISIONS: Final = "stall-rules-generations"
TURNOVER: Final = "large-folios-turnover"
"""Experiments, by the names of their folders in data/measured."""

LEDGERS: Final = {
    "lock-ledger-newer-brd": "pages, 4 CPUs",
    "lock-ledger-newer-brd-64k": "folios of 64 KB, 4 CPUs",
    "lock-ledger-newer-1-cpu": "pages, 1 CPU",
}
"""Experiments with lock statistics, and their guests; the last one's clock counts instructions."""

_TURNS: Final = {"fill": "first writes", "visits": "half reads"}
_RECLAIMERS: Final = ("kswapd", "direct", "cgroup")
_REASONS: Final = {
    "WRITEBACK": "writeback",
    "CONGESTED": "congested",
    "NOPROGRESS": "no progress",
    "ISOLATED": "isolated",
}
"""Reasons of `reclaim_throttle`, which skips a request for congestion or no progress unless more
than half of the reclaimable pages wait to be written."""
_RULES: Final = {
    "passes of reclaim over a node": ("passes",),
    "times a node's state is decided (again if a pass goes on)": ("passes that decide",),
    "passes that begin on a node marked as under writeback": ("passes flagged WRITEBACK",),
    "passes that begin on a node marked as dirty": ("passes flagged DIRTY",),
    "flusher threads woken by reclaim": ("flushers woken",),
    **{
        f"{word}: {words}": (f"{metric} {reason}",)
        for reason, words in _REASONS.items()
        for word, metric in (("asked to sleep", "throttles"), ("slept", "stalls"))
    },
}
"""What patch C's rules do -> the counts whose sum it is."""


def clusters_a_list() -> pl.DataFrame:
    """Return how many clusters a list of reclaim touches as it empties the swap cache."""
    rounds = _removals("lists", "folios removed", "clusters of lists")
    lists, folios, clusters = (pl.col(name) for name in rounds.columns[3:])
    return rounds.group_by("kernel", "setting", maintain_order=True).agg(
        folios_a_list=folios.sum() / lists.sum(),
        clusters_a_list=clusters.sum() / lists.sum(),
        holds_a_folio=clusters.sum() / folios.sum(),
        low=(clusters / folios).min(),
        high=(clusters / folios).max(),
    )


def writeback_a_page() -> pl.DataFrame:
    """Return how often writeback of swap starts and ends per page swapped out."""
    rounds = _removals("writeback starts", "writeback ends")
    starts, ends = (pl.col(name) for name in rounds.columns[3:])
    return rounds.group_by("kernel", "setting", maintain_order=True).agg(
        starts=starts.median(),
        ends=ends.median(),
        acquisitions=(starts + ends).median(),
        low=(starts + ends).min(),
        high=(starts + ends).max(),
    )


def _removals(*metrics: str) -> pl.DataFrame:
    """Return ``kernel, setting, seed`` and a column for each metric of REMOVALS."""
    results = data.measured_results(REMOVALS)
    return wide(results.select("kernel", "seed", "metric", "value", setting="policy"), only=metrics)


def split_folios() -> pl.DataFrame:
    """Return the share of folios that find no run of slots, by size, in percent.

    Four processes replace folios of six sizes on a small device; mean and range of nine rounds.
    """
    results = data.measured_results(TURNOVER).with_columns(
        size=pl.col("metric").str.strip_prefix("fallback share ")
    )
    shares = results.filter(pl.col("metric").str.starts_with("fallback share"))
    found = over(shares.select("kernel", "size", "seed", "value"), stat="mean")
    return found.select("kernel", "size", "low", "high", split="middle")


def rules_that_run() -> pl.DataFrame:
    """Return how often reclaim applies patch C's rules, with two LRU lists and with generations.

    The counts are of kswapd, direct reclaim and a cgroup's reclaim together, per round. On 6.12 the
    decisions include reports of pressure (`vmpressure_prio`), four of a reclaim that frees nothing.
    """
    results = data.measured_results(DECISIONS)
    counted = pl.concat(
        results.filter(
            pl.col("metric").is_in([f"{name} {by}" for name in names for by in _RECLAIMERS])
        )
        .group_by("kernel", "policy", "seed", maintain_order=True)
        .agg(pl.col("value").sum())
        .with_columns(rule=pl.lit(rule))
        for rule, names in _RULES.items()
    )
    found = over(counted)
    sides = [
        found.filter(policy=side).select(
            "kernel",
            "rule",
            pl.col("middle").alias(side),
            *(pl.col(end).alias(f"{side}_{end}") for end in ("low", "high")),
        )
        for side in ("lists", "generations")
    ]
    both = sides[0].join(sides[1], on=["kernel", "rule"], maintain_order="left")
    return both.sort("kernel", maintain_order=True)


def si_lock() -> pl.DataFrame:
    """Return how often a page takes si->lock on 6.12 and 7.3, and how long one hold is.

    ``change`` compares the rounds of both kernels. Lock statistics lengthen a hold by each lock
    taken in it: compare the times' ratio, not their length.
    """
    rows = []
    for name, guest in LEDGERS.items():
        results = data.measured_results(name).select("kernel", "policy", "seed", "metric", "value")
        of_lock = wide(results, only=["si->lock acquisitions", "si->lock hold"])
        taken, held = (pl.col(f"si->lock {what}") for what in ("acquisitions", "hold"))
        figures = {"acquisitions per page": taken}
        if "instruction_ns" in data.measured_provenance(name)["guest"]:
            figures |= {"microseconds per hold": held / taken}
        for what, figure in figures.items():
            for turn, words in _TURNS.items():
                of_turn = of_lock.filter(policy=turn).select("kernel", "seed", value=figure)
                old, new = (
                    of_turn.filter(kernel=kernel).drop("kernel") for kernel in ("6.12", "7.3")
                )
                texts = {kernel: _spread(each) for kernel, each in (("6.12", old), ("7.3", new))}
                change = (difference(old, new) or {})["seen"]
                rows.append(
                    {"run": guest, "turn": words, "figure": what, **texts, "change": change}
                )
    return pl.DataFrame(rows)


def _spread(rounds: pl.DataFrame) -> str:
    middle = over(rounds, interval=True).select("middle", "low", "high")
    return spread(middle.row(0, named=True))
