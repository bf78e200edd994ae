# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of probes in a stock kernel's allocator, joined to CLUSTER_EVENTS and CLUSTER_DEVICES.

``data/capture/clusters`` has the probes. A pipe merges the events of the CPUs out of order; the
values of the clock ``counter`` are the order of the locks. Each op of CLUSTER_EVENTS is made of one
event, or of a begin and its end by the same task; `Layout` says which slot or list an address of
the kernel is. The text's head says which clock it has, and how large the kernel's structures are.

What an address means follows from the kernel's own types, of which the probes print offsets, and
the text's head has sizes; each is checked on every row::

    device       si                    address of its structure; its number is printed next to it
    cluster      ci - clusters         a multiple of cluster_bytes
    list         si + free, full, discarding, nonfull + 16 * order, frag + 16 * order
    node         si .. device_bytes    of the list of devices

One kernel has one layout: devices whose lists lie at different offsets are refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim.clusters.events import CLUSTER_DEVICES, CLUSTER_EVENTS, FIELDS
from swapsim.errors import InputError
from swapsim.ffi import CLUSTER_LISTS, CLUSTER_ORDERS
from swapsim.traces import CLOCK, JoinedEvents, verification
from swapsim.traces.folder import SWAP_TYPE_SHIFT

Frames = Mapping[str, pl.DataFrame]

_LARGE: Final = 1 << 6  # the flag of a folio of several pages: PG_head
_SECTORS: Final = 8  # of a slot

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
        "swap_device": (*_DEVICE, *_LISTS[1:]),
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

_LOCKED: Final = ("cluster_move_locked", "cluster_pick_locked")
_OPTIONAL: Final[Mapping[str, frozenset[str]]] = {
    "6.12": frozenset({"swap_call_end", "cluster_visit_end", "slot_free"}),
    "7.3": frozenset({*("slot_free", "swap_request_end", "swap_device"), *_LOCKED}),
}
"""Events without which a recording can be replayed, or which may not have occurred. On 7.3, where
swap-in grants, too, the end of a visit is needed."""

_SOLIDSTATE, _BLKDEV, _PAGE_DISCARD = 1 << 4, 1 << 6, 1 << 10
"""Flags of a swap device: include/linux/swap.h, 6.12 and 7.3."""

_HEAD_BYTES: Final = 16  # of the head of a list
_HEADING: Final = 1  # in place of a device's address: the heading of /proc/swaps
_HEADS: Final = {1: 256, CLUSTER_ORDERS: 512}
"""Number of nonfull lists -> slots of a cluster: one list if only single pages swap, or one for
each order."""

_OFFSETS: Final = {"nonfull": "nonfull", "frag": "frag"}
_OFFSETS_OF_7_3: Final = {"free": "free", "full": "full", "discard": "discarding", **_OFFSETS}
"""Begin of a list's name -> the field with its offset in a device; 6.12 prints no other list."""

IN_USE: Final = (
    "in use before the first row; switch all devices off, begin to record, switch them on"
)
_WAS_IN_USE: Final = f"it was {IN_USE}"
OTHER_PROBES: Final = "record by the script of this kernel ('swapsim probes')"

_PLACE: Final = (CLOCK, "line", "cpu", "pid")
_DEVICE_OF_ENTRY: Final = pl.col("entry") // (1 << SWAP_TYPE_SHIFT)
_SLOT_OF_ENTRY: Final = pl.col("entry") & ((1 << SWAP_TYPE_SHIFT) - 1)
_ORDER_OF_FOLIO: Final = (
    pl.when(pl.col("flags") & _LARGE > 0).then(pl.col("size") & 0xFF).otherwise(0)
)
"""The order of a folio, from its flags and the low byte of the word with its order."""


def join(frames: Frames, head: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return CLUSTER_EVENTS and CLUSTER_DEVICES by the names of their files."""
    if not {"cluster_visit", "slot_grant"} & {*frames}:
        return {name: frame.drop(CLOCK) for name, frame in frames.items()}
    only_7_3 = _EVENTS["7.3"].keys() - _EVENTS["6.12"].keys() - {"swap_request", "swap_request_end"}
    rules = "7.3" if only_7_3 & frames.keys() else "6.12"
    _require_events(frames, rules)
    frames = {name: _signed(frame.rename({"seq": "line"})) for name, frame in frames.items()}
    _require_counter(pl.concat(frame.select(_PLACE) for frame in frames.values()), head)
    layout = layout_of(frames, rules, head)
    parts = [_empty(), *_of_both(frames, layout)]
    parts += _of_6_12(frames) if rules == "6.12" else _of_7_3(frames, layout)
    found = _numbered(pl.concat(parts).sort(CLOCK, "line"), layout.devices)
    if rules == "6.12":
        # A request is no op of 6.12, where a call serves several: it keeps a table of its own.
        for name in [name for name in frames if name.startswith("swap_request")]:
            found[name] = frames[name].drop(CLOCK).rename({"line": "seq"})
    return found


JOINED_EVENTS: Final = JoinedEvents(
    events=frozenset({*_EVENTS["6.12"], *_EVENTS["7.3"], *_EVENTS_OF_BOTH}), join=join
)
"""What `traces.import_text` makes of the probes' events: CLUSTER_EVENTS and CLUSTER_DEVICES."""


def _numbered(rows: pl.DataFrame, devices: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return both tables, whose rows have one sequence.

    A device comes before its first event, and before devices of higher numbers: the kernel gives
    them in the order of swapon.
    """
    devices = devices.with_columns(
        pl.col("device").cast(pl.UInt8), pl.col(CLOCK).cum_min(reverse=True), line=0
    ).cast({"line": pl.UInt64})
    switched = devices.select(*_PLACE, "device", on=pl.lit(value=True))
    both = pl.concat([switched, rows], how="diagonal").sort(CLOCK, "line", maintain_order=True)
    both = both.with_row_index("seq")
    seq = both.filter("on").select("seq", "device")
    events = both.filter(pl.col("on").is_null())
    devices = devices.drop(_PLACE).join(seq, on="device", maintain_order="left")
    return {
        "cluster_events": events.select(pl.col(c).cast(t) for c, t in CLUSTER_EVENTS.items()),
        "cluster_devices": devices.select(pl.col(c).cast(t) for c, t in CLUSTER_DEVICES.items()),
    }


def _require_events(frames: Frames, rules: str) -> None:
    known = _EVENTS[rules]
    missing = [name for name in known if name not in frames and name not in _OPTIONAL[rules]]
    if missing == ["swap_on"]:
        raise InputError(f"has no event swap_on: its devices were {IN_USE}")
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


def _require_counter(rows: pl.DataFrame, head: Mapping[str, Any]) -> None:
    """Require the clock counter: a value per event, in order on each CPU."""
    choose = "record with the clock counter (echo counter >trace_clock)"
    if rows[CLOCK].null_count():
        raise InputError(f"its clock counts seconds, which do not order the CPUs: {choose}")
    if "clock" not in head:
        raise InputError(f"does not say which clock it has: {OTHER_PROBES}")
    if head["clock"] != "counter":
        raise InputError(f"its clock is {head['clock']}, which does not order the CPUs: {choose}")
    back = rows.sort("line").filter(pl.col(CLOCK) < pl.col(CLOCK).shift(1).over("cpu"))
    for place in back.head(1).iter_rows(named=True):
        raise InputError(
            f"event {place['line']} is at {place[CLOCK]}, before another of CPU {place['cpu']}: "
            "import one recording at a time"
        )
    rows = rows.sort(CLOCK, "line")
    shared = rows.filter((rows[CLOCK].diff() == 0) & (rows["cpu"].diff() != 0))
    for line in shared["line"].head(1):
        raise InputError(
            f"its clock is no counter, for event {line} shares its time with one of another CPU: "
            f"{choose}"
        )


def _rows(frame: pl.DataFrame | None, op: str, **fields: pl.Expr | str) -> Iterator[pl.DataFrame]:
    """Yield rows of an op: the fields that it has, null for all others."""
    if frame is None:
        return
    made = frame.select(
        *_PLACE,
        op=pl.lit(op),
        **{name: fields.get(name, pl.lit(None, CLUSTER_EVENTS[name])) for name in FIELDS},
    )
    for name in fields:
        fits = pl.col(name).cast(CLUSTER_EVENTS[name], strict=False)
        refuse(
            made.filter(fits.is_null() & pl.col(name).is_not_null()),
            f"has a value of {name} that no kernel has",
            OTHER_PROBES,
        )
    yield made.cast({name: CLUSTER_EVENTS[name] for name in FIELDS})


def _empty() -> pl.DataFrame:
    types = {CLOCK: pl.UInt64, "line": pl.UInt64, "cpu": pl.UInt16, "pid": pl.Int32}
    fields = {name: CLUSTER_EVENTS[name] for name in FIELDS}
    return pl.DataFrame(schema={**types, "op": pl.String, **fields})


def _paired(frames: Frames, begin: str, *ends: str) -> pl.DataFrame:
    """Return the rows of some events, each with the fields of its task's last begin.

    ``part`` is 0 for the begin, 1 for the first of the ends and so on, ``end`` whether it is the
    last. An end without a begin is refused: each task writes them in this order.
    """
    lost = (
        f"is an end of {begin} whose begin is missing",
        "events were lost, or its probe is not set; record again with larger buffers",
    )
    for name in ends if begin not in frames else ():
        refuse(frames.get(name, _empty()), *lost)
    parts = [frames[name] for name in (begin, *ends) if name in frames]
    own = [name for name in frames[begin].columns if name not in (*_PLACE, "t_ns", "comm")]
    rows = pl.concat(
        [frame.with_columns(part=pl.lit(n)) for n, frame in enumerate(parts)], how="diagonal"
    ).sort(CLOCK, "line")
    rows = rows.with_columns(
        pl.col(own).forward_fill().over("pid"),
        before=pl.col("part").shift(1).over("pid"),
        end=pl.col("part") == len(parts) - 1,
    )
    follows = pl.col("before").eq_missing(pl.col("part") - 1)
    refuse(rows.filter((pl.col("part") > 0) & ~follows), *lost)
    return rows


# What the addresses are.


def refuse(rows: pl.DataFrame, why: str, remedy: str) -> None:
    """Raise an error about the first of these rows by its line, if there is one."""
    verification.refuse(rows.sort("line"), f"event {{line}} {why}", remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The devices of a recording, and where a kernel has their clusters and lists.

    ``devices`` has the columns of CLUSTER_DEVICES without seq, the place of its event, and ``si``;
    ``lists`` has ``device, list, named_list``: the address of each list; ``clusters`` has ``device,
    clusters``: the address of the first cluster of each visited device. ``cluster_bytes`` and
    ``device_bytes`` are sizes of the kernel's structures; 6.12 names no cluster by its address.
    """

    devices: pl.DataFrame
    lists: pl.DataFrame
    clusters: pl.DataFrame
    cluster_size: int
    cluster_bytes: int
    device_bytes: int

    def with_list(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add ``named_list``, the name of the list at the address ``list``."""
        rows = rows.join(self.lists, on=["device", "list"], how="left", maintain_order="left")
        unknown = rows.filter(pl.col("named_list").is_null())
        refuse(unknown, "names no list of its device", OTHER_PROBES)
        return rows

    def with_start(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add ``start``, the first slot of the cluster at the address ``ci``; 0 if that is 0."""
        named = pl.col("ci") != 0
        rows = rows.join(self.clusters, on="device", how="left", maintain_order="left")
        of_unvisited = rows.filter(named & pl.col("clusters").is_null())
        refuse(of_unvisited, "is of a device without a visit", _WAS_IN_USE)
        at = pl.col("ci") - pl.col("clusters")
        wrong = rows.filter(named & (at % self.cluster_bytes != 0))
        refuse(wrong, "names no cluster of its device", OTHER_PROBES)
        number = at // self.cluster_bytes
        start = pl.when(named).then(number * self.cluster_size).otherwise(0)
        return rows.with_columns(start=start)

    def device_at(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows whose address ``node`` lies in a known device, with its ``device``."""
        known = self.devices.select("si", "device").sort("si")
        found = rows.sort("node").join_asof(
            known, left_on="node", right_on="si", strategy="backward", coalesce=False
        )
        return found.filter(pl.col("node") - pl.col("si") < self.device_bytes)


def layout_of(frames: Mapping[str, pl.DataFrame], rules: str, head: Mapping[str, Any]) -> Layout:
    """Return the layout of a recorded kernel.

    On 6.12 swap_on prints the fields of a device. On 7.3 the first pick from a device's lists does,
    which precedes its first visit, and swap_device, also of a device that is never used; a visit
    prints the address and a slot of its cluster.
    """
    old = rules == "6.12"
    if old:
        shown = frames["swap_on"]
    else:
        known = [frames[name] for name in ("swap_device", "cluster_pick") if name in frames]
        shown = pl.concat(known, how="diagonal").filter(pl.col("si") != _HEADING)
    devices, cluster_size = _devices(shown, rules)
    offsets = _OFFSETS if old else _OFFSETS_OF_7_3
    for name in offsets.values():
        differ = devices.filter(pl.col(name) != pl.col(name).first())
        refuse(differ, "has lists at other offsets than device 0", OTHER_PROBES)
    lists = pl.concat(
        devices.select("device", list=pl.col("si") + offset, named_list=pl.lit(name))
        for name, offset in _list_offsets(offsets, cluster_size)
    )
    visits = None if old else frames["cluster_visit"]
    cluster_bytes = 0 if visits is None else _size(head, "cluster_bytes")
    if visits is not None:
        number = pl.col("offset") // cluster_size
        other = pl.col("ci") - pl.col("clusters") != number * cluster_bytes
        refuse(visits.filter(other), "visits another cluster than that of its slot", OTHER_PROBES)
    return Layout(
        devices=devices,
        lists=lists,
        clusters=pl.DataFrame() if visits is None else visits.select("device", "clusters").unique(),
        cluster_size=cluster_size,
        cluster_bytes=cluster_bytes,
        device_bytes=_size(head, "device_bytes"),
    )


def _size(head: Mapping[str, Any], name: str) -> int:
    """Return the size of a structure, which the text's head has to say."""
    size = head.get(name)
    if not isinstance(size, int) or size < 1:
        raise InputError(f"its head has no {name}, the size of a structure: {OTHER_PROBES}")
    return size


def _devices(events: pl.DataFrame, rules: str) -> tuple[pl.DataFrame, int]:
    """Return the devices by the first event of each, and the slots of a cluster."""
    if rules == "6.12":
        twice = events.sort(CLOCK).filter(pl.col("device").is_duplicated())
        refuse(
            twice, "switches on a device for the second time", "record between swapon and swapoff"
        )
    found = events.sort(CLOCK, "line").unique("device", keep="first").sort("device")
    if found["device"].to_list() != list(range(found.height)):
        named = ", ".join(map(str, found["device"]))
        raise InputError(f"has the devices {named} and not 0, 1, ...: another was {IN_USE}")
    refuse(found.filter(pl.col("used") > 0), "has a device with slots in use", _WAS_IN_USE)
    sizes = {_HEAD_BYTES * heads: size for heads, size in _HEADS.items()}
    nonfull_bytes = pl.col("frag") - pl.col("nonfull")
    devices = found.with_columns(
        # 6.12 orders devices by another number than their priority.
        priority=-pl.col("avail_prio") if "avail_prio" in found.columns else pl.col("prio"),
        file=(pl.col("flags") & _BLKDEV) == 0,
        rotational=(pl.col("flags") & _SOLIDSTATE) == 0,
        discard=(pl.col("flags") & _PAGE_DISCARD) != 0,
        cluster_size=nonfull_bytes.replace_strict(sizes, default=None, return_dtype=pl.Int64),
        rules=pl.lit(rules),
    )
    unknown = devices.filter(pl.col("cluster_size").is_null())
    refuse(unknown, "has lists at offsets that no kernel has", OTHER_PROBES)
    return devices, int(devices["cluster_size"][0])


def _list_offsets(fields: Mapping[str, str], cluster_size: int) -> Iterator[tuple[str, pl.Expr]]:
    """Yield the name of each list that such a kernel has, and its offset in a device."""
    for name in CLUSTER_LISTS:
        word = name.rstrip("0123456789")
        order = int(name.removeprefix(word) or 0)
        if word in fields and (order == 0 or cluster_size == _HEADS[CLUSTER_ORDERS]):
            yield name, pl.col(fields[word]) + _HEAD_BYTES * order


# Events that both kernels have.


def _of_both(frames: Frames, layout: Layout) -> Iterator[pl.DataFrame]:
    get = frames.get
    yield from _rows(get("slot_try"), "try", device="device", slot="offset", n=pl.lit(0))
    yield from _rows(get("cluster_window"), "window")
    yield from _rows(get("cluster_window_end"), "relock")
    yield from _rows(get("cluster_reclaim"), "full", device="device", n="force")
    if "cluster_reclaim_end" in frames:
        ends = _paired(frames, "cluster_reclaim", "cluster_reclaim_end").filter("end")
        yield from _rows(ends, "full_done", device="device")
    if "discard_pass" in frames and "cluster_discard" in frames:
        yield from _discards(frames, layout)
    if "device_turn" in frames:
        yield from _rows(layout.device_at(frames["device_turn"]), "turn", device="device")


def _discards(frames: Frames, layout: Layout) -> Iterator[pl.DataFrame]:
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
    start = slot // layout.cluster_size * layout.cluster_size
    rows = rows.with_columns(start=start).join(
        layout.devices.select("device", "file"), on="device", maintain_order="left"
    )
    rows = rows.with_columns(slot=pl.when(~pl.col("file")).then("start"))
    for name, op in (("cluster_discard", "discard"), ("cluster_discard_end", "discarded")):
        yield from _rows(rows.filter(pl.col("of") == name), op, device="device", slot="slot")


def _of_6_12(frames: Frames) -> Iterator[pl.DataFrame]:
    """Yield the rows of 6.12, which has one lock."""
    get = frames.get
    yield from _rows(get("swap_call"), "call", n="n", order="order")
    yield from _rows(get("cluster_visit"), "visit", device="device", slot="offset", order="order")
    yield from _rows(get("cluster_visit_end"), "visited", slot="next")
    yield from _rows(get("slot_grant"), "grant", device="device", slot="offset", n="nr")
    yield from _rows(get("swap_call_end"), "done", n="got")
    yield from _rows(get("slot_free"), "free", device=_DEVICE_OF_ENTRY, slot=_SLOT_OF_ENTRY, n="nr")


def _of_7_3(frames: Frames, layout: Layout) -> Iterator[pl.DataFrame]:
    """Yield the rows of 7.3, which has a lock for each cluster, and one for a device's lists."""
    get = frames.get
    order = _ORDER_OF_FOLIO
    of_list = {"device": "device", "list": "named_list"}
    yield from _rows(get("swap_request"), "call", n=pl.lit(1), order=order)
    yield from _rows(get("cluster_visit"), "visit", device="device", slot="offset", order=order)
    n = pl.lit(1, pl.Int64) * 2**order
    grants = _within_visits(frames)
    yield from _rows(grants, "grant", device=_DEVICE_OF_ENTRY, slot=_SLOT_OF_ENTRY, n=n)
    if "swap_request_end" in frames:
        done = (pl.col("result") == 0).cast(int)
        yield from _rows(get("swap_request_end"), "done", n=done)
    if "slot_free" in frames:
        slot = pl.col("start") + pl.col("offset")
        frees = layout.with_start(frames["slot_free"])
        yield from _rows(frees, "free", device="device", slot=slot, n="nr")
    moves = _paired(frames, "cluster_move", "cluster_move_locked").filter("end")
    moved = layout.with_list(layout.with_start(moves))
    yield from _rows(moved, "move", slot="start", **of_list)
    picks = _paired(frames, "cluster_pick", "cluster_pick_locked", "cluster_pick_end")
    asked = picks.filter(pl.col("part") == int("cluster_pick_locked" in frames))
    yield from _rows(layout.with_list(asked), "pick", **of_list)
    picked = layout.with_list(layout.with_start(picks.filter("end")))
    any_ = (pl.col("ci") != 0).cast(int)
    yield from _rows(picked, "picked", slot="start", n=any_, **of_list)


def _within_visits(frames: Frames) -> pl.DataFrame:
    """Return the folios that were added within a visit: the others are swapped in."""
    steps = {"cluster_visit": 1, "cluster_visit_end": -1, "slot_grant": 0}
    rows = pl.concat(
        [frames[name].with_columns(step=pl.lit(by)) for name, by in steps.items()], how="diagonal"
    ).sort(CLOCK, "line")
    visiting = pl.col("step").cum_sum().over("pid") > 0
    return rows.filter(visiting & (pl.col("step") == 0))
