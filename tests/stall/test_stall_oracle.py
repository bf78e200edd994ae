# SPDX-License-Identifier: GPL-2.0-or-later
"""Stall rules: C compared with the oracle, for all rule sets, page by page and as columns."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import oracle_stall as oracle
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_stall_recording import RULES as RULES_OF_KERNELS

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import STALL_CLEARS, STALL_RULES, STALL_SLEEPS, STALL_STEPS
from swapsim.stall import _native
from swapsim.stall._native import StallContext
from swapsim.stall.replay import PAGES
from swapsim.stall.tables import (
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    THROTTLES,
)

RULES = st.sampled_from(STALL_RULES)
FLAGS = st.integers(0, 7)
ANY = st.booleans()
MANY = settings(max_examples=200)
"""Each rule set meets its rare cases."""


@st.composite
def contexts(draw: st.DrawFn) -> oracle.Context:
    """Return a reclaimer, by any rules."""
    memcg = draw(ANY)
    return oracle.Context(
        rules=draw(RULES),
        priority=draw(st.integers(0, 12)),
        kswapd=draw(ANY),
        memcg=memcg,
        sane=draw(ANY) if memcg else True,
        hibernation=draw(st.sampled_from([False, False, True])),
        may_throttle=draw(st.sampled_from([True, True, False])),
        io=draw(st.sampled_from([True, True, False])),
        fs=draw(ANY),
        flags=draw(FLAGS),
    )


@st.composite
def pages_of_a_list(draw: st.DrawFn) -> oracle.Page:
    """Return a page with the events of its later tests."""
    asked = draw(st.sampled_from([None, None, True, False]))
    answers = {} if asked is None else {"fs_dirty": draw(ANY), "fs_writeback": draw(ANY)}
    names = ("file", "dirty", "writeback", "reclaim", "congested")
    later = ("still", "arrives", "dirty_late", "kept")
    return oracle.Page(
        **{name: draw(ANY) for name in names + later},
        **answers,
        buffers=asked,
        pages=draw(st.sampled_from([1, 1, 1, 512])),
    )


def context_of(context: oracle.Context) -> StallContext:
    """Return the oracle's context as swapsim's."""
    return StallContext(**asdict(context))


def page_table(pages: Sequence[oracle.Page]) -> pl.DataFrame:
    """Return pages as PAGES."""
    return pl.DataFrame(
        [[getattr(page, name) for name in PAGES] for page in pages], schema=PAGES, orient="row"
    )


@MANY
@given(
    context=contexts(),
    pages=st.lists(pages_of_a_list(), max_size=20),
    file=ANY,
    unseen=st.integers(1, 3),
)
def test_a_list_processed_page_by_page_ends_as_the_oracle_s(
    context: oracle.Context, pages: list[oracle.Page], file: bool, unseen: int
) -> None:
    """The result of each page, the counters, flags and sleeps in their order agree."""
    results, end = _native.process_pages(
        context_of(context), page_table(pages), file=file, unseen=unseen
    )
    expected, reclaim = oracle.shrink_list(context, pages, file=file, unseen=unseen)
    assert results.rows() == [result.row() for result in expected]
    assert end == asdict(reclaim.counts) | reclaim.decided()


@st.composite
def recorded_rows(draw: st.DrawFn, *, flags: bool) -> oracle.Row:
    """Return a page of a recording of any rules."""
    page = draw(pages_of_a_list())
    step = draw(st.sampled_from(oracle.STEPS))
    under = True if step.startswith("writeback") else draw(ANY)
    return oracle.Row(
        replace(
            page,
            under_writeback=under,
            marked=draw(st.sampled_from([None, True, False])),
            lazyfree=draw(st.sampled_from([False, False, True])),
        ),
        step,
        came_back=draw(ANY),
        flags=draw(FLAGS) if flags else None,
    )


def folio_table(lists: Sequence[Sequence[oracle.Row]]) -> pl.DataFrame:
    """Return recorded lists as RECLAIM_FOLIOS; columns that no rule reads are 0."""
    rows = [
        {
            **{name: getattr(row.page, name, None) for name in RECLAIM_FOLIOS},
            "list": number,
            "step": row.step,
            "clean": row.came_back,
            "node_flags": row.flags or 0,
        }
        for number, rows_of_list in enumerate(lists)
        for row in rows_of_list
    ]
    return pl.DataFrame(rows, schema=RECLAIM_FOLIOS, orient="row")


def list_table(of: Sequence[tuple[oracle.Context, bool, int]]) -> pl.DataFrame:
    """Return contexts, kinds and pages taken as RECLAIM_LISTS."""
    rows = [
        dict.fromkeys(RECLAIM_LISTS, 0)
        | {
            "list": number,
            "taken": taken,
            "file": file,
            "priority": context.priority,
            "target": int(context.memcg),
            "flags_before": context.flags,
        }
        | {name: getattr(context, name) for name in ("kswapd", "sane", "io", "fs", "hibernation")}
        for number, (context, file, taken) in enumerate(of)
    ]
    return pl.DataFrame(rows, schema=RECLAIM_LISTS, orient="row")


def check_list(found: dict[str, object], expected: oracle.Replayed) -> None:
    """Compare a row of STALL_LISTS with what the oracle says."""
    reclaim = expected.reclaim
    counts = asdict(reclaim.counts)
    assert {name: found[name] for name in counts if name in found} == {
        name: value for name, value in counts.items() if name in found
    }
    assert {name: found[name] for name in reclaim.decided()} == reclaim.decided()
    assert (found["writes"], found["unrecorded"]) == (expected.writes, expected.unrecorded)
    assert found["wakes"] == (("wake", "flushers") in reclaim.events)


@given(
    rules=RULES,
    lists=st.lists(
        st.tuples(
            contexts(),
            st.lists(recorded_rows(flags=True), min_size=1, max_size=12),
            ANY,
            st.integers(1, 40),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_recorded_lists_are_decided_as_the_oracle_decides_them(
    rules: str, lists: list[tuple[oracle.Context, list[oracle.Row], bool, int]]
) -> None:
    """With the flags of the recording: branches, counters, flags, sleeps, unrecorded folios."""
    decided, decided_branches = _native.decide_lists(
        folio_table([rows for _, rows, _, _ in lists]),
        list_table([(context, file, taken) for context, _, file, taken in lists]),
        rules,
    )
    branches = []
    for (context, rows, file, taken), found in zip(
        lists, decided.iter_rows(named=True), strict=True
    ):
        by_rules = replace(context, rules=rules)
        expected = oracle.replay(by_rules, rows, file=file, taken=taken)
        check_list(found, expected)
        assert found["flags_before"] == context.flags
        branches += expected.branches
    assert decided_branches.to_list() == branches


@given(
    rules=RULES,
    lists=st.lists(
        st.tuples(
            contexts(),
            st.lists(recorded_rows(flags=False), min_size=1, max_size=8),
            st.integers(1, 12),
            st.integers(0, 2),
            st.sets(st.sampled_from(STALL_CLEARS)),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_flags_of_their_own_history_are_carried_on_by_node(
    rules: str, lists: list[tuple[oracle.Context, list[oracle.Row], int, int, set[str]]]
) -> None:
    """A list begins with what the last list of its node left, less what was cleared since."""
    history = pl.DataFrame(
        {
            "node": [node for *_, node, _ in lists],
            "clears": [sum(1 << STALL_CLEARS.index(why) for why in clears) for *_, clears in lists],
        },
        schema={"node": pl.UInt32, "clears": pl.UInt8},
    )
    decided, _ = _native.decide_lists(
        folio_table([rows for _, rows, *_ in lists]),
        list_table([(context, True, taken) for context, _, taken, *_ in lists]),
        rules,
        history=history,
    )
    flags = dict.fromkeys(range(3), 0)
    for (context, rows, taken, node, clears), found in zip(
        lists, decided.iter_rows(named=True), strict=True
    ):
        for why in clears:
            flags[node] &= ~oracle.clears(rules, why)
        by_rules = replace(context, rules=rules, flags=flags[node])
        expected = oracle.replay(by_rules, rows, file=True, taken=taken)
        assert found["flags_before"] == flags[node]
        check_list(found, expected)
        flags[node] = expected.reclaim.flags


@st.composite
def sums(draw: st.DrawFn, *, least: int) -> oracle.Counts:
    """Return counters that a list or a pass may have."""
    taken = draw(st.integers(least, 64))
    dirty = draw(st.integers(0, taken))
    writeback = draw(st.sampled_from([0, taken, draw(st.integers(0, taken))]))
    return oracle.Counts(
        dirty=dirty,
        unqueued_dirty=draw(st.sampled_from([dirty, draw(st.integers(0, dirty))])),
        congested=draw(st.sampled_from([dirty, draw(st.integers(0, dirty))])),
        writeback=writeback,
        immediate=draw(st.integers(0, taken - writeback)),
        taken=taken,
        file_taken=draw(st.sampled_from([taken, draw(st.integers(0, taken))])),
    )


@MANY
@given(context=contexts(), counts=sums(least=1))
def test_counters_alone_decide_a_list(context: oracle.Context, counts: oracle.Counts) -> None:
    """The counters suffice; no page is needed."""
    found = _native.decide_counts(context_of(context), asdict(counts))
    expected = oracle.decide_list(context, counts).decided()
    assert found == {name: expected[name] for name in found}


@MANY
@given(
    context=contexts(),
    rules=st.sampled_from([*STALL_RULES, *["6.1"] * len(STALL_RULES)]),
    counts=sums(least=0),
)
def test_sums_decide_a_pass_of_6_1(
    context: oracle.Context, rules: str, counts: oracle.Counts
) -> None:
    """One by one, and as columns; by the older rules nothing is decided there."""
    context = replace(context, rules=rules)
    found = _native.decide_counts(context_of(context), asdict(counts), "pass")
    expected = oracle.decide_pass(context, counts).decided()
    assert found == {name: expected[name] for name in found}
    row = dict.fromkeys(RECLAIM_PASSES, 0) | asdict(counts) | asdict(context)
    row |= {"memcg": int(context.memcg), "throttle": None}
    row |= {"flags_before": context.flags, "flags_after": found["flags_after"]}
    table = pl.DataFrame([row], schema=RECLAIM_PASSES)
    sleeps = found["sleeps"] or [None]
    assert _native.decide_passes(table, context.rules).rows() == [(found["flags_set"], *sleeps)]


def decide_round(
    context: oracle.Context | StallContext, pages: dict[str, int], *, ready: bool = False
) -> str | None:
    """Return the sleep that a row of RECLAIM_ROUNDS requests."""
    row = dict.fromkeys(RECLAIM_ROUNDS, 0) | asdict(context) | pages
    row |= {"memcg": int(context.memcg), "ready": ready, "throttle": None}
    table = pl.DataFrame([row], schema=RECLAIM_ROUNDS)
    sleep: str | None = _native.decide_rounds(table, context.rules).item()
    return sleep


@MANY
@given(
    context=contexts(),
    scanned=st.integers(0, 100),
    reclaimed=st.integers(0, 40),
    wanted=st.sampled_from([0, 1, 32]),
)
def test_rounds_end_as_the_oracles_do(
    context: oracle.Context, scanned: int, reclaimed: int, wanted: int
) -> None:
    """The nap of 2013 and NOPROGRESS of 6.1; a round that could compact needs no more pages."""
    pages = {"scanned": scanned, "reclaimed": reclaimed, "wanted": wanted or 32}
    found = decide_round(context, pages, ready=wanted == 0)
    expected = oracle.decide_round(context, scanned, reclaimed, wanted)
    assert [found] == (expected or [None])


@given(
    reason=st.sampled_from(STALL_SLEEPS),
    hz=st.sampled_from([100, 250, 300, 1000]),
    kthread=ANY,
    failures=st.integers(14, 17),
    reclaimable=st.integers(0, 9),
    write_pending=st.integers(0, 9),
    congested_devices=st.integers(0, 2),
    flags=FLAGS,
)
def test_sleeps_last_or_are_skipped_as_the_oracle_s(reason: str, hz: int, **call: int) -> None:
    """reclaim_throttle, congestion_wait and wait_iff_congested, with the inputs of each."""
    row = dict.fromkeys(THROTTLES, 0) | call | {"reason": reason}
    table = pl.DataFrame([row], schema=THROTTLES, orient="row")
    timeout = _native.sleep_lengths(table, hz=hz).item()
    assert timeout == oracle.sleep_us(reason, hz=hz, **call)  # type: ignore[arg-type]


@given(rules=RULES, why=st.sampled_from(STALL_CLEARS))
def test_flags_are_cleared_as_the_oracle_s(rules: str, why: str) -> None:
    """By the balance, by each shrinking, by a case 1, by the end of a group's reclaim."""
    found = lib.sws_stall_clears(STALL_RULES.index(rules), STALL_CLEARS.index(why))
    assert found == oracle.clears(rules, why)


@given(page=st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=40), data=st.data())
def test_no_column_crashes_c(page: list[int], data: st.DataObject) -> None:
    """Any values in all columns: decided, or refused with a row, a list and a problem."""
    n = len(page)
    byte = st.lists(st.integers(0, 255), min_size=n, max_size=n)
    word = st.lists(st.sampled_from([0, 1, 2, 2**20, 2**32 - 1]), min_size=n, max_size=n)
    rows, lists = ffi.new("struct sws_stall_rows *"), ffi.new("struct sws_stall_lists *")
    results = ffi.new("struct sws_stall_results *")
    ends = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=n))
    keep = [
        ffi.new("uint16_t[]", page),
        ffi.new("uint8_t[]", data.draw(byte)),
        ffi.new("uint32_t[]", data.draw(word)),
        ffi.new("uint8_t[]", data.draw(byte)),
    ]
    rows.page, rows.step = keep[0], keep[1]
    rows.base_pages = data.draw(st.sampled_from([ffi.NULL, keep[2]]))
    rows.flags = data.draw(st.sampled_from([ffi.NULL, keep[3]]))
    small = data.draw(st.sampled_from([byte, st.just([1] * n)]))
    of_lists = [ffi.new("uint8_t[]", data.draw(small)) for _ in range(5)]
    lists.caller, lists.priority, lists.file, lists.clears, flags = of_lists
    lists.flags = data.draw(st.sampled_from([ffi.NULL, flags]))
    words = [ffi.new("uint32_t[]", data.draw(word)) for _ in range(2)]
    lists.taken, lists.node = words
    node_flags, lists.n_nodes = ffi.new("uint8_t[]", [0, 255, 1]), 3
    lists.node_flags = node_flags
    lists.ends = of_ends = ffi.new("uint64_t[]", ends)
    found, branches = ffi.new("struct sws_stall_result[]", len(ends)), ffi.new("uint8_t[]", n)
    results.lists, results.branches = found, branches
    config = ffi.new("struct sws_stall_replay_config *", (data.draw(st.integers(0, 11)), ffi.NULL))
    out = ffi.new("struct sws_stall_replay **")
    assert lib.sws_stall_replay_new(config, out) == lib.SWS_OK
    replay = ffi.gc(out[0], lib.sws_stall_replay_free)
    code = lib.sws_stall_replay_lists(replay, rows, len(ends), lists, results)
    assert (code == lib.SWS_OK) == (results.problem == lib.SWS_STALL_NO_PROBLEM)
    assert code in (lib.SWS_OK, lib.SWS_ERROR_BAD_ARGUMENT)
    if code != lib.SWS_OK:
        assert results.list < len(ends)
        assert results.row < max(n, 1) or results.problem == lib.SWS_STALL_EMPTY_LIST
    del of_ends, keep


GOOD = oracle.Row(oracle.Page(under_writeback=False), "freed", flags=0)


@pytest.mark.parametrize(
    ("table", "column", "value", "wrong"),
    [
        ("folios", "node_flags", 8, "list 1, row 0: .*flag"),
        ("folios", "pages", 0, "list 1, row 0: .*pages"),
        ("folios", "step", "writeback_2", "list 1, row 0: .*step"),
        ("lists", "priority", 13, "list 1, row 0: .*priority"),
        ("lists", "priority", -1, "list 1, row 0: .*priority"),
        ("lists", "flags_before", 9, "list 1, row 0: .*flag"),
        ("lists", "taken", 0, "list 1, row 0"),
        ("lists", "sane", False, "list 1, row 0"),
    ],
)
def test_an_impossible_row_is_named(table: str, column: str, value: object, wrong: str) -> None:
    """The message names the list, the row in it and what is wrong; also a list without folios."""
    folios = folio_table([[GOOD], [GOOD]]).with_columns(seq=pl.int_range(2, dtype=pl.UInt64))
    tables = {"folios": folios, "lists": list_table([(oracle.Context("6.1"), True, 1)] * 2)}
    frame = tables[table]
    bad = pl.lit(value, dtype=frame.schema[column])
    changed = pl.when(pl.col("list") == 1).then(bad).otherwise(column)
    tables[table] = frame.with_columns(changed.alias(column))
    with pytest.raises(InputError, match=wrong):
        _native.decide_lists(tables["folios"], tables["lists"], "6.1")


def test_the_oracles_names_are_the_librarys() -> None:
    """Rule sets and steps are spelled alike, in the same order."""
    assert STALL_RULES == oracle.SETS == RULES_OF_KERNELS
    assert tuple(oracle.STEPS) == STALL_STEPS
