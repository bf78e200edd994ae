# SPDX-License-Identifier: GPL-2.0-or-later
"""A generated stream of requests and frees, in which the group of each task is known.

Groups stand for memory cgroups. A task takes folios of several orders up to its share, gives back
some of them, whole or in part, and ends now and then; another one of its group follows.
"""

from random import Random
from typing import Any, Final

import polars as pl

from swapsim.clusters.events import CLUSTER_DEVICES, CLUSTER_EVENTS, ClusterRows
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


def churn(seed: int, *, requests: int = REQUESTS) -> tuple[ClusterRows, dict[int, int]]:
    """Generate a stream, and the group of each task (pid)."""
    random, rows, after = Random(seed), list[dict[str, Any]](), 0

    def row(op: str, **fields: int) -> None:
        rows.append({"seq": len(rows) + 1, "cpu": task.cpu, "pid": task.pid, "op": op, **fields})

    def free(slot: int, n: int) -> None:
        row("free", device=0, slot=slot, n=n)
        task.slots -= n

    tasks = [_Task(number, number % GROUPS, number % CPUS) for number in range(TASKS)]
    groups = {task.pid: task.group for task in tasks}
    for _ in range(requests):
        at = random.randrange(TASKS)
        task = tasks[at]
        if random.random() < _MOVES:
            task.cpu = random.randrange(CPUS)
        order = random.choice(ORDERS)
        n = 1 << order
        slot = -(-max(after, 1) // n) * n
        after = slot + n
        row("call", n=1, order=order)
        row("grant", device=0, slot=slot, n=n)
        row("done", n=1)
        task.runs.append((slot, n))
        task.slots += n
        while task.slots > SHARE:
            slot, n = task.runs.pop(random.randrange(len(task.runs)))
            if n > 1 and random.random() < _PARTS:
                page = random.randrange(n)
                free(slot + page, 1)
                rest = ((slot, page), (slot + page + 1, n - page - 1))
                task.runs += [run for run in rest if run[1]]
            else:
                free(slot, n)
        if random.random() < _ENDS:
            for slot, n in task.runs:
                free(slot, n)
            tasks[at] = _Task(len(groups), task.group, task.cpu)
            groups[len(groups)] = task.group
    slots = -(-(after + 1) // CLUSTER_SIZE_MAX) * CLUSTER_SIZE_MAX
    # seq, device, slots, priority; file, hard disk, discard; cluster size, rules.
    device = (0, 0, slots, -1, False, False, False, CLUSTER_SIZE_MAX, "7.3")
    made = ClusterRows(
        events=pl.DataFrame(rows, schema=CLUSTER_EVENTS),
        devices=pl.DataFrame([device], schema=CLUSTER_DEVICES, orient="row"),
    )
    return made, groups
