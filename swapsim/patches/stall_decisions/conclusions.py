# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch C is found to do: in the runs of a real kernel, and on the lists of one."""

from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.directions import FEWEST_ROUNDS
from swapsim.patches.stall_decisions.lab import STEPS, directions, steps
from swapsim.schemas import DIRECTIONS, require

HEADLINES: Final = {
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Page writes file": "file pages written by reclaim",
}
"""The rows that the card leads with, and their words."""

MOST: Final = 0.9
"""Of the whole change: with so much the work is done."""


def verdict_in_runs(measured: pl.DataFrame) -> str:
    """Say what the rules of 2013 do in a real 6.1.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of `lab.EXPERIMENT`.

    Returns
    -------
    str
        Two sentences.
    """
    judged = require(directions(measured), DIRECTIONS, "DIRECTIONS")
    rounds = min(judged["rounds"].to_list())
    few = f" (a verdict needs {FEWEST_ROUNDS})" if rounds < FEWEST_ROUNDS else ""
    moves = pl.col("claimed") != "stays"
    return (
        f"Run by the rules of 2013, {rounds} rounds of each{few}, a real Linux 6.1 speaks "
        f"{_counted(judged.filter(moves))} claims that something falls or rises, and "
        f"{_counted(judged.filter(~moves))} that it stays. Against mmotm, "
        f"{' and '.join(_work(measured, metric) for metric in HEADLINES)}."
    )


def _counted(judged: pl.DataFrame) -> str:
    said = {word: (judged["says"] == word).sum() for word in ("for", "against")}
    return f"for {said['for']} and against {said['against']} of {judged.height}"


def _work(measured: pl.DataFrame, metric: str) -> str:
    """Say how far a figure goes with all eight patches, and within how many of them it is there."""
    base, *prefixes = STEPS
    ends = claims.steps(measured, (base, prefixes[-1]), [metric]).row(0, named=True)
    words = HEADLINES[metric]
    if ends["seen"] == "either" or ends["base"] == 0:
        return f"{words} go neither way in all rounds"
    change = ends["value"] - ends["base"]
    values = dict(steps(measured, [metric]).select("policy", "value").iter_rows())
    shares = {prefix: (values[prefix] - ends["base"]) / change for prefix in prefixes}
    there = next(prefix for prefix, share in shares.items() if share >= MOST)
    return (
        f"{words} go from {ends['base']:,.0f} to {ends['value']:,.0f}, {100 * shares[there]:.0f} % "
        f"of the way with the first {there.removeprefix('series-')} of the eight patches"
    )
