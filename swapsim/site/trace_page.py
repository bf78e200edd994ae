# SPDX-License-Identifier: GPL-2.0-or-later
"""One page for a trace, to be sent by mail: its contents, its replays, what other rules would do.

The page is complete in one file: style, script and pictures are in it, and it loads nothing else.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from swapsim import charts, clusters, frames, generations, mapping, removal, slots, stall, traces
from swapsim.charts.theme import MIME, png
from swapsim.checks import checked
from swapsim.clusters.events import opened
from swapsim.errors import InputError
from swapsim.ffi import GENERATION_RULES
from swapsim.frames.table import RATIO, Column, Table, unit_in_name
from swapsim.io import write_atomically
from swapsim.patches import stall_decisions
from swapsim.progress import TextBar
from swapsim.site.report import shell
from swapsim.site.report.cells import figure
from swapsim.slots.workbench import same_rows
from swapsim.traces.losses import losses

if TYPE_CHECKING:
    import altair as alt

from swapsim.traces.verification import Verdict

_SAMPLES: Final = 100
"""Moments at which a device and its lists are shown."""

_SEEDS: Final = 5
"""Seeds of a replay of slots; the command takes more."""

_PARTS: Final = 20
"""Parts of time of a replay of generations."""

_EVENTS: Final = 12
"""Most tables whose list is shown open in the page; a longer list is folded."""

_MS: Final = 1000

Blocks = Iterator[str]
_Section = Callable[[Path], Blocks]


@checked
def write_trace_page(trace: Path | str, output: Path, *, progress: bool = False) -> Path:
    """Write the page of a trace folder, or of a shipped trace, and return its path.

    A replay that the trace feeds but that refuses its rows has its error in place of its figures.
    """
    if output.suffix != ".html":
        raise InputError("is no name of a page: give it the suffix .html", path=output)
    if not output.parent.is_dir():
        raise InputError("its folder does not exist: create it first", path=output)
    folder = traces.locate(trace)
    described = traces.described(folder)
    body = [*_contents(folder, described)]
    sections = [*_sections(folder, described)]
    total = len(sections) + 1
    with TextBar(total=total, desc="page", unit=" parts", disable=not progress) as bar:
        for title, section in sections:
            bar.set_postfix_str(title)
            body += _section(title, section, folder)
            bar.update()
        bar.set_postfix_str("Script of the charts")
        page = shell.fill(
            "trace",
            title=f"Trace {folder.name}",
            body="\n".join(body),
            style=shell.style(),
            script=shell.bundle(),
            made=shell.provenance(),
        )
        bar.update()
    write_atomically(output, page.encode())
    return output


def _sections(folder: Path, described: Mapping[str, Any]) -> Iterator[tuple[str, _Section]]:
    """Yield the heading of each section that a trace can have, and what computes it."""
    for replay, section in _SECTIONS.items():
        if not described["replays"][replay]:
            yield section
    if stall.is_of_sums(folder):
        yield "Decisions to stall, for cgroups and for all of memory", _sums
    if "mm_vmscan_throttled" in described["rows"]:
        yield "Stalls of reclaim", _stalls


def _section(title: str, section: _Section, folder: Path) -> Blocks:
    yield f'<h2 id="{shell.heading_name(title)}">{escape(title)}</h2>'
    try:
        yield from list(section(folder))
    except InputError as error:
        yield _text(f"Not computed: {error}")


# What is in it.


def _contents(folder: Path, described: Mapping[str, Any]) -> Blocks:
    rows, origin, lacking = (described[part] for part in ("rows", "provenance", "replays"))
    feeds = [replay for replay, missing in lacking.items() if not missing]
    kernel = origin.get("kernel", {}).get("release")
    cpus = origin.get("guest", {}).get("cpus")
    whose = f" from Linux {kernel}" * bool(kernel) + f" on {cpus} CPU{'s' * (cpus != 1)}" * bool(
        cpus
    )
    tables = f"{len(rows)} table{'s' * (len(rows) > 1)}"
    yield _text(
        f"{sum(rows.values()):,} rows of {tables}{whose}, {_span(folder, rows)}. "
        f"{_losses(folder)} {_fed(feeds)}"
    )
    yield '<h2 id="what-is-in-it">What is in it</h2>'
    facts = (f"<li>{what}: {escape(value)}</li>" for what, value in _facts(origin))
    yield f"<ul>{''.join(facts)}</ul>"
    events = pl.DataFrame(sorted(rows.items()), schema=["table", "rows"], orient="row")
    fold = "" if len(rows) <= _EVENTS else f"The {len(rows)} tables"
    yield _table(events, {}, fold=fold)
    needed = pl.DataFrame(
        [
            (replay, "yes" if not missing else "no", ", ".join(missing))
            for replay, missing in lacking.items()
        ],
        schema=["replay", "can be fed", "it lacks"],
        orient="row",
    )
    words = {
        "replay": "verb of swapsim replay",
        "can be fed": "whether the trace has what it needs",
        "it lacks": "events, tables or settings that are missing",
    }
    yield _table(needed, words, fold="Replays, and what the trace lacks for them")


def _fed(replays: list[str]) -> str:
    return f"It feeds the replay{'s' * (len(replays) > 1)} {_listed(replays)}." if replays else ""


def _span(folder: Path, rows: Mapping[str, int]) -> str:
    """Return the length of a recording in words."""
    ends = []
    for event in rows:
        table = traces.scan_event(folder, event)
        if table.collect_schema().get("t_ns") == pl.Int64:
            ends.append(table.select(low=pl.col("t_ns").min(), high=pl.col("t_ns").max()).collect())
    known = pl.concat(ends).drop_nulls() if ends else pl.DataFrame()
    if known.is_empty():
        return "by a clock that counts events"
    seconds = (known["high"].max() - known["low"].min()) / 1e9  # type: ignore[operator]
    return f"{seconds:,.1f} s long"


def _losses(folder: Path) -> str:
    found = losses(folder)
    return f"It is not complete: {_listed(found)}." if found else "No event was lost."


_FACTS: Final = (
    ("recorded as", ("text", "name")),
    ("format", ("text", "format")),
    ("sha256", ("text", "sha256")),
    ("the kernel's command line", ("kernel", "command_line")),
    ("workload", ("workload", "title")),
    ("memory, MiB", ("guest", "memory_mebibytes")),
    ("clock", ("recording", "clock")),
    ("recorded on", ("capture", "date")),
    ("imported by swapsim", ("import", "swapsim")),
)
"""Facts of trace.toml, by table and key; a trace of one's own has few."""


def _facts(origin: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for what, (table, key) in _FACTS:
        value = origin.get(table, {}).get(key)
        if value not in (None, ""):
            yield what, str(value)


# What its replays count.


def _clusters(folder: Path) -> Blocks:
    with opened(folder) as rows:
        yield from _of_clusters(rows)


def _of_clusters(rows: clusters.ClusterRows) -> Blocks:
    yield _text(
        "A swap device is divided into clusters of slots, and a large folio needs adjacent slots "
        "of one cluster, or it is split. Were folios split, and would the rules of other kernels "
        "have split more of the same requests?"
    )
    replayed = clusters.replay(rows, samples=_SAMPLES)
    large = replayed.grants.filter((pl.col("order") > 0) & (pl.col("requests") > 0))
    yield _text(_split_by_kernel(large))
    verdict = clusters.verify_clusters(rows)
    yield _verdict(verdict)
    use = _use(rows)
    yield _chart(
        charts.general.lines(
            use,
            "seq",
            "used_percent",
            "device",
            title="The device over time",
            words={"seq": "row of the trace", "used_percent": "slots in use (%)"},
            domain=(0, 100),
        )
    )
    split = _split(rows)
    if split.is_empty():
        yield _text("Each request for more than one page was granted: no large folio was split.")
    else:
        yield _text(
            "Large folios that were split, by what the devices had that were tried for them:"
        )
        yield _table(split, _SPLIT)
    yield "<h3>Under other rules</h3>"
    yield _text(
        "Each set of rules is given the trace's requests and frees, and chooses slots of its own, "
        "as do those of the kernel itself here. Calls do not overlap, and no slot that only the "
        "swap cache holds is freed for them; so figures of the kernel's own rules may differ from "
        f"what the kernel did. {_split_by_rules(large)}"
    )
    split_by = large.filter(pl.col("fallbacks").sum().over("order") > 0)
    if split_by.height:
        yield _chart(
            charts.general.bars(
                split_by.with_columns(order=pl.format("order {}", "order")),
                "fallback_percent",
                "rules",
                panel="order",
                columns=3,
                width=200,
                domain=(0, 100),
                title="Large folios split, of the same requests",
                words={"fallback_percent": "split (%)"},
            )
        )
    yield _table(replayed.grants, clusters.tables.CLUSTER_GRANTS, fold="Requests by order")
    work = replayed.work.select(_WORK)
    yield _table(work, clusters.tables.CLUSTER_WORK, fold="Locks and list moves a grant")
    yield _chart(clusters.charts.lists_over_time(replayed.lists, title="Clusters by list"))


def _split_by_kernel(large: pl.DataFrame) -> str:
    """Return how many requests for large folios the kernel refused; each rule set has them all."""
    of_one = large.filter(pl.col("rules") == pl.col("rules").first())
    asked, granted = int(of_one["requests"].sum()), int(of_one["in_trace"].sum())
    return f"The kernel split {asked - granted:,} of {asked:,} large folios."


def _split_by_rules(large: pl.DataFrame) -> str:
    """Return how many requests for large folios each rule set refuses; all have the same ones."""
    summed = large.group_by("rules").agg(pl.col("requests", "fallbacks").sum()).sort("rules")
    asked = f"Of {int(summed['requests'].max() or 0):,} requests for large folios"  # type: ignore[arg-type]
    if not summed["fallbacks"].sum():
        return f"{asked} each is granted under all rules."
    refused = summed.select("fallbacks", "rules").iter_rows()
    return f"{asked} {_listed([f'{n:,} are split by the rules of {name}' for n, name in refused])}."


_SPLIT: Final = {
    "order": "log2 of the pages of a folio",
    "reason": "why it was split, by the devices that were tried",
    "folios": "folios that were split",
    "median_free_slots": "slots free on these devices, the median over the folios",
}

_WORK: Final = (
    *("rules", "grants", "visits_a_grant", "moves_a_grant", "si_lock_a_grant"),
    *("cluster_lock_a_grant", "avail_lock_a_grant", "in_sequence_percent", "mixed_percent"),
)


def _in_use(rows: clusters.ClusterRows) -> pl.DataFrame:
    """Return each change of the slots in use of a device."""
    sign = pl.when(op="grant").then(1).when(op="free").then(-1)
    changed = rows.events.select("seq", "device", change=sign * pl.col("n").cast(pl.Int64))
    return changed.drop_nulls("change").with_columns(used=pl.col("change").cum_sum().over("device"))


def _use(rows: clusters.ClusterRows) -> pl.DataFrame:
    """Return at some moments how many percent of a device's slots are in use."""
    last = rows.events["seq"].max()
    step = max(int(last) // _SAMPLES, 1)  # type: ignore[arg-type]
    return (
        _in_use(rows)
        .join(rows.devices.select("device", "slots"), on="device")
        .group_by("device", moment=pl.col("seq") // step, maintain_order=True)
        .agg(pl.col("seq", "used", "slots").last())
        .select(
            pl.format("device {}", "device").alias("device"),
            "seq",
            used_percent=100 * pl.col("used") / pl.col("slots"),
        )
        .sort("device", "seq")
    )


def _split(rows: clusters.ClusterRows) -> pl.DataFrame:
    """Return the requests for several slots that were refused, by order and reason.

    The reason is computed from the slots that were free, when the call ended, on the devices that
    it tried: those that it turned to, or whose clusters it looked at.
    """
    numbered = rows.events.with_columns(call=(pl.col("op") == "call").cum_sum().over("pid"))
    tried = pl.col("device").filter(pl.col("op").is_in(["turn", "pick", "visit"])).unique()
    refused = (
        numbered.group_by("pid", "call", maintain_order=True)
        .agg(
            order=pl.col("order").filter(op="call").first(),
            got=pl.col("n").filter(op="done").first(),
            seq=pl.col("seq").filter(op="done").first(),
            device=tried,
        )
        .filter((pl.col("got") == 0) & (pl.col("order") > 0))
    )
    # The first slot of a device is its header.
    devices = rows.devices.select("device", "file", usable=pl.col("slots").cast(pl.Int64) - 1)
    free = (
        refused.explode("device")
        .sort("seq")
        .join_asof(
            _in_use(rows).select("seq", "device", "used"),
            on="seq",
            by="device",
            check_sortedness=False,
        )
        .join(devices, on="device", how="left")
        .group_by("seq", "order")
        .agg(
            free=(pl.col("usable") - pl.col("used").fill_null(0)).sum(),
            file=pl.col("file").all() & pl.col("file").count().gt(0),
            tried=pl.col("device").count(),
        )
    )
    reason = (
        pl.when(tried=0)
        .then(pl.lit("no device was tried"))
        .when("file")
        .then(pl.lit("a swap file, which has no large folios"))
        .when(pl.col("free") < 2 ** pl.col("order").cast(pl.Int64))
        .then(pl.lit("fewer slots free than the folio has pages"))
        .otherwise(pl.lit("slots free, but no cluster for this order"))
    )
    return (
        free.group_by("order", reason=reason)
        .agg(folios=pl.len(), median_free_slots=pl.col("free").median())
        .sort("order", "reason")
    )


def _generations(folder: Path) -> Blocks:
    rows = generations.generation_rows(folder)
    replayed = generations.replay(rows, GENERATION_RULES, parts=_PARTS)
    flips = replayed.flips.filter(pl.col("rules") != pl.col("base").cast(pl.String))
    yield _text(
        "Reclaim of a set of lists (lruvec) begins with anonymous pages or with file pages. What "
        "decided that here, and how many choices would the rules of another kernel turn?"
    )
    decided = replayed.flips.filter(pl.col("rules") == pl.col("base").cast(pl.String))
    by_term = decided.group_by("base_term").agg(pl.col("choices").sum()).sort("base_term")
    listed = [f"{n:,} by {term}" for n, term in by_term.select("choices", "base_term").iter_rows()]
    yield _text(f"The kernel's own choices are decided {_listed(listed)}.")
    for (rules, base), of in flips.group_by("rules", "base", maintain_order=True):
        turned, total = sum(of.filter("flips")["choices"]), sum(of["choices"])
        yield _text(
            f"The rules of {rules} would turn {turned:,} of the {total:,} choices of {base} "
            f"({100 * turned / total:.0f} %)."
        )
    yield _verdict(generations.verify_generations(rows))
    named = replayed.timeline.with_columns(pl.format("lruvec {}", "lruvec").alias("lruvec"))
    yield _chart(
        charts.general.lines(
            named,
            "start_s",
            "anon_percent",
            "lruvec",
            title="Choices of anonymous pages",
            words={"start_s": "time (s)", "anon_percent": "choices of anonymous pages (%)"},
        )
    )
    yield "<h3>Under other rules</h3>"
    yield _text("Open loop: each state is the trace's own, whatever was chosen before.")
    seen = pl.when("flips").then(pl.lit("turned")).otherwise(pl.lit("as the kernel's"))
    terms = flips.group_by("rules", "term", seen=seen).agg(pl.col("choices").sum())
    yield _chart(
        charts.general.bars(
            terms.sort("rules", "term", "seen").with_columns(pl.col("term").cast(pl.String)),
            "choices",
            "term",
            "seen",
            panel="rules",
            title="What decides by the other rules",
            words={"choices": "choices", "seen": "the choice is"},
        )
    )
    yield _table(flips, generations.tables.GENERATION_FLIPS, fold="Choices by both rule sets")
    changed = replayed.switches.filter((pl.col("flips") > 0) | (pl.col("tiers") > 0))
    switched = generations.tables.GENERATION_SWITCHED
    yield _table(changed, switched, fold="Which rule flips how many choices")


def _tags(folder: Path) -> Blocks:
    sites = mapping.writeback_tags(folder, kernel="4.8")
    totals = mapping.totals_per_page(sites)
    yield _text(
        "How often is the mapping's lock taken for a page, and how much work is done under it, "
        "with writeback tags in the swap cache and without (patch A, rules of 4.8)?"
    )
    out = totals.filter(flow="swap, written").sort("tags", descending=True)
    if out.height:
        locks, walks = (out[name].to_list() for name in ("acquisitions", "descents"))
        yield _text(
            f"A page that is written to swap takes the lock {locks[0]:.2f} times with tags and "
            f"{locks[-1]:.2f} times without; walks of the tree under it fall from {walks[0]:.2f} "
            f"to {walks[-1]:.2f}. That is over {out['pages'][0]:,} pages."
        )
        yield _text(
            "How often one such page takes the lock follows from the rules; the trace adds how "
            "many pages take which way, at which steps, and how much of a tree they walk there. "
            "These are counts: the guide's page on a machine of your own simulates times."
        )
    yield _chart(mapping.charts.work_by_site(mapping.per_page(sites)))
    yield _table(totals, mapping.tables.LOCK_SITES_PER_PAGE)


def _removal(folder: Path) -> Blocks:
    removed = removal.batched_removal(folder).drop("trace")
    yield _text(
        "Reclaim takes pages out of their mappings list by list. How often is a mapping's lock "
        "taken page by page, and how often if one hold removes all pages of a mapping (patch B)?"
    )
    last = removed.row(-1, named=True)
    saved = 100 * (1 - last["batched"] / max(last["page_by_page"], 1))
    yield _text(
        f"One hold for the pages of a mapping takes {last['batched']:,} acquisitions in place of "
        f"{last['page_by_page']:,} for {last['pages']:,} pages, {saved:.0f} % fewer (rules of "
        f"{last['kernel']}); a hold then removes {last['pages_a_hold']:.1f} pages, at most "
        f"{last['longest']:,}."
    )
    variants = {"page_by_page": "page by page", "batched": "one hold a mapping"}
    long = removed.select("kernel", *(pl.col(name) / pl.col("pages") for name in variants)).unpivot(
        index="kernel", variable_name="variant", value_name="a_page"
    )
    yield _chart(
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
    yield _table(removed, removal.tables.BATCHED_REMOVAL)


def _slots(folder: Path) -> Blocks:
    measured = slots.cluster_next(folder, seeds=_SEEDS)
    means = slots.means(measured, slots.LEADING).drop("factor", "setting")
    yield _text(
        "Each CPU scans for a free swap slot from a base. Which base keeps CPUs apart (patch D), "
        "so that the lock of a trunk, 64 MB of the swap cache, stays with one CPU?"
    )
    moved = {name: 100 * share for name, share in means.select("policy", _MOVED).iter_rows()}
    least = min(moved, key=moved.__getitem__)
    others = f"; least with {least}, {moved[least]:.0f} %" if least != "shared" else ""
    yield _text(
        f"With one base for all (shared) {moved['shared']:.0f} % of the additions to the swap "
        f"cache fetch the lock's line from another CPU, with the merged rule (percpu-rerandomise) "
        f"{moved['percpu-rerandomise']:.0f} %{others}."
    )
    try:
        yield _verdict(slots.verify_slots(folder))
    except InputError as error:  # a trace of one's own may not say how its kernel was set up
        yield _text(f"Not compared with the kernel: {error}")
    yield _text(
        f"The trace's requests under each scan base, means over {_SEEDS} seeds; "
        "'swapsim replay cluster-next' takes more, and its means differ by that."
    )
    yield _chart(
        slots.charts.moves_against_locality(measured, title="Moved lines against locality")
    )
    known = {name: slots.METRICS[name] for name in slots.LEADING}
    meanings = {name: each.meaning for name, each in known.items()} | _ALONE
    words = {name: f"{meanings[name]}, {each.unit}" for name, each in known.items()}
    yield _table(means, {"policy": "rule by which a CPU gets its base"} | words)
    yield from map(_text, same_rows(means, folder))


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


def _decisions(folder: Path) -> Blocks:
    decided, rounds = stall.decided_lists(folder), stall.reclaim_rows(folder).rounds
    summed = stall.summed_decisions(decided, rounds, trace=folder.name).drop("trace")
    yield _text(
        "Reclaim takes pages list by list; after a list, rules decide whether kswapd may write "
        "file pages from then on (flag tail_lru_dirty), and whether a task sleeps. What would the "
        "rules of other kernels have decided of the same lists (patch C)?"
    )
    counts = {
        row["rules"]: f"after {row['tail_lru_dirty']:,}" for row in summed.iter_rows(named=True)
    }
    yield _text(
        f"By the rules of mmotm, the base of the series, kswapd could have written file pages "
        f"{counts['mmotm']} of {summed['lists'][0]:,} lists, by those of series-2 "
        f"{counts['series-2']}, of the whole series (series-8) {counts['series-8']}, and of 6.1 "
        f"{counts['6.1']}."
    )
    yield _verdict(stall.verify_stalls(folder))
    yield _chart(stall_decisions.charts.agreement(stall_decisions.agreement(decided), folder.name))
    yield _text("What each set of rules decides of the trace's lists:")
    yield _table(summed, stall.tables.STALL_DECISIONS)
    requested = stall.requested_sleeps(decided, rounds)
    yield _table(requested, stall.tables.REQUESTED_SLEEPS, fold="Sleeps that the rules request")
    yield _text(f"Not recorded by 6.1: {'; '.join(stall.NOT_RECORDED)}.")


_SECTIONS: Final[Mapping[str, tuple[str, _Section]]] = {
    "clusters": ("Clusters of swap slots", _clusters),
    "generations": ("Choices of reclaim with generations", _generations),
    "writeback-tags": ("Lock acquisitions with tags and without", _tags),
    "batched-removal": ("Removals one by one and in lists", _removal),
    "cluster-next": ("Swap slots under other scan bases", _slots),
    "stall-decisions": ("Decisions to stall under other rules", _decisions),
}
"""Replay -> the heading and the blocks of its section."""


def _sums(folder: Path) -> Blocks:
    stalls = stall.root_stalls({folder.name: folder}).drop("trace")
    yield _text(
        "After a pass over a node reclaim lets its task sleep, or wakes the flushers that write "
        "dirty pages. How often did it here, and would other rules have done so for all of memory?"
    )
    own = stalls.filter(pl.col("rules") == stalls["rules"][0])
    words = [
        f"{row['stalled']:,} of {row['passes']:,} passes of {_RECLAIMERS[row['reclaimer']]}"
        for row in own.iter_rows(named=True)
    ]
    yield _text(f"By the rules of this kernel a sleep was requested after {_listed(words)}.")
    yield _verdict(stall.verify_sums(folder))
    kinds = {
        "stalled": "a sleep requested",
        "may_stall": "perhaps a sleep",
        "woken": "flushers woken",
        "neither": "neither",
    }
    long = stalls.select(pl.format("{}, {}", "rules", "reclaimer").alias("row"), *kinds).unpivot(
        index="row", variable_name="kind", value_name="passes"
    )
    yield _chart(
        charts.general.bars(
            long.with_columns(pl.col("kind").replace(kinds)),
            "passes",
            "row",
            "kind",
            title="What the rules decide after a pass",
            words={"passes": "passes over a node", "kind": "after the pass"},
        )
    )
    yield _text(
        "First the rules of this kernel; the others decide for all of memory alone. Open loop: "
        "each state is the trace's own, whatever was decided before."
    )
    yield _table(stalls, stall.tables.ROOT_STALLS)


_RECLAIMERS: Final = {
    "kswapd": "kswapd",
    "direct": "tasks for all of memory (direct)",
    "cgroup": "tasks for their cgroup",
}


def _stalls(folder: Path) -> Blocks:
    rows = traces.scan_event(folder, "mm_vmscan_throttled").collect()
    reason = pl.col("reason").str.strip_prefix("VMSCAN_THROTTLE_").str.to_lowercase()
    named = rows.with_columns(reason=reason, delayed_ms=pl.col("usect_delayed") / _MS)
    summed = named.group_by("reason").agg(
        stalls=pl.len(),
        tasks=pl.col("pid").n_unique(),
        total_ms=pl.col("usect_delayed").sum() / _MS,
        longest_ms=pl.col("delayed_ms").max(),
    )
    yield _text("How often, why and how long did tasks sleep in reclaim?")
    longest = max(summed["longest_ms"], default=0.0)
    yield _text(
        f"{rows.height:,} sleeps of {rows['pid'].n_unique():,} tasks took "
        f"{summed['total_ms'].sum() / _MS:,.1f} s together; the longest took {longest:,.0f} ms."
    )
    if rows["t_ns"].null_count() == 0:
        first = rows["t_ns"].min()
        yield _chart(
            charts.general.points(
                named.with_columns(time_s=(pl.col("t_ns") - first) / 1e9)
                .select("time_s", "delayed_ms", "reason")
                .head(charts.general.MOST_ROWS),
                "time_s",
                "delayed_ms",
                "reason",
                title="Stalls over time",
                format=",f",
                words={"time_s": "time since the first stall (s)", "delayed_ms": "delay (ms)"},
            )
        )
    yield _table(summed.sort("reason"), _STALLS)


_STALLS: Final = {
    "reason": "reason of the sleep, as mm_vmscan_throttled names it",
    "stalls": "number of sleeps",
    "tasks": "tasks that slept",
    "total_ms": "duration of all these sleeps, ms",
    "longest_ms": "duration of the longest one, ms",
}


# Parts of the page.


def _listed(words: list[str]) -> str:
    """Return words joined by commas and a last "and"."""
    return ", ".join([*words[:-2], " and ".join(words[-2:])])


def _text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def _verdict(verdict: "Verdict") -> str:
    compared = {kind: count for kind, count in verdict.counts.items() if count[1]}
    if verdict.agrees:
        named = [f"{n:,} {_KINDS.get(kind, kind)}" for kind, (_, n) in compared.items()]
        head = f"The model agrees with the kernel in all that was compared: {_listed(named)}"
    else:
        named = [
            f"{equal:,} of {n:,} {_KINDS.get(kind, kind)}" for kind, (equal, n) in compared.items()
        ]
        head = f"The model differs from the kernel; equal are {_listed(named)}"
    lines = "\n".join(map(escape, verdict.describe()))
    return f'<p>{head}.</p>\n<pre class="printed" tabindex="0">{lines}</pre>'


_KINDS: Final = {
    "moves": "list moves",
    "picks": "picks from lists",
    "turns": "turns of devices",
    "types": "choices of a type of pages",
    "tiers": "choices of a tier",
    "agings": "decisions to age",
    "sizes": "scan sizes",
}
"""What a verification compares, where its kind's name is not enough."""


def _table(frame: pl.DataFrame, meanings: Table | Mapping[str, str], *, fold: str = "") -> str:
    """Return a table with a folded list of what its columns mean, both in a fold if it has one."""
    if isinstance(meanings, Table):
        meanings = {column.name: _meaning(column) for column in meanings.columns}
    shown = frames.show(frame)._repr_html_()
    entries = "".join(
        f"<dt><code>{escape(name)}</code></dt><dd>{escape(meanings[name])}</dd>"
        for name in frame.columns
        if meanings
    )
    table = f'<div class="wide" tabindex="0">{shown}</div>'
    listed = (
        f'<details class="fold"><summary>{_COLUMNS}</summary><dl>{entries}</dl></details>'
        if meanings
        else ""
    )
    if not fold:
        return f"{table}{listed}"
    return f'<details class="fold"><summary>{escape(fold)}</summary>{table}{listed}</details>'


_COLUMNS: Final = "What the columns mean"


def _meaning(column: Column) -> str:
    unit = column.head or unit_in_name(column.name)
    return f"{column.meaning}, {unit}" if unit not in ("", RATIO) else column.meaning


def _chart(chart: "alt.TopLevelMixin") -> str:
    spec = chart.to_dict()
    picture = base64.b64encode(png(spec)).decode()
    return figure({"data": {MIME: spec, "image/png": picture}})
