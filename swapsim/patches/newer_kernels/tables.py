# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of large folios on newer kernels: the test's lines, kernel builds, a harder test."""

from typing import Final

import polars as pl

from swapsim.clusters.tables import CLUSTER_RULES, FOLIOS_OUT
from swapsim.frames import columns
from swapsim.frames.table import Column, Table

_RULES: Final = Column("rules", pl.String, "rule set, by its name or by that of a kernel")
_OPTIONS: Final = Column("test", pl.String, "program and options")
_ITERATION: Final = Column("iteration", pl.UInt32, "iteration of the test, from 1 on")

TEST_LINES: Final = Table(
    "TEST_LINES",
    "One row per line that the kernel's test prints, under rules.",
    _OPTIONS,
    Column("rules", CLUSTER_RULES.dtype, "rules of the swap device"),
    Column("whole", pl.Boolean, "whether large folios are swapped in whole, as since 6.12"),
    _ITERATION,
    Column("swpout", pl.UInt64, "large folios swapped out whole"),
    Column("swpout_fallback", pl.UInt64, "large folios that are split"),
)

LINES_COMPARED: Final = Table(
    "LINES_COMPARED",
    "One row per line of a list that a mail prints, or that a real kernel printed, and its "
    "simulation.",
    _OPTIONS,
    Column("source", pl.String, "mail or kernel of the list"),
    Column("rules", CLUSTER_RULES.dtype, "rules of the simulation"),
    _ITERATION,
    Column("swpout", pl.UInt64, "large folios swapped out whole, as printed"),
    Column("swpout_fallback", pl.UInt64, "large folios that are split, as printed"),
    Column("simulated_swpout", pl.UInt64, "large folios swapped out whole, simulated"),
    Column("simulated_fallback", pl.UInt64, "large folios that are split, simulated"),
    Column("equal", pl.Boolean, "whether both counts are equal"),
)

BUILD_RUNS: Final = Table(
    "BUILD_RUNS",
    "One row per build, device, parameters, rules, stage and order: large folios swapped out.",
    Column("build", pl.String, "build, of `requests.BUILDS`"),
    Column("gigabytes", pl.UInt32, "size of the mail's device"),
    Column("in_use", pl.Float64, "mean share of the build's device in use", "share"),
    Column("singles", pl.Float64, "share of the pages in folios of one page", "share"),
    columns.SEED,
    _RULES,
    FOLIOS_OUT["stage"],
    FOLIOS_OUT["order"],
    FOLIOS_OUT["swapped_out"],
    FOLIOS_OUT["fallbacks"],
)

PAIRS: Final = Table(
    "PAIRS",
    "One row per published pair: share of large folios that are split before and after a change.",
    columns.CLAIM,
    Column("order", pl.UInt8, "log2 of the pages of a folio"),
    Column("published_before", pl.Float64, "published share before", "%"),
    Column("published_after", pl.Float64, "published share after", "%"),
    Column("simulated_before", pl.Float64, "simulated share before, over all seeds", "%"),
    Column("simulated_after", pl.Float64, "simulated share after, over all seeds", "%"),
    Column("before_low", pl.Float64, "lowest share before, over seeds and what is open", "%"),
    Column("before_high", pl.Float64, "highest share before", "%"),
    Column("after_low", pl.Float64, "lowest share after", "%"),
    Column("after_high", pl.Float64, "highest share after", "%"),
    Column(
        "direction",
        pl.String,
        "agrees if the simulated share moves as the published one, or contradicts",
    ),
    Column("size_before", pl.Boolean, "whether the share before is within the factor"),
    Column("size_after", pl.Boolean, "whether the share after is within the factor"),
)

TURNOVER_RUNS: Final = Table(
    "TURNOVER_RUNS",
    "One row per rules, interleaving and order: large folios of the harder test swapped out.",
    _RULES,
    columns.SEED,
    FOLIOS_OUT["stage"],
    FOLIOS_OUT["order"],
    FOLIOS_OUT["swapped_out"],
    FOLIOS_OUT["fallbacks"],
)

TURNOVER_COMPARED: Final = Table(
    "TURNOVER_COMPARED",
    "One row per kernel and order of the harder test: the share of split folios, simulated over "
    "interleavings and measured over rounds.",
    columns.KERNEL,
    FOLIOS_OUT["order"],
    Column("simulated", pl.Float64, "share split, over all interleavings", "%"),
    Column("low", pl.Float64, "lowest share of an interleaving", "%"),
    Column("high", pl.Float64, "highest share of an interleaving", "%"),
    Column("measured", pl.Float64, "share split on the real kernel, over all rounds", "%"),
    Column("measured_low", pl.Float64, "lowest share of a round", "%"),
    Column("measured_high", pl.Float64, "highest share of a round", "%"),
)
