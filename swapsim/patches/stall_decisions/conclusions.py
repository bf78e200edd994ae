# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch C does, in sentences: on the lists of a real kernel, in its runs, and simulated."""

from typing import Final

import polars as pl

from swapsim import claims, traces
from swapsim.claims.judging import FEWEST_ROUNDS
from swapsim.claims.tables import DIRECTIONS
from swapsim.patches.stall_decisions.lab import (
    LAB_FACTOR,
    compare_orders,
    compare_with_lab,
    directions,
    steps,
)
from swapsim.patches.stall_decisions.mail import STEPS
from swapsim.patches.stall_decisions.tables import SIMULATED_VERDICTS
from swapsim.stall.tables import VERIFIED_STALLS
from swapsim.stall.verify import verified_stalls

HEADLINES: Final = {
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Page writes file": "file pages written by reclaim",
}
"""The rows of the card's headlines, and their words."""


def verdict(verified: pl.DataFrame, measured: pl.DataFrame) -> str:
    """Return what patch C's rules decide on the lists of a kernel, and what they do in its runs.

    Parameters
    ----------
    verified, measured : polars.DataFrame
        Schemas VERIFIED_STALLS, and RESULTS of EXPERIMENT.

    Returns
    -------
    str
        Two paragraphs.
    """
    return f"{verdict_on_lists(verified)}\n\n{verdict_in_runs(measured)}"


def verdict_simulated(judged: pl.DataFrame, guests: pl.DataFrame, measured: pl.DataFrame) -> str:
    """Return how near the simulations come to the mail's tables and to the lab.

    Parameters
    ----------
    judged : polars.DataFrame
        Schema SIMULATED_VERDICTS.
    guests, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    str
        Two paragraphs.
    """
    return f"{verdict_in_simulation(judged)}\n\n{verdict_in_lab_guest(guests, measured)}"


def verdict_on_lists(verified: pl.DataFrame) -> str:
    """Return how far the rules decide as a real kernel did."""
    names = ("folios", "lists", "counted", "passes", "decided", "throttles", "held")
    found = VERIFIED_STALLS.check(verified)
    total = {name: int(found[name].sum()) for name in names}
    return (
        f"Of {total['passes']:,} passes of reclaim that a real kernel made in {found.height} runs, "
        f"the model of patch C's rules decides {total['decided']:,} as the kernel did; it has the "
        f"same counters for {total['counted']:,} of {total['lists']:,} lists and the same decision "
        f"for {total['held']:,} of {total['throttles']:,} requests for a throttle."
    )


def counted() -> str:
    """Return `verdict_on_lists` on the shipped traces."""
    return verdict_on_lists(verified_stalls(traces.shipped("stall-decisions")))


def headline_fit() -> None:
    """Return None: the reclaim simulator is not fitted by the contention machine's constants."""


def chances() -> None:
    """Return None: the mail prints no deviation of a run."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the patch changes no lock."""


def verdict_in_runs(measured: pl.DataFrame) -> str:
    """Return what the rules of 2013 do in a real 6.1."""
    judged = DIRECTIONS.check(directions(measured))
    rounds = min(judged["rounds"].to_list())
    few = f" (a verdict needs {FEWEST_ROUNDS})" if rounds < FEWEST_ROUNDS else ""
    moves = pl.col("claimed") != "stays"
    return (
        f"A real Linux 6.1 that runs by the rules of 2013, {rounds} rounds of each{few}, "
        f"{_counted(judged.filter(moves))} claims that a figure falls or rises and "
        f"{_counted(judged.filter(~moves))} claims that it stays; the others are open. From mmotm "
        f"to the complete series, {_works(measured)}."
    )


def verdict_in_simulation(judged: pl.DataFrame) -> str:
    """Return how near the simulated tables come to the mail's."""
    rows = SIMULATED_VERDICTS.check(judged).filter(pl.col("standing") != "not modelled")
    by_size = rows.filter(pl.col("cells") > 0)
    order = {word: (rows["order"] == word).sum() for word in ("holds", "contradicted", "open")}
    sized = (by_size["inside"] == by_size["cells"]).sum()
    asked = rows.drop_nulls("order").height
    return (
        f"In a simulation of the mail's machine by these rules, the three kernels stand in the "
        f"mail's order in {order['holds']} of the {asked} rows that order them; in "
        f"{order['contradicted']} rows they do not, and {order['open']} are open. {sized} of "
        f"{by_size.height} rows come within a factor of two of the mail. {_collapses(rows)}"
    )


def verdict_in_lab_guest(simulated: pl.DataFrame, measured: pl.DataFrame) -> str:
    """Return how near the simulated lab guest comes to the lab.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    str
        Two sentences.
    """
    table = compare_with_lab(simulated, measured)
    order = compare_orders(simulated, measured).filter(pl.col("pairs") > 0)
    pairs, right = (int(order[name].sum()) for name in ("pairs", "in_order"))
    return (
        f"Of {table.height} figures of the lab's test, {int(table['near'].sum())} are within a "
        f"factor of {LAB_FACTOR}. Of the {pairs} pairs of rule sets that the lab distinguishes, "
        f"{right} are in the lab's order; in {int(order['holds'].sum())} of {order.height} rows "
        "all of them are."
    )


def _collapses(rows: pl.DataFrame) -> str:
    """Return where memcached collapses by 3.9's rules alone, and what the series costs it there."""
    large = rows.drop_nulls("collapse")
    sentences = []
    for table, words in {"parallelio, disk": "On a disk", "parallelio, nfs": "Over NFS"}.items():
        of_one = large.filter(table=table)
        collapses = (
            "as in the mail, memcached collapses next to large files by the rules of 3.9 only"
            if of_one["collapse"].all()
            else "unlike in the mail, memcached collapses under the later rules, too"
        )
        points, printed = (
            " and ".join(f"{round(value, 1) + 0.0:+.1f}" for value in of_one[name])
            for name in ("points", "change")
        )
        sentences.append(
            f"{words}, {collapses}; the series changes its rate against mmotm by {points} % "
            f"(published: {printed} %)."
        )
    return " ".join(sentences)


def _counted(judged: pl.DataFrame) -> str:
    said = {word: (judged["says"] == word).sum() for word in ("for", "against")}
    return f"supports {said['for']} and contradicts {said['against']} of {judged.height}"


def _works(measured: pl.DataFrame) -> str:
    """Return how the headline figures change with all eight patches, and which patches do it."""
    found = [_work(measured, metric) for metric in HEADLINES]
    shares = {share for _, share in found}
    if len(shares) == 1 and "" not in shares:
        figures = " and ".join(words for words, _ in found)
        return f"{figures}; of each change, {shares.pop()}"
    return " and ".join(
        f"{words} (of the change, {share})" if share else words for words, share in found
    )


def _work(measured: pl.DataFrame, metric: str) -> tuple[str, str]:
    """Return how a figure changes, and the share of the change that the first patches make."""
    base, *prefixes = STEPS
    ends = claims.steps(measured, (base, prefixes[-1]), [metric]).row(0, named=True)
    words = HEADLINES[metric]
    if ends["seen"] == "either" or ends["base"] == 0:
        return f"{words} go neither way in all rounds", ""
    change = ends["value"] - ends["base"]
    values = dict(steps(measured, [metric]).select("policy", "value").iter_rows())
    shares = {prefix: (values[prefix] - ends["base"]) / change for prefix in prefixes}
    # With nine tenths, the change from mmotm to the complete series counts as done.
    there = next(prefix for prefix, share in shares.items() if share >= 0.9)
    return (
        f"{words} go from {ends['base']:,.0f} to {ends['value']:,.0f}",
        f"{100 * shares[there]:.0f} % is made by the first {there.removeprefix('series-')} "
        "of the eight patches",
    )
