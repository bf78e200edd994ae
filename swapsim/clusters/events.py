# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's cluster allocator, read with a check of each row."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.errors import InputError, errors_of
from swapsim.ffi import CLUSTER_CPUS_MAX, CLUSTER_DEVICES_MAX, CLUSTER_SIZE_MAX, CLUSTER_SLOTS_MAX
from swapsim.tables import require, require_values
from swapsim.traces import provenance, require_events, require_order
from swapsim.traces.folder import Trace
from swapsim.traces.verification import AGAIN, read_tables, refuse, require_ops

CLUSTER_OP: Final = pl.Enum(ffi.CLUSTER_OPS)
"""What the allocator does, by the names of ``cluster_replay.h``. ``call``: a task asks for slots;
``visit``: a cluster is scanned from a slot on; ``grant``: slots are taken; ``done``: the call ends;
``free``: slots are freed; ``try``: a slot of the swap cache alone is reclaimed; ``full``,
``full_done``: full clusters are reclaimed; ``window``, ``relock``: a scan drops its locks and has
them again; ``pick``, ``picked``: a cluster is taken from a list; ``move``: a cluster goes to a
list; ``discard``, ``discarded``: a cluster is discarded; ``turn``: a device goes behind its equals;
``visited``: a scan ends."""
CLUSTER_LIST: Final = pl.Enum(ffi.CLUSTER_LISTS)
"""A device's lists of clusters, by ``clusters.h``: nonfull and frag have one for each order."""
RULE_SET: Final = pl.Enum(ffi.CLUSTER_RULES)

CLUSTER_EVENTS: Final = pl.Schema(
    {"seq": pl.UInt64(), "cpu": pl.UInt16(), "pid": pl.Int32(), "op": CLUSTER_OP}
    | {"device": pl.UInt8(), "slot": pl.UInt32(), "n": pl.UInt32(), "order": pl.UInt8()}
    | {"list": CLUSTER_LIST}
)
"""A row per event of an allocator, in lock order: by the values of the clock counter. Events under
a device's lock (6.12) or a cluster's and a list's (7.3) are in the order of these locks.

``seq`` is one for both tables, ``device`` the number (type) of the swap device. ``slot`` is the
first of several, or of a cluster; ``n`` are slots asked for, granted or freed, or 1 for yes and 0
for no; ``order`` is log2 of the slots of a grant; a cluster goes from or to ``list``. Columns that
an op does not have are null."""

CLUSTER_DEVICES: Final = pl.Schema(
    {"seq": pl.UInt64(), "device": pl.UInt8(), "slots": pl.UInt32(), "priority": pl.Int16()}
    | dict.fromkeys(("file", "rotational", "discard"), pl.Boolean())
    | {"cluster_size": pl.UInt32(), "rules": RULE_SET}
)
"""A row per swap device of a recording, at its swapon, in order of their numbers. ``slots`` have
the header; ``priority`` is the kernel's own number; ``rotational``: a hard disk; ``discard``: freed
clusters are; clusters have 512 slots if huge pages swap, else 256; ``rules`` of the kernel."""

_SLOTS_OF_ALL: Final = 2**32 - 2  # most slots of all devices (``cluster_what_if.h``)
_HEAD: Final = ("seq", "cpu", "pid", "op")
FIELDS: Final = ("device", "slot", "n", "order", "list")

OP_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "call": ("n", "order"),
    "visit": ("device", "slot", "order"),
    "grant": ("device", "slot", "n"),
    "done": ("n",),
    "free": ("device", "slot", "n"),
    "try": ("device", "slot"),
    "full": ("device", "n"),
    "full_done": ("device",),
    "window": ("device", "slot", "n"),
    "pick": ("device", "list"),
    "picked": ("device", "slot", "n", "list"),
    "move": ("device", "slot", "list"),
    "discard": ("device", "slot"),
    "discarded": ("device", "slot"),
    "turn": ("device",),
    "visited": ("device", "slot"),
}
"""The fields of an op that have a meaning (``clusters.h``)."""

_MAY_LACK: Final[Mapping[str, tuple[str, ...]]] = {
    "window": ("device", "slot", "n"),
    "discard": ("slot",),
    "discarded": ("slot",),
    "visited": ("device",),
}
"""Those that a recording's row may lack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRows:
    """A recording of a cluster allocator: CLUSTER_EVENTS and CLUSTER_DEVICES."""

    events: pl.DataFrame
    devices: pl.DataFrame

    @property
    def rules(self) -> str:
        """The rules of the kernel that was recorded."""
        return str(self.devices["rules"][0])

    @property
    def cluster_size(self) -> int:
        """Slots of a cluster."""
        return int(self.devices["cluster_size"][0])

    @property
    def cpus(self) -> int:
        """Number of CPUs, by the highest one that occurs."""
        highest = self.events["cpu"].max()
        return int(highest) + 1 if isinstance(highest, int) else 1


def cluster_rows(trace: Trace | Path | str) -> ClusterRows:
    """Read the events and devices of a recording, which lost no event (`check_cluster_rows`)."""
    folder = Path(trace)
    require_events(folder, "clusters")
    tables = {"cluster_events": CLUSTER_EVENTS, "cluster_devices": CLUSTER_DEVICES}
    found = read_tables(folder, tables, {"cluster_events": FIELDS})
    with errors_of(folder):
        return check_cluster_rows(
            ClusterRows(events=found["cluster_events"], devices=found["cluster_devices"])
        )


@contextmanager
def opened(source: ClusterRows | Trace | Path | str) -> Iterator[ClusterRows]:
    """Yield the checked rows of a source; an error about them names the folder of its own."""
    if isinstance(source, ClusterRows):
        yield check_cluster_rows(source)
        return
    rows, folder = cluster_rows(source), Path(source)
    release = provenance(folder).get("kernel", {}).get("release")
    if release is not None and not re.match(rf"{re.escape(rows.rules)}(?!\d)", str(release)):
        raise InputError(
            f"clusters needs 6.12 or 7.3; trace.toml says {release}, and "
            f"cluster_devices {rows.rules}: correct the one that is wrong",
            path=folder,
            field="kernel.release",
        )
    with errors_of(folder):
        yield rows


def check_cluster_rows(rows: ClusterRows) -> ClusterRows:
    """Return the rows if each value of both tables is possible; an error names table and row."""
    _check_devices(require(rows.devices, CLUSTER_DEVICES, "cluster_devices"))
    events = require(rows.events, CLUSTER_EVENTS, "cluster_events")
    needs = {
        op: [name for name in names if name not in _MAY_LACK.get(op, ())]
        for op, names in OP_FIELDS.items()
    }
    require_ops(events, _HEAD, needs)
    require_order(events)
    refuse(
        events.filter(pl.col("cpu") >= CLUSTER_CPUS_MAX),
        f"the row with seq {{seq}} names CPU {{cpu}}, and at most {CLUSTER_CPUS_MAX} are modelled",
        "choose a trace of fewer",
        field="cpu",
    )
    return rows


def _check_devices(devices: pl.DataFrame) -> None:
    """Require the devices that one kernel can have."""
    numbers = devices["device"].to_list()
    if numbers != [*range(devices.height)] or not 1 <= devices.height <= CLUSTER_DEVICES_MAX:
        raise InputError(
            f"cluster_devices has the devices {numbers} and not [0, 1, ...]: record again, with "
            "all devices switched on within the recording",
            field="device",
        )
    require_values(devices, devices.columns)
    for name in ("cluster_size", "rules"):
        if devices[name].n_unique() > 1:
            raise InputError(
                f"cluster_devices has two values where one kernel has one: {AGAIN}", field=name
            )
    highest = min(CLUSTER_SLOTS_MAX, _SLOTS_OF_ALL // devices.height)
    half, full = CLUSTER_SIZE_MAX // 2, CLUSTER_SIZE_MAX
    for field, is_possible, words in (
        ("slots", pl.col("slots").is_between(2, highest), f"2 to {highest}"),
        (
            "cluster_size",
            pl.col("cluster_size").is_in([half, full]),
            f"clusters of {half} and {full}",
        ),
    ):
        refuse(
            devices.filter(~is_possible),
            f"device {{device}} of cluster_devices has {{{field}}} slots ({words} are modelled)",
            field=field,
        )
