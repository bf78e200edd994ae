# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaim decided: type of pages, stalls."""

from itertools import combinations
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import charts, mglru, stall, traces
from swapsim.ffi import MGLRU_RULES, STALL_RULES
from swapsim.mglru import recording
from swapsim.site.trace_page import blocks
from swapsim.stall.recording import reclaim_rows
from swapsim.stall.replay import decided_lists, summed_decisions

_MS: Final = 1000


_PARTS: Final = 20
"""Parts of time of a replay of generations."""


def of_generations(folder: Path) -> blocks.Blocks:
    """Yield what decides the type of pages, and which choices other rules turn."""
    rows = recording.recording(folder)
    replayed = mglru.replay(rows, MGLRU_RULES, parts=_PARTS)
    flips = replayed.flips.filter(pl.col("rules") != pl.col("base").cast(pl.String))
    yield blocks.text(
        "Reclaim of a set of lists (lruvec) begins with anonymous pages or with file pages. What "
        "decided that here, and how many choices would the rules of another kernel turn?"
    )
    decided = replayed.flips.filter(pl.col("rules") == pl.col("base").cast(pl.String))
    by_term = decided.group_by("base_term").agg(pl.col("choices").sum()).sort("base_term")
    listed = [f"{n:,} by {term}" for n, term in by_term.select("choices", "base_term").iter_rows()]
    yield blocks.text(f"The kernel's own choices are decided {blocks.listed(listed)}.")
    for (rules, base), of in flips.group_by("rules", "base", maintain_order=True):
        turned, total = sum(of.filter("flips")["choices"]), sum(of["choices"])
        yield blocks.text(
            f"The rules of {rules} would turn {turned:,} of the {total:,} choices of {base} "
            f"({100 * turned / total:.0f} %)."
        )
    yield blocks.verdict(mglru.verify(rows))
    named = replayed.timeline.with_columns(pl.format("lruvec {}", "lruvec").alias("lruvec"))
    yield blocks.chart(
        charts.lines(
            named,
            "start_s",
            "anon_percent",
            "lruvec",
            title="Choices of anonymous pages",
            words={"start_s": "time (s)", "anon_percent": "choices of anonymous pages (%)"},
        )
    )
    yield "<h3>Under other rules</h3>"
    yield blocks.text("Open loop: each state is the trace's own, whatever was chosen before.")
    seen = pl.when("flips").then(pl.lit("turned")).otherwise(pl.lit("as the kernel's"))
    terms = flips.group_by("rules", "term", seen=seen).agg(pl.col("choices").sum())
    yield blocks.chart(
        charts.bars(
            terms.sort("rules", "term", "seen").with_columns(pl.col("term").cast(pl.String)),
            "choices",
            "term",
            "seen",
            panel="rules",
            title="What decides by the other rules",
            words={"choices": "choices", "seen": "the choice is"},
        )
    )
    yield blocks.table(flips, {}, fold="Choices by both rule sets")
    changed = replayed.switches.filter((pl.col("flips") > 0) | (pl.col("tiers") > 0))
    yield blocks.table(changed, {}, fold="Which rule flips how many choices")


def of_decisions(folder: Path) -> blocks.Blocks:
    """Yield what the rules of each kernel decide after a list of pages."""
    rows = reclaim_rows(folder)
    decided = decided_lists(rows)
    summed = summed_decisions(decided, rows.rounds, trace=folder.name).drop("trace")
    yield blocks.text(
        "Reclaim takes pages list by list; after a list, rules decide whether kswapd may write "
        "file pages from then on (flag tail_lru_dirty), and whether a task sleeps. What would the "
        "rules of other kernels have decided of the same lists (patch C)?"
    )
    counts = {
        row["rules"]: f"after {row['tail_lru_dirty']:,}" for row in summed.iter_rows(named=True)
    }
    yield blocks.text(
        f"By the rules of mmotm, the base of the series, kswapd could have written file pages "
        f"{counts['mmotm']} of {summed['lists'][0]:,} lists, by those of series-2 "
        f"{counts['series-2']}, of the whole series (series-8) {counts['series-8']}, and of 6.1 "
        f"{counts['6.1']}."
    )
    yield blocks.verdict(stall.verify(folder))
    yield blocks.chart(
        charts.heat(
            *(alike(decided), "one", "other", "alike"),
            title=f"Lists of {folder.name} that two rule sets decide alike, %",
            subtitle="the same flags, sleeps and waits; naps are left out",
            words={"alike": "alike, %"},
            domain=(0, 100),
            figures=".1f",
        )
    )
    yield blocks.text("What each set of rules decides of the trace's lists:")
    yield blocks.table(summed, {})
    yield blocks.text(
        "Not recorded by 6.1: whether a device was congested, what pageout would have done with a "
        "page that 6.1 did not write, and what a kernel that slept would have met next."
    )


def alike(decided: pl.DataFrame) -> pl.DataFrame:
    """Return on how many lists (`decided_lists`) two rule sets decide alike, ``one`` the older."""
    acts = pl.col("flags_set") + 8 * pl.col("forced") + 16 * pl.col("waits")
    coded = {
        str(rules): rows["acts"].to_numpy()
        for (rules,), rows in decided.select("rules", acts=acts).group_by("rules")
    }
    pairs = combinations([name for name in STALL_RULES if name in coded], 2)
    shares = [(one, other, 100 * (coded[one] == coded[other]).mean()) for one, other in pairs]
    share = pl.col("alike")
    return pl.DataFrame(shares, schema=["one", "other", "alike"], orient="row").with_columns(
        alike=pl.when(share < 100).then(pl.min_horizontal(share.round(1), 99.9)).otherwise(share)
    )


def of_sums(folder: Path) -> blocks.Blocks:
    """Yield what the rules decide after a pass over a node."""
    stalls = stall.replay(folder).drop("trace")
    yield blocks.text(
        "After a pass over a node reclaim lets its task sleep, or wakes the flushers that write "
        "dirty pages. How often did it here, and would other rules have done so for all of memory?"
    )
    own = stalls.filter(pl.col("rules") == stalls["rules"][0])
    words = [
        f"{row['asked']:,} of {row['passes']:,} passes of {_RECLAIMERS[row['reclaimer']]}"
        for row in own.iter_rows(named=True)
    ]
    yield blocks.text(
        f"By the rules of this kernel a sleep was requested after {blocks.listed(words)}."
    )
    yield blocks.verdict(stall.verify(folder))
    kinds = {
        "asked": "a sleep requested",
        "may_ask": "perhaps a sleep requested",
        "woken": "flushers woken",
        "neither": "neither",
    }
    long = stalls.select(pl.format("{}, {}", "rules", "reclaimer").alias("row"), *kinds).unpivot(
        index="row", variable_name="kind", value_name="passes"
    )
    yield blocks.chart(
        charts.bars(
            long.with_columns(pl.col("kind").replace(kinds)),
            "passes",
            "row",
            "kind",
            title="What the rules decide after a pass",
            words={"passes": "passes over a node", "kind": "after the pass"},
        )
    )
    yield blocks.text(
        "First the rules of this kernel; the others decide for all of memory alone. Open loop: "
        "each state is the trace's own, whatever was decided before."
    )
    yield blocks.table(stalls, {})


_RECLAIMERS: Final = {
    "kswapd": "kswapd",
    "direct": "tasks for all of memory (direct)",
    "cgroup": "tasks for their cgroup",
}


def of_stalls(folder: Path) -> blocks.Blocks:
    """Yield how often, why and how long tasks slept."""
    rows = traces.scan_event(folder, "mm_vmscan_throttled").collect()
    reason = pl.col("reason").str.strip_prefix("VMSCAN_THROTTLE_").str.to_lowercase()
    named = rows.with_columns(reason=reason, delayed_ms=pl.col("usect_delayed") / _MS)
    summed = named.group_by("reason").agg(
        stalls=pl.len(),
        tasks=pl.col("pid").n_unique(),
        total_ms=pl.col("usect_delayed").sum() / _MS,
        longest_ms=pl.col("delayed_ms").max(),
    )
    yield blocks.text("How often, why and how long did tasks sleep in reclaim?")
    longest = max(summed["longest_ms"], default=0.0)
    yield blocks.text(
        f"{rows.height:,} sleeps of {rows['pid'].n_unique():,} tasks took "
        f"{summed['total_ms'].sum() / _MS:,.1f} s together; the longest took {longest:,.0f} ms."
    )
    if rows["t_ns"].null_count() == 0:
        first = rows["t_ns"].min()
        yield blocks.chart(
            charts.points(
                named.with_columns(time_s=(pl.col("t_ns") - first) / 1e9)
                .select("time_s", "delayed_ms", "reason")
                .head(charts.MOST_ROWS),
                "time_s",
                "delayed_ms",
                "reason",
                title="Stalls over time",
                format=",f",
                words={"time_s": "time since the first stall (s)", "delayed_ms": "delay (ms)"},
            )
        )
    yield blocks.table(summed.sort("reason"), _STALLS)


_STALLS: Final = {
    "reason": "reason of the sleep, as mm_vmscan_throttled names it",
    "stalls": "number of sleeps",
    "tasks": "tasks that slept",
    "total_ms": "duration of all these sleeps, ms",
    "longest_ms": "duration of the longest one, ms",
}
