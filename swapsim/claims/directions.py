# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a figure go where a mail says? Claims of direction, and the rule that judges them.

The rule was stored before the first measured table of patch 03 (data/published/README.md).
"""

import re
from typing import Final

import polars as pl

from swapsim.claims.paired import Difference, difference
from swapsim.claims.tables import CLAIMS, DIRECTIONS, RESULTS
from swapsim.errors import InputError

STAYS_WITHIN_PERCENT: Final = 10.0
"""What changes by no more than this either way stays: a mail's words are rounded so, too."""

FEWEST_ROUNDS: Final = 5
"""With fewer all rounds may have one sign by accident: of 4, one time in eight."""

_WORD: Final = re.compile(r"(falls|rises|stays)\b")


def directions(claims: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Judge each claim of direction by the rounds of its two kernels.

    A claim of a table goes where its printed change goes, one in prose where its words say. Falls
    and rises hold if the interval of the paired difference lies on their side of zero, and are
    contradicted if it lies on the other; stays holds if it lies within STAYS_WITHIN_PERCENT of the
    base, and is contradicted if it lies outside. All else is open, and so is everything with
    fewer than FEWEST_ROUNDS.

    Parameters
    ----------
    claims : polars.DataFrame
        Schema CLAIMS.
    measured : polars.DataFrame
        Schema RESULTS: patch, metric and kernel as in the claims, seed is the round.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS, in the order of the claims; those without a direction, and those whose
        rows nobody measured, are left out.

    Raises
    ------
    InputError
        A table has another schema, or a round is there twice.
    """
    CLAIMS.check(claims)
    RESULTS.check(measured)
    if measured.select("patch", "metric", "kernel", "seed").is_duplicated().any():
        raise InputError("a round is there twice: give one set-up", field="seed")
    rows = []
    for claim in claims.iter_rows(named=True):
        claimed = claimed_direction(claim)
        where, row, kernels = claim["locator"].split(" | ")
        row, _, base_row = (row if where.startswith("prose") else claim["metric"]).partition(
            " against "
        )
        base_kernel, value_kernel = kernels.split(" -> ")
        found = difference(
            _rounds(measured, claim["patch"], base_row or row, base_kernel),
            _rounds(measured, claim["patch"], row, value_kernel),
        )
        if claimed is None or found is None:
            continue
        labels = {"claim": claim["claim"], "row": row, "published": claim["change"]}
        labels |= {"base_kernel": base_kernel, "value_kernel": value_kernel, "claimed": claimed}
        says = _says(claimed, found)
        verdict = "open" if found["rounds"] < FEWEST_ROUNDS else _VERDICTS[says]
        rows.append({**labels, **found, "says": says, "verdict": verdict})
    return DIRECTIONS.check(pl.DataFrame(rows, schema=DIRECTIONS.schema))


def claimed_direction(claim: dict[str, object]) -> str | None:
    """Say where a claim goes.

    Parameters
    ----------
    claim : dict
        A row of CLAIMS.

    Returns
    -------
    str or None
        ``falls``, ``rises`` or ``stays``; None if it says nothing about that.
    """
    word = _WORD.match(str(claim["metric"]).rpartition(": ")[2])
    if word:
        return word[1]
    change, base, value = (claim[name] for name in ("change", "base", "value"))
    if isinstance(change, float):
        if abs(change) <= STAYS_WITHIN_PERCENT:
            return "stays"
        return "falls" if change < 0 else "rises"
    if isinstance(base, float) and isinstance(value, float):
        return "stays" if value == base else "rises"  # above a base of zero there is no percent
    return None


_VERDICTS: Final = {"for": "holds", "against": "contradicted", "neither": "open"}


def _says(claimed: str, found: Difference) -> str:
    """Say what the interval of the difference makes of a claim."""
    low, high = found["low"], found["high"]
    if claimed != "stays":
        return {claimed: "for", "either": "neither"}.get(found["seen"], "against")
    width = STAYS_WITHIN_PERCENT / 100 * abs(found["base"])
    if -width <= low and high <= width:
        return "for"
    return "against" if low > width or high < -width else "neither"


def _rounds(measured: pl.DataFrame, patch: str, metric: str, kernel: str) -> pl.DataFrame:
    return measured.filter(patch=patch, metric=metric, kernel=kernel).select("seed", "value")
