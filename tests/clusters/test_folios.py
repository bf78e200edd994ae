# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of processes in folios: the library against a plain model, and streams under rules."""

import polars as pl
from clusters_in_c import FoliosInC
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_cluster_folios import Memory
from oracle_clusters import RULES, Allocator, DeviceConfig, Rules

from swapsim.claims.tables import FOLIO_STREAM
from swapsim.clusters import folios, requests
from swapsim.clusters.tables import FOLIO_STEPS

SIZE, CPUS, PAGES = 16, 2, 48
FIXED = {"cluster_size": SIZE, "trunk_shift": 6, "cpus": CPUS}


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[int, int, int, int, int, int]]:
    """Draw rows: process, CPU, step, order, page, n; ranges are often aligned."""
    rows = []
    for _ in range(draw(st.integers(1, 60))):
        order = draw(st.integers(0, 4))
        page = draw(st.integers(0, PAGES - 1))
        if draw(st.booleans()):
            page = page >> order << order
        n = min(draw(st.sampled_from([1, 3, 1 << order, 16])), PAGES - page)
        cpu = draw(st.integers(0, CPUS - 1))
        rows.append((draw(st.integers(0, 1)), cpu, draw(st.integers(0, 2)), order, page, n))
    return rows


@settings(max_examples=80)
@given(
    st.sampled_from(list(RULES.values())),
    st.one_of(st.integers(2, 8 * SIZE), st.integers(660, 800)),
    st.integers(0, 31),
    st.booleans(),
    steps(),
)
def test_memory_is_that_of_the_plain_model(
    rules: Rules, slots: int, orders: int, return_cache: bool, rows: list[tuple[int, ...]]
) -> None:
    """Slots, folios, lists and counts are equal after each step, with caches and without."""
    ours = FoliosInC(rules, slots, PAGES, orders, return_cache=return_cache, **FIXED)
    allocator = Allocator(rules, [DeviceConfig(slots)], SIZE, 6)
    plain = Memory(allocator, CPUS, PAGES, orders, return_cache)
    for process, cpu, step, order, page, n in rows:
        ours.step(process, cpu, step, order, page, n)
        wanted = range(page, page + n)
        if step == 0:
            plain.access(process, cpu, order, wanted)
        elif step == 1:
            plain.drop(process, cpu, wanted)
        else:
            plain.out(process, cpu, wanted)
        for each in range(2):
            for at in range(PAGES):
                folio = plain.folios.get((each, at))
                state = 0xFFFFFFFF if folio is None else len(folio).bit_length() - 1
                assert ours.page(each, at) == (plain.slots.get((each, at), 0), state)
    totals = ours.totals()
    for name in ("mapped", "swapped_in", "swapped_out", "fallbacks"):
        assert list(getattr(totals, name)) == [plain.counts[name, order] for order in range(10)]
    assert totals.stayed == plain.stayed
    assert ours.lists() == [list(members) for members in allocator.devices[0].lists]


def test_glibc_numbers_are_those_of_the_manual() -> None:
    """The first numbers without a seed are known; a seed of 42 gives others."""
    numbers = requests.glibc_rand()
    assert [next(numbers) for _ in range(4)] == [1804289383, 846930886, 1681692777, 1714636915]
    other = requests.glibc_rand(42)
    assert [next(other) for _ in range(2)] == [71876166, 708592740]


def test_the_first_program_prints_the_published_lines() -> None:
    """Under the rule before 6.12 large folios fall back from iteration 5 on, line by line."""
    stream = requests.allocator_test(first=True, swap_in_whole=False, iterations=7)
    lines = folios.lines_of(folios.run(stream, "6.11").out)
    assert lines == [(222, 0), (219, 0), (222, 0), (219, 0), (110, 117), (0, 230), (0, 229)]


def test_a_recorded_stream_is_served_in_stages_of_equal_size() -> None:
    """Twelve stages have as many pages swapped out, and all operations are served."""
    rows = [("access", 4, 0, 960), ("out", 4, 0, 960)]
    rows += [row for page in range(0, 960, 16) for row in (("access", 4, page, 16),
                                                           ("out", 4, page, 16))]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["step", "order", "page", "n"], orient="row")
    labels = {"kernel": "7.3", "policy": "64K", "seed": 1, "cpu": 0}
    named = frame.with_columns(pl.lit(value).alias(name) for name, value in labels.items())
    named = named.select(list(FOLIO_STREAM.schema)).cast(dict(FOLIO_STREAM.schema))
    stream = requests.recorded(named, name="made", slots=2048, swap_in_orders=(4,))
    assert len(stream.marks) == 12
    out = folios.run(stream, "7.3").out.filter(order=4)
    assert out["swapped_out"].to_list() == [60, 0, 0, 0, 0, 0, *[10] * 6]


def stream_of(
    rows: list[tuple[int, int, str, int, int, int]], slots: int = 1024
) -> requests.Requests:
    """Return a stream of one stage."""
    frame = pl.DataFrame(rows, schema=FOLIO_STEPS, orient="row")
    return requests.Requests(name="made", steps=frame, marks=(len(rows),), slots=slots)


def test_a_folio_that_obtains_no_run_goes_out_page_by_page() -> None:
    """Free slots are no help if none of them are a run: the counts are those of sysfs."""
    rows = [(0, 0, "access", 0, 0, 1021), (0, 0, "out", 0, 0, 1021)]
    rows += [(0, 0, "drop", 0, page, 1) for page in range(0, 1000, 2)]
    rows += [(0, 0, "access", 4, 1024, 16), (0, 0, "out", 4, 1024, 16)]
    run = folios.run(stream_of(rows), "7.3")
    (large,) = run.out.filter(order=4).rows(named=True)
    assert (large["swapped_out"], large["fallbacks"]) == (0, 1)
    assert run.out.filter(order=0)["swapped_out"].item() == 1021 + 16
