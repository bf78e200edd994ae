# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator of ``reclaim.h``: config and costs in, counts and tables out."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as facts
from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_choice, check_number
from swapsim.stall.tables import THROTTLE

CHUNK_WORK: Final = 50_000  # of one call into C, well under 0.1 s; Ctrl-C is handled between two
NEVER: Final = 2**64 - 1
ZONE: Final = pl.Enum(("dma32", "normal"))  # a zone of memory, the lower one first

_PLAIN: Final = facts.RECLAIM_DEFAULTS.keys() - {"rules", "rounds", "seed"}
_USUAL: Final = [(name, type(n), n) for name, n in facts.RECLAIM_DEFAULTS.items() if name in _PLAIN]
_Fields: Any = make_dataclass("_Fields", _USUAL, frozen=True, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimConfig(_Fields):  # type: ignore[misc]
    """A simulation: ``struct sws_reclaim_config`` explains each field, and names its range.

    ``rules`` is one of RECLAIM_RULES; any other of STALL_RULES keeps its lists per node and needs
    ``normal_pages=0``. ``files`` are the pages of each round's file; 0: no file.
    """

    rules: str = facts.STALL_RULES[facts.RECLAIM_DEFAULTS["rules"]]
    files: tuple[int, ...] = (0,)
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field; the library checks how they fit together."""
        check_choice("rules", self.rules, facts.STALL_RULES)
        if self.rules not in facts.RECLAIM_RULES and self.normal_pages:
            raise InputError(
                f"rules={self.rules!r}: its lists are per node, and there are two zones; "
                f"give normal_pages=0, or one of {', '.join(facts.RECLAIM_RULES)}"
            )
        for name, (low, high) in facts.RECLAIM_RANGES.items():
            if name != "rounds":
                check_number(name, getattr(self, name), low, high)
        fewest, most = facts.RECLAIM_RANGES["rounds"]
        if not isinstance(self.files, tuple) or not fewest <= len(self.files) <= most:
            raise InputError(f"files={self.files!r}: give a tuple of {fewest} to {most} sizes")
        for size in self.files:
            check_number("files", size, 0, self.disk_pages, ": a file is no larger than its disk")
        if self.dma32_pages + self.normal_pages < facts.RECLAIM_PAGES_MIN:
            raise InputError(
                f"dma32_pages={self.dma32_pages} and normal_pages={self.normal_pages}: "
                f"choose {facts.RECLAIM_PAGES_MIN} pages or more"
            )


def make(config: ReclaimConfig, ns: Mapping[str, int]) -> Any:
    """Return a ``struct sws_reclaim *`` with these costs at time 0; it frees itself."""
    for name in facts.RECLAIM_COSTS:
        if name not in ns:
            raise InputError(f"{name}: a cost that is missing; give it in ns")
        check_number(name, ns[name], 1, facts.RECLAIM_COST_MAX)
    files = ffi.new("uint32_t[]", list(config.files))
    made = facts.config(
        lib.sws_reclaim_config_init,
        config,
        rules=facts.STALL_RULES.index(config.rules),
        rounds=len(files),
        file_pages=files,
        costs={name: ns[name] for name in facts.RECLAIM_COSTS},
    )
    problem = lib.sws_reclaim_check(made)
    if problem != lib.SWS_RECLAIM_NO_PROBLEM:
        why = facts.problem("enum sws_reclaim_problem", problem)
        named = {name: getattr(config, name, None) for name in re.findall(r"\w+", why)}
        values = [f"{name}={value!r}" for name, value in named.items() if value is not None]
        raise InputError(f"{', '.join(values)}: {why}")
    return facts.new(lib.sws_reclaim_new, made, free=lib.sws_reclaim_free)


def simulate(
    config: ReclaimConfig,
    ns: Mapping[str, int],
    sample_ns: int,
    tick: Callable[[int], object] = lambda _now: None,
) -> dict[str, Any]:
    """Run a simulation to its end, and return the fields of `parallelio.Run`."""
    self = make(config, ns)
    states, counts, zones = list[Any](), list[Any](), list[Any]()
    until, more = 0, ffi.new("bool *")
    while not lib.sws_reclaim_is_over(self):
        until = min(until + sample_ns, NEVER)
        more[0] = True
        while more[0]:
            facts.check(lib.sws_reclaim_run(self, until, CHUNK_WORK, more))
            tick(lib.sws_reclaim_state_of(self).now_ns)
        states.append(lib.sws_reclaim_state_of(self))
        counts.append(lib.sws_reclaim_counts_of(self))
        zones += (lib.sws_reclaim_zone_of(self, number) for number in range(len(ZONE.categories)))
    state, by_zone = _fields("struct sws_reclaim_state", states)
    counted, _ = _fields("struct sws_reclaim_counts", counts)
    of_zone, _ = _fields("struct sws_reclaim_zone", zones)
    sampled = len(state["now_ns"])
    memory = {
        "t_ns": state["now_ns"].repeat(len(ZONE.categories)),
        "zone": pl.Series([*ZONE.categories] * sampled, dtype=ZONE),
        **{name: values.ravel() for name, values in by_zone.items()},
    }
    last = counts[-1]
    columns = {"slept": last.sleeps, "declined": last.declined, "slept_ns": last.slept_ns}
    zone = {name: values[-len(ZONE.categories) :] for name, values in of_zone.items()}
    return {
        "out_of_memory": lib.sws_reclaim_outcome(self) == lib.SWS_RECLAIM_OUT_OF_MEMORY,
        "elapsed_ns": states[-1].now_ns,
        "events": lib.sws_reclaim_events(self),
        "rounds": _rounds(self, config),
        "kswapd_scanned": int(zone["scanned_kswapd"].sum()),
        "direct_scanned": int(zone["scanned_direct"].sum()),
        "file_written": last.reclaim_writes_file,
        "swapped_out": last.swapped_out,
        "counters": counters(self),
        "zones": pl.DataFrame({"zone": pl.Series(ZONE.categories, dtype=ZONE), **zone}).head(
            1 + (config.normal_pages > 0)
        ),
        "sleeps": pl.DataFrame(
            {"reason": facts.STALL_SLEEPS, **{name: list(each) for name, each in columns.items()}},
            schema={"reason": THROTTLE, **dict.fromkeys(columns, pl.UInt64())},
        ),
        "memory": pl.DataFrame(memory | of_zone),
        "activity": pl.DataFrame(state | counted).rename({"now_ns": "t_ns"}),
    }


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
