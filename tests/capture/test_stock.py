# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments on stock 6.12 and 7.3: descriptions, and what is read of a run."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from swapsim.io import data_root

CAPTURE = data_root() / "capture"
EVENTS = tomllib.loads((CAPTURE / "newer" / "events.toml").read_text(encoding="utf-8"))
LISTS = "removal-lists-newer"


def captured(rig: SimpleNamespace, folder: Path, lines: list[str], **report: str) -> object:
    """Return a captured run with a text of events, numbered by the clock, and a report."""
    text = folder / "t.txt"
    rows = [
        f"  {who} [000] ..... {i}: {event}"
        for i, line in enumerate(lines)
        for who, _, event in [line.partition(" ")]
    ]
    text.write_text("# tracer: nop\n" + "".join(f"{row}\n" for row in rows))
    return rig.collect.Captured(
        text=text, text_sha256="", report=report, lost_events={}, probe_misses={}
    )


def counters(**moved: int) -> dict[str, str]:
    """Return the sections of /proc/vmstat before and after a run."""
    return {
        "vmstat-before": "".join(f"{name} 7\n" for name in moved),
        "vmstat-after": "".join(f"{name} {7 + by}\n" for name, by in moved.items()),
    }


def test_each_value_is_a_kernel_in_a_setting(rig: SimpleNamespace) -> None:
    """Settings replace fields of the workload, and probes are those of the kernel."""
    described = rig.experiment.load(LISTS)
    assert len(described.values) == 10
    for value in described.values:
        kernel, _, setting = value.partition(" ")
        workload = described.counted(value)
        assert workload.newer.kernel == kernel
        assert workload.newer.multigen_lru == ("generations" in setting)
        assert workload.newer.huge_page_orders == ((4,) if "64K" in setting else ())
        assert f"{workload.cpus} CPU" in setting
        version = kernel.replace(".", "_")
        assert workload.recording.groups == (f"removal-lists-{version}",)
        assert workload.recording.probes == tuple(EVENTS[f"removal-lists-{version}"]["probes"])
        assert CAPTURE / "newer" / "events.toml" in rig.guest.sources(workload)


def removal(slot: int, *, order: int | None = None) -> str:
    """Return a row of a folio that leaves the swap cache."""
    flags, size = ("0x0", "0x0") if order is None else ("0x40", hex(0xFF00 + order))
    return f"list_removal: (f+0x1/0x2) entry={slot:#x} flags={flags} size={size}"


def test_removals_are_counted_by_list_and_cluster(rig: SimpleNamespace, tmp_path: Path) -> None:
    """A list is the last that its task began; one without folios has no row."""
    begin = "list_begin: (f+0x1/0x2)"
    wb = "(f+0x1/0x2) mapping={} flags={} size={}"
    lines = [
        f"a-5 {removal(9)}",
        f"a-5 {begin}",
        f"a-5 {removal(3)}",
        f"b-6 {begin}",
        f"b-6 {begin}",
        f"b-6 {removal(1 << 20, order=4)}",
        f"a-5 {removal(600)}",
        f"a-5 {removal(4)}",
        f"a-5 wb_start: {wb.format('0xffff888000000001', '0x40', '0x4')}",
        f"a-5 wb_start: {wb.format('0xffff888000000000', '0x0', '0x0')}",
        f"a-5 wb_start: {wb.format('0x0', '0x0', '0x0')}",
        f"a-5 wb_end: {wb.format('0xffff888000000001', '0x40', '0x4')}",
    ]
    metrics, rows = rig.removal_lists.read(
        captured(rig, tmp_path, lines, **counters(pswpout=32)), tmp_path
    )
    # list, pid, cpu, folios, slots, clusters, runs, trunks
    assert rows == [[1, 5, 0, 3, 3, 2, 3, 1], [3, 6, 0, 1, 16, 1, 1, 1]]
    assert metrics["lists"] == (2, "list")
    assert metrics["clusters of lists"] == (3, "1")
    assert metrics["writeback starts"] == (2 / 32, "1/page")
    assert metrics["pages of writeback ends"] == (0.5, "1/page")
    with pytest.raises(rig.errors.GuestError, match="no page was swapped out"):
        rig.removal_lists.read(captured(rig, tmp_path, lines, **counters(pswpout=0)), tmp_path)


def test_decisions_are_counted_by_reclaimer(rig: SimpleNamespace, tmp_path: Path) -> None:
    """A throttle belongs to its task's last pass; a pass without a decision is no deciding one."""
    node = "node_pass: (f+0x1/0x2) memcg={} node_flags={}"
    decided = "node_decided: (f+0x1/0x2) tree={}"
    throttle = "throttle: (f+0x1/0x2) reason={}"
    lines = [
        f"a-5 {throttle.format(2)}",
        f"kswapd0-4 {node.format('0x0', '0x2')}",
        f"kswapd0-4 {decided.format('1')}",
        f"kswapd0-4 {decided.format('0')}",
        f"kswapd0-4 {throttle.format(0)}",
        "kswapd0-4 mm_vmscan_throttled: nid=0 usec_timeout=100000 usect_delayed=9 "
        "reason=VMSCAN_THROTTLE_WRITEBACK",
        f"a-5 {node.format('0x0', '0x0')}",
        f"a-5 {throttle.format(3)}",
        f"a-5 {node.format('0xffff888000000000', '0x0')}",
        f"a-5 {throttle.format(3)}",
        "a-5 flushers_woken: (f+0x1/0x2) reason=1",
    ]
    names = rig.reclaim_decisions._COUNTERS
    report = {**counters(**dict.fromkeys(names, 1)), "kernel": "6.12.117+deb12-cloud-amd64\n"}
    metrics, rows = rig.reclaim_decisions.read(captured(rig, tmp_path, lines, **report), tmp_path)
    assert rows == []
    found = {name: value for name, (value, _) in metrics.items() if value and name not in names}
    assert found == {
        "passes kswapd": 1,
        "passes that decide kswapd": 1,
        "passes flagged WRITEBACK kswapd": 1,
        "throttles WRITEBACK kswapd": 1,
        "stalls WRITEBACK kswapd": 1,
        "passes direct": 1,
        "throttles CONGESTED direct": 1,
        "passes cgroup": 1,
        "throttles CONGESTED cgroup": 1,
        "flushers woken cgroup": 1,
    }
