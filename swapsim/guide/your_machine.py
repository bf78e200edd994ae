# SPDX-License-Identifier: GPL-2.0-or-later
"""Your machine: what a patch is worth with other CPUs, devices and costs.

`MachineConfig` describes a machine, ``data/costs.csv`` states how long each step of its work
takes, and the contention machine turns both into rates and waits. The CPUs of a `MachineConfig`
follow from its tasks: each of its ``walkers`` (tasks that walk through memory) and writers has one,
and so have kswapd and the interrupts of asynchronous devices. Frames and slots grow with the tasks
unless you give them. What would the merged rule of patch D gain on a machine with 16 tasks on two
sockets, two fragmented drives of 1 GB as fast as memory, and copies of a page that take 400 ns?

>>> from swapsim import frames, machine
>>> big = machine.MachineConfig(
...     kernel="6.1", walkers=16, nodes=2, devices=2, slots=2**18, fragmented=True
... )
>>> costs = machine.costs.change_costs(machine.costs.costs(), {"copy_ns": 400})
>>> rules = ["shared", "percpu-rerandomise"]
>>> frames.show(machine.gain(big, rules, costs), "%")
policy              middle   low  high  base_waits  patched_waits  flips
                         %     %     %           %              %
percpu-rerandomise    12.5  11.3  12.9        30.6           22.2  no

``low`` and ``high`` are the least and greatest of three seeds (``seeds=``); the waits are shares of
the CPUs' busy time, without the rule and with it. That range says nothing of the costs, which are
known less well: each has a ``low`` and a ``high`` of its own.
A case is a machine with other costs or fields, one at a time. The gain is known no better than the
widest of these, of two fitted costs and of the device's size, from 70 % full to 11 %:

>>> from dataclasses import replace
>>> from swapsim.machine.what_if import Case
>>> known = costs.rows_by_key("name", named=True, unique=True)
>>> ends = [
...     Case({"constant": name, "end": end}, big, {name: known[name][end]})
...     for name in ("tree_ns", "unmap_ns") for end in ("low", "high")
... ]
>>> sizes = {"low": 5 * 2**15, "high": 2**20}
>>> ends += [
...     Case({"constant": "slots", "end": end}, replace(big, slots=n)) for end, n in sizes.items()
... ]
>>> gained = machine.gain(ends, rules, costs)
>>> frames.show(gained.select("constant", "end", "middle", "low", "high"), "%")
constant  end   middle    low   high
                     %      %      %
tree_ns   low     2.38   2.31   3.10
tree_ns   high   20.4   19.3   20.8
unmap_ns  low    18.2   18.1   19.2
unmap_ns  high    9.45   8.88   9.59
slots     low    12.8   11.3   13.8
slots     high   13.8   13.6   14.2

In place of a name a policy can be fields of the machine, so any two machines can be compared, the
first as the base:

>>> tags = {"tags": {"swap_writeback_tags": True}, "no tags": {"swap_writeback_tags": False}}
>>> old = machine.MachineConfig(kernel="4.8", walkers=16)
>>> frames.show(machine.gain(old, tags, seeds=[1]).select("policy", "middle"), "%", ["middle"])
policy   middle
              %
no tags    9.38

## One run

>>> from swapsim.machine.run import run
>>> results = run(big, costs)
>>> results.filter(metric="swap_out").select("policy", "n_tasks", "value", "unit").rows()
[('percpu-rerandomise', 16, 2956159.4087681184, 'KiB/s')]

Each lock has its acquisitions, waits, holds and moved lines, by the function that takes it:

>>> results.filter(metric="wait.si_lock.get_swap_pages")["value"].item()
813.3309428447716
>>> where = machine.summary.time_per_page({"percpu-rerandomise": results})
>>> where.columns
['kernel', 'part', 'microseconds', 'percent']

## Many machines

`study.run` runs a function on many points, on threads or on any executor of
``concurrent.futures``, shows progress, and stores what is complete in a folder, from which an
interrupted run continues.

>>> from swapsim import study
>>> machines = [machine.MachineConfig(kernel="6.1", walkers=tasks) for tasks in (2, 4)]
>>> tables = study.run(run, machines, folder="mystudy")
>>> [table.filter(metric="swap_out")["value"].item() for table in tables]
[560316.8377749374, 903596.1326085525]

## What the machine is not

Its costs are fitted to the column without the patch of one mail, its tasks walk through memory in
order or at random, and a run lasts milliseconds. ``swapsim.machine`` has the sources of each cost
(`machine.costs.costs`), and notebook 01 shows where it misses published figures.
"""
