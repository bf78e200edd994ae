# SPDX-License-Identifier: GPL-2.0-or-later
"""From a captured text to a trace folder with its provenance."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from rig import clusters, generations, guest, reclaim, removals, slots
from rig.boot import Run
from rig.collect import Captured, sha256
from rig.errors import CaptureError
from rig.kernel import Kernel, extract_types
from rig.kernel import sources as kernel_sources
from rig.packages import Package
from rig.workload import HOME, Newer, Workload
from swapsim import traces
from swapsim.errors import SwapsimError
from swapsim.traces.probes import read_btf, sizes_of

# The kernel's own counters over the run, for comparison with a replay's counts.
COUNTERS = (
    "pswpin",
    "pswpout",
    "nr_vmscan_write",
    "nr_vmscan_immediate_reclaim",
    "nr_throttled_written",
    "nr_dirtied",
    "nr_written",
    "pgscan_kswapd",
    "pgscan_direct",
    "pgsteal_kswapd",
    "pgsteal_direct",
    "pgscan_anon",
    "pgscan_file",
    "pgmigrate_success",
)


def import_trace(
    workload: Workload, kernel: Kernel, busybox: Package, run: Run, captured: Captured, output: Path
) -> pl.DataFrame:
    """Replace the trace folder `output` by this run's, atomically; return its rows by event."""
    unfinished = output.with_name(f".{output.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        summary = traces.import_text(
            captured.text,
            unfinished,
            provenance=_provenance(workload, kernel, busybox, run, captured),
            joined=_joined(workload),
        )
        clusters.compress(unfinished)
        slots.tabulate(unfinished)
        removals.tabulate(unfinished)
        reclaim.tabulate(unfinished)
        traces.sign(unfinished)
        if output.exists():
            shutil.rmtree(output)
        unfinished.rename(output)
    except SwapsimError as error:
        raise CaptureError(f"{workload.name}: the text cannot be imported: {error}") from error
    except OSError as error:
        raise CaptureError(f"{output}: cannot be written: {error.strerror}") from error
    return summary.events


def _joined(workload: Workload) -> list[traces.JoinedEvents]:
    """Return the events of stock 6.12 and 7.3 that make tables together."""
    if workload.newer is None:
        return []
    kinds = {group.partition("-")[0] for group in workload.recording.groups}
    return [generations.JOINED[kind] for kind in generations.JOINED if kind in kinds] or [
        clusters.JOINED
    ]


def slot_events(text: Path, folder: Path) -> pl.DataFrame:
    """Read the slot events of a captured text; the folder serves meanwhile."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        traces.import_text(text, folder)
    except SwapsimError as error:
        raise CaptureError(f"{text}: cannot be imported: {error}") from error
    slots.tabulate(folder)
    traces.sign(folder)
    return traces.slot_events(folder)


def _provenance(
    workload: Workload, kernel: Kernel, busybox: Package, run: Run, captured: Captured
) -> dict[str, dict[str, Any]]:
    report = captured.report
    return {
        "capture": {
            "command": f"python data/capture/capture.py {workload.name} -o data/traces",
            "date": datetime.now(UTC).date().isoformat(),
            "emulator": run.emulator_version,
            "busybox": f"{busybox.name} {busybox.version}",
        },
        "kernel": {
            "release": report["kernel"].splitlines()[0],
            **kernel.described,
            "command_line": report["command-line"],
        },
        "workload": {
            "name": workload.name,
            "title": workload.title,
            "commands": list(workload.commands),
            "cgroup_commands": list(workload.cgroup_commands),
            "stopped": report["stopped"] or "at its own end",
            "output": report["output"].splitlines(),
        },
        "guest": guest_table(workload),
        **_head(workload, kernel, captured.text.parent),
        "recording": {
            "clock": workload.recording.clock,
            "buffer_kibibytes_per_cpu": workload.recording.buffer_kibibytes_per_cpu,
            "events": sorted(report["events"].splitlines()),
            "also_in_a_second_instance": list(workload.recording.also),
            "probes": report["probes"].splitlines(),
            "probe_misses": captured.probe_misses,
            "lost_events_by_cpu": _text_keys(captured.lost_events),
        },
        "counters": _counters(report),
        "sources": {os.path.relpath(path, HOME): sha256(path) for path in sources(workload)},
    }


def _head(workload: Workload, kernel: Kernel, work: Path) -> dict[str, dict[str, Any]]:
    """Say what the script of `swapsim probes` writes as a text's head."""
    if workload.newer is None:
        return {}
    kernel_btf = read_btf(extract_types(kernel.image, work))
    return {"head": {"clock": workload.recording.clock, **sizes_of(kernel_btf)}}


def sources(workload: Workload) -> list[Path]:
    """Return our files that a trace depends on."""
    return [*guest.sources(workload), *kernel_sources(workload.switches)]


def guest_table(workload: Workload) -> dict[str, Any]:
    """Say what machine the guest was."""
    return {
        "cpus": workload.cpus,
        "memory_mebibytes": workload.memory_mebibytes,
        **({"low_mebibytes": workload.low_mebibytes} if workload.low_mebibytes else {}),
        "numa_nodes": workload.switches.numa_nodes if workload.switches else 1,
        "sysctl": workload.sysctl,
        **({"instruction_ns": workload.instruction_ns} if workload.instruction_ns else {}),
        **_devices(workload),
    }


def _devices(workload: Workload) -> dict[str, Any]:
    devices: dict[str, Any] = {}
    if workload.cgroup_memory_max_mebibytes:
        devices["cgroup_memory_max_mebibytes"] = workload.cgroup_memory_max_mebibytes
    if workload.swap:
        devices["swap"] = {
            "device": workload.swap.device,
            "mebibytes": workload.swap.mebibytes,
            "rotational": workload.swap.rotational,
            "write_bytes_per_second": workload.swap.write_bytes_per_second,
            "filled": workload.swap.filled,
        }
    if workload.newer:
        devices |= _cluster_devices(workload.newer)
    if workload.switches and workload.switches.slow_disk:
        devices["slow_disk"] = asdict(workload.switches.slow_disk)
    if workload.switches and workload.switches.server_disk:
        devices["server_disk"] = asdict(workload.switches.server_disk)
    if workload.switches and workload.switches.nfs:
        devices["nfs"] = asdict(workload.switches.nfs)
    devices["file_systems"] = [
        {
            "mount": system.mount,
            "type": "ext4",
            "device": "virtio",
            "mebibytes": system.mebibytes,
            "write_bytes_per_second": system.write_bytes_per_second,
        }
        for system in workload.file_systems
    ]
    return devices


def _cluster_devices(newer: Newer) -> dict[str, Any]:
    """Return the settings of each device; the kernel chooses a priority that is not given."""
    return {
        "multigen_lru": newer.multigen_lru,
        "huge_page_orders": list(newer.huge_page_orders),
        "swap_devices": [
            {field: value for field, value in asdict(device).items() if value not in (None, "")}
            for device in newer.devices
        ],
    }


def _counters(report: dict[str, str]) -> dict[str, int]:
    """How far the kernel's counters moved during the run."""
    before, after = (
        {name: int(value) for name, value in map(str.split, report[section].splitlines())}
        for section in ("vmstat-before", "vmstat-after")
    )
    return {name: after[name] - before[name] for name in COUNTERS if name in after}


def _text_keys(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(key): count for key, count in counts.items()}
