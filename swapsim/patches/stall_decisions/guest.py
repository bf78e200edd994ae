# SPDX-License-Identifier: GPL-2.0-or-later
"""The world held against the lab: the guest's test by each rule set, in both.

Nothing here is fitted to what the lab measured, but for ``op_ns``, which is 3.9's without a file.
What the rig leaves open is carried through: each variant puts some constants at an end. Rows and
judgement stood before the first run. That slab is no room for files, and how near to its limit a
writer stands, came after it: no dirty page had come to a list's end, for which the lab's sizes
were chosen. A boot of the guest then told its slab and its marks, and nothing of its reclaim.
"""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import polars as pl

from swapsim import claims, reclaim, study
from swapsim.claims.tables import DIRECTIONS_PARTED, ORDER_IN_LAB, RESULTS, SIMULATED_AND_LAB
from swapsim.ffi.facts import RECLAIM_COSTS, STALL_RULES
from swapsim.patches.stall_decisions.lab import SIZES, directions
from swapsim.patches.stall_decisions.mail import PATCH
from swapsim.study.kept import kept, picked

SEEDS: Final = tuple(range(1, 10))
"""As many as the lab has rounds."""

SEEDS_OF_VARIANTS: Final = 3

AS_SET: Final = "as set"
_COSTS: Final = tuple(name for name in RECLAIM_COSTS if name != "op_ns")

FACTOR: Final = 1.5
"""So near a count of the world's has to come to the lab's: of the order, before any run."""

NOTHING: Final = {
    "pages": 32.0,
    "faults": 32.0,
    "sectors": 256.0,
    "1": 1.0,
    "s": 0.1,
    "%": 1.0,
}
"""By unit, what is as good as nothing, and taken for so much: a list of pages, one stall."""

ROWS: Final = (
    *("Kswapd pages scanned", "Kswapd pages reclaimed", "Kswapd efficiency"),
    *("Direct pages scanned", "Direct pages reclaimed"),
    *("Page writes file", "Page writes anon", "Page reclaim immediate"),
    *("Swap Ins", "Major Faults", "Sector Reads", "Sector Writes"),
    *("Stalls congestion_wait", "Time stalled"),
)
"""Rows of all four sizes together that a world has."""

ROWS_BY_SIZE: Final = ("Ops memcachetest", "Ops io-duration", "Ops swaptotal")
"""Rows of each size. Minor faults are of programs too, and slab and inodes are not in a world."""

_SHARES: Final = {
    "Kswapd efficiency": ("Kswapd pages reclaimed", "Kswapd pages scanned"),
    "Direct efficiency": ("Direct pages reclaimed", "Direct pages scanned"),
}
_SEEN: Final = ("base", "value", "verdict")
_SIZED: Final = r"^(.+)-([0-9.]+)$"


def variants() -> dict[str, dict[str, int]]:
    """Return what is tried: its name -> the constants that are not as set."""
    ends = {
        row["name"]: (row["low"], row["high"])
        for row in reclaim.lab_guest_constants().iter_rows(named=True)
    }
    return {
        AS_SET: {},
        "a fast CPU": {name: ends[name][0] for name in _COSTS},
        "a slow CPU": {name: ends[name][1] for name in _COSTS},
        "short turns of writes": {"writes_turn_ms": ends["writes_turn_ms"][0]},
        "a longer queue": {"nr_requests": ends["nr_requests"][1]},
        "less slab": {"kernel_pages": ends["kernel_pages"][0]},
        "more slab": {"kernel_pages": ends["kernel_pages"][1]},
        "a disk whose rate is known": {"dirty_percent": ends["dirty_percent"][0]},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestRun:
    """A guest's test: four sizes of the file, one after another.

    Attributes
    ----------
    rules : str
        One of STALL_RULES.
    seed : int
    variant : str
    constants : mapping of str to int
        Those that are not as set.
    """

    rules: str
    seed: int = 1
    variant: str = AS_SET
    constants: Mapping[str, int] = field(default_factory=dict)


def told_by_guest(run: GuestRun) -> pl.DataFrame:
    """Run a guest's test and return its rows.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, the kernel is the variant's name: by size as ``METRIC-SIZE``, and of all
        sizes.
    """
    found = reclaim.lab_guest_constants(run.constants)
    told = {}
    for size in SIZES.values():
        config = reclaim.lab_guest(run.rules, float(size), found, seed=run.seed)
        told[size] = reclaim.lab_guest_rows(reclaim.run_lab_guest(config, found))
    by_size = pl.concat(
        pl.DataFrame(rows, schema=["metric", "value", "unit"], orient="row").with_columns(
            size=pl.lit(size), value=pl.col("value").cast(pl.Float64)
        )
        for size, rows in told.items()
    )
    of_all = (
        by_size.filter(~pl.col("metric").str.starts_with("Ops "))
        .group_by("metric", "unit", maintain_order=True)
        .agg(pl.col("value").sum())
        .select("metric", "value", "unit")
    )
    sums = dict(of_all.select("metric", "value").iter_rows())
    stalled = math.fsum(value for name, value in sums.items() if name.startswith("Time stalled "))
    shares = [
        (name, 100 * sums[part] / sums[whole] if sums[whole] else 100.0, "%")
        for name, (part, whole) in _SHARES.items()
    ]
    more = pl.DataFrame(
        [*shares, ("Time stalled", stalled, "s")], schema=of_all.schema, orient="row"
    )
    named = by_size.with_columns(metric=pl.format("{}-{}", "metric", "size"))
    labels: dict[str, str | int] = {
        "patch": PATCH,
        "kernel": run.variant,
        "policy": run.rules,
        "n_tasks": 1,
        "seed": run.seed,
    }
    return claims.results(pl.concat([named.select(of_all.columns), of_all, more]), labels)


def tell_guests(
    runs: Sequence[GuestRun], *, executor: Executor | None = None, progress: bool = False
) -> pl.DataFrame:
    """Return `told_by_guest` of each run, in their order.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    frames = study.run(told_by_guest, runs, executor=executor, progress=progress, batch_points=2)
    return RESULTS.check(pl.concat(frames))


def _cases() -> list[GuestRun]:
    return [
        GuestRun(rules=rules, seed=seed, variant=variant, constants=constants)
        for variant, constants in variants().items()
        for rules in STALL_RULES
        for seed in (SEEDS if variant == AS_SET else SEEDS[:SEEDS_OF_VARIANTS])
    ]


def _one_case(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    rules, variant, seed = picked(rows, ["policy", "kernel", "seed"], pick)
    return told_by_guest(
        GuestRun(rules=rules, seed=seed, variant=variant, constants=variants()[variant])
    )


@kept("stall-decisions-guest", reads=("guest.csv",), sample=_one_case)
def guests(progress: bool) -> pl.DataFrame:
    """Run the lab's test in the guest's world, by each rule set and at what is open (RESULTS)."""
    return tell_guests(_cases(), progress=progress)


def world_and_lab(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Set each modelled row of the world beside the lab's, by each rule set.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS, of `tell_guests`, one kernel a variant.
    measured : polars.DataFrame
        Schema RESULTS, of `lab.EXPERIMENT`.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_AND_LAB, row by row of ROWS and ROWS_BY_SIZE, rule sets in their order.
    """
    ours = claims.medians(_modelled(simulated).filter(kernel=AS_SET))
    others = claims.medians(_modelled(simulated)).group_by("metric", "policy")
    theirs = claims.medians(_modelled(measured))
    told = pl.col("median").alias("measured"), pl.col("low").alias("measured_low")
    frame = (
        ours.rename({"median": "simulated"})
        .join(
            others.agg(open_low=pl.col("median").min(), open_high=pl.col("median").max()),
            on=["metric", "policy"],
        )
        .join(
            theirs.select("metric", "policy", *told, measured_high="high"), on=["metric", "policy"]
        )
        .with_columns(factor=_factor("simulated", "measured"))
        .with_columns(near=pl.col("factor") <= FACTOR)
        .sort(*_place(), pl.col("policy").cast(pl.Enum(STALL_RULES)))
    )
    return SIMULATED_AND_LAB.check(frame.select(SIMULATED_AND_LAB.names()))


def order_of_rules(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Judge the order of the rule sets, row by row: of each two that the lab tells apart.

    Two are told apart where the intervals of their medians do not meet. In the world the one that
    is above has to be above.

    Returns
    -------
    polars.DataFrame
        Schema ORDER_IN_LAB.
    """
    rows = []
    theirs = claims.medians(_modelled(measured))
    ours = claims.medians(_modelled(simulated))
    for metric in dict.fromkeys(theirs.sort(*_place())["metric"]):
        spans = {row["policy"]: row for row in theirs.filter(metric=metric).iter_rows(named=True)}
        apart = [
            (one, other)
            for one, other in combinations(STALL_RULES, 2)
            if spans[one]["low"] > spans[other]["high"] or spans[one]["high"] < spans[other]["low"]
        ]
        right = {}
        for variant, of_variant in ours.filter(metric=metric).group_by("kernel"):
            found = dict(of_variant.select("policy", "median").iter_rows())
            right[variant[0]] = sum(
                (found[one] > found[other]) == (spans[one]["median"] > spans[other]["median"])
                and found[one] != found[other]
                for one, other in apart
            )
        rows.append((metric, len(apart), right[AS_SET], min(right.values()), max(right.values())))
    frame = pl.DataFrame(rows, schema=list(ORDER_IN_LAB.names())[:5], orient="row")
    frame = frame.with_columns(pl.exclude("metric").cast(pl.UInt32)).with_columns(
        holds=pl.col("in_order") == pl.col("pairs")
    )
    return ORDER_IN_LAB.check(frame)


def at_what_is_open(simulated: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Return a row of the world at each end of what is open: medians, a column a rule set.

    Returns
    -------
    polars.DataFrame
        ``variant``, and a Float64 column per rule set.
    """
    medians = claims.medians(RESULTS.check(simulated).filter(metric=metric))
    wide = medians.pivot("policy", index="kernel", values="median", maintain_order=True)
    return wide.select(pl.col("kernel").alias("variant"), *STALL_RULES)


def like_the_mail(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Say where world and lab part on a direction that the mail claims, and who is with the mail.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS_PARTED: the claims of which world and lab see another direction, or both
        see another than the mail.
    """
    world = directions(simulated.filter(kernel=AS_SET))
    of_world = world.select("claim", *(pl.col(name).alias(f"world_{name}") for name in _SEEN))
    both = directions(measured).join(of_world, on="claim", maintain_order="left")
    lab_is, world_is = pl.col("verdict") == "holds", pl.col("world_verdict") == "holds"
    frame = both.filter(pl.col("verdict") != pl.col("world_verdict")).select(
        "claim",
        "claimed",
        lab=_from_to("base", "value"),
        world=_from_to("world_base", "world_value"),
        like_the_mail=pl.when(lab_is)
        .then(pl.lit("lab"))
        .when(world_is)
        .then(pl.lit("world"))
        .otherwise(pl.lit("neither")),
    )
    return DIRECTIONS_PARTED.check(frame)


def verdict_on_guests(simulated: pl.DataFrame, measured: pl.DataFrame) -> str:
    """Return the world held against the lab, in a sentence or three."""
    table, order = world_and_lab(simulated, measured), order_of_rules(simulated, measured)
    told = order.filter(pl.col("pairs") > 0)
    pairs, right = (int(told[name].sum()) for name in ("pairs", "in_order"))
    return (
        f"Of {table.height} figures of the lab's test, {int(table['near'].sum())} are within a "
        f"factor of {FACTOR}. Of the {pairs} pairs of rule sets that the lab tells apart, {right} "
        f"are in the lab's order; in {int(told['holds'].sum())} of {told.height} rows all of "
        "them are."
    )


def _from_to(base: str, value: str) -> pl.Expr:
    return pl.format("{} -> {}", *(pl.col(name).round_sig_figs(3) for name in (base, value)))


def _modelled(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that a world has."""
    name = pl.coalesce(pl.col("metric").str.extract(_SIZED, 1), "metric")
    of_all = pl.col("metric").is_in(ROWS)
    by_size = name.is_in(ROWS_BY_SIZE) & (pl.col("metric") != "Ops io-duration-0")
    return RESULTS.check(results).filter(of_all | by_size)


def _place() -> tuple[pl.Expr, pl.Expr]:
    name = pl.coalesce(pl.col("metric").str.extract(_SIZED, 1), "metric")
    return name.cast(pl.Enum([*ROWS_BY_SIZE, *ROWS])), pl.col("metric")


def _factor(one: str, other: str) -> pl.Expr:
    """Return how many times the larger is the smaller, less than NOTHING taken for that."""
    nothing = pl.col("unit").replace_strict(NOTHING, default=1.0, return_dtype=pl.Float64)
    least, most = pl.min_horizontal(one, other), pl.max_horizontal(one, other)
    return pl.max_horizontal(most, nothing) / pl.max_horizontal(least, nothing)
