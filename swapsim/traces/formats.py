# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats of a recording, distinguished by their first bytes; each becomes text of ftrace."""

import codecs
import re
from collections.abc import Generator, Iterator
from itertools import chain
from typing import Final

from swapsim.errors import InputError
from swapsim.traces.bpftrace import read_bpftrace
from swapsim.traces.perfetto import read_perfetto
from swapsim.traces.recording import Recording
from swapsim.traces.text import head_of, read_ahead
from swapsim.traces.trace_dat import read_trace_dat

FTRACE_TEXT: Final = "text of ftrace"

_FORMATS: Final = {
    "trace.dat": (re.compile(rb"\x17\x08\x44tracing"), read_trace_dat),
    "lines of bpftrace": (re.compile(rb'\s*\{\s*"(type|data)"'), read_bpftrace),
    # A packet's key; a text that begins with an empty line has no control bytes.
    "perfetto trace": (re.compile(rb"\n.{0,4096}[\0-\x08\x0e-\x1f]", re.DOTALL), read_perfetto),
}
"""Format -> how it begins, and its reader. All else is a text of ftrace."""

_OTHERS: Final = {
    rb"PERFILE2": "is a perf.data: record with trace-cmd instead, or by 'swapsim probes'",
    rb"\xff\xfe|\xfe\xff": "is UTF-16: save it as UTF-8",
    rb'\s*\{\s*"': "is JSON, but not that of bpftrace: give the lines of bpftrace -f json with a "
    "script of 'swapsim probes'",
}
"""How files begin that are of another kind, and what to do."""

FORMATS: Final = (FTRACE_TEXT, *_FORMATS)

IN_ORDER: Final = (FTRACE_TEXT, "trace.dat")
"""Formats whose events are in order of time; others have the events of each CPU one by one."""


def text_of(pieces: Iterator[bytes], recording: Recording) -> Generator[bytes, None, None]:
    """Return the text of a recording, whose format is set; a thread converts other formats."""
    first = next(pieces, b"").removeprefix(codecs.BOM_UTF8)
    pieces = chain([first], pieces)
    for name, (begin, read) in _FORMATS.items():
        if begin.match(first):
            recording.format = name
            return read_ahead(read(pieces, recording))
    for start, problem in _OTHERS.items():
        if re.match(start, first):
            raise InputError(problem, path=recording.path)
    recording.format = FTRACE_TEXT
    recording.head = head_of(first)
    return (piece for piece in pieces)
