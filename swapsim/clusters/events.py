# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's cluster allocator, read with a check of each row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.checks import checked
from swapsim.clusters._native_limits import DEVICES_MAX, SIZE_MAX, SLOTS_MAX
from swapsim.clusters.tables import CLUSTER_DEVICES, CLUSTER_EVENTS
from swapsim.errors import InputError, errors_of
from swapsim.ffi import CLUSTER_CPUS_MAX
from swapsim.frames.files import require_values
from swapsim.traces import provenance, read_event, require_events, require_order

_SLOTS_OF_ALL: Final = 2**32 - 2  # most slots of all devices (``cluster_what_if.h``)
_HEAD: Final = ("seq", "cpu", "pid", "op")

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


@checked
def cluster_rows(folder: Path | str) -> ClusterRows:
    """Read the events and devices of a trace folder of a cluster allocator.

    InputError: a table is missing, the recording lost events, or as for `check_cluster_rows`.
    """
    require_events(folder, "clusters")
    for lost in _losses(provenance(folder)):
        raise InputError(
            f"the recording {lost}, and a replay needs each event: record again with larger "
            "buffers",
            path=folder,
        )
    fields = [name for name in CLUSTER_EVENTS.schema if name not in _HEAD]
    events = read_event(folder, "cluster_events", CLUSTER_EVENTS.schema, may_be_null=fields)
    devices = read_event(folder, "cluster_devices", CLUSTER_DEVICES.schema)
    with errors_of(folder):
        return check_cluster_rows(ClusterRows(events=events, devices=devices))


def _losses(origin: Mapping[str, Any]) -> Iterator[str]:
    """Yield a description of each loss in trace.toml, found by the import or by the rig."""
    lost, recording = (
        table if isinstance(table := origin.get(name), Mapping) else {}
        for name in ("lost", "recording")
    )
    by_cpu = {"lost": lost.get("events_by_cpu"), "at": recording.get("lost_events_by_cpu")}
    for counts in by_cpu.values():
        for cpu, count in counts.items() if isinstance(counts, Mapping) else ():
            if count:
                yield f"lost {count} events of CPU {cpu}"
    if lost.get("gaps_of_unknown_size"):
        yield f"has {lost['gaps_of_unknown_size']} losses of unknown size"
    if lost.get("overwritten"):
        yield f"overwrote {lost['overwritten']} events before its first row"
    missed = recording.get("probe_misses")
    for probe, count in missed.items() if isinstance(missed, Mapping) else ():
        if count:
            yield f"missed {count} events of the probe {probe}"


def check_cluster_rows(rows: ClusterRows) -> ClusterRows:
    """Return the rows if each value of both tables is possible; an error names table and row.

    The replay finds rows that contradict earlier ones, such as a free of a free slot.
    """
    _check_devices(CLUSTER_DEVICES.check(rows.devices))
    events = CLUSTER_EVENTS.check(rows.events)
    if events.is_empty():
        raise InputError("cluster_events has no rows: record a workload that swaps")
    require_values(events, list(_HEAD))
    require_order(events)
    lacking = pl.coalesce(
        pl.when((pl.col("op") == op) & pl.col(name).is_null()).then(pl.lit(name))
        for op, names in OP_FIELDS.items()
        for name in names
        if name not in _MAY_LACK.get(op, ())
    )
    faulty = events.with_columns(lacking=lacking).filter(pl.col("lacking").is_not_null())
    for row in faulty.head(1).iter_rows(named=True):
        raise InputError(
            f"the row with seq {row['seq']} of cluster_events has no value, and its op {row['op']} "
            "needs one: record again",
            field=row["lacking"],
        )
    beyond = events.filter(pl.col("cpu") >= CLUSTER_CPUS_MAX)
    for row in beyond.head(1).iter_rows(named=True):
        raise InputError(
            f"the row with seq {row['seq']} of cluster_events names CPU {row['cpu']}: at most "
            f"{CLUSTER_CPUS_MAX} are modelled; choose a trace of fewer",
            field="cpu",
        )
    return rows


def _check_devices(devices: pl.DataFrame) -> None:
    """Require the devices that one kernel can have."""
    numbers = devices["device"].to_list()
    if numbers != [*range(devices.height)] or not 1 <= devices.height <= DEVICES_MAX:
        raise InputError(
            f"cluster_devices has the devices {numbers} and not [0, 1, ...]: record again, with "
            "all devices switched on within the recording",
            field="device",
        )
    require_values(devices, devices.columns)
    for name in ("cluster_size", "rules"):
        if devices[name].n_unique() > 1:
            raise InputError(
                "cluster_devices has two values where one kernel has one: import the text again",
                field=name,
            )
    highest = min(SLOTS_MAX, _SLOTS_OF_ALL // devices.height)
    outside = devices.filter(~pl.col("slots").is_between(2, highest))
    for row in outside.head(1).iter_rows(named=True):
        raise InputError(
            f"device {row['device']} of cluster_devices has {row['slots']} slots: 2 to {highest} "
            "are modelled; import the text again",
            field="slots",
        )
    if devices["cluster_size"][0] not in (SIZE_MAX // 2, SIZE_MAX):
        raise InputError(
            f"cluster_devices has clusters of {devices['cluster_size'][0]} slots: "
            f"{SIZE_MAX // 2} and {SIZE_MAX} are modelled; import the text again",
            field="cluster_size",
        )
