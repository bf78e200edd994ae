# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats of a recording, distinguished by their first bytes; each becomes text of ftrace."""

import codecs
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from swapsim.errors import InputError
from swapsim.traces.text import head_of, read_ahead

FTRACE_TEXT: Final = "text of ftrace"

_PROGRAM: Final = "trace-cmd"
_PIECE_BYTES: Final = 4 << 20
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


def read_trace_dat(pieces: Iterator[bytes], path: str) -> Iterator[bytes]:
    """Yield the text of ``trace-cmd report``, with times in ns."""
    program = shutil.which(_PROGRAM)
    if program is None:
        raise InputError(
            "is a trace.dat, and there is no trace-cmd here that reads it: install trace-cmd, or "
            "convert it elsewhere with 'trace-cmd report'",
            path=path,
        )
    with tempfile.TemporaryDirectory() as folder:
        copy, said = Path(folder) / "trace.dat", Path(folder) / "said"
        with copy.open("wb") as file:
            file.writelines(pieces)
        with (
            said.open("wb") as stderr,
            subprocess.Popen(
                [program, "report", "-t", "-i", copy], stdout=subprocess.PIPE, stderr=stderr
            ) as report,
        ):
            assert report.stdout is not None
            printed = False
            try:
                while piece := report.stdout.read(_PIECE_BYTES):
                    printed = True
                    yield piece
            except BaseException:
                report.kill()
                raise
        if report.returncode or not printed:
            words = " ".join(said.read_text(errors="replace").split()).replace(str(copy), "it")
            why = words or f"exit status {report.returncode}, without a line"
            raise InputError(
                f"cannot be read by 'trace-cmd report' ({why}): is it complete?", path=path
            )
