# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab kernel's rows of rules decide as those of the library, for all that can be told apart."""

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from swapsim._core import ffi, lib
from swapsim.ffi import STALL_RULES, STALL_SLEEPS
from swapsim.io.paths import data_root

TREE = data_root() / "capture" / "lab" / "tree"
OUTSIDE = Path(__file__).with_name("reclaim_rules_outside.c")
OLDER = STALL_RULES[:-1]
TAKEN = 32
FLAGS = {lib.SWS_STALL_TAIL_DIRTY: "D", lib.SWS_STALL_WRITEBACK: "W", lib.SWS_STALL_CONGESTED: "C"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Compile the kernel's header outside of the kernel, and give what answers lines."""
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
        default, *told = done.stdout.splitlines()
        assert default == "6.1"
        return told

    return answers


def row(rules: str) -> Any:
    """Give the library's row."""
    return lib.sws_stall_rules_of(STALL_RULES.index(rules))


def context_of(rules: str, priority: int, *, kswapd: bool, memcg: bool, hibernation: bool) -> Any:
    """Give the library's context."""
    bits = (
        lib.SWS_STALL_KSWAPD * kswapd
        | lib.SWS_STALL_MEMCG * memcg
        | lib.SWS_STALL_HIBERNATION * hibernation
    )
    return ffi.new("struct sws_stall_context *", (STALL_RULES.index(rules), bits, priority, 0))


def done_acts(rules: str, place: int, acts: int) -> list[str]:
    """Name the acts that were done, in order; flags between two sleeps in any."""
    words: list[str] = []
    flags: list[str] = []
    for number in range(lib.SWS_STALL_ACTS_MAX):
        act = row(rules).acts[place][number]
        if not acts >> number & 1:
            continue
        if act.does == lib.SWS_STALL_DOES_SET:
            flags.append(FLAGS[act.what])
        elif act.does == lib.SWS_STALL_DOES_SLEEP:
            words += [*sorted(flags), STALL_SLEEPS[act.what]]
            flags = []
    return [*words, *sorted(flags)]


def told_acts(line: str) -> list[str]:
    """Read the acts that the kernel's header did, in the same order."""
    words: list[str] = []
    flags: list[str] = []
    for word in line.split():
        if len(word) == 1:
            flags.append(word)
        else:
            words += [*sorted(flags), word]
            flags = []
    return [*words, *sorted(flags)]


def lists() -> Iterator[tuple[tuple[str, int, bool, bool, bool], dict[str, int]]]:
    """Give callers and counters of lists: some of each counter, all, and around each threshold."""
    some = (0, 1, 4, 16, TAKEN)
    callers = itertools.product(OLDER, (12, 11, 9, 3), (False, True), (False, True), (False, True))
    counters = list(itertools.product(some, some, some, some, (0, 1)))
    for caller in callers:
        for dirty, unqueued, congested, writeback, immediate in counters:
            if unqueued <= dirty and writeback + immediate <= TAKEN:
                yield (
                    caller,
                    {
                        "dirty": dirty,
                        "unqueued_dirty": unqueued,
                        "congested": congested,
                        "writeback": writeback,
                        "immediate": immediate,
                        "taken": TAKEN,
                    },
                )


def test_a_description_takes_the_rules_of_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rig, the boot parameter and the library name the same rules, in the same order."""
    monkeypatch.syspath_prepend(str(data_root() / "capture"))
    assert import_module("rig.workload").RECLAIM_RULES == STALL_RULES


def test_lists_are_decided_as_by_the_library(ask: Any) -> None:
    """Every flag that is set at the end of a list, and every sleep, in order."""
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
        cases.append((line, done_acts(rules, lib.SWS_STALL_AT_LIST, decision.acts)))
    told = ask([line for line, _ in cases])
    assert len(cases) > 10_000
    for (line, acts), answer in zip(cases, told, strict=True):
        assert told_acts(answer) == acts, line


def test_rounds_are_decided_as_by_the_library(ask: Any) -> None:
    """The nap behind a round of direct reclaim."""
    cases = []
    for rules, hibernation, priority, scanned, reclaimed in itertools.product(
        OLDER, (False, True), range(13), (0, 1), (0, 31, 32)
    ):
        context = context_of(rules, priority, kswapd=False, memcg=False, hibernation=hibernation)
        round_ = ffi.new("struct sws_stall_round *", (scanned, reclaimed, 32))
        decision = ffi.new("struct sws_stall_decision *")
        assert lib.sws_stall_decide_round(context, round_, decision) == lib.SWS_OK
        line = f"round {rules} {int(hibernation)} {priority} {scanned} {reclaimed} 32"
        cases.append((line, done_acts(rules, lib.SWS_STALL_AT_ROUND, decision.acts)))
    told = ask([line for line, _ in cases])
    for (line, acts), answer in zip(cases, told, strict=True):
        assert told_acts(answer) == acts, line


def test_pages_are_written_and_counted_as_by_the_library(ask: Any) -> None:
    """Which dirty page kswapd writes, and which page counts as congested."""
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
    told = ask([line for line, _ in cases])
    for (line, yes), answer in zip(cases, told, strict=True):
        assert answer == ("yes" if yes else "no"), line


def test_a_row_says_what_the_library_says(ask: Any) -> None:
    """Where pages count, what case 1 does, who is asked, and which flags there are to clear."""
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
