# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's switches, descriptions and counters hold together, without a kernel to boot."""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from swapsim import traces
from swapsim.claims.tables import RESULTS
from swapsim.io.paths import data_root, shipped_measurements, shipped_traces
from swapsim.removal.tables import REMOVALS
from swapsim.slots.tables import SLOT_EVENTS

CAPTURE = data_root() / "capture"
PATCHES = data_root().parent / "patches"
SEMANTIC_PATCHES = sorted([*PATCHES.glob("*/switch.cocci"), *(CAPTURE / "lab").glob("*.cocci")])
SLOT_TRACES = {
    name: folder for name, folder in shipped_traces().items() if name.startswith("slots-")
}
REMOVAL_TRACES = {
    name: folder for name, folder in shipped_traces().items() if name.startswith("removals-")
}


def lock_stat_line(name: str, *numbers: float) -> str:
    """Lay out a line of /proc/lock_stat: contention, waits, acquisitions, holds."""
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


@pytest.fixture(scope="module")
def rig() -> SimpleNamespace:
    """Give the rig's modules, which are a package beside their program."""
    sys.path.insert(0, str(CAPTURE))
    try:
        names = (
            *("boot", "counts", "experiment", "kernel", "leftovers", "removals"),
            *("stalls", "turns", "wanderings", "workload"),
        )
        return SimpleNamespace(**{name: import_module(f"rig.{name}") for name in names})
    finally:
        sys.path.remove(str(CAPTURE))


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the rig."""
    command = [sys.executable, str(CAPTURE / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "patch", SEMANTIC_PATCHES, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_a_semantic_patch_parses(patch: Path) -> None:
    """Coccinelle reads each semantic patch without an error."""
    spatch = shutil.which("spatch")
    if spatch is None:
        pytest.skip("spatch is not here (Debian: coccinelle)")
    done = subprocess.run(
        [spatch, "--parse-cocci", str(patch)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_semantic_patch_is_applied(rig: SimpleNamespace) -> None:
    """The kernel's build takes each semantic patch that is here, and no other."""
    assert sorted(rig.kernel.SEMANTIC_PATCHES) == SEMANTIC_PATCHES


def test_a_semantic_patch_that_does_not_fit_is_refused(
    rig: SimpleNamespace, tmp_path: Path
) -> None:
    """A kernel whose text is another stops the build, and the message names the patch."""
    if shutil.which("spatch") is None:
        pytest.skip("spatch is not here (Debian: coccinelle)")
    patch = PATCHES / "01-writeback-tags" / "switch.cocci"
    (tmp_path / "swap_state.c").write_text("int another_function(void) { return 0; }\n")
    with pytest.raises(rig.kernel.CaptureError, match=r"01-writeback-tags.* does not fit"):
        rig.kernel.apply(patch, tmp_path, ["swap_state.c"])


def test_the_bases_are_those_of_the_switch(rig: SimpleNamespace) -> None:
    """A description may name the bases that the kernel's boot parameter takes, and no others."""
    text = (PATCHES / "04-percpu-cluster-next" / "switch.cocci").read_text(encoding="utf-8")
    names = text.split("swap_base_names[] = {")[1].split("}")[0].replace("+", "")
    told = [name.strip().strip('"') for name in names.split(",") if name.strip()]
    assert tuple(told) == rig.workload.SWAP_BASES


def test_another_trunk_is_another_kernel_and_another_base_is_not(rig: SimpleNamespace) -> None:
    """The cache's key follows what is compiled, not what is chosen at boot."""
    switches = rig.workload.load("slots-8-percpu").switches
    trunk = rig.workload.load("slots-8-many-trunks").switches
    base = rig.workload.load("slots-8-shared").switches
    configuration = rig.kernel._configuration
    assert configuration(switches) == configuration(base)
    assert configuration(switches) != configuration(trunk)
    assert "CONFIG_SWAP_ADDRESS_SPACE_SHIFT=10\n" in configuration(trunk)


def test_nodes_of_full_size_are_another_kernel(rig: SimpleNamespace) -> None:
    """What shrinks a kernel's tree nodes is compiled in, and told apart by its own sources."""
    full = rig.experiment.load("tree-nodes").workload.switches
    small = rig.experiment.load("tree-nodes-small-nodes").workload.switches
    assert "CONFIG_BASE_FULL=y\n" in rig.kernel._configuration(full)
    assert "CONFIG_BASE_FULL" not in rig.kernel._configuration(small)
    assert set(rig.kernel.sources(full)) - set(rig.kernel.sources(small)) == {
        CAPTURE / "lab" / "full-size.config"
    }


def test_nodes_of_memory_and_debug_checks_are_other_kernels(rig: SimpleNamespace) -> None:
    """Both are compiled in; batched removal is chosen at boot, so off and on run one kernel."""
    described = rig.experiment.load("batched-removal-checks")
    off, on = (described.counted(value).switches for value in described.values)
    assert rig.kernel._configuration(off) == rig.kernel._configuration(on)
    for line in ("CONFIG_NUMA=y\n", "CONFIG_PROVE_LOCKING=y\n"):
        assert line in rig.kernel._configuration(on)
        assert line not in rig.kernel._configuration(rig.workload.load("slots-8-shared").switches)


def test_several_numbers_of_tasks_need_turns(
    rig: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without turns a run counts one number of tasks, and the field is named."""
    text = (CAPTURE / "experiments" / "batched-removal.toml").read_text(encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(text.replace("by_turns = true\n", ""), encoding="utf-8")
    monkeypatch.setattr(rig.experiment, "EXPERIMENTS", tmp_path)
    with pytest.raises(rig.kernel.CaptureError, match=r"wrong\.toml.*tasks.*by_turns"):
        rig.experiment.load("wrong")


def test_what_is_counted_fits_the_kernel(
    rig: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tree nodes on a kernel with lock statistics are refused, naming the field."""
    text = (CAPTURE / "experiments" / "tree-nodes.toml").read_text(encoding="utf-8")
    wrong = text.replace("trunk_shift = 14", "trunk_shift = 14\nlock_statistics = true")
    (tmp_path / "wrong.toml").write_text(wrong, encoding="utf-8")
    monkeypatch.setattr(rig.experiment, "EXPERIMENTS", tmp_path)
    with pytest.raises(rig.kernel.CaptureError, match=r"wrong\.toml.*lock_statistics"):
        rig.experiment.load("wrong")


@pytest.mark.parametrize("name", list(SLOT_TRACES))
def test_a_slot_trace_is_slot_events_in_order(name: str) -> None:
    """The table has the schema to the letter, its rows in lock order, each with its own fields."""
    events = pl.read_parquet(SLOT_TRACES[name] / "slot_events.parquet")
    assert events.schema == SLOT_EVENTS.schema
    assert events["seq"].is_sorted()
    assert events["seq"].n_unique() == events.height
    first = events.row(0, named=True)
    assert (first["op"], first["lowest"]) == ("call", 1)
    for field, ops in {
        "n": ["call", "done", "fail", "free", "reuse"],
        "offset": ["alloc", "free", "reuse"],
        "base": ["call"],
        "next": ["done"],
        "lowest": ["call"],
        "highest": ["call"],
    }.items():
        assert events[field].is_not_null().equals(events["op"].is_in(ops), check_names=False)


@pytest.mark.parametrize("name", list(SLOT_TRACES))
def test_no_slot_is_handed_out_twice(name: str) -> None:
    """Between two times that a slot is handed out it was taken back, and slot 0 never is."""
    events = pl.read_parquet(SLOT_TRACES[name] / "slot_events.parquet")
    moves = events.filter(pl.col("op").is_in(["alloc", "free"])).select("op", "offset")
    assert moves["offset"].to_numpy().min() >= 1
    turns = moves.with_columns(turn=pl.int_range(pl.len()).over("offset") % 2)
    assert ((turns["turn"] == 0) == (turns["op"] == "alloc")).all()


@pytest.mark.parametrize("name", list(SLOT_TRACES))
def test_a_slot_trace_says_which_kernel_it_is_from(name: str) -> None:
    """The switches in trace.toml are those of the workload, and nothing was lost."""
    told = traces.provenance(SLOT_TRACES[name])
    assert f"swap_base={told['kernel']['swap_base']}" in told["kernel"]["command_line"]
    assert told["guest"]["cpus"] == int(name.split("-")[1])
    assert not any(told["recording"]["lost_events_by_cpu"].values())


def test_slots_of_a_page_are_used_again_above_half_full() -> None:
    """The trace above half full has slots that the swap cache alone held, freed and not."""
    events = pl.read_parquet(SLOT_TRACES["slots-4-above-half"] / "slot_events.parquet")
    tried = events.filter(pl.col("op") == "reuse")["n"]
    assert set(tried.unique()) == {0, 1}


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
    assert metrics["xa_lock bounced acquisitions"] == (0.6, "1/page")
    assert metrics["xa_lock contended acquisitions"] == (0.2, "1/page")
    assert metrics["xa_lock wait"] == (4.0, "us/page")
    assert metrics["xa_lock hold"] == (5.0, "us/page")
    assert metrics["return cache lock acquisitions"] == (1.0, "1/page")
    assert metrics["cluster lock acquisitions"] == (1.5, "1/page")
    assert metrics["xa_lock at add_to_swap_cache"] == (1.5, "1/page")
    assert metrics["si->lock at get_swap_pages"] == (0.5, "1/page")
    assert metrics["throughput"] == (500.0, "visit/s")
    assert metrics["radix_tree_node in use"] == (700, "node")
    assert not [name for name in metrics if "another" in name or "dropped" in name]


def test_turns_become_metrics_per_page_reclaimed(rig: SimpleNamespace) -> None:
    """Each turn has its own counters, and lists and holds that removed nothing are left out."""
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


def test_turns_on_the_slow_disk_become_the_metrics_of_the_mail(rig: SimpleNamespace) -> None:
    """Each size has its own, all sizes together have theirs, and a stall is told by its reason."""
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
            told = "\n".join(f"{name} {value}" for name, value in counters.items())
            report[f"turn {size} vmstat-{when}"] = told
        report[f"turn {size} disk-begin"] = "0 0 0 0 0 0 0 0 0 0 0"
        report[f"turn {size} stalls"] = ""
    report["turn 0 disk-end"] = "0 0 0 0 0 0 0 0 0 0 0"
    report["turn 2.84 disk-end"] = "10 0 80 50 30 5 160 750 0 900 4000"
    report["turn 2.84 stalls"] = (
        "{ reason:          0 } hitcount:          3  delayed_us:     200000\n"
        "{ reason:          4 } hitcount:          1  delayed_us:      50000\n"
    )
    metrics = rig.stalls.read(report, "test")
    assert metrics["Ops memcachetest-0"] == (200.0, "operations/s")
    assert metrics["Ops memcachetest-2.84"] == (40.0, "operations/s")
    assert metrics["Ops io-duration-0"] == (0.0, "s")
    assert metrics["Ops io-duration-2.84"] == (1.5, "s")
    assert metrics["Kswapd pages scanned-0"] == (200, "pages")
    assert metrics["Kswapd pages scanned"] == (800, "pages")
    assert metrics["Kswapd efficiency"] == (25.0, "%")
    assert metrics["Kswapd velocity"] == (200.0, "pages/s")
    assert metrics["Direct efficiency"] == (100.0, "%")
    assert metrics["Page writes file"] == (10, "pages")
    assert metrics["Page writes anon"] == (30, "pages")
    assert metrics["Mean sda-await"] == (20.0, "ms")
    assert metrics["Mean sda-w_await"] == (25.0, "ms")
    assert metrics["Mean sda-avgqz"] == (1.0, "requests")
    assert "Mean sda-await-0" not in metrics
    assert metrics["Stalls writeback"] == (3, "1")
    assert metrics["Time stalled writeback-2.84"] == (0.2, "s")
    assert metrics["Stalls congestion_wait"] == (1, "1")
    assert metrics["Time stalled-2.84"] == (0.25, "s")
    assert metrics["Stalls congested"] == (0, "1")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [("cpus = 1", "cpus = 2"), ("instruction_ns = 8", "instruction_ns = 12")],
)
def test_a_clock_that_counts_instructions_needs_one_cpu(
    rig: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, wrong: str
) -> None:
    """Several CPUs, and what is no power of two, are refused, naming the field."""
    text = (CAPTURE / "experiments" / "stall-rules.toml").read_text(encoding="utf-8")
    assert f"\n{line}\n" in text
    (tmp_path / "wrong.toml").write_text(text.replace(line, wrong), encoding="utf-8")
    monkeypatch.setattr(rig.experiment, "EXPERIMENTS", tmp_path)
    with pytest.raises(rig.kernel.CaptureError, match=r"wrong\.toml.*instruction_ns"):
        rig.experiment.load("wrong")


def test_the_slow_disk_lies_behind_the_memory_that_counts(rig: SimpleNamespace) -> None:
    """The kernel keeps off the disk's memory, and the clock skips the time that is idle."""
    workload = rig.experiment.load("stall-rules").workload
    memory, disk = workload.memory_mebibytes, workload.switches.slow_disk
    told = rig.boot.kernel_parameters(workload)
    assert f"slow_disk.start={memory << 20}" in told
    assert f"memmap={disk.mebibytes + rig.boot.SPARE_MEBIBYTES}M${memory}M" in told
    shift = workload.instruction_ns.bit_length() - 1
    assert f"shift={shift},sleep=off,align=off" in rig.boot._clock(workload)
    assert CAPTURE / "lab" / "slow-disk.config" in rig.kernel.sources(workload.switches)


def test_what_a_checked_run_leaves_behind_is_told(rig: SimpleNamespace) -> None:
    """Complaints of the kernel are counted, memory and slab are held against the beginning."""
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


def test_removals_are_numbered_by_the_list_that_they_are_of(
    rig: SimpleNamespace, tmp_path: Path
) -> None:
    """A list is what its task removed before the list's end, or before the recording's."""
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
def test_a_trace_of_removals_has_lists_of_one_task_each(name: str) -> None:
    """The table has the schema to the letter, rows in lock order, and a list has one task."""
    removals = pl.read_parquet(REMOVAL_TRACES[name] / "removals.parquet")
    assert removals.schema == REMOVALS.schema
    assert removals["seq"].is_sorted()
    assert removals.group_by("list").agg(pl.col("pid").n_unique())["pid"].max() == 1
    assert removals.filter("removed").height > 0


@pytest.mark.parametrize("name", list(REMOVAL_TRACES))
def test_a_list_of_a_trace_without_batches_is_one_scan(name: str) -> None:
    """Reclaim hands shrink_folio_list 32 folios at most, and a list takes each page once."""
    removals = pl.read_parquet(REMOVAL_TRACES[name] / "removals.parquet")
    lengths = removals.group_by("list").len()["len"]
    assert int(lengths.to_numpy().max()) <= 32
    assert not removals.filter("removed").select("list", "mapping", "index").is_duplicated().any()


def test_trunks_that_cpus_share_are_counted_after_the_drop(rig: SimpleNamespace) -> None:
    """A slot counts as shared where another CPU's last slot lies in its trunk of four."""
    rows = [
        *[("alloc", 0, slot) for slot in (1, 2, 3)],
        *[("free", 0, slot) for slot in (1, 2, 3)],
        *[("alloc", 0, 1), ("alloc", 1, 2), ("alloc", 1, 4), ("alloc", 0, 5)],
    ]
    events = pl.DataFrame(rows, schema=["op", "cpu", "offset"], orient="row")
    metrics = rig.counts.trunks(events, 2)
    assert metrics == {"slots in a trunk with another CPU": (0.5, "1/slot")}


def wandering_report(tasks: int) -> dict[str, str]:
    """Return what a guest tells of so many tasks."""
    return {
        "output": "100 visits in 2000000 usecs, 3 changes of CPU\n" * tasks,
        "marked vmstat-begin": "pswpout 10",
        "marked vmstat-end": "pswpout 130",
    }


def test_tasks_meet_where_their_last_slots_are_in_one_trunk(rig: SimpleNamespace) -> None:
    """CPUs count for nothing: a task that left one is not there any more."""
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


def test_a_value_may_say_how_long_tasks_stay_on_a_cpu(rig: SimpleNamespace) -> None:
    """The base goes to the kernel, the visits to the program."""
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
            no_locks = described.tree_nodes or described.stalls or described.sampled_slots
            assert described.counted(value).switches.lock_statistics != no_locks
            assert not described.traced(value).switches.lock_statistics


@pytest.mark.parametrize("name", list(shipped_measurements()))
def test_a_measurement_is_results_made_by_the_sources_that_are_here(name: str) -> None:
    """The table has its schema, and the hashes are those of the files today."""
    folder = shipped_measurements()[name]
    assert pl.read_parquet(folder / "results.parquet").schema == RESULTS.schema
    sources = tomllib.loads((folder / "measured.toml").read_text())["sources"]
    for path, told in sources.items():
        assert hashlib.sha256((CAPTURE / path).read_bytes()).hexdigest() == told, path


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["no-such-experiment", "-o", "out"], "no-such-experiment"),
        (["writeback-tags"], "-o DIR"),
        (["writeback-tags", "-o", "out", "--rounds", "0"], "--rounds"),
        ([], "--list"),
    ],
)
def test_wrong_calls_are_refused(arguments: list[str], word: str) -> None:
    """Exit 2, and the message says what is wrong, before anything is built."""
    done = run("lab.py", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr
