# SPDX-License-Identifier: GPL-2.0-or-later
"""The world of ``reclaim.h``: a config and costs in, what happened, and memory by time, out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.checks import check_number
from swapsim.errors import ConfigError
from swapsim.ffi.codes import check
from swapsim.ffi.facts import STALL_RULES, STALL_SLEEPS, WORLD_COST_MAX, WORLD_COSTS, WORLD_WHERE
from swapsim.reclaim.config import WORLD_FIELDS, ReclaimConfig
from swapsim.reclaim.tables import (
    WORLD_ACTIVITY,
    WORLD_COUNTERS,
    WORLD_LIVES,
    WORLD_MEMORY,
    WORLD_ROUNDS,
    WORLD_SLEEPS,
    WORLD_ZONES,
    ZONE,
)

CHUNK_WORK: Final = 50_000
"""Work of one call into C, well under 0.1 s: between two calls Ctrl-C is heard."""

NEVER: Final = 2**64 - 1

_PROBLEMS: Final = {
    "SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY": (
        "min_free_pages",
        "watermarks above memory: choose a fourth of memory at most, and a reserve_ratio that "
        "keeps a fourth of DMA32 at most",
    ),
    "SWS_RECLAIM_BAD_SHARE": ("background_percent", "choose dirty_percent at most"),
    "SWS_RECLAIM_BAD_POOL": ("items", "a pool too large: choose fewer items, or fewer item_pages"),
    "SWS_RECLAIM_BAD_TIME": ("seek_near_ns", "choose seek_far_ns at most"),
}
"""What is left to the library, as the config's own ranges hold: the field, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What a world did.

    Attributes
    ----------
    out_of_memory : bool
        Whether it ended so; else all of its rounds are over.
    elapsed_ns, events : int
    rounds, counters, zones, sleeps : polars.DataFrame
        Schemas WORLD_ROUNDS, WORLD_COUNTERS, WORLD_ZONES, WORLD_SLEEPS.
    memory, activity : polars.DataFrame
        Schemas WORLD_MEMORY and WORLD_ACTIVITY: a sample each sample_ns, and the end.
    """

    out_of_memory: bool
    elapsed_ns: int
    events: int
    rounds: pl.DataFrame
    counters: pl.DataFrame
    zones: pl.DataFrame
    sleeps: pl.DataFrame
    memory: pl.DataFrame
    activity: pl.DataFrame


def watch(
    config: ReclaimConfig,
    costs: Mapping[str, int],
    *,
    sample_ns: int = NEVER,
    verify: bool = False,
    tick: Callable[[int], object] = lambda _now: None,
) -> Watched:
    """Run a world to its end.

    Parameters
    ----------
    config : ReclaimConfig
    costs : mapping of str to int
        Each field of ``struct sws_reclaim_costs``, in ns.
    sample_ns : int
        Simulated time between two samples of memory.
    verify : bool
        Whether to re-derive every invariant at each sample: for tests, each is one long call.
    tick : callable
        Takes the simulated time, after each call into C.

    Returns
    -------
    Watched

    Raises
    ------
    ConfigError
        Naming what does not fit together.
    NativeError
        An invariant does not hold.
    NativeMemoryError
    """
    vm = make(config, costs)
    memory: list[tuple[Any, ...]] = []
    activity: list[tuple[Any, ...]] = []
    more, until = True, 0
    while more:
        until = min(until + sample_ns, NEVER)
        more = run(vm, until, tick)
        _sample(vm, memory, activity)
        if verify:
            check(lib.sws_reclaim_verify(vm, ffi.new("const char **")))
    return Watched(
        out_of_memory=lib.sws_reclaim_outcome(vm) == lib.SWS_RECLAIM_OUT_OF_MEMORY,
        elapsed_ns=lib.sws_reclaim_state_of(vm).now_ns,
        events=lib.sws_reclaim_events(vm),
        rounds=_rounds(vm, config),
        counters=_counters(vm),
        zones=_zones(vm, config),
        sleeps=_sleeps(vm),
        memory=pl.DataFrame(memory, schema=WORLD_MEMORY.schema, orient="row"),
        activity=pl.DataFrame(activity, schema=WORLD_ACTIVITY.schema, orient="row"),
    )


def make(config: ReclaimConfig, costs: Mapping[str, int]) -> Any:
    """Return a ``struct sws_reclaim *`` at time 0, which frees itself.

    Raises
    ------
    ConfigError
        Naming the field of what does not fit together, or the cost that is missing.
    NativeMemoryError
    """
    made = ffi.new("struct sws_reclaim_config *")
    lib.sws_reclaim_config_init(made)
    for name in WORLD_FIELDS:
        setattr(made, name, getattr(config, name) if name != "rules" else 0)
    made.rules = STALL_RULES.index(config.rules)
    for name in WORLD_COSTS:
        if name not in costs:
            raise ConfigError(f"{name}: a cost that is missing; give it in ns")
        check_number(name, costs[name], 1, WORLD_COST_MAX)
        setattr(made.costs, name, costs[name])
    files = ffi.new("uint32_t[]", list(config.files))
    made.rounds, made.file_pages = len(config.files), files
    _refuse(lib.sws_reclaim_check(made), config)
    out = ffi.new("struct sws_reclaim **")
    check(lib.sws_reclaim_new(made, out))
    return ffi.gc(out[0], lib.sws_reclaim_free)


def follow(
    config: ReclaimConfig,
    costs: Mapping[str, int],
    pages: Sequence[int],
    *,
    step_ns: int,
    since_ns: int = 0,
    until_ns: int = NEVER,
    tick: Callable[[int], object] = lambda _now: None,
) -> pl.DataFrame:
    """Run a world and write down where some pages of its pool are, whenever that has changed.

    Parameters
    ----------
    config, costs, tick
        As for `watch`.
    pages : sequence of int
        Numbers in the pool.
    step_ns : int
        How often it is looked.
    since_ns, until_ns : int
        When it is looked.

    Returns
    -------
    polars.DataFrame
        Schema WORLD_LIVES, in order of time.

    Raises
    ------
    ConfigError
        Naming what does not fit together.
    NativeMemoryError
    """
    vm = make(config, costs)
    seen: dict[int, tuple[str, str | None]] = {}
    rows: list[tuple[int, int, str, str | None]] = []
    more, until = True, since_ns
    while more and until <= until_ns:
        more = run(vm, until, tick)
        now = lib.sws_reclaim_state_of(vm).now_ns
        for page in pages:
            where, zone, _ = pool_page(vm, page)
            found = (where, None if where in _NOWHERE else ZONE.dtype.categories[zone])
            if seen.get(page) != found:
                seen[page] = found
                rows.append((page, now, *found))
        until += step_ns
    return pl.DataFrame(rows, schema=WORLD_LIVES.schema, orient="row")


_NOWHERE: Final = ("untouched", "swapped-out")


def pool_page(vm: Any, number: int) -> tuple[str, int, bool]:
    """Return where a page of the pool is, the number of its zone, and whether it is young."""
    found = lib.sws_reclaim_pool_page_of(vm, number)
    return WORLD_WHERE[found.where], found.zone, found.young


def _refuse(problem: int, config: ReclaimConfig) -> None:
    if problem == lib.SWS_RECLAIM_NO_PROBLEM:
        return
    name = ffi.typeof("enum sws_reclaim_problem").elements[problem]
    field, advice = _PROBLEMS[name]
    raise ConfigError(f"{field}={getattr(config, field)!r}: {advice}")


def run(vm: Any, until_ns: int, tick: Callable[[int], object] = lambda _now: None) -> bool:
    """Run a world up to a time; False if it is at its end.

    Raises
    ------
    NativeError
    """
    more = ffi.new("bool *", True)
    while more[0]:
        check(lib.sws_reclaim_run(vm, until_ns, CHUNK_WORK, more))
        tick(lib.sws_reclaim_state_of(vm).now_ns)
    return not lib.sws_reclaim_is_over(vm)


def _sample(vm: Any, memory: list[tuple[Any, ...]], activity: list[tuple[Any, ...]]) -> None:
    state, counts = lib.sws_reclaim_state_of(vm), lib.sws_reclaim_counts_of(vm)
    for number, zone in enumerate(ZONE.dtype.categories):
        count = lib.sws_reclaim_zone_of(vm, number)
        kinds = tuple(getattr(state, name)[number] for name in _KINDS)
        sums = (count.scanned_kswapd, count.reclaimed_kswapd, count.scanned_direct)
        memory.append((state.now_ns, zone, *kinds, *sums))
    activity.append(
        tuple(
            getattr(counts if name in _SUMS else state, name if name != "t_ns" else "now_ns")
            for name in WORLD_ACTIVITY.schema
        )
    )


_KINDS: Final = tuple(WORLD_MEMORY.schema)[2:-3]
_SUMS: Final = {name for name, _ in ffi.typeof("struct sws_reclaim_counts").fields}


def _rounds(vm: Any, config: ReclaimConfig) -> pl.DataFrame:
    rows = []
    for number, pages in enumerate(config.files):
        found = lib.sws_reclaim_round_of(vm, number)
        if number and not found.begin_ns:
            break
        row = {name: getattr(found, name, None) for name in WORLD_ROUNDS.schema}
        seconds = config.serve_ns / 1e9
        row |= {"round": number, "file_pages": pages, "ops_per_second": found.ops / seconds}
        rows.append(row)
    return pl.DataFrame(rows, schema=WORLD_ROUNDS.schema)


def _counters(vm: Any) -> pl.DataFrame:
    counts = lib.sws_reclaim_counts_of(vm)
    names = [
        name
        for name, field in ffi.typeof("struct sws_reclaim_counts").fields
        if field.type.kind == "primitive"
    ]
    rows = [(name, getattr(counts, name)) for name in names]
    return pl.DataFrame(rows, schema=WORLD_COUNTERS.schema, orient="row")


def _zones(vm: Any, config: ReclaimConfig) -> pl.DataFrame:
    zones = ZONE.dtype.categories[: 1 + (config.normal_pages > 0)]
    rows = []
    for number, zone in enumerate(zones):
        count = lib.sws_reclaim_zone_of(vm, number)
        rows.append((zone, *(getattr(count, name) for name in tuple(WORLD_ZONES.schema)[1:])))
    return pl.DataFrame(rows, schema=WORLD_ZONES.schema, orient="row")


def _sleeps(vm: Any) -> pl.DataFrame:
    counts = lib.sws_reclaim_counts_of(vm)
    rows = [
        (reason, counts.sleeps[number], counts.declined[number], counts.slept_ns[number])
        for number, reason in enumerate(STALL_SLEEPS)
    ]
    return pl.DataFrame(rows, schema=WORLD_SLEEPS.schema, orient="row")
