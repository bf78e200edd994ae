# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator of ``reclaim.h``: config and costs in, counts and tables out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.checks import check_number, checked
from swapsim.errors import ConfigError
from swapsim.ffi import (
    RECLAIM_COST_MAX,
    RECLAIM_COSTS,
    RECLAIM_DEFAULTS,
    RECLAIM_WHERE,
    STALL_RULES,
    STALL_SLEEPS,
    check,
)
from swapsim.frames.table import Table
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.parallelio import LAB_GUEST, MAIL, SECOND_NS, costs
from swapsim.reclaim.tables import (
    SIMULATED_ACTIVITY,
    SIMULATED_COUNTERS,
    SIMULATED_MEMORY,
    SIMULATED_PAGES,
    SIMULATED_ROUNDS,
    SIMULATED_THROTTLES,
    SIMULATED_ZONES,
    ZONE,
)

CHUNK_WORK: Final = 50_000
"""Work of one call into C, well under 0.1 s; Ctrl-C is handled between two calls."""

NEVER: Final = 2**64 - 1

_POLL_NS: Final = 1_000_000
"""Time between two checks whether a round's serving has begun."""

_PROBLEMS: Final = {
    "SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY": (
        "min_free_pages",
        "watermarks above memory: choose a fourth of memory at most, and a reserve_ratio that "
        "keeps a fourth of DMA32 at most",
    ),
    "SWS_RECLAIM_BAD_SHARE": ("background_percent", "choose dirty_percent at most"),
    "SWS_RECLAIM_BAD_POOL": ("items", "a pool too large: choose fewer items, or fewer item_pages"),
    "SWS_RECLAIM_BAD_TIME": ("seek_near_ns", "choose seek_far_ns at most"),
    "SWS_RECLAIM_PROGRAMS_ABOVE_DISK": (
        "working_pages",
        "more pages than the disk: choose at most disk_pages less the largest file and "
        "program_pages",
    ),
    "SWS_RECLAIM_BAD_START": (
        "start_used_pages",
        "more pages than memory: choose dma32_pages and normal_pages together at most",
    ),
}
"""Problems of fields that are in their ranges but do not fit together: the field, what to do."""

_NOT_IN_MEMORY: Final = ("untouched", "swapped-out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a simulation gives.

    Attributes
    ----------
    out_of_memory : bool
        Whether it ended out of memory; otherwise all of its rounds are done.
    elapsed_ns, events : int
    rounds, counters, zones, sleeps : polars.DataFrame
        Schemas SIMULATED_ROUNDS, SIMULATED_COUNTERS, SIMULATED_ZONES, SIMULATED_THROTTLES.
    memory, activity : polars.DataFrame
        Schemas SIMULATED_MEMORY and SIMULATED_ACTIVITY: each sample_ns, and at the end.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What was counted in a time window of a round.

    Attributes
    ----------
    out_of_memory : bool
        Whether the simulation ended before the window did.
    ops : int
        Operations of the client in the window.
    io_ns : int
        How long the file took, also beyond the window; 0: no file.
    counters, zones, sleeps : dict of str to int
        Counters of SIMULATED_COUNTERS; SIMULATED_ZONES, both zones together;
        SIMULATED_THROTTLES as ``slept REASON`` and ``slept_ns REASON``.
    """

    out_of_memory: bool
    ops: int
    io_ns: int
    counters: dict[str, int]
    zones: dict[str, int]
    sleeps: dict[str, int]


def make(config: ReclaimConfig, ns: Mapping[str, int]) -> Any:
    """Return a ``struct sws_reclaim *`` with these costs at time 0; it frees itself."""
    made = ffi.new("struct sws_reclaim_config *")
    lib.sws_reclaim_config_init(made)
    for name in RECLAIM_DEFAULTS:
        if name not in ("rules", "rounds"):
            setattr(made, name, getattr(config, name))
    made.rules = STALL_RULES.index(config.rules)
    for name in RECLAIM_COSTS:
        if name not in ns:
            raise ConfigError(f"{name}: a cost that is missing; give it in ns")
        check_number(name, ns[name], 1, RECLAIM_COST_MAX)
        setattr(made.costs, name, ns[name])
    files = ffi.new("uint32_t[]", list(config.files))
    made.rounds, made.file_pages = len(config.files), files
    _check_problem(lib.sws_reclaim_check(made), config)
    out = ffi.new("struct sws_reclaim **")
    check(lib.sws_reclaim_new(made, out))
    return ffi.gc(out[0], lib.sws_reclaim_free)


def _check_problem(problem: int, config: ReclaimConfig) -> None:
    if problem != lib.SWS_RECLAIM_NO_PROBLEM:
        name = ffi.typeof("enum sws_reclaim_problem").elements[problem]
        field, advice = _PROBLEMS[name]
        raise ConfigError(f"{field}={getattr(config, field)!r}: {advice}")


def advance(self: Any, until_ns: int, tick: Callable[[int], object] = lambda _now: None) -> bool:
    """Run a simulation up to a time; return False if it is at its end."""
    more = ffi.new("bool *", True)
    while more[0]:
        check(lib.sws_reclaim_run(self, until_ns, CHUNK_WORK, more))
        tick(lib.sws_reclaim_state_of(self).now_ns)
    return not lib.sws_reclaim_is_over(self)


@checked
def run(
    config: ReclaimConfig,
    constants: pl.DataFrame | None = None,
    *,
    sample_ns: int = SECOND_NS,
    tick: Callable[[int], object] = lambda _now: None,
) -> Result:
    """Run a simulation to its end: all rounds, or out of memory.

    Parameters
    ----------
    config : ReclaimConfig
    constants : polars.DataFrame, optional
        Schema CONSTANTS, of which the costs are read; default: data/reclaim.csv.
    sample_ns : int
        Simulated time between two samples of memory.
    tick : callable
        Takes the simulated time in ns, many times a second: for a progress bar.

    Raises
    ------
    InputError
        A constant that does not fit.
    ConfigError
        Fields of the config that do not fit together.
    NativeMemoryError

    Source
    ------
    ``reclaim.h``, which says what of the kernel it models.
    """
    self = make(config, costs(MAIL, constants))
    memory: list[tuple[Any, ...]] = []
    activity: list[tuple[Any, ...]] = []
    more, until = True, 0
    while more:
        until = min(until + sample_ns, NEVER)
        more = advance(self, until, tick)
        memory += _memory(self)
        activity.append(_activity(self))
    return Result(
        out_of_memory=_is_out_of_memory(self),
        elapsed_ns=lib.sws_reclaim_state_of(self).now_ns,
        events=lib.sws_reclaim_events(self),
        rounds=_rounds(self, config),
        counters=_frame(SIMULATED_COUNTERS, [*counters(self).items()]),
        zones=_zones(self, config),
        sleeps=_sleeps(self),
        memory=_frame(SIMULATED_MEMORY, memory),
        activity=_frame(SIMULATED_ACTIVITY, activity),
    )


def _frame(table: Table, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=table.schema, orient="row")


@checked
def follow_pages(
    config: ReclaimConfig,
    pages: Sequence[int],
    constants: pl.DataFrame | None = None,
    *,
    step_ns: int = 1_000_000,
) -> pl.DataFrame:
    """Return where single pages of the client's pool are, from the first touch to the exit.

    Parameters
    ----------
    config : ReclaimConfig
    pages : sequence of int
        Their numbers in the pool, from 0.
    constants : polars.DataFrame, optional
        As for `run`.
    step_ns : int
        Simulated time between two samples; a shorter stay may be missed.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_PAGES, in order of time.

    Raises
    ------
    InputError, ConfigError, NativeMemoryError
        As `run`; or a page that is not in the pool, or a step of 0.
    """
    for page in pages:
        check_number("pages", page, 0, config.items * config.item_pages - 1)
    check_number("step_ns", step_ns, 1, NEVER)
    self = make(config, costs(MAIL, constants))
    seen: dict[int, tuple[str, str | None]] = {}
    rows: list[tuple[int, int, str, str | None]] = []
    more, until = True, 0
    while more and until <= NEVER:
        more = advance(self, until)
        now = lib.sws_reclaim_state_of(self).now_ns
        for page in pages:
            where, zone, _ = pool_page(self, page)
            found = (where, None if where in _NOT_IN_MEMORY else ZONE.words[zone])
            if seen.get(page) != found:
                seen[page] = found
                rows.append((page, now, *found))
        until += step_ns
    return _frame(SIMULATED_PAGES, rows)


def pool_page(self: Any, number: int) -> tuple[str, int, bool]:
    """Return where a page of the pool is, the number of its zone, and whether it is young."""
    found = lib.sws_reclaim_pool_page_of(self, number)
    return RECLAIM_WHERE[found.where], found.zone, found.young


@checked
def run_lab_guest(config: ReclaimConfig, constants: pl.DataFrame | None = None) -> Window:
    """Run one round of the lab's test, and count while the pool is served, as the lab does.

    The count begins when the pool is full, and takes ``serve_ns``. The writer begins with the
    serving, or within a millisecond of it.

    Parameters
    ----------
    config : ReclaimConfig
        As `lab_guest` returns it.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/reclaim-lab-guest.csv.

    Raises
    ------
    InputError, ConfigError, NativeMemoryError
        As `run`.
    """
    self = make(config, costs(LAB_GUEST, constants))
    more, until = True, 0
    while more and not lib.sws_reclaim_round_of(self, 0).serve_ns:
        until += _POLL_NS
        more = advance(self, until)
    first = tuple(_counts(self, config))
    if more:
        more = advance(self, lib.sws_reclaim_round_of(self, 0).serve_ns + config.serve_ns)
    second = tuple(_counts(self, config))
    ended_early = _is_out_of_memory(self)
    if more:
        advance(self, NEVER)
    counted, zones, sleeps = (
        {name: after[name] - before[name] for name in after}
        for before, after in zip(first, second, strict=True)
    )
    return Window(
        out_of_memory=ended_early,
        ops=lib.sws_reclaim_round_of(self, 0).ops,
        io_ns=lib.sws_reclaim_round_of(self, 0).io_ns,
        counters=counted,
        zones=zones,
        sleeps=sleeps,
    )


def _counts(self: Any, config: ReclaimConfig) -> Iterator[dict[str, int]]:
    yield counters(self)
    yield _zones(self, config).drop("zone").sum().row(0, named=True)
    sleeps = _sleeps(self)
    yield {
        f"{column} {reason}": value
        for column in ("slept", "slept_ns")
        for reason, value in sleeps.select("reason", column).iter_rows()
    }


def _is_out_of_memory(self: Any) -> bool:
    return bool(lib.sws_reclaim_outcome(self) == lib.SWS_RECLAIM_OUT_OF_MEMORY)


def counters(self: Any) -> dict[str, int]:
    """Return the counters that are one number, by name."""
    counts = lib.sws_reclaim_counts_of(self)
    return {
        name: getattr(counts, name)
        for name, field in ffi.typeof("struct sws_reclaim_counts").fields
        if field.type.kind == "primitive"
    }


_KINDS: Final = tuple(SIMULATED_MEMORY.schema)[2:-3]
_SUMS: Final = {name for name, _ in ffi.typeof("struct sws_reclaim_counts").fields}


def _memory(self: Any) -> Iterator[tuple[Any, ...]]:
    state = lib.sws_reclaim_state_of(self)
    for number, zone in enumerate(ZONE.words):
        count = lib.sws_reclaim_zone_of(self, number)
        kinds = tuple(getattr(state, name)[number] for name in _KINDS)
        sums = (count.scanned_kswapd, count.reclaimed_kswapd, count.scanned_direct)
        yield (state.now_ns, zone, *kinds, *sums)


def _activity(self: Any) -> tuple[Any, ...]:
    state, counts = lib.sws_reclaim_state_of(self), lib.sws_reclaim_counts_of(self)
    return tuple(
        getattr(counts if name in _SUMS else state, name if name != "t_ns" else "now_ns")
        for name in SIMULATED_ACTIVITY.schema
    )


def _rounds(self: Any, config: ReclaimConfig) -> pl.DataFrame:
    rows = []
    for number, pages in enumerate(config.files):
        found = lib.sws_reclaim_round_of(self, number)
        if number and not found.begin_ns:
            break
        row = {name: getattr(found, name, None) for name in SIMULATED_ROUNDS.schema}
        seconds = config.serve_ns / 1e9
        row |= {"round": number, "file_pages": pages, "ops_per_second": found.ops / seconds}
        rows.append(row)
    return pl.DataFrame(rows, schema=SIMULATED_ROUNDS.schema)


def _zones(self: Any, config: ReclaimConfig) -> pl.DataFrame:
    zones = ZONE.dtype.categories[: 1 + (config.normal_pages > 0)]
    names = SIMULATED_ZONES.names()[1:]
    rows = []
    for number, zone in enumerate(zones):
        count = lib.sws_reclaim_zone_of(self, number)
        rows.append((zone, *(getattr(count, name) for name in names)))
    return _frame(SIMULATED_ZONES, rows)


def _sleeps(self: Any) -> pl.DataFrame:
    counts = lib.sws_reclaim_counts_of(self)
    rows = [
        (reason, counts.sleeps[number], counts.declined[number], counts.slept_ns[number])
        for number, reason in enumerate(STALL_SLEEPS)
    ]
    return _frame(SIMULATED_THROTTLES, rows)
