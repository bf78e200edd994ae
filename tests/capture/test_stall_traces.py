# SPDX-License-Identifier: GPL-2.0-or-later
"""The rig's tables of reclaim's folios, decisions and sleeps, and the shipped ones."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from swapsim.io import shipped_traces
from swapsim.stall.tables import RECLAIM_FOLIOS, THROTTLES
from swapsim.traces import provenance

TRACES = {name: folder for name, folder in shipped_traces().items() if name.startswith("stalls-")}
SLEEP = {"nid": 0, "reason": "writeback", "timeout_us": 100000, "delayed_us": 52000, "kthread": 0}
MISSING = {"congested_devices": -1, "flags": -1}
COUNTED = {"failures": 0, "reclaimable": 0, "write_pending": 0}


def write_event(folder: Path, event: str, rows: list[dict[str, int | str]]) -> None:
    """Write an event's rows as an import does."""
    fixed = {"seq": pl.UInt64, "cpu": pl.UInt16, "pid": pl.Int32}
    frame = pl.DataFrame([{"cpu": 0, **row} for row in rows], schema_overrides=fixed)
    frame.write_parquet(folder / f"{event}.parquet")


def test_a_sleep_has_the_pass_and_list_of_its_request(rig: SimpleNamespace, tmp_path: Path) -> None:
    """The request is the event of the same task just before; a sleep without one has zeros."""
    sleep = {**SLEEP, **COUNTED, **MISSING}
    write_event(
        tmp_path,
        "throttles",
        [{"seq": seq, "pid": pid, **sleep} for seq, pid in [(3, 7), (4, 8), (5, 7)]],
    )
    write_event(
        tmp_path,
        "throttle_askers",
        [{"seq": 1, "pid": 7, "pass": 20, "list": 0}, {"seq": 2, "pid": 8, "pass": 21, "list": 9}],
    )
    rig.reclaim.tabulate(tmp_path)
    table = pl.read_parquet(tmp_path / "throttles.parquet")
    assert table.schema == THROTTLES
    assert table.select("seq", "pass", "list").rows() == [(3, 20, 0), (4, 21, 9), (5, 0, 0)]
    assert table["flags"].null_count() == table["congested_devices"].null_count() == 3


def test_a_missing_answer_is_null(rig: SimpleNamespace, tmp_path: Path) -> None:
    """A folio that was never locked has no answer of a file system, no test and no write."""
    asked = ("file", "dirty", "writeback", "reclaim", "private", "lazyfree", "swap")
    unasked = ("fs_dirty", "fs_writeback", "buffers", "clean", "under_writeback", "marked")
    row = {
        "seq": 0,
        "pid": 7,
        "list": 1,
        "mapping": 16,
        "index": 5,
        "pages": 1,
        "pages_end": 1,
        "outcome": "kept",
        "step": "lock",
        "node_flags": -1,
        "congested": -1,
        **dict.fromkeys(asked, 1),
        **dict.fromkeys(unasked, -1),
    }
    write_event(tmp_path, "reclaim_folios", [row])
    rig.reclaim.tabulate(tmp_path)
    table = pl.read_parquet(tmp_path / "reclaim_folios.parquet")
    assert table.schema == RECLAIM_FOLIOS
    assert table.select(asked).row(0) == (True,) * len(asked)
    assert table.select(*unasked, "node_flags").row(0) == (None,) * (len(unasked) + 1)


def test_an_unknown_word_is_refused(rig: SimpleNamespace, tmp_path: Path) -> None:
    """Events of another kernel may have other words."""
    row = {"seq": 0, "pid": 7, "nid": 0, "memcg": 0, "flags": 7, "why": "bored"}
    write_event(tmp_path, "reclaim_clears", [row])
    with pytest.raises(rig.errors.GuestError, match="reclaim_clears"):
        rig.reclaim.tabulate(tmp_path)


@pytest.mark.parametrize("name", list(TRACES))
def test_a_list_is_its_folios(name: str) -> None:
    """Pages taken, reclaimed and written are those of the list's rows, by columns alone.

    Rules of mmotm do not count the pages for which they slept.
    """
    folios = pl.read_parquet(TRACES[name] / "reclaim_folios.parquet")
    lists = pl.read_parquet(TRACES[name] / "reclaim_lists.parquet")
    pages = pl.col("pages")
    counted = folios.group_by("list").agg(
        taken=pages.filter(pl.col("step") != "writeback_3").sum(),
        reclaimed=pages.filter(pl.col("outcome") == "reclaimed").sum(),
        pageout=pages.filter(pl.col("clean").is_not_null()).sum(),
        writeback=pages.filter(pl.col("step") == "writeback_2").sum(),
        immediate=pages.filter(pl.col("step") == "writeback_1").sum(),
        ref_keep=pages.filter(pl.col("step") == "reference_keep").sum(),
    )
    columns = counted.columns
    if provenance(TRACES[name])["kernel"]["reclaim_rules"] == "mmotm":
        assert lists["immediate"].max() == 0
        columns.remove("immediate")
    both = lists.select(columns).join(counted, on="list", suffix="_of_folios")
    assert both.height == lists.height
    for column in columns[1:]:
        assert (both[column] == both[f"{column}_of_folios"]).all(), column
