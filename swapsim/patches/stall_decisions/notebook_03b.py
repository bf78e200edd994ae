# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 03b needs alone: the simulation against the mail and the lab, and what varies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim import claims, frames, reclaim
from swapsim.charts import general
from swapsim.claims.judging import STAYS_WITHIN_PERCENT
from swapsim.claims.rounds import spread
from swapsim.claims.texts import figure_text
from swapsim.frames.cases import first
from swapsim.patches.stall_decisions import lab, lab_guest
from swapsim.patches.stall_decisions.judgement import FACTOR, orders
from swapsim.patches.stall_decisions.mail import BASE, RULES, SERIES, change_by_series, printed
from swapsim.study.summary import over, wide

WORK: Final = (
    *("Kswapd pages scanned", "Direct pages scanned", "Kswapd efficiency"),
    *("Page writes file", "Swap Outs", "Page reclaim immediate"),
    *("Ops memcachetest-2385M", "Ops io-duration-4055M"),
)
"""Metrics of the simulation whose steps are shown."""

_CELL: Final = ["table", "metric", "rules"]


def score(judged: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts on the mail's rows (SIMULATED_VERDICTS), table by table."""
    order, sized = pl.col("order"), pl.col("cells") > 0
    return judged.group_by("table", maintain_order=True).agg(
        rows=pl.len(),
        modelled=sized.sum(),
        order_asked=order.is_not_null().sum(),
        **{f"order_{word}": (order == word).sum() for word in ("reproduced", "missed", "open")},
        sized=(sized & (pl.col("inside") == pl.col("cells"))).sum(),
        cells=pl.col("cells").cast(pl.UInt32).sum(),
        cells_sized=pl.col("inside").cast(pl.UInt32).sum(),
    )


def describe_score(scored: pl.DataFrame) -> str:
    """Return how many rows of the mail's tables are in its order and of its size, by target."""
    parts = []
    for target, where in (("disk", "On the disk"), ("nfs", "Over NFS")):
        own = scored.filter(pl.col("table").str.ends_with(f", {target}"))
        names = ("order_reproduced", "order_asked", "sized", "modelled", "cells_sized", "cells")
        right, asked, sized, rows, inside, cells = (int(own[name].sum()) for name in names)
        parts.append(
            f"{where} the order is reproduced in {right} of {asked} rows. {inside} of {cells} "
            f"cells are within a factor of {FACTOR:.0f}, and all cells of {sized} of {rows} rows."
        )
    return "\n".join(parts)


_FURTHEST: Final = 32  # a quotient further from 1 is drawn here, as another shape


def draw_ratios(cells: pl.DataFrame, seeds: int) -> alt.ConcatChart:
    """Draw simulated divided by published figures: a line per row, a mark per kernel."""
    own = cells.drop_nulls("ratio")
    edge = pl.col("ratio").clip(1 / _FURTHEST, _FURTHEST)
    kind = first(
        (edge != pl.col("ratio"), "is beyond the axis"),
        ("judged", "is predicted"),
        otherwise="gives a constant",
    ).cast(pl.Enum(("is predicted", "gives a constant", "is beyond the axis")))
    row = pl.col("metric").str.strip_prefix("Ops ")
    server = pl.when(pl.col("table").str.ends_with("disk")).then(pl.lit("on a disk"))
    where = server.otherwise(pl.lit("on an NFS server"))
    return general.points(
        own.select("rules", row=row, ratio=edge.round_sig_figs(3), kind=kind, where=where),
        *("ratio", "row", "rules"),
        shape="kind",
        title="Simulated divided by published: a file on a disk, and on an NFS server",
        subtitle=f"means of {seeds} seeds; cells that are zero on one side are not drawn; "
        "grey: within a factor of two",
        words={"ratio": "simulated divided by published", "kind": "the cell", "row": "row"},
        log="x",
        domain=(0.9 / _FURTHEST, _FURTHEST / 0.9),
        band=(1 / FACTOR, FACTOR),
        panel="where",
        width=290,
    )


_HOLDERS: Final = {
    "free": "free",
    "active_anon": "of programs, active",
    "inactive_anon": "of programs, inactive",
    "clean": "of files, clean",
    "dirty": "of files, dirty",
    "written": "of files, being written",
}
_SCANS: Final = {"scanned_normal": "Normal", "scanned_dma32": "DMA32"}
_SLEEPERS: Final = {
    "kswapd_sleeps": "kswapd, in reclaim",
    "tasks_sleep": "tasks, in reclaim",
    "writer_throttled": "writer, throttled",
    "client_waits": "client, for its pages",
}
"""Columns of `runs.BY_TIME` in words."""


def over_time(by_time: pl.DataFrame) -> tuple[alt.ConcatChart, ...]:
    """Draw a round: who holds memory, what kswapd scans in each zone, and who waits."""
    memory = general.areas(
        _long(by_time.with_columns(pl.col(*_HOLDERS) / 2**18), _HOLDERS),
        *("t_s", "figure", "part"),
        title="One round with a file of 2385 MB, by kernel: who holds memory",
        subtitle="one seed, each sixth second; the file begins soon after the pool is filled",
        words={"t_s": "seconds", "figure": "memory, GB", "part": "pages"},
        panel="rules",
    )
    scans = general.lines(
        *(_long(by_time, _SCANS), "t_s", "figure", "part"),
        title="What kswapd scans",
        words={"t_s": "seconds", "figure": "pages a second", "part": "kswapd scans zone"},
        panel="rules",
        log="y",
        zero=True,
        domain=(0, 2_000_000),
        width=220,
        height=150,
    )
    waits = general.lines(
        *(_long(by_time, _SLEEPERS), "t_s", "figure", "part"),
        title="Who waits",
        words={"t_s": "seconds", "figure": "share of each second", "part": "who waits"},
        panel="rules",
        domain=(0, 1),
        width=220,
        height=150,
    )
    return memory, scans, waits


def _long(by_time: pl.DataFrame, words: Mapping[str, str]) -> pl.DataFrame:
    """Return columns of each sixth second of a round in long form, without those that stay."""
    names = [*words]
    each = by_time.filter(pl.col("t_s").cast(pl.Int64) % 6 == 1)
    rounded = each.select("rules", "t_s", pl.col(names).round_sig_figs(3))
    same = [pl.col(names) == pl.col(names).shift(step).over("rules") for step in (1, -1)]
    moving = rounded.filter(~pl.all_horizontal(*same).fill_null(value=False))
    long = moving.rename(dict(words)).unpivot([*words.values()], index=["rules", "t_s"])
    return long.rename({"variable": "part", "value": "figure"})


def sum_seconds(by_time: pl.DataFrame) -> frames.Shown:
    """Return the length and the sums of a round, and the most slots that were in use at once."""
    slept = ["client_waits", "writer_throttled", "kswapd_sleeps", "tasks_sleep"]
    sums = by_time.group_by("rules", maintain_order=True).agg(
        pl.len().alias("lasts"),
        pl.col(*slept, *_SCANS).sum(),
        most_swapped=pl.col("swap_used").max(),
    )
    return frames.show(sums, "s", ["lasts", *slept], fold="Sums of the round")


def three_sources(
    cells: pl.DataFrame,
    judged: pl.DataFrame,
    measured: pl.DataFrame,
    rows: Sequence[str],
    target: str = "disk",
) -> pl.DataFrame:
    """Return three lines for each row of the mail: published, simulated and measured.

    ``cells`` and ``judged`` are those of `judgement`, ``measured`` RESULTS of the lab's test of the
    target. Simulated figures are "mean [lowest, highest]" over the seeds, measured ones "median
    [low, high]"; there is a dash where a source has none.
    """
    published = printed(target, rows)
    sources = {
        "published": published,
        "simulated": _simulated(cells, judged, rows, target),
        "measured": _measured(measured, rows, target),
    }
    order = published.select("row", place=pl.int_range(pl.len()))
    dash = pl.lit("-")
    lines = [
        order.join(frame, on="row", how="left", maintain_order="left").with_columns(
            pl.col(*RULES).fill_null(dash), source=pl.lit(source)
        )
        for source, frame in sources.items()
    ]
    return (
        pl.concat(lines, how="diagonal_relaxed")
        .sort("place", maintain_order=True)
        .select("row", "source", *RULES, "change", judged=pl.col("verdict").fill_null(""))
    )


def _measured(measured: pl.DataFrame, rows: Sequence[str], target: str) -> pl.DataFrame:
    name = pl.col("metric").str.strip_prefix(f"{target}: ").str.strip_prefix("Ops ")
    ours = lab.as_mailed(measured, target).with_columns(kernel=pl.lit("6.1"), metric=name)
    medians = claims.medians(ours.filter(pl.col("metric").is_in(rows)))
    values = medians.pivot("policy", index="metric", values="median")
    return (
        claims.side_by_side(medians, rows)
        .join(values.select("metric", change=change_by_series()), on="metric")
        .select(pl.col("metric").alias("row"), *RULES, "change")
    )


def _simulated(
    cells: pl.DataFrame, judged: pl.DataFrame, rows: Sequence[str], target: str
) -> pl.DataFrame:
    name = pl.col("metric").str.strip_prefix("Ops ")
    chosen = pl.col("table").str.ends_with(f", {target}") & name.is_in(rows)
    texts = pl.struct("simulated", "low", "high").map_elements(spread, return_dtype=pl.String)
    own = cells.filter(chosen).select("rules", "simulated", row=name, text=texts)
    values = own.pivot("rules", index="row", values="simulated")
    size = pl.format("size {} of {}", "inside", "cells")
    order = pl.when(pl.col("order").is_not_null()).then(pl.format("order {}, ", "order"))
    verdict = pl.concat_str(order.otherwise(pl.lit("")), size)
    return (
        own.pivot("rules", index="row", values="text")
        .join(values.select("row", change=change_by_series()), on="row", maintain_order="left")
        .join(judged.filter(chosen).select(row=name, verdict=verdict), on="row")
    )


def steps(results: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return `lab.steps` of one of the mail's tests: RESULTS of the study of all states."""
    name = f"{target}: "
    own = results.filter(pl.col("metric").str.starts_with(name))
    return lab.steps(own.with_columns(pl.col("metric").str.strip_prefix(name)), WORK)


def ranges(open_constants: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """Return the range of each cell over the open constants, and how often it and its order hold.

    ``simulated`` are RESULTS of the mail's tests, which say which kernels differ in a row.
    """
    value = pl.col("simulated")
    found = open_constants.group_by(_CELL, maintain_order=True).agg(
        low=value.min(),
        low_by=pl.col("constant").get(value.arg_min()),
        high=value.max(),
        high_by=pl.col("constant").get(value.arg_max()),
        settings=pl.len(),
        inside=pl.col("inside").sum(),
    )
    setting = ["constant", "end", "table", "metric"]
    one, other = (
        open_constants.select(*setting, pl.col("rules").alias(name), value.alias(f"of_{name}"))
        for name in ("one", "other")
    )
    pairs = orders(simulated).join(one, on=["table", "metric", "one"])
    both = pairs.join(other, on=[*setting, "other"])
    rises = pl.col("of_other") > pl.col("of_one")
    falls = pl.col("of_other") < pl.col("of_one")
    right = pl.when(pl.col("claimed") == "rises").then(rises).otherwise(falls)
    ordered = both.group_by(setting).agg(right=right.all()).group_by("table", "metric")
    counts = ordered.agg(ordered=pl.col("right").sum())
    return found.join(counts, on=["table", "metric"], how="left", maintain_order="left")


def differences(machines: pl.DataFrame) -> pl.DataFrame:
    """Return the change from mmotm to the series on each machine, and whether it ``differs``.

    It does where all seeds have one sign and the medians differ by over STAYS_WITHIN_PERCENT.
    """
    base, series = pl.col(BASE), pl.col(SERIES)
    by_seed = machines.pivot("rules", index=["factor", "setting", "seed", "metric"], values="value")
    medians = by_seed.group_by("factor", "setting", "metric", maintain_order=True).agg(
        base.median(), series.median(), sure=(series > base).all() | (series < base).all()
    )
    change = pl.when(base != 0).then(100 * (series / base - 1))
    large = change.is_null() | (change.abs() > STAYS_WITHIN_PERCENT)
    return medians.with_columns(change=change, differs=pl.col("sure") & large)


def by_figure(differing: pl.DataFrame) -> frames.Shown:
    """Show the changes of `differences`, a column per figure, empty where nothing differs."""
    change = pl.when("differs").then("change").alias("change")
    index = ["factor", "setting"]
    table = differing.with_columns(change).pivot("metric", index=index, values="change")
    return frames.show(table, "%", table.columns[2:], fold="By machine and figure")


def draw_machines(machines: pl.DataFrame, metric: str) -> alt.ConcatChart:
    """Draw a figure on other machines: a panel per factor, a line per kernel."""
    found = over(machines.filter(metric=metric).drop("metric"))
    return general.lines(
        found.with_columns(pl.col("setting").cast(pl.Int64).cast(pl.String)),
        *("setting", "middle", "rules"),
        title=f"{metric}, on other machines",
        subtitle="simulated, next to a file on the disk; median and range of "
        f"{found['runs'][0]} seeds",
        words={"middle": metric, "setting": "{}"},
        panel="factor",
        columns=2,
        log="y",
        width=310,
        height=150,
    )


def by_lists(node: pl.DataFrame) -> pl.DataFrame:
    """Return medians of some rows (RESULTS), a line for each kind of lists and each rule set."""
    row = pl.col("metric").str.strip_prefix("disk: ")
    rows = node.select("seed", "value", lists="kernel", rules="policy", metric=row)
    medians = over(rows).select("lists", "rules", "metric", pl.col("middle").round(1))
    some = ("Ops memcachetest-2385M", "Ops memcachetest-4055M", "Swap Outs")
    return wide(medians, value="middle", only=(*some, *_OF_KSWAPD))


_OF_KSWAPD: Final = ("Kswapd pages scanned", "Page writes file")


def lab_without_collapse() -> pl.DataFrame:
    """Simulate the lab's test with the largest file as it is, and with what ends its collapse."""
    base = reclaim.lab_guest(RULES[0], 2.84)
    half = base.dirty_limit_pages // 2
    guests: dict[str, dict[str, Any]] = {
        "as set": {},
        "half the dirty limit": {"dirty_limit_pages": half, "background_limit_pages": half // 2},
        "12 times the disk's rate": {"disk_rate": 12 * base.disk_rate},
    }
    rows = []
    for (guest, fields), rules in product(guests.items(), RULES):
        window = reclaim.run_lab_guest(replace(base, rules=rules, **fields))
        found = dict(reclaim.lab_guest_rows(window).select("metric", "value").iter_rows())
        shown = {name: found[name] for name in ("Ops memcachetest", "Swap Outs", *_OF_KSWAPD)}
        rows.append({"largest file": guest, "rules": rules, **shown})
    return pl.DataFrame(rows)


_PANELS: Final = {
    "Ops memcachetest-2.84": "operations a second, largest file",
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Kswapd efficiency": "efficiency of kswapd, %",
    "Page writes file": "file pages written by reclaim",
    "Page writes anon": "pages swapped out",
    "Stalls congestion_wait": "forced sleeps",
}
"""Metrics that are drawn for lab and simulation, in words."""


def draw_lab(table: pl.DataFrame) -> alt.ConcatChart:
    """Draw some rows of `lab_guest.compare_with_lab` along the rule sets, a panel per figure."""
    figure = pl.col("metric").replace_strict(
        _PANELS, default=None, return_dtype=pl.Enum(_PANELS.values())
    )
    rows = (
        table.with_columns(figure=figure).drop_nulls("figure").sort("figure", maintain_order=True)
    )
    lab = pl.max_horizontal("measured", "zero")
    sides = {
        "lab": (lab, lab / lab_guest.FACTOR, lab * lab_guest.FACTOR),
        "simulation": tuple(
            pl.max_horizontal(column, "zero") for column in ("simulated", "open_low", "open_high")
        ),
    }
    both = pl.concat(
        rows.select("figure", "policy", side=pl.lit(side), median=middle, low=low, high=high)
        for side, (middle, low, high) in sides.items()
    )
    return general.dots(
        *(both, "median", "policy", "side"),
        title="The lab's test: measured in the lab, and simulated",
        subtitle=[
            f"medians; a bar of the lab is where a figure agrees, within a factor of "
            f"{lab_guest.FACTOR}, one of the simulation its range over the open settings",
            "a figure below 32 pages, one sleep or one percent counts as that",
        ],
        words={"policy": "rule set", "median": "{}"},
        apart=True,
        panel="figure",
        columns=3,
        own_axes=True,
        log="x",
        width=230,
        height=300,
    )


def parted_directions(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return the mail's claims of direction that simulation and lab judge differently."""
    ours = lab.directions(simulated.filter(kernel=lab_guest.AS_SET)).select(
        "claim", pl.col("base", "value", "verdict").name.prefix("simulated_")
    )
    both = lab.directions(measured).join(ours, on="claim", maintain_order="left")
    return both.filter(pl.col("verdict") != pl.col("simulated_verdict")).select(
        "claim",
        "claimed",
        measured=_from_to("base", "value"),
        measured_verdict="verdict",
        simulated=_from_to("simulated_base", "simulated_value"),
        simulated_verdict="simulated_verdict",
    )


def describe_parted(parted: pl.DataFrame) -> str:
    """Return which side of `parted_directions` agrees with the mail, and how often."""
    ours, theirs = (
        parted[f"{side}_verdict"].cast(pl.String) == "confirmed"
        for side in ("simulated", "measured")
    )
    against = int((parted["simulated_verdict"].cast(pl.String) == "contradicted").sum())
    return (
        f"Of {parted.height} claims on which they disagree, the simulation agrees with the mail in "
        f"{int(ours.sum())}, the lab in {int(theirs.sum())}; the simulation contradicts {against}."
    )


def _from_to(base: str, value: str) -> pl.Expr:
    return pl.format("{} -> {}", *(pl.col(name).round_sig_figs(3) for name in (base, value)))


def verdict(judged: pl.DataFrame, figures: pl.DataFrame, machines: pl.DataFrame) -> str:
    """Return the lead of notebook 03b, of SIMULATED_VERDICTS, ANSWERS and `differences`."""
    rows = judged.filter(pl.col("standing") != "not modelled")
    by_size = rows.filter(pl.col("cells") > 0)
    sized = (by_size["inside"] == by_size["cells"]).sum()
    ordered = rows.drop_nulls("order")["order"]
    scans = figures.filter(claim="C-disk-kswapd-pages-scanned", source="simulated").row(
        0, named=True
    )
    disk = rows.filter(metric="Ops memcachetest-4055M", table="parallelio, disk").row(0, named=True)
    memory = machines.filter(pl.col("factor").str.starts_with("memory"))
    alike = memory.group_by("setting").agg(pl.col("differs").any()).filter(~pl.col("differs"))
    where = (
        f" with {min(alike['setting'].to_list()):.0f} GB of memory or more, or"
        if alike.height
        else ""
    )
    return claims.lead_on(
        f"Simulated, memcached collapses by the rules of 3.9 alone {_where_collapsed(rows)}, as in "
        f"the mail; the mail's order of kernels holds in {_reproduced(ordered)} of {ordered.len()} "
        f"rows.",
        does="The collapse comes next to large files. Its cure is in mmotm, the memory-management "
        "tree of that month, which is the base of the series; the series then cuts kswapd's "
        "scans and file writes.",
        worth=f"{sized} of {by_size.height} rows are within a factor of {FACTOR:.0f} of the mail. "
        f"On the disk kswapd's scans go {_of_claim(scans)}.",
        when=f"For memcached on the disk: the series changes its rate next to the largest file by "
        f"{_change(disk['points'])} (published: {_change(disk['change'])}). Nor{where} if "
        f"this machine's LRU lists belong to the node (the lab's do, and there it matters).",
    )


def verdict_in_lab_guest(standing: pl.DataFrame) -> str:
    """Return how near the simulated lab guest comes to the lab, of `compare_by_standing`."""

    def counted(of: str, sets: str) -> tuple[int, int, int]:
        all_of, near, by_seen = standing.filter(of=of, rule_sets=sets).row(0)[2:]
        return all_of, near, by_seen

    figures, near, by_seen = counted("figures", ", ".join(lab_guest.NEW))
    not_trivial, near_of_these, seen_of_these = counted("not trivial", ", ".join(lab_guest.NEW))
    _, alike_near, alike_by_seen = counted("figures", "series-3 to 3.11")
    pairs, right, _ = counted("pairs", "neither seen")
    return (
        f"Of {figures} figures of {' and '.join(lab_guest.NEW)}, {near} are within a factor of "
        f"{lab_guest.FACTOR} of the lab's, of the {not_trivial} not trivial ones {near_of_these}; "
        f"the lab's series-2, which was seen, gives {by_seen} and {seen_of_these}. "
        f"Of {pairs} pairs of sets not seen {right} are in the lab's order.\n"
        f"Of series-3 to 3.11 series-2 gives all {alike_by_seen} figures, the simulation "
        f"{alike_near}."
    )


def _reproduced(verdicts: pl.Series) -> int:
    return int((verdicts == "reproduced").sum())


def _where_collapsed(rows: pl.DataFrame) -> str:
    """Return where memcached collapses by 3.9's rules alone, as in the mail."""
    large = rows.drop_nulls("collapse")
    words = {"parallelio, disk": "on the disk", "parallelio, nfs": "over NFS"}
    alone = [words for table, words in words.items() if large.filter(table=table)["collapse"].all()]
    return " and ".join(alone) or "in no test"


def _of_claim(row: Mapping[str, Any]) -> str:
    """Return both simulated figures of a claim, and whether their change is judged."""
    off = row["base_ratio"]
    far = max(off, 1 / off) > FACTOR
    note = f" (mmotm's are {off:.1f} times the mail's, so the change is not judged)" * far
    return f"from {row['base']:,.0f} to {row['value']:,.0f} pages with the series{note}"


def _change(percent: float) -> str:
    return figure_text(percent, "%", relative=True)
