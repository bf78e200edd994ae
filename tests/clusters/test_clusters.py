# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the library's clusters and their replay with the plain models."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from itertools import pairwise
from random import Random

import pytest
from clusters_in_c import OWNERS, ClustersInC, ReplayInC, WhatIfInC
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_cluster_replay import Replay, Row
from oracle_cluster_what_if import WhatIf
from oracle_clusters import (
    CACHED,
    RULES,
    USED,
    Allocator,
    Call,
    Choice,
    DeviceConfig,
    Op,
    Point,
    Points,
    Rules,
)

from swapsim._core import ffi, lib

SIZE, TRUNK_SHIFT, CPUS = 16, 6, 3
FIXED = {"cluster_size": SIZE, "trunk_shift": TRUNK_SHIFT, "cpus": CPUS}

booleans = st.booleans()
rule_sets = st.one_of(
    st.sampled_from(list(RULES.values())),
    st.builds(Rules, **{field.name: booleans for field in fields(Rules)}),
)
CHOICE_PARAMETERS = (
    *("order", "asked", "most", "last", "times", "free", "nonfull", "frag", "larger", "full"),
    "swap_full",
)


def choosing(seed: int, wrong: bool) -> Callable[..., int]:
    """Return a function that chooses by its arguments alone, now and then what is no choice."""
    lists = [Choice.FREE, Choice.NONFULL, Choice.FRAG, Choice.FRAG, Choice.FULL] * 2
    answers = [*lists, Choice.LARGER, Choice.END, *([6, -3] * wrong)]

    def choose(**given: int) -> int:
        assert tuple(given) == CHOICE_PARAMETERS
        mixed = seed + sum(number * value for number, value in enumerate(given.values(), 3))
        return int(answers[mixed * 7919 % 104729 % len(answers)])

    return choose


@st.composite
def device_lists(draw: st.DrawFn) -> list[DeviceConfig]:
    """Draw one to three devices of some clusters."""
    device = st.builds(
        DeviceConfig,
        slots=st.integers(2, 12 * SIZE),
        priority=st.integers(-2, 1),
        file=booleans,
        discard=booleans,
    )
    return draw(st.lists(device, min_size=1, max_size=3))


def test_the_rule_sets_are_those_of_the_library() -> None:
    """Each named row of switches is the same in the plain model and in the library."""
    for number, (name, rules) in enumerate(RULES.items()):
        out = ffi.new("struct sws_cluster_rules *")
        assert lib.sws_cluster_rules_init(number, out) == lib.SWS_OK
        assert ffi.string(lib.sws_cluster_rule_set_name(number)).decode() == name
        assert rules == Rules(**{field.name: getattr(out, field.name) for field in fields(Rules)})
    assert lib.sws_cluster_rule_set_name(len(RULES)) == ffi.NULL


@settings(max_examples=60)
@given(rule_sets, device_lists(), st.data())
def test_calls_and_frees_are_those_of_the_plain_model(
    rules: Rules, devices: list[DeviceConfig], data: st.DataObject
) -> None:
    """Any calls, frees and cached slots give the same slots, lists and next slots."""
    if rules.global_next:
        devices = [replace(device, rotational=i == 1) for i, device in enumerate(devices)]
    seed = data.draw(st.sampled_from([None, None, None, *range(8)]), label="seed of the choices")
    choose = None if seed is None else choosing(seed, seed % 2 == 0)
    in_c = choose and (lambda *given: choose(**dict(zip(CHOICE_PARAMETERS, given, strict=True))))
    ours = ClustersInC(rules, devices, in_c, **FIXED)
    plain = Allocator(rules, devices, SIZE, TRUNK_SHIFT, choose)
    live: list[tuple[int, int, int]] = []
    for _ in range(data.draw(st.integers(1, 60))):
        kind = data.draw(st.integers(0, 9))
        if kind < 6 or not live:
            order = data.draw(st.integers(0, 5))
            wanted = data.draw(st.sampled_from([1, 3, 64])) if rules.credit_first else 1
            owner = data.draw(st.integers(0, OWNERS - 1))
            runs = plain.allocate(kind % CPUS, order, wanted, owner)
            assert ours.allocate(kind % CPUS, order, wanted, owner) == runs
            live += [(device, slot, 1 << order) for device, slot in runs]
            continue
        device, slot, n = live.pop(data.draw(st.integers(0, len(live) - 1)))
        if kind == 6:
            plain.devices[device].map[slot : slot + n] = bytes([CACHED]) * n
            assert lib.sws_clusters_set_cached(ours.handle, device, slot, n, True) == lib.SWS_OK
        elif kind == 7:
            plain.discard(device)
            assert lib.sws_clusters_discard(ours.handle, device) == lib.SWS_OK
            live.append((device, slot, n))
        else:
            part = data.draw(st.integers(1, n))
            plain.free_slots(device, slot, part)
            assert lib.sws_clusters_free_slots(ours.handle, device, slot, part) == lib.SWS_OK
            if part < n:
                live.append((device, slot + part, n - part))
        live = [run for run in live if USED in plain.devices[run[0]].map[run[1] : run[1] + run[2]]]
        live = [run for run in live if 0 not in plain.devices[run[0]].map[run[1] : run[1] + run[2]]]
    ours.verify()
    plain.check()
    assert lib.sws_clusters_available(ours.handle) == plain.available
    assert ours.work("visits_of_others") == plain.visits_of_others
    for count in ("bad_choices", "misses", "lower", "inversions"):
        assert ours.work(count) == getattr(plain, count)
    for device in plain.devices:
        assert ours.lists(device.number) == [list(members) for members in device.lists]
    owners = OWNERS if rules.own_by_task else CPUS
    assert ours.next_slots(owners, len(devices)) == [
        plain.own_slot(Call(cpu, order, owner=cpu), device)
        for cpu in range(owners)
        for order in range(10)
        for device in plain.devices
    ]


class Kernel:
    """Tasks that call and free at the same time, with the locks of the rules, and their rows."""

    def __init__(self, rules: Rules, devices: list[DeviceConfig], seed: int) -> None:
        """Start with empty devices."""
        self.allocator = Allocator(rules, devices, SIZE, TRUNK_SHIFT)
        self.random = Random(seed)
        self.calls_of_ten, self.orders = self.random.choice([(6, 5), (8, 2)])
        """Steps that begin calls, and their orders: the second kind fills its devices."""
        self.rows: list[Row] = []
        self.calls: dict[int, tuple[Call, Points]] = {}
        self.holders: dict[int, int] = {}
        """With lists under si->lock: the task that holds it, by device."""
        self.cpu = dict(enumerate(range(CPUS)))
        """Where each task runs."""
        self.sections: dict[int, int] = {}
        """With isolates: the task that holds the local lock, by CPU."""
        self.waits: dict[int, Point] = {}
        """The window or the reclaim in which a task is."""
        self.late: tuple[int, int] | None = None
        """A task that has filled a device, which is still listed, and the device."""

    def pick(self, most: int) -> int:
        """Draw a number below."""
        return self.random.randrange(most)

    def run(self, steps: int) -> list[Row]:
        """Let the tasks take some steps; return the rows."""
        for _ in range(steps):
            self.step()
            if self.pick(5) == 0:
                self.cache()
        return self.rows

    def write(self, task: int, point: Point) -> None:
        """Write a row."""
        self.rows.append(Row(len(self.rows) + 1, self.cpu[task], task + 50, point))

    def move(self, task: int) -> None:
        """Move a task that holds no lock to another CPU, now and then."""
        if task not in self.holders.values() and task not in self.sections.values():
            self.cpu[task] = self.pick(CPUS) if self.pick(8) == 0 else self.cpu[task]

    def step(self) -> None:
        """Let one task do something."""
        task = self.pick(CPUS)
        if self.late and task == self.late[0]:
            if self.pick(6):
                return
            self.allocator.turn.remove(self.late[1])
            self.late = None
        self.move(task)
        if task in self.calls:
            self.go_on(task)
        elif self.pick(10) < self.calls_of_ten:
            order = self.pick(self.orders)
            wanted = 3 if self.allocator.rules.credit_first and not order else 1
            call = Call(self.cpu[task], order, wanted)
            self.write(task, Point(Op.CALL, n=wanted, order=order))
            self.calls[task] = call, self.allocator.call(call)
            next(self.calls[task][1])
        else:
            self.free(task)

    def is_blocked(self, task: int, device: int, cluster: int | None) -> bool:
        """Return whether another task holds the lock that a task needs."""
        if not self.allocator.rules.isolates:
            return self.holders.get(device, task) != task
        clusters = self.allocator.devices[device].clusters
        return cluster is not None and clusters[cluster].held > 0

    def free(self, task: int, within: range | None = None, device: int = 0) -> None:
        """Free a run of slots in use that the locks allow, or those in use of a range."""
        if within is None:
            device = self.pick(len(self.allocator.devices))
            start = self.pick(self.allocator.devices[device].config.slots)
            within = range(start, start + 1 + self.pick(3))
        used = self.allocator.devices[device].map
        slots = [slot for slot in within if slot < len(used) and used[slot] in (USED, CACHED)]
        cluster = within.start // SIZE
        slots = [slot for slot in slots if slot // SIZE == cluster]
        if not slots or slots != list(range(slots[0], slots[-1] + 1)):
            return
        if self.is_blocked(task, device, cluster) or (self.late and self.late[1] == device):
            return
        self.write(task, Point(Op.FREE, device, slots[0], len(slots)))
        target = self.allocator.free(device, slots[0], len(slots))
        if target is not None:
            self.write(task, Point(Op.MOVE, device, cluster * SIZE, list=target))
            made = self.allocator.devices[device]
            made.append(made.clusters[cluster], target)

    def go_on(self, task: int) -> None:
        """Take the next point of a task's call, if its locks are free."""
        call, points = self.calls[task]
        wait, call.now_cpu = self.waits.get(task), self.cpu[task]
        if self.allocator.rules.isolates and self.sections.get(call.now_cpu, task) != task:
            return
        own = self.allocator.own.get((call.now_cpu, call.order), (0, 0))
        own = own if call.visiting is None else (0, 0)
        cluster = call.visiting.index if call.visiting is not None and wait else None
        if own[1] and self.allocator.rules.isolates:
            held = self.allocator.devices[own[0]].clusters[own[1] // SIZE].held
            if held and not call.granted:
                return
        if self.is_blocked(task, call.device, cluster):
            return
        if wait is not None and wait.op == Op.WINDOW:
            self.write(task, Point(Op.RELOCK))
        self.waits.pop(task, None)
        if self.allocator.rules.isolates:
            self.sections[call.now_cpu] = task
        else:
            self.holders[call.device] = task
        point = next(points)
        if point is None and self.allocator.rules.isolates:
            return  # A cluster that may not be visited, or a visit or a reclaim that ends: no row.
        point = point or next(point for point in points if point is not None)
        self.show(task, point)
        if point.op == Op.DONE:
            del self.calls[task]
            self.sections.pop(call.now_cpu, None)
        turn = list(self.allocator.turn)
        with suppress(StopIteration):
            points.send(point)
        if point.op == Op.GRANT and turn != self.allocator.turn and not self.late:
            self.allocator.turn, self.late = turn, (task, point.device)
        if point.op in (Op.TURN, Op.DONE, Op.WINDOW, Op.FULL, Op.DISCARD):
            self.holders = {device: who for device, who in self.holders.items() if who != task}
        if point.op == Op.WINDOW:
            self.waits[task] = point
            self.reclaim(task, range(point.slot, point.slot + point.n), point.device)
        elif call.full is not None and point.op in (Op.FULL, Op.PICKED):
            self.reclaim(task, range(first := call.full.index * SIZE, first + SIZE), point.device)

    def show(self, task: int, point: Point) -> None:
        """Write the row of a point."""
        if point.op != Op.WINDOW:
            self.write(task, point)

    def reclaim(self, task: int, slots: range, device: int) -> None:
        """Try the cached slots of a range, with success or without."""
        used = self.allocator.devices[device].map
        for slot in slots:
            if slot < len(used) and used[slot] == CACHED:
                self.write(task, Point(Op.TRY, device, slot))
                used[slot] = USED
                if self.pick(2):
                    self.free(task, range(slot, slot + 1), device)

    def cache(self) -> None:
        """Make some slots in use cached, of which only a try will show a row."""
        device = self.allocator.devices[self.pick(len(self.allocator.devices))]
        start = self.pick(device.config.slots)
        for slot in range(start, min(start + 6, device.config.slots)):
            if device.map[slot] == USED:
                device.map[slot] = CACHED


@st.composite
def traces(draw: st.DrawFn) -> tuple[Rules, list[DeviceConfig], list[Row]]:
    """Draw the rows of a kernel with the rules of a rule set."""
    rules = draw(st.sampled_from(list(RULES.values())))
    devices = draw(device_lists())
    kernel = Kernel(rules, devices, draw(st.integers(0, 2**32)))
    return rules, devices, kernel.run(draw(st.integers(1, 600)))


@settings(max_examples=60)
@given(traces())
def test_a_trace_of_the_rules_is_equal_in_both_replays(
    trace: tuple[Rules, list[DeviceConfig], list[Row]],
) -> None:
    """Calls that overlap agree in every row, and both replays count the same."""
    rules, devices, rows = trace
    ours = ReplayInC(rules, devices, **FIXED)
    plain = Replay(Allocator(rules, devices, SIZE, TRUNK_SHIFT), CPUS)
    plain.feed(rows)
    assert ours.feed(rows) == lib.SWS_OK
    assert (plain.mismatch, ours.first_mismatch()) == (None, None)
    totals = {name: value for name, value in plain.totals.items() if value}
    taken_full = {"taken_full": plain.allocator.hinted} if plain.allocator.hinted else {}
    assert ours.totals() == totals | taken_full


CHANGES = {
    "slot": lambda point: point._replace(slot=point.slot ^ 16),
    "n": lambda point: point._replace(n=point.n + 1),
    "list": lambda point: point._replace(list=(point.list + 1) % 23),
    "device": lambda point: point._replace(device=0),
}


@settings(max_examples=60)
@given(traces(), st.sampled_from(sorted(CHANGES)), st.integers(0, 1000))
def test_a_changed_row_is_the_first_that_differs_in_both(
    trace: tuple[Rules, list[DeviceConfig], list[Row]], change: str, at: int
) -> None:
    """Where the plain replay finds the first difference, the library finds it, too."""
    rules, devices, rows = trace
    if not rows:
        return
    at %= len(rows)
    rows[at] = rows[at]._replace(point=CHANGES[change](rows[at].point))
    ours = ReplayInC(rules, devices, **FIXED)
    plain = Replay(Allocator(rules, devices, SIZE, TRUNK_SHIFT), CPUS)
    try:
        plain.feed(rows)
    except (AssertionError, IndexError, KeyError, ValueError):
        return
    code = ours.feed(rows)
    if plain.mismatch is not None:
        assert code != lib.SWS_OK or ours.first_mismatch() == plain.mismatch[0]
    elif code == lib.SWS_OK:
        assert ours.first_mismatch() is None


@settings(max_examples=60)
@given(traces(), rule_sets, booleans, st.sampled_from([-40, 0, 1200]))
def test_requests_under_other_rules_are_those_of_the_plain_model(
    trace: tuple[Rules, list[DeviceConfig], list[Row]],
    rules: Rules,
    trace_has_slot_cache: bool,
    more: int,
) -> None:
    """The same requests obtain the same slots, and leave the same lists, under any switches."""
    _, devices, rows = trace
    theirs = [device.slots for device in devices]
    # The caches start above 320 free slots a CPU, which these devices do not have at first.
    devices = [replace(devices[0], slots=max(2, devices[0].slots + more)), *devices[1:]]
    ours = WhatIfInC(rules, devices, trace_has_slot_cache, theirs, **FIXED)
    allocator = Allocator(rules, devices, SIZE, TRUNK_SHIFT)
    owners = {50 + task: task % OWNERS for task in range(CPUS)}
    plain = WhatIf(allocator, CPUS, trace_has_slot_cache, owners)
    for pid, owner in owners.items() if rules.own_by_task else ():
        assert lib.sws_cluster_what_if_assign(ours.handle, pid, owner) == lib.SWS_OK
    plain.feed(rows)
    assert ours.feed(rows) == lib.SWS_OK
    totals = ours.totals()
    for name in ("requests", "granted", "granted_in_trace"):
        assert totals.pop(name) == [plain.by_order[name][order] for order in range(10)]
    assert totals == {name: plain.totals[name] for name in totals}
    assert ours.neighbours() == plain.neighbours()
    for device in allocator.devices:
        assert ours.lists(device.number) == [list(members) for members in device.lists]


@pytest.mark.parametrize("name", sorted(RULES))
def test_the_traces_have_windows_and_reclaims(name: str) -> None:
    """The traces reach what they are made for: overlapping calls, windows, and full clusters."""
    rows = Kernel(RULES[name], [DeviceConfig(3 * SIZE)], 1).run(2000)
    seen = {row.point.op for row in rows}
    assert {Op.TRY, Op.RELOCK, Op.FULL, Op.GRANT, Op.FREE} <= seen
    overlaps = [
        first.pid != second.pid and first.point.op != Op.DONE and second.point.op == Op.CALL
        for first, second in pairwise(rows)
    ]
    assert sum(overlaps) > 20
