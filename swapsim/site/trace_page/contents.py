# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trace has in it, and which replays it feeds."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import traces
from swapsim.site.trace_page import blocks
from swapsim.traces.folder import losses

_EVENTS: Final = 12
"""Most tables whose list is shown open in the page; a longer list is folded."""


def section(folder: Path, described: Mapping[str, Any]) -> blocks.Blocks:
    """Yield the size of a trace, its provenance, its tables, and the replays that it feeds."""
    rows, origin, lacking = (described[part] for part in ("rows", "provenance", "replays"))
    feeds = [replay for replay, missing in lacking.items() if not missing]
    kernel = origin.get("kernel", {}).get("release")
    cpus = origin.get("guest", {}).get("cpus")
    whose = f" from Linux {kernel}" * bool(kernel) + f" on {cpus} CPU{'s' * (cpus != 1)}" * bool(
        cpus
    )
    tables = f"{len(rows)} table{'s' * (len(rows) > 1)}"
    yield blocks.text(
        f"{sum(rows.values()):,} rows of {tables}{whose}, {_span(folder, rows)}. "
        f"{_losses(folder)} {_fed(feeds)}"
    )
    yield '<h2 id="what-is-in-it">What is in it</h2>'
    facts = (f"<li>{what}: {escape(value)}</li>" for what, value in _facts(origin))
    yield f"<ul>{''.join(facts)}</ul>"
    events = pl.DataFrame(sorted(rows.items()), schema=["table", "rows"], orient="row")
    fold = "" if len(rows) <= _EVENTS else f"The {len(rows)} tables"
    yield blocks.table(events, {}, fold=fold)
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
    yield blocks.table(needed, words, fold="Replays, and what the trace lacks for them")


def _fed(replays: list[str]) -> str:
    return (
        f"It feeds the replay{'s' * (len(replays) > 1)} {blocks.listed(replays)}."
        if replays
        else ""
    )


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
    """Return what was lost, if that is recorded, and how many events are out of order."""
    origin, found = traces.provenance(folder), losses(folder)
    known = "No event was lost." if "lost" in origin else "It is not recorded if events were lost."
    return f"It is not complete or not in order: {blocks.listed(found)}." if found else known


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
