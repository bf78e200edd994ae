# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists and passes of 7.3, decided by the C library (``stall_sums.h``)."""

from typing import Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import STALL_COUNTERS, STALL_SLEEPS, SUMS_RULES, check
from swapsim.ffi.structs import frame_of, keep, records
from swapsim.stall.tables import THROTTLE
from swapsim.traces.verification import AGAIN

WRITEBACK_FLAG: Final[int] = lib.SWS_SUMS_WRITEBACK
"""The flag of the node."""
CONGESTED_FLAGS: Final[int] = lib.SWS_SUMS_FLAGS - WRITEBACK_FLAG
"""The flags of an lruvec."""

_TAKEN: Final = ("taken", "file_taken")
_PLACES: Final = {"list": lib.SWS_STALL_AT_LIST, "pass": lib.SWS_STALL_AT_PASS}


def decide(rows: pl.DataFrame, rules: str, place: str) -> pl.DataFrame:
    """Decide rows after a list or a pass: columns ``decides``, ``wakes``, ``set``, ``throttle``.

    They have ``kswapd``, ``memcg``, ``flags`` and SUMMED; lists have ``unqueued_dirty``, too.
    """
    counts = np.zeros(rows.height, dtype=[(name, "u8") for name in (*STALL_COUNTERS, *_TAKEN)])
    for name in counts.dtype.names or ():
        if name in rows.columns:
            counts[name] = rows[name].to_numpy()
    caller = rows.select(
        pl.col("kswapd").cast(pl.UInt8) * lib.SWS_STALL_KSWAPD
        + (pl.col("memcg") > 0).cast(pl.UInt8) * lib.SWS_STALL_MEMCG
    ).to_series()
    given = ffi.new("struct sws_stall_summed *")
    memory = [
        ffi.from_buffer("uint8_t[]", np.ascontiguousarray(caller.to_numpy(), dtype=np.uint8)),
        ffi.from_buffer("uint8_t[]", np.ascontiguousarray(rows["flags"].to_numpy(), np.uint8)),
        ffi.from_buffer("struct sws_stall_counts[]", counts),
    ]
    given.caller, given.flags, given.counts = memory
    keep(given, memory)
    found, out = records("struct sws_sums_decision", rows.height)
    at = ffi.new("uint64_t *")
    by_rules = SUMS_RULES.index(rules), _PLACES[place], rows.height
    code = lib.sws_sums_decide(*by_rules, given, out, at)
    if code == lib.SWS_ERROR_BAD_ARGUMENT:
        raise InputError(
            f"the row with seq {rows['seq'][at[0]]} has counts or flags that cannot be: more "
            f"pages than were taken, or an unknown flag: {AGAIN}"
        )
    check(code)
    sleeps = {0: None} | {1 << number: name for number, name in enumerate(STALL_SLEEPS)}
    return frame_of(found).select(
        pl.col("decides", "wakes").cast(pl.Boolean),
        "set",
        throttle=pl.col("sleeps").replace_strict(sleeps, return_dtype=THROTTLE.dtype),
    )
