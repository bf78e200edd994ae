# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's switches, descriptions and counters are consistent; no kernel is booted."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from swapsim.io import data_root, shipped_traces
from swapsim.removal import REMOVALS

CAPTURE = data_root() / "capture"
PATCHES = data_root().parent / "patches"
SEMANTIC_PATCHES = sorted([*PATCHES.glob("*/switch.cocci"), *(CAPTURE / "lab").rglob("*.cocci")])
REMOVAL_TRACES = {
    name: folder for name, folder in shipped_traces().items() if name.startswith("removals-")
}


def lock_stat_line(name: str, *numbers: float) -> str:
    """Return a line of /proc/lock_stat: contention, waits, acquisitions, holds."""
    return f"{name + ':':>40} " + " ".join(f"{number:>14}" for number in numbers) + " \n"


LOCK_STAT = "".join(
    [
        "lock_stat version 0.4\n",
        lock_stat_line("swap_cache", 10, 20, 0.5, 90.0, 400.0, 20.0, 60, 300, 0.1, 7.0, 500.0, 1.7),
        "          swap_cache             12          [<ffffffff811>] add_to_swap_cache+0x9a\n",
        lock_stat_line("&cache->free_lock", 0, 0, 0.0, 0.0, 0.0, 0.0, 5, 100, 0.1, 1.0, 20.0, 0.2),
        lock_stat_line("swap_cluster", 0, 0, 0.0, 0.0, 0.0, 0.0, 5, 100, 0.1, 1.0, 20.0, 0.2),
        lock_stat_line("swap_cluster#2/1", 0, 0, 0.0, 0.0, 0.0, 0.0, 5, 50, 0.1, 1.0, 20.0, 0.2),
        lock_stat_line("another::lock", 0, 0, 0.0, 0.0, 0.0, 0.0, 5, 100, 0.1, 1.0, 20.0, 0.2),
    ]
)
LOCK_SITES = """\
# event histogram
{ name: swap_cache                          , stacktrace:
         lock_acquire+0x8c/0x2f0
         _raw_spin_lock_irq+0x3b/0x50
         add_to_swap_cache+0x9a/0x220
         add_to_swap+0x32/0x90
} hitcount:        150
{ name: swap_device                         , stacktrace:
         lock_acquire+0x8c/0x2f0
         _raw_spin_lock+0x2b/0x40
         get_swap_pages+0x77/0x700
} hitcount:         50

Totals:
    Hits: 200
    Entries: 2
    Dropped: 0
"""


@pytest.mark.parametrize(
    "patch", SEMANTIC_PATCHES, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_a_semantic_patch_parses(patch: Path) -> None:
    """Coccinelle reads each semantic patch without an error."""
    spatch = shutil.which("spatch")
    if spatch is None:
        pytest.skip("spatch is not here (Debian: coccinelle)")
    command = [spatch, "--parse-cocci", str(patch)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_of_a_ledger_differ_by_what_they_lack(rig: SimpleNamespace) -> None:
    """Huge pages are in all of them; the switches are 6.1's, and only its boot takes them."""
    described = rig.experiment.load("lock-ledger-newer-brd")
    counted = {value: described.counted(value) for value in described.values}
    lines = {
        value: set(rig.kernel._configuration(load.switches).splitlines())
        for value, load in counted.items()
    }
    assert all("CONFIG_TRANSPARENT_HUGEPAGE=y" in found for found in lines.values())
    assert lines["6.1"] - lines["6.12"] == {"CONFIG_SWAP_ADDRESS_SPACE_SHIFT=14"}
    assert lines["6.12"] - lines["7.3"] == rig.kernel.SOURCES["7.3"].without
    for value, load in counted.items():
        parameters = rig.boot.kernel_parameters(load)
        assert ("swap_base=percpu-rerandomise" in parameters) == (value == "6.1")
        assert "transparent_hugepage=never" in parameters


def test_a_semantic_patch_that_does_not_fit_is_refused(
    rig: SimpleNamespace, tmp_path: Path
) -> None:
    """On another kernel's text the build stops, and the message names the patch."""
    if shutil.which("spatch") is None:
        pytest.skip("spatch is not here (Debian: coccinelle)")
    patch = PATCHES / "01-writeback-tags" / "switch.cocci"
    (tmp_path / "swap_state.c").write_text("int another_function(void) { return 0; }\n")
    with pytest.raises(rig.kernel.CaptureError, match=r"01-writeback-tags.* does not fit"):
        rig.kernel.apply(patch, tmp_path, ["swap_state.c"])


def test_a_compiled_option_is_another_kernel_and_a_boot_switch_is_not(rig: SimpleNamespace) -> None:
    """Trunk size, size of nodes, NUMA and debug checks are compiled; base and batches are not."""

    def configuration(switches: object) -> str:
        return str(rig.kernel._configuration(switches))

    base = rig.workload.load("slots-8-shared").switches
    assert configuration(rig.workload.load("slots-8-percpu").switches) == configuration(base)
    trunk = configuration(rig.workload.load("slots-8-many-trunks").switches)
    assert "CONFIG_SWAP_ADDRESS_SPACE_SHIFT=10\n" in trunk
    assert "CONFIG_SWAP_ADDRESS_SPACE_SHIFT=10\n" not in configuration(base)
    for name, is_full in (("tree-nodes", True), ("tree-nodes-small-nodes", False)):
        nodes = configuration(rig.experiment.load(name).workload.switches)
        assert ("CONFIG_BASE_FULL=y\n" in nodes) == is_full
    described = rig.experiment.load("batched-removal-checks")
    off, on = (configuration(described.counted(value).switches) for value in described.values)
    assert off == on
    assert "CONFIG_PROVE_LOCKING=y\n" in on


def test_lock_statistics_become_metrics_per_page(rig: SimpleNamespace) -> None:
    """Each column of a lock of the ledger is divided by the pages swapped out."""
    report = {
        "marked vmstat-begin": "pswpin 5\npswpout 100",
        "marked vmstat-end": "pswpin 10\npswpout 200",
        "marked lock-stat": LOCK_STAT,
        "marked lock-sites": LOCK_SITES,
        "marked slab": "radix_tree_node 700 728 576 7 1 : tunables 0 0 0 : slabdata 104 104 0",
        "output": "1000 visits in 2000000 usecs\n1000 visits in 4000000 usecs",
    }
    metrics = rig.counts.counts(report, "test")
    assert metrics["pages out"] == (100, "page")
    assert metrics["xa_lock acquisitions"] == (3.0, "1/page")
    assert metrics["xa_lock contended acquisitions"] == (0.2, "1/page")
    assert metrics["xa_lock wait"] == (4.0, "us/page")
    assert metrics["xa_lock hold"] == (5.0, "us/page")
    assert metrics["cluster lock acquisitions"] == (1.5, "1/page")
    assert metrics["xa_lock at add_to_swap_cache"] == (1.5, "1/page")
    assert metrics["si->lock at get_swap_pages"] == (0.5, "1/page")
    assert metrics["throughput"] == (500.0, "visit/s")
    assert metrics["radix_tree_node in use"] == (700, "node")
    assert not [name for name in metrics if "another" in name or "dropped" in name]


def test_turns_become_metrics_per_page_reclaimed(rig: SimpleNamespace) -> None:
    """Each turn has its own counters; lists and holds that removed no page are left out."""
    lru = lock_stat_line("&lruvec->lru_lock", 0, 0, 0.0, 0.0, 0.0, 0.0, 5, 40, 0.1, 1.0, 20.0, 0.2)
    vmstat = "pswpin 0\npswpout {}\npgsteal_kswapd {}\npgsteal_direct {}"
    kswapd = "40 (kswapd0) S 2 0 0 0 -1 10758208 0 0 0 0 0 {} 0 0 20 0 1 0"
    report = {
        "output": "3 tasks: 4096 bytes / 2500000 usecs, 750000 of them in the kernel",
        "turn 3 vmstat-begin": vmstat.format(10, 100, 100),
        "turn 3 vmstat-end": vmstat.format(90, 150, 150),
        "turn 3 kswapd-begin": kswapd.format(200),
        "turn 3 kswapd-end": kswapd.format(450),
        "turn 3 removal_list": "{ pages:          0 } hitcount:          7\n"
        "{ pages:         32 } hitcount:          3\n{ pages:          4 } hitcount:          1\n",
        "turn 3 removal_hold": "",
        "turn 3 lock-stat": LOCK_STAT + lru,
    }
    metrics = rig.turns.read(report, "test")["3"]
    assert metrics["pages reclaimed"] == (100, "page")
    assert metrics["pages reclaimed by kswapd"] == (50, "page")
    assert metrics["pages out"] == (80, "page")
    assert metrics["elapsed"] == (2.5, "s")
    assert metrics["system time"] == (0.75, "s")
    assert metrics["system time of kswapd"] == (2.5, "s")
    assert metrics["lists"] == (4, "1")
    assert metrics["pages a list"] == (25.0, "page")
    assert metrics["pages of the longest list"] == (32, "page")
    assert metrics["xa_lock acquisitions"] == (3.0, "1/page")
    assert not [name for name in metrics if "hold" in name and "batched" in name]


def ledger_report(**changed: str) -> dict[str, str]:
    """Return the report of a guest with one turn of a ledger; a section of None is left out."""
    device = lock_stat_line("swap_device", 0, 0, 0.0, 0.0, 0.0, 0.0, 5, 50, 0.1, 1.0, 20.0, 0.2)
    local = lock_stat_line("swap_local", 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 80, 0.1, 1.0, 20.0, 0.2)
    counters = "pswpin {}\npswpout {}\nswpout {}\nswpout_fallback 1"
    return {
        "turn fill vmstat-begin": counters.format(5, 100, 10),
        "turn fill vmstat-end": counters.format(6, 200, 14),
        "turn fill lock-stat": LOCK_STAT + device + local,
        "turn fill lock-sites": LOCK_SITES,
    } | {f"turn fill {name.replace('_', '-')}": text for name, text in changed.items()}


def test_turns_of_a_ledger_become_metrics_per_page(rig: SimpleNamespace) -> None:
    """A turn has its own locks, call sites, pages and large folios."""
    found = rig.ledger.read(ledger_report(), "test")
    assert list(found) == ["fill"]
    metrics = found["fill"]
    assert metrics["pages out"] == (100, "page")
    assert metrics["pages in"] == (1, "page")
    assert metrics["large folios out"] == (4, "folio")
    assert metrics["local lock acquisitions"] == (0.8, "1/page")
    assert metrics["si->lock at get_swap_pages"] == (0.5, "1/page")
    assert "large folios in" not in metrics
    report = ledger_report(lock_sites="")
    assert "si->lock acquisitions" in rig.ledger.read(report, "test", sites=False)["fill"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"vmstat_end": "pswpin 5\npswpout 100"}, "no page"),
        ({"lock_stat": "lock_stat version 0.4"}, "no lock statistics"),
        ({"lock_sites": ""}, "no call sites"),
        ({"lock_sites": LOCK_SITES.replace("Dropped: 0", "Dropped: 3")}, "full"),
    ],
)
def test_a_turn_that_was_not_counted_is_refused(
    rig: SimpleNamespace, changed: dict[str, str], message: str
) -> None:
    """A ledger has no turn without pages, statistics or with call sites dropped."""
    with pytest.raises(rig.ledger.GuestError, match=message):
        rig.ledger.read(ledger_report(**changed), "test")
    with pytest.raises(rig.ledger.GuestError, match="no turns"):
        rig.ledger.read({}, "test")


def test_turns_on_the_slow_disk_become_the_metrics_of_the_mail(rig: SimpleNamespace) -> None:
    """Each size and all sizes together have their metrics, and stalls are counted by reason."""
    names = {counter for counter, _ in rig.stalls._COUNTERS.values()} | {"pgfault"}
    before = dict.fromkeys(names, 100)
    small = before | {"pgscan_kswapd": 300, "pgsteal_kswapd": 150, "pgfault": 900}
    large = before | {"pgscan_kswapd": 700, "pgsteal_kswapd": 250, "nr_vmscan_write": 140}
    large |= {"pswpout": 130, "pswpin": 110}
    report = {
        "output": "pool of 400 bytes, 100 bytes beside it\n"
        "0 of the rest: 0 bytes in 0 usecs, 300 gets and 100 sets in 2000000 usecs\n"
        "2.84 of the rest: 284 bytes in 1500000 usecs, 60 gets and 20 sets in 2000000 usecs\n"
    }
    for size, after in {"0": small, "2.84": large}.items():
        for when, counters in {"begin": before, "end": after}.items():
            lines = (f"{name} {value}" for name, value in counters.items())
            report[f"turn {size} vmstat-{when}"] = "\n".join(lines)
        report[f"turn {size} disk-begin"] = "0 0 0 0 0 0 0 0 0 0 0"
        report[f"turn {size} stalls"] = ""
    report["turn 0 disk-end"] = "0 0 0 0 0 0 0 0 0 0 0"
    report["turn 2.84 disk-end"] = "10 0 80 50 30 5 160 750 0 900 4000"
    report["turn 2.84 stalls"] = (
        "{ reason:          0 } hitcount:          3  delayed_us:     200000\n"
        "{ reason:          4 } hitcount:          1  delayed_us:      50000\n"
    )
    metrics = rig.stalls.read(report, "test")
    assert metrics["Ops memcachetest-2.84"] == (40.0, "operations/s")
    assert metrics["Ops io-duration-2.84"] == (1.5, "s")
    assert metrics["Kswapd pages scanned-0"] == (200, "pages")
    assert metrics["Kswapd pages scanned"] == (800, "pages")
    assert metrics["Kswapd efficiency"] == (25.0, "%")
    assert metrics["Kswapd velocity"] == (200.0, "pages/s")
    assert metrics["Page writes file"] == (10, "pages")
    assert metrics["Page writes anon"] == (30, "pages")
    assert metrics["Mean sda-w_await"] == (25.0, "ms")
    assert metrics["Mean sda-avgqz"] == (1.0, "requests")
    assert metrics["Stalls writeback"] == (3, "1")
    assert metrics["Time stalled writeback-2.84"] == (0.2, "s")
    assert metrics["Time stalled-2.84"] == (0.25, "s")
    assert metrics["Stalls congested"] == (0, "1")
    assert "Server Sector Writes" not in metrics
    for size in ("0", "2.84"):
        report[f"turn {size} server-begin"] = "0 0 0 0 0 0 0 0 0 0 0"
        report[f"turn {size} server-end"] = "1 0 8 4 2 0 400 30 0 0 0"
    metrics = rig.stalls.read(report, "test")
    assert metrics["Server Sector Reads"] == (16, "sectors")
    assert metrics["Server Sector Writes-2.84"] == (400, "sectors")
    assert metrics["Server w_await"] == (15.0, "ms")
    assert metrics["Mean sda-w_await"] == (25.0, "ms")


def test_the_slow_disk_is_above_the_memory_of_the_kernel(rig: SimpleNamespace) -> None:
    """The kernel does not use the disk's memory, and the clock skips idle time."""
    workload = rig.experiment.load("stall-rules").workload
    memory, disk = workload.memory_mebibytes, workload.switches.slow_disk
    parameters = rig.boot.kernel_parameters(workload)
    assert f"slow_disk.start={memory << 20}" in parameters
    assert f"memmap={disk.mebibytes + rig.boot.SPARE_MEBIBYTES}M${memory}M" in parameters
    shift = workload.instruction_ns.bit_length() - 1
    assert f"shift={shift},sleep=off,align=off" in rig.boot._clock(workload)
    assert CAPTURE / "lab" / "slow-disk.config" in rig.kernel.sources(workload.switches)


def test_the_servers_disk_is_behind_the_clients(rig: SimpleNamespace, tmp_path: Path) -> None:
    """Each has its own place above the kernel's memory; the guest mounts NFS and counts turns."""
    workload = rig.experiment.load("stall-rules-nfs").workload
    memory, switches = workload.memory_mebibytes, workload.switches
    client, server = switches.slow_disk.mebibytes, switches.server_disk.mebibytes
    parameters = rig.boot.kernel_parameters(workload)
    assert f"slow_server.start={(memory + client) << 20}" in parameters
    assert f"slow_server.bytes={server << 20}" in parameters
    assert f"memmap={client + server + rig.boot.SPARE_MEBIBYTES}M${memory}M" in parameters
    assert rig.boot._slow_disk_mebibytes(None) == 0
    loaded = [word for word in rig.boot._slow_disks(switches, memory, tmp_path) if "," in word]
    starts = (memory << 20, (memory + client) << 20)
    assert all(f"addr={start:#x}," in word for start, word in zip(starts, loaded, strict=True))
    names = {path.name for path in rig.guest.sources(workload)}
    assert {"mark-stalls-nfs", "mark-stalls", "mark-nfs", "server-disk"} <= names
    assert switches.nfs.export == switches.server_disk.mount
    assert CAPTURE / "lab" / "server-disk.config" in rig.kernel.sources(switches)


def test_memory_above_four_gibibytes_makes_two_zones(rig: SimpleNamespace) -> None:
    """The emulator leaves so much below as the description says; the disk is behind the rest."""
    workload = rig.experiment.load("stall-rules-two-zones").workload
    behind = 4096 + workload.memory_mebibytes - workload.low_mebibytes
    assert f"slow_disk.start={behind << 20}" in rig.boot.kernel_parameters(workload)
    assert rig.boot._zones(workload)[1] == f"pc,max-ram-below-4g={workload.low_mebibytes}M"
    assert not rig.boot._zones(rig.experiment.load("stall-rules").workload)


def test_leftovers_of_a_checked_run_are_counted(rig: SimpleNamespace) -> None:
    """The kernel's warnings, and the differences of memory and slab from the beginning."""
    metrics = rig.leftovers.read(
        {
            "left ends": "swapoff 0\nunmount 1",
            "left meminfo-begin": "MemFree: 900 kB\nSlab: 100 kB",
            "left meminfo-end": "MemFree: 850 kB\nSlab: 110 kB",
            "left vmstat-end": "nr_isolated_anon 1\nnr_isolated_file 2\nnr_dirty 3\nnr_writeback 4",
            "left messages": "optimized if possible.\nWARNING: possible deadlock",
        }
    )
    assert metrics["complaints of the kernel"] == (1, "1")
    assert (metrics["swapoff failed"][0], metrics["unmount failed"][0]) == (0, 1)
    assert metrics["slab left behind"] == (10, "KiB")
    assert metrics["memory left behind"] == (50, "KiB")
    assert metrics["pages left isolated"] == (3, "page")
    assert metrics["pages left dirty or in writeback"] == (7, "page")


def test_removals_have_the_number_of_their_list(rig: SimpleNamespace, tmp_path: Path) -> None:
    """A list has the removals of its task before its end, or before that of the recording."""
    page = {"mapping": 16, "swap": 1, "index": 5, "removed": 1}
    rows = [(1, 7), (2, 8), (3, 7), (5, 7), (8, 8), (9, 8)]
    pl.DataFrame([{"seq": seq, "pid": pid, **page} for seq, pid in rows]).cast(
        {"seq": pl.UInt64, "pid": pl.Int32, "mapping": pl.UInt64}
    ).write_parquet(tmp_path / "removals.parquet")
    pl.DataFrame({"seq": [4, 6, 7], "pid": [7, 8, 7], "pages": [2, 1, 1]}).cast(
        {"seq": pl.UInt64, "pid": pl.Int32}
    ).write_parquet(tmp_path / "removal_list.parquet")
    rig.removals.tabulate(tmp_path)
    table = pl.read_parquet(tmp_path / "removals.parquet")
    assert table.schema == REMOVALS.schema
    assert table.select("seq", "list").rows() == [(1, 1), (2, 2), (3, 1), (5, 3), (8, 5), (9, 5)]


@pytest.mark.parametrize("name", list(REMOVAL_TRACES))
def test_a_trace_of_removals_has_lists_of_one_task_and_one_scan(name: str) -> None:
    """A list has one task, 32 pages at most, as reclaim isolates them, and each page once."""
    removals = pl.read_parquet(REMOVAL_TRACES[name] / "removals.parquet")
    assert removals.schema == REMOVALS.schema
    assert removals["seq"].is_sorted()
    assert removals.group_by("list").agg(pl.col("pid").n_unique())["pid"].max() == 1
    removed = removals.filter("removed")
    assert removed.height > 0
    assert int(removals.group_by("list").len()["len"].to_numpy().max()) <= 32
    assert not removed.select("list", "mapping", "index").is_duplicated().any()


def test_trunks_that_cpus_share_are_counted_after_the_drop(rig: SimpleNamespace) -> None:
    """A slot is shared if another CPU's last slot lies in its trunk of four."""
    rows = [
        *[("alloc", 0, slot) for slot in (1, 2, 3)],
        *[("free", 0, slot) for slot in (1, 2, 3)],
        *[("alloc", 0, 1), ("alloc", 1, 2), ("alloc", 1, 4), ("alloc", 0, 5)],
    ]
    events = pl.DataFrame(rows, schema=["op", "cpu", "offset"], orient="row")
    metrics = rig.counts.trunks(events, 2)
    assert metrics == {"slots in a trunk with another CPU": (0.5, "1/slot")}


def wandering_report(tasks: int) -> dict[str, str]:
    """Return the report of a guest with this number of tasks."""
    return {
        "output": "100 visits in 2000000 usecs, 3 changes of CPU\n" * tasks,
        "marked vmstat-begin": "pswpout 10",
        "marked vmstat-end": "pswpout 130",
    }


def test_tasks_meet_where_their_last_slots_are_in_one_trunk(rig: SimpleNamespace) -> None:
    """The CPU of a slot has no effect: a task may have left it."""
    rows = [(task % 2, task, 16 * part + 8 * (task == 8)) for part in range(12) for task in (7, 8)]
    apart = [(cpu, task, slot + 4096 * (task == 8)) for cpu, task, slot in rows]
    found = []
    for slots in (rows, apart):
        events = pl.DataFrame(slots, schema=["cpu", "pid", "offset"], orient="row")
        found.append(rig.wanderings.read(wandering_report(2), events, 9, 2))
    together, alone = found
    assert together["slots in a trunk with another task"] == (1.0, "1/slot")
    assert together["slots in a trunk with another task, part 1"] == (0.5, "1/slot")
    assert alone["slots in a trunk with another task"] == (0.0, "1/slot")
    assert alone["pairs of tasks in one trunk"] == (0.0, "pair")
    assert together["pages out"] == (120, "page")
    assert together["pages out between changes"] == (20.0, "page")
    assert together["changes of CPU"] == (1.5, "1/(s task)")
    with pytest.raises(rig.wanderings.GuestError, match="1 of 2 tasks"):
        rig.wanderings.read(wandering_report(1), events, 9, 2)


def test_a_value_may_have_the_visits_on_a_cpu(rig: SimpleNamespace) -> None:
    """The base is a switch of the kernel, the visits are an argument of the program."""
    described = rig.experiment.load("tasks-that-change-cpu")
    for value, base, visits in (
        ("shared", "shared", "0"),
        ("percpu 150", "percpu", "150"),
        ("percpu free", "percpu", "-1"),
    ):
        workload = described.counted(value)
        assert workload.switches.swap_base == base
        assert workload.cgroup_commands[0].split()[-1] == visits


def test_every_experiment_can_be_read(rig: SimpleNamespace) -> None:
    """Each description names values that its switch takes, and a kernel that can count."""
    assert rig.experiment.names()
    for name in rig.experiment.names():
        described = rig.experiment.load(name)
        for value in described.values:
            if described.stock:
                assert described.counted(value).newer.kernel == value.split()[0]
                continue
            assert described.counted(value).switches.lock_statistics != described.no_locks
            assert not described.traced(value).switches.lock_statistics


MODES = ("skipped", "written", "dropped", "copied", "touched", "redirtied", "file-system")


def test_instructions_are_medians_per_page(rig: SimpleNamespace) -> None:
    """The loop gives the ticks of an instruction; a list with an interrupt does not count."""
    ticks = {mode: 32 * 8 * (100 + 50 * number) for number, mode in enumerate(MODES)}
    lines = [f"{mode}: {each} {each} {9 * each}" for mode, each in ticks.items()]
    output = "\n".join(["loop: 256000 256000", *lines, ""])
    found = rig.instructions.read({"output": output}, "redirty-cost")
    assert found["Ticks per instruction"] == (8.0, "1")
    assert found["Instructions of a write that comes back"] == (50.0, "instructions")
    assert found["Instructions of the file system in it"] == (50.0, "instructions")
    with pytest.raises(rig.errors.GuestError, match="nothing was counted of copied"):
        rig.instructions.read({"output": output.replace("copied", "other")}, "redirty-cost")
