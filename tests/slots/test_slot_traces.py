# SPDX-License-Identifier: GPL-2.0-or-later
"""Slot traces: what the kernel handed out, and its set-up."""

from pathlib import Path

import polars as pl
import pytest

from swapsim import slots, traces
from swapsim.errors import InputError
from swapsim.slots.events import SLOT_EVENTS, request_streams, set_up, slot_events

PROVENANCE = """
[kernel]
swap_base = "shared"
cluster_size = 256
trunk_shift = 8
[guest]
cpus = 2
"""


def write(folder: Path, rows: list[dict[str, object]], provenance: str = PROVENANCE) -> Path:
    """Write a trace folder of these slot events."""
    folder.mkdir()
    frame = pl.DataFrame(rows, schema=SLOT_EVENTS)
    frame.write_parquet(folder / "slot_events.parquet")
    (folder / "trace.toml").write_text(provenance, encoding="utf-8")
    return folder


def alloc(seq: int, cpu: int, pid: int, offset: int) -> dict[str, object]:
    """Return one alloc row."""
    return {"seq": seq, "cpu": cpu, "pid": pid, "mm": pid, "op": "alloc", "offset": offset}


ROWS = [
    alloc(0, 0, 7, 300),
    alloc(1, 0, 7, 301),
    alloc(2, 1, 8, 302),
    alloc(3, 1, 8, 600),
    alloc(4, 0, 7, 302),
    {"seq": 5, "cpu": 0, "pid": 7, "mm": 7, "op": "free", "n": 1, "offset": 300},
]


def test_shipped_slot_traces_say_how_they_were_set_up() -> None:
    """Each shipped trace with slot events has its set-up; others are not listed."""
    shipped = traces.shipped_folders("slots")
    assert "swap-w-seq" not in shipped
    assert len(shipped) >= 8
    for folder in shipped.values():
        known = set_up(folder)
        assert known.possible_cpus in (1, 4, 8)
        assert known.cluster_size == 256


def test_traces_are_verified_with_their_own_set_up() -> None:
    """Every slot of two shipped traces matches; with one CPU, exactly."""
    shipped = traces.shipped_folders("slots")
    for name, alone in (("slots-1-percpu-rerandomise", True), ("slots-4-above-half", False)):
        verdict = slots.verify(shipped[name])
        assert verdict.agrees
        calls = verdict.tables["calls"].sum()
        assert calls["mismatched"].item() == 0
        assert calls["exact"].item() + calls["raced"].item() == calls["slots"].item()
        assert not (alone and calls["raced"].item())


def test_bad_folders_are_named(tmp_path: Path) -> None:
    """A folder without slot events, or without its set-up, is refused in one line."""
    with pytest.raises(InputError, match="without provenance"):
        slot_events(tmp_path)
    folder = write(tmp_path / "other", ROWS)
    (folder / "slot_events.parquet").rename(folder / "swp_add.parquet")
    with pytest.raises(InputError, match="no event slot_events; it has: swp_add"):
        slot_events(folder)
    folder = write(tmp_path / "a", ROWS, provenance="[kernel]\n")
    with pytest.raises(InputError, match=r"trace\.toml, field 'kernel\.swap_base'"):
        set_up(folder)
    (folder / "trace.toml").write_text("[kernel\n")
    with pytest.raises(InputError, match=r"a/trace\.toml: is no TOML"):
        request_streams(folder)
    folder = write(tmp_path / "b", ROWS, provenance=PROVENANCE.replace("cpus = 2", "cpus = 'two'"))
    with pytest.raises(InputError, match=r"field 'guest\.cpus': .* \(as int\)"):
        set_up(folder)
