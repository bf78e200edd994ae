# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of memory operations under rules: which large folios are swapped out whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from swapsim.checks import check_number
from swapsim.clusters._native_folios import COUNTS, PROCESSES_MAX, Stage, run_steps
from swapsim.clusters.replay import check_rules, check_switches, summed_lists
from swapsim.clusters.requests import Requests
from swapsim.clusters.tables import FOLIOS_OUT
from swapsim.errors import InputError
from swapsim.ffi import CLUSTER_CPUS_MAX, CLUSTER_RULES, CLUSTER_SIZE_MAX, CLUSTER_SLOTS_MAX
from swapsim.progress import bar


@dataclass(frozen=True, slots=True, kw_only=True)
class FolioRun:
    """A stream of memory operations, run under rule sets.

    ``out`` has the counts of each stage (FOLIOS_OUT), not cumulative, ``lists`` the device at its
    end (CLUSTER_LISTS with the stage as ``seq``), ``stayed`` the pages that stayed resident because
    no slot was free, by rule set. The first ``warm_up`` stages do not count.
    """

    out: pl.DataFrame
    lists: pl.DataFrame
    stayed: Mapping[str, int]
    stream: str
    slots: int
    warm_up: int


def run(
    requests: Requests,
    rules: str | Sequence[str] = CLUSTER_RULES,
    *,
    slots: int | None = None,
    switches: Mapping[str, bool | int] | None = None,
    return_cache: bool = True,
    progress: bool = False,
) -> FolioRun:
    """Run a stream of memory operations under rules of a swap device.

    It is a closed loop: a large folio that obtains no run of slots is split, and its pages are
    swapped out and in one by one from then on. All rule sets see the same operations.

    ``switches`` are rules that are changed in each set, by the names of ``cluster_rules.h``; with
    ``return_cache`` freed slots wait in a cache, under rules with slot caches (until 6.13).

    Source: mm/vmscan.c: shrink_folio_list; mm/memory.c: do_swap_page; mm/madvise.c.
    """
    wanted, changed = check_rules(rules), check_switches(switches)
    sizes = _sizes(requests, requests.slots if slots is None else slots)
    stages = {}
    with bar(requests.steps.height * len(wanted), "run", "steps", shown=progress) as counted:
        for name in wanted:
            stages[name] = run_steps(
                requests.steps,
                requests.marks,
                name,
                changed,
                sizes=sizes,
                return_cache=return_cache,
                tick=counted.update,
            )
    return FolioRun(
        out=pl.concat(_out(*item) for item in stages.items()),
        lists=pl.concat(_lists(*item) for item in stages.items()),
        stayed={name: found[-1].stayed for name, found in stages.items()},
        stream=requests.name,
        slots=sizes["slots"],
        warm_up=requests.warm_up,
    )


def _sizes(requests: Requests, slots: int) -> dict[str, int]:
    """Return the sizes for the library; an error names what a stream lacks or has too much."""
    steps = requests.steps
    check_number("slots", slots, CLUSTER_SIZE_MAX, CLUSTER_SLOTS_MAX, ", at least a cluster")
    if steps.is_empty() or not steps["step"].is_in(["drop", "access"]).any():
        raise InputError(
            "the stream has no step that frees slots: add access or drop", field="step"
        )
    if not (steps["step"] == "out").any():
        raise InputError("the stream has no page-out: add steps of out", field="step")
    largest = {name: int(steps[name].max()) for name in ("process", "cpu")}  # type: ignore[arg-type]
    pages = int(steps.select((pl.col("page").cast(pl.UInt64) + pl.col("n")).max()).item())
    if largest["process"] >= PROCESSES_MAX or largest["cpu"] >= CLUSTER_CPUS_MAX:
        raise InputError(
            f"the stream has process {largest['process']} and CPU {largest['cpu']}: at most "
            f"{PROCESSES_MAX} and {CLUSTER_CPUS_MAX} are modelled",
            field="process",
        )
    return {
        "slots": slots,
        "cpus": largest["cpu"] + 1,
        "processes": largest["process"] + 1,
        "pages": pages,
        "swap_in_orders": sum(1 << order for order in requests.swap_in_orders),
    }


def _out(rules: str, stages: Sequence[Stage]) -> pl.DataFrame:
    rows = []
    before = [[0] * 10 for _ in COUNTS]
    for number, stage in enumerate(stages, start=1):
        now = [list(stage.counts[name]) for name in COUNTS]
        for order in range(10):
            counts = [new[order] - old[order] for new, old in zip(now, before, strict=True)]
            rows.append((rules, number, order, *counts))
        before = now
    frame = pl.DataFrame(rows, schema=FOLIOS_OUT, orient="row")
    used = frame.group_by("order").agg(pl.max_horizontal(*COUNTS).sum().alias("n"))
    return frame.join(used.filter(pl.col("n") > 0), on="order", how="semi", maintain_order="left")


def _lists(rules: str, stages: Sequence[Stage]) -> pl.DataFrame:
    samples = ((at, stage.in_use, stage.lists) for at, stage in enumerate(stages, start=1))
    return summed_lists(rules, samples)


def lines_of(out: pl.DataFrame, order: int = 4) -> list[tuple[int, int]]:
    """Return (swpout, swpout_fallback) of each stage of one rule set, as the kernel's test does."""
    rows = out.filter(order=order).sort("stage").select("swapped_out", "fallbacks")
    return list(rows.iter_rows())
