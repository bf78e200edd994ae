# SPDX-License-Identifier: GPL-2.0-or-later
"""A generated stream of requests and frees, in which the group of each task is known.

Groups stand for memory cgroups. A task takes folios of several orders up to its share, gives back
some of them, whole or in part, and ends now and then; another one of its group follows.
"""

from random import Random
from typing import Any, Final

import polars as pl

from swapsim.clusters.events import ClusterRows
from swapsim.clusters.tables import CLUSTER_DEVICES, CLUSTER_EVENTS
from swapsim.ffi import CLUSTER_SIZE_MAX

CPUS: Final = 8
TASKS: Final = 12
GROUPS: Final = 3
"""CPUs, tasks at a time, and their groups; the parameters were fixed before the first run."""

ORDERS: Final = (0,) * 24 + (2,) * 4 + (4,) * 8 + (9,)
"""Orders of requests, each as often as it occurs here."""

SHARE: Final = 2048  # slots that a task takes before it gives some back
REQUESTS: Final = 20_000  # requests of a stream

_MOVES, _ENDS, _PARTS = 0.02, 0.002, 0.3
"""Chances: that a task has changed CPU, that it ends, and that it frees a part of a folio."""


class _Task:
    """A task: its number, group and CPU, and the runs of slots that it has."""

    def __init__(self, pid: int, group: int, cpu: int) -> None:
        self.pid, self.group, self.cpu = pid, group, cpu
        self.runs: list[tuple[int, int]] = []
        self.slots = 0


class _Writer:
    """The rows of a device on which each request obtains slots that no one has had."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.next = 0

    def row(self, task: _Task, op: str, **fields: int) -> None:
        place = {"seq": len(self.rows) + 1, "cpu": task.cpu, "pid": task.pid, "op": op}
        self.rows.append(place | fields)

    def request(self, task: _Task, order: int) -> None:
        """Let a task obtain a run, at a multiple of its size."""
        n = 1 << order
        slot = self.next = -(-max(self.next, 1) // n) * n
        self.row(task, "call", n=1, order=order)
        self.row(task, "grant", device=0, slot=slot, n=n)
        self.row(task, "done", n=1)
        self.next += n
        task.runs.append((slot, n))
        task.slots += n

    def free(self, task: _Task, slot: int, n: int) -> None:
        """Free slots of a task's run."""
        self.row(task, "free", device=0, slot=slot, n=n)
        task.slots -= n


def churn(seed: int, *, requests: int = REQUESTS) -> tuple[ClusterRows, dict[int, int]]:
    """Generate a stream, and the group of each task (pid).

    Its device has a slot for each request, so that nothing is refused: `ranking.stream` serves it
    on a smaller one.
    """
    random, writer = Random(seed), _Writer()
    tasks = [_Task(number, number % GROUPS, number % CPUS) for number in range(TASKS)]
    groups = {task.pid: task.group for task in tasks}
    for _ in range(requests):
        at = random.randrange(TASKS)
        task = tasks[at]
        if random.random() < _MOVES:
            task.cpu = random.randrange(CPUS)
        writer.request(task, random.choice(ORDERS))
        while task.slots > SHARE:
            _give_back(task, random, writer)
        if random.random() < _ENDS:
            for slot, n in task.runs:
                writer.free(task, slot, n)
            tasks[at] = _Task(len(groups), task.group, task.cpu)
            groups[len(groups)] = task.group
    slots = -(-(writer.next + 1) // CLUSTER_SIZE_MAX) * CLUSTER_SIZE_MAX
    # seq, device, slots, priority; file, hard disk, discard; cluster size, rules.
    device = (0, 0, slots, -1, False, False, False, CLUSTER_SIZE_MAX, "7.3")
    rows = ClusterRows(
        events=pl.DataFrame(writer.rows, schema=CLUSTER_EVENTS.schema),
        devices=pl.DataFrame([device], schema=CLUSTER_DEVICES.schema, orient="row"),
    )
    return rows, groups


def _give_back(task: _Task, random: Random, writer: _Writer) -> None:
    """Free a run of a task, or a page of it."""
    slot, n = task.runs.pop(random.randrange(len(task.runs)))
    if n > 1 and random.random() < _PARTS:
        page = random.randrange(n)
        writer.free(task, slot + page, 1)
        task.runs += [run for run in ((slot, page), (slot + page + 1, n - page - 1)) if run[1]]
    else:
        writer.free(task, slot, n)
