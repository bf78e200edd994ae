# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped traces of reclaim: verified by their rules, and decided by the others' rules."""

from functools import cache
from pathlib import Path
from shutil import copytree

import oracle_stall
import polars as pl
import pytest

from swapsim import stall, traces
from swapsim.errors import InputError
from swapsim.ffi import STALL_RULES
from swapsim.stall.recording import reclaim_rows
from swapsim.stall.replay import decided_lists

SHIPPED = traces.shipped_folders("stall")
TRACES = pytest.mark.parametrize("folder", SHIPPED.values(), ids=SHIPPED)
SHARED = ("file", "dirty", "writeback", "reclaim", "buffers", "fs_dirty", "fs_writeback", "pages")
SHARED += ("lazyfree", "under_writeback")
rows_of = cache(reclaim_rows)
LISTS = 40
"""Lists of each trace that the plain model decides, too."""


@TRACES
def test_a_real_kernel_decided_by_its_rules(folder: Path) -> None:
    """All lists, passes and sleeps agree by the rules of trace.toml, and none is left out."""
    rules = traces.provenance(folder)["kernel"]["reclaim_rules"]
    found = stall.verify(folder)
    assert found.agrees, "\n".join(found.describe())
    assert f"rules: {rules} (as trace.toml says)" in found.describe()
    rows = rows_of(folder)
    for kind in ("passes", "lists", "throttles"):
        height = getattr(rows, kind).height
        assert found.counts[kind] == (height, height)


def test_other_rules_are_named_with_those_of_the_recording() -> None:
    """A mismatch under rules that the user gave says with which ones the trace was recorded."""
    lines = stall.verify("stalls-series-1", "6.1").describe()
    assert "  recorded with the rules series-8, replayed with 6.1" in lines
    assert "rules: 6.1 (trace.toml says series-8)" in lines


def test_the_oldest_rules_count_what_pageout_left_as_congested() -> None:
    """No device is: with them alone the flag congested can be set before series-6."""
    decided = decided_lists(rows_of(SHIPPED["stalls-nfs-4"]))
    counted = dict(decided.group_by("rules").agg(pl.col("congested").sum()).iter_rows())
    left = {"3.9", "mmotm", "series-1"}
    none = {"series-2", "series-3", "series-4", "series-5"}
    assert {name for name, pages in counted.items() if not pages} == none
    assert left < {*counted}


def test_rules_that_trace_toml_misspells_are_refused(tmp_path: Path) -> None:
    """The message names the field and the known rule sets."""
    folder = tmp_path / "mine"
    copytree(SHIPPED["stalls-disk-1"], folder)
    about = folder / "trace.toml"
    text = about.read_text()
    about.write_text(text.replace('reclaim_rules = "6.1"', 'reclaim_rules = "6.l"'))
    with pytest.raises(InputError, match=r"reclaim_rules': '6.l' in trace.toml is none of 3\.9"):
        stall.verify(folder)


@TRACES
def test_the_plain_model_decides_as_the_library_by_all_rules(folder: Path) -> None:
    """Lists at even distances, from the flags that each rule set has left before them."""
    recorded = rows_of(folder)
    decided = decided_lists(recorded)
    decided = decided.filter(pl.col("nth") % (decided["nth"].n_unique() // LISTS) == 0)
    lists = {row["list"]: row for row in recorded.lists.iter_rows(named=True)}
    folios = recorded.folios.filter(pl.col("list").is_in(decided["list"].unique().implode()))
    by_list = {number: frame for (number,), frame in folios.group_by("list", maintain_order=True)}
    for rules in STALL_RULES:
        for ours in decided.filter(pl.col("rules") == rules).iter_rows(named=True):
            known = lists[ours["list"]]
            caller = ("priority", "kswapd", "sane", "hibernation", "io", "fs")
            context = oracle_stall.Context(
                rules,
                memcg=known["target"] != 0,
                flags=ours["flags_before"],
                **{name: known[name] for name in caller},
            )
            rows = [_row(folio, rules) for folio in by_list[ours["list"]].iter_rows(named=True)]
            model = oracle_stall.replay(context, rows, file=known["file"], taken=known["taken"])
            counts = model.reclaim.counts
            for name in ("dirty", "unqueued_dirty", "congested", "writeback", "immediate"):
                assert getattr(counts, name) == ours[name], (rules, ours["list"], name)
            assert model.unrecorded == ours["unrecorded"], (rules, ours["list"])


def _row(folio: dict[str, object], rules: str) -> oracle_stall.Row:
    """Return a folio of the plain model; by 6.1's rules with the flags that its tests read."""
    shared = {name: folio[name] for name in SHARED}
    page = oracle_stall.Page(**shared, congested=bool(folio["congested"]))
    flags = (folio["node_flags"] or 0) if rules == "6.1" else None
    return oracle_stall.Row(page, str(folio["step"]), bool(folio["clean"]), flags)


COUNTED = ("tail_lru_dirty", "writeback", "congested", "forced", "waits", "naps")
COUNTED += ("turned", "not_written", "waited", "file_written")
GOLDEN = {
    ("stalls-disk-1", "mmotm"): (791, 1887, 23, 826, 46, 325, 46117, 97, 0, 16),
    ("stalls-disk-1", "series-3"): (4, 1481, 0, 848, 0, 325, 46117, 104, 0, 9),
    ("stalls-disk-1", "series-8"): (4, 1481, 648, 848, 2010, 0, 46117, 104, 0, 9),
    ("stalls-disk-1", "6.1"): (307, 10, 33, 112, 450, 2, 46117, 101, 0, 12),
    ("stalls-cgroup-4", "mmotm"): (0, 394, 0, 0, 0, 2229, 5780, 3141, 22044, 0),
    ("stalls-cgroup-4", "series-8"): (0, 394, 0, 0, 0, 0, 5780, 3141, 22044, 0),
    ("stalls-cgroup-4", "6.1"): (0, 0, 620, 0, 737, 0, 27824, 3141, 0, 0),
}
"""The values of COUNTED by trace and rules, stored when the plain model agreed."""


@pytest.mark.parametrize("name", sorted({trace for trace, _ in GOLDEN}))
def test_the_decisions_of_other_rules_do_not_change(name: str) -> None:
    """Flags, sleeps and folios of a shipped trace are as stored, by several rule sets."""
    summed = stall.replay(SHIPPED[name])
    for (trace, rules), counts in GOLDEN.items():
        if trace == name:
            row = summed.filter(pl.col("rules") == rules).select(COUNTED).row(0)
            assert row == counts, rules
