# SPDX-License-Identifier: GPL-2.0-or-later
"""What pencil and paper give before any machine runs: acquisitions saved times time in waiting."""

import itertools
from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.errors import ConfigError
from swapsim.machine.costs import costs
from swapsim.machine.tables import REWRITE
from swapsim.removal.tables import WAITS_NEEDED

MAIL: Final = "B-batched-removal"
_CPU_TIME: Final = "System"


def waits_needed(*, acquisitions_a_page: float, saved_a_page: float) -> pl.DataFrame:
    """Say how much of the system time must be waits for the mapping's lock, for each published row.

    If a wait costs the same before and after, waits fall by the share of acquisitions that the
    patch saves, and system time by that share of the waits. So a row's change asks for waits of at
    least its change over that share; above 100 percent, fewer acquisitions cannot be all: waits
    must have become shorter as well, or other time have gone.

    Parameters
    ----------
    acquisitions_a_page : float
        Of the mapping's lock for one page, all sites together, without the patch: above 0.
    saved_a_page : float
        Of these the patch saves: above 0, at most all of them.

    Returns
    -------
    polars.DataFrame
        Schema WAITS_NEEDED, one row per published system time of patch B, in the order of the
        claims.

    Raises
    ------
    ConfigError
        Naming the argument that is out of its range.

    Notes
    -----
    Source: data/published/claims.csv, rows of patch 02.
    """
    if not acquisitions_a_page > 0:
        raise ConfigError(f"acquisitions_a_page={acquisitions_a_page}: give a number above 0")
    if not 0 < saved_a_page <= acquisitions_a_page:
        raise ConfigError(
            f"saved_a_page={saved_a_page}: give a number above 0, at most {acquisitions_a_page}"
        )
    saved = saved_a_page / acquisitions_a_page
    needed = pl.when(pl.col("change") < 0).then(-pl.col("change") / saved)
    frame = (
        claims.published_claims()
        .filter(
            (pl.col("mail") == MAIL)
            & pl.col("metric").str.contains(_CPU_TIME, literal=True)
            & pl.col("value").is_not_null()
        )
        .select(
            "claim",
            "base",
            "value",
            "change",
            saved_percent=pl.lit(100 * saved),
            needed_percent=needed,
            enough=needed <= 100,
        )
    )
    return WAITS_NEEDED.check(frame)


_REWRITE_TIMES: Final = "Amean pwrite-single-rewrite-async-"
_FILE_ACQUISITIONS: Final = 5
"""Of the file's mapping for a page: added, dirtied, writeback begun and ended, removed."""

_FILE_SIZE: Final = 3
"""Times the memory."""

_LIST_PAGES: Final = 32


def rewrite(
    memory_gb: Sequence[float] = (4, 8, 16), hold_ns: Sequence[int] = (100, 300, 1000)
) -> pl.DataFrame:
    """Say what batching saves where one file is written anew, behind it a kswapd.

    The machine has no pages of files, so this is arithmetic: writer, flusher and kswapd take the
    lock five times a page, one of them with the patch once in 32 pages. Whoever comes while it is
    held waits for half a hold; and its line travels.

    Parameters
    ----------
    memory_gb : sequence of float
        The mail does not say how much there was. The file is three times as large, and was
        written at 37 MB/s with 4 GB, at 150 with 16.
    hold_ns : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema REWRITE.

    Source
    ------
    data/published/02-batched-removal.csv, table xfsio; facts on the benchmarks.
    """
    known = dict(
        claims.published_tables()
        .filter(pl.col("mail") == MAIL, pl.col("table") == "xfsio", pl.col("kernel") == "vanilla")
        .select("metric", "value")
        .iter_rows()
    )
    system, elapsed = (known[f"{_REWRITE_TIMES}{part}"] for part in ("System", "Elapsd"))
    travel = costs().filter(name="travel_same_socket_ns")["value"].item()
    rows = []
    for memory, hold in itertools.product(memory_gb, hold_ns):
        pages = _FILE_SIZE * memory * 2**30 / 2**12
        held = pages * _FILE_ACQUISITIONS * hold / 1e9 / elapsed
        wait = held * hold / 2 + travel
        saved = pages * (1 - 1 / _LIST_PAGES) * wait / 1e9
        rows.append((memory, hold, pages / elapsed, 100 * held, wait, 100 * saved / system))
    return pl.DataFrame(rows, schema=REWRITE.schema, orient="row")
