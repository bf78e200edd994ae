# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel's reclaim met, through ``stall_replay.h``: by its own rules, or by others."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi.codes import check
from swapsim.ffi.facts import STALL_FATES
from swapsim.frames.parquet_file import require_values
from swapsim.frames.table import require
from swapsim.stall._native_rules import number_of
from swapsim.stall._native_words import PROBLEMS, sleeps_of, wakes
from swapsim.stall.tables import (
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    STALL_FATE,
    STALL_LISTS,
    STALL_PASSES,
    THROTTLE,
)

CHUNK_ROWS: Final = 1 << 20
"""Rows fed to C in one call, whole lists: between two calls Ctrl-C is heard."""

_PAGE: Final = {
    "file": lib.SWS_STALL_PAGE_FILE,
    "lazyfree": lib.SWS_STALL_PAGE_LAZYFREE,
    "dirty": lib.SWS_STALL_PAGE_DIRTY,
    "writeback": lib.SWS_STALL_PAGE_WRITEBACK,
    "reclaim": lib.SWS_STALL_PAGE_RECLAIM,
    "under_writeback": lib.SWS_STALL_PAGE_UNDER_WRITEBACK,
    "marked": lib.SWS_STALL_PAGE_MARKED,
    "congested": lib.SWS_STALL_PAGE_DEVICE_CONGESTED,
    "buffers": lib.SWS_STALL_PAGE_BUFFERS,
    "fs_dirty": lib.SWS_STALL_PAGE_FS_DIRTY,
    "fs_writeback": lib.SWS_STALL_PAGE_FS_WRITEBACK,
    "clean": lib.SWS_STALL_PAGE_CAME_BACK,
}
"""Columns of RECLAIM_FOLIOS that are bits of ``enum sws_stall_page``; null is no."""

_HISTORY: Final = pl.Schema({"node": pl.UInt32(), "clears": pl.UInt8()})
_COUNTERS: Final = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate")
_COUNTS: Final = tuple(name for name, _ in ffi.typeof("struct sws_stall_counts").fields)
_DECIDED: Final = {"flags_set": "set", "flags_cleared": "cleared", "flags_after": "flags_after"}


def _layout(struct: str, fields: Mapping[str, tuple[str, tuple[str, ...]]]) -> np.dtype[np.void]:
    """Return some fields of a C struct as numpy sees them."""
    return np.dtype(
        {
            "names": list(fields),
            "formats": [kind for kind, _ in fields.values()],
            "offsets": [ffi.offsetof(struct, *path) for _, path in fields.values()],
            "itemsize": ffi.sizeof(struct),
        }
    )


_DECISION: Final = _layout(
    "struct sws_stall_decision",
    {name: ("u1", (field,)) for name, field in _DECIDED.items()} | {"acts": ("u1", ("acts",))},
)
_RESULT: Final = _layout(
    "struct sws_stall_result",
    {name: ("u8", ("counts", name)) for name in _COUNTERS}
    | {name: ("u1", ("decision", field)) for name, field in _DECIDED.items()}
    | {"acts": ("u1", ("decision", "acts")), "flags_before": ("u1", ("flags_before",))}
    | {name: ("u4", (name,)) for name in ("slept", "writes", "untold")},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Flags led on from list to list, as the rules would have had them.

    Attributes
    ----------
    node : polars.Series
        UInt32. For each list, whose flags it sees: numbers from 0. Where CONGESTED is a cgroup's, a
        cgroup of a node is one.
    clears : polars.Series
        UInt8. For each list, what has cleared flags there since the last one: bits 1 << the place
        of "balanced", "shrunk", "immediate", "direct" in STALL_CLEARS.
    """

    node: pl.Series
    clears: pl.Series


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What rules make of lists.

    Attributes
    ----------
    lists : polars.DataFrame
        Schema STALL_LISTS, in the order of the lists given.
    fates : polars.Series
        STALL_FATE for each folio.
    """

    lists: pl.DataFrame
    fates: pl.Series


def decide_lists(
    folios: pl.DataFrame,
    lists: pl.DataFrame,
    rules: str,
    *,
    history: History | None = None,
    tick: Callable[[int], object] = lambda _rows: None,
) -> Decided:
    """Count and decide whole lists by the rules of a set.

    Parameters
    ----------
    folios : polars.DataFrame
        Schema RECLAIM_FOLIOS; the rows of a list lie together, in their order.
    lists : polars.DataFrame
        Schema RECLAIM_LISTS: a row for each of those lists, in the same order.
    rules : str
        One of STALL_RULES.
    history : History, optional
        Flags of the rules' own; without it they are those of the recording.
    tick : callable
        Takes the number of folios that were fed, after each chunk.

    Returns
    -------
    Decided

    Raises
    ------
    InputError
        Naming the list, the row and the field that cannot be.
    """
    RECLAIM_FOLIOS.check(folios)
    require_values(folios, ["step", "pages"])
    RECLAIM_LISTS.check(lists)
    require_values(lists, lists.columns)
    ends = _ends(folios, lists)
    columns = _folio_columns(folios, own_flags=history is None)
    of_lists = _list_columns(lists, history)
    nodes = 0 if history is None or not lists.height else int(of_lists["node"].max()) + 1
    node_flags = np.zeros(nodes, dtype=np.uint8)
    found = np.zeros(lists.height, dtype=_RESULT)
    fates = np.zeros(folios.height, dtype=np.uint8)
    replay = _replay(rules)
    for first, last in _chunks(ends):
        begin, end = int(ends[first - 1]) if first else 0, int(ends[last - 1])
        feed = _Feed(columns, of_lists, ends, node_flags, slice(begin, end), slice(first, last))
        feed.run(replay, found, fates, lists["list"])
        tick(end - begin)
    return Decided(
        lists=_lists(found, lists["list"], rules),
        fates=pl.Series("fate", STALL_FATES, dtype=STALL_FATE.dtype).gather(fates),
    )


@dataclass(frozen=True, slots=True)
class _Feed:
    """Rows of some lists on their way to C, and what keeps their memory."""

    columns: dict[str, np.ndarray[Any, Any]]
    lists: dict[str, np.ndarray[Any, Any]]
    ends: np.ndarray[Any, np.dtype[np.uint64]]
    node_flags: np.ndarray[Any, np.dtype[np.uint8]]
    rows: slice
    some: slice

    def run(
        self,
        replay: Any,
        found: np.ndarray[Any, np.dtype[np.void]],
        fates: np.ndarray[Any, np.dtype[np.uint8]],
        names: pl.Series,
    ) -> None:
        """Decide them; what cannot be is refused by name."""
        rows, kept = _pointers("struct sws_stall_rows *", self.columns, self.rows)
        lists, kept_of_lists = _pointers("struct sws_stall_lists *", self.lists, self.some)
        ends = self.ends[self.some] - np.uint64(self.rows.start)
        results = ffi.new("struct sws_stall_results *")
        lists.ends = ffi.from_buffer("uint64_t[]", ends)
        lists.node_flags = ffi.from_buffer("uint8_t[]", self.node_flags, require_writable=True)
        lists.n_nodes = len(self.node_flags)
        results.lists = ffi.from_buffer("struct sws_stall_result[]", found[self.some])
        results.fates = ffi.from_buffer("uint8_t[]", fates[self.rows])
        code = lib.sws_stall_replay_lists(replay, rows, len(ends), lists, results)
        del kept, kept_of_lists
        if results.problem != lib.SWS_STALL_NO_PROBLEM:
            field, wrong = PROBLEMS[results.problem]
            begin = int(ends[results.list - 1]) if results.list else 0
            name = names[self.some.start + results.list]
            where = f"list {name}, row {results.row - begin}"
            raise InputError(f"{where}: {wrong}", field=field)
        check(code)


def _replay(rules: str) -> Any:
    config = ffi.new("struct sws_stall_replay_config *")
    lib.sws_stall_replay_config_init(config)
    config.set = number_of(rules)
    out = ffi.new("struct sws_stall_replay **")
    check(lib.sws_stall_replay_new(config, out))
    return ffi.gc(out[0], lib.sws_stall_replay_free)


def _pointers(
    struct: str, columns: Mapping[str, np.ndarray[Any, Any]], part: slice
) -> tuple[Any, list[Any]]:
    """Return a struct of pointers to parts of columns, and what keeps them."""
    kinds = {1: "uint8_t[]", 2: "uint16_t[]", 4: "uint32_t[]"}
    pointers = ffi.new(struct)
    kept = [
        (name, ffi.from_buffer(kinds[column.itemsize], column[part]))
        for name, column in columns.items()
    ]
    for name, pointer in kept:
        setattr(pointers, name, pointer)
    return pointers, kept


def _ends(folios: pl.DataFrame, lists: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return where each list ends; lists and folios that do not fit together are refused."""
    runs = folios["list"].rle().struct.unnest()
    if not runs["value"].equals(lists["list"]):
        few = min(runs.height, lists.height)
        differ = (runs["value"][:few] != lists["list"][:few]).arg_max() or 0
        at = differ if few and runs["value"][differ] != lists["list"][differ] else few
        ours = lists["list"][at] if at < lists.height else "none"
        theirs = runs["value"][at] if at < runs.height else "none"
        raise InputError(
            f"list {ours} is row {at} of the lists, and the folios have list {theirs} there: sort "
            "both alike, the folios of a list together",
            field="list",
        )
    return np.ascontiguousarray(runs["len"].cast(pl.UInt64).cum_sum().to_numpy())


def _folio_columns(folios: pl.DataFrame, *, own_flags: bool) -> dict[str, np.ndarray[Any, Any]]:
    bits = [
        pl.col(name).fill_null(value=False).cast(pl.UInt16) * pl.lit(bit, dtype=pl.UInt16)
        for name, bit in _PAGE.items()
    ]
    nfs = pl.col("fs_dirty").is_not_null() & ~pl.col("buffers").fill_null(value=True)
    bits.append(nfs.cast(pl.UInt16) * pl.lit(lib.SWS_STALL_PAGE_NFS, dtype=pl.UInt16))
    # A test that the recording kernel did not make, another set may: by what it was before.
    marked = pl.col("marked").fill_null(pl.col("reclaim"))
    columns = folios.with_columns(marked=marked).select(
        page=pl.sum_horizontal(bits).cast(pl.UInt16),
        step=pl.col("step").to_physical().cast(pl.UInt8),
        base_pages="pages",
        flags=pl.col("node_flags").fill_null(0),
    )
    names = columns.columns if own_flags else columns.columns[:-1]
    return {name: np.ascontiguousarray(columns[name].to_numpy()) for name in names}


def _caller(memcg: str, **more: pl.Expr) -> pl.Expr:
    """Return who reclaims as ``enum sws_stall_caller``."""
    bits = {
        lib.SWS_STALL_KSWAPD: pl.col("kswapd"),
        lib.SWS_STALL_MEMCG: pl.col(memcg) != 0,
        lib.SWS_STALL_HIBERNATION: pl.col("hibernation"),
        **{getattr(lib, f"SWS_STALL_{name}"): holds for name, holds in more.items()},
    }
    terms = [holds.cast(pl.UInt8) * pl.lit(bit, dtype=pl.UInt8) for bit, holds in bits.items()]
    return pl.sum_horizontal(terms).cast(pl.UInt8)


def _list_columns(lists: pl.DataFrame, history: History | None) -> dict[str, Any]:
    columns = lists.select(
        caller=_caller("target", LEGACY=~pl.col("sane"), IO=pl.col("io"), FS=pl.col("fs")),
        priority=_priority(),
        file=pl.col("file").cast(pl.UInt8),
        taken="taken",
        flags="flags_before",
    )
    if history is not None:
        own = pl.DataFrame({"node": history.node, "clears": history.clears})
        require(own, _HISTORY, "a history of flags")
        if own.height != lists.height:
            raise InputError(f"{own.height} rows for {lists.height} lists", field="node")
        require_values(own, own.columns)
        columns = columns.drop("flags").hstack(own)
    return {name: np.ascontiguousarray(columns[name].to_numpy()) for name in columns.columns}


def _priority() -> pl.Expr:
    """Return the priority as C takes it: one below 0 becomes one that C refuses."""
    return pl.when(pl.col("priority") < 0).then(255).otherwise(pl.col("priority")).cast(pl.UInt8)


def _chunks(ends: np.ndarray[Any, np.dtype[np.uint64]]) -> Iterator[tuple[int, int]]:
    """Yield runs of lists of about CHUNK_ROWS rows: the first, and one past the last."""
    first = 0
    while first < len(ends):
        begin = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, begin + CHUNK_ROWS, side="right"))
        yield first, max(last, first + 1)
        first = max(last, first + 1)


def _lists(found: np.ndarray[Any, np.dtype[np.void]], names: pl.Series, rules: str) -> pl.DataFrame:
    frame = pl.DataFrame({name: np.ascontiguousarray(found[name]) for name in _RESULT.names or ()})
    woken = wakes(rules, lib.SWS_STALL_AT_LIST)
    return frame.with_columns(
        list=names,
        sleeps=_sleeps(frame["acts"], rules, lib.SWS_STALL_AT_LIST),
        wakes=(pl.col("acts") & woken) != 0,
    ).select(pl.col(name).cast(dtype) for name, dtype in STALL_LISTS.schema.items())


def _sleeps(acts: pl.Series, rules: str, place: int) -> pl.Series:
    """Return the sleeps that acts asked for, in order."""
    known = [sleeps_of(rules, place, done) for done in range(1 << lib.SWS_STALL_ACTS_MAX)]
    return pl.Series(known, dtype=pl.List(THROTTLE.dtype)).gather(acts)


def decide_passes(passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Decide passes from their sums, by the rules of a set.

    Parameters
    ----------
    passes : polars.DataFrame
        Schema RECLAIM_PASSES; its counters and ``flags_before`` decide.
    rules : str
        One of STALL_RULES.

    Returns
    -------
    polars.DataFrame
        Schema STALL_PASSES, in the order given.

    Raises
    ------
    InputError
        Naming the pass and the counter that contradicts another.
    """
    RECLAIM_PASSES.check(passes)
    require_values(passes, [name for name in passes.columns if name != "throttle"])
    columns = passes.select(
        caller=_caller("memcg", LEGACY=~pl.col("sane"), LOCAL_THROTTLE=~pl.col("may_throttle")),
        priority=_priority(),
        flags="flags_before",
    )
    counts = np.zeros(passes.height, dtype=[(name, "u8") for name in _COUNTS])
    for name in _COUNTS:
        counts[name] = passes[name].to_numpy()
    found = np.zeros(passes.height, dtype=_DECISION)
    arrays = {name: np.ascontiguousarray(columns[name].to_numpy()) for name in columns.columns}
    given, kept = _pointers("struct sws_stall_summed *", arrays, slice(None))
    given.counts = ffi.from_buffer("struct sws_stall_counts[]", counts)
    row, problem = ffi.new("uint64_t *"), ffi.new("enum sws_stall_problem *")
    lib.sws_stall_replay_counts(
        number_of(rules),
        lib.SWS_STALL_AT_PASS,
        passes.height,
        given,
        ffi.from_buffer("struct sws_stall_decision[]", found),
        row,
        problem,
    )
    del kept
    if problem[0] != lib.SWS_STALL_NO_PROBLEM:
        field, wrong = PROBLEMS[problem[0]]
        raise InputError(f"pass {passes['pass'][row[0]]}: {wrong}", field=field)
    return _passes(found, rules, lib.SWS_STALL_AT_PASS)


def _passes(found: np.ndarray[Any, np.dtype[np.void]], rules: str, place: int) -> pl.DataFrame:
    frame = pl.DataFrame(
        {name: np.ascontiguousarray(found[name]) for name in _DECISION.names or ()}
    )
    sleeps = _sleeps(frame["acts"], rules, place)
    return frame.with_columns(throttle=sleeps.list.first()).select(
        pl.col(name).cast(dtype) for name, dtype in STALL_PASSES.schema.items()
    )
