# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 03 needs alone: the runs of a real kernel, and those of the simulation."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim import claims
from swapsim.charts import colours, general
from swapsim.claims.texts import figure_text
from swapsim.frames.cases import first
from swapsim.patches.stall_decisions.lab import OF_SIZE, as_mailed, in_order_of_rules
from swapsim.patches.stall_decisions.mail import RULES, STEPS, change_by_series, printed
from swapsim.stall.tables import VERIFIED_STALLS
from swapsim.study.summary import over, wide

WORK: Final = (
    *("Kswapd pages scanned", "Direct pages scanned", "Kswapd efficiency"),
    *("Page writes file", "Page writes anon", "Stalls congestion_wait"),
    *("Stalls wait_iff_congested", "Ops memcachetest-2.84", "Ops io-duration-2.84"),
)
"""Metrics of the lab whose steps are shown."""

_DIRECTIONS: Final = {
    "falls": colours.SIGNS["falls"],
    "stays": "#b5b5b5",
    "rises": colours.SIGNS["rises"],
    "open": colours.SIGNS["either"],
}
"""Colours of the directions that a row can go."""

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
    medians = claims.medians(measured.filter(metric.is_in(_ALONG)))
    figure = metric.replace_strict(_ALONG, return_dtype=pl.Enum(_ALONG.values()))
    named = medians.select("policy", "rounds", "median", "low", "high", figure=figure, size=size)
    return named.sort("figure", in_order_of_rules(), "size")


def draw_along(along: pl.DataFrame) -> alt.ConcatChart:
    """Draw the medians along the rule sets, with their intervals: a panel per figure."""
    return general.lines(
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


def by_statement(held: pl.DataFrame) -> pl.DataFrame:
    """Return the cases that hold of each part of a patch's statement, a column per rule set."""
    text = pl.format("{} of {}", "held", "cases")
    table = held.with_columns(text=text).pivot("rules", index=["claim", "part"], values="text")
    patch = pl.col("claim").str.extract(r"-patch-(\d)-").alias("patch")
    return table.select(patch, pl.col("part").alias("cases"), pl.exclude("claim", "part"))


def by_target(judged: pl.DataFrame) -> pl.DataFrame:
    """Return the direction of each row of both targets, from mmotm to the series, in mail and lab.

    ``judged`` are the patch's claims (THREE_COLUMNS). Rows that stay everywhere are left out.
    """
    named, claimed = pl.col("metric").str, pl.col("claimed").cast(pl.String)
    verdict = pl.col("measured_verdict")
    lab = first(
        (verdict == "confirmed", claimed),
        ((verdict == "contradicted") & (pl.col("measured_low") > 0), "rises"),
        (verdict == "contradicted", "falls"),
        (verdict == "open", "open"),
    )
    rows = judged.filter(~pl.col("claim").str.contains("prose")).select(
        row=named.extract(r": (?:Ops )?(.+)$"),
        target=named.extract("^(disk|nfs):").replace("nfs", "NFS"),
        mail=claimed,
        lab=lab,
    )
    directions = (
        rows.drop_nulls()
        .unpivot(
            ["mail", "lab"], index=["row", "target"], variable_name="source", value_name="direction"
        )
        .with_columns(column=pl.format("{}, {}", "source", "target"))
    )
    order = ["mail, disk", "lab, disk", "mail, NFS", "lab, NFS"]
    moves = (pl.col("direction") != "stays").any() & (pl.len() == len(order))
    names = {row: place for place, row in enumerate(rows["row"].unique(maintain_order=True))}
    return (
        directions.filter(moves.over("row"))
        .sort(pl.col("row").replace_strict(names), pl.col("column").cast(pl.Enum(order)))
        .select("row", "column", "direction")
    )


def describe_by_target(directions: pl.DataFrame) -> str:
    """Return in how many rows of `by_target` the lab goes the mail's way, another one, or none."""
    return "\n".join(
        f"{where} the lab goes the mail's way in {same} of {rows} rows, another way in "
        f"{rows - same - unknown}; {unknown} are open."
        for where, (rows, same, unknown) in _counts_by_target(directions).items()
    )


def _counts_by_target(directions: pl.DataFrame) -> dict[str, tuple[int, int, int]]:
    """Return, by target, the rows, those in which the lab goes the mail's way, and open ones."""
    rows = directions.pivot("column", index="row", values="direction")
    counts = {}
    for target, where in (("disk", "On the disk"), ("NFS", "Over NFS")):
        mail, lab = (rows[f"{source}, {target}"] for source in ("mail", "lab"))
        counts[where] = rows.height, int((mail == lab).sum()), int((lab == "open").sum())
    return counts


def draw_by_target(directions: pl.DataFrame) -> alt.ConcatChart:
    """Draw the table of `by_target`."""
    return general.heat(
        *(directions, "column", "row", "direction"),
        title="From mmotm to the series, on a disk and over NFS",
        subtitle="rows that stay everywhere are left out",
        words={"column": "", "row": "", "direction": "the row"},
        colour=_DIRECTIONS,
        width=320,
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
    return general.areas(
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
    medians = claims.medians(own.with_columns(metric=row))
    values = medians.pivot("policy", index="metric", values="median")
    changes = values.select("metric", change=change_by_series())
    texts = claims.side_by_side(medians.with_columns(kernel=pl.lit("")), rows)
    return texts.join(changes, on="metric", maintain_order="left").rename({"metric": "row"})


def by_lists(node: pl.DataFrame) -> pl.DataFrame:
    """Return medians of some rows (RESULTS), a line for each kind of lists and each rule set."""
    row = pl.col("metric").str.strip_prefix("disk: ")
    rows = node.select("seed", "value", lists="kernel", rules="policy", metric=row)
    medians = over(rows).select("lists", "rules", "metric", "middle")
    some = ("Ops memcachetest-2385M", "Swap Outs", "Kswapd pages scanned", "Page writes file")
    return wide(medians, value="middle", only=some)


def verdict(verified: pl.DataFrame, measured: pl.DataFrame, judged: pl.DataFrame) -> str:
    """Return the lead of notebook 03; ``judged`` are the patch's claims (THREE_COLUMNS)."""
    found = VERIFIED_STALLS.check(verified)
    series, every = (
        f"{int(rows['decided'].sum()):,} of {int(rows['passes'].sum()):,}"
        for rows in (found.filter(rules=STEPS[-1]), found)
    )
    counts = claims.verdicts_by_mail(judged).filter(source="measured")
    confirmed, against, undecided = (
        int(counts[name].sum()) for name in ("confirmed", "contradicted", "open")
    )
    over_nfs = pl.col("metric").str.starts_with("nfs: ") & pl.col("repeats").is_null()
    against_nfs = judged.filter(over_nfs, measured_verdict="contradicted").height
    (moved, on_disk, unsure), (_, on_nfs, _) = _counts_by_target(by_target(judged)).values()
    changes = " and ".join(_moved(measured, metric) for metric in HEADLINES)
    direct, near, far = (
        judged.row(by_predicate=pl.col("claim") == claim, named=True) for claim in _OF_LEAD
    )
    within = claims.range_text(near["measured_low"], near["measured_high"], "%", relative=True)
    return claims.lead_on(
        f"With patch C's rules in Linux 6.1 reclaim sleeps only after a list; {changes}.",
        does=f"kswapd, the reclaim thread, writes file pages only after a list whose "
        f"pages are all dirty, none being written. By these rules the model decides {series} "
        f"passes over memory as a real kernel did; in all, with 6.1's and mmotm's, {every}.",
        worth=f"The lab confirms {confirmed} of {confirmed + against + undecided} claims "
        f"({against} contradicted, {against_nfs} over NFS in a guest that serves itself). Of rows "
        f"that move, {on_disk} of {moved} go the mail's way on the disk ({unsure} open; NFS: "
        f"{on_nfs}); direct reclaim does {direct['measured_value']:.3g} % of scans (mail: "
        f"{direct['value']:g} %).",
        when=f"On a disk, for memcached: its rate next to the largest file changes by "
        f"{figure_text(near['measured'], '%', relative=True)} ({within}), as mmotm has cured its "
        f"collapse. Over NFS that guest, unlike the mail's machine, collapses with mmotm; "
        f"the series cures it: {far['measured_base']:,.0f} to "
        f"{far['measured_value']:,.0f} operations a second.",
    )


_OF_LEAD: Final = (
    "C-disk-percentage-direct-scans",
    "C-disk-memcachetest-4055m",
    "C-nfs-memcachetest-4055m",
)


def _moved(measured: pl.DataFrame, metric: str) -> str:
    """Return how a figure changes with all eight patches."""
    ends = _ends(measured, metric)
    if ends is None:
        return f"{HEADLINES[metric]} go neither way in all rounds"
    change = 100 * (ends["value"] / ends["base"] - 1)
    way = "fall" if change < 0 else "rise"
    return f"{HEADLINES[metric]} {way} by {figure_text(abs(change), '%', relative=False)}"


def _ends(measured: pl.DataFrame, metric: str) -> dict[str, Any] | None:
    """Return the step from the base to all eight patches; None if it has no sure sign."""
    ends = claims.steps(measured, (STEPS[0], STEPS[-1]), [metric]).row(0, named=True)
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
    values = claims.steps(measured, STEPS, [metric])["value"]
    shares = (values - ends["base"]) / (ends["value"] - ends["base"])
    # With nine tenths, the change from mmotm to the complete series counts as done.
    there, share = next((n, share) for n, share in enumerate(shares) if share >= 0.9)
    return f"{100 * share:.0f} % is made by the first {_NUMBERS[there]} of the eight patches"


_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
