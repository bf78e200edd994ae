# SPDX-License-Identifier: GPL-2.0-or-later
"""Terms: the words of pages, notebooks and tables, each in one sentence.

Kernel functions are in parentheses, numbers are those of notebooks.

## Swap

- **swap slot**: a place for one page on a swap device.
- **swap entry**: the number of a device and of a slot on it, which stands in the page table for a
  page that was swapped out (``swp_entry_t``).
- **swap cache**: the pages that are in memory and have a slot, found by their entry
  (``add_to_swap_cache``), [01](../../../01-writeback-tags.html).
- **swap-out, swap-in**: a page is written to its slot; it is read from there.
- **trunk**: 64 MB of a swap device, whose part of the swap cache is one address space with a lock
  of its own (``SWAP_ADDRESS_SPACE_SHIFT``), [04](../../../04-percpu-cluster-next.html).
- **writeback tag**: a mark in a mapping's tree that says which pages are being written
  (``PAGECACHE_TAG_WRITEBACK``), [01](../../../01-writeback-tags.html).
- **mapping**: the pages of one file, or of a part of the swap cache, with their tree and its lock
  (``struct address_space``), [02](../../../02-batched-removal.html).
- **critical section**: what a CPU does between the acquisition of a lock and its release; figures
  name its length *hold* (``hold_ns``).
- **cluster_next**: the slot at which the search for a free one begins; one for each device, or
  with patch D for each CPU (``scan_swap_map_slots``, until 6.11); a policy calls it *base*,
  [04](../../../04-percpu-cluster-next.html).
- **cluster**: 256 or 512 adjacent slots, which are free, in use for one order of folios, or full
  (``struct swap_cluster_info``), [07](../../../07-clusters-today.html).
- **free, nonfull, frag, full**: the lists on which a device has its clusters since 6.12
  (``cluster_alloc_swap_entry``), [07](../../../07-clusters-today.html).
- **folio**: adjacent pages, 2 to the power of its *order*, that the kernel handles as one; a large
  one needs as many adjacent slots (``struct folio``), [07](../../../07-clusters-today.html).
- **fallback**: a large folio finds no run of slots, and is split and swapped out page by page.

A slot has four KiB, and a trunk 2**14 slots:

>>> from swapsim import slots
>>> 2 ** slots.Device().trunk_shift * 4 // 1024
64

## Reclaim

- **reclaim**: the kernel takes pages back that were not used for long, by its thread *kswapd*, or
  *directly* in the task that needs one (``shrink_node``), [03](../../../03-stall-decisions.html).
- **list, pass**: the pages that reclaim takes from an LRU list at a time
  (``shrink_inactive_list``); its round over all lists of a node or memory cgroup.
- **lruvec**: the LRU lists of one memory cgroup on one node (``struct lruvec``),
  [08](../../../08-mglru.html).
- **stall, throttle**: reclaim sleeps until writeback or other tasks have made progress
  (``reclaim_throttle``; until 5.15 ``congestion_wait``), [03](../../../03-stall-decisions.html).
- **refault**: a page is read again after reclaim had taken it (``workingset_refault``),
  [08](../../../08-mglru.html).
- **generation**: the anonymous or the file pages of an lruvec of about one age; reclaim takes from
  the oldest one (``evict_folios``, *MGLRU*), [08](../../../08-mglru.html).
- **tier**: the file pages of a generation that were accessed about equally often through file
  descriptors (``lru_tier_from_refs``), [08](../../../08-mglru.html).
- **swappiness**: the setting by which reclaim weighs anonymous pages against file pages, 0 to 200.
- **mmotm**: the tree of memory-management patches of that day, on which patch C was posted,
  [03](../../../03-stall-decisions.html).

## Comparison

- **base**: the kernel, or the run, without the patch.
- **published, simulated, measured**: what a mail prints; what a model counts or computes; what a
  real kernel counts with the patch off and on.
- **fitted**: chosen so that the model meets a mail's figure *without* the patch; the figure with
  it is not looked at.
- **contention machine**: the simulator `swapsim.machine`, in which CPUs meet at a kernel's locks,
  and ``data/costs.csv`` says how long each step takes, [01](../../../01-writeback-tags.html).
- **slot microbenchmark**: the simulator `slots.run`, in which tasks fill and free a device,
  without time.
- **patched 6.1**: the Linux 6.1 that ``data/capture`` builds, with patches behind switches of the
  boot line and with more tracepoints.
- **open loop**: each decision is made again on the recorded state, whatever was decided before.
- **raced**: not as the model says, and explained by a concurrent change that the trace shows.
- **V1, V3, V4**: a patch as it was posted for the first, third, fourth time; D was merged as V4.
- **vm-scalability, pmbench, usemem, parallelio**: the benchmarks of the mails: memory written in
  order, memory accessed at random, memory used up by several threads, a file copy next to
  memcached.

>>> from swapsim import published
>>> published.table("C", "vmstat, disk").columns[2:-2]
['vanilla', 'mmotm', 'series']

What a column or a metric means is in the help of the verb that returns it.
"""
