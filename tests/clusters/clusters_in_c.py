# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices and replays of the library, made from the classes of oracle_clusters."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from oracle_cluster_replay import Row
from oracle_clusters import LISTS, ORDERS, DeviceConfig, Rules

from swapsim._core import ffi, lib
from swapsim.ffi import new, values

OWNERS = 2
"""Owners of current clusters, where tasks have them."""

ROW_FIELDS = ("seq", "cpu", "pid", "op", "device", "order", "list", "slot", "n")


CHOOSE = "int64_t(" + ", ".join(["int64_t"] * 11) + ")"
"""The type of a user's function."""


def fill_config(target: Any, rules: Rules, devices: list[DeviceConfig], **fixed: int) -> Any:
    """Write a config; return what must stay alive until it is read."""
    lib.sws_clusters_config_init(ffi.addressof(target))
    for field in fields(Rules):
        setattr(target.rules, field.name, getattr(rules, field.name))
    for name, value in fixed.items():
        setattr(target, name, value)
    if rules.own_by_task:
        target.owners = OWNERS
    target.devices = listed = ffi.new("struct sws_clusters_device[]", len(devices))
    target.n_devices = len(devices)
    for made, device in zip(listed, devices, strict=True):
        for field in fields(DeviceConfig):
            setattr(made, field.name, getattr(device, field.name))
    return listed


def columns_of(rows: list[Row]) -> tuple[Any, list[Any]]:
    """Return rows as columns of C, and what must stay alive until they are read."""
    made, alive = ffi.new("struct sws_cluster_replay_rows *"), []
    kinds = dict(ffi.typeof(made[0]).fields)
    for name in ROW_FIELDS:
        column = [
            getattr(row if name in ("seq", "cpu", "pid") else row.point, name) for row in rows
        ]
        alive.append(ffi.new(f"{kinds[name].type.item.cname}[]".replace("const ", ""), column))
        setattr(made, name, alive[-1])
    return made, alive


def lists_of(clusters: Any, device: int) -> list[list[int]]:
    """Return the clusters of each list of a device."""
    members = ffi.new("uint32_t[]", 4096)
    found = []
    for list_ in range(LISTS):
        n = lib.sws_clusters_list_members(clusters, device, list_, members, 4096)
        found.append(list(members[0:n]))
    return found


class ClustersInC:
    """Devices of the library."""

    def __init__(
        self,
        rules: Rules,
        devices: list[DeviceConfig],
        choose: Callable[..., int] | None = None,
        **fixed: int,
    ) -> None:
        """Make empty devices."""
        target = ffi.new("struct sws_clusters_config *")
        alive = fill_config(target[0], rules, devices, **fixed)
        if choose is not None:
            self.choose = target.choose = ffi.callback(CHOOSE, choose)
        self.handle = new(lib.sws_clusters_new, target, free=lib.sws_clusters_free)
        del alive

    def allocate(self, cpu: int, order: int, wanted: int, owner: int = 0) -> list[tuple[int, int]]:
        """Run a complete call; return (device, slot) of each run."""
        devices, slots = ffi.new("uint8_t[]", wanted), ffi.new("uint32_t[]", wanted)
        n = ffi.new("uint32_t *")
        code = lib.sws_clusters_allocate(self.handle, cpu, owner, order, wanted, devices, slots, n)
        assert code == lib.SWS_OK
        return [(devices[i], slots[i]) for i in range(n[0])]

    def lists(self, device: int) -> list[list[int]]:
        """Return the clusters of each list of a device."""
        return lists_of(self.handle, device)

    def work(self, name: str) -> int:
        """Return a count of the work done."""
        work = ffi.new("struct sws_clusters_work *")
        lib.sws_clusters_work(self.handle, work)
        return int(getattr(work, name))

    def next_slots(self, cpus: int, devices: int) -> list[int]:
        """Return where each CPU goes on, for each order and device."""
        return [
            lib.sws_clusters_next(self.handle, cpu, order, device)
            for cpu in range(cpus)
            for order in range(ORDERS)
            for device in range(devices)
        ]

    def verify(self) -> None:
        """Require that no invariant is violated."""
        reason = ffi.new("const char **")
        assert lib.sws_clusters_verify(self.handle, reason) == lib.SWS_OK, ffi.string(reason[0])


class ReplayInC:
    """A replay of the library."""

    def __init__(self, rules: Rules, devices: list[DeviceConfig], **fixed: int) -> None:
        """Start with empty devices."""
        target = ffi.new("struct sws_clusters_config *")
        alive = fill_config(target[0], rules, devices, **fixed)
        self.handle = new(lib.sws_cluster_replay_new, target, free=lib.sws_cluster_replay_free)
        del alive

    def feed(self, rows: list[Row]) -> int:
        """Replay rows; return the code."""
        given, _alive = columns_of(rows)
        return int(lib.sws_cluster_replay_feed(self.handle, given, len(rows)))

    def totals(self) -> dict[str, int]:
        """Return the totals that are not zero."""
        out = ffi.new("struct sws_cluster_replay_totals *")
        lib.sws_cluster_replay_totals(self.handle, out)
        return {name: value for name, value in values(out[0]).items() if value}

    def first_mismatch(self) -> int | None:
        """Return seq of the first row that differs."""
        out = ffi.new("struct sws_cluster_replay_mismatch *")
        found = lib.sws_cluster_replay_first_mismatch(self.handle, out)
        return int(out.seq) if found else None


class WhatIfInC:
    """A replay of the library under other rules."""

    def __init__(
        self,
        rules: Rules,
        devices: list[DeviceConfig],
        trace_has_slot_cache: bool,
        trace_slots: list[int],
        **fixed: int,
    ) -> None:
        """Start with empty devices."""
        target = ffi.new("struct sws_cluster_what_if_config *")
        lib.sws_cluster_what_if_config_init(target)
        alive = fill_config(target.clusters, rules, devices, **fixed)
        target.trace_has_slot_cache = trace_has_slot_cache
        target.trace_slots = theirs = ffi.new("uint32_t[]", trace_slots)
        self.handle = new(lib.sws_cluster_what_if_new, target, free=lib.sws_cluster_what_if_free)
        del alive, theirs

    def feed(self, rows: list[Row]) -> int:
        """Replay rows; return the code."""
        given, _alive = columns_of(rows)
        n_samples, reason = ffi.new("uint64_t *"), ffi.new("const char **")
        code = lib.sws_cluster_what_if_feed(self.handle, given, len(rows), ffi.NULL, n_samples)
        assert lib.sws_cluster_what_if_verify(self.handle, reason) == lib.SWS_OK
        return int(code)

    def totals(self) -> dict[str, Any]:
        """Return the totals; those by order as lists."""
        out = ffi.new("struct sws_cluster_what_if_totals *")
        lib.sws_cluster_what_if_totals(self.handle, out)
        return values(out[0])

    def neighbours(self) -> tuple[int, int]:
        """Return the pairs of neighbouring slots of tasks, and those of two tasks."""
        out = ffi.new("struct sws_cluster_what_if_neighbours *")
        lib.sws_cluster_what_if_neighbours(self.handle, out)
        return out.pairs, out.mixed

    def lists(self, device: int) -> list[list[int]]:
        """Return the clusters of each list of a device."""
        return lists_of(lib.sws_cluster_what_if_clusters(self.handle), device)
