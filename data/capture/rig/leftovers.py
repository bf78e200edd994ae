# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run on a kernel with debug checks left behind, and the messages of the kernel."""

import re
from collections.abc import Mapping
from typing import Final

from rig import counts
from rig.counts import Metrics

_COMPLAINT: Final = re.compile(r"WARNING|BUG|INFO: |DEADLOCK|corruption|Oops|Call Trace")


def read(report: Mapping[str, str]) -> Metrics:
    """Say what a run left behind, and how many lines of complaint the kernel wrote."""
    ends = dict(line.split() for line in report["left ends"].splitlines())
    begin, end = (_meminfo(report[f"left meminfo-{when}"]) for when in ("begin", "end"))
    counters = counts.vmstat(report["left vmstat-end"])
    isolated = counters["nr_isolated_anon"] + counters["nr_isolated_file"]
    unwritten = counters["nr_dirty"] + counters["nr_writeback"]
    return {
        "complaints of the kernel": (len(_COMPLAINT.findall(report["left messages"])), "1"),
        "swapoff failed": (int(ends["swapoff"]), "1"),
        "unmount failed": (int(ends["unmount"]), "1"),
        "slab left behind": (end["Slab"] - begin["Slab"], "KiB"),
        "memory left behind": (begin["MemFree"] - end["MemFree"], "KiB"),
        "pages left isolated": (isolated, "page"),
        "pages left dirty or in writeback": (unwritten, "page"),
    }


def _meminfo(text: str) -> dict[str, int]:
    """Read /proc/meminfo, in KiB."""
    lines = (line.split() for line in text.splitlines())
    return {name.rstrip(":"): int(value) for name, value, *_ in lines}
