# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's test in the simulator, by each rule set, as set and in variants; and the lab's runs."""

import math
from typing import Final

import polars as pl

from swapsim import claims, reclaim
from swapsim.claims.judging import agreement
from swapsim.ffi import RECLAIM_COSTS, STALL_RULES
from swapsim.frames.cases import first
from swapsim.patches.stall_decisions.lab import OF_SIZE, in_order_of_rules
from swapsim.patches.stall_decisions.mail import SIZES
from swapsim.patches.stall_decisions.runs import Run, labels

# The lab's test. Only op_ns was fitted to the lab, to 3.9 without a file; what the rig leaves open
# is varied. data/published/stored-before.md says what had been seen before the judgement.

AS_SET: Final = "as set"  # the variant in which each constant has its value

GUEST_SEEDS: Final = tuple(range(11, 20))
"""As many as the lab has rounds; other ones than those of the development."""

_COSTS: Final = tuple(name for name in RECLAIM_COSTS if name != "op_ns")

_EFFICIENCIES: Final = {
    "Kswapd efficiency": ("Kswapd pages reclaimed", "Kswapd pages scanned"),
    "Direct efficiency": ("Direct pages reclaimed", "Direct pages scanned"),
}


def variants() -> dict[str, dict[str, int]]:
    """Return the constants that are not as set, by the name of the variant."""
    found = reclaim.lab_guest_constants()
    low, high = (dict(found.select("name", end).iter_rows()) for end in ("low", "high"))
    return {
        AS_SET: {},
        "a fast CPU": {name: low[name] for name in _COSTS},
        "a slow CPU": {name: high[name] for name in _COSTS},
        "short turns of writes": {"writes_turn_ms": low["writes_turn_ms"]},
        "a longer queue": {"nr_requests": high["nr_requests"]},
        "less slab": {"kernel_pages": low["kernel_pages"]},
        "more slab": {"kernel_pages": high["kernel_pages"]},
        "a disk whose rate is known": {"assumed_rate": low["assumed_rate"]},
        "room for all writes": {"write_requests": high["write_requests"]},
    }


def guest_points() -> list[tuple[str, Run]]:
    """Return the lab's test by each rule set, as set and in each variant."""
    return [
        (variant, Run(rules=rules, seed=seed, constants=constants))
        for variant, constants in variants().items()
        for rules in STALL_RULES
        for seed in (GUEST_SEEDS if variant == AS_SET else GUEST_SEEDS[:3])
    ]


def run_guest(point: tuple[str, Run]) -> pl.DataFrame:
    """Run the lab's test with its four files: rows ``METRIC-SIZE``, and sums over all (RESULTS)."""
    variant, run = point
    constants = reclaim.lab_guest_constants(run.constants)
    frames = []
    for size in SIZES.values():
        config = reclaim.lab_guest(run.rules, float(size), constants, seed=run.seed)
        rows = reclaim.lab_guest_rows(reclaim.run_lab_guest(config, constants))
        frames.append(rows.with_columns(size=pl.lit(size)))
    by_size = pl.concat(frames)
    of_all = (
        by_size.filter(~pl.col("metric").str.starts_with("Ops "))
        .group_by("metric", "unit", maintain_order=True)
        .agg(pl.col("value").sum())
    )
    sums = dict(of_all.select("metric", "value").iter_rows())
    stalled = math.fsum(value for name, value in sums.items() if name.startswith("Time stalled "))
    more: list[tuple[str, str, float]] = [
        (name, "%", 100 * sums[part] / sums[total] if sums[total] else 100.0)
        for name, (part, total) in _EFFICIENCIES.items()
    ]
    more.append(("Time stalled", "s", stalled))
    named = by_size.with_columns(metric=pl.format("{}-{}", "metric", "size")).drop("size")
    of_more = pl.DataFrame(more, schema=of_all.schema, orient="row")
    rows = pl.concat([named, of_all.select(named.columns), of_more.select(named.columns)])
    return claims.results(rows, labels(run, variant))


# Which rows are compared with the lab, and how, was fixed before the first simulation.

FACTOR: Final = 1.5  # maximum ratio between simulated and measured counts

_ZERO: Final = {"pages": 32.0, "faults": 32.0, "sectors": 256.0, "1": 1.0, "s": 0.1, "%": 1.0}
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

SEEN: Final = ("3.9", "series-2", "6.1")
"""The rule sets that the development saw."""

_STAND_IN: Final = "series-2"
"""The set seen whose figures predict those of a set not seen, without a simulation. Chosen after
the judgement: of the three it predicts most."""

NEW: Final = ("mmotm", "series-1")
"""The sets not seen that behave as none of those seen; series-3 to 3.11 behave as series-2."""

_BY_SEEN: Final = "by what was seen"


def compare_with_lab(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return each simulated row next to the lab's, by rule set, and whether it is ``near``.

    The frames are RESULTS: of `run_guest`, one kernel per variant, and of EXPERIMENT. ``open_low``
    and ``open_high`` are the range of the simulated medians over the variants; ``zero`` is what a
    figure below it counts as.
    """
    medians = _medians(simulated)
    open_ones = medians.group_by("metric", "policy").agg(
        open_low=pl.col("median").min(), open_high=pl.col("median").max()
    )
    theirs = claims.medians(_modelled(measured)).select(
        "metric", "policy", measured="median", measured_low="low", measured_high="high"
    )
    zero = pl.col("unit").replace_strict(_ZERO, default=1.0, return_dtype=pl.Float64)
    factor = _factor("simulated", "measured")
    return (
        medians.filter(kernel=AS_SET)
        .rename({"median": "simulated"})
        .join(open_ones, on=["metric", "policy"])
        .join(theirs, on=["metric", "policy"])
        .with_columns(zero=zero)
        .with_columns(factor=factor, near=factor <= FACTOR)
        .sort(*_place(), in_order_of_rules())
    )


def compare_orders(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return in how many pairs of rule sets that the lab distinguishes the order is the lab's.

    The lab distinguishes two if the intervals of their medians do not overlap. ``open_low`` and
    ``open_high`` are the fewest and the most such pairs over the variants.
    """
    counts = _pairs(_medians(simulated), measured).group_by("metric", "kernel")
    right = counts.agg(pairs=pl.len(), right=pl.col("right").sum())
    in_order = pl.col("right").filter(kernel=AS_SET).first()
    return (
        right.group_by("metric")
        .agg(
            pl.col("pairs").first(),
            in_order=in_order,
            open_low=pl.col("right").min(),
            open_high=pl.col("right").max(),
            verdict=agreement(in_order == pl.col("pairs").first()),
        )
        .sort(*_place())
    )


def compare_by_standing(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Count what agrees with the lab, apart for rule sets that were seen and that were not.

    Of all figures, of those that are ``not trivial`` (0 in both, or of a run with no file or half a
    file, are), and of the pairs of `compare_orders`. ``by_seen`` counts what the lab's own figures
    predict without a simulation: those of a set that was seen, and series-2's for one that was not.
    """
    lab = claims.medians(_modelled(measured)).select("metric", "policy", "median")
    seen = pl.col("policy").is_in(SEEN)
    stands = pl.when(seen).then("policy").otherwise(pl.lit(_STAND_IN)).alias("of")
    predicted = (
        lab.select("metric", "policy", stands)
        .join(lab.rename({"policy": "of"}), on=["metric", "of"])
        .select("metric", "policy", "median", kernel=pl.lit(_BY_SEEN))
    )
    nothing = (pl.col("simulated") == 0) & (pl.col("measured") == 0)
    idle = pl.col("metric").str.contains(r"-0(\.5)?$")
    figures = (
        compare_with_lab(simulated, measured)
        .join(predicted, on=["metric", "policy"])
        .select(
            trivial=nothing | idle,
            rule_sets=first(
                (seen, ", ".join(SEEN) + ": seen"),
                (pl.col("policy").is_in(NEW), ", ".join(NEW)),
                otherwise="series-3 to 3.11",
            ),
            simulated="near",
            by_seen=_factor("median", "measured") <= FACTOR,
        )
    )
    either = seen | pl.col("policy_other").is_in(SEEN)
    both = pl.concat(
        [_medians(simulated).filter(kernel=AS_SET).select(predicted.columns), predicted]
    )
    pairs = _pairs(both, measured).select(
        "metric",
        "policy",
        "policy_other",
        "right",
        source=pl.when(pl.col("kernel") == AS_SET)
        .then(pl.lit("simulated"))
        .otherwise(pl.lit("by_seen")),
        rule_sets=first((either, "one or both seen"), otherwise="neither seen"),
    )
    wide = pairs.pivot("source", values="right")
    parts = {"figures": figures, "not trivial": figures.filter(~pl.col("trivial")), "pairs": wide}
    return pl.concat(
        rows.group_by("rule_sets", maintain_order=True).agg(
            pl.lit(of).first().alias("of"),
            pl.len().alias("all"),
            *(pl.col(source).sum() for source in ("simulated", "by_seen")),
        )
        for of, rows in parts.items()
    ).select("of", "rule_sets", "all", "simulated", "by_seen")


def _factor(one: str, other: str) -> pl.Expr:
    """Return the larger of two figures by the smaller, each at least ``zero``."""
    least = pl.max_horizontal(pl.min_horizontal(one, other), "zero")
    return pl.max_horizontal(one, other, "zero") / least


def _pairs(medians: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that the lab distinguishes, and if medians of a kernel are in its order."""
    theirs = claims.medians(_modelled(measured)).with_columns(
        place=in_order_of_rules().to_physical()
    )
    apart = (pl.col("low") > pl.col("high_other")) | (pl.col("high") < pl.col("low_other"))
    rise = (pl.col("median_other") - pl.col("median")).sign()
    pairs = (
        theirs.join(theirs, on="metric", suffix="_other")
        .filter(pl.col("place") < pl.col("place_other"), apart)
        .select("metric", "policy", "policy_other", rise=rise)
    )
    other = {"kernel": "kernel", "metric": "metric", "policy": "policy_other"}
    ours = medians.select(*other, "median")
    return (
        pairs.join(ours, on=["metric", "policy"])
        .join(ours.rename(other), on=[*other.values()], suffix="_other")
        .select("metric", "policy", "policy_other", "kernel", right=rise == pl.col("rise"))
    )


def _modelled(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that are simulated."""
    by_size = _without_size().is_in(ROWS_BY_SIZE) & (pl.col("metric") != "Ops io-duration-0")
    return results.filter(pl.col("metric").is_in(ROWS) | by_size)


def _medians(simulated: pl.DataFrame) -> pl.DataFrame:
    labels = ("kernel", "metric", "policy", "unit")
    groups = _modelled(simulated).group_by(labels, maintain_order=True)
    return groups.agg(median=pl.col("value").median())


def _without_size() -> pl.Expr:
    return pl.coalesce(pl.col("metric").str.extract(OF_SIZE, 1), "metric")


def _place() -> tuple[pl.Expr, pl.Expr]:
    return _without_size().cast(pl.Enum([*ROWS_BY_SIZE, *ROWS])), pl.col("metric")
