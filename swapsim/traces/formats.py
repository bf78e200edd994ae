# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats of a recording, distinguished by their first bytes; each becomes text of ftrace."""

import codecs
import re
from collections.abc import Generator, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from swapsim.errors import InputError
from swapsim.traces.text import head_of, read_ahead
from swapsim.traces.trace_dat import read_trace_dat

FTRACE_TEXT: Final = "text of ftrace"

_TRACE_DAT: Final = b"\x17\x08\x44tracing"

_OTHERS: Final = {
    rb"PERFILE2": "is a perf.data: record with trace-cmd instead, or by 'swapsim probes'",
    rb"\xff\xfe|\xfe\xff": "is UTF-16: save it as UTF-8",
    rb'\s*\{\s*"': "is JSON, as bpftrace prints it: record by 'swapsim probes' instead",
    # A packet's key; a text that begins with an empty line has no control bytes.
    rb"(?s)\n.{0,4096}[\0-\x08\x0e-\x1f]": "is a perfetto trace: make a text of it by perfetto's "
    "'traceconv systrace TRACE TEXT'",
}
"""How files begin that are of another kind, and what to do."""


class Recording(NamedTuple):
    """A recording as text of ftrace."""

    format: str
    head: Mapping[str, int | str]
    """What the head of a text says of its recorder."""
    text: Generator[bytes, None, None]


def recording_of(pieces: Iterator[bytes], path: str) -> Recording:
    """Return a recording by its pieces; a thread converts those of another format."""
    first = next(pieces, b"").removeprefix(codecs.BOM_UTF8)
    pieces = chain([first], pieces)
    if first.startswith(_TRACE_DAT):
        return Recording("trace.dat", {}, read_ahead(read_trace_dat(pieces, path)))
    for start, problem in _OTHERS.items():
        if re.match(start, first):
            raise InputError(problem, path=path)
    return Recording(FTRACE_TEXT, head_of(first), (piece for piece in pieces))
