# SPDX-License-Identifier: GPL-2.0-or-later
"""What pencil and paper give before any machine runs: acquisitions saved times time in waiting."""

from typing import Final

import polars as pl

from swapsim import claims
from swapsim.errors import ConfigError
from swapsim.schemas import WAITS_NEEDED, require

PATCH: Final = "02-batched-removal"
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
            (pl.col("patch") == PATCH)
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
    return require(frame, WAITS_NEEDED, "waits needed")
