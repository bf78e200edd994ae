# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments on stock 6.12 and 7.3: descriptions, what is read of a run, and stored tables."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from swapsim import claims
from swapsim.io.paths import data_root

CAPTURE = data_root() / "capture"
EVENTS = tomllib.loads((CAPTURE / "newer" / "events.toml").read_text(encoding="utf-8"))
TURNOVER = "large-folios-turnover"
KERNEL_TEST = "large-folios-kernel-test"
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


def output(rig: SimpleNamespace, folder: Path, text: str) -> object:
    """Return a captured run whose programs printed a text."""
    return captured(rig, folder, [], output=text)


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


def test_lines_of_the_kernels_test_are_read(rig: SimpleNamespace, tmp_path: Path) -> None:
    """Each line is a row; metrics count from the first iteration that is asked for."""
    lines = "".join(
        f"Iteration {i}: swpout inc: {90 + i}, swpout fallback inc: {i}, Fallback percentage: 1%\n"
        for i in (1, 2, 3)
    )
    metrics, rows = rig.large_folios.read(output(rig, tmp_path, lines), tmp_path, 2)
    assert rows == [[1, 4, 91, 1], [2, 4, 92, 2], [3, 4, 93, 3]]
    assert metrics["swpout 64K"] == (185, "folio")
    assert metrics["swpout_fallback 64K"] == (5, "folio")
    assert metrics["fallback share 64K"] == (pytest.approx(100 * 5 / 190), "%")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "printed no counters"),
        ("iteration 1 order 9 swpout 0 fallback 0\n", "no folio of order 9"),
        (
            "iteration 1 order 9 swpout 1 fallback 0\norder 9 allocated 5 fallback 2\n",
            "2 folios of order 9 were not allocated",
        ),
    ],
)
def test_a_test_without_its_folios_is_refused(
    text: str, message: str, rig: SimpleNamespace, tmp_path: Path
) -> None:
    """What was not swapped, or not allocated as was wanted, is no result."""
    with pytest.raises(rig.errors.GuestError, match=message):
        rig.large_folios.read(output(rig, tmp_path, text), tmp_path, 0)


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
        captured(rig, tmp_path, lines, **counters(pswpout=32)), tmp_path, 0
    )
    # list, pid, cpu, folios, slots, clusters, runs, trunks
    assert rows == [[1, 5, 0, 3, 3, 2, 3, 1], [3, 6, 0, 1, 16, 1, 1, 1]]
    assert metrics["lists"] == (2, "list")
    assert metrics["clusters of lists"] == (3, "1")
    assert metrics["writeback starts"] == (2 / 32, "1/page")
    assert metrics["pages of writeback ends"] == (0.5, "1/page")
    with pytest.raises(rig.errors.GuestError, match="no page was swapped out"):
        rig.removal_lists.read(captured(rig, tmp_path, lines, **counters(pswpout=0)), tmp_path, 0)


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
    metrics, rows = rig.reclaim_decisions.read(
        captured(rig, tmp_path, lines, **report), tmp_path, 0
    )
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


def test_a_turnover_replaces_what_it_unmaps(rig: SimpleNamespace) -> None:
    """Each process has its memory mapped at each end of an iteration, and acts on that alone."""
    requests = rig.large_folios.requests(rig.experiment.load(TURNOVER).workload)
    assert set(requests["order"]) == {0, 3, 4, 5, 6, 7, 9}
    assert set(requests["iteration"]) == {*range(61)}
    for (process,), own in requests.partition_by("process", as_dict=True).items():
        mapped: dict[tuple[int, int], int] = {}
        iteration = 0
        for _, now, op, order, chunk, page in own.iter_rows():
            pages = 1 << order if order else 16
            if now != iteration:
                assert 5120 <= sum(mapped.values()) < 5120 + 512, process
                iteration = now
            assert page < pages
            assert ((order, chunk) in mapped) == (op != "map")
            if op == "map":
                mapped[order, chunk] = pages
            elif op == "unmap":
                del mapped[order, chunk]


@pytest.mark.parametrize("name", [KERNEL_TEST, TURNOVER])
def test_stored_counters_are_those_of_the_results(name: str, rig: SimpleNamespace) -> None:
    """Iterations add up to each run's metrics, and each run has all of them for each size."""
    described = rig.experiment.load(name)
    run = ["kernel", "policy", "seed"]
    folios = claims.measured_table(name, "folios")
    runs = claims.measured_results(name).pivot(on="metric", index=run, values="value")
    assert {f"{kernel} {policy}" for kernel, policy in runs.select("kernel", "policy").rows()} == {
        *described.values
    }
    counted = folios.filter(pl.col("iteration") >= described.first_iteration)
    for (*labels, order), rows in counted.group_by(*run, "order"):
        size = f"{4 << order}K" if order < 8 else f"{4 << order >> 10}M"
        mine = runs.filter(
            (pl.col(column) == label for column, label in zip(run, labels, strict=True))
        )
        for counter in ("swpout", "swpout_fallback"):
            assert mine[f"{counter} {size}"].item() == rows[counter].sum()
    per_run = folios.group_by(*run, "order").agg(pl.len(), last=pl.col("iteration").max())
    assert per_run["len"].n_unique() == 1
    assert per_run["last"].n_unique() == 1


def test_the_stored_requests_are_those_of_the_program(rig: SimpleNamespace) -> None:
    """The stream that the model takes is the program's today."""
    requests = rig.large_folios.requests(rig.experiment.load(TURNOVER).workload)
    assert claims.measured_requests(TURNOVER).equals(requests)
