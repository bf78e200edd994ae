# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison with a kernel notices when a rule of its allocator is the other one."""

from collections import defaultdict
from pathlib import Path

import pytest
from clusters_in_c import ReplayInC
from oracle_clusters import RULES, DeviceConfig, Rules

from swapsim._core import lib
from swapsim.clusters import ClusterRows, cluster_rows
from swapsim.clusters._native import columns_of
from swapsim.io.paths import shipped_traces

TRACES = [path for name, path in shipped_traces().items() if name.startswith("clusters-")]
SHARED = {
    "checks_own",
    "discards_in_device",
    "frag_all",
    "full_before_frag",
    "large_from_free_only",
    "nonfull_first",
    "turns_each_call",
}
NOTICED = {"6.12": SHARED | {"columns", "shared_next"}, "7.3": SHARED | {"trylock"}}
"""The switches that decide a row of at least one shipped trace of a kernel.

The others have no effect there: credit_first and slot_cache only change when slots are counted,
global_next is for rotational devices, isolates changes which rows exist; ends_at_device needs a
device that ends within a cluster, columns (7.3) one of more than 64 MB, and 7.3 with a next slot
for each device behaves as with one for all.
"""


def agrees(rows: ClusterRows, rules: Rules) -> bool:
    """Return whether all rows of a trace follow from a row of switches."""
    devices = [DeviceConfig(**device) for device in rows.devices.select(FIELDS).to_dicts()]
    replay = ReplayInC(rules, devices, cluster_size=rows.cluster_size, cpus=rows.cpus)
    columns, _arrays = columns_of(rows.events)
    code = lib.sws_cluster_replay_feed(replay.handle, columns, rows.events.height)
    return bool(code == lib.SWS_OK) and replay.first_mismatch() is None


FIELDS = ("slots", "priority", "file", "rotational", "discard")


@pytest.fixture(scope="module")
def noticed() -> dict[str, set[str]]:
    """Return the switches that at least one trace of a kernel notices."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for rows in map(cluster_rows, TRACES):
        rules = RULES[rows.rules]
        assert agrees(rows, rules)
        rotational = bool(rows.devices["rotational"].any())
        for name in NOTICED["6.12"] | NOTICED["7.3"]:
            changed = Rules(**{**vars(rules), name: not getattr(rules, name)})
            if not (rotational and not changed.global_next) and not agrees(rows, changed):
                found[rows.rules].add(name)
    return found


@pytest.mark.parametrize("kernel", sorted(NOTICED))
def test_the_shipped_traces_notice_another_rule(kernel: str, noticed: dict[str, set[str]]) -> None:
    """A switch that is the other way round contradicts a trace of each kernel."""
    assert noticed[kernel] >= NOTICED[kernel]


def test_there_are_traces_of_both_kernels() -> None:
    """Both kernels have at least four traces."""
    kernels = [Path(path).name.split("-")[1] for path in TRACES]
    assert min(kernels.count("6.12"), kernels.count("7.3")) >= 4
