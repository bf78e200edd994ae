# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's second test by its server: who is asked about, and what is told of a run."""

from typing import Any

import pytest

from swapsim import reclaim
from swapsim.patches.stall_decisions import over_nfs
from swapsim.patches.stall_decisions.tables import SIMULATED_SERVERS
from swapsim.patches.stall_decisions.worlds import Run


def test_each_server_is_asked_about_with_and_without_patch_8() -> None:
    """All pairs of rates, by the mail's three kernels and by the series before its last patch."""
    found = over_nfs.servers()
    assert len(found) == len(set(found)) == 3 * 3 * 4 * len(over_nfs.SEEDS)
    assert {server.rules for server in found} == {"3.9", "mmotm", "series-7", "series-8"}


def test_a_run_over_nfs_tells_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates are the world's constants; one row per figure."""
    seen: list[Run] = []

    def small(run: Run) -> Any:
        seen.append(run)
        config, found = run.world()
        return reclaim.run(reclaim.shrink(config, 1 / 128), found)

    monkeypatch.setattr(over_nfs, "watched", small)
    table = over_nfs.run_with(over_nfs.Server(45, 60, "series-8", 1))
    assert seen[0].target == "nfs"
    assert seen[0].constants == {"net_rate": 45 * 256, "server_rate": 60 * 256}
    assert table.schema == SIMULATED_SERVERS.schema
    assert set(over_nfs.ROWS) - set(table["metric"]) == {
        "Ops memcachetest-4055M",
        "Ops io-duration-4055M",
    }
