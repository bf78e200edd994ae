# SPDX-License-Identifier: GPL-2.0-or-later
"""The structures of a recorded kernel, by what its probes print: devices, clusters, lists.

A probe prints addresses. What they mean follows from the kernel's own types, of which the probes
print offsets, and the text's head has sizes; each is checked on every row::

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

from swapsim.errors import InputError
from swapsim.ffi import CLUSTER_LISTS, CLUSTER_ORDERS
from swapsim.traces import CLOCK, verification

_SOLIDSTATE, _BLKDEV, _PAGE_DISCARD = 1 << 4, 1 << 6, 1 << 10
"""Flags of a swap device: include/linux/swap.h, 6.12 and 7.3."""

_HEAD_BYTES: Final = 16
"""Bytes of the head of a list."""

_HEADING: Final = 1
"""In place of a device's address: the heading of /proc/swaps."""

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
    heads = {size: heads for heads, size in _HEADS.items()}[cluster_size]
    for name in CLUSTER_LISTS:
        word = name.rstrip("0123456789")
        order = int(name.removeprefix(word) or 0)
        if word in fields and order < heads:
            yield name, pl.col(fields[word]) + _HEAD_BYTES * order
