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
from swapsim.errors import InputError
from swapsim.ffi import GENERATION_RULES
from swapsim.io import write_atomically
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
    yield _table(events, fold="" if len(rows) <= _EVENTS else f"The {len(rows)} tables")
    needed = pl.DataFrame(
        [
            (replay, "yes" if not missing else "no", ", ".join(missing))
            for replay, missing in lacking.items()
        ],
        schema=["replay", "can be fed", "it lacks"],
        orient="row",
    )
    yield _table(needed, fold="Replays, and what the trace lacks for them")


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
    rows = clusters.cluster_rows(folder)
    yield _verdict(clusters.verify_clusters(rows))
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
        yield _table(split)
    yield "<h3>Under other rules</h3>"
    replayed = clusters.replay(rows, samples=_SAMPLES)
    large = replayed.grants.filter((pl.col("order") > 0) & (pl.col("requests") > 0))
    split_by = large.filter(pl.col("fallbacks").sum().over("order") > 0)
    if split_by.is_empty():
        yield _text(f"Of {_requests(large)} for large folios each is granted under all rules.")
    else:
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
    yield _table(replayed.grants, fold="Requests by order")
    yield _table(replayed.work.select(_WORK), fold="Locks and list moves a grant")
    yield _chart(clusters.charts.lists_over_time(replayed.lists, title="Clusters by list"))


def _requests(large: pl.DataFrame) -> str:
    """Return how many requests a trace has, in words; each rule set has the same ones."""
    asked = large.group_by("rules").agg(pl.col("requests").sum())["requests"].max()
    return f"{int(asked or 0):,} requests"  # type: ignore[arg-type]


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
    yield _verdict(generations.verify_generations(rows))
    replayed = generations.replay(rows, GENERATION_RULES, parts=_PARTS)
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
    yield _table(replayed.flips.filter(pl.col("rules") != pl.col("base").cast(pl.String)))
    changed = replayed.switches.filter((pl.col("flips") > 0) | (pl.col("tiers") > 0))
    yield _table(changed, fold="Which rule flips how many choices")


def _tags(folder: Path) -> Blocks:
    sites = mapping.writeback_tags(folder, kernel="4.8")
    yield _text(
        "Acquisitions of the mapping's lock and the work under it, per page written, with "
        "writeback tags in the swap cache and without (rules of 4.8)."
    )
    yield _chart(mapping.charts.work_by_site(mapping.per_page(sites)))
    yield _table(mapping.totals_per_page(sites))


def _removal(folder: Path) -> Blocks:
    yield _text(
        "Acquisitions of the mappings' locks, page by page and one for a mapping of a list."
    )
    yield _table(removal.batched_removal(folder).drop("trace"))


def _slots(folder: Path) -> Blocks:
    try:
        yield _verdict(slots.verify_slots(folder))
    except InputError as error:  # a trace of one's own may not say how its kernel was set up
        yield _text(f"Not compared with the kernel: {error}")
    measured = slots.cluster_next(folder, seeds=_SEEDS)
    means = slots.means(measured, slots.LEADING).drop("factor", "setting")
    yield _text(
        f"The trace's requests under each scan base, means over {_SEEDS} seeds; "
        "'swapsim replay cluster-next' takes more, and its means differ by that."
    )
    yield _chart(
        slots.charts.moves_against_locality(measured, title="Moved lines against locality")
    )
    yield _table(means)
    yield from map(_text, same_rows(means, folder))


def _decisions(folder: Path) -> Blocks:
    decided, rounds = stall.decided_lists(folder), stall.reclaim_rows(folder).rounds
    yield _verdict(stall.verify_stalls(folder))
    yield _text("What each set of rules decides of the trace's lists.")
    yield _table(stall.summed_decisions(decided, rounds, trace=folder.name).drop("trace"))
    yield _table(stall.requested_sleeps(decided, rounds), fold="Sleeps that the rules request")
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
    yield _verdict(stall.verify_sums(folder))
    yield _text(
        "First the rules of this kernel; the others decide for all of memory alone. Open loop: "
        "each state is the trace's own, whatever was decided before."
    )
    yield _table(stall.root_stalls({folder.name: folder}).drop("trace"))


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
    yield _table(summed.sort("reason"))
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


# Parts of the page.


def _listed(words: list[str]) -> str:
    """Return words joined by commas and a last "and"."""
    return ", ".join([*words[:-2], " and ".join(words[-2:])])


def _text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def _verdict(verdict: "Verdict") -> str:
    head = (
        "The model agrees with the kernel"
        if verdict.agrees
        else "The model differs from the kernel"
    )
    lines = "\n".join(map(escape, verdict.describe()))
    return f'<p>{head}, event by event:</p>\n<pre class="printed" tabindex="0">{lines}</pre>'


def _table(frame: pl.DataFrame, *, fold: str = "") -> str:
    html = frames.show(frame, fold=fold)._repr_html_()
    return html if fold else f'<div class="wide" tabindex="0">{html}</div>'


def _chart(chart: "alt.TopLevelMixin") -> str:
    spec = chart.to_dict()
    picture = base64.b64encode(png(spec)).decode()
    return figure({"data": {MIME: spec, "image/png": picture}})
