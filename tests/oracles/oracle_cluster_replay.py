# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, simple model of cluster_replay.h: rows against the points of oracle_clusters.

It stops at the first row that differs.

================================ ==============================================================
here                             in corelib/src/clusters/replay
================================ ==============================================================
Replay.feed                      replay.c: take_row, row_of_call, row_without_call
Replay._free, _settle            replay.c: free_slots, settle_move
Replay._window, _try, _relock    window.c
Replay._finds_full               window.c: finds_full, take_over
Replay._meet, _expect            expect.c: meet, sws_cluster_replay__expect
Replay._refuses, _skips          expect.c: refuses, skips_device
Replay._hint, _explains          taken.c
================================ ==============================================================
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from oracle_clusters import (
    CACHED,
    DISCARD,
    FREE,
    FULL,
    USED,
    Allocator,
    Call,
    Cluster,
    FullDeviceError,
    Op,
    Point,
    Points,
)

IN_FLIGHT = 512
"""The largest number of slots that a CPU moves between a probe and the counter."""
FREED = 8
"""Ranges that other tasks freed during a visit; more explain every grant."""
COUNTED = {
    Op.GRANT: "grants",
    Op.VISIT: "visits",
    Op.MOVE: "moves",
    Op.PICKED: "picks",
    Op.TURN: "turns",
}
OPTIONAL = (Op.FULL_DONE, Op.VISITED, Op.TURN, Op.DISCARD, Op.DISCARDED)
"""Points that rows may lack."""


class Row(NamedTuple):
    """A row of CLUSTER_EVENTS."""

    seq: int
    cpu: int
    pid: int
    point: Point


@dataclass
class Task:
    """A task with its open call."""

    pid: int
    call: Call
    points: Points | None = None
    """The call, None if the task has none."""
    worker: bool = False
    began: int = 0
    last: int = 0
    point: Point | None = None
    """The next point, if it is already computed."""
    window: range | None = None
    disturbed: bool = False
    over: bool = False
    """Its visit or reclaim may have ended, without a move, before another task's change."""
    turned: bool = False
    moved: bool = False
    tried_full: bool = False
    move: Point | None = None
    """The list move of a free that comes next."""
    freed: list[range] = field(default_factory=list)
    opened: int = 0
    """How many of these others freed before the open window."""


class Replay:
    """The rows of a trace, compared with the model's own points."""

    def __init__(self, allocator: Allocator, cpus: int) -> None:
        """Start with empty devices."""
        self.allocator, self.cpus = allocator, cpus
        self.listed = not allocator.rules.isolates
        self.tasks: dict[int, Task] = {}
        self.totals: Counter[str] = Counter()
        self.row = 0
        self.changed: dict[int, int] = {}
        self.stamps: dict[tuple[int, int], int] = {}
        self.late: dict[int, int] = {}
        """Device whose last slot was granted, or first freed, by the last row of a task (pid)."""
        self.mismatch: tuple[int, Point | None] | None = None
        """seq of the first row that differs, and what the model expected."""

    def feed(self, rows: list[Row]) -> None:
        """Replay rows."""
        for row in rows:
            if self.mismatch is not None:
                return
            self.row += 1
            self.totals["rows"] += 1
            task = self.tasks.setdefault(row.pid, Task(row.pid, Call(0, 0)))
            self.late = {device: pid for device, pid in self.late.items() if pid != row.pid}
            if row.point.op == Op.GRANT:
                self.totals["slots"] += row.point.n
            if task.move is not None:
                settles = row.point.op == Op.MOVE
                self._settle(task, row)
                if settles:
                    continue
            listed = len(self.allocator.turn)
            self._take(task, row)
            if len(self.allocator.turn) != listed:
                self.late[row.point.device] = row.pid
            if row.point.op != Op.FREE:
                task.last = self.row

    def _take(self, task: Task, row: Row) -> None:
        """Take one row."""
        op = row.point.op
        if op == Op.FREE:
            self._free(task, row)
        elif op == Op.CALL:
            self._begin(task, row)
        elif task.points is None:
            self._without_call(task, row)
        elif op == Op.TRY:
            self._try(task, row)
        elif op == Op.RELOCK:
            self._relock(task)
        elif op == Op.WINDOW:
            self._window(task)
        else:
            if op in (Op.GRANT, Op.MOVE):
                self._note_change(row)
            elif op == Op.PICKED and row.point.n:
                self._note_pick(row)
            self._expect(task, row)
            if op == Op.FULL_DONE and task.worker:
                self._close(task)

    def _begin(self, task: Task, row: Row) -> None:
        """Begin a call, or a worker's reclaim; a call without its done row ends first."""
        if task.points is not None:
            self._expect(task, row._replace(point=Point(Op.DONE, n=len(task.call.granted))))
        task.call = Call(row.cpu, row.point.order, row.point.n)
        task.worker = row.point.op == Op.FULL
        if task.worker:
            task.points = self.allocator.worker(task.call, row.point.device)
            task.call.device = row.point.device
        else:
            task.points = self.allocator.call(task.call)
        next(task.points)
        task.began, task.point, task.window = self.row, None, None
        task.disturbed = task.tried_full = task.turned = False

    def _close(self, task: Task) -> None:
        """End a call; what it holds is released."""
        if task.points is None:
            return
        visiting = task.call.visiting
        if visiting is not None and task.window is None:
            visiting.held -= 1
        if self.allocator.rules.credit_first and not task.worker:
            left = task.call.wanted - len(task.call.granted)
            self.allocator.available += left << task.call.order
        if not task.worker:
            self.totals["calls"] += 1
            self.totals["calls_equal"] += self.mismatch is None
        task.points = None

    # Rows that need no call.

    def _note_change(self, row: Row) -> None:
        """Note that a row changes a cluster, also for the calls that visit it."""
        point = row.point
        cluster = self.allocator.devices[point.device].clusters[point.slot // self.allocator.size]
        self.stamps[point.device, cluster.index] = self.changed[point.device] = self.row
        if cluster.held:
            self._disturb(row, cluster)

    def _note_pick(self, row: Row) -> None:
        """Note that a row takes a cluster off its list: a full or a free one is usable now."""
        point = row.point
        cluster = self.allocator.devices[point.device].clusters[point.slot // self.allocator.size]
        if point.list in (FREE, FULL):
            self.stamps[point.device, cluster.index] = self.row
        self._disturb(row, cluster)

    def _disturb(self, row: Row, cluster: Cluster) -> None:
        """Note for the tasks that visit or reclaim a cluster that they hold it no more."""
        point = row.point
        stays = self.allocator.relocation(self.allocator.devices[point.device], cluster) is None
        for task in self.tasks.values():
            if task.points is None or task.pid == row.pid:
                continue
            task.over |= point.op == Op.PICKED and task.call.full is cluster
            if task.call.visiting is not cluster:
                continue
            task.over |= stays
            task.disturbed = True
            if point.op == Op.FREE:
                task.freed.append(range(point.slot, point.slot + point.n))

    def _free(self, task: Task, row: Row) -> None:
        """Free slots; the list move is a row of its own in 7.3."""
        point = row.point
        self._note_change(row)
        self.totals["frees"] += 1
        target = self.allocator.free(point.device, point.slot, point.n)
        if target is not None:
            first = point.slot - point.slot % self.allocator.size
            task.move = Point(Op.MOVE, point.device, first, list=target)

    def _settle(self, task: Task, row: Row) -> None:
        """Compare the list move after a free."""
        ours = task.move
        assert ours is not None
        theirs = row.point if row.point.op == Op.MOVE else ours
        equal = row.point.op == Op.MOVE and self._equal(ours, theirs)
        self.totals["moves"] += 1
        self.totals["moves_equal"] += equal
        if not equal:
            self._blame(row, ours)
        task.move = None
        device = self.allocator.devices[theirs.device]
        device.append(device.clusters[theirs.slot // self.allocator.size], theirs.list)

    def _without_call(self, task: Task, row: Row) -> None:
        """Take a row of a worker, or of code that is not modelled."""
        point = row.point
        device = self.allocator.devices[point.device]
        cluster = device.clusters[point.slot // self.allocator.size]
        if point.op == Op.FULL:
            self._begin(task, row)
            self._expect(task, row)
        elif point.op == Op.DISCARD and cluster.index in device.lists[DISCARD]:
            self.totals["taken_discards"] += device.head(DISCARD) is cluster
            del device.lists[DISCARD][cluster.index]
        elif point.op in (Op.MOVE, Op.DISCARDED):
            assert cluster.list == DISCARD
            self.totals["moves"] += point.op == Op.MOVE
            self.totals["moves_equal"] += point.op == Op.MOVE and point.list == FREE
            device.append(cluster, point.list if point.op == Op.MOVE else FREE)
        else:
            assert point.op in (Op.DISCARD, Op.TRY, Op.DONE, Op.FULL_DONE)

    # Windows, and reclaim of full clusters.

    def _try(self, task: Task, row: Row) -> None:
        """Take a row that tries a cached slot."""
        if task.call.full is not None:
            self._try_in_full(task, row)
            return
        slot, size = row.point.slot, 1 << task.call.order
        if task.window is not None and slot in task.window:
            return
        device = self.allocator.devices[row.point.device]
        start = slot - slot % size
        cluster = device.clusters[slot // self.allocator.size]
        if cluster is task.call.visiting and task.point is None:
            before = bytes(device.map)
            for freed in task.freed[task.opened : FREED]:
                device.map[freed.start : freed.stop] = bytes([USED]) * len(freed)
            device.map[start : start + size] = bytes(
                CACHED if byte == USED else byte for byte in device.map[start : start + size]
            )
            self._hint(task, full=True)
            self._compute(task)
            device.map[:] = before
        point = task.point
        if (
            cluster is not task.call.visiting
            or point is None
            or point[:3] != (Op.WINDOW, device.number, start)
        ):
            self._blame(row, point)
            return
        self._apply(task, point)
        self.totals["taken_windows"] += 1
        task.window = range(start, start + size)

    def _window(self, task: Task) -> None:
        """Take a row of a visit that drops its locks: it has tested the cluster's free slots."""
        task.opened = len(task.freed)
        if task.point is None and task.call.visiting is not None:
            task.call.tested |= self.allocator.has_room(task.call)

    def _try_in_full(self, task: Task, row: Row) -> None:
        """Compare the full cluster that the kernel took with the model's."""
        cluster = self.allocator.devices[row.point.device].clusters[
            row.point.slot // self.allocator.size
        ]
        here = row.point.device == task.call.device
        if task.tried_full and here and cluster is task.call.full:
            return
        equal = here and (
            cluster is task.call.full or (self.listed and self._finds_full(task, cluster))
        )
        task.tried_full = True
        self.totals["picks"] += self.listed
        self.totals["picks_equal"] += self.listed and equal
        if not equal:
            self._blame(row, None)

    def _finds_full(self, task: Task, cluster: Cluster) -> bool:
        """Rotate the full list for a worker whose clusters show no row."""
        call, device = task.call, self.allocator.devices[task.call.device]
        for other in self.tasks.values() if task.worker else ():
            if other is not task and not other.tried_full and other.call.full is cluster:
                self.allocator.rotate_full(other.call, device)
                call.full, call.left = cluster, max(call.left - 1, 0)
                return True
        while task.worker and call.full is not cluster and call.left > 0 and call.full:
            self.allocator.rotate_full(call, device)
        while not task.worker and not task.tried_full and call.full is not cluster:
            worker = next(
                (
                    other
                    for other in self.tasks.values()
                    if other.points is not None
                    and other.worker
                    and other.call.device == call.device
                    and other.call.left > 0
                ),
                None,
            )
            if worker is None:
                break
            worker.call.left -= 1
            self.allocator.rotate_full(call, device)
            self.totals["taken_yields"] += 1
        return call.full is cluster

    def _relock(self, task: Task) -> None:
        """Test the range of a window at the moment when the locks are held again."""
        task.opened, task.over = len(task.freed), False
        if task.window is None:
            task.disturbed = True
            self.totals["taken_silent"] += 1
            return
        task.window = None
        assert task.points is not None
        task.point = next(task.points)

    # A row against the next point of its call.

    def _hint(self, task: Task, full: bool) -> None:
        """Let the row say whether swap is full if slots in flight decide."""
        allocator = self.allocator
        margin = IN_FLIGHT * (self.cpus - 1) + sum(
            other.call.wanted << other.call.order
            for other in self.tasks.values()
            if other is not task and other.points is not None
        )
        near = abs(allocator.available * 2 - allocator.total) <= 2 * margin
        allocator.hint = full if near else None

    def _compute(self, task: Task) -> None:
        """Compute the next point of a call."""
        assert task.points is not None
        while task.point is None:
            task.point = next(task.points)
        self.allocator.hint = None

    def _apply(self, task: Task, point: Point) -> None:
        """Apply a point."""
        assert task.points is not None
        task.points.send(point)
        task.point = None
        task.over, task.turned = False, point.op == Op.TURN
        if point.op == Op.VISIT:
            task.disturbed, task.freed, task.opened = False, [], 0
        task.tried_full = task.tried_full and task.call.full is not None

    def _meet(self, task: Task, row: Row) -> bool:
        """Compute points until one has the op of the row."""
        while True:
            if task.point is None:
                self._hint(task, full=row.point.op == Op.FULL)
                self._compute(task)
            point = task.point
            assert point is not None
            if point.op == row.point.op:
                return True
            if point.op in OPTIONAL or (point.op == Op.FULL and not self.listed):
                self._apply(task, point)
            elif not self._skips(task, row) and not self._refuses(task):
                return False

    def _device_changed(self, task: Task) -> bool:
        """Return whether another task changed a device since the last row of this call."""
        return any(row > task.last for row in self.changed.values())

    def _skips(self, task: Task, row: Row) -> bool:
        """Return whether the device was full when the call had si->lock."""
        if row.point.op != Op.TURN or not task.turned or not self.listed:
            return False
        if not self._device_changed(task) and not task.moved:
            return False
        self.totals["taken_ends"] += 1
        task.turned = False
        assert task.points is not None
        task.point = task.points.throw(FullDeviceError())
        return True

    def _refuses(self, task: Task) -> bool:
        """Return whether the point did not happen, and the trace explains why."""
        point = task.point
        assert point is not None
        at = point.device, point.slot // self.allocator.size
        own = (
            point.op == Op.VISIT
            and task.call.own
            and self.allocator.rules.checks_own
            and self.stamps.get(at, 0) > task.began
        )
        silent = point.op == Op.GRANT and self._explains(task, None)
        over = point.op == Op.MOVE and task.over
        if not own and not silent and not over:
            return False
        self.totals["taken_ends"] += own or over
        assert task.points is not None
        task.point = task.points.send(None)
        return True

    def _explains(self, task: Task, theirs: Point | None) -> bool:
        """Return whether a silent window explains a grant, or (None) a visit without one."""
        call, size = task.call, 1 << task.call.order
        if not task.disturbed or call.visiting is None:
            return False
        device = self.allocator.devices[call.device]
        first = call.visiting.index * self.allocator.size
        end = first + self.allocator.size
        if theirs is not None:
            fits = first <= theirs.slot <= end - size and (theirs.slot - first) % size == 0
            if (theirs.device, theirs.n) != (call.device, size) or not fits:
                return False
            end = theirs.slot
        return all(
            any(device.map[at : at + size])
            or at + size > device.config.slots
            or len(task.freed) > FREED
            or any(freed.start < at + size and at < freed.stop for freed in task.freed)
            for at in range(call.start, end - size + 1, size)
        )

    def _expect(self, task: Task, row: Row) -> None:
        """Compare a row of an open call with the next point, and apply the row."""
        theirs = row.point
        if theirs.op == Op.GRANT:
            slots = self.allocator.devices[theirs.device].map[theirs.slot :][: theirs.n]
            assert not any(slots)
            assert len(task.call.granted) < task.call.wanted
        # Between a turn and si->lock a task may move; a search without a row has either CPU.
        task.moved = self.listed and task.turned and row.cpu != task.call.now_cpu
        if theirs.op == Op.DONE:
            self._end(task, row)
            return
        task.call.now_cpu, task.window = row.cpu, None
        meets = self._meet(task, row)
        ours = task.point
        assert ours is not None
        behind = theirs.op == Op.TURN and self._explains_turn(ours, theirs)
        if not meets and not behind:
            self._judge(task, row, equal=False)
            return
        equal = meets and self._equal(ours, theirs)
        if theirs.op == Op.TURN and not equal and behind:
            self.totals["taken_turns"] += 1
        elif theirs.op == Op.PICKED and not equal and self._explains_pick(theirs):
            self.totals["taken_yields"] += 1
        elif theirs.op == Op.GRANT and not equal and self._explains(task, theirs):
            self._judge(task, row, equal=True)
        else:
            self._judge(task, row, equal)
        self._apply(task, theirs)
        if theirs.op == Op.VISITED and self.listed:
            self._hint(task, full=False)
            if self.allocator.hint is None:
                self._compute(task)
            self.allocator.hint = None

    def _equal(self, ours: Point, theirs: Point) -> bool:
        """Return whether the fields that an op fills are equal."""
        fields = {
            Op.VISIT: ("device", "slot", "order"),
            Op.PICK: ("device", "list"),
            Op.PICKED: ("n", "slot"),
            Op.MOVE: ("device", "slot", "list"),
            Op.VISITED: ("slot",),
            Op.TURN: ("device",),
            Op.FULL: ("device",),
            Op.GRANT: ("device", "slot", "n"),
        }.get(ours.op, ())
        return all(getattr(ours, name) == getattr(theirs, name) for name in fields)

    def _explains_turn(self, ours: Point, theirs: Point) -> bool:
        """Return whether the list of devices was behind the rows."""
        listed = self.allocator.turn
        if theirs.device in self.late and theirs.device not in listed:
            return True
        return ours.op == Op.TURN and ours.device in self.late and ours.device in listed

    def _explains_pick(self, theirs: Point) -> bool:
        """Return whether a list may yield a cluster that is not its first."""
        device = self.allocator.devices[theirs.device]
        cluster = device.clusters[theirs.slot // self.allocator.size]
        return not theirs.n or cluster.index in device.lists[theirs.list]

    def _end(self, task: Task, row: Row) -> None:
        """End a call; it may have ended while others changed the lists."""
        in_window = task.window is not None
        if in_window or not self._meet(task, row):
            if in_window or self._device_changed(task) or task.moved:
                self.totals["taken_ends"] += 1
            else:
                self._blame(row, task.point)
        charged = self.listed or row.point.n
        if charged and row.point.n != len(task.call.granted):
            self._blame(row, task.point)
        self._close(task)

    def _judge(self, task: Task, row: Row, equal: bool) -> None:
        """Count a row, and note the first that differs."""
        name = COUNTED.get(row.point.op)
        if name:
            self.totals[name] += 1
            self.totals[f"{name}_equal"] += equal
        if not equal:
            self._blame(row, task.point)

    def _blame(self, row: Row, ours: Point | None) -> None:
        """Note the first difference."""
        if self.mismatch is None:
            self.mismatch = row.seq, ours
