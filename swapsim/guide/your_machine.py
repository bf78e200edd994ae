# SPDX-License-Identifier: GPL-2.0-or-later
"""Your machine: what a patch is worth with other CPUs, devices and costs.

`machine.Machine` describes a machine, ``data/costs.csv`` states how long each step of its work
takes, and the contention machine turns both into rates and waits. Each task has a CPU, and so have
kswapd and the interrupts of asynchronous devices. What is not given follows the kernel and the
tasks: the rule for scans, memory and slots.

## A published machine

>>> from swapsim import machine
>>> a = machine.preset("A-2016")
>>> a.costs
{'unmap_ns': 6260, 'tree_ns': 628, 'tag_ns': 63, 'map_ns': 195}
>>> gained = machine.gain(a, tags=False)
>>> gained.columns
['tags', 'middle', 'low', 'high', 'bound_by', 'saturated']
>>> gained.row(0)
(False, 31.1, 30.2, 31.5, 'si_lock', False)

``low`` and ``high`` are the least and greatest of six seeds (``seeds=``). With the patch the
machine is bound by si->lock. The same with twice the sequential writers, and with the ends of one
cost:

>>> machine.gain(a.replace(writers=16), tags=False).row(0)
(False, 33.5, 32.9, 33.6, 'si_lock', True)
>>> for ns in machine.costs().filter(name="copy_ns").select("low", "high").row(0):
...     print(ns, machine.gain(a.replace(copy_ns=ns), tags=False)["middle"].item())
300 30.9
1000 29.5

## Your own

What would the merged rule of patch D gain with 16 random-access tasks on two sockets, two
fragmented drives of 1 GB as fast as memory, and copies of a page that take 400 ns?

>>> big = machine.Machine(
...     kernel="6.1", policy="shared", walkers=16, nodes=2, devices=2, slots=2**18,
...     fragmented=True, warmup_ns=100_000_000, costs={"copy_ns": 400},
... )
>>> machine.gain(big, seeds=3, policy="percpu-rerandomise").row(0)
('percpu-rerandomise', 10.7, 9.4, 10.9, 'work', False)

With the usual warm-up of 10 ms the machine has not settled, which a warning says: the halves of the
measured time differ by more than their scatter.

The range says nothing of the costs, which are known less well: each has a ``low`` and a ``high`` in
`machine.costs`. The gain is known no better than the widest of these.

## One run

>>> ran = machine.run(big.replace(policy="percpu-rerandomise"))
>>> ran
Run(swap_out=3,091,276 KiB/s, swap_in=3,092,636 KiB/s, waits=19 %, bound_by='work')
>>> ran.time_per_page.columns
['part', 'microseconds', 'percent']
>>> ran.locks.columns
['lock', 'acquisitions', 'contended', 'transfers', 'wait_ns', 'hold_ns']

``ran.rows`` has all metrics, such as ``wait.si_lock.get_swap_pages``: each lock's acquisitions,
waits, work under it and cache-line transfers, by the function that takes it.

## Many machines

>>> from swapsim import study
>>> rows = machine.sweep(machine.Machine(), seeds=2, walkers=[2, 4])
>>> study.over(rows.filter(metric="throughput")).columns
['walkers', 'metric', 'runs', 'middle', 'low', 'high']

`study.run` runs any function on many points, on threads or on any executor of
``concurrent.futures``, shows progress, and stores frames that are complete in a folder, from which
an interrupted run continues.

## What the machine is not

Its costs are fitted to the column without the patch of one mail, its tasks walk through memory in
order or at random, and a run lasts milliseconds. `machine.costs` has the source of each cost, and
notebook 01 shows where the machine misses published figures.
"""
