# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison with a kernel notices when a rule of its allocator is the other one."""

from collections import defaultdict

import pytest
from clusters_in_c import ReplayInC
from oracle_clusters import RULES, DeviceConfig, Rules

from swapsim._core import lib
from swapsim.clusters._native import columns_of
from swapsim.clusters.events import ClusterRows, cluster_rows
from swapsim.io import shipped_traces

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
NOTICED = {
    "6.12": SHARED | {"columns", "shared_next"},
    "7.3": SHARED | {"columns", "ends_at_device", "trylock"},
}
"""The switches that at least one shipped trace of a kernel notices.

The others have no effect there: credit_first and slot_cache only change when slots are counted,
global_next is for rotational devices, isolates changes which rows exist; ends_at_device (6.12)
needs a device that ends within a cluster, and 7.3 with a next slot for each device behaves as with
one for all.
"""


def helped(rows: ClusterRows, rules: Rules) -> int | None:
    """Return how many picks the trace had to decide under a row of switches; None: rows contradict.

    A list of 7.3 yields the first cluster whose lock is free. Clusters listed in a wrong order look
    like clusters whose locks are not, so each of them needs the trace's help.
    """
    devices = [DeviceConfig(**device) for device in rows.devices.select(FIELDS).to_dicts()]
    replay = ReplayInC(rules, devices, cluster_size=rows.cluster_size, cpus=rows.cpus)
    columns = columns_of(rows.events)
    code = lib.sws_cluster_replay_feed(replay.handle, columns, rows.events.height)
    if code != lib.SWS_OK or replay.first_mismatch() is not None:
        return None
    return replay.totals().get("taken_yields", 0)


FIELDS = ("slots", "priority", "file", "rotational", "discard")


@pytest.fixture(scope="module")
def noticed() -> dict[str, set[str]]:
    """Return the switches that at least one trace of a kernel notices."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for rows in map(cluster_rows, TRACES):
        rules = RULES[rows.rules]
        help_now = helped(rows, rules)
        assert help_now is not None
        rotational = bool(rows.devices["rotational"].any())
        for name in NOTICED["6.12"] | NOTICED["7.3"]:
            changed = Rules(**{**vars(rules), name: not getattr(rules, name)})
            if rotational and not changed.global_next:
                continue
            help_then = helped(rows, changed)
            if help_then is None or help_then > help_now:
                found[rows.rules].add(name)
    return found


@pytest.mark.parametrize("kernel", sorted(NOTICED))
def test_the_shipped_traces_notice_another_rule(kernel: str, noticed: dict[str, set[str]]) -> None:
    """A switch the other way round contradicts a trace of each kernel, or needs more help."""
    assert noticed[kernel] >= NOTICED[kernel]
