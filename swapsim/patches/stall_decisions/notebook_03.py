# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 03 needs alone: the runs of a real kernel, and those of the simulation."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.patches import rounds
from swapsim.patches.stall_decisions.lab import OF_SIZE, as_mailed, in_order_of_rules
from swapsim.patches.stall_decisions.mail import RULES, STEPS, change_by_series, printed
from swapsim.study import over, wide

WORK: Final = (
    *("Kswapd pages scanned", "Direct pages scanned", "Kswapd efficiency"),
    *("Page writes file", "Page writes anon", "Stalls congestion_wait"),
    *("Stalls wait_iff_congested", "Ops memcachetest-2.84", "Ops io-duration-2.84"),
)
"""Metrics of the lab whose steps are shown."""


_ALONG: Final = {
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Page writes file": "file pages written by reclaim",
    "Ops memcachetest": "operations a second",
    "Ops io-duration": "seconds for the file",
}
"""Metrics that are drawn along the rule sets, in words."""

HEADLINES: Final = {name: _ALONG[name] for name in ("Kswapd pages scanned", "Page writes file")}
"""The rows of the card's headlines."""


def along_rules(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the medians of some metrics along the rule sets, by the size of the file."""
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    medians = rounds.medians(measured.filter(metric.is_in(_ALONG)))
    figure = metric.replace_strict(_ALONG, return_dtype=pl.Enum(_ALONG.values()))
    named = medians.select("policy", "rounds", "median", "low", "high", figure=figure, size=size)
    return named.sort("figure", in_order_of_rules(), "size")


def draw_along(along: pl.DataFrame) -> alt.ConcatChart:
    """Draw the medians along the rule sets, with their intervals: a panel per figure."""
    return charts.lines(
        *(along, "policy", "median", "size"),
        title="Linux 6.1 run by each rule set",
        subtitle="medians, intervals; one CPU, one disk; files of 0 to 2.84 times the memory left",
        words={
            "size": "file size, in units of the remaining memory",
            "policy": "rule set",
            "median": "{}",
        },
        panel="figure",
        columns=2,
        own_axes=True,
        width=340,
        height=170,
        format="~s",
    )


_HOLDERS: Final = {
    "free": "free",
    "active_anon": "of programs, active",
    "inactive_anon": "of programs, inactive",
    "clean": "of files, clean",
    "dirty": "of files, dirty",
    "written": "of files, being written",
}
"""Columns of `runs.BY_TIME` in words."""


def memory_over_time(by_time: pl.DataFrame) -> alt.ConcatChart:
    """Draw who holds memory in each sixth second of a simulated round, a panel per rule set."""
    each = by_time.filter(pl.col("t_s").cast(pl.Int64) % 6 == 1)
    gigabytes = each.select("rules", "t_s", (pl.col(*_HOLDERS) / 2**18).round_sig_figs(3))
    return charts.areas(
        gigabytes.rename(_HOLDERS).unpivot(
            [*_HOLDERS.values()], index=["rules", "t_s"], variable_name="part", value_name="memory"
        ),
        *("t_s", "memory", "part"),
        title="One simulated round with a file of 2385 MB: who holds memory",
        subtitle="one seed; the file begins soon after the pool is filled",
        words={"t_s": "seconds", "memory": "memory, GB", "part": "pages"},
        panel="rules",
    )


def three_sources(
    simulated: pl.DataFrame, measured: pl.DataFrame, rows: Sequence[str], target: str = "disk"
) -> pl.DataFrame:
    """Return rows of the mail: as printed, simulated, and measured in the lab.

    Both frames are RESULTS; a figure is the median over their seeds or rounds, with its interval.
    """
    found = {
        "published": printed(target, rows),
        "simulated": _in_rows(simulated, rows, target),
        "measured": _in_rows(as_mailed(measured, target), rows, target),
    }
    table = pl.concat(
        frame.select(pl.lit(source).alias("source"), "row", *RULES, "change")
        for source, frame in found.items()
    )
    order = pl.DataFrame({"row": rows})
    return order.join(table, on="row", maintain_order="left_right")


def _in_rows(results: pl.DataFrame, rows: Sequence[str], target: str) -> pl.DataFrame:
    """Return rows of one target in the form of `mail.printed`."""
    row = pl.col("metric").str.strip_prefix(f"{target}: ").str.strip_prefix("Ops ")
    own = results.filter(pl.col("metric").str.starts_with(f"{target}: "), row.is_in(list(rows)))
    medians = rounds.medians(own.with_columns(metric=row))
    values = medians.pivot("policy", index="metric", values="median")
    changes = values.select("metric", change=change_by_series())
    texts = rounds.side_by_side(medians.with_columns(kernel=pl.lit("")), rows)
    return texts.join(changes, on="metric", maintain_order="left").rename({"metric": "row"})


def by_lists(node: pl.DataFrame) -> pl.DataFrame:
    """Return medians of some rows (RESULTS), a line for each kind of lists and each rule set."""
    row = pl.col("metric").str.strip_prefix("disk: ")
    rows = node.select("seed", "value", lists="kernel", rules="policy", metric=row)
    medians = over(rows).select("lists", "rules", "metric", "middle")
    some = ("Ops memcachetest-2385M", "Swap Outs", "Kswapd pages scanned", "Page writes file")
    return wide(medians, value="middle", only=some)


def _ends(measured: pl.DataFrame, metric: str) -> dict[str, Any] | None:
    """Return the step from the base to all eight patches; None if it has no sure sign."""
    ends = rounds.steps(measured, (STEPS[0], STEPS[-1]), [metric]).row(0, named=True)
    return None if ends["seen"] == "either" or ends["base"] == 0 else ends


def works(measured: pl.DataFrame) -> str:
    """Return which patches make the changes of the headline figures."""
    made = {metric: _first_patches(measured, metric) for metric in HEADLINES}
    if len(set(made.values())) == 1 and None not in made.values():
        figures = " and in ".join(HEADLINES.values())
        return f"Of the changes in {figures} {made.popitem()[1]}."
    parts = [f"of {HEADLINES[metric]} {words}" for metric, words in made.items() if words]
    return f"Of the changes in these runs, {'; '.join(parts)}." if parts else ""


def _first_patches(measured: pl.DataFrame, metric: str) -> str | None:
    """Return the share of a figure's change that the first patches make; None without a change."""
    ends = _ends(measured, metric)
    if ends is None:
        return None
    values = rounds.steps(measured, STEPS, [metric])["value"]
    shares = (values - ends["base"]) / (ends["value"] - ends["base"])
    # With nine tenths, the change from mmotm to the complete series counts as done.
    there, share = next((n, share) for n, share in enumerate(shares) if share >= 0.9)
    return f"{100 * share:.0f} % is made by the first {_NUMBERS[there]} of the eight patches"


_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
