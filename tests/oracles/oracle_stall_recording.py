# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that reclaims generated folios and records it in the tables of swapsim.stall.tables.

Its input has no counterpart in C; its decisions stand for the same C as those of oracle_stall. Each
task is a generator that pauses where another CPU may run, or where it sleeps.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Any

import polars as pl

from swapsim.stall import recording

RULES = ("3.9", "mmotm", *(f"series-{n}" for n in range(1, 9)), "3.11", "6.1")
DIRTY, WRITEBACK, CONGESTED = 1, 2, 4
JIFFY_US, SLEEP_US, ISOLATED_US = 4000, 100_000, 20_000
TABLES = dict(recording.TABLES)
SUMS = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken")
Row = dict[str, Any]


class Pause(Enum):
    """The tasks that may run at a pause."""

    OTHER_CPUS = 0
    ANY_TASK = 1


@dataclass
class Task:
    """A reclaimer: kswapd of a node, or a task that reclaims for itself or for its cgroup."""

    pid: int
    cpu: int
    nid: int = 0
    kswapd: bool = False
    target: int = 0
    sane: bool = True
    io: bool = True
    fs: bool = True
    hibernation: bool = False
    may_throttle: bool = True
    kthread: bool = False
    steps: Iterator[Pause] | None = None


@dataclass
class Rates:
    """The share of folios with each property."""

    file: float = 0.8
    dirty: float = 0.5
    writeback: float = 0.3
    reclaim: float = 0.5
    private: float = 0.3
    early: float = 0.02
    large: float = 0.02
    congested: float = 0.3
    changed: float = 0.03


@dataclass
class Kernel:
    """The flags of nodes, the next numbers, and the rows that are written."""

    rules: str
    random: Random
    tasks: list[Task]
    cpus: int = 1
    rates: Rates = field(default_factory=Rates)
    sizes: tuple[int, ...] = (1, 2, 8, 32)
    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in TABLES})
    seq: int = -1
    lists: int = 0
    passes: int = 0

    def __post_init__(self) -> None:
        """Begin without flags."""
        self.at = RULES.index(self.rules)
        self.flags: dict[tuple[int, int], int] = defaultdict(int)
        self.running: list[Task | None] = [None] * self.cpus
        self.failures = 0

    def since(self, rules: str) -> bool:
        """Stands for oracle_stall.since, of this kernel."""
        return self.at >= RULES.index(rules)

    @property
    def is_6_1(self) -> bool:
        """Return whether passes decide, not lists."""
        return self.rules == "6.1"

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return the tables."""
        return {
            name: pl.DataFrame(self.rows[name], schema=TABLES[name]).sort("seq") for name in TABLES
        }

    def run(self, steps: int) -> None:
        """Run tasks in random order; a task that sleeps releases its CPU."""
        for _ in range(steps):
            ready = [t for t in self.tasks if self.running[t.cpu] in (None, t)]
            task = self.random.choice(ready)
            task.steps = task.steps or self._reclaim(task)
            for _ in range(self.random.choice((1, 5, 40, 400))):
                pause = next(task.steps, None)
                self.running[task.cpu] = task if pause is Pause.OTHER_CPUS else None
                if pause is None:
                    task.steps = None
                if pause is not Pause.OTHER_CPUS:
                    break

    def chance(self, share: float) -> bool:
        """Return True with this probability."""
        return self.random.random() < share

    def place(self) -> int:
        """Return the next seq; there are gaps, as other events have numbers too."""
        self.seq += self.random.choice((1, 1, 3))
        return self.seq

    def write(self, task: Task, table: str, *, seq: int | None = None, **values: Any) -> None:
        """Write a row, at this seq if it is given."""
        row = dict.fromkeys(TABLES[table].names())
        head = {"seq": self.place() if seq is None else seq, "cpu": task.cpu, "pid": task.pid}
        self.rows[table].append(row | head | values)

    def seen(self, task: Task) -> int:
        """Return the flags that a task reads: its node's, and its target's congestion."""
        return self.flags[task.nid, -1] | self.flags[task.nid, task.target]

    def set(self, task: Task, flag: int) -> int:
        """Set and return a flag. In 6.1 each cgroup has a congestion of its own."""
        own = flag == CONGESTED and self.is_6_1
        self.flags[task.nid, task.target if own else -1] |= flag
        return flag

    def clear(self, task: Task, flags: int, why: str, memcg: int = 0) -> None:
        """Stands for sws_stall_clears (rules.c)."""
        if memcg == 0:
            self.flags[task.nid, -1] &= ~flags
        if flags & CONGESTED:
            self.flags[task.nid, memcg] = 0
        self.write(task, "reclaim_clears", nid=task.nid, memcg=memcg, flags=flags, why=why)

    def throttle(self, task: Task, reason: str, caller: Row) -> Iterator[Pause]:
        """Stands for sws_stall_sleep_length (sleep.c)."""
        values: Row = {"failures": 0, "reclaimable": 0, "write_pending": 0}
        seen = self.seen(task)
        if reason == "congestion_wait":
            timeout = SLEEP_US
        elif reason == "wait_iff_congested":
            values |= {"congested_devices": self.random.choice((0, 1, 3)), "flags": seen}
            congested = values["congested_devices"] > 0 and seen & CONGESTED
            timeout = SLEEP_US if congested else 0
        elif task.kthread:
            timeout = 0
        elif reason == "writeback":
            timeout = SLEEP_US
        elif reason == "isolated":
            timeout = ISOLATED_US
        else:
            values["failures"] = self.random.choice((0, 0, 0, 15, 16))
            gives_up = values["failures"] >= 16
            if not gives_up:
                values["reclaimable"] = self.random.randrange(1000)
                values["write_pending"] = self.random.randrange(1000)
            little = 2 * values["write_pending"] <= values["reclaimable"]
            timeout = 0 if gives_up or little else JIFFY_US
        delayed = self.random.choice((timeout, timeout // 2, 0))
        if timeout:
            yield Pause.ANY_TASK
        values |= {"timeout_us": timeout, "delayed_us": delayed, "kthread": task.kthread}
        self.write(task, "throttles", nid=task.nid, reason=reason, **caller, **values)

    def folio(self, taken_as_file: bool) -> Row:
        """Generate a folio."""
        rates, chance = self.rates, self.chance
        lazyfree = taken_as_file and chance(0.03)
        private = taken_as_file and not lazyfree and chance(rates.private)
        asked = private and chance(0.6)
        buffers = chance(0.6)
        writeback = not lazyfree and chance(rates.writeback)
        # Buffers: any locked one is writeback, any dirty one is dirty. NFS: private is dirty.
        return {
            "file": taken_as_file,
            "lazyfree": lazyfree,
            "dirty": chance(rates.dirty),
            "writeback": writeback,
            "reclaim": chance(rates.reclaim),
            "private": private,
            "fs_dirty": chance(rates.dirty) if asked else None,
            "fs_writeback": (writeback and buffers) or chance(0.3) if asked else None,
            "buffers": buffers if asked else None,
            # An anonymous page under writeback is in the swap cache.
            "swap": not taken_as_file and (writeback or chance(0.5)),
            "mapping": 0 if lazyfree else self.random.randrange(1, 9),
            "index": self.random.randrange(1 << 20),
            "pages": 16 if not taken_as_file and chance(rates.large) else 1,
            "congested": None,
            "clean": None,
        }

    def account(self, folio: Row, counts: dict[str, int]) -> None:
        """Stands for stall_account (page.h)."""
        dirty, writeback = folio["dirty"], folio["writeback"]
        if folio["fs_dirty"] is not None and (
            self.since("series-8") or (self.since("series-7") and folio["buffers"])
        ):
            dirty, writeback = folio["fs_dirty"], folio["fs_writeback"]
        if not folio["file"] or folio["lazyfree"]:
            dirty = writeback = False
        weight = self.weight(folio)
        counts["dirty"] += weight * (dirty or writeback)
        counts["unqueued_dirty"] += weight * (dirty and not writeback)
        again = writeback and folio["reclaim"] and self.since("series-6")
        if not self.is_6_1 and folio["mapping"]:
            folio["congested"] = not folio["swap"] and self.chance(self.rates.congested)
        if folio["congested"] or again:
            counts["congested"] += weight

    def weight(self, folio: Row) -> int:
        """Stands for stall_weight (page.h)."""
        return folio["pages"] if self.is_6_1 else 1

    def case(self, task: Task, folio: Row, marked: bool, flags: int) -> int:
        """Stands for stall_case (page.h), of a folio under writeback."""
        if task.kswapd and marked and flags & WRITEBACK and self.since("mmotm"):
            return 1
        if not marked:
            return 2
        if self.is_6_1:
            may_enter = task.fs or (folio["swap"] and task.io)
            return 2 if task.sane or not may_enter else 3
        return 2 if task.target == 0 or not task.io else 3

    def may_write(self, task: Task, marked: bool, flags: int, priority: int) -> bool:
        """Stands for stall_may_write (page.h), of a dirty page of a file."""
        if not task.kswapd:
            return False
        if self.rules == "3.9":
            return priority < 10
        return bool(flags & DIRTY) and (marked or not self.is_6_1)

    def meet(self, task: Task, folio: Row, of: Row, counts: dict[str, int]) -> Iterator[Pause]:
        """Stands for sws_stall_meet to sws_stall_paged_out (list.c); other tests are drawn."""
        pages, chance = folio["pages"], self.chance

        def end(step: str, outcome: str, left: int | None = None) -> None:
            stays = left or folio["pages"]
            values = {"outcome": outcome, "step": step, "pages_end": stays}
            if step not in ("lock", "evictable"):
                values |= {"under_writeback": under, "node_flags": flags & ~CONGESTED}
                values["marked"] = marked
            self.write(task, "reclaim_folios", list=of["list"], **folio, **values)
            if step != "lock":
                counts["scanned"] += stays
            if step != "writeback_3":
                counts["taken"] += stays
            if outcome == "reclaimed":
                counts["reclaimed"] += stays

        def activate(step: str, left: int | None = None, file: bool | None = None) -> None:
            if step != "unmap" and chance(0.03):
                return end(step, "culled", left)
            on_file = folio["file"] if file is None else file
            counts["activate_file" if on_file else "activate_anon"] += left or pages
            return end(step, "activated", left)

        flags, under, marked = self.seen(task), folio["writeback"], folio["reclaim"]
        if chance(self.rates.early):
            return end("lock", "kept")
        if chance(self.rates.early):
            return activate("evictable")
        if self.since("series-2"):
            self.account(folio, counts)
        yield Pause.OTHER_CPUS
        flags = self.seen(task)
        if under and self.cpus > 1 and chance(0.05):
            under = False
        if under and chance(self.rates.changed):
            marked = not marked
        busy = under
        if under:
            case = self.case(task, folio, marked, flags)
            if case == 1 and self.since("series-3"):
                counts["immediate"] += self.weight(folio)
                return (activate if self.is_6_1 else lambda s: end(s, "kept"))("writeback_1")
            if case == 1:
                caller = {"pass": of["pass"], "list": of["list"]}
                yield from self.throttle(task, "congestion_wait", caller)
                self.clear(task, WRITEBACK, "immediate")
                busy = False
                if self.since("series-1"):
                    return end("writeback_1", "kept")
            elif case == 2:
                counts["writeback"] += self.weight(folio)
                return (activate if self.is_6_1 else lambda s: end(s, "kept"))("writeback_2")
            else:
                yield Pause.ANY_TASK
                busy = False
                if self.is_6_1:
                    end("writeback_3", "kept")
                    folio |= {"writeback": False, "reclaim": False, "congested": None}
                    yield from self.meet(task, folio, of, counts)
                    return None
        if chance(0.1):
            return activate("reference_activate")
        if chance(0.1):
            counts["ref_keep"] += pages
            return end("reference_keep", "kept")
        if chance(0.03):
            return activate("swap") if chance(0.5) else end("swap", "kept")
        left = 1 if pages > 1 and chance(0.5) else pages
        of["tails"] += pages - left
        if chance(0.05):
            counts["unmap_fail"] += left
            failed = folio["lazyfree"] and chance(0.5)
            counts["lazyfree_fail"] += left if failed else 0
            return activate("unmap", left, file=folio["file"] and not failed)
        if chance(0.02):
            return activate("pinned", left)
        if not folio["lazyfree"] and (folio["dirty"] or chance(0.1)):
            if not self.since("series-2"):
                counts["dirty"] += 1
                counts["unqueued_dirty"] += 0 if busy else 1
            yield Pause.OTHER_CPUS
            # One column for two tests: each flag is that which its own test read.
            flags = (flags & WRITEBACK) | (self.seen(task) & ~WRITEBACK)
            if folio["file"] and not self.may_write(task, marked, flags, of["priority"]):
                return activate("dirty", left) if self.is_6_1 else end("dirty", "kept", left)
            if chance(0.1):
                return end("no_write", "kept", left)
            if chance(0.1):
                counts["congested"] += 0 if self.since("series-2") else 1
                return end("pageout_keep", "kept", left)
            if chance(0.1):
                return activate("pageout_activate", left)
            counts["pageout"] += left
            folio["clean"] = chance(0.3)
            if not folio["clean"]:
                return end("written", "written", left)
        if chance(0.05):
            return activate("release", left)
        if chance(0.05):
            return end("remove", "kept", left)
        return end("freed", "reclaimed", left)

    def _list(self, task: Task, of: Row, priority: int) -> Iterator[Pause]:
        """Stands for a list, sws_stall_begin to sws_stall_end (list.c)."""
        self.lists += 1
        number, file = self.lists, self.chance(self.rates.file)
        known: Row = {"list": number, "pass": of["pass"], "priority": priority, "tails": 0}
        counts: dict[str, int] = defaultdict(int)
        before = self.seen(task)
        yield Pause.OTHER_CPUS
        for _ in range(self.random.choice(self.sizes)):
            yield from self.meet(task, self.folio(file), known, counts)
        while known["tails"]:
            known["tails"] -= 1
            # The folio passed the writeback test before its split, so its pages are not written.
            tail = self.folio(file) | {"pages": 1, "writeback": False}
            yield from self.meet(task, tail, known, counts)
        yield Pause.OTHER_CPUS
        taken = counts["taken"]
        decided = {"set": 0}
        yield from self._decide_list(task, known, counts, decided)
        for name in SUMS:
            of[name] += counts[name]
        of["file_taken"] += taken if file else 0
        of["scanned"] += counts["scanned"]
        of["reclaimed"] += counts["reclaimed"]
        names = TABLES["reclaim_lists"].names()
        values = {
            name: counts[name] for name in names[names.index("taken") : names.index("flags_before")]
        }
        values |= {name: getattr(task, name) for name in ("nid", "target", "kswapd", "sane")}
        values |= {name: getattr(task, name) for name in ("io", "fs", "hibernation")}
        values |= {"flags_before": before, "flags_set": decided["set"], "memcg": task.target}
        values |= {"file": file, "priority": priority, "list": number, "pass": of["pass"]}
        seq = self.place()
        yield Pause.OTHER_CPUS
        self.write(task, "reclaim_lists", seq=seq, flags_after=self.seen(task), **values)

    def _decide_list(
        self, task: Task, known: Row, counts: dict[str, int], decided: dict[str, int]
    ) -> Iterator[Pause]:
        """Stands for sws_stall__decide of a list (decide.c)."""
        taken, unqueued, writeback = counts["taken"], counts["unqueued_dirty"], counts["writeback"]
        many = taken >> (12 - known["priority"])
        caller = {"pass": known["pass"], "list": known["list"]}
        everything = task.target == 0

        def mark(flag: int) -> None:
            decided["set"] |= self.set(task, flag)

        if self.is_6_1:
            if unqueued == taken and not task.sane:
                yield from self.throttle(task, "writeback", caller)
            return
        if counts["dirty"] and counts["dirty"] == counts["congested"] and everything:
            mark(CONGESTED)
        enough = writeback == taken if self.rules == "3.11" else writeback >= many
        if writeback and enough:
            if self.since("series-4"):
                mark(WRITEBACK)
            if not self.since("series-5"):
                yield from self.throttle(task, "wait_iff_congested", caller)
            if self.since("mmotm") and not self.since("series-4"):
                mark(WRITEBACK)
        if self.since("series-2"):
            if everything and unqueued == taken:
                if not self.since("series-3"):
                    yield from self.throttle(task, "congestion_wait", caller)
                mark(DIRTY)
            forced = unqueued == taken or counts["immediate"] > 0
            if self.since("series-3") and everything and forced:
                yield from self.throttle(task, "congestion_wait", caller)
        elif self.since("mmotm") and everything and unqueued and unqueued >= many:
            mark(DIRTY)
        if self.since("series-5") and not task.kswapd and not task.hibernation:
            yield from self.throttle(task, "wait_iff_congested", caller)

    def _pass(self, task: Task, priority: int) -> Iterator[Pause]:
        """Stands for sws_stall_decide of a pass (decide.c)."""
        self.passes += 1
        known: Row = {"pass": self.passes, "nid": task.nid, "memcg": task.target}
        known |= dict.fromkeys((*SUMS, "file_taken", "scanned", "reclaimed"), 0)
        before, flags_set, throttle = self.seen(task), 0, None
        yield Pause.OTHER_CPUS
        caller = {"pass": known["pass"], "list": 0}
        if self.chance(0.05):
            many = "isolated" if self.is_6_1 else "congestion_wait"
            yield from self.throttle(task, many, caller)
        for _ in range(self.random.choice((0, 1, 2, 6))):
            yield from self._list(task, known, priority)
        yield Pause.OTHER_CPUS
        if self.is_6_1 and task.kswapd:
            if known["writeback"] and known["writeback"] == known["taken"]:
                flags_set |= self.set(task, WRITEBACK)
            if known["unqueued_dirty"] == known["file_taken"]:
                flags_set |= self.set(task, DIRTY)
            if known["immediate"]:
                throttle = "writeback"
                yield from self.throttle(task, throttle, caller)
        if self.is_6_1:
            marks = task.kswapd or (task.target != 0 and task.sane)
            if marks and known["dirty"] and known["dirty"] == known["congested"]:
                flags_set |= self.set(task, CONGESTED)
        yield Pause.OTHER_CPUS
        asks = self.is_6_1 and not task.kswapd and task.may_throttle and not task.hibernation
        saw = self.seen(task) & CONGESTED
        if asks and saw:
            throttle = "congested"
            yield from self.throttle(task, throttle, caller)
        known["reclaimed"] += self.random.choice((0, 0, 7))
        values = {"flags_before": before, "flags_set": flags_set}
        values |= {"kswapd": task.kswapd, "priority": priority, "throttle": throttle}
        values |= {"hibernation": task.hibernation, "may_throttle": task.may_throttle}
        seq = self.place()
        yield Pause.OTHER_CPUS
        values["flags_after"] = (self.seen(task) & ~CONGESTED) | saw if asks else self.seen(task)
        self.write(task, "reclaim_passes", seq=seq, sane=task.sane, **known, **values)
        if task.kswapd and not self.is_6_1 and self.since("mmotm"):
            self.clear(task, WRITEBACK, "shrunk")
        task.last_pass = known  # type: ignore[attr-defined]

    def _reclaim(self, task: Task) -> Iterator[Pause]:
        """Reclaim by passes of kswapd, or by rounds of a task."""
        priority = self.random.choice((12, 12, 10, 6, 2))
        reclaimed, wanted = 0, 32
        while priority >= (1 if task.kswapd else 0):
            yield from self._pass(task, priority)
            yield Pause.OTHER_CPUS
            of = task.last_pass  # type: ignore[attr-defined]
            reclaimed += of["reclaimed"]
            if not task.kswapd:
                yield from self._round(task, of, priority, reclaimed, wanted)
            if reclaimed >= wanted:
                break
            priority -= 1
        if task.kswapd and self.chance(0.5):
            flags = CONGESTED | (DIRTY if self.since("mmotm") else 0)
            self.clear(task, flags | (WRITEBACK if self.is_6_1 else 0), "balanced")
        if task.target and self.is_6_1:
            self.clear(task, CONGESTED, "direct", task.target)
        yield Pause.ANY_TASK

    def _round(
        self, task: Task, of: Row, priority: int, reclaimed: int, wanted: int
    ) -> Iterator[Pause]:
        """Stands for sws_stall_decide_round (decide.c)."""
        known: Row = {"pass": of["pass"], "nid": task.nid, "memcg": task.target}
        known |= {"priority": priority, "scanned": of["scanned"], "reclaimed": reclaimed}
        known |= {"wanted": wanted, "ready": self.chance(0.05), "kswapd": False}
        known |= {"hibernation": task.hibernation, "throttle": None}
        goes_on = reclaimed < wanted and not known["ready"]
        in_trouble = goes_on and known["scanned"] and priority < 10
        naps = in_trouble and not task.hibernation
        if self.is_6_1 and task.target == 0 and priority == 1 and reclaimed == 0:
            known["throttle"] = "noprogress"
        if not self.since("series-5") and naps:
            known["throttle"] = "wait_iff_congested"
        if known["throttle"]:
            caller = {"pass": of["pass"], "list": 0}
            yield from self.throttle(task, known["throttle"], caller)
        self.write(task, "reclaim_rounds", **known)
