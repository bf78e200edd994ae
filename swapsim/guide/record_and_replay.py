# SPDX-License-Identifier: GPL-2.0-or-later
"""Record and replay: what a patch would change for your own workload.

A replay takes the events of a real kernel and counts what another kernel, or the same one with a
patch, would have done for the same pages: how often a lock is taken, which slots are granted, when
reclaim stalls. It counts, and does not measure time.

## Record

``swapsim probes`` prints a script for the kernel that you run: its probes are fitted to that
kernel's own types. The script needs root, sets kprobes, runs your command, stores the trace and
removes the probes again.

```sh
swapsim probes > record.sh
sudo sh record.sh record trace.txt COMMAND
```

What the kernel has to be:

| replay | kernel |
|---|---|
| ``mapping``, ``removal`` | 6.1 to 6.12 as it is, x86-64 |
| ``clusters``, ``mglru`` | 6.12 or 7.3 as it is: ``swapsim probes --for clusters`` |
| ``verify stall`` | 7.3 as it is: ``swapsim probes --for stall`` |
| ``slots``, ``stall`` | patched 6.1, which ``data/capture`` builds |

## Import

``swapsim import`` reads the text of tracefs or of ``trace-cmd report``, and a trace.dat where
trace-cmd is installed; compressed or not, and by content, not by suffix. Of a perfetto trace,
``traceconv systrace`` makes a text. A trace becomes a folder with a table for each event. A short
text comes with the laboratory:

```console
$ swapsim import sample -o mytrace
| event                         | rows |
|-------------------------------|------|
| mm_vmscan_lru_isolate         |   31 |
| mm_vmscan_lru_shrink_inactive |   32 |
| mm_vmscan_memcg_reclaim_begin |    4 |
| mm_vmscan_memcg_reclaim_end   |    7 |
| swp_add                       |  284 |
| swp_del                       |  280 |
| wb_end                        |  281 |
| wb_start                      |  281 |
lost events: none
```

A line that cannot be read ends the import with its number; ``--keep-going`` skips and counts such
lines. Events that the kernel has lost are counted, too; each replay and verification then warns
that its figures may be off, or refuses the trace.
A trace.dat with losses is imported only with ``--keep-going``.

## Replay

```console
$ swapsim replay mapping mytrace
| kernel | tags  | flow          | site   | pages | acquisitions | tree_walks | nodes | tag_words |
|--------|-------|---------------|--------|-------|--------------|------------|-------|-----------|
| 4.8    | true  | swap, written | add    |   281 |          1.0 |        1.0 |   3.0 |       0.0 |
| 4.8    | true  | swap, written | start  |   281 |          1.0 |        3.0 |   9.0 |       6.0 |
| 4.8    | true  | swap, written | end    |   281 |          1.0 |        1.0 |   3.0 |     3.644 |
| 4.8    | true  | swap, written | delete |   281 |       0.9964 |     0.9964 | 2.989 |     2.989 |
| 4.8    | false | swap, written | add    |   281 |          1.0 |        1.0 |   3.0 |       0.0 |
| 4.8    | false | swap, written | start  |   281 |          0.0 |        0.0 |   0.0 |       0.0 |
| 4.8    | false | swap, written | end    |   281 |          0.0 |        0.0 |   0.0 |       0.0 |
| 4.8    | false | swap, written | delete |   281 |       0.9964 |     0.9964 | 2.989 |     2.989 |
by the rules of 4.8 (--kernel): swap, written: 4.00 acquisitions a page with tags, 2.00 without
no swp_free in this trace: frees, one more acquisition a page by 6.1, are not counted
```

In each page's life four sites take the swap cache's lock; without tags two of them do not. The same
in Python is a polars frame, so what you ask next is an expression:

>>> import polars as pl
>>> from swapsim import mapping
>>> sites = mapping.replay("mytrace", kernels="4.8").filter(flow="swap, written")
>>> a_page = pl.col("acquisitions", "tree_walks").sum() / pl.col("pages").first()
>>> sites.group_by("tags", maintain_order=True).agg(a_page.round(2)).rows()
[(True, 4.0, 6.0), (False, 2.0, 2.0)]

``help(swapsim.mapping.replay)`` says what each column means, ``-o FILE`` writes the table
(``.csv``, ``.parquet``, ``.json``) or its chart (``.html``, ``.svg``, ``.png``).

## Ask the events themselves

>>> import swapsim
>>> trace = swapsim.open("mytrace")
>>> trace.info().filter(event="swp_add").rows()
[('swp_add', 284)]
>>> trace.events("swp_add")["pid"].n_unique()
8

## Does the model hold on your kernel?

``swapsim verify`` replays a recording event by event, and compares each decision of the kernel
with the model's. It ends with exit status 0 only if all agree. Shipped traces can be named
without a path:

```console
$ swapsim verify mglru generations-7.3-held-1
not counted below: 7 choices that come out the same by any rule
not counted below: 4 ambiguous decisions, which a concurrent change could turn
new generations that the kernel asked for: 29
chose 4056 of 4056 types (363 of 363 tiers, 4063 of 4063 agings,
6180 of 6180 scan sizes; 4 ambiguous, not counted)
```

## Send it

``swapsim report --trace`` writes one page, complete in one file: what is in a trace, what its
replays count, and what other rules would do.

```sh
swapsim report --trace mytrace -o page.html
```
"""
