# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator of ``reclaim.h``: config and costs in, counts and tables out."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as facts
from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_number
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.parallelio import SECOND_NS, costs
from swapsim.reclaim.tables import ZONE
from swapsim.stall.tables import THROTTLE

CHUNK_WORK: Final = 50_000
"""Work of one call into C, well under 0.1 s; Ctrl-C is handled between two calls."""

NEVER: Final = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a simulation gives; ``reclaim.h`` explains the fields of each struct.

    It ended ``out_of_memory``, or all of its ``rounds`` are done: a row per round that began, with
    ``round`` from 0, ``file_pages``, the fields of ``struct sws_reclaim_round``, and
    ``ops_per_second`` of serving. ``counters`` has ``name`` and ``value`` of the fields of ``struct
    sws_reclaim_counts``, ``zones`` a row per ``zone`` (``struct sws_reclaim_zone``), and ``sleeps``
    one per ``reason`` for a throttle: how many ``slept``, how many were ``declined``, and
    ``slept_ns``.

    Each sample_ns and at the end, ``memory`` has a row per zone: ``t_ns``, the fields by zone of
    ``struct sws_reclaim_state``, and those of ``struct sws_reclaim_zone`` so far; ``activity`` has
    the other fields of the state, and the counters so far.
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


def make(config: ReclaimConfig, ns: Mapping[str, int]) -> Any:
    """Return a ``struct sws_reclaim *`` with these costs at time 0; it frees itself."""
    files = ffi.new("uint32_t[]", list(config.files))
    made = facts.config(
        lib.sws_reclaim_config_init,
        config,
        rules=facts.STALL_RULES.index(config.rules),
        rounds=len(files),
        file_pages=files,
        costs=_costs(ns),
    )
    problem = lib.sws_reclaim_check(made)
    if problem != lib.SWS_RECLAIM_NO_PROBLEM:
        why = facts.problem("enum sws_reclaim_problem", problem)
        named = {name: getattr(config, name, None) for name in re.findall(r"\w+", why)}
        values = [f"{name}={value!r}" for name, value in named.items() if value is not None]
        raise InputError(f"{', '.join(values)}: {why}")
    return facts.new(lib.sws_reclaim_new, made, free=lib.sws_reclaim_free)


def _costs(ns: Mapping[str, int]) -> dict[str, int]:
    for name in facts.RECLAIM_COSTS:
        if name not in ns:
            raise InputError(f"{name}: a cost that is missing; give it in ns")
        check_number(name, ns[name], 1, facts.RECLAIM_COST_MAX)
    return {name: ns[name] for name in facts.RECLAIM_COSTS}


def advance(self: Any, until_ns: int, tick: Callable[[int], object] = lambda _now: None) -> bool:
    """Run a simulation up to a time; return False if it is at its end."""
    more = ffi.new("bool *", True)
    while more[0]:
        facts.check(lib.sws_reclaim_run(self, until_ns, CHUNK_WORK, more))
        tick(lib.sws_reclaim_state_of(self).now_ns)
    return not lib.sws_reclaim_is_over(self)


def run(
    config: ReclaimConfig,
    constants: pl.DataFrame | None = None,
    *,
    sample_ns: int = SECOND_NS,
    tick: Callable[[int], object] = lambda _now: None,
) -> Result:
    """Run a simulation to its end: all rounds, or out of memory.

    The costs of ``constants`` (CONSTANTS; default: data/reclaim.csv) are read. Memory is sampled
    each ``sample_ns``; ``tick`` gets the simulated time in ns, many times a second.
    """
    self = make(config, costs(constants))
    states, counts, zones = list[Any](), list[Any](), list[Any]()
    more, until = True, 0
    while more:
        until = min(until + sample_ns, NEVER)
        more = advance(self, until, tick)
        states.append(lib.sws_reclaim_state_of(self))
        counts.append(lib.sws_reclaim_counts_of(self))
        zones += (lib.sws_reclaim_zone_of(self, number) for number in range(len(ZONE.words)))
    state, by_zone = _fields("struct sws_reclaim_state", states)
    counted, _ = _fields("struct sws_reclaim_counts", counts)
    of_zone, _ = _fields("struct sws_reclaim_zone", zones)
    sampled = len(state["now_ns"])
    memory = {
        "t_ns": state["now_ns"].repeat(len(ZONE.words)),
        "zone": pl.Series([*ZONE.words] * sampled, dtype=ZONE.dtype),
        **{name: values.ravel() for name, values in by_zone.items()},
    }
    return Result(
        out_of_memory=_is_out_of_memory(self),
        elapsed_ns=lib.sws_reclaim_state_of(self).now_ns,
        events=lib.sws_reclaim_events(self),
        rounds=_rounds(self, config),
        counters=pl.DataFrame(
            [*counters(self).items()], schema={"name": pl.String, "value": pl.UInt64}, orient="row"
        ),
        zones=_zones(self, config),
        sleeps=_sleeps(self),
        memory=pl.DataFrame(memory | of_zone),
        activity=pl.DataFrame(state | counted).rename({"now_ns": "t_ns"}),
    )


def _is_out_of_memory(self: Any) -> bool:
    return bool(lib.sws_reclaim_outcome(self) == lib.SWS_RECLAIM_OUT_OF_MEMORY)


def counters(self: Any) -> dict[str, int]:
    """Return the counters that are one number, by name."""
    found, _ = _fields("struct sws_reclaim_counts", [lib.sws_reclaim_counts_of(self)])
    return {name: int(values[0]) for name, values in found.items()}


# Structs as rows.

_Columns = dict[str, np.ndarray[Any, Any]]


def _fields(struct: str, values: Sequence[Any]) -> tuple[_Columns, _Columns]:
    """Return the fields of structs of a kind, those of one number and those of several."""
    one, several = _Columns(), _Columns()
    for name, field in ffi.typeof(struct).fields:
        is_array = field.type.kind == "array"
        kind = (field.type.item if is_array else field.type).cname
        found = [getattr(value, name) for value in values]
        numbers = [list(each) for each in found] if is_array else found
        column = np.array(numbers, "bool" if kind == "_Bool" else kind.removesuffix("_t"))
        (several if is_array else one)[name] = column
    return one, several


def _rounds(self: Any, config: ReclaimConfig) -> pl.DataFrame:
    numbers = range(len(config.files))
    ended = [lib.sws_reclaim_round_of(self, number) for number in numbers]
    found, _ = _fields("struct sws_reclaim_round", ended)
    # numpy rounds a quotient once; polars multiplies by the reciprocal of a constant.
    rate = found["ops"] / (config.serve_ns / 1e9)
    known = {"round": numbers, "file_pages": config.files, **found, "ops_per_second": rate}
    rows = pl.DataFrame(known, schema_overrides={"round": pl.UInt32, "file_pages": pl.UInt32})
    return rows.filter((pl.col("round") == 0) | (pl.col("begin_ns") > 0))


def _zones(self: Any, config: ReclaimConfig) -> pl.DataFrame:
    names = ZONE.words[: 1 + (config.normal_pages > 0)]
    zones = [lib.sws_reclaim_zone_of(self, number) for number in range(len(names))]
    found, _ = _fields("struct sws_reclaim_zone", zones)
    return pl.DataFrame({"zone": pl.Series(names, dtype=ZONE.dtype), **found})


def _sleeps(self: Any) -> pl.DataFrame:
    counts = lib.sws_reclaim_counts_of(self)
    columns = {"slept": counts.sleeps, "declined": counts.declined, "slept_ns": counts.slept_ns}
    return pl.DataFrame(
        {"reason": facts.STALL_SLEEPS, **{name: list(column) for name, column in columns.items()}},
        schema={"reason": THROTTLE.dtype, **dict.fromkeys(columns, pl.UInt64())},
    )
