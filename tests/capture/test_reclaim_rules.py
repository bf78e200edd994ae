# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of the lab kernel decide as those of the library, for all distinguishable inputs."""

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swapsim._core import ffi, lib
from swapsim.ffi import STALL_RULES, STALL_SLEEPS
from swapsim.io import data_root

TREE = data_root() / "capture" / "lab" / "tree"
OUTSIDE = Path(__file__).with_name("reclaim_rules_outside.c")
OLDER = STALL_RULES[:-1]
TAKEN = 32
FLAGS = {lib.SWS_STALL_TAIL_DIRTY: "D", lib.SWS_STALL_WRITEBACK: "W", lib.SWS_STALL_CONGESTED: "C"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Compile the kernel's header as a program; return a function that sends it lines."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("outside") / "rules"
    flags = ("-std=gnu11", "-Wall", "-Werror", "-Wno-unused-function", "-Wno-override-init")
    command = ["cc", *flags, f"-I{TREE / 'mm'}", f"-I{TREE / 'include'}", str(OUTSIDE)]
    subprocess.run([*command, "-o", str(program)], check=True)

    def answers(lines: list[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run([str(program)], input=text, capture_output=True, text=True)
        assert done.returncode == 0
        default, *results = done.stdout.splitlines()
        assert default == "6.1"
        return results

    return answers


def row(rules: str) -> Any:
    """Return the library's row."""
    return lib.sws_stall_rules_of(STALL_RULES.index(rules))


def context_of(
    rules: str, priority: int, *, kswapd: bool = False, memcg: bool = False, hibernation: bool
) -> Any:
    """Return the library's context."""
    bits = (
        lib.SWS_STALL_KSWAPD * kswapd
        | lib.SWS_STALL_MEMCG * memcg
        | lib.SWS_STALL_HIBERNATION * hibernation
    )
    return ffi.new("struct sws_stall_context *", (STALL_RULES.index(rules), bits, priority, 0))


def acts_of(rules: str, place: int, acts: int) -> list[str]:
    """Return the library's acts in the words of the program."""
    words = []
    for number in range(lib.SWS_STALL_ACTS_MAX):
        act = row(rules).acts[place][number]
        if acts >> number & 1 and act.does == lib.SWS_STALL_DOES_SET:
            words.append(FLAGS[act.what])
        elif acts >> number & 1 and act.does == lib.SWS_STALL_DOES_SLEEP:
            words.append(STALL_SLEEPS[act.what])
    return ordered(words)


def ordered(acts: list[str]) -> list[str]:
    """Sort the flags, of one letter, between two sleeps: their order has no effect."""
    words: list[str] = []
    for is_flag, group in itertools.groupby(acts, key=lambda word: len(word) == 1):
        of_kind = list(group)
        words += sorted(of_kind) if is_flag else of_kind
    return words


def compare(ask: Any, cases: list[tuple[str, list[str]]]) -> None:
    """Compare the acts of the program with those of the library."""
    results = ask([line for line, _ in cases])
    for (line, acts), result in zip(cases, results, strict=True):
        assert ordered(result.split()) == acts, line


def lists() -> Iterator[tuple[tuple[str, int, bool, bool, bool], dict[str, int]]]:
    """Yield callers and counters of lists: some of each counter, all, and around thresholds."""
    some = (0, 1, 4, 16, TAKEN)
    names = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken")
    callers = itertools.product(OLDER, (12, 11, 9, 3), (False, True), (False, True), (False, True))
    counters = [
        dict(zip(names, (*values, TAKEN), strict=True))
        for values in itertools.product(some, some, some, some, (0, 1))
        if values[1] <= values[0] and values[3] + values[4] <= TAKEN
    ]
    return itertools.product(callers, counters)


def test_the_rig_has_the_rules_of_the_library(rig: SimpleNamespace) -> None:
    """The rig, the boot parameter and the library name the same rules, in the same order."""
    assert rig.workload.RECLAIM_RULES == STALL_RULES


def test_lists_are_decided_as_by_the_library(ask: Any) -> None:
    """All flags that are set at the end of a list, and all sleeps in order."""
    cases = []
    for (rules, priority, kswapd, memcg, hibernation), counts in lists():
        context = context_of(rules, priority, kswapd=kswapd, memcg=memcg, hibernation=hibernation)
        counted = ffi.new("struct sws_stall_counts *", counts)
        decision = ffi.new("struct sws_stall_decision *")
        if lib.sws_stall_decide(context, lib.SWS_STALL_AT_LIST, counted, decision) != lib.SWS_OK:
            continue
        caller = (rules, int(kswapd), int(memcg), int(hibernation), priority, TAKEN)
        numbers = [value for name, value in counts.items() if name != "taken"]
        line = " ".join(str(word) for word in ("list", *caller, *numbers))
        cases.append((line, acts_of(rules, lib.SWS_STALL_AT_LIST, decision.acts)))
    assert len(cases) > 10_000
    compare(ask, cases)


def test_rounds_are_decided_as_by_the_library(ask: Any) -> None:
    """The sleep after a round of direct reclaim."""
    cases = []
    for rules, hibernation, priority, scanned, reclaimed in itertools.product(
        OLDER, (False, True), range(13), (0, 1), (0, 31, 32)
    ):
        context = context_of(rules, priority, hibernation=hibernation)
        round_ = ffi.new("struct sws_stall_round *", (scanned, reclaimed, 32))
        decision = ffi.new("struct sws_stall_decision *")
        assert lib.sws_stall_decide_round(context, round_, decision) == lib.SWS_OK
        line = f"round {rules} {int(hibernation)} {priority} {scanned} {reclaimed} 32"
        cases.append((line, acts_of(rules, lib.SWS_STALL_AT_ROUND, decision.acts)))
    compare(ask, cases)


def test_pages_are_written_and_counted_as_by_the_library(ask: Any) -> None:
    """The dirty pages that kswapd writes, and the pages that count as congested."""
    cases = []
    for rules, flagged, again in itertools.product(STALL_RULES, (False, True), (False, True)):
        writes, by = row(rules).writes, row(rules).congested_by
        for priority in range(13):
            written = {
                lib.SWS_STALL_WRITES_BELOW_10: priority < 10,
                lib.SWS_STALL_WRITES_FLAGGED: flagged,
                lib.SWS_STALL_WRITES_FLAGGED_AND_MARKED: flagged and again,
            }[writes]
            cases.append((f"write {rules} {priority} {int(flagged)} {int(again)}", written))
        device = flagged
        counted = bool(by & lib.SWS_STALL_BY_DEVICE and device) or bool(
            by & lib.SWS_STALL_BY_MARK and again
        )
        cases.append((f"counts {rules} {int(device)} {int(again)}", counted))
    results = ask([line for line, _ in cases])
    for (line, yes), answer in zip(cases, results, strict=True):
        assert answer == ("yes" if yes else "no"), line


def test_the_facts_of_a_row_are_those_of_the_library(ask: Any) -> None:
    """Where pages are counted, the act of case 1, the questions asked, and the flags cleared."""
    for rules, answer in zip(
        STALL_RULES, ask([f"facts {name}" for name in STALL_RULES]), strict=True
    ):
        of = row(rules)
        balanced = of.clears[lib.SWS_STALL_CLEAR_BALANCED]
        assert [int(word) for word in answer.split()] == [
            of.counted == lib.SWS_STALL_COUNTED_LATE,
            of.case_1,
            of.asks_buffers,
            of.asks_nfs,
            bool(balanced & lib.SWS_STALL_TAIL_DIRTY),
            bool(of.clears[lib.SWS_STALL_CLEAR_SHRUNK]),
        ], rules
