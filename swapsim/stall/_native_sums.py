# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists and passes of 7.3, decided by the C library (``stall_sums.h``)."""

from typing import Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import STALL_SLEEPS, SUMS_RULES, check, frame_of, records
from swapsim.stall._native import PLACES, caller_bits, summed
from swapsim.stall.tables import THROTTLE
from swapsim.traces.verification import AGAIN

WRITEBACK_FLAG: Final[int] = lib.SWS_SUMS_WRITEBACK
"""The flag of the node."""
CONGESTED_FLAGS: Final[int] = lib.SWS_SUMS_FLAGS - WRITEBACK_FLAG
"""The flags of an lruvec."""


def decide(rows: pl.DataFrame, rules: str, place: str) -> pl.DataFrame:
    """Decide rows after a list or a pass: columns ``decides``, ``wakes``, ``set``, ``throttle``.

    They have ``kswapd``, ``memcg``, ``flags`` and SUMMED; lists have ``unqueued_dirty``, too.
    """
    memcg = (rows["memcg"] > 0).to_numpy()
    caller = caller_bits({"kswapd": rows["kswapd"].to_numpy(), "memcg": memcg}).astype(np.uint8)
    given = summed(rows, caller=caller, flags=rows["flags"].cast(pl.UInt8))
    found, out = records("struct sws_sums_decision", rows.height)
    at = ffi.new("uint64_t *")
    by_rules = SUMS_RULES.index(rules), PLACES[place], rows.height
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
