# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports of traces and of machine runs, checked by an independent reader of the format."""

import gzip
import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_event_format import Read, nanoseconds, read

from swapsim import export, generations, traces
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.export.event_file import EventFile
from swapsim.io import paths
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import metric_values, spans
from swapsim.slots.events import slot_events

LINE = " {}-{} [00{}] d..1. {:.6f}: {}: {}\n"
SMALL = "walkers = 4\nwarmup_ns = 100_000\nduration_ns = 50_000\n[costs]\ncopy_ns = 400\n"
"""A machine."""

KINDS = ("generations-7.3-held-4", "removals-mix", "stalls-cgroup-4", "stalls-nfs-1", "swap-w-seq")
WRITER, READER = ("writer", 8, 0), ("reader", 9, 1)
"""Tasks: comm, pid, cpu."""


def exported(folder: Path, *lines: tuple[str, int, int, float, str, str]) -> Read:
    """Import a trace of these lines (comm, pid, cpu, time, event, fields), export and read it."""
    (folder / "text").write_text("".join(LINE.format(*line) for line in lines))
    traces.import_text(folder / "text", folder / "trace")
    export.trace(folder / "trace", folder / "x.json")
    return read(folder / "x.json")


def beginning(name: str, folder: Path, rows: int = 20_000) -> tuple[Path, Read]:
    """Return the first rows of a shipped trace as a folder of the same name, and their export."""
    source, begin = paths.shipped_traces()[name], folder / name
    shutil.copytree(source, begin)
    tables = {path: pl.read_parquet(path) for path in begin.glob("*.parquet")}
    last = pl.concat([table["seq"] for table in tables.values()]).sort()[rows]
    for path, table in tables.items():
        table.filter(pl.col("seq") <= last).write_parquet(path)
    traces.sign(begin)
    export.trace(begin, folder / "x.json")
    return begin, read(folder / "x.json")


@pytest.mark.parametrize("name", KINDS)
def test_a_trace_of_each_kind_is_in_the_format(name: str, tmp_path: Path) -> None:
    """Slices nest, stays end, and each track has a name; slots have a test of their own."""
    folder, found = beginning(name, tmp_path)
    rows = traces.events(folder)["rows"].sum()
    assert len(found.events) > rows / 30
    assert found.about["trace"] == name
    assert found.processes[1] == "tasks"


def test_a_stay_lasts_from_add_to_delete(tmp_path: Path) -> None:
    """A stay that is cut lasts from or to the end of the recording, one of two clocks no time."""
    found = exported(
        tmp_path,
        ("init", 1, 0, 1.0, "swp_del", "folio=0x40 entry=0x7"),
        (*WRITER, 1.000001, "swp_add", "folio=0x80 entry=0x9"),
        ("<idle>", 0, 1, 1.000004, "swp_flush", "n=64"),
        (*READER, 1.000004, "swp_del", "folio=0x80 entry=0x9"),
        (*WRITER, 1.000005, "swp_add", "folio=0xc0 entry=0xb"),
        (*WRITER, 1.000008, "swp_add", "folio=0x80 entry=0xc"),
        (*READER, 1.000006, "swp_del", "folio=0x80 entry=0xc"),
        (*WRITER, 1.000009, "swp_free", "entry=0x7"),
    )
    begins = {event["args"]["entry"]: event for event in found.phases["b"]}
    ends = {event["id2"]["local"]: event["ts"] for event in found.phases["e"]}
    stays = {entry: (event["ts"], ends[event["id2"]["local"]]) for entry, event in begins.items()}
    assert stays == {7: (0, 0), 9: (1000, 4000), 11: (5000, 9000), 12: (8000, 8000)}
    assert begins[7]["args"]["begin"] == "before the recording"
    assert begins[11]["args"]["end"] == "after the recording"
    assert begins[9]["args"]["ended by task"] == 9
    counts = [(event["ts"], event["args"]["pages"]) for event in found.phases["C"]]
    assert counts == [(0, 0), (1000, 1), (4000, 0), (5000, 1), (8000, 2), (6000, 1)]
    assert [event["name"] for event in found.phases["i"]] == ["swp_flush", "swp_free"]
    names = {(1, 1): "init 1", (1, 8): "writer 8", (1, 9): "reader 9", (1, 1 << 22): "<idle> 0"}
    assert found.threads == names


def test_reclaim_is_slices_of_its_task(tmp_path: Path) -> None:
    """A pass encloses its lists and its throttle, which begins no sooner than the row before."""
    isolate = (
        "isolate_mode=0 classzone=3 order=0 nr_requested=32 nr_scanned=32 nr_skipped=0 nr_taken=32 "
        "lru={lru}"
    )
    shrink = (
        "nid=0 nr_scanned=32 nr_reclaimed=20 nr_dirty=0 nr_writeback=0 nr_congested=0 "
        "nr_immediate=0 nr_activate_anon=0 nr_activate_file=0 nr_ref_keep=0 nr_unmap_fail=0 "
        "priority=12 flags=RECLAIM_WB_ANON"
    )
    slept = "nid=0 usec_timeout=100000 usect_delayed=4000 reason=VMSCAN_THROTTLE_WRITEBACK"
    task = ("walker", 8, 0)
    name = "mm_vmscan_"
    found = exported(
        tmp_path,
        (*task, 1.0, f"{name}direct_reclaim_begin", "order=0 gfp_flags=GFP_KERNEL"),
        (*task, 1.0, f"{name}lru_isolate", isolate.format(lru="active_anon")),
        (*task, 1.000001, f"{name}lru_isolate", isolate.format(lru="inactive_anon")),
        (*task, 1.00003, f"{name}lru_shrink_inactive", shrink),
        (*task, 1.001, f"{name}throttled", slept),
        (*task, 1.002, f"{name}direct_reclaim_end", "nr_reclaimed=20"),
    )
    slices = [(e["name"], e["ts"], e["dur"]) for e in found.phases["X"]]
    assert slices == [
        ("direct reclaim", 0, 2_000_000),
        ("list, inactive_anon", 1000, 29_000),
        ("VMSCAN_THROTTLE_WRITEBACK", 30_000, 970_000),
    ]
    assert found.slices("list")[0]["args"]["nr_reclaimed"] == 20
    assert [event["name"] for event in found.phases["i"]] == ["taken, active_anon"]


def test_a_choice_has_what_decided_it(tmp_path: Path) -> None:
    """Each choice is an instant; of both rates over their gains the chosen type's is the lower."""
    export.trace("generations-7.3-held-1", tmp_path / "x.json")
    found = read(tmp_path / "x.json")
    rows = generations.generation_rows("generations-7.3-held-1").choices
    chosen = [e["name"] for e in found.phases["i"] if e["name"].startswith("takes ")]
    assert chosen == [
        f"takes {row['scan_1'] or 'neither'}, lruvec {row['lruvec']}"
        for row in rows.iter_rows(named=True)
    ]
    over = [e for e in found.phases["C"] if e["name"].endswith("over gain")]
    assert len(over) == rows.height
    anon = [
        e["args"]["anon"] <= e["args"]["file"]
        for e, name in zip(over, chosen, strict=True)
        if name.startswith("takes anon")
    ]
    assert anon
    assert sum(anon) / len(anon) > 0.8, "else by few refaults, or a type with two generations"


def test_slots_in_use_add_up(tmp_path: Path) -> None:
    """The counter ends at slots handed out minus slots freed, and calls have their slots."""
    folder, found = beginning("slots-4-above-half", tmp_path, 140_000)
    table = slot_events(folder)
    given_slots = table.filter(op="done")["n"].sum()
    last = max(found.phases["C"], key=lambda event: event["ts"])
    assert last["args"]["slots"] == given_slots - table.filter(op="free")["n"].sum()
    assert sum(len(event["args"]["slots"]) for event in found.phases["X"]) == given_slots


@given(st.integers(0, 10**14), st.integers(0, 10**9))
def test_times_are_exact_in_a_viewer_that_truncates(begin: int, length: int) -> None:
    """A time and a length are the same after a double of microseconds was truncated to ns."""
    file = io.StringIO()
    EventFile(file, {}).slice((1, 1), "any", begin, begin + length, {})
    event = json.loads(file.getvalue().partition("[\n")[2], parse_float=Decimal)
    assert nanoseconds(event["ts"]) == begin
    assert nanoseconds(event["dur"]) == length


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=60
    )
)
def test_any_order_of_adds_and_deletes_is_in_the_format(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]
) -> None:
    """Each stay has two ends, also after two adds or two deletes of a page."""
    folder = tmp_path_factory.mktemp("any")
    events = ("swp_add", "swp_del")
    lines = [
        ("task", pid, 0, 1 + step / 1e6, events[which], f"folio={64 * page:#x} entry={page:#x}")
        for step, (pid, which, page) in enumerate(rows)
    ]
    lines += [("task", 0, 0, 2.0, event, "folio=0x40 entry=0x63") for event in events]
    found = exported(folder, *lines)
    assert len(found.phases["b"]) >= max(Counter(which for _, which, _ in rows).values())
    assert found.phases["C"][-1]["args"]["pages"] >= 0


@pytest.mark.parametrize("kernel", ["4.8", "5.8", "6.1"])
def test_a_machine_shows_which_cpu_waits_behind_which(kernel: str, tmp_path: Path) -> None:
    """Waits and holds of the file are those of the table, and arrows lie in slices."""
    config = MachineConfig(
        kernel=kernel, walkers=6, slots=2**17, warmup_ns=1_000_000, duration_ns=300_000
    )
    summary = export.machine(config, tmp_path / "m.json")
    found = read(tmp_path / "m.json")
    assert summary.events == len(found.events)
    table = spans(config).filter(pl.col("until_ns") > pl.col("from_ns"))
    assert len(found.phases["X"]) == table.height
    for kind in ("wait", "hold", "sleep"):
        shown = sum(row["dur"] for row in found.slices(kind))
        lengths = table.filter(kind=kind).select(pl.col("until_ns") - pl.col("from_ns"))
        assert shown == lengths.sum().item()
    behind = [row for row in found.slices("wait") if "behind" in row["args"]]
    assert len(behind) == table["behind"].is_not_null().sum()
    assert 0 < len(found.phases["s"]) <= len(behind)
    assert {"slots in use", "pages in the swap cache"} < {e["name"] for e in found.phases["C"]}
    assert found.threads[1, 1000] == "walker, CPU 0, node 0"


def test_waits_are_those_that_a_run_counts() -> None:
    """The waits of each site in the table are proportional to the run's results."""
    config = MachineConfig(
        kernel="4.8", walkers=6, slots=2**17, warmup_ns=1_000_000, duration_ns=2_000_000
    )
    values = metric_values(config, costs())
    waited = spans(config).filter(kind="wait").group_by("site")
    by_site = waited.agg((pl.col("until_ns") - pl.col("from_ns")).sum()).drop_nulls()
    quotients = {values[f"wait.{site}"] / ns for site, ns in by_site.iter_rows() if ns}
    assert max(quotients) == pytest.approx(min(quotients), rel=1e-12)


def test_the_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    """A file depends on no date, path or order of a set; a compressed one has the same text."""
    files = [tmp_path / name for name in ("a.json", "b.json", "c.json.gz", "d.json.gz")]
    for file in files:
        export.trace(paths.shipped_traces()["removals-large-file"], file)
    plain, again, packed, packed_again = (file.read_bytes() for file in files)
    assert plain == again == gzip.decompress(packed)
    assert packed == packed_again


def test_a_failed_export_leaves_the_earlier_file(tmp_path: Path) -> None:
    """A machine without free slots fails, and an existing file stays unchanged."""
    output = tmp_path / "m.json"
    output.write_text("before")
    config = MachineConfig(
        walkers=1, slots=2**12, pages=3 * 2**10, duration_ns=10**10, warmup_ns=0, writers=1
    )
    with pytest.raises(InputError, match="no swap slot is left"):
        export.machine(config, output)
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]
    assert output.read_text() == "before"


def machine(text: str) -> Callable[[Path], Path]:
    """Return what writes a machine's file."""

    def write(folder: Path) -> Path:
        (folder / "machine.toml").write_text(text)
        return folder / "machine.toml"

    return write


def trace(of: str, *dropped: str, **third: object) -> Callable[[Path], Path]:
    """Return what writes a shipped table without some columns, or with a changed third row."""

    def write(folder: Path) -> Path:
        name, event = of.split("/")
        table = pl.read_parquet(paths.shipped_traces()[name] / f"{event}.parquet")
        at = pl.int_range(pl.len()) == 2
        changes = {key: pl.when(at).then(pl.lit(third[key])).otherwise(key) for key in third}
        (folder / "trace").mkdir()
        (folder / "trace" / traces.PROVENANCE).touch()
        changed = table.head(50).drop(dropped).with_columns(**changes)
        changed.write_parquet(folder / "trace" / f"{event}.parquet")
        return folder / "trace"

    return write


SLOTS = "slots-4-shared/slot_events"


@pytest.mark.parametrize(
    ("source", "output", "word"),
    [
        (lambda folder: folder / "none", "x.json", "no such trace folder"),
        (trace(SLOTS, "pid"), "x.json", "no table with a row"),
        (trace(SLOTS), "x.html", "name it .json"),
        (trace(SLOTS), "no/x.json", "its folder does not exist"),
        (trace(SLOTS, "op"), "x.json", "'op': table slot_events"),
        (trace(SLOTS, op=None), "x.json", "'op': the row with seq"),
        (trace(SLOTS, pid=None), "x.json", "'pid': the row with seq"),
        (trace(SLOTS, seq=None), "x.json", "'seq': the row 2"),
        (trace(SLOTS, seq=0), "x.json", "out of order"),
        (trace(SLOTS, seq=2**64 - 1), "x.json", "longer than"),
        (trace("stalls-disk-1/reclaim_folios", outcome=None), "x.json", "'outcome': the row"),
        (trace("stalls-disk-1/reclaim_lists", "list"), "x.json", "'list': table reclaim_lists"),
        (trace("removals-swap-1/removals", swap=None), "x.json", "'swap': the row"),
        (trace("swap-w-seq/swp_add", entry=1.5), "x.json", "'entry': contains"),
        (machine("wakers = 8"), "x.json", "'wakers': no such field"),
        (machine("walkers = 0"), "x.json", "walkers=0"),
        (machine("walkers = 'many'"), "x.json", "walkers"),
        (machine("walkers = "), "x.json", "no TOML"),
        (machine("costs = 3"), "x.json", "must be a table"),
        (machine("walkers = 4\n[costs]\ncopy = 3"), "x.json", "copy"),
        (machine("[costs]\ncopy_ns = 'x'"), "x.json", "'costs.copy_ns': 'x' is no whole number"),
    ],
)
def test_what_cannot_be_exported_is_one_line(
    source: Callable[[Path], Path],
    output: str,
    word: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command exits with 2, names the file, field or row, and writes nothing."""
    given = source(tmp_path)
    before = set(tmp_path.iterdir())
    assert main(["export", str(given), "-o", str(tmp_path / output)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert word in error
    assert set(tmp_path.iterdir()) == before


def test_the_command_writes_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command exports a trace or a machine, and prints how to open the file."""
    folder = str(paths.shipped_traces()["removals-large-file"])
    assert main(["export", folder, "-o", str(tmp_path / "x.json.gz")]) == 0
    assert "ui.perfetto.dev" in capsys.readouterr().out
    assert main(["export", str(machine(SMALL)(tmp_path)), "-o", str(tmp_path / "m.json")]) == 0
    assert read(tmp_path / "m.json").processes == {1: "CPUs", 5: "machine"}
    read(tmp_path / "x.json.gz")


def test_a_throttle_without_a_length_is_shown(tmp_path: Path) -> None:
    """A length that is text is shown as it is."""
    folder = tmp_path / "trace"
    exported(tmp_path, ("kswapd0", 9, 0, 1.0, "mine", "usect_delayed=long reason=x"))
    (folder / "mine.parquet").rename(folder / "mm_vmscan_throttled.parquet")
    traces.sign(folder)
    export.trace(folder, tmp_path / "x.json")
    assert read(tmp_path / "x.json").slices("x")[0]["args"]["usect_delayed"] == "long"
