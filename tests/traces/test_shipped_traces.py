# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped traces are complete, small, and agree with the counters of their kernel."""

from pathlib import Path

import polars as pl
import pytest

import swapsim
from swapsim import mapping, removal, traces
from swapsim.io import data_root, shipped_traces

SHIPPED = shipped_traces()
PAGES = traces.shipped_folders("mapping")
SLOTS = traces.shipped_folders("slots")
REMOVALS = {name: folder for name, folder in SHIPPED.items() if name.startswith("removals-")}
STALLS = {name: folder for name, folder in SHIPPED.items() if name.startswith("stalls-")}
CLUSTERS = {name: folder for name, folder in SHIPPED.items() if name.startswith("clusters-")}
GENERATIONS = {name: folder for name, folder in SHIPPED.items() if name.startswith("generations-")}
THROTTLES = {name: folder for name, folder in SHIPPED.items() if name.startswith("throttles-")}


@pytest.fixture(params=list(SHIPPED), scope="module")
def trace(request: pytest.FixtureRequest) -> Path:
    """Return each shipped trace in turn."""
    return SHIPPED[request.param]


@pytest.fixture(params=list(PAGES), scope="module")
def page_trace(request: pytest.FixtureRequest) -> Path:
    """Return each trace of pages in turn."""
    return PAGES[request.param]


def test_traces_are_shipped_within_their_size() -> None:
    """Bytes are limited for all traces, and for those of each replay."""
    assert set(PAGES) == {"swap-w-seq", "random-80-20", "slow-disk"}
    kinds = (SLOTS, REMOVALS, STALLS, CLUSTERS, GENERATIONS, THROTTLES)
    assert [len(kind) for kind in kinds] == [8, 8, 11, 16, 11, 5]
    assert set(SHIPPED) == {*PAGES, *(name for kind in kinds for name in kind)}
    files = [path for path in (data_root() / "traces").rglob("*") if path.is_file()]
    limits = (38e6, 10e6, 4e6, 12e6, 6e6, 4e6, 1e6)
    for names, most in zip((SHIPPED, *kinds), limits, strict=True):
        assert sum(path.stat().st_size for path in files if path.parent.name in names) < most


def test_a_trace_has_the_events_that_its_provenance_counts(trace: Path) -> None:
    """Rows agree with trace.toml, 20,000 to 1,500,000 (1,000 decisions), none lost."""
    counted = traces.events(trace)
    origin = traces.provenance(trace)
    assert origin["files"].keys() == {path.name for path in trace.glob("*.parquet")}
    assert dict(counted.iter_rows()) == origin["events"]
    least = 1_000 if trace.name in {*GENERATIONS, *THROTTLES} else 20_000
    assert least <= counted["rows"].sum() <= 1_500_000
    assert not any(origin["recording"]["lost_events_by_cpu"].values())
    assert not any(origin["recording"]["probe_misses"].values())


def test_rows_of_all_tables_are_numbered_once(trace: Path) -> None:
    """All tables together have each seq from 0 once."""
    seqs = pl.concat(
        [
            traces.scan_event(trace, event).select("seq").collect()
            for event in traces.events(trace)["event"]
        ]
    )
    assert seqs["seq"].sort().to_list() == list(range(seqs.height))


def test_the_trace_shows_the_pages_that_the_kernel_counted(page_trace: Path) -> None:
    """Writebacks of swap pages in the trace are pswpout of the same kernel."""
    sites = mapping.replay(page_trace, kernels="6.1")
    starts = sites.filter(
        (pl.col("site") == "start") & (pl.col("flow") == "swap, written") & pl.col("tags")
    )
    assert starts["calls"].to_list() == [traces.provenance(page_trace)["counters"]["pswpout"]]


def test_a_page_needs_the_lock_once_per_site(page_trace: Path) -> None:
    """Each page swapped out needs one acquisition per site; without tags zero at start and end."""
    for kernel in ("4.8", "5.8", "6.1"):
        per_page = mapping.per_page(mapping.replay(page_trace, kernels=kernel))
        swap = per_page.filter(pl.col("flow") == "swap, written")
        for tags in (True, False):
            by_site = dict(
                swap.filter(pl.col("tags") == tags).select("site", "acquisitions").iter_rows()
            )
            assert by_site["start"] == by_site["end"] == float(tags)
            # A page may be written twice in one stay; then it has one add for two starts.
            assert 0.999 < by_site["add"] <= 1.0
            # Some pages are still in the cache, or under writeback, when a trace ends.
            assert 0.95 < by_site["delete"] <= 1.0


def test_no_row_contradicts_another(page_trace: Path) -> None:
    """No folio is added twice, and each deletion finds the folio that was added."""
    assert mapping.replay(page_trace)["contradicted"].sum() == 0


def test_a_trace_is_opened_by_its_name_and_each_subject_takes_it() -> None:
    """Its kernel, subjects and events; an opened trace, its name and its folder are the same."""
    trace = swapsim.open("swap-w-seq")
    assert trace.name in swapsim.shipped("mapping")
    assert {*swapsim.shipped("mapping")} < {*swapsim.shipped()}
    assert (trace.kernel[:3], trace.feeds) == ("6.1", ("mapping", "removal"))
    counted = dict(trace.info().iter_rows())
    assert trace.events("swp_add").height == counted["swp_add"]
    two = mapping.replay(trace, kernels=["4.8", "6.1"], tags=[False])
    assert two.select("kernel", "tags").unique().sort("kernel").rows() == [
        ("4.8", False),
        ("6.1", False),
    ]
    assert two.filter(kernel="4.8").equals(mapping.replay(trace.folder, tags=[False]))
    assert removal.replay(trace).equals(removal.replay("swap-w-seq"))
