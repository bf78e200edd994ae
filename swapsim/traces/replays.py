# SPDX-License-Identifier: GPL-2.0-or-later
"""The subjects that a trace can feed, what it lacks for one, and the traces of the laboratory."""

from collections.abc import Iterable, Iterator, Mapping
from os import fspath
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError, nearest, suggestion
from swapsim.tables import Column, Table
from swapsim.traces.folder import (
    FILES,
    PROVENANCE,
    REPLAYS,
    Trace,
    event_names,
    events,
    fed_by,
    locate,
    missing_events,
    provenance,
    scan_event,
)

SHIPPED_TRACES: Final = Table(
    "SHIPPED_TRACES",
    "One row per trace that comes with the laboratory, in order of name.",
    Column("trace", pl.String, "name of the trace, which stands for its folder"),
    Column("kernel", pl.String, "release of the kernel"),
    Column("cpus", pl.UInt32, "CPUs of its machine"),
    Column("rows", pl.UInt64, "events recorded"),
    Column("replays", pl.List(pl.String), "replays, or a verification, that it can feed"),
)

_DELETED: Final = "mm_filemap_delete_from_page_cache"

SUMS_TABLES: Final = ("stall_lists", "stall_passes")
"""What a trace of a stock 7.3's stalls has; it feeds no replay, but `swapsim verify stall`."""

_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "mapping": {
        "swp_add": "folio entry",
        "swp_del": "folio entry",
        "swp_free": "entry",
        "wb_start": "folio",
        "wb_end": "folio",
        "folio_move": "mapping new old",
        "mm_filemap_add_to_page_cache": "dev ino pfn ofs",
        _DELETED: "dev ino pfn ofs",
        "writeback_dirty_folio": "bdi ino index",
    },
    "removal": {
        "mm_vmscan_lru_isolate": "lru",
        "mm_vmscan_lru_shrink_inactive": "nr_reclaimed",
        "swp_del": "entry",
        _DELETED: "dev ino ofs",
    },
}
"""Replay -> event that it reads if the trace has it -> its fields. Tables that an import makes of
several events are complete."""

_OTHER_NAMES: Final = (
    {"mapping", "writeback-tags", "tags", "a"},
    {"removal", "batched-removal", "b"},
    {"stall", "stall-decisions", "stalls", "c"},
    {"slots", "cluster-next", "scan-base", "d"},
    {"clusters", "cluster"},
    {"mglru", "generations"},
)
_RECORDED: Final = ("mapping", "removal", "clusters", "mglru")
"""Replays that a script of `swapsim probes` feeds; others need the lab kernel."""

_NAMED: Final = 3  # traces that an error names
_LONGEST_LINE: Final = 100
"""Characters of a line of `info` with several items; a longer one becomes a line for each."""


def require_events(trace: Trace | Path | str, replay: str) -> tuple[str, ...]:
    """Require the events that a replay needs; return all events of a trace."""
    provenance(trace)
    present = event_names(trace)
    missing = missing_events(replay, present)
    if missing:
        raise InputError(
            f"the replay {replay} needs the event{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}; the trace has: {', '.join(present) or 'none'}",
            path=trace,
        )
    return present


def shipped(subject: str | None = None) -> tuple[str, ...]:
    """Return the names of the traces that come with swapsim, in order of name.

    Parameters
    ----------
    subject : str, optional
        Only those that its ``replay`` can read: mapping, removal, stall, slots, clusters, mglru.

    Raises
    ------
    InputError
        There is no such subject.

    Examples
    --------
    >>> import swapsim
    >>> swapsim.shipped("mapping")
    ('random-80-20', 'slow-disk', 'swap-w-seq')
    """
    return tuple(shipped_folders(subject))


def shipped_folders(replay: str | None = None) -> dict[str, Path]:
    """Return the folders of shipped traces that can feed a replay, or of all, by name."""
    if replay is not None and replay not in REPLAYS:
        raise no_such_replay(replay, REPLAYS)
    return {
        name: folder
        for name, folder in io.shipped_traces().items()
        if replay is None or not missing_events(replay, event_names(folder))
    }


def shipped_traces() -> pl.DataFrame:
    """Return what the traces that come with the laboratory are (SHIPPED_TRACES)."""
    rows = []
    for name, folder in io.shipped_traces().items():
        origin = provenance(folder)
        can = [*fed_by(origin["events"])]
        can += ["verify stall"] if {*SUMS_TABLES} <= {*origin["events"]} else []
        counted = sum(origin["events"].values())
        rows.append((name, origin["kernel"]["release"], origin["guest"]["cpus"], counted, can))
    return pl.DataFrame(rows, schema=SHIPPED_TRACES.schema, orient="row")


def also_called(name: str) -> set[str]:
    """Return all names of the subject that has this one: of its patch, mechanism, old package."""
    word = name.lower().replace("_", "-")
    return next((names for names in _OTHER_NAMES if word in names), {word})


def no_such_replay(name: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown replay: the known name of its subject, or all names."""
    others = tuple(known)
    same = [each for each in others if each in also_called(name)]
    hint = (
        f"its name here is {same[0]}"
        if same
        else f"{suggestion(name, others)}there are: {', '.join(others)}"
    )
    return InputError(f"no such replay: {name!r}; {hint}")


def require_feeds(trace: Path, name: str, *, verifies: bool = False) -> None:
    """Require that a trace can feed a replay or verification; say how to get one that can.

    The error says how to record again, or instead of a shipped trace which others there are.
    A folder that is no trace is refused, too; other paths are left to the replay.
    """
    try:
        present = event_names(trace)
    except InputError:
        return
    if trace.is_dir():
        require_trace(trace)
    if present and (missing := _missing(name, present, verifies=verifies)):
        near = {each: nearest(each, present) for each in missing}
        named = ", ".join(
            each + (f" (the trace has {near[each][0]}: was it misspelt?)" if near[each] else "")
            for each in missing
        )
        raise InputError(
            f"{name} needs {named}, and this trace feeds "
            f"{', '.join(fed_by(present)) or 'no replay'}: "
            f"{_remedy(trace, name, verifies=verifies)}",
            path=trace,
        )


def _remedy(trace: Path, name: str, *, verifies: bool) -> str:
    """Return what to do about a trace that cannot feed a replay or verification."""
    shipped = io.shipped_traces()
    fit = [
        each
        for each, at in shipped.items()
        if not _missing(name, event_names(at), verifies=verifies)
    ]
    others = f"{', '.join(fit[:_NAMED])}; 'swapsim info' lists all"
    script = next((each for each in _RECORDED if each in also_called(name)), "")
    script = "stall" if verifies and name == "stall" else script
    if not script or locate(trace).resolve() in {each.resolve() for each in shipped.values()}:
        return f"take another, as {others}"
    return (
        f"record again with 'swapsim probes --for {script}', or rename a probe of your own "
        f"so and import again; shipped are {others}"
    )


def _missing(name: str, present: Iterable[str], *, verifies: bool) -> tuple[str, ...]:
    """Return the tables that are missing for a replay or verification."""
    (replay,) = also_called(name) & {*REPLAYS}
    if verifies and name == "stall" and {*SUMS_TABLES} <= {*present}:
        return ()
    return missing_events(replay, present)


def require_trace(trace: Trace | Path | str) -> None:
    """Refuse a folder that has neither tables nor provenance."""
    if not event_names(trace) and not (locate(trace) / PROVENANCE).exists():
        raise InputError(
            "no trace folder: it has neither tables nor trace.toml ('swapsim import TEXT -o DIR' "
            "makes one)",
            path=trace,
        )


def described(trace: Trace | Path | str) -> dict[str, Any]:
    """Return the contents of a trace folder as plain data, for a program.

    They are ``rows`` by event, ``provenance`` as in trace.toml, and ``replays``: the events, or
    else the fields, that each lacks, none if the trace can feed it.
    """
    require_trace(trace)
    counted = dict(events(trace).iter_rows())
    lacking = {
        replay: [*missing_events(replay, counted)] or _lacking_fields(trace, replay, {*counted})
        for replay in REPLAYS
    }
    return {"rows": counted, "provenance": provenance(trace), "replays": lacking}


def info(trace: Trace | Path | str) -> str:
    """Describe a trace folder in lines: its events, its provenance, the replays it can feed."""
    located, found = locate(trace), described(trace)
    rows, origin = found["rows"], found["provenance"]
    missing_files = [name for name in origin.get(FILES, ()) if not (located / name).exists()]
    checked = "as they were written" if FILES in origin else "without sha256 in trace.toml"
    checked = "not complete" if missing_files else checked
    width = max(map(len, rows), default=0)
    lines = [f"{fspath(trace)}: {sum(rows.values())} rows of {len(rows)} events, {checked}"]
    lines += [f"  {event:{width}} {count:>12}" for event, count in rows.items()]
    lines += [f"  {name} is missing, though trace.toml lists it" for name in missing_files]
    lines.append("provenance:")
    for title, table in origin.items():
        if title not in ("events", FILES):
            lines += _describe_table(title, table)
    lines.append("replays:")
    for replay, lacking in found["replays"].items():
        lines.append(f"  {replay}: " + (f"no, it lacks {', '.join(lacking)}" if lacking else "yes"))
        if replay == "mapping" and not lacking:
            lines[-1] = "; ".join([lines[-1], *not_counted(rows), *unpaired(located)])
    if {*SUMS_TABLES} <= {*rows}:
        lines.append(f"'swapsim verify stall {fspath(trace)}' compares it with the rules of 7.3")
    return "\n".join(lines)


def _describe_table(title: str, value: Any) -> list[str]:
    """Return the lines of a value of trace.toml."""
    if isinstance(value, dict):
        return [
            line for key, item in value.items() for line in _describe_table(f"{title}.{key}", item)
        ]
    items = value if isinstance(value, list) else [value]
    words = [" ".join(str(item).split()) for item in items]
    line = f"  {title}: {', '.join(words)}"
    if len(words) == 1 or len(line) <= _LONGEST_LINE:
        return [line]
    return [f"  {title}:", *(f"    {item}" for item in words)]


def _lacking_fields(trace: Trace | Path | str, replay: str, there: set[str]) -> list[str]:
    """Return the fields that a trace's events lack for a replay, or that are empty."""
    if replay == "removal" and "removals" in there:
        return []
    return [
        text
        for event, fields in _FIELDS.get(replay, {}).items()
        if event in there
        for text in _lacking(scan_event(trace, event), event, fields.split())
    ]


def _lacking(table: pl.LazyFrame, event: str, fields: list[str]) -> Iterator[str]:
    schema = table.collect_schema()
    yield from (f"{field} of {event}" for field in fields if field not in schema)
    present = [field for field in fields if field in schema]
    rows = table.select("seq", *present).collect()
    for field in present:
        if empty := rows[field].null_count():
            yield f"{field} of {event} in {empty} of {rows.height} rows"


def absent(trace: Trace | Path | str, events: Iterable[str]) -> list[str]:
    """Return a line for each event of a trace of which no row has a field that is needed."""
    lines = []
    for event in events:
        needed = {field for of in _FIELDS.values() for field in of.get(event, "").split()}
        schema = scan_event(trace, event).collect_schema() if needed else {}
        if lacks := sorted(needed - {*schema}):
            lines.append(
                f"no row of {event} has {', '.join(lacks)}: was the text cut short? import the "
                "complete one"
            )
    return lines


def not_counted(present: Iterable[str]) -> list[str]:
    """Return a line if a trace lacks an event without which `mapping.replay` counts less."""
    if "swp_free" in present:
        return []
    return ["no swp_free in this trace: frees, one more acquisition a page by 6.1, are not counted"]


def unpaired(trace: Trace | Path | str) -> list[str]:
    """Return a line each if pages end writeback that did not start it, or start it twice.

    Writeback that still goes on at the end of a trace is no fault of it.
    """
    steps = {"wb_start": 1, "wb_end": -1}
    rows = pl.concat(
        scan_event(trace, event).select("seq", "folio", step=pl.lit(step))
        for event, step in steps.items()
    )
    before = pl.col("step").shift(1).over("folio")
    found = rows.sort("seq").select(
        starts=(pl.col("step") == 1).sum(),
        ends=(pl.col("step") == -1).sum(),
        ended=((pl.col("step") == -1) & before.ne_missing(1)).sum(),
        started=((pl.col("step") == 1) & before.eq_missing(1)).sum(),
    )
    starts, ends, ended, started = found.collect().row(0)
    faults = {
        f"{ended:,} of {ends:,} ends of writeback have no recorded start": ended,
        f"{started:,} of {starts:,} starts of writeback have no recorded end before the next": (
            started
        ),
    }
    return [f"{line}, so these figures are off" for line, number in faults.items() if number]
