# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of a kernel's cluster allocator with the model, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from oracle_clusters import CACHED, USED, Call, DeviceConfig, Op, Points
from probe_text import text_of
from recording import Recorder, recording

from swapsim import clusters, traces
from swapsim.cli import main
from swapsim.clusters import verify
from swapsim.clusters.events import ClusterRows, cluster_rows
from swapsim.clusters.verify import taken
from swapsim.errors import InputError

RECORDED = {rules: recording(rules) for rules in ("6.12", "7.3")}
RULES = pytest.mark.parametrize("rules", RECORDED)


def begun(kernel: Recorder, cpu: int, order: int) -> tuple[Call, Points]:
    """Return a call that has written its first row, and its points."""
    call = Call(cpu, order)
    points = kernel.allocator.call(call)
    kernel.row(Op.CALL, cpu, n=1, order=order)
    next(points)
    return call, points


def folder_of(rows: ClusterRows, folder: Path, toml: str = "") -> Path:
    """Write a trace folder."""
    folder.mkdir()
    rows.events.write_parquet(folder / "cluster_events.parquet")
    rows.devices.write_parquet(folder / "cluster_devices.parquet")
    (folder / "trace.toml").write_text(toml, encoding="utf-8")
    return folder


@RULES
def test_what_the_plain_model_writes_is_verified(
    rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that it does is equal, nothing is taken from the trace, and the exit status is 0."""
    rows = RECORDED[rules]
    ops = dict(rows.events["op"].value_counts().iter_rows())
    assert main(["verify", "clusters", str(folder_of(rows, tmp_path / "trace"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    grants, visits, moves = (ops.get(op, 0) for op in ("grant", "visit", "move"))
    assert lines[-1] == (
        f"granted {grants} of {grants} ({visits} of {visits} visits, {moves} of {moves} list moves)"
    )
    assert len(lines) == 2
    assert lines[0].startswith(f"matched: {ops['call']} of {ops['call']} calls; ")
    assert taken(verify(rows).figures) == {}


@RULES
def test_probes_of_the_plain_model_are_imported_and_verified(rules: str, tmp_path: Path) -> None:
    """The text that probes would write becomes the same rows."""
    rows = RECORDED[rules]
    (tmp_path / "trace.txt").write_text("".join(text_of(rows.events, rows.devices)))
    traces.import_text(tmp_path / "trace.txt", tmp_path / "trace")
    imported = cluster_rows(tmp_path / "trace")
    assert imported.events.drop("seq").equals(rows.events.drop("seq"))
    assert verify(tmp_path / "trace").agrees
    assert "clusters: yes" in traces.info(tmp_path / "trace")


def test_a_cluster_may_fill_between_the_window_of_a_visit_and_its_try() -> None:
    """The visit tested for a free slot before it dropped the locks: no row differs."""
    kernel, tried = Recorder("6.12", (DeviceConfig(1024),)), 517
    kernel.call(1, 0, 1)
    for _ in range(8):
        kernel.call(0, 0, 64)
    for slot in range(1, 501, 100):
        kernel.free(0, 0, slot, 100)
    for wanted in [64] * 7 + [61]:
        kernel.call(0, 0, wanted)
    cluster, slots = kernel.allocator.devices[0].clusters[1], kernel.allocator.devices[0].map
    assert cluster.count == 511
    call, points = begun(kernel, 1, 0)
    kernel.follow(points, 1, until=Op.VISIT)
    assert call.visiting is cluster
    call.tested = kernel.allocator.has_room(call)
    kernel.row(Op.WINDOW, 1)
    kernel.call(0, 0, 1)
    assert cluster.count == 512
    slots[tried] = CACHED
    points.send(next(point for point in points if point))
    slots[tried] = USED
    kernel.row(Op.TRY, 1, device=0, slot=tried, n=0)
    kernel.row(Op.RELOCK, 1)
    kernel.follow(points, 1)
    kernel.row(Op.DONE, 1, n=len(call.granted))
    found = verify(kernel.written())
    assert found.agrees, "\n".join(found.describe())
    assert taken(found.figures) == {"windows": 1}


def test_a_full_device_is_listed_until_the_grant_of_its_last_slot_is_over() -> None:
    """Another CPU searches it meanwhile, and then the next one."""
    kernel = Recorder("7.3", (DeviceConfig(1024, priority=2), DeviceConfig(1024, priority=1)))
    for _ in range(1022):
        kernel.call(0, 0, 1)
    _, points = begun(kernel, 0, 0)
    kernel.follow(points, 0, until=Op.GRANT)
    assert kernel.allocator.turn == [1]
    kernel.allocator.turn = [0, 1]
    kernel.call(1, 0, 1)
    kernel.allocator.turn = [1]
    assert [device for device, *_ in kernel.held[-1:]] == [1]
    kernel.follow(points, 0)
    found = verify(kernel.written())
    assert found.agrees, "\n".join(found.describe())
    assert taken(found.figures) == {"turns": 1}


def filled(*, first: int = 1) -> Recorder:
    """Return a kernel of 7.3 with a full device; CPU 1 took its first slots, and goes on there."""
    kernel = Recorder("7.3", (DeviceConfig(1024),))
    for cpu in [1] * first + [0] * (1023 - first):
        kernel.call(cpu, 0, 1)
    return kernel


def test_a_full_cluster_is_usable_once_another_cpu_reclaims_it() -> None:
    """A CPU found its own cluster full, before another one took it off its list; no row says so."""
    kernel = filled()
    kernel.free(0, 0, 600, 1)
    (call, points), (reclaimer, others) = begun(kernel, 1, 0), begun(kernel, 0, 2)
    assert next(points) is None
    for until in (Op.FULL, Op.PICK, Op.PICKED):
        kernel.follow(others, 0, until=until)
    assert reclaimer.full is kernel.allocator.devices[0].clusters[0]
    kernel.follow(points, 1)
    kernel.follow(others, 0)
    assert (call.granted, reclaimer.granted) == ([(0, 600)], [])
    found = verify(kernel.written())
    assert found.agrees, "\n".join(found.describe())
    assert taken(found.figures) == {"ends": 1}


def test_a_visit_may_be_over_before_its_cluster_changes_lists() -> None:
    """Nothing fitted in a frag cluster, which stays where it is; then a free moves it away."""
    kernel = filled(first=5)
    kernel.free(0, 0, 1, 2)
    kernel.call(0, 0, 1)
    call, points = begun(kernel, 1, 0)
    kernel.follow(points, 1, until=Op.VISIT)
    assert next(points) is None
    kernel.free(0, 0, 100, 1)
    kernel.follow(points, 1)
    assert call.granted == [(0, 2)]
    found = verify(kernel.written())
    assert found.agrees, "\n".join(found.describe())
    assert taken(found.figures) == {"ends": 1}


def test_reclaim_of_a_full_cluster_may_be_over_before_another_cpu_picks_it() -> None:
    """It was freed in part, so that it was on a list; then it is on none, by another CPU's pick."""
    kernel = filled()
    kernel.free(0, 0, 600, 1)
    _, reclaim = begun(kernel, 0, 2)
    kernel.follow(reclaim, 0, until=Op.FULL)
    kernel.call(1, 0, 1)
    for until in (Op.PICK, Op.PICKED):
        kernel.follow(reclaim, 0, until=until)
    kernel.row(Op.TRY, 0, device=0, slot=100, n=0)
    kernel.free(0, 0, 100, 1)
    assert next(reclaim) is None
    call, points = begun(kernel, 1, 0)
    kernel.follow(points, 1, until=Op.PICKED)
    kernel.follow(reclaim, 0)
    kernel.follow(points, 1)
    assert call.granted == [(0, 100)]
    found = verify(kernel.written())
    assert found.agrees, "\n".join(found.describe())
    assert taken(found.figures) == {"ends": 1}


def test_a_slot_may_be_freed_between_the_window_and_its_try() -> None:
    """The visit found it in use by the swap cache alone; the kernel tries it and then grants it."""
    kernel, tried = Recorder("7.3", (DeviceConfig(1024),)), 2
    kernel.call(1, 0, 1)
    for _ in range(522):
        kernel.call(0, 0, 1)
    assert (0, tried, 1) in kernel.held
    kernel.allocator.devices[0].map[tried] = CACHED
    call, points = begun(kernel, 1, 0)
    kernel.follow(points, 1, until=Op.VISIT)
    kernel.row(Op.WINDOW, 1)
    points.send(next(point for point in points if point))
    kernel.free(0, 0, tried, 1)
    kernel.row(Op.TRY, 1, device=0, slot=tried, n=0)
    kernel.row(Op.RELOCK, 1)
    kernel.follow(points, 1)
    assert call.granted == [(0, tried)]
    found = verify(kernel.written())
    assert found.agrees, "\n".join(found.describe())
    assert taken(found.figures) == {"windows": 1}


def changed(rows: ClusterRows, op: str, nth: int, /, **fields: pl.Expr) -> ClusterRows:
    """Return the recording with other fields in the nth row of an op."""
    seq = rows.events.filter(op=op)["seq"][nth]
    here = pl.col("seq") == seq
    columns = [
        pl.when(here).then(value).otherwise(pl.col(name)).cast(rows.events.schema[name]).alias(name)
        for name, value in fields.items()
    ]
    return replace(rows, events=rows.events.with_columns(columns))


@RULES
def test_another_grant_is_shown_with_both_slots_and_the_state(
    rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 1, the first mismatch with its lists, and the last events of its cluster."""
    grants = RECORDED[rules].events.filter(op="grant", n=1)
    seq, slot = grants["seq"][3], grants["slot"][3]
    nth = RECORDED[rules].events.filter(op="grant")["seq"].to_list().index(seq)
    rows = changed(RECORDED[rules], "grant", nth, slot=pl.col("slot") + 1)
    rows = replace(rows, events=rows.events.filter(pl.col("seq") <= seq))
    folder = folder_of(rows, tmp_path / "trace")
    assert main(["verify", "clusters", str(folder)]) == 1
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0].startswith("first mismatch: the row with seq ")
    assert lines[1].startswith("  ours:  grant device")
    assert f"slot {slot} " in lines[1]
    assert lines[2].startswith("  trace: grant device")
    assert f"slot {slot + 1} " in lines[2]
    assert "heads of its lists" in printed
    assert f"slot {slot + 1}, n 1" in lines[-3]
    assert lines[-1].startswith("granted ")


BAD: dict[str, tuple[Callable[[ClusterRows], ClusterRows], str]] = {
    "an order above 9": (
        lambda rows: changed(rows, "call", 5, order=pl.lit(10)),
        r"the row with seq \d+ of cluster_events cannot be replayed: .*order",
    ),
    "a slot beyond the device": (
        lambda rows: changed(rows, "grant", 5, slot=pl.lit(4096)),
        r"the row with seq \d+ of cluster_events cannot be replayed: .*slot",
    ),
    "a free of a free slot": (
        lambda rows: changed(rows, "free", 0, slot=pl.lit(2040), n=pl.lit(1), device=pl.lit(1)),
        r"the row with seq \d+ of cluster_events cannot be replayed: ",
    ),
    "a missing grant": (
        lambda rows: replace(
            rows, events=rows.events.filter(pl.col("seq") != first(rows, "grant", freed=True))
        ),
        r"the row with seq \d+ of cluster_events cannot be replayed: ",
    ),
    "an unknown device": (
        lambda rows: changed(rows, "visit", 5, device=pl.lit(7)),
        r"cannot be replayed: .*device",
    ),
    "rows out of order": (
        lambda rows: replace(rows, events=rows.events.reverse()),
        r"field 'seq': the row with seq \d+ is out of order",
    ),
    "no slot": (
        lambda rows: changed(rows, "grant", 5, slot=pl.lit(None)),
        r"field 'slot': the row with seq \d+ has no value, and its op grant needs one",
    ),
    "no task": (
        lambda rows: changed(rows, "grant", 5, pid=pl.lit(None)),
        "field 'pid': the row with seq",
    ),
    "a missing device": (
        lambda rows: replace(rows, devices=rows.devices.tail(1)),
        r"field 'device': cluster_devices has the devices \[1\] and not",
    ),
    "a device of one slot": (
        lambda rows: replace(rows, devices=rows.devices.with_columns(slots=pl.lit(1, pl.UInt32))),
        "field 'slots': device 0 of cluster_devices has 1 slots ",
    ),
    "clusters of another size": (
        lambda rows: replace(
            rows, devices=rows.devices.with_columns(cluster_size=pl.lit(300, pl.UInt32))
        ),
        "field 'cluster_size': device 0 of cluster_devices has 300 slots ",
    ),
    "no rows": (lambda rows: replace(rows, events=rows.events.clear()), "has no rows"),
    "too many CPUs": (
        lambda rows: changed(rows, "grant", 5, cpu=pl.lit(5000)),
        "names CPU 5000, and at most",
    ),
    "a row of the other kernel": (
        lambda rows: changed(
            rows,
            "turn",
            1,
            op=pl.lit("move" if rows.rules == "6.12" else "visited"),
            slot=pl.lit(0),
            list=pl.lit("free"),
        ),
        "cannot be replayed: ",
    ),
}
"""What is wrong with a recording, how it becomes so, the error."""


def first(rows: ClusterRows, op: str, *, freed: bool) -> int:
    """Return the seq of the first row of an op; of a slot that is freed before it is used again."""
    where = ("device", "slot")
    found = rows.events.filter(op=op)
    if freed:
        found = found.join(rows.events.filter(op="free").select(where), on=where, how="semi")
    return int(found["seq"][0])


NOT_REPLAYED = ("a missing grant", "a row of the other kernel")
"""What is wrong only by the rules of the recorded kernel."""


@RULES
@pytest.mark.parametrize("wrong", BAD)
def test_bad_recordings_are_refused_in_one_line(rules: str, wrong: str, tmp_path: Path) -> None:
    """The error names the folder or file, the row and the field; so do other rules."""
    change, error = BAD[wrong]
    folder = folder_of(change(RECORDED[rules]), tmp_path / "trace")
    for verb in (verify, clusters.replay)[: 2 - (wrong in NOT_REPLAYED)]:
        with pytest.raises(InputError, match=error) as raised:
            verb(folder)
        assert str(raised.value).startswith(str(folder))
        assert "\n" not in str(raised.value)


def test_lost_events_are_refused(tmp_path: Path) -> None:
    """A recording with losses has no complete order, whatever it lost."""
    folder = folder_of(RECORDED["7.3"], tmp_path / "trace", "[lost]\ngaps_of_unknown_size = 2\n")
    with pytest.raises(InputError, match="trace: the recording has 2 losses of unknown size"):
        verify(folder)


def test_a_trace_of_other_events_is_refused(tmp_path: Path) -> None:
    """The missing table is named."""
    folder = folder_of(RECORDED["7.3"], tmp_path / "trace")
    (folder / "cluster_devices.parquet").unlink()
    with pytest.raises(InputError, match="clusters needs the event cluster_devices; the trace has"):
        verify(folder)
