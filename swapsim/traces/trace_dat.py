# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace.dat, which trace-cmd turns into text."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from swapsim.errors import InputError

_PROGRAM: Final = "trace-cmd"

_PIECE_BYTES: Final = 4 << 20


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
