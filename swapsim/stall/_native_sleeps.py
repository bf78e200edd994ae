# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of direct reclaim, and calls that ask for a sleep, row by row: there are few of them."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_SLEEPS
from swapsim.frames.parquet_file import require_values
from swapsim.stall._native import decide_round, explain_round
from swapsim.stall.config import StallContext
from swapsim.stall.tables import RECLAIM_ROUNDS, STALL_PASSES, STALL_SLEEPERS, THROTTLES

_OF_2013: Final = ("congested_devices", "flags")
"""What 2013's sleeps look at: null in the rows of 6.1's."""

DECLINED: Final = {
    lib.SWS_STALL_SLEEPS: None,
    lib.SWS_STALL_DECLINED_KTHREAD: "a kernel thread other than kswapd",
    lib.SWS_STALL_DECLINED_FAILURES: "kswapd has given up",
    lib.SWS_STALL_DECLINED_FEW_WRITES: "2 * write_pending <= reclaimable",
    lib.SWS_STALL_DECLINED_NO_DEVICE: "no device is congested",
    lib.SWS_STALL_DECLINED_NO_FLAG: "the zone is not flagged congested",
}
"""Why a function that is asked for a sleep does not sleep: ``enum sws_stall_declined``."""


def decide_rounds(rounds: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Decide the ends of rounds of direct reclaim, by the rules of a set.

    Parameters
    ----------
    rounds : polars.DataFrame
        Schema RECLAIM_ROUNDS.
    rules : str
        One of STALL_RULES.

    Returns
    -------
    polars.DataFrame
        Schema STALL_PASSES, in the order given: a round sets no flag.

    Raises
    ------
    ConfigError
        A priority outside of 0 to 12.
    """
    RECLAIM_ROUNDS.check(rounds)
    require_values(rounds, [name for name in rounds.columns if name != "throttle"])
    asked = []
    for row in rounds.iter_rows(named=True):
        context, pages = _round(row, rules)
        asked.append((0, 0, *(decide_round(context, **pages)["sleeps"] or [None])))
    return pl.DataFrame(asked, schema=STALL_PASSES.schema, orient="row")


def why_round(row: Mapping[str, Any], rules: str) -> list[str]:
    """Say what rules ask for at a round's end, and why; nothing where they have no act there.

    Parameters
    ----------
    row : mapping
        Of RECLAIM_ROUNDS.
    rules : str
        One of STALL_RULES.
    """
    context, pages = _round(row, rules)
    return explain_round(context, **pages)


def _round(row: Mapping[str, Any], rules: str) -> tuple[StallContext, dict[str, int]]:
    """Return who reclaims in a round, and how many pages it was about."""
    context = StallContext(
        rules=rules,
        priority=row["priority"],
        kswapd=row["kswapd"],
        memcg=row["memcg"] != 0,
        hibernation=row["hibernation"],
    )
    # Memory that can be compacted ends a reclaim as what was wanted does.
    wanted = 0 if row["ready"] else row["wanted"]
    return context, {"scanned": row["scanned"], "reclaimed": row["reclaimed"], "wanted": wanted}


def decide_sleeps(throttles: pl.DataFrame, *, hz: int = 250) -> pl.DataFrame:
    """Decide for calls that ask for a sleep how long it may be, and whether there is one.

    Parameters
    ----------
    throttles : polars.DataFrame
        Schema THROTTLES.
    hz : int
        Timer ticks a second, 100 or more; 250 in Debian's 6.1.

    Returns
    -------
    polars.DataFrame
        Schema STALL_SLEEPERS, in the order given.

    Raises
    ------
    InputError
        An unknown flag, or too few ticks.
    """
    THROTTLES.check(throttles)
    require_values(throttles, [name for name in throttles.columns if name not in _OF_2013])
    asked = ffi.new("struct sws_stall_sleeper *")
    timeout, declined = ffi.new("uint64_t *"), ffi.new("enum sws_stall_declined *")
    asked.hz = hz
    told = []
    for number, row in enumerate(throttles.iter_rows(named=True)):
        for name in ("kthread", "failures", "reclaimable", "write_pending", *_OF_2013):
            setattr(asked, name, row[name] or 0)
        reason = STALL_SLEEPS.index(row["reason"])
        if lib.sws_stall_sleep_length(reason, asked, timeout, declined) != lib.SWS_OK:
            raise InputError(f"row {number}: flags {row['flags']} at {hz} ticks a second cannot be")
        told.append((timeout[0], DECLINED[declined[0]]))
    return pl.DataFrame(told, schema=STALL_SLEEPERS.schema, orient="row")
