# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of probes in a stock kernel's allocator, joined to CLUSTER_EVENTS and CLUSTER_DEVICES.

``data/capture/clusters/events.toml`` has the probes. A pipe merges the events of the CPUs out of
order; the values of the clock ``counter`` are the order of the locks.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import polars as pl

from swapsim.clusters.tables import CLUSTER_DEVICES, CLUSTER_EVENTS
from swapsim.errors import InputError
from swapsim.ffi import CLUSTER_LISTS, CLUSTER_ORDERS
from swapsim.traces import CLOCK, JoinedEvents
from swapsim.traces.event_fields import SWAP_TYPE_SHIFT

Frames = Mapping[str, pl.DataFrame]

_SOLIDSTATE, _BLKDEV, _PAGE_DISCARD = 1 << 4, 1 << 6, 1 << 10
"""Flags of a swap device: include/linux/swap.h, 6.12 and 7.3."""

_LARGE: Final = 1 << 6
"""The flag of a folio of several pages: PG_head."""

_SECTORS: Final = 8
"""Sectors of a slot."""

_HEAD_BYTES: Final = 16
"""Bytes of the head of a list."""

_CLUSTER_SIZES: Final = {_HEAD_BYTES: 256, _HEAD_BYTES * CLUSTER_ORDERS: 512}
"""Slots of a cluster by the bytes of the heads of its lists: one head if only single pages swap, or
one for each order."""

_DEVICE_BYTES: Final = 1 << 14
"""More than the size of a kernel's ``struct swap_info_struct``."""

_STEP: Final = 64
"""The most by which a counter advances per event on average; a clock of time advances by more."""

_DEVICE: Final = ("device", "si", "slots", "used", "flags", "prio", "nonfull", "frag")
_LISTS: Final = ("list", "free", "full", "discarding")
_FOLIO: Final = ("flags", "size")
_EVENTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "6.12": {
        "swap_on": _DEVICE,
        "swap_call": ("n", "order"),
        "swap_call_end": ("got",),
        "cluster_visit": ("device", "offset", "order"),
        "cluster_visit_end": ("next",),
        "slot_grant": ("device", "offset", "nr"),
        "slot_free": ("entry", "nr"),
    },
    "7.3": {
        "swap_request": _FOLIO,
        "swap_request_end": ("result",),
        "cluster_visit": ("device", "clusters", "ci", "offset", *_FOLIO),
        "cluster_visit_end": (),
        "slot_grant": ("entry", *_FOLIO),
        "slot_free": ("device", "ci", "offset", "nr"),
        "cluster_move": ("device", "ci", "list"),
        "cluster_move_locked": (),
        "cluster_pick": (*_DEVICE, *_LISTS),
        "cluster_pick_locked": (),
        "cluster_pick_end": ("ci",),
    },
}
"""The events that only one kernel has, and their fields."""

_EVENTS_OF_BOTH: Final[Mapping[str, tuple[str, ...]]] = {
    "swap_off": (),
    "device_turn": ("node",),
    "cluster_window": (),
    "cluster_window_end": (),
    "cluster_reclaim": ("device", "force"),
    "cluster_reclaim_end": (),
    "slot_try": ("device", "offset"),
    "discard_pass": ("device",),
    "cluster_discard": (),
    "cluster_discard_end": (),
    "disk_discard": ("sector",),
}

_NOT_NEEDED: Final = {
    *("swap_call_end", "cluster_visit_end", "slot_free", "swap_request_end"),
    *("cluster_move_locked", "cluster_pick_locked"),
}
"""Events without which a recording can be replayed, or which may not have occurred. On 7.3, where
swap-in grants, too, the end of a visit is needed."""

_IN_USE: Final = (
    "in use before the first row; switch all devices off, begin to record, switch them on"
)
_OTHER_PROBES: Final = "set the probes of this kernel ('swapsim probes'), and record again"
_PLACE: Final = (CLOCK, "line", "cpu", "pid")
_FIELDS: Final = ("device", "slot", "n", "order", "list")


def join(frames: Frames) -> dict[str, pl.DataFrame]:
    """Return CLUSTER_EVENTS and CLUSTER_DEVICES by the names of their files.

    A text with neither visits nor grants is no recording of an allocator: each of its events has a
    table of its own.

    Raises
    ------
    InputError
        An event is missing, the clock is no counter, a device was switched on before the recording
        or within it, or a value does not fit its field.
    """
    if not {"cluster_visit", "slot_grant"} & {*frames}:
        return {name: frame.drop(CLOCK) for name, frame in frames.items()}
    only_7_3 = _EVENTS["7.3"].keys() - _EVENTS["6.12"].keys() - {"swap_request", "swap_request_end"}
    rules = "7.3" if only_7_3 & frames.keys() else "6.12"
    _require_events(frames, rules)
    frames = {name: _signed(frame.rename({"seq": "line"})) for name, frame in frames.items()}
    _require_counter(pl.concat(frame.select(_PLACE) for frame in frames.values()))
    devices = _devices(frames, rules)
    parts = [_empty(), *_of_both(frames, devices)]
    parts += _of_6_12(frames) if rules == "6.12" else _of_7_3(frames, devices)
    rows = pl.concat(parts).sort(CLOCK, "line")
    devices = devices.with_columns(pl.col("device").cast(pl.UInt8))
    switched = devices.select(*_PLACE, "device", on=pl.lit(value=True))
    numbered = (
        pl.concat([switched, rows], how="diagonal")
        .sort(CLOCK, "line", maintain_order=True)
        .with_row_index("seq")
    ).with_columns(pl.col("seq").cast(pl.UInt64))
    devices = devices.drop(_PLACE).join(numbered.filter("on").select("seq", "device"), on="device")
    unnamed = {
        "cluster_devices": devices,
        "cluster_events": numbered.filter(pl.col("on").is_null()),
    }
    tables = {"cluster_devices": CLUSTER_DEVICES, "cluster_events": CLUSTER_EVENTS}
    return {
        name: table.check(unnamed[name].select(pl.col(c).cast(t) for c, t in table.schema.items()))
        for name, table in tables.items()
    } | {
        name: frame.drop(CLOCK).rename({"line": "seq"})
        for name, frame in frames.items()
        if name.startswith("swap_request") and rules == "6.12"
    }


JOINED_EVENTS: Final = JoinedEvents(
    events=frozenset({*_EVENTS["6.12"], *_EVENTS["7.3"], *_EVENTS_OF_BOTH}), join=join
)
"""What `traces.import_text` makes of the probes' events: CLUSTER_EVENTS and CLUSTER_DEVICES."""


# The whole recording.


def _require_events(frames: Frames, rules: str) -> None:
    known = _EVENTS[rules]
    optional = _NOT_NEEDED - ({"cluster_visit_end"} if rules == "7.3" else set())
    missing = [event for event in known if event not in frames and event not in optional]
    if missing == ["swap_on"]:
        raise InputError(f"has no event swap_on: its devices were {_IN_USE}")
    if missing:
        raise InputError(
            f"has no event {missing[0]}, which a replay of {rules} needs: set its probe, too, and "
            "record again"
        )
    if "swap_off" in frames:
        raise InputError("has a swapoff: stop the recording before it, and record again")
    for event, fields in {**known, **_EVENTS_OF_BOTH}.items():
        for field in fields if event in frames else ():
            if not frames[event].schema.get(field, pl.String()).is_integer():
                raise InputError(
                    f"its event {event} has no such field of whole numbers: set the probes of "
                    "'swapsim probes', and record again",
                    field=field,
                )


def _signed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the fields as Int64: differences of addresses are exact, and types do not mix."""
    fields = pl.col(pl.Int64, pl.UInt64).exclude(CLOCK, "line")
    return frame.with_columns(fields.cast(pl.Int64, wrap_numerical=True))


def _require_counter(rows: pl.DataFrame) -> None:
    """Require the clock counter: one value per event, in order on each CPU."""
    choose = "record with the clock counter (echo counter >trace_clock)"
    if rows[CLOCK].null_count():
        raise InputError(f"its clock counts seconds, which do not order the CPUs: {choose}")
    back = rows.sort("line").filter(pl.col(CLOCK) < pl.col(CLOCK).shift(1).over("cpu"))
    for place in back.head(1).iter_rows(named=True):
        raise InputError(
            f"event {place['line']} is at {place[CLOCK]}, before another of CPU {place['cpu']}: "
            "import one recording at a time"
        )
    rows = rows.sort(CLOCK, "line")
    shared = rows.filter((pl.col(CLOCK).diff() == 0) & (pl.col("cpu").diff() != 0))
    span = int(rows[CLOCK][-1]) - int(rows[CLOCK][0])
    if shared.height or span > _STEP * rows.height:
        why = (
            f"event {shared['line'][0]} shares its time with one of another CPU"
            if shared.height
            else f"it advances by {span} within {rows.height} events"
        )
        raise InputError(f"its clock is no counter, for {why}: {choose}")


def _devices(frames: Frames, rules: str) -> pl.DataFrame:
    """Return CLUSTER_DEVICES without seq, with _PLACE and each device's addresses.

    On 6.12 their fields come from swap_on, on 7.3 from the first pick from a device's lists, which
    precedes its first visit.
    """
    if rules == "6.12":
        found = frames["swap_on"]
        twice = found.sort(CLOCK).filter(pl.col("device").is_duplicated())
        _refuse(
            twice, "switches on a device for the second time: record between swapon and swapoff"
        )
    else:
        found = frames["cluster_pick"].sort(CLOCK, "line").unique("device", keep="first")
    found = found.sort("device")
    if found["device"].to_list() != list(range(found.height)):
        named = ", ".join(map(str, found["device"]))
        raise InputError(f"has the devices {named} and not 0, 1, ...: another was {_IN_USE}")
    _refuse(found.filter(pl.col("used") > 0), f"has a device with slots in use: it was {_IN_USE}")
    heads = pl.col("frag") - pl.col("nonfull")
    flags = pl.col("flags")
    # 6.12 orders devices by another number than their priority.
    priority = -pl.col("avail_prio") if "avail_prio" in found.columns else pl.col("prio")
    devices = found.with_columns(
        priority=priority,
        file=(flags & _BLKDEV) == 0,
        rotational=(flags & _SOLIDSTATE) == 0,
        discard=(flags & _PAGE_DISCARD) != 0,
        cluster_size=heads.replace_strict(_CLUSTER_SIZES, default=None, return_dtype=pl.Int64),
        rules=pl.lit(rules),
    )
    _refuse(
        devices.filter(pl.col("cluster_size").is_null()),
        f"has lists at offsets that no kernel has: {_OTHER_PROBES}",
    )
    return devices


def _refuse(rows: pl.DataFrame, why: str) -> None:
    """Raise an error about the first of these rows, if there is one."""
    for line in rows["line"].sort().head(1):
        raise InputError(f"event {line} {why}")


# Rows of one event.


def _rows(frame: pl.DataFrame | None, op: str, **fields: pl.Expr | str) -> Iterator[pl.DataFrame]:
    """Yield rows of an op: the fields that it has, null for all others."""
    if frame is None:
        return
    made = frame.select(
        *_PLACE,
        op=pl.lit(op),
        **{name: fields.get(name, pl.lit(None, CLUSTER_EVENTS.schema[name])) for name in _FIELDS},
    )
    yield _fitted(made)


def _fitted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the types of CLUSTER_EVENTS; refuse a value that does not fit."""
    for name in _FIELDS:
        dtype = CLUSTER_EVENTS.schema[name]
        fits = pl.col(name).cast(dtype, strict=False)
        _refuse(
            rows.filter(fits.is_null() & pl.col(name).is_not_null()),
            f"has a value of {name} that no kernel has: {_OTHER_PROBES}",
        )
    return rows.cast({name: CLUSTER_EVENTS.schema[name] for name in _FIELDS})


def _empty() -> pl.DataFrame:
    types = {CLOCK: pl.UInt64, "line": pl.UInt64, "cpu": pl.UInt16, "pid": pl.Int32}
    fields = {name: CLUSTER_EVENTS.schema[name] for name in _FIELDS}
    return pl.DataFrame(schema={**types, "op": pl.String, **fields})


def _of_both(frames: Frames, devices: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of events that both kernels have."""
    get = frames.get
    yield from _rows(get("slot_try"), "try", device="device", slot="offset", n=pl.lit(0))
    yield from _rows(get("cluster_window_end"), "relock")
    yield from _rows(get("cluster_reclaim"), "full", device="device", n="force")
    yield from _ends(frames, "cluster_reclaim", "full_done", device="device")
    yield from _rows(get("cluster_window"), "window")
    if "discard_pass" in frames and "cluster_discard" in frames:
        yield from _discards(frames, devices)
    if "device_turn" in frames:
        yield from _rows(_turns(frames["device_turn"], devices), "turn", device="device")


def _turns(turns: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Return the turns of known devices; ``node`` is an address inside of one."""
    known = devices.select("si", "device").sort("si")
    found = turns.sort("node").join_asof(
        known, left_on="node", right_on="si", strategy="backward", coalesce=False
    )
    return found.filter(pl.col("node") - pl.col("si") < _DEVICE_BYTES)


def _without_begin(begin: str) -> str:
    return (
        f"is an end of {begin} whose begin is missing: events were lost, or its probe is not set; "
        "record again with larger buffers"
    )


def _discards(frames: Frames, devices: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the discards of clusters: each has the device of its task's pass.

    Its slot comes from the sector of the disk's next discard; a file's is null, because its slots
    lie elsewhere on the disk.
    """
    names = ("discard_pass", "cluster_discard", "cluster_discard_end", "disk_discard")
    rows = pl.concat(
        [frames[name].with_columns(of=pl.lit(name)) for name in names if name in frames],
        how="diagonal",
    ).sort(CLOCK, "line")
    if "sector" not in rows.columns:
        rows = rows.with_columns(sector=pl.lit(None, dtype=pl.Int64))
    cluster = pl.when(pl.col("of") == "cluster_discard").then(CLOCK).forward_fill().over("pid")
    rows = rows.with_columns(pl.col("device").forward_fill().over("pid"), cluster=cluster)
    slot = pl.col("sector").drop_nulls().first().over("pid", "cluster") // _SECTORS
    size = pl.col("cluster_size")
    rows = rows.with_columns(slot=slot).join(
        devices.select("device", "cluster_size", "file"), on="device", maintain_order="left"
    )
    rows = rows.with_columns(slot=pl.when(~pl.col("file")).then(pl.col("slot") // size * size))
    for name, op in (("cluster_discard", "discard"), ("cluster_discard_end", "discarded")):
        yield from _rows(rows.filter(pl.col("of") == name), op, device="device", slot="slot")


def _ends(frames: Frames, event: str, op: str, **fields: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of an event's end, with the fields of its begin by the same task."""
    if f"{event}_end" in frames:
        yield from _rows(_paired(frames, event, f"{event}_end").filter(end=True), op, **fields)


def _paired(frames: Frames, begin: str, *ends: str) -> pl.DataFrame:
    """Return the rows of some events, each with the fields of its task's last begin.

    ``part`` is 0 for the begin, 1 for the first of the ends and so on, ``end`` whether it is the
    last. An end without a begin is refused: each task writes them in this order.
    """
    for name in ends if begin not in frames else ():
        _refuse(frames.get(name, _empty()), _without_begin(begin))
    parts = [frames[name] for name in (begin, *ends) if name in frames]
    own = [name for name in frames[begin].columns if name not in (*_PLACE, "t_ns", "comm")]
    rows = pl.concat(
        [frame.with_columns(part=pl.lit(n)) for n, frame in enumerate(parts)], how="diagonal"
    ).sort(CLOCK, "line")
    last = len(parts) - 1
    rows = rows.with_columns(
        pl.col(own).forward_fill().over("pid"),
        before=pl.col("part").shift(1).over("pid"),
        end=pl.col("part") == last,
    )
    _refuse(
        rows.filter((pl.col("part") > 0) & pl.col("before").ne_missing(pl.col("part") - 1)),
        _without_begin(begin),
    )
    return rows


# 6.12: one lock.


def _of_6_12(frames: Frames) -> Iterator[pl.DataFrame]:
    get = frames.get
    yield from _rows(get("swap_call"), "call", n="n", order="order")
    yield from _rows(get("cluster_visit"), "visit", device="device", slot="offset", order="order")
    yield from _rows(get("cluster_visit_end"), "visited", slot="next")
    yield from _rows(get("slot_grant"), "grant", device="device", slot="offset", n="nr")
    yield from _rows(get("swap_call_end"), "done", n="got")
    yield from _rows(
        get("slot_free"), "free", device=_device_of_entry(), slot=_slot_of_entry(), n="nr"
    )


def _device_of_entry() -> pl.Expr:
    return pl.col("entry") // (1 << SWAP_TYPE_SHIFT)


def _slot_of_entry() -> pl.Expr:
    return pl.col("entry") & ((1 << SWAP_TYPE_SHIFT) - 1)


# 7.3: a lock for each cluster, and one for the lists of a device.


def _of_7_3(frames: Frames, devices: pl.DataFrame) -> Iterator[pl.DataFrame]:
    get = frames.get
    order = _order_of_folio()
    yield from _rows(get("swap_request"), "call", n=pl.lit(1), order=order)
    visits = frames["cluster_visit"]
    yield from _rows(visits, "visit", device="device", slot="offset", order=order)
    yield from _rows(
        _within_visits(frames),
        "grant",
        device=_device_of_entry(),
        slot=_slot_of_entry(),
        n=pl.lit(1, pl.Int64) * 2**order,
    )
    if "swap_request_end" in frames:
        yield from _rows(get("swap_request_end"), "done", n=(pl.col("result") == 0).cast(int))
    with_start = _with_cluster_start(devices, visits)
    if "slot_free" in frames:
        yield from _rows(
            with_start(frames["slot_free"]),
            "free",
            device="device",
            slot=pl.col("start") + pl.col("offset"),
            n="nr",
        )
    moves = _paired(frames, "cluster_move", "cluster_move_locked").filter("end")
    yield from _rows(
        _with_list(with_start(moves), devices),
        "move",
        device="device",
        slot="start",
        list="named_list",
    )
    picks = _paired(frames, "cluster_pick", "cluster_pick_locked", "cluster_pick_end")
    asked = picks.filter(pl.col("part") == int("cluster_pick_locked" in frames))
    yield from _rows(_with_list(asked, devices), "pick", device="device", list="named_list")
    picked = _with_list(with_start(picks.filter("end")), devices)
    yield from _rows(
        picked,
        "picked",
        device="device",
        slot=pl.when(pl.col("ci") != 0).then("start").otherwise(0),
        n=(pl.col("ci") != 0).cast(int),
        list="named_list",
    )


def _order_of_folio() -> pl.Expr:
    """Return the order of a folio from its flags and the low byte of the word with its order."""
    large = pl.col("flags") & _LARGE > 0
    return pl.when(large).then(pl.col("size") & 0xFF).otherwise(0)


def _within_visits(frames: Frames) -> pl.DataFrame:
    """Return the folios that were added within a visit: the others are swapped in."""
    names = ("cluster_visit", "cluster_visit_end", "slot_grant")
    steps = (1, -1, 0)
    rows = pl.concat(
        [frames[name].with_columns(step=pl.lit(by)) for name, by in zip(names, steps, strict=True)],
        how="diagonal",
    ).sort(CLOCK, "line")
    visiting = pl.col("step").cum_sum().over("pid") > 0
    return rows.filter(visiting & (pl.col("step") == 0))


def _with_cluster_start(
    devices: pl.DataFrame, visits: pl.DataFrame
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a function that adds ``start``, the first slot of the cluster at the address ``ci``.

    A visit has the address and a slot of its cluster, and so the size of a cluster's structure.
    """
    visits = visits.join(devices.select("device", "cluster_size"), on="device", how="left")
    known = visits.select("device", "clusters", "cluster_size").unique("device")
    numbered = visits.with_columns(
        number=pl.col("offset") // pl.col("cluster_size"), at=pl.col("ci") - pl.col("clusters")
    )
    behind = numbered.filter(pl.col("number") > 0)
    bytes_ = behind["at"][0] // behind["number"][0] if behind.height else 1
    _refuse(
        numbered.filter(pl.col("at") != pl.col("number") * bytes_),
        f"visits another cluster than that of its slot: {_OTHER_PROBES}",
    )

    def with_start(rows: pl.DataFrame) -> pl.DataFrame:
        rows = rows.join(known, on="device", how="left", maintain_order="left")
        _refuse(
            rows.filter(pl.col("cluster_size").is_null() & (pl.col("ci") != 0)),
            f"is of a device without a visit: it was {_IN_USE}",
        )
        return rows.with_columns(
            start=(pl.col("ci") - pl.col("clusters")) // bytes_ * pl.col("cluster_size")
        )

    return with_start


def _with_list(rows: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Add ``named_list``, the name of the list at an address."""
    heads = [
        devices.select(
            "device", list=pl.col("si") + pl.col(of) + _HEAD_BYTES * n, named_list=pl.lit(name)
        )
        for of, n, name in _heads(devices["cluster_size"][0])
    ]
    rows = rows.join(pl.concat(heads), on=["device", "list"], how="left", maintain_order="left")
    _refuse(
        rows.filter(pl.col("named_list").is_null()), f"names no list of its device: {_OTHER_PROBES}"
    )
    return rows


def _heads(cluster_size: int) -> Iterator[tuple[str, int, str]]:
    """Yield the offset in a device, the number behind it and the name of each list."""
    heads = {size: heads for heads, size in _CLUSTER_SIZES.items()}[cluster_size]
    for name in CLUSTER_LISTS:
        word = name.rstrip("0123456789")
        order = int(name.removeprefix(word) or 0)
        if _HEAD_BYTES * order < heads:
            yield {"discard": "discarding"}.get(word, word), order, name
