# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a policy: where the search for a swap slot begins, by a rule of yours.

## cluster_next, up to 6.11

Until 6.11 the scan for a free slot began at ``cluster_next``: one for the device, or with patch D
one for each CPU. A policy is a function that returns its next value; the last one is ``base``.
numba compiles it, and the C core calls it in place of a built-in one:

>>> import swapsim
>>> @swapsim.policy(base_of="cpu", initial="random")
... def next_but_one(base, next, lowest, highest, trunk_size):
...     if base // trunk_size == next // trunk_size:
...         return next
...     return max(lowest, 1 + (next + trunk_size) % highest)

Its parameters are those that it names; `swapsim.policy` lists all. The function can
be called by hand:

>>> next_but_one.function(base=16_000, next=16_001, lowest=1, highest=100_000, trunk_size=16_384)
16001
>>> next_but_one.function(base=16_383, next=16_384, lowest=1, highest=100_000, trunk_size=16_384)
32769

How does it place the pages of eight CPUs, next to one ``cluster_next`` for all and to the merged
rule of patch D? `slots.run` runs them at each setting, with several seeds:

>>> import polars as pl
>>> from swapsim import slots
>>> device = slots.Device(slots=2**19, possible_cpus=8)
>>> churn = slots.Churn(used_share=0.7, pages=2**13)
>>> rules = ["shared", "percpu-rerandomise", next_but_one]
>>> rows = slots.run(device, churn, rules, seeds=6, warm_up_pages=[2**14, 2**16])
>>> for metric in ("trunk.pairs", "lock.moved.add"):
...     of_metric = rows.filter(metric=metric).group_by("warm_up_pages", "policy")
...     middles = of_metric.agg(pl.col("value").median()).sort("warm_up_pages", "policy")
...     print(metric, middles["value"].round(3).to_list())
trunk.pairs [0.0, 0.736, 27.156, 8.818, 0.203, 27.485]
lock.moved.add [0.045, 0.177, 0.98, 0.8, 0.079, 0.982]

Few pairs of CPUs should share a trunk (``trunk.pairs``), slots should be neighbours (``run``), and
few additions should need a cache-line transfer of the lock (``lock.moved.add``). By these the
skipping rule is not distinguishable from patch D's after 16,384 pages, and far behind after 65,536,
so run a rule with several warm-ups. The first values, of ``initial``, hardly matter: calls on a
device with free clusters overwrite them before the first scan (notebook 05).

``swapsim rank mine.py`` does this for each function of a file, adds the throughput of a simulated
machine, and gives each rule the places that its differences from the others allow, seed by seed:
intervals of two rules may overlap although one is better with nearly each seed. It takes about a
minute of CPU time.

## Lists of clusters, from 6.12 on

Since 6.12 there is no cluster_next. A device's clusters lie on lists, and a policy chooses the list
that is searched next:

>>> from swapsim.policies import FRAG, FREE, LARGER, NONFULL
>>> @swapsim.list_policy()
... def each_frag_cluster(free, nonfull, frag, last, times):
...     if nonfull:
...         return NONFULL
...     if free:
...         return FREE
...     return FRAG if frag and (last != FRAG or times < frag) else LARGER
>>> each_frag_cluster.name
'each_frag_cluster'

`clusters.replay` serves the requests of a recording by other rules, `clusters.rank` ranks
list policies on recorded and generated streams. How often does a large folio find no run of slots?

>>> from swapsim import clusters
>>> replayed = clusters.replay("clusters-7.3-odd-size-4", ["6.12", "7.3"])
>>> replayed.grants.filter(order=2).select("rules", "requests", "fallbacks").rows()
[('6.12', 2233, 377), ('7.3', 2233, 295)]

## The type of pages that reclaim takes

With MGLRU reclaim chooses between anonymous and file pages. A policy returns the type that is
scanned first, from refault rates, swappiness and the generations that are left. Which choices of a
real kernel would it turn, and what decided these?

>>> from swapsim import mglru
>>> from swapsim.policies import ANON, FILE
>>> @swapsim.type_policy()
... def the_colder(anon_refaulted, anon_total, file_refaulted, file_total):
...     return FILE if file_refaulted * anon_total <= anon_refaulted * file_total else ANON
>>> replayed = mglru.replay("generations-7.3-mixed-1", [the_colder])
>>> flipped = replayed.flips.filter("flips")
>>> flipped.select("base_type", "base_term", "type", "choices").rows()
[('file', 'few refaults', 'anon', 77), ('file', 'refault rates', 'anon', 44)]

``swapsim replay mglru DIR --policy mine.py`` does the same with the functions of a file. And what
would another swappiness take first? Recorded was 60. Up to 199 refault rates decide; at 200 the
kernel always begins with anonymous pages:

>>> for swappiness in 100, 199, 200:
...     flips = mglru.replay("generations-7.3-mixed-1", swappiness=swappiness).flips
...     print(swappiness, flips.filter("flips").select("base_type", "type", "choices").rows())
100 [('file', 'anon', 44)]
199 [('file', 'anon', 44)]
200 [('file', 'anon', 3732), ('file', 'anon', 44)]

On the command line it is ``swapsim replay mglru DIR --swappiness N``.

## What is refused

What cannot be compiled or called is refused by the decorator, with its line:

>>> @swapsim.policy(base_of="cpu")
... def misspelt(bases_of_all):
...     return 1
Traceback (most recent call last):
    ...
swapsim.errors.InputError: ...policy misspelt: it takes 'bases_of_all': use any of cpu, mm, ...

A policy that raises, never ends or answers with an invalid slot, list or type is refused with its
line by ``swapsim rank``, `slots.rank`, `clusters.rank` and `mglru.replay`. `slots.run` runs a
policy as it is compiled: an endless loop hangs, and an invalid answer, or an exception in place of
one, is counted, and ``next`` is stored instead:

>>> @swapsim.policy(base_of="cpu")
... def outside(highest):
...     return highest + 1
>>> rows = slots.run(slots.Device(), slots.Churn(), outside, seeds=1)
>>> rows.filter(metric="nonsense")["value"].item()
1.0

A policy keeps nothing between two calls but ``base``, and its random numbers come from ``draw``.
"""
