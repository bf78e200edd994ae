# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's tables, and the lab's runs by the rules of 2013: each compared with the simulation.

The rules of the comparison were stored before the first run, in
data/published/simulation-tolerances.csv; data/published/README.md explains them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.claims.judging import STAYS_WITHIN_PERCENT
from swapsim.claims.rounds import difference, spread
from swapsim.claims.tables import (
    DIRECTION_VERDICT,
    DIRECTIONS,
    DIRECTIONS_PARTED,
    MEDIANS_BY_SIZE,
    ORDER_IN_LAB,
    PAIRED,
    RESULTS,
    SIMULATED_AND_LAB,
)
from swapsim.errors import InputError
from swapsim.ffi import STALL_RULES
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_CELLS,
    SIMULATED_ORDERS,
    SIMULATED_SCORE,
    SIMULATED_VERDICTS,
)

PATCH: Final = "03-stall-decisions"

KERNELS: Final = {
    "vanilla": "3.9",
    "mm1-mmotm-20130522": "mmotm",
    "mm1-lessdisrupt-v7r10": "series-8",
}
"""The mail's three kernels, and the names of their rule sets."""

RULES: Final = tuple(KERNELS.values())
BEFORE, BASE, SERIES = RULES

SIZES: Final = {"0M": "0", "715M": "0.5", "2385M": "1.67", "4055M": "2.84"}
"""The mail's files, and their sizes in the lab: multiples of the memory that the pool leaves."""

OF_SIZE: Final = r"^(.+)-([0-9.]+)$"
"""A metric of the lab that is counted for each size of the file."""

ELAPSED: Final = "Elapsed"
"""The time of a run, which the mail prints only as the quotient of two rows."""

FACTOR: Final = 2.0
"""Maximum ratio between a simulated and a printed size, either way."""

ZERO_SHARE: Final = 1 / 1000
"""Cells up to this share of a row's largest count as zero, unless the row has its own limit."""

ZERO_MARGIN: Final = 1 / 20
"""Maximum of a simulated cell that is zero in the mail, as a share of the row's largest cell."""


def printed(target: str, rows: Sequence[str]) -> pl.DataFrame:
    """Return a few rows of the mail's tables side by side, and the change by the series.

    Parameters
    ----------
    target : {"disk", "nfs"}
    rows : sequence of str
        As the mail calls them; those of parallelio without their ``Ops``.

    Returns
    -------
    polars.DataFrame
        ``row``, the text of a cell for each rule set of KERNELS, and ``change``: of the last
        against mmotm in percent, null where mmotm has 0.

    Raises
    ------
    InputError
        The mail prints no such row.
    """
    found = (
        claims.published_tables()
        .filter(pl.col("patch") == PATCH, pl.col("table").str.ends_with(f", {target}"))
        .with_columns(
            pl.col("kernel").replace_strict(KERNELS), row=pl.col("metric").str.strip_prefix("Ops ")
        )
    )
    unknown = [row for row in rows if row not in found["row"]]
    if unknown:
        raise InputError(f"the mail prints no {unknown[0]!r} for {target!r}", field="rows")
    texts, values = (
        found.pivot("kernel", index="row", values=column) for column in ("printed", "value")
    )
    return (
        pl.DataFrame({"row": rows}, schema={"row": pl.String})
        .join(texts, on="row", how="left", maintain_order="left")
        .join(values.select("row", change=_change()), on="row", how="left", maintain_order="left")
    )


def as_mailed(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the lab's runs under the names of the mail: its three kernels, its rows."""
    kernels = {rules: kernel for kernel, rules in KERNELS.items()}
    mailed = {size: name for name, size in SIZES.items()}
    rows = RESULTS.check(measured).filter(pl.col("policy").is_in(list(kernels)))
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    by_size = pl.col("metric").str.starts_with("Ops ")
    frame = rows.filter(by_size | size.is_null()).with_columns(
        kernel=pl.col("policy").replace_strict(kernels),
        metric=pl.when(size.is_null())
        .then(pl.format("disk: {}", "metric"))
        .otherwise(pl.format("disk: {}-{}", metric, size.replace(mailed))),
    )
    return RESULTS.check(frame)


def three_sources(
    cells: pl.DataFrame,
    judged: pl.DataFrame,
    measured: pl.DataFrame,
    rows: Sequence[str],
    target: str = "disk",
) -> pl.DataFrame:
    """Return a few rows of the mail as published, as simulated and as measured.

    Parameters
    ----------
    cells, judged, measured : polars.DataFrame
        Schemas SIMULATED_CELLS, SIMULATED_VERDICTS, and RESULTS of EXPERIMENT.
    rows : sequence of str
        As for `printed`.
    target : {"disk", "nfs"}
        The lab has no NFS.

    Returns
    -------
    polars.DataFrame
        Three lines per row: ``row, source``, a text for each rule set of KERNELS, simulated ones
        as "mean [lowest, highest]" over the seeds, measured ones as "median [low, high]"; the
        ``change`` of the last against mmotm in percent; and the verdict on the simulated line. A
        dash where a source has no figure.

    Raises
    ------
    InputError
        A row is not in the mail, or was not measured.
    """
    published = printed(target, rows)
    sources = {
        "published": published,
        "simulated": _simulated(cells, judged, rows, target),
        "measured": _measured(measured, rows) if target == "disk" else published.head(0),
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
        .select("row", "source", *RULES, "change", pl.col("verdict").fill_null(""))
    )


def _measured(measured: pl.DataFrame, rows: Sequence[str]) -> pl.DataFrame:
    name = pl.col("metric").str.strip_prefix("disk: ").str.strip_prefix("Ops ")
    ours = as_mailed(measured).with_columns(kernel=pl.lit("6.1"), metric=name)
    medians = claims.medians(ours.filter(pl.col("metric").is_in(rows)))
    values = medians.pivot("policy", index="metric", values="median")
    return (
        claims.side_by_side(medians, rows)
        .join(values.select("metric", change=_change()), on="metric", maintain_order="left")
        .rename({"metric": "row"})
        .select("row", *RULES, "change")
    )


def _simulated(
    cells: pl.DataFrame, judged: pl.DataFrame, rows: Sequence[str], target: str
) -> pl.DataFrame:
    SIMULATED_CELLS.check(cells)
    SIMULATED_VERDICTS.check(judged)
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
        .join(values.select("row", change=_change()), on="row", maintain_order="left")
        .join(judged.filter(chosen).select(row=name, verdict=verdict), on="row")
    )


def _change() -> pl.Expr:
    """Return the change from mmotm to the series in percent, null where mmotm has 0."""
    base, series = pl.col(BASE), pl.col(SERIES)
    return pl.when(base != 0).then((100 * (series / base - 1)).round(1))


def cells(simulated: pl.DataFrame) -> pl.DataFrame:
    """Return each modelled cell of the mail's tables, published and simulated.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS, of `studies.mail_rows`; rows of other rule sets are left out.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_CELLS, in the order of the tables.
    """
    rows = [row.cell(rules) for row in _rows(simulated) for rules in row.found]
    return SIMULATED_CELLS.check(pl.DataFrame(rows, schema=SIMULATED_CELLS.schema))


def verdicts(simulated: pl.DataFrame) -> pl.DataFrame:
    """Judge each row of the mail's tables.

    Parameters
    ----------
    simulated : polars.DataFrame
        As for `cells`.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_VERDICTS, in the order of the tables, with the rows that are not modelled.
    """
    found = list(_rows(simulated))
    alone = {row.rule["table"]: row for row in found if row.rule["metric"] == "Ops memcachetest-0M"}
    rows = [row.verdict(alone.get(row.rule["table"])) for row in found]
    return SIMULATED_VERDICTS.check(pl.DataFrame(rows, schema=SIMULATED_VERDICTS.schema))


def score(judged: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts, table by table.

    Parameters
    ----------
    judged : polars.DataFrame
        Schema SIMULATED_VERDICTS.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_SCORE.
    """
    order = pl.col("order")
    frame = (
        SIMULATED_VERDICTS.check(judged)
        .group_by("table", maintain_order=True)
        .agg(
            rows=pl.len(),
            modelled=(pl.col("cells") > 0).sum(),
            order_asked=order.is_not_null().sum(),
            **{f"order_{word}": (order == word).sum() for word in DIRECTION_VERDICT.words},
            sized=((pl.col("cells") > 0) & (pl.col("inside") == pl.col("cells"))).sum(),
            cells=pl.col("cells").cast(pl.UInt32).sum(),
            cells_sized=pl.col("inside").cast(pl.UInt32).sum(),
        )
    )
    return SIMULATED_SCORE.check(frame.cast(SIMULATED_SCORE.schema))


def orders(simulated: pl.DataFrame) -> pl.DataFrame:
    """Return the order of each two kernels that differ in a row (SIMULATED_ORDERS)."""
    rows = [
        (row.rule["table"], row.rule["metric"], *pair)
        for row in _rows(simulated)
        for pair in row.ordered()
    ]
    found = pl.DataFrame(rows, schema=SIMULATED_ORDERS.schema, orient="row")
    return SIMULATED_ORDERS.check(found)


class _Row:
    """A row of the tables: its rule, the printed values and, by seed, the simulated ones."""

    def __init__(
        self, rule: dict[str, Any], published: Mapping[str, float], found: dict[str, pl.DataFrame]
    ) -> None:
        self.rule = rule
        self.published = published
        self.found = found
        self.largest = max(published.values(), default=0.0)
        zero = rule["nothing"]
        self.zero = self.largest * ZERO_SHARE if zero is None else zero
        self.judged = [
            name for name in found if not (rule["standing"] == "fitted" and name == BEFORE)
        ]

    def mean(self, rules: str) -> float:
        """Return the mean over the seeds."""
        return float(self.found[rules]["value"].mean())  # type: ignore[arg-type]

    def is_inside(self, rules: str) -> bool:
        """Return whether the simulated cell is as large as the printed one, or zero as it is."""
        found, printed = self.mean(rules), self.published[rules]
        if printed <= self.zero:
            return found <= max(self.rule["nothing"] or 0.0, self.largest * ZERO_MARGIN)
        return printed / FACTOR <= found <= printed * FACTOR

    def cell(self, rules: str) -> dict[str, Any]:
        """Return the row of SIMULATED_CELLS by one rule set."""
        seeds, mean, printed = self.found[rules]["value"], self.mean(rules), self.published[rules]
        return {
            "table": self.rule["table"],
            "metric": self.rule["metric"],
            "rules": rules,
            "published": printed,
            "simulated": mean,
            "low": seeds.min(),
            "high": seeds.max(),
            "ratio": mean / printed if mean and printed else None,
            "inside": self.is_inside(rules) if rules in self.judged else None,
        }

    def ordered(self) -> Iterator[tuple[str, str, str]]:
        """Yield two kernels that differ in the mail, and the direction from one to the other."""
        for one, other in combinations(self.found, 2):
            low, high = sorted((self.published[one], self.published[other]))
            if high - low > STAYS_WITHIN_PERCENT / 100 * high and high > self.zero:
                rises = self.published[other] > self.published[one]
                yield one, other, "rises" if rises else "falls"

    def direction(self, one: str, other: str, claimed: str) -> str:
        """Judge a fall or a rise between two kernels, each seed against the same seed."""
        found = difference(self.found[one], self.found[other])
        if found is None or found["seen"] == "either":
            return "open"
        return "holds" if found["seen"] == claimed else "contradicted"

    def verdict(self, alone: "_Row | None") -> dict[str, Any]:
        """Return the row of SIMULATED_VERDICTS; ``alone`` is the round without a file."""
        orders = {self.direction(*pair) for pair in self.ordered()}
        found: dict[str, Any] = {
            **{name: self.rule[name] for name in ("table", "metric", "standing", "note")},
            "order": next((w for w in ("contradicted", "open", "holds") if w in orders), None),
            "inside": sum(map(self.is_inside, self.judged)),
            "cells": len(self.judged),
        }
        allowed, share = self.rule["points"], self.rule["collapse"]
        complete = len(self.found) == len(RULES)
        if complete and allowed is not None:
            change = 100 * (self.published[SERIES] / self.published[BASE] - 1)
            points = 100 * (self.mean(SERIES) / self.mean(BASE) - 1)
            found |= {"change": change, "points": points, "near": abs(points - change) <= allowed}
            found["worse"] = self.direction(BASE, SERIES, "falls")
        if complete and share is not None and alone is not None:
            collapsed = [self.mean(rules) < share * alone.mean(rules) for rules in RULES]
            found["collapse"] = collapsed == [True, False, False]
        return found


def _rows(simulated: pl.DataFrame) -> Iterator[_Row]:
    """Yield each row with its cells; a row ``A : B``, or one per second, is a quotient of two."""
    by_row = RESULTS.check(simulated).partition_by("metric", "policy", as_dict=True)
    values = _printed_values()
    for rule in claims.simulation_tolerances().iter_rows(named=True):
        target = rule["table"].rpartition(", ")[2]
        one, _, other = rule["metric"].partition(" : ")
        below = other or (ELAPSED if rule["per"] == "second" else "")
        found: dict[str, pl.DataFrame] = {}
        printed: dict[str, float] = {}
        for rules in RULES if rule["standing"] != "not modelled" else ():
            printed[rules] = values[target, one, rules]
            if below:
                printed[rules] /= values[target, below, rules]
            seeds = by_row.get((f"{target}: {one}", rules))
            if seeds is not None and below:
                seeds = _quotient(seeds, by_row[f"{target}: {below}", rules])
            if seeds is not None and not seeds.is_empty():
                found[rules] = seeds.select("seed", "value")
        yield _Row(rule, printed, found)


def _quotient(above: pl.DataFrame, below: pl.DataFrame) -> pl.DataFrame:
    both = above.join(below.filter(pl.col("value") > 0), on="seed", suffix="_below")
    return both.sort("seed").select("seed", value=pl.col("value") / pl.col("value_below"))


def _printed_values() -> dict[tuple[str, str, str], float]:
    """Return each printed figure by target, row and rules, with the time of each run."""
    tables = claims.published_tables().filter(
        pl.col("patch") == PATCH, pl.col("kernel").is_in(list(KERNELS))
    )
    found = {
        (row["table"].rpartition(", ")[2], row["metric"], KERNELS[row["kernel"]]): row["value"]
        for row in tables.iter_rows(named=True)
    }
    for target, rules in product(("disk", "nfs"), RULES):
        scanned = found[target, "Kswapd pages scanned", rules]
        found[target, ELAPSED, rules] = scanned / found[target, "Kswapd velocity", rules]
    return found


# The lab runs a small version of the mail's test: a pool of four fifths of memory, and a file whose
# size is a multiple of the fifth that is left. Which rows are compared with the simulation, and
# how, was fixed before the first simulation.

EXPERIMENT: Final = "stall-rules"

STEPS: Final = tuple(name for name in STALL_RULES if name == "mmotm" or name.startswith("series"))
"""The base, and each state of the series: one more patch per step."""

AS_SET: Final = "as set"
"""The variant of the simulation in which each constant has its value."""

LAB_FACTOR: Final = 1.5
"""Maximum ratio between simulated and measured counts; fixed before the first run."""

LAB_ZERO: Final = {"pages": 32.0, "faults": 32.0, "sectors": 256.0, "1": 1.0, "s": 0.1, "%": 1.0}
"""By unit, a figure below this counts as this: a list of pages, one stall."""

ROWS: Final = (
    *("Kswapd pages scanned", "Kswapd pages reclaimed", "Kswapd efficiency"),
    *("Direct pages scanned", "Direct pages reclaimed"),
    *("Page writes file", "Page writes anon", "Page reclaim immediate"),
    *("Swap Ins", "Major Faults", "Sector Reads", "Sector Writes"),
    *("Stalls congestion_wait", "Time stalled"),
)
"""Simulated rows over all four sizes together."""

ROWS_BY_SIZE: Final = ("Ops memcachetest", "Ops io-duration", "Ops swaptotal")
"""Simulated rows of each size. Slab, inodes and the faults of other programs are not simulated."""

_DIRECTION: Final = ("base", "value", "verdict")


def measured_as_mailed() -> pl.DataFrame:
    """Return `as_mailed` of the shipped runs."""
    return as_mailed(claims.measured_results(EXPERIMENT))


def directions(measured: pl.DataFrame) -> pl.DataFrame:
    """Judge the mail's claims of direction by what a real 6.1 does with the rules of 2013.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS.
    """
    stated = claims.published_claims().filter(patch=PATCH)
    return DIRECTIONS.check(claims.directions(stated, as_mailed(measured)))


def along_rules(measured: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return medians along all rule sets, by size of the file.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.
    metrics : sequence of str
        Without their size.

    Returns
    -------
    polars.DataFrame
        Schema MEDIANS_BY_SIZE, in the order of the rule sets; a size is a multiple of the memory
        that the pool leaves.
    """
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    chosen = RESULTS.check(measured).filter(metric.is_in(metrics))
    frame = (
        claims.medians(chosen)
        .with_columns(metric=metric, size=size)
        .sort(_rules_place(), "metric", "size")
    )
    return MEDIANS_BY_SIZE.check(frame.select(MEDIANS_BY_SIZE.names()))


def steps(measured: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return what each of the eight patches changes, compared with the state before it.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.
    metrics : sequence of str

    Returns
    -------
    polars.DataFrame
        Schema PAIRED.
    """
    return PAIRED.check(claims.steps(measured, STEPS, metrics))


def compare_with_lab(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Compare each simulated row with the lab's, by rule set.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        Schema RESULTS: of `studies.lab_guest`, one kernel per variant, and of EXPERIMENT.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_AND_LAB, in the order of ROWS_BY_SIZE, ROWS and the rule sets.
    """
    ours = claims.medians(_modelled(simulated).filter(kernel=AS_SET))
    open_ones = (
        _medians(_modelled(simulated))
        .group_by("metric", "policy")
        .agg(open_low=pl.col("median").min(), open_high=pl.col("median").max())
    )
    theirs = claims.medians(_modelled(measured)).select(
        "metric", "policy", measured="median", measured_low="low", measured_high="high"
    )
    frame = (
        ours.rename({"median": "simulated"})
        .join(open_ones, on=["metric", "policy"])
        .join(theirs, on=["metric", "policy"])
        .with_columns(factor=_factor("simulated", "measured"))
        .with_columns(near=pl.col("factor") <= LAB_FACTOR)
        .sort(*_place(), _rules_place())
    )
    return SIMULATED_AND_LAB.check(frame.select(SIMULATED_AND_LAB.names()))


def compare_orders(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Compare the order of the rule sets, by each two of them that the lab distinguishes in a row.

    The lab distinguishes two rule sets if the intervals of their medians do not overlap. The
    simulation has to have the higher one higher.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    polars.DataFrame
        Schema ORDER_IN_LAB.
    """
    theirs = claims.medians(_modelled(measured)).with_columns(place=_rules_place().to_physical())
    apart = (pl.col("low") > pl.col("high_other")) | (pl.col("high") < pl.col("low_other"))
    pairs = (
        theirs.join(theirs, on="metric", suffix="_other")
        .filter(pl.col("place") < pl.col("place_other"))
        .select("metric", "policy", "policy_other", apart=apart, rise=_rise())
    )
    ours = _medians(_modelled(simulated)).drop("unit")
    frame = (
        pairs.join(ours, on=["metric", "policy"])
        .join(
            ours,
            left_on=["kernel", "metric", "policy_other"],
            right_on=["kernel", "metric", "policy"],
            suffix="_other",
        )
        .group_by("metric", "kernel")
        .agg(
            pairs=pl.col("apart").sum(), right=(pl.col("apart") & (_rise() == pl.col("rise"))).sum()
        )
        .group_by("metric")
        .agg(
            pl.col("pairs").first(),
            in_order=pl.col("right").filter(kernel=AS_SET).first(),
            open_low=pl.col("right").min(),
            open_high=pl.col("right").max(),
        )
        .with_columns(holds=pl.col("in_order") == pl.col("pairs"))
        .sort(*_place())
    )
    return ORDER_IN_LAB.check(frame.cast(ORDER_IN_LAB.schema))


def _rise() -> pl.Expr:
    """Return -1, 0 or 1: how a median compares with that of the other rule set."""
    return (pl.col("median_other") - pl.col("median")).sign()


def by_variant(simulated: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Return the medians of a row in each variant of the simulation, a column per rule set.

    Parameters
    ----------
    simulated : polars.DataFrame
        As for `compare_with_lab`.
    metric : str

    Returns
    -------
    polars.DataFrame
        ``variant``, and a Float64 column per rule set.
    """
    medians = _medians(RESULTS.check(simulated).filter(metric=metric))
    wide = medians.pivot("policy", index="kernel", values="median", maintain_order=True)
    return wide.select(pl.col("kernel").alias("variant"), *STALL_RULES)


def parted_directions(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return the mail's claims of direction that simulation and lab judge differently.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS_PARTED.
    """
    ours = directions(simulated.filter(kernel=AS_SET)).select(
        "claim", *(pl.col(name).alias(f"simulated_{name}") for name in _DIRECTION)
    )
    both = directions(measured).join(ours, on="claim", maintain_order="left")
    in_lab, in_simulation = pl.col("verdict") == "holds", pl.col("simulated_verdict") == "holds"
    frame = both.filter(pl.col("verdict") != pl.col("simulated_verdict")).select(
        "claim",
        "claimed",
        lab=_from_to("base", "value"),
        simulation=_from_to("simulated_base", "simulated_value"),
        like_the_mail=pl.when(in_lab)
        .then(pl.lit("lab"))
        .when(in_simulation)
        .then(pl.lit("simulation"))
        .otherwise(pl.lit("neither")),
    )
    return DIRECTIONS_PARTED.check(frame)


def _from_to(base: str, value: str) -> pl.Expr:
    return pl.format("{} -> {}", *(pl.col(name).round_sig_figs(3) for name in (base, value)))


def _modelled(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that are simulated."""
    of_all = pl.col("metric").is_in(ROWS)
    by_size = _without_size().is_in(ROWS_BY_SIZE) & (pl.col("metric") != "Ops io-duration-0")
    return RESULTS.check(results).filter(of_all | by_size)


def _medians(simulated: pl.DataFrame) -> pl.DataFrame:
    labels = ("kernel", "metric", "policy", "unit")
    return simulated.group_by(labels, maintain_order=True).agg(median=pl.col("value").median())


def _without_size() -> pl.Expr:
    return pl.coalesce(pl.col("metric").str.extract(OF_SIZE, 1), "metric")


def _place() -> tuple[pl.Expr, pl.Expr]:
    return _without_size().cast(pl.Enum([*ROWS_BY_SIZE, *ROWS])), pl.col("metric")


def _rules_place() -> pl.Expr:
    return pl.col("policy").cast(pl.Enum(STALL_RULES))


def _factor(one: str, other: str) -> pl.Expr:
    """Return the larger figure divided by the smaller one, each at least LAB_ZERO of its unit."""
    zero = pl.col("unit").replace_strict(LAB_ZERO, default=1.0, return_dtype=pl.Float64)
    least, most = pl.min_horizontal(one, other), pl.max_horizontal(one, other)
    return pl.max_horizontal(most, zero) / pl.max_horizontal(least, zero)
