# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a policy: where the search for a swap slot begins, by a rule of yours.

## The scan base, up to 6.11

Until 6.11 the scan for a free slot began at ``cluster_next``: one base for the device, or with
patch D one for each CPU. A policy is a function that returns the base of the next scan. numba
compiles it, and the C core calls it in place of a built-in one:

>>> import swapsim
>>> @swapsim.policy(base_of="cpu", initial="random")
... def next_but_one(base, next, lowest, highest, trunk_size):
...     if base // trunk_size == next // trunk_size:
...         return next
...     return max(lowest, 1 + (next + trunk_size) % highest)

Its parameters are those that it names; `swapsim.policies.policy.policy` lists all. The function can
be called by hand:

>>> next_but_one.function(base=16_000, next=16_001, lowest=1, highest=100_000, trunk_size=16_384)
16001
>>> next_but_one.function(base=16_383, next=16_384, lowest=1, highest=100_000, trunk_size=16_384)
32769

How does it place the pages of eight CPUs, next to the base that all share and to the merged rule of
patch D? `slots.measure` runs one setting, and `slots.one_at_a_time` many with several seeds:

>>> from swapsim import frames, slots
>>> device = slots.SlotsConfig(slots=2 * slots.GIGABYTE_SLOTS, possible_cpus=8)
>>> churn = slots.ChurnConfig(used_share=0.7, pages=2**13)
>>> rules = ("shared", "percpu-rerandomise", next_but_one)
>>> measured = slots.one_at_a_time(
...     device, churn, {"warm_up_pages": [2**14, 2**16]}, policies=rules, seeds=6,
... )
>>> frames.show(slots.means(measured, ["trunk.pairs", "run"]))
factor: warm_up_pages
setting  policy              trunk.pairs    run
                                   pairs  slots
  16384  shared                   27.1     1.52
  16384  percpu-rerandomise        0.706   1.49
  16384  next_but_one              0       1.49
  65536  shared                   27.5     1.70
  65536  percpu-rerandomise        0.558   1.67
  65536  next_but_one              9.95    1.68
>>> ranked = slots.ranking(measured, "lock.moved.add")
>>> frames.show(ranked.select("setting", "rank", "policy", "median", "low", "high"))
setting  rank  policy              median     low    high
  16384  1-2   next_but_one        0.0448  0.0425  0.0463
  16384  1-2   percpu-rerandomise  0.177   0.0430  0.357
  16384  3     shared              0.980   0.977   0.983
  65536  1     percpu-rerandomise  0.0793  0.0405  0.371
  65536  2     next_but_one        0.800   0.791   0.934
  65536  3     shared              0.982   0.978   0.984

Few pairs of CPUs should share a trunk (``trunk.pairs``), slots should be neighbours (``run``), and
few additions should fetch the lock's line from another CPU (``lock.moved.add``). By these the
skipping rule is not distinguishable from patch D's after 16,384 pages, and far behind after 65,536,
so run a rule with several warm-ups. The bases that ``initial`` sets hardly matter: calls on a
device with free clusters overwrite them before the first scan (notebook 05).

``swapsim rank mine.py`` does this for each function of a file, adds the throughput of a simulated
machine, and gives each rule the places that its differences from the others allow, seed by seed:
intervals of two rules may overlap although one is better with nearly each seed. It takes about a
minute of CPU time.

## Lists of clusters, from 6.12 on

Since 6.12 there is no scan base. A device's clusters lie on lists, and a policy chooses the list
that is searched next:

>>> from swapsim.policies.lists import FRAG, FREE, LARGER, NONFULL
>>> @swapsim.list_policy()
... def each_frag_cluster(free, nonfull, frag, last, times):
...     if nonfull:
...         return NONFULL
...     if free:
...         return FREE
...     return FRAG if frag and (last != FRAG or times < frag) else LARGER
>>> each_frag_cluster.name
'each_frag_cluster'

`clusters.replay` serves the requests of a recording by other rules, `clusters.ranking` ranks
list policies on recorded and generated streams. How often does a large folio find no run of slots?

>>> from swapsim import clusters
>>> replayed = clusters.replay("clusters-7.3-odd-size-4", ["6.12", "7.3"])
>>> frames.show(replayed.grants.drop("in_trace"))
rules  order  requests  granted  fallbacks  fallback_percent
6.12       0     7,171    7,171          0              0
6.12       2     2,233    1,856        377             16.9
6.12       4     1,526    1,420        106              6.95
7.3        0     7,171    7,171          0              0
7.3        2     2,233    1,938        295             13.2
7.3        4     1,526    1,429         97              6.36

## The type of pages that reclaim takes

With generations reclaim chooses between anonymous and file pages. A policy returns the type that is
scanned first, from refault rates, swappiness and the generations that are left. Which choices of a
real kernel would it turn, and what decided these?

>>> from swapsim import mglru
>>> from swapsim.policies.page_types import ANON, FILE
>>> @swapsim.type_policy()
... def the_colder(anon_refaulted, anon_total, file_refaulted, file_total):
...     return FILE if file_refaulted * anon_total <= anon_refaulted * file_total else ANON
>>> replayed = mglru.replay("generations-7.3-mixed-1", [the_colder])
>>> flipped = replayed.flips.filter("flips")
>>> flipped.select("base_type", "base_term", "type", "choices").rows()
[('file', 'few refaults', 'anon', 77), ('file', 'refault rates', 'anon', 44)]

``swapsim replay mglru DIR --policy mine.py`` does the same with the functions of a file.

## What is refused

What cannot be compiled or called is refused by the decorator, with its line:

>>> @swapsim.policy(base_of="cpu")
... def misspelt(bases_of_all):
...     return 1
Traceback (most recent call last):
    ...
swapsim.errors.InputError: ...policy misspelt: it takes 'bases_of_all': use any of cpu, mm, ...

A policy that raises, never ends or answers with an invalid slot, list or type is refused with its
line by ``swapsim rank``, `slots.require_sound`, `clusters.ranking` and `mglru.replay`.
`slots.measure` and `slots.one_at_a_time` run a policy as it is compiled: an endless loop hangs, and
an invalid answer, or an exception in place of one, is counted, and ``next`` is stored instead:

>>> @swapsim.policy(base_of="cpu")
... def outside(highest):
...     return highest + 1
>>> measured = slots.measure(slots.SlotsConfig(policy=outside), slots.ChurnConfig())
>>> frames.show(measured.filter(metric="nonsense"))
policy   n_cpus  seed  metric    value  unit
outside       8     1  nonsense      1  share

A policy keeps nothing between two calls but the base, and its random numbers come from ``draw``.
"""
