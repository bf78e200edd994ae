# SPDX-License-Identifier: GPL-2.0-or-later
"""Slow, obvious reader of ftrace text: what the C reader must agree with."""

import re
from dataclasses import dataclass, field
from typing import Any

from swapsim.traces.known_events import KNOWN_EVENTS

BEHIND_DASH = re.compile(
    rb"""(?P<pid>\d+)[ ]+
         (?:\([ ]*[\d-]*\)[ ]*)?                 # thread group
         \[(?P<cpu>\d+)\][ ]+
         (?:(?!\d)[^ ]{3,7}[ ]+)?                # irq-info
         (?P<seconds>\d+)(?:\.(?P<decimals>\d{9}|\d{6}))?:""",
    re.VERBOSE,
)
EVENT = re.compile(rb" *([A-Za-z0-9_][A-Za-z0-9_.]{0,199}):")
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DECIMAL = re.compile(r"-?[0-9]+")
POINTER = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{16}|0")
HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
NULLS = {"(fault)", "(null)", "(nil)", "(efault)", "(____ptrval____)"}
HEAD = ("seq", "t_ns", "cpu", "pid", "comm")
TIME = "(time)"  # a row's time by any clock: no field's name
LOST = re.compile(rb"CPU:(\d{1,18}) \[(?:LOST )?(?:(\d{1,18}) )?EVENTS(?: DROPPED)?\]")
PREAMBLE = re.compile(rb"cpus=\d{1,18}|version = \d{1,18}|CPU \d{1,18} is empty")
WRITTEN = re.compile(rb"# entries-in-buffer/entries-written: (\d{1,18})/(\d{1,18})(?!\d)")


class BadLineError(Exception):
    """A line cannot be read: kind, field."""


@dataclass
class Row:
    """One event line: its head, and the text behind the event's name."""

    line: int
    head: dict[str, Any]
    text: str


@dataclass
class Table:
    """One event: the type of each field, and its rows."""

    kinds: dict[str, str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Read:
    """All that is to be read from a text."""

    tables: dict[str, Table] = field(default_factory=dict)
    faults: list[tuple[int, str, str | None]] = field(default_factory=list)
    lost: dict[int, int] = field(default_factory=dict)
    gaps: int = 0
    overwritten: int = 0
    earlier: int = 0
    earlier_line: int = 0
    lines: int = 0
    clock: str = "unknown"


def read(text: bytes, first_rows: int = 1024) -> Read:
    """Read a whole text, skipping what cannot be read."""
    result = Read()
    waiting: dict[str, list[Row]] = {}
    seq = last_time = 0
    *lines, last = text.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            event, head, rest = _line(line, result)
        except BadLineError as fault:
            result.faults.append((number, *fault.args))
            continue
        if event:
            waiting.setdefault(event, []).append(Row(number, {"seq": seq, **head}, rest))
            seq += 1
            if head[TIME] < last_time:
                result.earlier += 1
                result.earlier_line = result.earlier_line or number
            last_time = head[TIME]
    result.lines = len(lines) + bool(last)
    if last:
        kind = "binary bytes" if b"\0" in last else "cut short"
        result.faults.append((result.lines, kind, None))
    for event, rows in waiting.items():
        table = _table(event, rows, first_rows, result)
        if table.rows:
            result.tables[event] = table
    return result


def _line(line: bytes, result: Read) -> tuple[str | None, dict[str, Any], str]:
    line = line.removesuffix(b"\r")
    if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", line):
        raise BadLineError("binary bytes", None)
    try:
        line.decode()
    except UnicodeDecodeError:
        raise BadLineError("not UTF-8", None) from None
    if not line or line.startswith(b"#") or PREAMBLE.fullmatch(line):
        written = WRITTEN.match(line)
        if written and int(written[2]) > int(written[1]):
            result.overwritten = int(written[2]) - int(written[1])
        return None, {}, ""
    if line.startswith(b"CPU:"):
        _lost(line, result)
        return None, {}, ""
    event, head, rest, clock = _head(line)
    if result.clock not in ("unknown", clock):
        raise BadLineError("other clock", None)
    result.clock = clock
    return event, head, rest


def _lost(line: bytes, result: Read) -> None:
    match = LOST.fullmatch(line)
    if not match or int(match[1]) > 65535:
        raise BadLineError("no event line", None)
    if match[2] is None:
        result.gaps += 1
    elif int(match[2]):
        result.lost[int(match[1])] = result.lost.get(int(match[1]), 0) + int(match[2])


def _head(line: bytes) -> tuple[str, dict[str, Any], str, str]:
    first = len(line) - len(line.lstrip(b" "))
    dashes = [at for at in range(first, min(first + 64, len(line))) if line[at : at + 1] == b"-"]
    if line[16:17] == b"-" and first <= 16:
        dashes.insert(0, 16)
    faults = set()
    for dash in dashes:
        try:
            event, head, rest, clock = _behind_dash(line[dash + 1 :])
        except BadLineError as fault:
            faults.add(fault.args[0])
            continue
        return event, head | {"comm": line[first:dash].decode()}, rest, clock
    for kind in ("no event name", "number out of range"):
        if kind in faults:
            raise BadLineError(kind, None)
    raise BadLineError("no event line", None)


def _behind_dash(text: bytes) -> tuple[str, dict[str, Any], str, str]:
    match = BEHIND_DASH.match(text)
    if not match:
        raise BadLineError("no event line", None)
    pid, cpu, seconds = int(match["pid"]), int(match["cpu"]), int(match["seconds"])
    t_ns, clock = None, "whole numbers"
    if match["decimals"]:
        t_ns, clock = seconds * 10**9 + int(match["decimals"].ljust(9, b"0")), "seconds"
    if pid >= 2**31 or cpu >= 2**16 or seconds >= 2**64 or (t_ns or 0) >= 2**63:
        raise BadLineError("number out of range", None)
    named = EVENT.match(text, match.end())
    if not named:
        raise BadLineError("no event name", None)
    rest = text[named.end() :].lstrip(b" ").decode()
    time = seconds if t_ns is None else t_ns
    return named[1].decode(), {TIME: time, "t_ns": t_ns, "cpu": cpu, "pid": pid}, rest, clock


def _known(event: str) -> tuple[dict[str, str], tuple[str, ...]]:
    for known in KNOWN_EVENTS:
        if event in known.names:
            return known.kinds, known.texts
    return {}, ()


def _scan(text: str, texts: tuple[str, ...]) -> tuple[list[tuple[str, str]], str | None]:
    """Return a line's fields in order, and its words that are none."""
    for known in texts:
        match = _match(text, known)
        if match is not None:
            fields, rest = match
            more, words = _words(rest)
            return fields + more, words
    return _words(text)


def _match(text: str, known: str) -> tuple[list[tuple[str, str]], str] | None:
    """Fit a text to literals with {field} between; return fields and what {} stands for."""
    parts = re.split(r"\{(.*?)\}", known)
    literals, names = parts[0::2], parts[1::2]
    if not text.startswith(literals[0]):
        return None
    at, fields = len(literals[0]), []
    for i, (name, literal) in enumerate(zip(names, literals[1:], strict=True)):
        if not name:
            return fields, text[at:]
        if literal:
            end = text.find(literal, at)
            value = text[at:end]
            if end < 0:
                return None
        elif i + 1 < len(names):
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            value = text[at:end]
        else:
            end = len(text)
            value = text[at:].strip(" ")
        fields.append((name, value))
        at = end + len(literal)
    return (fields, "") if at == len(text) else None


def _words(text: str) -> tuple[list[tuple[str, str]], str | None]:
    fields, words = [], []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        end = text.find(" ", at)
        end = len(text) if end < 0 else end
        key, equals, value = text[at:end].partition("=")
        if not equals or not KEY.fullmatch(key):
            words.append(text[at:end])
            at = end
            continue
        begin = at + len(key) + 1
        quoted = re.compile(r'"(.*?)"(?= |$)').match(text, begin)
        if quoted:
            value, end = quoted[1], quoted.end()
        fields.append((key, value))
        at = end
    return fields, " ".join(words) if words else None


def _column(key: str) -> str:
    return f"arg_{key}" if key in (*HEAD, "text") else key


def _table(event: str, rows: list[Row], first_rows: int, result: Read) -> Table:
    known, texts = _known(event)
    columns: dict[str, str] = {}
    evidence: dict[str, list[str]] = {}
    for row in rows[:first_rows]:
        for key, value in _scan(row.text, texts)[0]:
            evidence.setdefault(_column(key), []).append(value)
            columns.setdefault(_column(key), known.get(key, ""))
    required = [column for column, kind in columns.items() if kind]
    for column, kind in columns.items():
        columns[column] = kind or _judge(evidence[column])
    table = Table()
    used = set()
    for row in rows:
        try:
            values, fresh = _values(row.text, texts, known, columns)
            for column in required:
                if column not in values:
                    raise BadLineError("field missing", column)
        except BadLineError as fault:
            result.faults.append((row.line, *fault.args))
            continue
        columns |= fresh
        used |= set(values)
        table.rows.append(row.head | values)
    table.kinds = {column: kind for column, kind in columns.items() if column in used}
    if "text" in table.kinds:
        table.kinds["text"] = table.kinds.pop("text")
    return table


def _values(
    text: str, texts: tuple[str, ...], known: dict[str, str], columns: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    fields, words = _scan(text, texts)
    values: dict[str, Any] = {}
    fresh: dict[str, str] = {}
    for key, value in fields:
        column = _column(key)
        if column in values:
            raise BadLineError("field twice", column)
        kind = columns.get(column) or fresh.setdefault(column, known.get(key) or _judge([value]))
        values[column] = _value(column, kind, value)
    if words is not None:
        values["text"] = words
        fresh["text"] = "string"
    return values, fresh


def _judge(values: list[str]) -> str:
    votes = {_vote(value) for value in values if value not in NULLS}
    if not votes or "other" in votes:
        return "string"
    return "pointer" if "pointer" in votes else "decimal"


def _vote(value: str) -> str:
    decimal, pointer = DECIMAL.fullmatch(value), POINTER.fullmatch(value)
    if decimal and int(value) >= 2**63:
        return "pointer"
    if decimal and pointer and (value == "0" or value[0] != "0"):
        return "either"
    return "pointer" if pointer else "decimal" if decimal else "other"


def _value(column: str, kind: str, value: str) -> int | str | None:
    if kind == "string":
        return value
    if value in NULLS:
        return None
    if kind == "hexadecimal":
        base, fits = 16, HEXADECIMAL.fullmatch(value.removeprefix("0x"))
    else:
        # Where a text is both, it is read as its column is printed.
        decimal, pointer = DECIMAL.fullmatch(value), POINTER.fullmatch(value)
        base = 16 if pointer and (kind == "pointer" or not decimal) else 10
        fits = decimal or pointer
    if not fits:
        raise BadLineError("field of the wrong type", column)
    number = int(value, base)
    if not -(2**63) <= number < 2**64:
        raise BadLineError("number out of range", column)
    # The same 64 bits, with a sign or without.
    return (number + 2**63) % 2**64 - 2**63 if kind == "decimal" else number % 2**64
