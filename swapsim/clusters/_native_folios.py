# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of processes in folios, of the C library (``cluster_folios.h``)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.clusters._native import settings
from swapsim.errors import InputError
from swapsim.ffi import CLUSTER_LISTS, structs
from swapsim.ffi.structs import check, new

PROCESSES_MAX: Final[int] = lib.SWS_CLUSTER_FOLIOS_PROCESSES_MAX

COUNTS: Final = ("mapped", "swapped_in", "swapped_out", "fallbacks")
"""The counts by order, of ``struct sws_cluster_folios_totals``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """State at the end of a stage: counts by order since the start, and the device."""

    counts: Mapping[str, Sequence[int]]
    stayed: int
    in_use: int
    lists: Sequence[int]


def run_steps(
    steps: pl.DataFrame,
    marks: Sequence[int],
    rules: str,
    switches: Mapping[str, bool | int],
    *,
    sizes: Mapping[str, int],
    return_cache: bool,
    tick: Callable[[int], object],
) -> list[Stage]:
    """Run checked FOLIO_STEPS and return the state at each mark, a number of rows.

    ``sizes`` has slots, cpus, processes, pages and swap_in_orders. An ``InputError`` names the row.
    """
    clusters = settings(rules, [{"slots": sizes["slots"]}], cpus=sizes["cpus"])
    for name, value in switches.items():
        setattr(clusters.rules, name, value)
    made = structs.config(
        lib.sws_cluster_folios_config_init,
        None,
        clusters=clusters[0],
        **{name: sizes[name] for name in ("processes", "pages", "swap_in_orders")},
        no_return_cache=not return_cache,
    )
    handle = new(lib.sws_cluster_folios_new, made, free=lib.sws_cluster_folios_free)
    stages, done = [], 0
    for mark in marks:
        _feed(handle, steps.slice(done, mark - done))
        tick(mark - done)
        done = mark
        stages.append(_stage(handle))
    return stages


def _feed(handle: Any, steps: pl.DataFrame) -> None:
    rows = structs.columns("struct sws_cluster_folios_rows", steps)
    code = lib.sws_cluster_folios_feed(handle, rows, steps.height)
    at = ffi.new("uint64_t *")
    problem = lib.sws_cluster_folios_problem(handle, at)
    if problem != lib.SWS_CLUSTER_FOLIOS_NO_PROBLEM:
        wrong = ffi.string(lib.sws_cluster_folios_problem_text(problem)).decode()
        raise InputError(f"row {at[0]} of the steps is refused: {wrong}", field="steps")
    check(code)


def _stage(handle: Any) -> Stage:
    totals = ffi.new("struct sws_cluster_folios_totals *")
    lib.sws_cluster_folios_totals(handle, totals)
    clusters = lib.sws_cluster_folios_clusters(handle)
    return Stage(
        counts={name: [int(value) for value in getattr(totals, name)] for name in COUNTS},
        stayed=int(totals.stayed),
        in_use=int(lib.sws_clusters_in_use(clusters, 0)),
        lists=[
            int(lib.sws_clusters_list_length(clusters, 0, number))
            for number in range(len(CLUSTER_LISTS))
        ],
    )
