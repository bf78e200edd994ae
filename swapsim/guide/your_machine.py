# SPDX-License-Identifier: GPL-2.0-or-later
"""Your machine: what a patch is worth with other CPUs, devices and costs.

`MachineConfig` describes a machine, ``data/costs.csv`` states how long each step of its work
takes, and the contention machine turns both into rates and waits. The CPUs of a `MachineConfig`
follow from its tasks: each of its ``walkers`` (tasks that walk through memory) and writers has one,
and so have kswapd and the interrupts of asynchronous devices. Frames and slots grow with the tasks
unless you give them. What would the merged rule of
patch D gain on a machine with 16 tasks on two sockets, two drives as fast as memory and a
fragmented device, where a copy of a page takes 400 ns?

>>> from swapsim import frames, machine
>>> big = machine.MachineConfig(kernel="6.1", walkers=16, nodes=2, devices=2, fragmented=True)
>>> costs = machine.costs.change_costs(machine.costs.costs(), {"copy_ns": 400})
>>> gained = machine.gain(big, ["shared", "percpu-rerandomise"], costs)
>>> frames.show(gained, "%")
policy               low  middle  high  base_waits  patched_waits  flips
                       %       %     %           %              %
percpu-rerandomise  13.6    13.8  14.2        30.3           21.1  no

``low`` and ``high`` are those over the three default seeds (``seeds=``); the waits are shares of
the CPUs' busy time, without the rule and with it. That range says nothing of the costs, which are
known less well: each has a ``low`` and a ``high`` of its own. So run their ends, too, here those of
two costs that were fitted, one at a time. The gain is known no better than the widest of these:

>>> from swapsim import study
>>> from swapsim.machine import what_if
>>> known = costs.rows_by_key("name", named=True, unique=True)
>>> ends = {
...     f"{name}, {end}": machine.costs.change_costs(costs, {name: known[name][end]})
...     for name in ("tree_ns", "unmap_ns") for end in ("low", "high")
... }
>>> rows = what_if.run(
...     [what_if.Case({}, big)], ends, ["shared", "percpu-rerandomise"], seeds=[1],
...     executor=study.SerialExecutor(),
... )
>>> frames.show(what_if.gains(rows, over=["seed"]).select("fit", "middle"), "%")
fit             middle
                     %
tree_ns, low      3.68
tree_ns, high    22.0
unmap_ns, low    19.1
unmap_ns, high   10.4

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
[('percpu-rerandomise', 16, 3005264.7933601458, 'KiB/s')]

Each lock has its acquisitions, waits, holds and moved lines, by the function that takes it:

>>> results.filter(metric="wait.si_lock.get_swap_pages")["value"].item()
659.8981525847842
>>> where = machine.summary.time_per_page({"percpu-rerandomise": results})
>>> where.columns
['kernel', 'part', 'microseconds', 'percent']

``swapsim export machine.toml -o run.json`` writes the waits and holds of a run as tracks for a
viewer; the file has a field of `MachineConfig` on each line, and a table ``[costs]``.

## Many machines

`study.run` runs a function on many points, on any executor of ``concurrent.futures``, shows
progress, and stores what is complete in a folder, from which an interrupted run continues. The
folder is for these points and this function: other or more points need a new folder.

>>> from concurrent.futures import ThreadPoolExecutor
>>> machines = [machine.MachineConfig(kernel="6.1", walkers=tasks) for tasks in (2, 4)]
>>> with ThreadPoolExecutor() as pool:
...     tables = study.run(run, machines, executor=pool, folder="mystudy")
>>> [table.filter(metric="swap_out")["value"].item() for table in tables]
[560316.8377749374, 903596.1326085525]

Without an executor it starts processes of its own, which import the script: then the script's work
has to stand below ``if __name__ == "__main__":``.

## What the machine is not

Its costs are fitted to the column without the patch of one mail, its tasks walk through memory in
order or at random, and a run lasts milliseconds. ``swapsim.machine`` has the sources of each cost
(`machine.costs.costs`), and notebook 01 shows where it misses published figures.
"""
