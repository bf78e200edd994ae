# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster allocators of the C library (``clusters.h``, ``cluster_replay.h``)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.clusters.events import OP_FIELDS, ClusterRows
from swapsim.errors import InputError

CHUNK_ROWS: Final = 1 << 18  # rows per call of C; Ctrl-C takes effect between calls
LOOKS: Final = 24  # how often the neighbours of slots are counted along a trace
_CHOOSE: Final = ffi.typeof(ffi.new("struct sws_clusters_config *").choose)

Mismatch = Mapping[str, Any]
"""The first row that differs: the fields of ``struct sws_cluster_replay_mismatch``, with words for
numbers. ``heads`` and ``lengths`` are those of the lists that are not empty."""


def verify_rows(
    rows: ClusterRows, tick: Callable[[int], object]
) -> tuple[dict[str, int], int, Mismatch | None]:
    """Return the totals, the number of open calls, and the first mismatch."""
    made = configured(rows, rows.rules)
    handle = core.new(lib.sws_cluster_replay_new, made, free=lib.sws_cluster_replay_free)
    for chunk in rows.events.iter_slices(CHUNK_ROWS):
        code = lib.sws_cluster_replay_feed(handle, columns_of(chunk), chunk.height)
        seq = ffi.new("uint64_t *")
        _refuse(lib.sws_cluster_replay_problem(handle, seq), seq[0])
        core.check(code)
        tick(chunk.height)
    totals = ffi.new("struct sws_cluster_replay_totals *")
    lib.sws_cluster_replay_totals(handle, totals)
    _, counts = _numbers(totals[0])
    return counts, int(lib.sws_cluster_replay_open(handle)), _mismatch(handle)


def configured(rows: ClusterRows, rules: str) -> Any:
    """Return ``struct sws_clusters_config *`` of the devices of a recording."""
    fields = ("slots", "priority", "file", "rotational", "discard")
    devices = rows.devices.select(fields).rows(named=True)
    return settings(rules, devices, cpus=rows.cpus, cluster_size=rows.cluster_size)


def settings(rules: str, devices: Sequence[Mapping[str, Any]], **others: int) -> Any:
    """Return ``struct sws_clusters_config *`` of a rule set and devices."""
    return core.config(
        lib.sws_clusters_config_init,
        None,
        rules=rules_struct(rules)[0],
        devices=ffi.new("struct sws_clusters_device[]", devices),
        n_devices=len(devices),
        **others,
    )


def rules_struct(rules: str) -> Any:
    """Return a rule set as ``struct sws_cluster_rules *``."""
    made = ffi.new("struct sws_cluster_rules *")
    core.check(lib.sws_cluster_rules_init(core.CLUSTER_RULES.index(rules), made))
    return made


def columns_of(rows: pl.DataFrame) -> Any:
    """Return rows of CLUSTER_EVENTS as ``struct sws_cluster_replay_rows *``."""
    filled = rows.with_columns(pl.col("op", "list").to_physical()).fill_null(0)
    return core.columns("struct sws_cluster_replay_rows", filled)


def _refuse(problem: int, seq: int) -> None:
    if problem != lib.SWS_CLUSTER_REPLAY_NO_PROBLEM:
        wrong = ffi.string(lib.sws_cluster_replay_problem_text(problem)).decode()
        raise InputError(f"the row with seq {seq} of cluster_events cannot be replayed: {wrong}")


def _mismatch(handle: Any) -> Mismatch | None:
    found = ffi.new("struct sws_cluster_replay_mismatch *")
    if not lib.sws_cluster_replay_first_mismatch(handle, found):
        return None
    arrays, numbers = _numbers(found[0])
    filled = [number for number, length in enumerate(arrays["lengths"]) if length]
    return numbers | {
        "fault": core.CLUSTER_FAULTS[found.fault],
        "list": _list(found.list),
        "ours": _point(found.ours),
        "theirs": _point(found.theirs),
        **{
            name: {core.CLUSTER_LISTS[number]: arrays[name][number] for number in filled}
            for name in ("heads", "lengths")
        },
    }


def _list(number: int) -> str:
    return core.CLUSTER_LISTS[number] if number < len(core.CLUSTER_LISTS) else "no list"


def _point(point: Any) -> str:
    """Return what happens next: its op, and the fields that this op has."""
    if point.op >= len(core.CLUSTER_OPS):
        return "nothing"
    op = core.CLUSTER_OPS[point.op]
    values = {name: getattr(point, name) for name in OP_FIELDS.get(op, ())}
    if "list" in values:
        values["list"] = _list(point.list)
    return " ".join([op, *(f"{name} {value}" for name, value in values.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the requests of a trace obtained under a rule set, and the work that this took.

    ``by_order`` has a list for each array of ``struct sws_cluster_what_if_totals``; ``counts`` are
    its other fields, those of ``struct sws_clusters_work``, and the sums of ``struct
    sws_cluster_what_if_neighbours`` after each chunk. ``runs`` are runs granted by order. A sample
    is (seq, slots in use, clusters by list).
    """

    runs: list[int]
    by_order: Mapping[str, list[int]]
    counts: Mapping[str, int]
    samples: list[tuple[int, int, list[int]]]


def switches_of(rules: str) -> dict[str, bool]:
    """Return the switches of a rule set by their names."""
    made = rules_struct(rules)
    return {name: getattr(made, name) for name in core.CLUSTER_SWITCHES}


def serves(rules: str, devices: pl.DataFrame, switches: Mapping[str, bool] | None = None) -> bool:
    """Return whether the rules have clusters for these devices; some have none for a hard disk."""
    known = switches_of(rules) | dict(switches or {})
    return known["global_next"] or not devices["rotational"].any()


def serve(
    rows: ClusterRows,
    rules: str,
    switches: Mapping[str, bool],
    *,
    samples: int,
    owners: Mapping[int, int] | None = None,
    slots: Sequence[int] = (),
    choose: int = 0,
    tick: Callable[[int], object] = lambda _: None,
) -> Served:
    """Serve the requests of a recording under a rule set with changed switches."""
    config = configured(rows, rules)
    for name, value in switches.items():
        setattr(config.rules, name, value)
    for number, each in enumerate(slots):
        config.devices[number].slots = each
    if owners is not None:
        config.rules.own_by_task = True
        config.owners = max(owners.values()) + 1
    config.choose = ffi.cast(_CHOOSE, choose)
    made = core.config(
        lib.sws_cluster_what_if_config_init,
        None,
        clusters=config[0],
        trace_slots=ffi.new("uint32_t[]", rows.devices["slots"].to_list()),
        trace_has_slot_cache=switches_of(rows.rules)["slot_cache"],
        sample_rows=max(1, rows.events.height // samples) if samples else 0,
    )
    handle = core.new(lib.sws_cluster_what_if_new, made, free=lib.sws_cluster_what_if_free)
    for pid, owner in (owners or {}).items():
        core.check(lib.sws_cluster_what_if_assign(handle, pid, owner))
    found, neighbours = [], Counter[str]()
    rows_at_once = min(CHUNK_ROWS, -(-rows.events.height // LOOKS))
    for chunk in rows.events.iter_slices(rows_at_once):
        room = chunk.height // made.sample_rows + 1 if samples else 1
        sampled = ffi.new("struct sws_cluster_what_if_sample[]", room)
        count, seq = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        code = lib.sws_cluster_what_if_feed(handle, columns_of(chunk), chunk.height, sampled, count)
        _refuse(lib.sws_cluster_what_if_problem(handle, seq), seq[0])
        core.check(code)
        found += [(each.seq, each.in_use, list(each.clusters)) for each in sampled[0 : count[0]]]
        pairs = ffi.new("struct sws_cluster_what_if_neighbours *")
        lib.sws_cluster_what_if_neighbours(handle, pairs)
        neighbours.update(_numbers(pairs[0])[1])
        tick(chunk.height)
    totals = ffi.new("struct sws_cluster_what_if_totals *")
    lib.sws_cluster_what_if_totals(handle, totals)
    work = ffi.new("struct sws_clusters_work *")
    lib.sws_clusters_work(lib.sws_cluster_what_if_clusters(handle), work)
    by_order, counts = _numbers(totals[0])
    of_work, work_counts = _numbers(work[0])
    return Served(
        runs=of_work["granted"],
        by_order=by_order,
        counts=work_counts | counts | neighbours,
        samples=found,
    )


def _numbers(struct: Any) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return the arrays and the numbers of a struct by the names of their fields."""
    found = core.values(struct)
    arrays = {name: each for name, each in found.items() if isinstance(each, list)}
    return arrays, {name: each for name, each in found.items() if name not in arrays}
