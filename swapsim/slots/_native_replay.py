# SPDX-License-Identifier: GPL-2.0-or-later
"""The C replay of slot events: rows in, a verdict per call out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import check, dtype_of
from swapsim.slots._native import settings
from swapsim.slots.config import SlotsConfig
from swapsim.slots.tables import SLOT_CALLS, SLOT_FAULT

CHUNK_ROWS: Final = 1 << 15
"""Rows per call of C. A row may scan the complete map; Ctrl-C takes effect between calls."""

_COLUMNS: Final = {
    name: f"{field.type.item.cname}[]"
    for name, field in ffi.typeof("struct sws_slot_replay_rows").fields
}
"""The C type of each column of SLOT_EVENTS."""

_VERDICT: Final = dtype_of("struct sws_slot_replay_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotMismatch:
    """The first call that differs, and the state of the model at its first row.

    Slots are those that the model hands out (ours) and those of the trace (theirs). Pairs are the
    model's value and the trace's; ``next`` is the stored base, 0 if none is stored. ``ration`` is
    the number of slots that the call could still test when the stretch that differs began;
    ``reuse`` is the slot at which no scan would have stopped, 0 for another fault.
    """

    seq: int
    pid: int
    cpu: int
    fault: str
    ours: tuple[int, ...]
    theirs: tuple[int, ...]
    base: tuple[int, int]
    lowest: tuple[int, int]
    highest: tuple[int, int]
    next: tuple[int, int]
    ration: int
    free_clusters: int
    reuse: int


def replay_slots(
    rows: pl.DataFrame, config: SlotsConfig, *, cpus: int, tick: Callable[[int], object]
) -> tuple[pl.DataFrame, int, SlotMismatch | None]:
    """Return SLOT_CALLS, the number of open calls, and the first mismatch (``slot_replay.h``).

    The rows have the schema SLOT_EVENTS and passed `check_slot_events`; ``cpus`` is the number of
    different CPUs in them. ``tick`` is called with the number of rows of each chunk. An
    ``InputError`` names the row, by its seq, that cannot be replayed.
    """
    made = ffi.new("struct sws_slot_replay_config *")
    lib.sws_slot_replay_config_init(made)
    device, _ = settings(config)
    made.device = device[0]
    made.cpus = cpus
    out = ffi.new("struct sws_slot_replay **")
    check(lib.sws_slot_replay_new(made, out))
    handle = ffi.gc(out[0], lib.sws_slot_replay_free)
    verdicts = []
    for chunk in rows.iter_slices(CHUNK_ROWS):
        verdicts.append(_feed(handle, chunk))
        tick(chunk.height)
    calls = _frame(np.concatenate(verdicts))
    return calls, lib.sws_slot_replay_open(handle), _mismatch(handle)


def _feed(handle: Any, rows: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.void]]:
    filled = rows.with_columns(pl.col("op").to_physical()).fill_null(0)
    columns = {name: np.ascontiguousarray(filled[name].to_numpy()) for name in _COLUMNS}
    pointers = ffi.new("struct sws_slot_replay_rows *")
    for name, kind in _COLUMNS.items():
        setattr(pointers, name, ffi.from_buffer(kind, columns[name]))
    judged = np.empty(rows.height, dtype=_VERDICT)
    n_judged = ffi.new("uint64_t *")
    code = lib.sws_slot_replay_feed(
        handle,
        pointers,
        rows.height,
        ffi.from_buffer("struct sws_slot_replay_call[]", judged),
        n_judged,
    )
    seq = ffi.new("uint64_t *")
    problem = lib.sws_slot_replay_problem(handle, seq)
    if problem != lib.SWS_SLOT_REPLAY_NO_PROBLEM:
        wrong = ffi.string(lib.sws_slot_replay_problem_text(problem)).decode()
        raise InputError(f"the row with seq {seq[0]} cannot be replayed: {wrong}")
    check(code)
    return judged[: n_judged[0]]


def _frame(verdicts: np.ndarray[Any, np.dtype[np.void]]) -> pl.DataFrame:
    columns = {name: np.ascontiguousarray(verdicts[name]) for name in verdicts.dtype.names or ()}
    faults = pl.Series(columns.pop("fault"), dtype=pl.UInt32)
    return (
        pl.DataFrame(columns)
        .with_columns(
            mismatched=pl.col("slots") - pl.col("exact") - pl.col("raced"),
            fault=pl.Series(SLOT_FAULT.dtype.categories).gather(faults).cast(SLOT_FAULT.dtype),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in SLOT_CALLS.schema.items())
    )


def _mismatch(handle: Any) -> SlotMismatch | None:
    found = ffi.new("struct sws_slot_replay_mismatch *")
    if not lib.sws_slot_replay_first_mismatch(handle, found):
        return None
    return SlotMismatch(
        seq=found.call.seq,
        pid=found.call.pid,
        cpu=found.call.cpu,
        fault=SLOT_FAULT.dtype.categories[found.call.fault],
        ours=tuple(found.ours[0 : found.n_ours]),
        theirs=tuple(found.theirs[0 : found.n_theirs]),
        base=(found.base, found.base_row),
        lowest=(found.lowest, found.lowest_row),
        highest=(found.highest, found.highest_row),
        next=(found.next, found.next_row),
        ration=found.ration,
        free_clusters=found.free_clusters,
        reuse=found.reuse,
    )
