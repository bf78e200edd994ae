# SPDX-License-Identifier: GPL-2.0-or-later
"""The import of what probes in a stock kernel's allocator write."""

import re
from pathlib import Path

import polars as pl
import pytest
from oracle_clusters import DeviceConfig
from probe_text import text_of
from recording import Recorder

from swapsim import clusters, traces
from swapsim.clusters.events import CLUSTER_DEVICES, CLUSTER_EVENTS, cluster_rows
from swapsim.errors import InputError

DEVICES = (
    {"device": 0, "slots": 2000, "priority": -2, "discard": True},
    {"device": 1, "slots": 900, "priority": 5, "file": True, "rotational": True},
)
OF_6_12 = (
    ("turn", {"device": 1}),
    ("call", {"n": 2, "order": 0}),
    ("visit", {"device": 0, "slot": 512, "order": 0}),
    ("grant", {"device": 0, "slot": 512, "n": 1}),
    ("visited", {"slot": 513}),
    ("full", {"device": 0, "n": 0}),
    ("try", {"device": 0, "slot": 7, "n": 0}),
    ("full_done", {"device": 0}),
    ("window", {}),
    ("relock", {}),
    ("discard", {"device": 0, "slot": 1024}),
    ("discarded", {"device": 0, "slot": 1024}),
    ("done", {"n": 1}),
    ("free", {"device": 1, "slot": 513, "n": 3}),
)
OF_7_3 = (
    ("turn", {"device": 0}),
    ("call", {"n": 1, "order": 4}),
    ("pick", {"device": 0, "list": "nonfull4"}),
    ("picked", {"device": 0, "slot": 0, "n": 0, "list": "nonfull4"}),
    ("pick", {"device": 0, "list": "free"}),
    ("picked", {"device": 0, "slot": 1024, "n": 1, "list": "free"}),
    ("visit", {"device": 0, "slot": 1024, "order": 4}),
    ("grant", {"device": 0, "slot": 1024, "n": 16}),
    ("move", {"device": 0, "slot": 1024, "list": "frag4"}),
    ("done", {"n": 1}),
    ("full", {"device": 1, "n": 1}),
    ("full_done", {"device": 1}),
    ("try", {"device": 1, "slot": 7, "n": 0}),
    ("free", {"device": 0, "slot": 1030, "n": 2}),
    ("move", {"device": 0, "slot": 1024, "list": "nonfull4"}),
    ("pick", {"device": 1, "list": "nonfull0"}),
    ("picked", {"device": 1, "slot": 512, "n": 1, "list": "nonfull0"}),
    ("window", {}),
    ("relock", {}),
    ("visit", {"device": 1, "slot": 512, "order": 0}),
    ("move", {"device": 1, "slot": 512, "list": "discard"}),
    ("discard", {"device": 0, "slot": 1024}),
)


def tables(rules: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return CLUSTER_EVENTS with each op of a kernel, and CLUSTER_DEVICES."""
    ops = OF_6_12 if rules == "6.12" else OF_7_3
    first = {
        fields.get("device"): n for n, (op, fields) in reversed([*enumerate(ops)]) if op == "pick"
    }
    # On 7.3 a device has its row where its first pick is.
    before = [first.get(device["device"], 0) for device in DEVICES]
    known = {"file": False, "rotational": False, "discard": False, "cluster_size": 512}
    devices = [
        {"seq": n + number, **known, **device, "rules": rules}
        for number, (n, device) in enumerate(zip(before, DEVICES, strict=True))
    ]
    rows = [
        {"seq": n + sum(at <= n for at in before), "cpu": 1, "pid": 70, "op": op, **fields}
        for n, (op, fields) in enumerate(ops)
    ]
    return (
        pl.DataFrame(rows, schema=CLUSTER_EVENTS),
        pl.DataFrame(devices, schema=CLUSTER_DEVICES),
    )


def imported(folder: Path, lines: list[str]) -> Path:
    """Import lines of text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trace.txt").write_text("".join(lines), encoding="utf-8")
    traces.import_text(folder / "trace.txt", folder / "trace")
    return folder / "trace"


@pytest.mark.parametrize("rules", ["6.12", "7.3"])
def test_a_text_in_any_order_of_cpus_becomes_the_tables(rules: str, tmp_path: Path) -> None:
    """Each op has its probe; rows are in the order of the counter, whatever that of the lines."""
    events, devices = tables(rules)
    after = pl.int_range(pl.len(), dtype=pl.UInt64) + events["seq"][-1] + 1
    other = events.with_columns(seq=after, cpu=pl.lit(0, pl.UInt16), pid=pl.lit(71, pl.Int32))
    both = pl.concat([events, other])
    lines = text_of(both, devices)
    cpus = [[line for line in lines if f"[00{cpu}]" in line] for cpu in (1, 0)]
    folder = imported(tmp_path, [lines[0], *cpus[0], *cpus[1]])
    assert set(traces.events(folder)["event"]) == {"cluster_events", "cluster_devices"}
    assert traces.scan_event(folder, "cluster_events").collect().equals(both)
    assert traces.scan_event(folder, "cluster_devices").collect().equals(devices)


@pytest.mark.parametrize("rules", ["6.12", "7.3"])
def test_each_needed_event_is_asked_for(rules: str, tmp_path: Path) -> None:
    """A text without an event that a replay needs is refused, with the event's name."""
    lines = text_of(*tables(rules))
    needed = ["slot_grant", "cluster_visit"]
    needed += ["swap_call"] if rules == "6.12" else ["swap_request", "cluster_pick"]
    for number, event in enumerate(needed):
        some = [line for line in lines if f" {event}:" not in line]
        with pytest.raises(InputError, match=rf"trace\.txt: has no event {event}, which"):
            imported(tmp_path / str(number), some)
    some = [line.replace("used=0", "used=7") for line in lines if " swap_on:" not in line]
    with pytest.raises(InputError, match="in use before the first row"):
        imported(tmp_path / "on", some)


BAD: tuple[tuple[str, str, str, str], ...] = (
    ("7.3", r" 10(\d\d): ", r" 1.0000\1: ", "counts seconds"),
    ("7.3", "clock=counter ", "", "does not say which clock it has: record by the script"),
    ("6.12", "clock=counter", "clock=mono", "its clock is mono, which does not order"),
    ("7.3", "cluster_bytes=48", "", "its head has no cluster_bytes"),
    ("6.12", "device_bytes=640", "device_bytes=0", "its head has no device_bytes"),
    (
        "6.12",
        r"\[001\](.*) 1009: ",
        r"[000]\1 1008: ",
        "event 9 shares its time with one of another",
    ),
    ("7.3", "(device=1 .*)full=56", r"\1full=88", "lists at other offsets than device 0"),
    ("7.3", r"(ci=0xffff88800800006)0( list)", r"\g<1>1\2", "names no cluster of its device"),
    ("6.12", " 1012: ", " 1001: ", "event 12 is at 1001, before another of CPU 1: import one"),
    ("6.12", "swap_on: (.*)device=1", r"swap_on: \1device=0", "second time"),
    ("6.12", "swap_on: (.*)device=1", r"swap_on: \1device=2", "devices 0, 2 and not 0, 1"),
    ("7.3", "used=0", "used=9", "slots in use: it was in use before the first row"),
    ("7.3", "frag=232", "frag=240", "at offsets that no kernel has"),
    ("7.3", "list=0xffff", "list=0xfff0", "names no list of its device"),
    (
        "7.3",
        "ci=0xffff88800800006",
        "ci=0xffff88800800007",
        "another cluster than that of its slot",
    ),
    ("6.12", ".* cluster_reclaim:.*\n", "", "an end of cluster_reclaim whose begin is missing"),
    ("6.12", "order=0", "order=-1", "has a value of order that no kernel has"),
    ("6.12", "nr=1", "nr=x", "slot_grant has no such field of whole numbers"),
    ("6.12", "cluster_window:", "swap_off:", "has a swapoff"),
)
"""Rules, a pattern of the text, its replacement, the error."""


@pytest.mark.parametrize(("rules", "old", "new", "error"), BAD)
def test_bad_texts_are_refused_in_one_line(
    rules: str, old: str, new: str, error: str, tmp_path: Path
) -> None:
    """The error names the text and the event, and there is no folder."""
    text = "".join(text_of(*tables(rules)))
    lines = re.sub(old, new, text).splitlines(keepends=True)
    assert "".join(lines) != text
    with pytest.raises(InputError, match=r"trace\.txt.*: .*" + error) as raised:
        imported(tmp_path, lines)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "trace").exists()


def test_a_device_that_is_never_used_is_one_of_the_kernel(tmp_path: Path) -> None:
    """It counts where the kernel asks whether swap is full; before it was shown, it was missing."""
    kernel = Recorder("7.3", (DeviceConfig(2048, priority=2), DeviceConfig(4096, priority=1)))
    for _ in range(1700):
        kernel.call(0, 0, 1)
    kernel.call(0, 4, 1)
    rows = kernel.written()
    lines = text_of(rows.events, rows.devices)
    assert not rows.events.filter(device=1).height
    found = cluster_rows(imported(tmp_path / "shown", lines))
    assert found.devices.drop("seq").equals(rows.devices.drop("seq"))
    assert clusters.verify(found).agrees
    old = [line for line in lines if " swap_device:" not in line]
    found = cluster_rows(imported(tmp_path / "not-shown", old))
    assert found.devices["slots"].to_list() == [2048]
    assert not clusters.verify(found).agrees


def test_events_of_other_recordings_keep_their_tables(tmp_path: Path) -> None:
    """Requests alone are no recording of an allocator."""
    lines = text_of(*tables("7.3"))
    folder = imported(tmp_path, [line for line in lines if " swap_request" in line])
    assert dict(traces.events(folder).iter_rows()) == {"swap_request": 1, "swap_request_end": 1}


@pytest.mark.parametrize("rules", ["6.12", "7.3"])
def test_lines_of_a_stock_kernel_are_imported_and_verified(rules: str, tmp_path: Path) -> None:
    """The first events of a machine with four CPUs, also in another order of the CPUs."""
    text = (Path(__file__).parents[1] / "data" / f"clusters-{rules}.txt").read_text()
    head, *rest = text.splitlines(keepends=True)
    lines = [line for line in rest if not line.startswith("#")]
    by_cpu = sorted(lines, key=lambda line: line[line.index("[") :][:5])
    folders = [
        imported(tmp_path / name, [head, *some]) for name, some in (("a", lines), ("b", by_cpu))
    ]
    tables = [cluster_rows(folder) for folder in folders]
    assert tables[0].events.equals(tables[1].events)
    assert tables[0].events["cpu"].n_unique() > 1
    assert tables[0].devices["slots"].to_list() == [24576]
    assert clusters.verify(tables[0]).agrees
