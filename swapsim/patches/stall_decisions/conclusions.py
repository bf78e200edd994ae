# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch C is found to do: in the runs of a real kernel, and on the lists of one."""

from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.directions import FEWEST_ROUNDS
from swapsim.patches.stall_decisions.lab import STEPS, directions, steps
from swapsim.schemas import DIRECTIONS, PAIRED, require

HEADLINES: Final = {
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Page writes file": "file pages written by reclaim",
}
"""The rows that the card leads with, and their words."""


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
    count = {word: (judged["says"] == word).sum() for word in ("for", "against")}
    few = f" (judged from {FEWEST_ROUNDS} rounds on)" if rounds < FEWEST_ROUNDS else ""
    return (
        f"Run by the rules of 2013, in {rounds} rounds, a real Linux 6.1 speaks for {count['for']} "
        f"of the mail's {judged.height} claims of direction that it can show and against "
        f"{count['against']}{few}. Against mmotm, "
        f"{' and '.join(_work(measured, metric) for metric in HEADLINES)}."
    )


def _work(measured: pl.DataFrame, metric: str) -> str:
    """Say how far a figure goes with all eight patches, and which of them goes farthest."""
    ends = claims.steps(measured, (STEPS[0], STEPS[-1]), [metric]).row(0, named=True)
    words = HEADLINES[metric]
    if ends["seen"] == "either" or ends["base"] == 0:
        return f"{words} go neither way in all rounds"
    change = ends["value"] - ends["base"]
    farthest = max(
        require(steps(measured, [metric]), PAIRED, "PAIRED").iter_rows(named=True),
        key=lambda step: (step["value"] - step["base"]) / change,
    )
    share = (farthest["value"] - farthest["base"]) / change
    return (
        f"{words} go from {ends['base']:,.0f} to {ends['value']:,.0f}, "
        f"{100 * share:.0f} % of that with patch {farthest['policy'].removeprefix('series-')}"
    )
