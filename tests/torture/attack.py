# SPDX-License-Identifier: GPL-2.0-or-later
"""What the attacks share: the promise of the command line, small traces, and their changes."""

import io
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from hypothesis import strategies as st
from seeds import sown

from swapsim import cli, traces
from swapsim.cli import INTERRUPTED as TEXT
from swapsim.errors import SwapsimError
from swapsim.progress import SIGNALS

_UNDER_WAY: Final = """
import os, sys
from swapsim import __main__, progress
progress.record_signals()
os.write(1, b"here\\n")
sys.exit(__main__.main())
"""

LONGEST_S: Final = 600
"""A command that runs for longer hangs: none takes a minute."""

ROWS: Final = 400
"""Of the largest table of a trace that is attacked."""

_POWERS: Final = tuple(1 << bits for bits in (0, 7, 8, 15, 16, 31, 32, 63, 64))
EDGES: Final = tuple(s * p + by for p in _POWERS for by in (-1, 0, 1) for s in (1, -1))
"""Numbers next to where an integer of some size ends."""

VERBS: Final[Mapping[str, tuple[str, Callable[[Path], list[str]]]]] = {
    "info": ("mapping", lambda folder: ["info", str(folder)]),
    "writeback": ("mapping", lambda folder: ["replay", "mapping", str(folder)]),
    "removal": ("removal", lambda folder: ["replay", "removal", str(folder)]),
    "decisions": ("stall", lambda folder: ["replay", "stall", str(folder)]),
    "stalls": ("stall", lambda folder: ["verify", "stall", str(folder)]),
    "requests": ("slots", lambda folder: ["replay", "slots", str(folder), "--seeds", "1"]),
    "clusters": ("clusters", lambda folder: ["verify", "clusters", str(folder)]),
    "served": ("clusters", lambda folder: ["replay", "clusters", str(folder)]),
    "slots": (
        "slots",
        lambda folder: [
            *("verify", "slots", str(folder / "slot_events.parquet")),
            *("--policy", "shared", "--cluster-size", "256"),
        ],
    ),
}
"""A name -> the replay that a trace must feed, and the command over its folder."""


def for_a_while(attack: Callable[[], None], seeds: Iterable[int]) -> None:
    """Let Hypothesis try its examples by one seed after another."""
    for seed in seeds:
        sown(attack, seed)()


@contextmanager
def done_or_refused() -> Iterator[None]:
    """Allow the body to end well, or in an error of ours that is one line."""
    said = ""
    try:
        yield
    except SwapsimError as error:
        said = str(error)
    assert "\n" not in said


def must_be_one_line(code: int, said: str) -> None:
    """Check the promise of the command line: exit code 2 has one line on stderr."""
    assert code in (0, 1, 2), (code, said)
    assert (code == 2) == bool(said), (code, said)
    assert said.count("\n") <= 1, said
    assert not said or said.startswith("swapsim: "), said


def answer(*arguments: str) -> int:
    """Run a command in this process, check its promise, and return its code."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(arguments)
    must_be_one_line(code, err.getvalue())
    return code


def started(*arguments: str, **given: Any) -> "subprocess.Popen[str]":
    """Start a command as a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "swapsim", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **given,
    )


def under_way(*arguments: str) -> "subprocess.Popen[str]":
    """Start a command and wait until it handles Ctrl-C: until then Python itself starts."""
    process = subprocess.Popen(
        [sys.executable, "-c", _UNDER_WAY, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def said_by(process: "subprocess.Popen[str]") -> str:
    """Return what a process wrote to stderr; abort one that hangs, and fail with its stacks."""
    try:
        return process.communicate(timeout=LONGEST_S)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        stacks = process.communicate(timeout=LONGEST_S)[1]
        pytest.fail(f"{process.args} has no end after {LONGEST_S} s: {stacks}")


def must_end_well(process: "subprocess.Popen[str]", *, interrupted: bool = False) -> int:
    """Wait for a process and check its promise; it may have been interrupted."""
    said = said_by(process)
    if interrupted and process.returncode - 128 in SIGNALS:
        assert said == f"{TEXT}\n", said
    else:
        must_be_one_line(process.returncode, said)
    return process.returncode


def small_trace(replay: str, folder: Path) -> Path:
    """Write the begin of the smallest shipped trace that can feed a replay."""
    shipped = min(traces.shipped_folders(replay).values(), key=lambda path: sum(sizes(path)))
    tables = {path.name: pl.read_parquet(path) for path in sorted(shipped.glob("*.parquet"))}
    seqs = pl.concat([table["seq"] for table in tables.values() if "seq" in table.columns]).sort()
    last = seqs[min(ROWS, seqs.len()) - 1]
    folder.mkdir()
    for name, table in tables.items():
        table.filter(pl.col("seq") <= last).write_parquet(folder / name)
    shutil.copy(shipped / traces.PROVENANCE, folder)
    traces.sign(folder)
    return folder


def sizes(folder: Path) -> list[int]:
    """Return the bytes of each table."""
    return [path.stat().st_size for path in folder.glob("*.parquet")]


def flips() -> st.SearchStrategy[list[tuple[float, int]]]:
    """Draw where in a file a byte changes, from 0 to 1, and into which."""
    place = st.floats(0, 1, exclude_max=True)
    return st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=4)


def flipped(data: bytes, changes: list[tuple[float, int]], keep: float) -> bytes:
    """Return the first part of some bytes, with some of them changed."""
    changed = bytearray(data)
    for place, value in changes:
        changed[int(place * len(changed))] = value
    return bytes(changed[: max(1, int(keep * len(changed)))])


def misfits(dtype: pl.DataType) -> list[object]:
    """Return values that a column can hold and few rows do."""
    if dtype.is_integer():
        low, high = pl.select(low=dtype.min(), high=dtype.max()).row(0)  # type: ignore[attr-defined]
        return [None, *(edge for edge in EDGES if low <= edge <= high)]
    if isinstance(dtype, pl.Enum):
        return [None, *dtype.categories]
    if dtype == pl.Boolean:
        return [None, True, False]
    return [None, "", "\0", "x" * 5000]


def altered(table: pl.DataFrame, changes: list[tuple[float, int, int]]) -> pl.DataFrame:
    """Return a table of the same schema in which some values are others, or rows are exchanged.

    A change is a place from 0 to 1, a column's number (one past the last: two rows change places),
    and which of the column's misfits, or the distance of the other row.
    """
    for place, column, which in changes:
        row = int(place * table.height)
        number = column % (table.width + 1)
        if number == table.width:
            order = list(range(table.height))
            other = (row + 1 + which) % table.height
            order[row], order[other] = order[other], order[row]
            table = table[order]
            continue
        values = misfits(table.dtypes[number])
        name = table.columns[number]
        series = table[name].to_list()
        series[row] = values[which % len(values)]
        table = table.with_columns(pl.Series(name, series, dtype=table.dtypes[number]))
    return table
