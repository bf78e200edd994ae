# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of memory operations under rules: which large folios are swapped out whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from swapsim.checks import check_choice, checked
from swapsim.clusters._native_folios import COUNTS, PROCESSES_MAX, Stage, run_steps
from swapsim.clusters._native_limits import SIZE_MAX, SLOTS_MAX
from swapsim.clusters.replay import check_switches
from swapsim.clusters.requests import Requests
from swapsim.clusters.tables import CLUSTER_LISTS, FOLIO_STEPS, FOLIOS_OUT
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import CLUSTER_CPUS_MAX, CLUSTER_RULES
from swapsim.ffi import CLUSTER_LISTS as LISTS
from swapsim.progress import bar


@dataclass(frozen=True, slots=True, kw_only=True)
class FolioRun:
    """A stream of memory operations, run under rule sets.

    Attributes
    ----------
    out, lists : polars.DataFrame
        Schemas FOLIOS_OUT and CLUSTER_LISTS, the latter with the stage as ``seq``.
    stayed : dict of str to int
        Rule set -> pages that stayed resident because no slot was free.
    stream : str
        Name of the stream.
    slots : int
        Slots of the device.
    warm_up : int
        Stages at the begin that are not counted.
    """

    out: pl.DataFrame
    lists: pl.DataFrame
    stayed: Mapping[str, int]
    stream: str
    slots: int
    warm_up: int


@checked
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

    Parameters
    ----------
    requests : Requests
        Of `clusters.requests`.
    rules : str or sequence of str
        Of CLUSTER_RULES.
    slots : int, optional
        Slots of the device with its header; default: those of the requests.
    switches : mapping of str to bool or int, optional
        Rules that are changed in each of these sets, by the names of ``cluster_rules.h``.
    return_cache : bool
        Whether freed slots wait in a cache, under rules with slot cache (until 6.13).
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    FolioRun
        Counts of each stage of the requests, not cumulative; the device at its end.

    Raises
    ------
    ConfigError
        There is no such rule set or switch, or the device is too small or too large.
    InputError
        The stream has no step that frees slots, or a step, by its row, cannot be run.

    Source
    ------
    mm/vmscan.c: shrink_folio_list; mm/memory.c: do_swap_page; mm/madvise.c.
    """
    wanted = (rules,) if isinstance(rules, str) else tuple(dict.fromkeys(rules))
    changed = check_switches(switches)
    for name in wanted:
        check_choice("rules", name, CLUSTER_RULES)
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
        out=FOLIOS_OUT.check(pl.concat(_out(*item) for item in stages.items())),
        lists=CLUSTER_LISTS.check(pl.concat(_lists(*item) for item in stages.items())),
        stayed={name: found[-1].stayed for name, found in stages.items()},
        stream=requests.name,
        slots=sizes["slots"],
        warm_up=requests.warm_up,
    )


def _sizes(requests: Requests, slots: int) -> dict[str, int]:
    """Return the sizes for the library; an error names what a stream lacks or has too much."""
    steps = FOLIO_STEPS.check(requests.steps)
    if not SIZE_MAX <= slots <= SLOTS_MAX:
        raise ConfigError(f"slots={slots}: give at least a cluster, {SIZE_MAX}, to {SLOTS_MAX}")
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
    frame = pl.DataFrame(rows, schema=FOLIOS_OUT.schema, orient="row")
    used = frame.group_by("order").agg(pl.max_horizontal(*COUNTS).sum().alias("n"))
    return frame.join(used.filter(pl.col("n") > 0), on="order", how="semi", maintain_order="left")


def _lists(rules: str, stages: Sequence[Stage]) -> pl.DataFrame:
    rows = [
        (rules, number, stage.in_use, name, clusters)
        for number, stage in enumerate(stages, start=1)
        for name, clusters in zip(LISTS, stage.lists, strict=True)
    ]
    return pl.DataFrame(rows, schema=CLUSTER_LISTS.schema, orient="row")


@checked
def lines_of(out: pl.DataFrame, order: int = 4) -> list[tuple[int, int]]:
    """Return (swpout, swpout_fallback) of each stage, as the kernel's test prints them.

    Parameters
    ----------
    out : polars.DataFrame
        Schema FOLIOS_OUT, of one rule set.
    order : int
        Log2 of the pages of the folios.

    Raises
    ------
    InputError
        The table has more than one rule set.
    """
    FOLIOS_OUT.check(out)
    if out["rules"].n_unique() > 1:
        raise InputError("the table has several rule sets: give one", field="rules")
    rows = out.filter(order=order).sort("stage").select("swapped_out", "fallbacks")
    return list(rows.iter_rows())
