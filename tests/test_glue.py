# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins, units, aggregations, signs and bases of the Python layer, next to plain loops.

A trace is a list of events, each with the row that it has to become. Hypothesis merges those of
several tasks, which change CPU and write at one time, into one text.
"""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapsim import published, removal, traces
from swapsim.io import data_root
from swapsim.machine._native import Window
from swapsim.machine.running import window_metrics
from swapsim.mapping import FLOW, LOCK_SITES, File, Op, per_page, totals_per_page, writeback_rows
from swapsim.reclaim import Run as ReclaimRun
from swapsim.slots.events import SLOT_EVENTS, request_streams
from swapsim.slots.workbench import means, ranking
from swapsim.study import against, over

Row = dict[str, Any]
Event = tuple[str, Any]
"""Its text, and what it becomes; None for nothing."""
Events = list[tuple[int, str, Any]]
"""Events of several tasks: pid, text, what it becomes."""

NAMES = ("shared", "per cpu", "per  cpu")
COUNT = st.integers(0, 2**40)
VALUE = st.integers(-40, 40).map(float)
FIGURE = st.integers(1, 10**6).map(float)


def near(value: Any) -> Any:
    """Return what a figure may be: a sum of floats depends on its order, null does not."""
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


def change_of(value: float | None, base: float | None) -> float | None:
    """Return the change from a base in percent."""
    return None if value is None or not base else 100 * (value - base) / base


@st.composite
def runs(draw: Any, *settings: Sequence[Any], values: Any = VALUE, least: int = 1) -> list[tuple]:
    """Draw rows (settings ..., seed, value): some values are null, some settings are missing."""
    chosen = draw(st.lists(st.sampled_from([*product(*settings)]), min_size=least, unique=True))
    seeds = draw(st.lists(st.integers(1, 60), min_size=1, max_size=4, unique=True))
    points = draw(st.permutations([(*each, seed) for each in chosen for seed in seeds]))
    drawn = draw(st.lists(st.none() | values, min_size=len(points), max_size=len(points)))
    return [(*point, value) for point, value in zip(points, drawn, strict=True)]


def frame_of(rows: Sequence[tuple], names: str = "policy tasks seed value") -> pl.DataFrame:
    """Return rows as a frame with these columns."""
    kinds = {"tasks": pl.Int64, "seed": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, {each: kinds.get(each, pl.String) for each in names.split()},
                        orient="row")  # fmt: skip


def grouped(rows: Sequence[tuple]) -> dict[tuple, list[float]]:
    """Return the values of each setting (all columns but seed and value)."""
    groups: dict[tuple, list[float]] = {}
    for *setting, _seed, value in rows:
        if value is not None:
            groups.setdefault(tuple(setting), []).append(value)
    return groups


# Summaries of runs.


@given(runs((*NAMES, None), (1, 8)))
def test_a_summary_has_the_statistic_of_each_setting(rows: list[tuple]) -> None:
    """Mean or median, ends and number are those of a setting's values; a null is no run."""
    for statistic, plain in (("mean", fmean), ("median", median)):
        assert over(frame_of(rows), stat=statistic).rows() == [
            (*setting, len(own), near(plain(own)), min(own), max(own))
            for setting, own in grouped(rows).items()
        ]


@given(runs((*NAMES, None), (1, 8, None)))
def test_a_change_is_from_the_base_to_the_value(rows: list[tuple]) -> None:
    """It rises where the value is above that of the base with the same other settings."""
    base = rows[0][0]
    bases = {row[1:3]: row[3] for row in rows if row[0] == base}
    others = [(*row, bases.get(row[1:3])) for row in rows if row[0] != base]
    percent = [(*row[:3], near(change_of(*row[3:]))) for row in others]
    assert against(frame_of(rows), policy=base).rows() == percent


@given(runs(("2", "64 cpus"), NAMES, values=FIGURE), st.sampled_from(["scanned", "run"]))
def test_the_workbench_shows_means_and_ranks_medians(rows: list[tuple], metric: str) -> None:
    """A cell is the mean of the runs that have a value; the best is lower, or higher for a run."""
    full = [("cpus", *row[:2], 8, row[2], metric, row[3], "slots") for row in rows]
    names = ["factor", "setting", "policy", "n_cpus", "seed", "metric", "value", "unit"]
    sweep = pl.DataFrame(full, schema=names, schema_overrides={"value": pl.Float64}, orient="row")
    groups = grouped(rows)
    assert {row[1:3]: row[3] for row in means(sweep, [metric]).iter_rows()} == {
        at: pytest.approx(fmean(groups[at]), rel=6e-4) if at in groups else None
        for at in {row[:2] for row in rows}
    }
    assume(groups)
    ranks = ranking(sweep, metric)
    shown = ranks.select("setting", "policy", "seeds", "median", "low", "high")
    assert {row[:2]: row[2:] for row in shown.iter_rows()} == {
        at: (len(own), median(own), min(own), max(own)) for at, own in groups.items()
    }
    for _, case in ranks.group_by("setting"):  # of so few seeds no policy is above another
        assert case["median"].is_sorted(descending=metric == "run")


TASK = st.integers(1, 3)
MEMORY = {1: 0xA0, 2: 0xA0, 3: 0}


@given(st.lists(st.tuples(TASK, TASK, st.integers(0, 5), st.integers(1, 3)), min_size=1))
def test_slot_events_become_streams_of_pages_with_their_owners(steps: list[tuple]) -> None:
    """A freed slot is the page of the task that got it last, in the order of its own gets."""
    rows: list[Row] = []
    held: dict[int, tuple[int, int]] = {}
    gets, tasks, expected = dict.fromkeys(MEMORY, 0), dict[int, int](), []
    for pid, cpu, slot, n in steps:
        head = {"seq": 5 * len(rows), "cpu": cpu, "pid": pid, "mm": MEMORY[pid] * bool(rows)}
        tasks.setdefault(pid, len(tasks))
        taken = [each for each in range(slot, slot + n) if each in held]
        if slot not in held:
            rows.append({**head, "op": "alloc", "offset": slot})
            held[slot] = (pid, gets[pid])
            gets[pid] += 1
            expected.append((tasks[pid], "get", *held[slot]))
        elif len(taken) == n:
            rows.append({**head, "op": "free", "offset": slot, "n": n})
            expected += [(tasks[pid], "put", *held.pop(each)) for each in taken]
        else:
            rows.append({**head, "op": "reuse", "offset": slot, "n": 0})
    with_memory = {tasks[row["pid"]] for row in rows if row["mm"]}
    found = request_streams(pl.DataFrame(rows, schema=SLOT_EVENTS))
    assert found.select("task", "op", "owner", "ordinal", "mm").rows() == [
        (task, op, tasks[owner], ordinal, 0 if task in with_memory else -1)
        for task, op, owner, ordinal in expected
    ]


# Units.

TIMES = ("run_ns", "hold_ns", "wait_ns", "idle_ns")
MOVED = ("pages_out", "pages_in", "touched", "accesses")
LOCKS = ("acquisitions", "contended", "moved", "wait_ns", "hold_ns")
LONGEST = ("longest_wait_ns", "longest_hold_ns")


def counts(*names: str, **more: Any) -> Any:
    """Return a strategy of a count by each name."""
    return st.fixed_dictionaries(dict.fromkeys(names, COUNT) | more)


ACTOR = st.sampled_from(["walker", "kswapd", "none"])


@given(st.lists(counts(*TIMES, *MOVED, actor=ACTOR), min_size=1, max_size=4),
       counts(*LOCKS, *LONGEST), st.integers(1, 10**12), st.integers(0, 9), COUNT)  # fmt: skip
def test_rates_of_a_window_are_by_the_second_and_figures_by_the_page(
    cpus: list[Row], site: Row, elapsed: int, given_out: int, tested: int
) -> None:
    """Pages are of 4 KiB, locks are counted by a page out, cycles in percent of the busy time."""
    sites = pl.DataFrame([{"site": "si_lock.free", **site}])
    window = Window(elapsed_ns=elapsed, events=0, sites=sites, cpus=pl.DataFrame(cpus),
                    slots={"given": given_out, "tested_scan": tested}, shared_slots=0)  # fmt: skip
    total = {name: sum(cpu[name] for cpu in cpus) for name in (*TIMES, *MOVED)}
    seconds, pages = elapsed / 1e9, total["pages_out"] or 1
    busy = total["run_ns"] + total["hold_ns"] + total["wait_ns"] or 1
    expected = {
        "swap_out": 4 * total["pages_out"] / seconds,
        "swap_in": 4 * total["pages_in"] / seconds,
        "written": 4 * total["touched"] / seconds,
        "accesses": total["accesses"] / seconds,
        "busy": busy / pages,
        "elapsed": elapsed,
        "slots.tested_scan": tested / (given_out or 1),
        "cycles.si_lock.free": 100 * site["wait_ns"] / busy,
        **{f"{name.removesuffix('_ns')}.si_lock.free": site[name] / pages for name in LOCKS},
        **{f"{name.removesuffix('_ns')}.si_lock.free": site[name] for name in LONGEST},
    }
    for actor in {cpu["actor"] for cpu in cpus} - {"none"}:
        own = [sum(cpu[name] for cpu in cpus if cpu["actor"] == actor) for name in TIMES]
        for name, time in zip(TIMES, own, strict=True):
            expected[f"{name.removesuffix('_ns')}.{actor}"] = 100 * time / (sum(own) or 1)
    assert {name: value for name, value, _ in window_metrics(window)} == pytest.approx(expected)


@given(counts("minor_faults", "major_faults", "swapped_in", "swapped_out", "reclaim_writes_file",
              "reclaim_immediate", "disk_read", "disk_written"),
       st.lists(st.tuples(*[COUNT] * 4), min_size=1, max_size=2),
       st.integers(1, 10**13))  # fmt: skip
def test_vmstat_has_the_units_of_the_mail(count: Row, zones: list[tuple], elapsed: int) -> None:
    """Sectors are KiB of pages, velocities pages a second of all the time, shares whole percent."""
    named = dict(zip(("dma32", "normal"), zones, strict=False))
    scans = ["scanned_kswapd", "scanned_direct", "reclaimed_kswapd", "reclaimed_direct"]
    parts: Row = dict.fromkeys(("rounds", "sleeps", "memory", "activity"), pl.DataFrame()) | {
        "zones": pl.DataFrame([(n, *z) for n, z in named.items()], ["zone", *scans], orient="row")
    }
    figures = ("events", "kswapd_scanned", "direct_scanned", "file_written", "swapped_out")
    same = dict.fromkeys(figures, 0) | {"counters": count, "elapsed_ns": elapsed}
    result = ReclaimRun(out_of_memory=False, **same, **parts)
    kswapd, direct, by_kswapd, by_direct = (sum(each) for each in zip(*zones, strict=True))
    file, anon, seconds = count["reclaim_writes_file"], count["swapped_out"], elapsed / 1e9
    assert dict(result.vmstat.iter_rows()) == pytest.approx({
        "Minor Faults": count["minor_faults"], "Major Faults": count["major_faults"],
        "Swap Ins": count["swapped_in"], "Swap Outs": anon,
        "Direct pages scanned": direct, "Kswapd pages scanned": kswapd,
        "Kswapd pages reclaimed": by_kswapd, "Direct pages reclaimed": by_direct,
        "Kswapd efficiency": 100 * by_kswapd // kswapd if kswapd else 100,
        "Direct efficiency": 100 * by_direct // direct if direct else 100,
        "Kswapd velocity": kswapd / seconds, "Direct velocity": direct / seconds,
        "Percentage direct scans": 100 * direct // (kswapd + direct) if kswapd + direct else 0,
        **{f"Zone {name} velocity": (z[0] + z[1]) / seconds for name, z in named.items()},
        "Page writes by reclaim": file + anon, "Page writes file": file, "Page writes anon": anon,
        "Page reclaim immediate": count["reclaim_immediate"],
        "Sector Reads": 4 * count["disk_read"], "Sector Writes": 4 * count["disk_written"],
    })  # fmt: skip


SITE = ("add", "start", "delete")


@given(st.dictionaries(
    st.tuples(st.sampled_from(["4.8", "6.1"]), st.booleans(), st.sampled_from(FLOW.words),
              st.sampled_from(SITE)),
    st.tuples(st.integers(1, 99), *[st.integers(0, 999)] * 4), min_size=1))  # fmt: skip
def test_counts_of_a_flow_are_divided_by_the_pages_that_it_writes(sites: dict) -> None:
    """A flow that starts no writeback has no figure a page."""
    rows = [
        (*key, sites.get((*key[:3], "start"), (0,))[0], calls, 0, 0, *rest)
        for key, (calls, *rest) in sites.items()
    ]
    frame = pl.DataFrame(rows, schema=LOCK_SITES.schema, orient="row")
    each: dict[tuple, list[float]] = {}
    sums: dict[tuple, list[float]] = {}
    for (*flow, site), (_, *figures) in sites.items():
        if (start := (*flow, "start")) in sites:
            pages = sites[start][0]
            each[*flow, site, pages] = [figure / pages for figure in figures]
            so_far = sums.get((*flow, pages), [0.0] * 4)
            sums[*flow, pages] = [a + b / pages for a, b in zip(so_far, figures, strict=True)]
    assert {row[:5]: near(list(row[5:])) for row in per_page(frame).iter_rows()} == each
    assert {row[:4]: near(list(row[4:])) for row in totals_per_page(frame).iter_rows()} == sums


# The mails' tables.


def cells_of(file: str) -> list[Row]:
    """Return the rows of a file of published figures."""
    with (data_root() / "published" / file).open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


@pytest.mark.parametrize("target", ["disk", "nfs"])
def test_the_change_of_the_stall_decisions_is_from_mmotm(target: str) -> None:
    """Each row of the mail's tables changes from mmotm, not from 3.9, to the series."""
    cells: dict[str, Row] = {}
    for row in cells_of("03-stall-decisions.csv"):
        if row["table"].endswith(f", {target}"):
            cells.setdefault(row["metric"], {})[row["kernel"]] = float(row["value"])
    tables = [
        published.table("C", f"{name}, {target}") for name in ("parallelio", "vmstat", "iostat")
    ]
    found = dict(pl.concat(each.select("metric", "ratio") for each in tables).iter_rows())
    for metric, cell in cells.items():
        first, base, patched = cell.values()
        least = max(first, base, patched) / 20
        if min(base, patched) > least and 1 / 20 < patched / base < 20:
            assert found[metric] == pytest.approx(patched / base)
    assert len(found) > 40


# Traces.


@st.composite
def merged(draw: Any, scripts: Any) -> Events:
    """Draw the events of several tasks, each in its own order."""
    drawn = draw(st.dictionaries(st.integers(1, 40), scripts, min_size=1, max_size=3))
    order = draw(st.permutations([pid for pid, script in drawn.items() for _ in script]))
    left = {pid: iter(script) for pid, script in drawn.items()}
    return [(pid, *next(left[pid])) for pid in order]


@contextmanager
def recorded(events: Events) -> Iterator[Path]:
    """Import the text of events, all at one time and on CPUs that the tasks change."""
    with TemporaryDirectory() as folder:
        text = Path(folder, "trace.txt")
        lines = (f" a b-{pid} [{(pid + n // 3) % 4:03}] d..1. 7.000001: {event}\n"
                 for n, (pid, event, _) in enumerate(events))  # fmt: skip
        text.write_text("".join(lines), encoding="utf-8")
        yield traces.import_text(text, Path(folder, "trace")).folder


PLACE = st.tuples(st.sampled_from(["8:1", "8:2", "0:42"]), st.sampled_from([10, 16, 17]))
"""Device and inode; 16 is printed as 10 where inodes are hexadecimal."""
MAPPING = st.sampled_from([0, 0xFFFF888000000001, 0xFFFF888000000008])
PAGE = st.integers(1, 9)
TYPE = 1 << 58  # of a swap entry: the second device
OPS = {"swp_add": Op.SWAP_ADD, "swp_del": Op.SWAP_DELETE, "swp_free": Op.SLOT_FREE,
       "wb_start": Op.START, "wb_end": Op.END, "writeback_dirty_folio": Op.FILE_DIRTY,
       "mm_filemap_add_to_page_cache": Op.FILE_ADD,
       "mm_filemap_delete_from_page_cache": Op.FILE_DELETE}  # fmt: skip


def page_event(event: str, page: int, index: int, place: tuple[str, int], mapping: int) -> Event:
    """Return an event of a page, and its folio, index and file."""
    dev, ino = place
    entry, swap = f"0x{TYPE + index:x}", mapping % 2 or not mapping
    if event.startswith("swp"):
        folio = 0 if event == "swp_free" else 64 * page
        return (f"{event}: (f) folio=0x{64 * page:x} entry={entry} shadow=0x1",
                (event, folio, index, File.SWAP))  # fmt: skip
    if event.startswith("wb"):
        words = f"folio=0x{64 * page:x} mapping=0x{mapping:x} index={20 + index} private={entry}"
        at = (index, File.SWAP) if swap else (20 + index, mapping)
        return f"{event}: (f) {words}", (event, 64 * page, *at)
    if event.endswith("dirty_folio"):
        return f"{event}: bdi {dev}: ino={ino} index={index}", (event, 0, index, place)
    words = f"dev {dev} ino {ino:x} pfn=0x{page:x} ofs={4096 * index} order=0"
    return f"{event}: {words}", (event, 0xFFFFEA0000000000 + 64 * page, index, place)


PAGE_EVENT = st.builds(page_event, st.sampled_from([*OPS]), PAGE, PAGE, PLACE, MAPPING)
NEEDED = [(9, *page_event(each, 1, 1, ("", 0), 0)) for each in (*OPS,)[:5]]


@settings(max_examples=20)
@given(merged(st.lists(PAGE_EVENT, min_size=1, max_size=12)))
def test_pages_of_a_trace_keep_their_order_and_a_file_its_device(events: Events) -> None:
    """An inode is another file on another device, and a dirty page is of the file that has it."""
    with recorded([*NEEDED, *events]) as folder:
        rows = writeback_rows(folder)[len(NEEDED) :]
    files: dict[Any, int] = {}
    for row, (_, _, (event, *at, file)) in zip(rows.iter_rows(named=True), events, strict=True):
        assert [row["op"], row["folio"], row["index"]] == [OPS[event], *at]
        if isinstance(file, tuple):
            assert row["file"] == files.setdefault(file, row["file"]) > max(File)
        else:
            assert row["file"] == file
    assert len({*files.values()}) == len(files)


APART = 3000  # slots between two pages: some share a trunk of 16,384 slots
LIST = "mm_vmscan_lru_isolate: nr_taken=9 lru={}"
LIST_END = "mm_vmscan_lru_shrink_inactive: nid=0 nr_reclaimed={}"
STEP = st.tuples(
    st.sampled_from(["inactive_anon", "active_file", "end", *["swap", "file"] * 2]),
    PLACE,
    st.sampled_from([True, True, False]),  # whether the page leaves a shadow
)


def removals_of(steps: Events) -> tuple[Events, list[tuple]]:
    """Return events, and rows (seq, pid, list, index, file or trunk) of the lists that end."""
    events: Events = [(99, LIST.format("active_anon"), None), (99, LIST_END.format(0), None)]
    lists: dict[int, tuple[int, list[tuple]]] = {}
    found: list[tuple] = []
    for n, (pid, (what, place, shadow), _) in enumerate(steps):
        if what == "end" or (what == "inactive_anon" and lists.get(pid, (0, []))[1]):
            own = lists.pop(pid, (0, []))[1]
            events.append((pid, LIST_END.format(len(own)), None))
            found += own
        seq, (number, own) = len(events), lists.get(pid, (0, []))
        if what == "inactive_anon":
            lists[pid] = (seq, [])
        if what.endswith(("anon", "file")) and what != "file":
            events.append((pid, LIST.format(what), None))
        elif what == "swap":
            text = f"swp_del: (f) folio=0x1 entry=0x{TYPE + n * APART:x} shadow=0x{shadow:x}"
            events.append((pid, text, None))
            own += [(seq, pid, number, n * APART, n * APART // 16384)] * shadow
        elif what == "file":
            event, _ = page_event("mm_filemap_delete_from_page_cache", 1, n, place, 0)
            events.append((pid, event, None))
            own.append((seq, pid, number, n, place))
    return events, sorted(found)


@given(merged(st.lists(st.tuples(STEP, st.none()), min_size=9, max_size=20)))
def test_pages_are_removed_by_the_list_of_their_task_from_the_file_of_a_device(
    steps: Events,
) -> None:
    """A list is what its task removes between begin and end; batched it has a hold a mapping."""
    events, expected = removals_of(steps)
    assume(expected)
    with recorded(events) as folder:
        rows, summed = removal.derived(folder), removal.replay(folder)
    assert rows.select("seq", "pid", "list", "index").rows() == [row[:4] for row in expected]
    places = [(row[4], not isinstance(row[4], tuple)) for row in expected]
    mappings = rows.select("mapping", "swap").rows()
    assert [swap for _, swap in mappings] == [swap for _, swap in places]
    pairs = {*zip(mappings, places, strict=True)}
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
    lists, pages = len({row[2] for row in expected}), len(expected)
    for row in summed.iter_rows(named=True):
        one = row["kernel"] == "4.8"  # has one mapping for a device, later ones one for a trunk
        holds = len({(each[2], at if not swap or not one else None, swap)
                     for each, (at, swap) in zip(expected, places, strict=True)})  # fmt: skip
        assert {name: row[name] for name in row if name not in ("trace", "kernel", "longest")} == {
            "lists": lists, "pages": pages, "failed": None, "pages_a_list": near(pages / lists),
            "mappings_a_list": near(holds / lists), "page_by_page": pages, "batched": holds,
            "saved_a_page": near((pages - holds) / pages), "pages_a_hold": near(pages / holds),
        }  # fmt: skip
