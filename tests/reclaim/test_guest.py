# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's guest as a world: what the rig set, and what is counted of it."""

import dataclasses
from pathlib import Path

import polars as pl
import pytest

from swapsim import claims, reclaim
from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_RULES
from swapsim.io.paths import data_root
from swapsim.reclaim.constants import LAB_GUEST
from swapsim.reclaim.report import SECTORS
from swapsim.study.tables import CONSTANTS

SMALL = dataclasses.replace(
    reclaim.lab_guest("mmotm", 1.67), dma32_pages=2000, min_free_pages=80, items=250, files=(500,)
)


def values() -> dict[str, int]:
    """Return the constants' values."""
    return dict(reclaim.lab_guest_constants().select("name", "value").iter_rows())


def test_the_guest_is_the_rigs() -> None:
    """Size, disk and limits are those of the experiment; nothing of it is typed otherwise."""
    told = claims.measured_provenance("stall-rules")["guest"]
    disk, found = told["slow_disk"], values()
    assert reclaim.lab_guest_constants().schema == CONSTANTS.schema
    assert found["disk_rate"] == disk["bytes_per_second"] // 4096
    assert found["seek_ns"] == disk["seek_us"] * 1000
    assert found["disk_pages"] == disk["file_mebibytes"] * 256
    assert found["swap_pages"] == disk["swap_mebibytes"] * 256
    measured = claims.measured_results("stall-rules")
    bytes_of = {
        name: measured.filter(metric=name)["value"].median()
        for name in ("Pool", "Memory beside the pool")
    }
    assert found["available_pages"] == pytest.approx(sum(bytes_of.values()) / 4096, abs=30)
    usable = found["available_pages"] - found["kernel_pages"]
    limits = reclaim.lab_guest_constants().filter(pl.col("name").str.ends_with("_percent"))
    for name, sysctl in (("dirty", "dirty_bytes"), ("background", "dirty_background_bytes")):
        least = limits.filter(name=f"{name}_percent")["low"].item()
        assert least == pytest.approx(100 * told["sysctl"][f"vm.{sysctl}"] / 4096 / usable, abs=0.5)


def test_the_guests_marks_and_room_are_those_of_a_boot() -> None:
    """Of 326, 607 and 888 pages the world has the distances, and as much above them."""
    config, found = reclaim.lab_guest("6.1", 0.5), values()
    low, high = config.min_free_pages * 5 // 4, config.min_free_pages * 3 // 2
    assert low - config.min_free_pages == high - low == found["gap_pages"] == 888 - 607
    assert config.dma32_pages - high == found["available_pages"] - found["kernel_pages"]
    assert config.normal_pages == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gap_pages,281", "gap,281", "field 'name': constant 'gap': it is unknown"),
        ("gap_pages,281,281", "gap_pages,281,282", "field 'low': constant 'gap_pages': 282 must"),
        (
            "nr_requests,128",
            "gap_pages,281",
            "field 'name': constant 'gap_pages': it is given",
        ),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """An unknown name, a value out of its range, one that is missing."""
    text = (data_root() / "reclaim-lab-guest.csv").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "reclaim-lab-guest.csv").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"reclaim-lab-guest\.csv, line \d+, {message}"):
        reclaim.lab_guest_constants(root=tmp_path)


def test_a_changed_constant_is_one_of_them() -> None:
    """Others are refused by name."""
    changed = dict(
        reclaim.lab_guest_constants({"gap_pages": 300}).select("name", "value").iter_rows()
    )
    assert changed == values() | {"gap_pages": 300}
    assert tuple(changed) == LAB_GUEST.names
    with pytest.raises(InputError, match="'gap'"):
        reclaim.lab_guest_constants({"gap": 1})


@pytest.mark.parametrize("rules", STALL_RULES)
def test_a_window_is_what_a_run_counts(rules: str) -> None:
    """A file that is done before the serving ends: all of the run, but for the pool's filling."""
    config = dataclasses.replace(SMALL, rules=rules, serve_ns=4_000_000_000)
    window = reclaim.run_lab_guest(config)
    whole = reclaim.run(config, reclaim.change_constants(reclaim.constants(), _costs()))
    counters = dict(whole.counters.iter_rows())
    assert window.io_ns == whole.rounds["io_ns"].item()
    assert window.ops == whole.rounds["ops"].item()
    assert not window.out_of_memory
    for name in ("disk_written", "disk_read", "swapped_out", "swapped_in"):
        assert window.counters[name] == counters[name]
    rows = {name: (value, unit) for name, value, unit in reclaim.lab_guest_rows(window)}
    assert rows["Sector Writes"] == (SECTORS * counters["disk_written"], "sectors")
    assert rows["Kswapd pages scanned"][0] == whole.zones["scanned_kswapd"].sum()


def test_rows_are_called_as_the_rig_calls_them() -> None:
    """Each is in data/measured, with its unit."""
    measured = claims.measured_results("stall-rules").select("metric", "unit").unique()
    units = dict(measured.iter_rows())
    for name, _, unit in reclaim.lab_guest_rows(reclaim.run_lab_guest(SMALL)):
        assert units[f"{name}-0.5" if name.startswith("Ops ") else name] == unit


def _costs() -> dict[str, int]:
    return {
        name: value
        for name, value in values().items()
        if name.endswith("_ns") and name != "seek_ns"
    }
