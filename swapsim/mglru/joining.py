# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of probes in a stock kernel's reclaim, joined to MGLRU_CHOICES and MGLRU_STEPS.

``data/capture/newer/events.toml`` has the probes. Each row is made of the events of one task, in
their order: a choice of `gen_choice`, its lists and its end; a turn of what its task does between
two questions whether to stop (`gen_abort`), or between the begin and the end of a call.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError
from swapsim.mglru.recording import (
    COUNTERS,
    GENERATIONS,
    MGLRU_CHOICES,
    MGLRU_STEPS,
    MORE,
    TIERS,
    TYPES,
)
from swapsim.traces import CLOCK, JoinedEvents
from swapsim.traces.verification import AGAIN, require_fields

Frames = Mapping[str, pl.DataFrame]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

_SEQS: Final = ("lruvec", "max_seq", "min_seq")
_STATE: Final = (*_SEQS, "pages")
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "gen_shrink": ("priority", "target", "memcg", "online", "low", "min", "hierarchy", *_STATE),
    "gen_swappiness": ("value",),
    "gen_age": _STATE,
    "gen_age_end": ("aged",),
    "gen_evict": _STATE,
    "gen_choice": (*_SEQS, "swappiness", "priority", "gfp", "control"),
    "gen_choice_end": ("scanned", "control"),
    "gen_evict_end": ("scanned",),
    "gen_abort": (*_STATE, "reclaimed", "wanted", "order"),
    "gen_abort_end": ("abort",),
    "gen_shrink_end": (),
    "mm_vmscan_lru_isolate": ("nr_scanned", "nr_taken", "lru"),
}
"""The events, and their fields."""

_SELDOM: Final = ("gen_age", "gen_age_end", "gen_abort", "gen_abort_end")  # may not have occurred
_BATCH: Final = dict.fromkeys(("gen_choice", "gen_evict"), ("nr",))  # fields that 6.12 lacks

_RULES: Final = {38: "6.12", 40: "7.3"}
"""Numbers of a controller's array: 6.12 has no protected pages of the first tier."""

_ONLINE: Final = 1 << 1  # CSS_ONLINE (include/linux/cgroup-defs.h)
_GFP_IO: Final = 1 << 6  # __GFP_IO (include/linux/gfp_types.h)
_MOST: Final = 2**32 - 1


def join(frames: Frames, _head: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return MGLRU_CHOICES and MGLRU_STEPS by the names of their files."""
    if "gen_choice" not in frames:
        return {name: frame.drop(CLOCK) for name, frame in frames.items()}
    frames = _required(frames)
    order = pl.concat(
        frame.select("t_ns", "seq", "pid", event=pl.lit(code, pl.UInt8)).with_row_index("at")
        for code, frame in enumerate(frames.values())
    ).sort("t_ns", "seq")
    choices, steps = _walk(order, tuple(frames))
    return _numbered(_choices(frames, choices), _steps(frames, steps))


JOINED_EVENTS: Final = JoinedEvents(events=frozenset(_FIELDS), join=join)
"""What `traces.import_text` makes of the probes' events."""


def _required(frames: Frames) -> dict[str, pl.DataFrame]:
    """Return all events with their fields, a seldom one without rows if it did not occur."""
    needed = [name for name in _FIELDS if name not in _SELDOM]
    require_fields(frames, _FIELDS, needed, "mglru")
    if (frames["gen_shrink"]["hierarchy"] != 0).any():
        raise InputError(
            "its memory cgroups are of version 1, where each has a swappiness of its own and "
            "reclaim waits for dirty pages by other rules: record with version 2",
            field="hierarchy",
        )
    head = frames["gen_choice"].select("seq", "t_ns", "cpu", "pid").clear()
    return {
        name: frames.get(name, head).with_columns(
            pl.lit(None, pl.Int64).alias(each)
            for each in (*fields, *_BATCH.get(name, ()))
            if name not in frames or each not in frames[name].columns
        )
        for name, fields in _FIELDS.items()
    }


@dataclass(slots=True)
class _Task:
    """What a task does: its call of the loop, its turn, its choice; row numbers by event."""

    call: dict[str, int] = field(default_factory=dict)
    turn: dict[str, int] = field(default_factory=dict)
    choice: dict[str, int] = field(default_factory=dict)


def _walk(
    order: pl.DataFrame, names: tuple[str, ...]
) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """Return complete choices and turns: for each, the row of each of its events."""
    tasks: dict[int, _Task] = {}
    choices: list[dict[str, int]] = []
    steps: list[dict[str, int]] = []
    calls = 0
    for pid, code, at in order.select("pid", "event", "at").iter_rows():
        name, task = names[code], tasks.setdefault(pid, _Task())
        if name == "gen_shrink":
            calls += 1
            task.call, task.turn = {name: at, "call": calls}, {}
        elif name == "gen_choice":
            task.choice = {name: at}
        elif name == "mm_vmscan_lru_isolate":
            task.choice["scan_2" if "scan_1" in task.choice else "scan_1"] = at
        elif name == "gen_choice_end":
            if "gen_choice" in task.choice:
                choices.append(task.choice | {name: at})
            task.choice = {}
        elif not task.call:
            continue
        elif name == "gen_swappiness":
            task.call.setdefault(name, at)
        elif name == "gen_shrink_end":
            task.turn[name] = at
            steps += _turn(task)
            task.call = {}
        else:
            task.turn[name] = at
            if name == "gen_abort_end":
                steps += _turn(task)
                task.turn = {"before": task.turn["gen_abort"]}
    return choices, steps


def _turn(task: _Task) -> Iterator[dict[str, int]]:
    if "gen_swappiness" in task.call:
        yield task.call | task.turn


def _numbers(frame: pl.DataFrame, name: str) -> Numbers:
    """Return a field that is an array, as a matrix."""
    lists = frame[name].cast(pl.String).str.strip_chars("{}").str.split(",")
    width = int(lists.list.len()[0]) if frame.height else 0
    if frame.height and (lists.list.len() != width).any():
        raise InputError(f"its arrays have several lengths: {AGAIN}", field=name)
    return lists.explode().cast(pl.Int64).to_numpy().reshape(-1, max(width, 1))


def _rows_of(rows: list[dict[str, int]], event: str) -> pl.Series:
    return pl.Series([row.get(event) for row in rows], dtype=pl.UInt32)


def _gather(frame: pl.DataFrame, at: pl.Series) -> pl.DataFrame:
    """Return a row of the frame for each number, of nulls for null."""
    return frame.select(pl.all().gather(at))


def _counters(matrix: Numbers, names: tuple[str, ...], first_tier: bool) -> pl.DataFrame:
    """Return an array of counters as columns; 6.12 has no first tier of protected pages."""
    columns, at = {}, 0
    for name in names:
        for each in TYPES:
            for tier in TIERS:
                has = name != "protected" or first_tier or tier
                values = matrix[:, at] if has else np.zeros(len(matrix), np.int64)
                columns[f"{name}_{each}_{tier}"] = values
                at += bool(has)
    return pl.DataFrame(columns)


def _choices(frames: Frames, rows: list[dict[str, int]]) -> pl.DataFrame:
    begun = frames["gen_choice"]
    control, after = _numbers(begun, "control"), _numbers(frames["gen_choice_end"], "control")
    if control.shape[1] not in _RULES or after.shape[1] != control.shape[1] - 16:
        raise InputError(
            f"the controller has {control.shape[1]} counters, and not 38 (6.12) or 40 (7.3): "
            "record one of these kernels",
            field="control",
        )
    rules = _RULES[control.shape[1]]
    first_tier = rules == "7.3"
    at, end = _rows_of(rows, "gen_choice"), _rows_of(rows, "gen_choice_end")
    counted = _counters(control, COUNTERS, first_tier)[at]
    risen = _counters(after, MORE, first_tier)[end] - counted.select(
        f"{name}_{each}_{tier}" for name in MORE for each in TYPES for tier in TIERS
    )
    if any((frame.to_numpy() < 0).any() for frame in (counted, risen)):
        raise InputError(
            f"a counter is negative or sinks during a choice: {AGAIN}", field="control"
        )
    min_seq = _numbers(begun, "min_seq")
    found = _gather(begun, at).with_columns(
        pl.lit(rules).alias("rules"),
        (pl.col("gfp").cast(pl.Int64) & _GFP_IO != 0).alias("io"),
        pl.col("nr").alias("batch"),
        *(pl.Series(f"min_seq_{each}", min_seq[:, n][at]) for n, each in enumerate(TYPES)),
        _gather(frames["gen_choice_end"], end)["scanned"].alias("result"),
    )
    scans = frames["mm_vmscan_lru_isolate"].select(
        scan=pl.col("lru").str.strip_prefix("inactive_"), pages="nr_scanned", taken="nr_taken"
    )
    parts = [
        _gather(scans, _rows_of(rows, f"scan_{nth}")).select(pl.all().name.suffix(f"_{nth}"))
        for nth in (1, 2)
    ]
    named = [counted, risen.rename({old: _more(old) for old in risen.columns}), *parts]
    return _typed(pl.concat([found, *named], how="horizontal"), MGLRU_CHOICES)


def _more(name: str) -> str:
    counter, rest = name.split("_", 1)
    return f"{counter}_more_{rest}"


def _sizes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return max_seq, min_seq and the pages by type and generation, over zones, not below 0."""
    pages, oldest = _numbers(frame, "pages"), _numbers(frame, "min_seq")
    zones = pages.shape[1] // (len(TYPES) * len(GENERATIONS))
    summed = pages.clip(min=0).reshape(-1, len(GENERATIONS), len(TYPES), max(zones, 1)).sum(axis=3)
    return pl.DataFrame(
        {
            "max_seq": frame["max_seq"],
            **{f"min_seq_{each}": oldest[:, n] for n, each in enumerate(TYPES)},
            **{
                f"pages_{each}_{gen}": summed[:, gen, n]
                for n, each in enumerate(TYPES)
                for gen in GENERATIONS
            },
        }
    )


def _steps(frames: Frames, rows: list[dict[str, int]]) -> pl.DataFrame:
    sizes = {
        name: _sizes(frames[name])
        for name in ("gen_shrink", "gen_age", "gen_evict", "gen_abort")
        if frames[name].height
    }
    at = {name: _rows_of(rows, name) for name in ("gen_shrink", "before", *_FIELDS)}
    begun = frames["gen_shrink"].with_columns(
        root=pl.col("target") == 0,
        online=pl.col("online").cast(pl.Int64) & _ONLINE != 0,
        shielded=((pl.col("low") != 0) | (pl.col("min") != 0))
        & (pl.col("target") != pl.col("memcg")),
    )
    call = _gather(begun, at["gen_shrink"]).with_columns(_rows_of(rows, "call").alias("call"))
    begins = {"gen_abort": at["before"], "gen_shrink": at["gen_shrink"]}
    before = _first(sizes, begins)
    heads = {name: frames[name].select("seq", "t_ns", "cpu") for name in begins if name in sizes}
    head = _first(heads, begins)
    acts = _first(sizes, {"gen_age": at["gen_age"], "gen_evict": at["gen_evict"]})

    def of(event: str, field: str) -> pl.Series:
        return _gather(frames[event], at[event])[field]

    ended = of("gen_shrink_end", "t_ns").fill_null(head["t_ns"])
    later = _later(frames, sizes, pl.DataFrame([ended, call["lruvec"]]))
    acts = acts.select(pl.coalesce(pl.col(name), later[name]) for name in acts.columns)
    found = call.select(
        *("pid", "lruvec", "priority", "call", "root", "online", "shielded")
    ).with_columns(
        *head.get_columns(),
        rules=pl.lit("7.3" if frames["gen_evict"]["nr"].count() else "6.12"),
        swappiness=of("gen_swappiness", "value"),
        aged=at["gen_age"].is_not_null(),
        grew=(of("gen_age_end", "aged") != 0).fill_null(value=False),
        evicted=at["gen_evict"].is_not_null(),
        batch=of("gen_evict", "nr"),
        scanned=of("gen_evict_end", "scanned").fill_null(0),
        stop=of("gen_abort_end", "abort") != 0,
        freed=of("gen_abort", "reclaimed"),
        wanted=of("gen_abort", "wanted"),
        order=of("gen_abort", "order"),
    )
    named = [before, acts.rename(lambda name: f"{name}_acts")]
    return _typed(pl.concat([found, *named], how="horizontal"), MGLRU_STEPS)


def _later(frames: Frames, sizes: Frames, turns: pl.DataFrame) -> pl.DataFrame:
    """Return the state of an lruvec that is recorded next after its turn: some do nothing.

    The end of the turn counts: between a probe and the kernel's own test other CPUs may go on.
    """
    known = pl.concat(
        frames[name].select("lruvec", "t_ns").hstack(state) for name, state in sizes.items()
    ).sort("t_ns")
    found = (
        turns.with_row_index("turn")
        .sort("t_ns")
        .join_asof(
            known,
            on="t_ns",
            by="lruvec",
            strategy="forward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
    )
    return found.sort("turn")


def _first(sizes: Frames, at: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return what is known of the first of these events that a row has."""
    parts = [_gather(sizes[name], rows) for name, rows in at.items() if name in sizes]
    return parts[0].select(
        pl.coalesce(pl.col(name), *(part[name] for part in parts[1:])) for name in parts[0].columns
    )


def _typed(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return the columns of a table but lruvec, whose address gets a number later."""
    for name, kind in schema.items():
        highest = frame[name].max() if kind == pl.UInt32 and name != "lruvec" else 0
        if isinstance(highest, int) and highest > _MOST:
            raise InputError(f"a counter is {highest}: at most {_MOST} is modelled", field=name)
    return frame.select(
        pl.col(name) if name == "lruvec" else pl.col(name).cast(kind)
        for name, kind in schema.items()
    ).sort("seq")


def _numbered(choices: pl.DataFrame, steps: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return both tables with one sequence of rows, and lruvecs in the order of their first."""
    both = pl.concat(frame.select("t_ns", "seq", "lruvec") for frame in (choices, steps))
    ordered = both.sort("t_ns", "seq").with_row_index("number")
    seqs = ordered.select("seq", pl.col("number").cast(pl.UInt64))
    lruvecs = ordered["lruvec"].unique(maintain_order=True)
    numbers = {address: number for number, address in enumerate(lruvecs)}
    return {
        name: frame.join(seqs, on="seq")
        .with_columns(
            pl.col("lruvec").replace_strict(numbers, return_dtype=pl.UInt32), seq=pl.col("number")
        )
        .drop("number")
        .sort("seq")
        for name, frame in (("generation_choices", choices), ("generation_steps", steps))
    }
