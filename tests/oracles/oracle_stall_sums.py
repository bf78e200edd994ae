# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain model of stall_sums.h: a kernel that reclaims pass by pass, and the text of its probes.

It is written from the facts about 7.3, without code of C. Counts of a list are a dictionary; a pass
has pid, kswapd, memcg (0: all of memory), lists, and, of kswapd, whether it then finds the node
balanced: 0, 1, or 2 after so many failures that the node keeps its flags.
"""

from collections.abc import Mapping, Sequence
from typing import Any

COUNTS = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate")
SUMMED = ("dirty", "congested", "writeback", "immediate", "taken")
REASONS = {"writeback": 0, "congested": 3}
Counts = Mapping[str, int]
Pass = Mapping[str, Any]


def decides(rules: str, caller: Mapping[str, bool], place: str) -> bool:
    """Return whether shrink_node comes to its decisions; each-list comes to them before."""
    where = "list" if rules == "each-list" else "pass"
    return place == where and (caller["memcg"] or rules != "7.3-generations")


def decide(
    rules: str, caller: Mapping[str, bool], place: str, flags: set[str], counts: Counts
) -> tuple[bool, set[str], set[str]]:
    """Return whether the flushers are woken, the flags that are set, and the throttles."""
    wakes = place == "list" and counts["unqueued_dirty"] == counts["taken"]
    found: set[str] = set()
    sleeps = {"writeback"} if wakes and caller.get("legacy") else set()
    if not decides(rules, caller, place):
        return wakes, found, sleeps
    if caller["kswapd"]:
        if 0 < counts["writeback"] == counts["taken"]:
            found.add("writeback")
        if counts["immediate"] > 0:
            sleeps.add("writeback")
    if 0 < counts["dirty"] == counts["congested"]:
        if caller["memcg"] and not caller.get("legacy"):
            found.add("cgroup-congested")
        if caller["kswapd"]:
            found.add("node-congested")
    stallable = not caller["kswapd"] and not caller.get("hibernation")
    if stallable and not caller.get("local") and {*flags, *found} - {"writeback"}:
        sleeps.add("congested")
    return wakes, found, sleeps


def summed(lists: Sequence[Counts]) -> dict[str, int]:
    """Return the sums of lists."""
    return {name: sum(each[name] for each in lists) for name in SUMMED}


class Machine:
    """A kernel with one node, which writes a line for each event of the probes."""

    def __init__(self, rules: str) -> None:
        """Begin without flags."""
        self.rules = rules
        self.lines: list[str] = []
        self.node: set[str] = set()
        self.lruvec: dict[int, set[str]] = {}

    def event(self, turn: Pass, name: str, **fields: Any) -> None:
        """Write a line; each is a microsecond later."""
        comm = "kswapd0" if turn["kswapd"] else "task"
        words = " ".join(f"{field}={value}" for field, value in fields.items())
        head = f"{comm:>16}-{turn['pid']:<5d} [000] ..... 10.{len(self.lines):06d}"
        self.lines.append(f"{head}: {name}: (f) {words}\n")

    def flags(self, memcg: int) -> dict[str, Any]:
        """Return the fields that the probes read; those of an absent cgroup have no meaning."""
        bits = {"cgroup-congested": 1, "node-congested": 2}
        of = {key: sum(bits[flag] for flag in self.lruvec.get(key, ())) for key in (0, memcg)}
        own = of[memcg] if memcg else 77
        return {"node_flags": len(self.node) + 2, "root_flags": of[0], "own_flags": own}

    def reclaim(self, turn: Pass) -> None:
        """Reclaim once, as shrink_node, which may repeat what comes to decisions."""
        memcg = turn["memcg"]
        generations = int(self.rules == "7.3-generations")
        first = {"target": hex(0x1000 * memcg), "root": "0x900", "generations": generations}
        self.event(turn, "stall_pass", **first, hierarchy=0, priority=12, node=0)
        for lists in rounds(self.rules, turn):
            self.decide(turn, lists)
        array = f"{{{','.join(map(str, summed(lists).values()))}}}"
        self.event(turn, "stall_pass_end", sums=array, **self.flags(memcg))
        if turn["kswapd"]:
            found = turn["balanced"]
            self.event(turn, "stall_ready", ready=int(found > 0), failures=16 * (found == 2))
            if found == 1:
                self.node.clear()
                self.lruvec.get(0, set()).clear()
        else:
            self.event(turn, "stall_direct_end")
            self.lruvec[memcg].discard("cgroup-congested")

    def decide(self, turn: Pass, lists: Sequence[Counts]) -> None:
        """Process lists, and decide by their sums."""
        caller = caller_of(turn)
        for number, counts in enumerate(lists):
            before = summed(lists[:number])
            arrays = {"counts": [counts[name] for name in COUNTS], "sums": before.values()}
            fields = {name: f"{{{','.join(map(str, each))}}}" for name, each in arrays.items()}
            self.event(turn, "stall_list", taken=counts["taken"], **fields)
            if decide(self.rules, caller, "list", set(), counts)[0]:
                self.event(turn, "stall_wake", reason=1)
        own = self.lruvec.setdefault(turn["memcg"], set())
        if decides(self.rules, caller, "pass"):
            self.event(turn, "stall_sums", tree=1, **self.flags(turn["memcg"]))
        _, found, sleeps = decide(self.rules, caller, "pass", own, summed(lists))
        self.node |= found & {"writeback"}
        own |= found - {"writeback"}
        for reason in sleeps:
            self.event(turn, "stall_throttle", reason=REASONS[reason])
            word = f"VMSCAN_THROTTLE_{reason.upper()}"
            self.event(
                turn, "mm_vmscan_throttled", nid=0, usec_timeout=9, usect_delayed=9, reason=word
            )


def caller_of(turn: Pass) -> dict[str, bool]:
    """Return who reclaims."""
    return {"kswapd": turn["kswapd"], "memcg": turn["memcg"] > 0}


def rounds(rules: str, turn: Pass) -> list[Sequence[Counts]]:
    """Return the lists of a pass, and of its repetition if it has one: only what decides may."""
    repeated = turn["again"] is not None and decides(rules, caller_of(turn), "pass")
    return [turn["lists"], *([turn["again"]] if repeated else [])]


def open_loop(rules: str, turns: Sequence[Pass]) -> list[dict[str, Any]]:
    """Return what rules decide of each pass over all of memory: throttles, and whether one may be.

    The states are those of a kernel that flags no node.
    """
    flags: set[str] = set()
    rows = []
    place = "list" if rules == "each-list" else "pass"
    for turn in turns:
        caller = {"kswapd": turn["kswapd"], "memcg": False}
        states = turn["lists"] if place == "list" else [summed(turn["lists"])]
        row = {"writeback": 0, "congested": 0, "may": False}
        for state in [] if turn["memcg"] else states:
            counts = {"unqueued_dirty": 0, **state}
            if turn["kswapd"] and "writeback" in flags:
                marked = min(counts["congested"], counts["writeback"])
                counts |= {"immediate": marked, "writeback": counts["writeback"] - marked}
                row["may"] |= not marked and counts["writeback"] > 0
            found = decide(rules, caller, place, flags, counts)
            flags |= found[1]
            for reason in found[2]:
                row[reason] += 1
        rows.append(row)
        if turn["kswapd"] and turn["balanced"] == 1:
            flags.clear()
    return rows
