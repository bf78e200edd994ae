# SPDX-License-Identifier: GPL-2.0-or-later
"""The structures of a recorded kernel, by what its probes print: devices, clusters, lists.

A probe prints addresses. What they mean follows from three facts, each checked on every row::

    device       si                    address of its structure; its number is printed next to it
    cluster      (ci - clusters)       a multiple of the size of a cluster's structure
    list         si + free, full, discarding, nonfull + 16 * order, frag + 16 * order

One kernel has one layout: devices whose lists lie at different offsets are refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import CLUSTER_LISTS, CLUSTER_ORDERS
from swapsim.traces import CLOCK, verification

_SOLIDSTATE, _BLKDEV, _PAGE_DISCARD = 1 << 4, 1 << 6, 1 << 10
"""Flags of a swap device: include/linux/swap.h, 6.12 and 7.3."""

_HEAD_BYTES: Final = 16
"""Bytes of the head of a list."""

_DEVICE_BYTES: Final = 1 << 14
"""More than the size of a kernel's ``struct swap_info_struct``."""

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
OTHER_PROBES: Final = "set the probes of this kernel ('swapsim probes'), and record again"


def refuse(rows: pl.DataFrame, why: str, remedy: str) -> None:
    """Raise an error about the first of these rows by its line, if there is one."""
    verification.refuse(rows.sort("line"), f"event {{line}} {why}", remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The devices of a recording, and where a kernel has their clusters and lists.

    ``devices`` has the columns of CLUSTER_DEVICES without seq, the place of its event, and ``si``;
    ``lists`` has ``device, list, named_list``: the address of each list; ``clusters`` has ``device,
    clusters``: the address of the first cluster of each visited device. ``cluster_bytes`` is the
    size of a cluster's structure, 0 if no visit shows it.
    """

    devices: pl.DataFrame
    lists: pl.DataFrame
    clusters: pl.DataFrame
    cluster_size: int
    cluster_bytes: int

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
        # Without a visit beyond the first cluster, only the first one's address has a meaning.
        wrong = at != 0 if not self.cluster_bytes else at % self.cluster_bytes != 0
        refuse(rows.filter(named & wrong), "names no cluster of its device", OTHER_PROBES)
        number = at // max(self.cluster_bytes, 1)
        start = pl.when(named).then(number * self.cluster_size).otherwise(0)
        return rows.with_columns(start=start)

    def device_at(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows whose address ``node`` lies in a known device, with its ``device``."""
        known = self.devices.select("si", "device").sort("si")
        found = rows.sort("node").join_asof(
            known, left_on="node", right_on="si", strategy="backward", coalesce=False
        )
        return found.filter(pl.col("node") - pl.col("si") < _DEVICE_BYTES)


def layout_of(frames: Mapping[str, pl.DataFrame], rules: str) -> Layout:
    """Return the layout of a recorded kernel.

    On 6.12 swap_on prints the fields of a device. On 7.3 the first pick from a device's lists does,
    which precedes its first visit; a visit prints the address and a slot of its cluster.
    """
    old = rules == "6.12"
    devices, cluster_size = _devices(frames["swap_on" if old else "cluster_pick"], rules)
    offsets = _OFFSETS if old else _OFFSETS_OF_7_3
    for name in offsets.values():
        differ = devices.filter(pl.col(name) != pl.col(name).first())
        refuse(differ, "has lists at other offsets than device 0", OTHER_PROBES)
    lists = pl.concat(
        devices.select("device", list=pl.col("si") + offset, named_list=pl.lit(name))
        for name, offset in _list_offsets(offsets, cluster_size)
    )
    visits = None if old else frames["cluster_visit"]
    return Layout(
        devices=devices,
        lists=lists,
        clusters=pl.DataFrame() if visits is None else visits.select("device", "clusters").unique(),
        cluster_size=cluster_size,
        cluster_bytes=0 if visits is None else _cluster_bytes(visits, cluster_size),
    )


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


def _cluster_bytes(visits: pl.DataFrame, cluster_size: int) -> int:
    """Return the size of a cluster's structure, by which every visit's address fits its slot."""
    numbered = visits.with_columns(
        number=pl.col("offset") // cluster_size, at=pl.col("ci") - pl.col("clusters")
    )
    behind = numbered.filter(pl.col("number") > 0).head(1)
    found = int(behind["at"][0] // behind["number"][0]) if behind.height else 0
    other = numbered.filter(pl.col("at") != pl.col("number") * found)
    refuse(other, "visits another cluster than that of its slot", OTHER_PROBES)
    return found
