# SPDX-License-Identifier: GPL-2.0-or-later
"""The C reader of ftrace text against its slow oracle."""

from collections.abc import Iterator
from itertools import pairwise

import oracle_ftrace as oracle
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapsim.errors import InputError
from swapsim.traces._native import Counts, read_ftrace
from swapsim.traces.folder import EVENT_HEAD

DTYPES = {"decimal": pl.Int64, "pointer": pl.UInt64, "hexadecimal": pl.UInt64, "string": pl.String}


def pieces(text: bytes, cuts: list[int]) -> Iterator[bytes]:
    """Cut a text at some places."""
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    for start, end in pairwise(places):
        yield text[start:end]


def read(
    text: bytes, cuts: list[int] | None = None, *, first_rows: int = 1024, keep_going: bool = True
) -> tuple[dict[str, pl.DataFrame], Counts]:
    """Read a text by the C reader into one frame per event."""
    frames: dict[str, list[pl.DataFrame]] = {}

    def sink(event: str, rows: pl.DataFrame) -> None:
        frames.setdefault(event, []).append(rows)

    counts = read_ftrace(
        pieces(text, cuts or []),
        sink,
        path="trace.txt",
        keep_going=keep_going,
        first_rows=first_rows,
    )
    return {name: pl.concat(parts, how="diagonal") for name, parts in frames.items()}, counts


def compare_with_oracle(text: bytes, cuts: list[int], first_rows: int) -> None:
    """Assert that C and oracle read the same tables, faults and losses."""
    expected = oracle.read(text, first_rows)
    tables, counts = read(text, cuts, first_rows=first_rows)
    assert set(tables) == set(expected.tables)
    for event, table in tables.items():
        kinds = expected.tables[event].kinds
        assert dict(table.schema) == dict(EVENT_HEAD.schema) | {
            k: DTYPES[v] for k, v in kinds.items()
        }
        wanted = [
            {name: row.get(name) for name in table.columns} for row in expected.tables[event].rows
        ]
        assert table.to_dicts() == wanted
    first: dict[str, tuple[int, str | None]] = {}
    for line, kind, field in sorted(expected.faults, key=lambda fault: fault[0]):
        first.setdefault(kind, (line, field))
    assert {skipped.kind: (skipped.line, skipped.field) for skipped in counts.skipped} == first
    assert sum(skipped.lines for skipped in counts.skipped) == len(expected.faults)
    for name in ("lost", "gaps", "overwritten", "earlier", "earlier_line", "lines", "clock"):
        assert getattr(counts, name) == getattr(expected, name)


NAMES = st.text(st.sampled_from("ab -[]():0123.#é=<>/"), max_size=15)
VALUES = st.one_of(
    st.integers(-3, 3).map(str),
    st.integers(-(2**64), 2**65).map(str),
    st.integers(0, 2**68).map(hex),
    st.integers(0, 2**64 - 1).map("{:016x}".format),
    st.sampled_from(
        [
            *("0", "-", "0x", "007", "-0", "1.5", "", "(fault)", "(null)", "1234567890123456"),
            *("RECLAIM_WB_ANON|RECLAIM_WB_ASYNC", '"a b"', '"', '"a', "a=b", "é", "12,", "ff"),
            *("9223372036854775807", "-9223372036854775808", "9223372036854775808"),
            *("0xffffffffffffffff", "0x10000000000000000", "8:1", "0000000000000000"),
        ]
    ),
)
KEYS = st.sampled_from(["a", "b", "entry", "folio", "cpu", "text", "comm", "arg_cpu", "_x9", "9x"])
WORDS = st.one_of(
    st.tuples(KEYS, VALUES).map("=".join),
    st.sampled_from(["(f+0x0/0x2)", "<-", "word", "=1", "==>", "dev", "8:1", "ino", "", "  "]),
)
FREE_TEXTS = st.lists(WORDS, max_size=5).map(" ".join)


def filled(known: str) -> st.SearchStrategy[str]:
    """Fill a known text's places with values that sometimes fit."""
    parts = oracle.re.split(r"\{.*?\}", known)
    values = st.one_of(VALUES, st.sampled_from(["1", "2a", "0x1f", "8:0", "a b", ": ", "x: y"]))
    return st.tuples(*[values for _ in parts[1:]]).map(
        lambda chosen: "".join(
            part + value for part, value in zip(parts, [*chosen, ""], strict=True)
        )
    )


KNOWN_TEXTS = {
    event: known.texts for known in oracle.KNOWN_EVENTS if known.texts for event in known.names
}


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, str]:
    """Draw an event and its text."""
    if draw(st.booleans()):
        return draw(st.sampled_from(["one", "swp_add", "mm_vmscan_lru_isolate"])), draw(FREE_TEXTS)
    event = draw(st.sampled_from(sorted(KNOWN_TEXTS)))
    if draw(st.integers(0, 5)) == 0:
        return event, draw(FREE_TEXTS)
    text = draw(st.sampled_from(KNOWN_TEXTS[event]).flatmap(filled))
    return event, text + draw(st.sampled_from(["", " ", " more=1", " a=0x1 b"]))


@st.composite
def event_lines(draw: st.DrawFn) -> str:
    """Draw an event line in the form of tracefs or trace-cmd."""
    name = draw(NAMES).encode()[:15].decode(errors="ignore")
    pid = draw(st.one_of(st.integers(0, 99999), st.sampled_from([2**31 - 1, 2**31])))
    width = draw(st.sampled_from([5, 7]))
    group = draw(st.sampled_from(["", "", "(    123) ", "(-------) "]))
    cpu = draw(st.sampled_from(["000", "003", "127", "65535", "65536"]))
    letters = draw(st.sampled_from([" ", " d..1. ", " .N... ", " d..1 ", " ..... "]))
    time = draw(
        st.sampled_from(
            ["1.000001", "12.123456789", "9223372036.854775807", "9223372036.854775808", "5"]
        )
    )
    event, body = draw(bodies())
    padding = " " * (16 - len(name.encode())) if draw(st.integers(0, 4)) else ""
    gap = draw(st.sampled_from([" ", " ", "          "]))
    return f"{padding}{name}-{pid:<{width}d} {group}[{cpu}]{letters}{time}: {event}:{gap}{body}"


OTHER_LINES = st.sampled_from(
    [
        *("# tracer: nop", "", "CPU:3 [LOST 12 EVENTS]", "CPU:1 [LOST EVENTS]", "cpus=8"),
        *("CPU:2 [7 EVENTS DROPPED]", "CPU:2 [EVENTS DROPPED]", "version = 6", "CPU 3 is empty"),
        *("# entries-in-buffer/entries-written: 10/25   #P:8", "CPU:3 [LOST x EVENTS]", "junk"),
        *("CPU:99999 [LOST 1 EVENTS]", "a\x00b", "a\tb", "bash-1 [000] 1.000001: f <-g", "é"),
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Draw a trace, sometimes with damaged bytes."""
    lines = draw(st.lists(st.one_of(event_lines(), event_lines(), OTHER_LINES), max_size=12))
    # Rows of one shape, so that the fast path is taken.
    lines = [line for line in lines for _ in range(draw(st.integers(1, 3)))]
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    text = bytearray("".join(line + ends for line in lines).encode())
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        if text:
            at = draw(st.integers(0, len(text) - 1))
            text[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(text)


@given(texts(), st.lists(st.integers(0, 5000), max_size=6), st.sampled_from([1, 2, 1024]))
@example(b"", [], 1)
@example(b"\n", [], 1)
def test_c_reads_what_the_oracle_reads(text: bytes, cuts: list[int], first_rows: int) -> None:
    """Tables, types, faults and losses agree, wherever the text is cut into chunks."""
    compare_with_oracle(text, cuts, first_rows)


@given(texts())
def test_without_keep_going_the_first_fault_is_an_error(text: bytes) -> None:
    """Exactly a text with a fault raises an InputError, which names one of its lines."""
    lines = {line for line, *_ in oracle.read(text).faults}
    if not lines:
        read(text, keep_going=False)
        return
    with pytest.raises(InputError) as caught:
        read(text, keep_going=False)
    assert any(f"trace.txt, line {line}" in str(caught.value) for line in lines)
    assert "\n" not in str(caught.value)
