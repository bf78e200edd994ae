# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines a second from ftrace text to typed columns, compared with a polars regex and Python's re.

Ours runs on one core; polars may take all. Peers read the same lines to the
same columns, by patterns made for just these events: ours must find the shape.
import/parquet is a complete import, on two cores, to a trace folder, whose removal is not timed.
"""

import itertools
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import harness
import polars as pl

from swapsim.traces import import_text
from swapsim.traces._native import read_ftrace

NAMES = ("import/polars", "import/re", "import/parquet")
PAGES = 50_000
"""Pages swapped out in the text; five lines each, and two lines per batch of 8."""

CHUNK_BYTES = 1 << 20

HEAD = (
    r"^ *(?P<comm>.+?)-(?P<pid>\d+) +\[(?P<cpu>\d+)\] \S+ +(?P<seconds>\d+)\.(?P<decimals>\d{6}): "
    r"(?P<event>\w+): (?P<rest>.*)$"
)
PROBES = {
    "swp_add": ("folio", "entry"),
    "wb_start": ("folio", "flags", "mapping"),
    "wb_end": ("folio", "flags", "mapping"),
    "swp_del": ("folio", "entry", "shadow"),
    "swp_free": ("entry",),
}
COUNTS = {
    "mm_vmscan_lru_isolate": ("nr_requested", "nr_scanned", "nr_skipped", "nr_taken"),
    "mm_vmscan_lru_shrink_inactive": ("nid", "nr_scanned", "nr_reclaimed", "nr_dirty", "priority"),
}
WRITEBACK = {
    "wb_start": "__folio_start_writeback+0x0/0x250",
    "wb_end": "__folio_end_writeback+0x0/0x380",
}
TEXTS = {"mm_vmscan_lru_isolate": "lru", "mm_vmscan_lru_shrink_inactive": "flags"}


def run() -> Iterator[dict[str, object]]:
    """Yield the benchmarks of NAMES."""
    text = "".join(lines()).encode()
    count = text.count(b"\n")
    require_same_columns(text)
    ours = partial(harness.rate, count, partial(by_us, text))
    for name, read in (("import/polars", by_polars), ("import/re", by_re)):
        peer = partial(harness.rate, count, partial(read, text))
        yield harness.compare(name, "million lines/s", ours, peer, 1e6)
    yield to_folder(text, count)


def to_folder(text: bytes, count: int) -> dict[str, object]:
    """Compare a complete import of the text with polars."""
    with TemporaryDirectory() as parent:
        folder = Path(parent)
        source = folder / "source"
        source.write_bytes(text)
        numbers = itertools.count()

        def ours() -> None:
            import_text(source, folder / f"out-{next(numbers)}")

        def peer() -> None:
            out = folder / f"out-{next(numbers)}"
            out.mkdir()
            for event, frame in by_polars(source.read_bytes()).items():
                frame.write_parquet(out / event, compression_level=1)

        sides = (partial(harness.rate, count, each) for each in (ours, peer))
        return harness.compare("import/parquet", "million lines/s, to Parquet", *sides, 1e6)


def lines() -> Iterator[str]:
    """Make the text of a swap-out, page after page, the same each time."""

    def head(page: int, step: int) -> str:
        time_us = 10_000_000 + page * 37 + step * 5
        return (
            f"{'sequential_writ':>16}-{160 + page % 8:<7d} [{page % 8:03d}] d..1. "
            f"{time_us // 1_000_000:5d}.{time_us % 1_000_000:06d}: "
        )

    for page in range(PAGES):
        folio = 0xFFFFEA0000000000 + (page * 2654435761 % (1 << 20)) * 64
        entry = 0x4000 + page
        more = f"flags=0xfffffc00c0405 mapping={0xFFFF888004CB92D9 + page // 512:#x}"
        if page % 8 == 0:
            yield head(page, 0) + (
                "mm_vmscan_lru_isolate: nr_requested=32 nr_scanned=32 nr_skipped=0 "
                f"nr_taken={page % 33} lru=inactive_anon\n"
            )
        yield (
            f"{head(page, 1)}swp_add: (add_to_swap_cache+0x0/0x340) folio={folio:#x} "
            f"entry={entry:#x}\n"
        )
        for step, (event, function) in enumerate(WRITEBACK.items(), 2):
            yield f"{head(page, step)}{event}: ({function}) folio={folio:#x} {more}\n"
        yield (
            f"{head(page, 4)}swp_del: (__delete_from_swap_cache+0x0/0x210) folio={folio:#x} "
            f"entry={entry:#x} shadow=0x20002001\n"
        )
        yield f"{head(page, 5)}swp_free: (free_swap_slot+0x0/0xc0) entry={entry:#x}\n"
        if page % 8 == 7:
            yield head(page, 6) + (
                f"mm_vmscan_lru_shrink_inactive: nid=0 nr_scanned=32 nr_reclaimed={page % 33} "
                "nr_dirty=0 priority=12 flags=RECLAIM_WB_ANON|RECLAIM_WB_ASYNC\n"
            )


def by_us(text: bytes) -> dict[str, pl.DataFrame]:
    """Read by the C core."""
    found: dict[str, list[pl.DataFrame]] = {}
    whole = memoryview(text)
    pieces = (whole[at : at + CHUNK_BYTES] for at in range(0, len(text), CHUNK_BYTES))
    read_ftrace(
        pieces,  # type: ignore[arg-type]
        lambda event, rows: found.setdefault(event, []).append(rows),
        path="bench",
    )
    return {event: pl.concat(parts) for event, parts in found.items()}


def fields_of(event: str) -> str:
    """Return the pattern of one event's text."""
    if event in PROBES:
        return r"^(?P<text>\S+) " + " ".join(rf"{name}=0x(?P<{name}>\w+)" for name in PROBES[event])
    numbers = " ".join(rf"{name}=(?P<{name}>-?\d+)" for name in COUNTS[event])
    return rf"^{numbers} {TEXTS[event]}=(?P<{TEXTS[event]}>\S+)$"


def by_polars(text: bytes) -> dict[str, pl.DataFrame]:
    """Read by regular expressions of polars: the head of all lines, then each event's fields."""
    heads = (
        pl.Series("line", text.decode().split("\n")[:-1])
        .to_frame()
        .with_row_index("seq")
        .select("seq", pl.col("line").str.extract_groups(HEAD))
        .unnest("line")
        .select(
            pl.col("seq").cast(pl.UInt64),
            t_ns=pl.col("seconds").cast(pl.Int64) * 1_000_000_000
            + pl.col("decimals").cast(pl.Int64) * 1000,
            cpu=pl.col("cpu").cast(pl.UInt16),
            pid=pl.col("pid").cast(pl.Int32),
            comm="comm",
            event="event",
            rest="rest",
        )
    )
    hexadecimal = {
        event: [pl.col(name).str.to_integer(base=16, dtype=pl.UInt64) for name in names]
        for event, names in PROBES.items()
    }
    decimal = {
        event: [pl.col(name).cast(pl.Int64) for name in names] for event, names in COUNTS.items()
    }
    return {
        event: heads.filter(event=event)
        .with_columns(pl.col("rest").str.extract_groups(fields_of(event)))
        .unnest("rest")
        .with_columns((hexadecimal | decimal)[event])
        .drop("event")
        for event in (*PROBES, *COUNTS)
    }


def by_re(text: bytes) -> dict[str, list[tuple[object, ...]]]:
    """Read by Python's re, line after line, to tuples of Python's own numbers."""
    head = re.compile(HEAD)
    patterns = {event: re.compile(fields_of(event)) for event in (*PROBES, *COUNTS)}
    rows: dict[str, list[tuple[object, ...]]] = {event: [] for event in patterns}
    for seq, line in enumerate(text.decode().split("\n")[:-1]):
        found = head.match(line)
        assert found
        comm, pid, cpu, seconds, decimals, event, rest = found.groups()
        fields = patterns[event].match(rest)
        assert fields
        values = fields.groups()
        numbers = (
            [values[0], *(int(value, 16) for value in values[1:])]
            if event in PROBES
            else [*map(int, values[:-1]), values[-1]]
        )
        t_ns = int(seconds) * 1_000_000_000 + int(decimals) * 1000
        rows[event].append((seq, t_ns, int(cpu), int(pid), comm, *numbers))
    return rows


def require_same_columns(text: bytes) -> None:
    """Require that the peers read from some lines what ours reads."""
    part = b"".join(text.splitlines(keepends=True)[:2000])
    ours, polars, python = by_us(part), by_polars(part), by_re(part)
    for event, frame in ours.items():
        assert polars[event].select(frame.columns).equals(frame), event
        assert python[event] == polars[event].rows(), event
