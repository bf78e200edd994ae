# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of the plain model: whole calls and frees, as a kernel with one task writes them."""

from random import Random
from typing import Any

import oracle_clusters
import polars as pl
from oracle_clusters import Allocator, Call, DeviceConfig, Op, Points

from swapsim.clusters.events import CLUSTER_DEVICES, CLUSTER_EVENTS, CLUSTER_LIST, ClusterRows

DEVICES = (DeviceConfig(4096, priority=-1), DeviceConfig(2048, priority=-1))

FIELDS: dict[Op, tuple[str, ...]] = {
    Op.CALL: ("n", "order"),
    Op.VISIT: ("device", "slot", "order"),
    Op.GRANT: ("device", "slot", "n"),
    Op.DONE: ("n",),
    Op.FREE: ("device", "slot", "n"),
    Op.FULL: ("device", "n"),
    Op.FULL_DONE: ("device",),
    Op.PICK: ("device", "list"),
    Op.PICKED: ("device", "slot", "n", "list"),
    Op.MOVE: ("device", "slot", "list"),
    Op.TURN: ("device",),
    Op.VISITED: ("slot",),
    Op.WINDOW: (),
    Op.TRY: ("device", "slot", "n"),
    Op.RELOCK: (),
}
"""The fields of a row, by its op."""

ONLY = {"6.12": {Op.VISITED}, "7.3": {Op.PICK, Op.PICKED, Op.MOVE}}
"""Rows that only one kernel has."""


class Recorder:
    """A kernel whose calls and frees are rows of CLUSTER_EVENTS."""

    def __init__(self, rules: str, devices: tuple[DeviceConfig, ...] = DEVICES) -> None:
        """Switch the devices on."""
        self.rules, self.devices = rules, devices
        self.allocator = Allocator(oracle_clusters.RULES[rules], list(devices))
        self.rows: list[dict[str, Any]] = []
        self.held: list[tuple[int, int, int]] = []

    def row(self, op: Op, cpu: int, **fields: int) -> None:
        """Write a row, if this kernel has it."""
        others = {each for name, ops in ONLY.items() if name != self.rules for each in ops}
        if op in others:
            return
        row: dict[str, Any] = {name: fields[name] for name in FIELDS[op]}
        if "list" in row:
            row["list"] = CLUSTER_LIST.categories[row["list"]]
        head = {"seq": len(self.rows) + len(self.devices), "cpu": cpu, "pid": 70 + cpu}
        self.rows.append({**head, "op": op.name.lower(), **row})

    def call(self, cpu: int, order: int, wanted: int) -> None:
        """Run a call."""
        self.row(Op.CALL, cpu, n=wanted, order=order)
        call = Call(cpu, order, wanted)
        points = self.allocator.call(call)
        next(points)
        self.follow(points, cpu)
        self.held += [(device, slot, 1 << order) for device, slot in call.granted]

    def follow(self, points: Points, cpu: int, until: Op | None = None) -> None:
        """Write the rows of a call up to its end, or to its first point of an op."""
        for point in points:
            if point is None:
                continue
            self.row(
                point.op, cpu, **{name: int(getattr(point, name)) for name in point._fields[1:]}
            )
            try:
                points.send(point)
            except StopIteration:
                break
            if point.op == until:
                break

    def free(self, cpu: int, device: int, slot: int, n: int) -> None:
        """Free slots of one cluster."""
        self.row(Op.FREE, cpu, device=device, slot=slot, n=n)
        target = self.allocator.free(device, slot, n)
        if target is not None:
            start = slot // 512 * 512
            self.row(Op.MOVE, cpu, device=device, slot=start, list=target)
            of = self.allocator.devices[device]
            of.append(of.clusters[slot // 512], target)

    def written(self) -> ClusterRows:
        """Return the recording."""
        known = {"cluster_size": 512, "rules": self.rules}
        names = ("slots", "priority", "file", "rotational", "discard")
        devices = [
            {"seq": n, "device": n, **{name: getattr(device, name) for name in names}, **known}
            for n, device in enumerate(self.devices)
        ]
        return ClusterRows(
            events=pl.DataFrame(self.rows, schema=CLUSTER_EVENTS),
            devices=pl.DataFrame(devices, schema=CLUSTER_DEVICES),
        )


def recording(rules: str, calls: int = 400, seed: int = 1) -> ClusterRows:
    """Return what two CPUs write that allocate orders 0, 4 and 9, and free in random order."""
    random, kernel = Random(seed), Recorder(rules)
    for _ in range(calls):
        cpu, order = random.randrange(2), random.choice((0, 0, 0, 4, 9))
        kernel.call(cpu, order, random.randint(1, 64) if not order and rules == "6.12" else 1)
        while kernel.held and random.random() < 0.6:
            device, slot, n = kernel.held.pop(random.randrange(len(kernel.held)))
            kernel.free(cpu, device, slot, n)
    return kernel.written()
