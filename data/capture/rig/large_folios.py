# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's counters of large folios in the output of a test, and the requests of ours."""

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import polars as pl

from rig import guest
from rig.collect import Captured
from rig.counts import Metrics, Rows
from rig.errors import GuestError
from rig.workload import HOME, Workload
from swapsim.claims.tables import FOLIO_REQUESTS

# Of the kernel's own program, which counts folios of 64 KiB, and of ours.
_KERNEL_LINE: Final = re.compile(
    r"^Iteration (\d+): swpout inc: (\d+), swpout fallback inc: (\d+), ", re.MULTILINE
)
_KERNEL_ORDER: Final = 4
_OUR_LINE: Final = re.compile(
    r"^iteration (\d+) order (\d+) swpout (\d+) fallback (\d+)$", re.MULTILINE
)
_FAULTS: Final = re.compile(r"^order (\d+) allocated (\d+) fallback (\d+)$", re.MULTILINE)
_PRINTS_REQUESTS: Final = "folio_turnover"


def _size(order: int) -> str:
    kibibytes = 4 << order
    return f"{kibibytes >> 10}M" if kibibytes >= 1 << 10 else f"{kibibytes}K"


def read(captured: Captured, _work: Path, first: int) -> tuple[Metrics, Rows]:
    """Read the lines of a test of large folios; metrics count iterations from `first` on.

    Raises
    ------
    GuestError
        There are no such lines, a folio that the test wanted was not allocated, or nothing was
        swapped out.
    """
    output = captured.report["output"]
    rows = [[int(n), _KERNEL_ORDER, int(a), int(b)] for n, a, b in _KERNEL_LINE.findall(output)]
    rows += [[int(n), int(o), int(a), int(b)] for n, o, a, b in _OUR_LINE.findall(output)]
    faults = [tuple(map(int, line)) for line in _FAULTS.findall(output)]
    if not rows:
        raise GuestError("the test printed no counters of large folios")
    for order, allocated, lacking in faults:
        if lacking or not allocated:
            raise GuestError(f"{lacking} folios of order {order} were not allocated")
    metrics: Metrics = {}
    for order in sorted({row[1] for row in rows}):
        counted = [row[2:] for row in rows if row[1] == order and row[0] >= first]
        whole, split = (sum(row[i] for row in counted) for i in (0, 1))
        if whole + split == 0:
            raise GuestError(f"no folio of order {order} was to be swapped out")
        metrics[f"swpout {_size(order)}"] = (whole, "folio")
        metrics[f"swpout_fallback {_size(order)}"] = (split, "folio")
        metrics[f"fallback share {_size(order)}"] = (100 * split / (whole + split), "%")
    return metrics, rows


def requests(workload: Workload) -> pl.DataFrame | None:
    """Return what the workload's program asks of any kernel, where it is one that prints it."""
    commands = [command.split() for command in workload.all_commands]
    if _PRINTS_REQUESTS not in [words[0] for words in commands]:
        return None
    ((name, _run, *rest),) = commands
    with TemporaryDirectory() as folder:
        program = Path(folder) / name
        guest.compile_program(HOME / "programs" / f"{name}.c", program)
        printed = subprocess.run(
            [program, "print", *rest], capture_output=True, text=True, check=True
        )
    # process, iteration, op, order, chunk, page
    fields = [line.split() for line in printed.stdout.splitlines()]
    schema = FOLIO_REQUESTS.schema
    frame = pl.DataFrame(fields, schema=list(schema), orient="row")
    return FOLIO_REQUESTS.check(frame.cast(dict(schema)))
