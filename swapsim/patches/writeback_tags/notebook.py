# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of notebook 01 alone."""

from collections.abc import Mapping
from typing import Final

import altair as alt
import polars as pl

from swapsim import claims
from swapsim.charts import colours, general
from swapsim.claims import range_verdict, results
from swapsim.claims.tables import RESULTS
from swapsim.machine import summary
from swapsim.machine.lab import PAGES_OF_MEBIBYTE
from swapsim.mapping import MappingConfig, totals_per_page
from swapsim.mapping._native import nodes_after_swap_out
from swapsim.patches.writeback_tags import prediction
from swapsim.patches.writeback_tags.answered import per_page
from swapsim.patches.writeback_tags.fits import with_tags_up_to as with_tags_up_to
from swapsim.study.summary import against, over


def compare_acquisitions(sites: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the replay's acquisitions per page (LOCK_SITES of 6.1) with a real kernel's."""
    totals = totals_per_page(sites).filter(pl.col("flow") == "swap, written")
    rows = totals.select(
        "kernel",
        policy=pl.when("tags").then(pl.lit("on")).otherwise(pl.lit("off")),
        metric=pl.lit("xa_lock acquisitions"),
        value="acquisitions",
        unit=pl.lit("1/page"),
    )
    simulated = results(rows, {"patch": prediction.PATCH, "n_tasks": 8, "seed": 0})
    return claims.compare_counts(simulated, medians)


def compare_nodes(experiment: str) -> pl.DataFrame:
    """Compare the model's tree nodes with the medians of a real kernel, by policy and set."""
    medians = claims.medians(claims.measured_results(experiment))
    return claims.compare_counts(simulated_nodes(experiment), medians)


def simulated_nodes(experiment: str) -> pl.DataFrame:
    """Return the model's nodes for each set of slots that a real kernel had in use (RESULTS).

    The metric is "SET: nodes" for each set, policy and round of the experiment.
    """
    sets = claims.measured_table(experiment, "slots_in_use")
    provenance = claims.measured_provenance(experiment)
    config = MappingConfig(
        kernel="6.1",
        swap_slots=provenance["guest"]["swap"]["mebibytes"] * PAGES_OF_MEBIBYTE,
        trunk_shift=provenance["kernel"]["trunk_shift"],
        tree_shift=provenance["kernel"]["tree_shift"],
    )
    rows = []
    groups = sets.group_by("policy", "seed", "set", maintain_order=True)
    for (policy, seed, name), extents in groups:
        offsets = (
            offset
            for first, count in extents.select("first", "count").iter_rows()
            for offset in range(first, first + count)
        )
        nodes = nodes_after_swap_out(offsets, config)
        rows.append((policy, seed, f"{name}: nodes", float(nodes)))
    counted = pl.DataFrame(rows, schema=["policy", "seed", "metric", "value"], orient="row")
    patch = provenance["experiment"]["patch"]
    return results(counted, {"patch": patch, "kernel": config.kernel, "n_tasks": 1, "unit": "node"})


def gains_of_fits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the change of throughput by the patch in each stored fit, by its shares."""
    rates = rows.sort("map_share", maintain_order=True)
    rates = rates.filter(metric=prediction.THROUGHPUT).select(
        "tag_share", pl.col("map_share").cast(pl.String), "kernel", "seed", "value"
    )
    means = over(rates, statistic="mean").drop("runs", "low", "high")
    return against(means, {"kernel": prediction.BASE}, value="middle")


def draw_gains_of_fits(rows: pl.DataFrame) -> alt.ConcatChart:
    """Draw the gain in throughput of each stored fit, next to the published one."""
    claim = judged_ranges(rows).row(by_predicate=pl.col("claim") == "A-throughput", named=True)
    published, tolerance = claim["published"], claim["tolerance"]
    found, headline = gains_of_fits(rows), str(prediction.MAP_SHARE)
    shares = found["map_share"].unique(maintain_order=True).to_list()
    grid = colours.of([share for share in shares if share != headline])
    return general.lines(
        found,
        "tag_share",
        "change",
        "map_share",
        title="Predicted change, for each fit that meets the base column",
        rule=published,
        band=(published - tolerance, published + tolerance),
        colour={share: grid.get(share, colours.PATCHED) for share in shares},
        words={
            "tag_share": "tag_ns / tree_ns: hold for tags / hold for add",
            "map_share": "map_ns / tree_ns",
            "change": "gain in throughput, %",
        },
    )


def judged_ranges(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the range of each of the mail's claims over stored fits, and how it lies to it."""
    stated = claims.published_claims().filter(
        pl.col("patch") == prediction.PATCH, pl.col("change").is_not_null()
    )
    ranges = claims.answers(stated, rows.select(RESULTS.names()), over="policy")
    return (
        stated.select("claim", "error", published="change", kind=pl.lit("change"))
        .join(claims.tolerances().drop("note"), on="claim", how="left", maintain_order="left")
        .join(
            # -100 % is exact: without rounding it may be a little more, which agrees with nothing.
            ranges.select("claim", pl.col("low", "high").round(9)),
            on="claim",
            maintain_order="left",
        )
        .with_columns(width=pl.col("high") - pl.col("low"), range=range_verdict("low", "high"))
        .drop("error", "kind")
    )


def verdict(
    sites_of: Mapping[str, pl.DataFrame],
    ranges: pl.DataFrame,
    texts: pl.DataFrame,
    *,
    writers: pl.DataFrame,
    drives: pl.DataFrame,
    trunks: pl.DataFrame,
) -> str:
    """Return the lead of notebook 01, of the ranges, claims and gains that it shows before.

    ``ranges`` are of `judged_ranges`, ``texts`` those of all claims.
    """
    with_tags, without = (per_page(sites_of, tags=tags) for tags in (True, False))
    out, through = (
        texts.row(by_predicate=pl.col("claim") == claim, named=True) for claim in _GAINS
    )
    out_is, through_is = out["simulated_verdict"], through["simulated_verdict"]
    gains = (
        f"the published gains in swap-out and throughput are {out_is}"
        if out_is == through_is
        else f"the published gain in swap-out is {out_is}, that in throughput {through_is}"
    )
    narrowest = ranges.filter(pl.col("claim").is_in(_GAINS))["width"].min()
    wider = "wider" if narrowest > _STORED_WIDTH else "not wider"  # type: ignore[operator]
    locks = texts.filter(pl.col("claim").is_in(_LOCKS))
    stand = " and ".join(locks["simulated_verdict"].unique(maintain_order=True))
    found, printed = (
        " and ".join(locks[name].str.strip_suffix(" %")) for name in ("simulated", "published")
    )
    slow = drives.sort("setting").row(0, named=True)
    return claims.lead_on(
        f"By 4.8's rules a page swapped out takes the swap cache's lock "
        f"{without['acquisitions']:.2f} times without writeback tags, not "
        f"{with_tags['acquisitions']:.2f}; {gains}.",
        does=f"Swap pages no longer have tags, by which writeback finds pages in a tree. In a "
        f"replay of {with_tags['pages']:,} pages that a real kernel swapped out, walks of the tree "
        f"under the lock fall from {with_tags['descents']:.2f} to {without['descents']:.2f} a "
        f"page.",
        worth=f"Swap-out changes by {out['range']} (published: {out['published']}), throughput by "
        f"{through['range']} ({through['published']}), both {wider} than the stored "
        f"{_STORED_WIDTH} points and resting on a fitted ratio of locks not met. The two remaining "
        f"lock rows are {stand} ({found} %; published: {printed} %).",
        when=f"With one writer ({summary.gain_at(writers, 1)}), or where the swap cache has a lock "
        f"for each 64 MB of the device, as from 4.11 on ({summary.gain_at(trunks, 64)}). Nor on "
        f"a drive slower than the lock ({summary.gain_at(drives, slow['setting'])}).",
    )


_GAINS: Final = ("A-swap-out", "A-throughput")
_LOCKS: Final = ("A-lock-add", "A-lock-remove")  # the rows that the patch leaves
_STORED_WIDTH: Final = 10  # greatest width of a gain's range, by the rule stored before the runs
