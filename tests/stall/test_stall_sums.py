# SPDX-License-Identifier: GPL-2.0-or-later
"""How 7.3 stalls by counts and sums: decisions, recordings, and all of memory, by the oracle."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_stall_sums import Machine, Pass, decide, decides, open_loop, rounds

from swapsim import io, stall, traces
from swapsim._core import ffi, lib
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.ffi import SUMS_FLAGS, SUMS_RULES
from swapsim.stall._native import PLACES
from swapsim.stall.sums import flags_left, is_of_sums, sum_rows
from swapsim.traces.verification import Verdict

SHIPPED = {name: folder for name, folder in io.shipped_traces().items() if is_of_sums(folder)}
KERNELS = ("7.3-generations", "7.3-lists")
CALLER = {
    "kswapd": lib.SWS_STALL_KSWAPD,
    "memcg": lib.SWS_STALL_MEMCG,
    "legacy": lib.SWS_STALL_MEMCG | lib.SWS_STALL_LEGACY,
    "hibernation": lib.SWS_STALL_HIBERNATION,
    "local": lib.SWS_STALL_LOCAL_THROTTLE,
}


NOTHING = dict.fromkeys(("dirty", "unqueued_dirty", "congested", "writeback", "immediate"), 0) | {
    "taken": 1
}


@st.composite
def counts(draw: Any, *, immediate: bool = True) -> dict[str, int]:
    """Return counts of a list, of which many are equal."""
    taken = draw(st.integers(1, 3))
    dirty = draw(st.sampled_from([0, taken, taken]))
    writeback = draw(st.sampled_from([0, taken, taken]))
    return {
        "dirty": dirty,
        "unqueued_dirty": draw(st.integers(0, dirty)),
        "congested": draw(st.sampled_from([0, dirty, dirty // 2])),
        "writeback": writeback,
        "immediate": draw(st.integers(0, taken - writeback)) if immediate else 0,
        "taken": taken,
    }


@st.composite
def passes(draw: Any) -> list[dict[str, Any]]:
    """Return passes of kswapd, of two tasks for all of memory and of two for cgroups."""
    each = st.fixed_dictionaries(
        {
            "pid": st.sampled_from([7, 21, 22, 31, 32]),
            "lists": st.lists(counts(immediate=False), max_size=3),
            "again": st.none() | st.lists(counts(immediate=False), max_size=2),
            "balanced": st.sampled_from([0, 0, 1, 2]),
        }
    )
    memcgs = {7: 0, 21: 0, 22: 0, 31: 1, 32: 2}
    turns = draw(st.lists(each, min_size=1, max_size=12))
    return [turn | {"kswapd": turn["pid"] == 7, "memcg": memcgs[turn["pid"]]} for turn in turns]


def text_of(rules: str, turns: Sequence[Pass]) -> list[str]:
    """Return what the probes write while a kernel reclaims."""
    machine = Machine(rules)
    for turn in turns:
        machine.reclaim(turn)
    return machine.lines


@contextmanager
def recorded(lines: Sequence[str]) -> Iterator[Path]:
    """Import a text to a folder that lasts as long."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "text.txt")
        source.write_text("".join(lines), encoding="utf-8")
        traces.import_text(source, Path(folder, "trace"))
        yield Path(folder, "trace")


def verified(lines: Sequence[str]) -> Verdict:
    """Import a text, and verify it."""
    with recorded(lines) as folder:
        return stall.verify(folder)


@pytest.mark.parametrize("place", ["list", "pass"])
@pytest.mark.parametrize("rules", SUMS_RULES)
@given(
    state=counts(),
    who=st.sets(st.sampled_from(sorted(CALLER))),
    flags=st.sets(st.sampled_from(SUMS_FLAGS)),
)
def test_decisions_are_those_of_the_oracle(
    rules: str, place: str, state: dict[str, int], who: set[str], flags: set[str]
) -> None:
    """Wakes, flags and throttles, for each caller and rule set."""
    caller = {name: name in who for name in CALLER} | {"memcg": bool(who & {"memcg", "legacy"})}
    bits = 0
    for name in who:
        bits |= CALLER[name]
    given_counts = ffi.new("struct sws_stall_counts *", {**state, "file_taken": 0})
    found = ffi.new("struct sws_sums_decision *")
    before = sum(1 << SUMS_FLAGS.index(flag) for flag in flags)
    bytes_of = {name: ffi.new("uint8_t *", n) for name, n in (("caller", bits), ("flags", before))}
    row = ffi.new("struct sws_stall_summed *", bytes_of | {"counts": given_counts})
    by_rules = SUMS_RULES.index(rules), PLACES[place], 1
    assert lib.sws_sums_decide(*by_rules, row, found, ffi.new("uint64_t *")) == lib.SWS_OK
    wakes, sets, sleeps = decide(rules, caller, place, flags, state)
    numbers = {
        "writeback": lib.SWS_STALL_SLEEP_WRITEBACK,
        "congested": lib.SWS_STALL_SLEEP_CONGESTED,
    }
    assert (found.wakes, found.decides) == (wakes, decides(rules, caller, place))
    assert found.set == sum(1 << SUMS_FLAGS.index(flag) for flag in sets)
    assert found.sleeps == sum(1 << numbers[name] for name in sleeps)


@pytest.mark.parametrize("rules", KERNELS)
@given(turns=passes(), wrong=st.data())
def test_a_kernel_agrees_until_a_decision_is_changed(
    rules: str, turns: list[dict[str, Any]], wrong: st.DataObject
) -> None:
    """A recording of the oracle agrees; one wake, throttle or flag that is missing does not."""
    if not any(turn["lists"] for turn in turns):
        turns[0]["lists"] = [NOTHING]
    lines = text_of(rules, turns)
    found = verified(lines)
    assert found.agrees, "\n".join(found.describe())
    lists = [each for turn in turns for each in rounds(rules, turn)]
    assert found.counts["lists"][1] == sum(map(len, lists))
    assert found.counts["passes"][1] + found.counts["returns"][1] == len(lists)
    decisions = [
        at for at, line in enumerate(lines) if "stall_wake" in line or "stall_throttle:" in line
    ]
    if decisions:
        at = wrong.draw(st.sampled_from(decisions))
        other = verified([*lines[:at], *lines[at + 1 :]])
        assert not other.agrees
        assert other.first


@given(turns=passes())
def test_all_of_memory_is_decided_as_the_oracle_does(turns: list[dict[str, Any]]) -> None:
    """Open loop: flags are those that the rules leave, and kswapd clears them."""
    turns = [{**turn, "lists": turn["lists"] or [NOTHING]} for turn in turns]
    with recorded(text_of("7.3-generations", turns)) as folder:
        found = stall.replay(folder)
    root = [turn for turn in turns if not turn["memcg"]]
    for rules in ("7.3-lists", "each-list"):
        expected = open_loop(rules, turns)
        for who in ("kswapd", "direct"):
            some = [
                row
                for row, turn in zip(expected, turns, strict=True)
                if not turn["memcg"] and turn["kswapd"] == (who == "kswapd")
            ]
            got = found.filter(rules=rules, reclaimer=who)
            assert got["passes"].sum() == len(some)
            for reason in ("writeback", "congested"):
                assert got[reason].sum() == sum(row[reason] for row in some)
            asked = [row["writeback"] + row["congested"] > 0 for row in some]
            assert got["asked"].sum() == sum(asked)
            may = [row["may"] and not each for row, each in zip(some, asked, strict=True)]
            assert got["may_ask"].sum() == sum(may)
            assert got["slept"].null_count() == got.height
    assert found.filter(pl.col("rules") != "7.3-generations")["passes"].sum() == 2 * len(root)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("hierarchy=0", "hierarchy=1", "memory cgroups are of version 1"),
        ("node=0", "node=1", "several memory nodes"),
        ("target=0x1000", "target=0x900", "memory.reclaim"),
        ("stall_sums: (f) tree=1", "stall_sums: (f) tree=0", "has no sums"),
        ("stall_pass_end", "other", "lacks stall_pass_end"),
        (" 10.", " 10", "needs times"),
        ("counts={0,0,0,0,0}", "counts={2,0,0,0,0}", "counts or flags that cannot be"),
    ],
)
def test_a_recording_that_cannot_be_is_refused(old: str, new: str, why: str) -> None:
    """One line says what and why."""
    turn = {
        "again": None,
        "balanced": 0,
        "pid": 31,
        "kswapd": False,
        "memcg": 1,
        "lists": [NOTHING],
    }
    lines = text_of("7.3-generations", [turn])
    assert any(old in line for line in lines)
    with pytest.raises(InputError, match=why):
        verified([line.replace(old, new) for line in lines])


@pytest.mark.parametrize("folder", SHIPPED.values(), ids=SHIPPED)
def test_each_shipped_decision_is_that_of_the_rules(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All lists, passes and throttles, by the command."""
    assert main(["verify", "stall", str(folder)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "decided " in last or "no decision to compare" in last


def test_the_open_loop_finds_the_flags_of_a_kernel_that_decides_for_all_of_memory() -> None:
    """Each pass's flags, and on a flagged node the pages that kswapd counts as immediate."""
    passes = sum_rows(SHIPPED["throttles-7.3-lists-4"]).passes
    assert flags_left(passes, "7.3-lists", "pass").equals(passes["flags_before"], check_names=False)
    marked = passes.filter("kswapd", pl.col("flags_before") & 1 > 0)
    assert marked["immediate"].sum() > 0
    assert marked["immediate"].to_list() == marked["congested"].to_list()
