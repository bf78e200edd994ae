/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweeps.h - threads that sweep over more memory than there is: how many of their accesses fault,
 * and how long all of them take.
 *
 * Models, of 4.8
 *   mm/vmscan.c      shrink_active_list, shrink_inactive_list and inactive_list_is_low of each node;
 *                    page_check_references (a referenced page goes back to the active list)
 *   mm/page_alloc.c  the order of the nodes for an allocation; all kswapds are woken if none has
 *                    a free page
 *   mm/memory.c      do_swap_page with swap more than half full: the slot is freed (vm_swap_full)
 * and usemem of mmtests, whose threads write a word of each page of their share, again and again:
 *
 *      thread 0   | share | 0 1 2 3 4 ... 0 1 2 3 4 ...       faults, or hits a page in memory
 *      thread 1   | share |   0 1 2 3 ...                     slower: a fault takes it longer
 *
 *      fault  ->  active list  ->  inactive list  ->  swap    of one node; the oldest page leaves,
 *                      ^                 |                    in lists of list_pages
 *                      +--- referenced --+                    since it became inactive
 *
 * A thread alone finds the page that it needs next just swapped out, however much of its share fits
 * into memory. One that sweeps faster than the others finds its pages referenced: its share stays in
 * memory, it hits, sweeps faster still, and ends; then its memory is free for the others. The amount
 * of work therefore depends on how far the threads' speeds differ, and tips over:
 *
 *      factors 1.0 1.0 1.0    each access faults
 *      factors 0.6 1.0 1.4    the first thread hits from some sweep on, the others when it has ended
 *
 *   step                        lock   work here
 *   an access                   none   O(threads): the thread whose clock is lowest is next
 *   a fault                     none   the pages that reclaim scans
 *   the end of a thread         none   O(pages of its share)
 *
 * There are no locks: the contention machine (machine.h) gives the time of a fault by how many
 * threads fault at the time, which this header takes as given. Left out: files, readahead, the CPU
 * on which a task runs (all share the CPUs evenly), the watermarks (a node reclaims when no page
 * of any node is free).
 */
#ifndef SWAPSIM_SWEEPS_H
#define SWAPSIM_SWEEPS_H

#include "swapsim/core.h"

/* ffi: begin */

enum {
	/* Maximum number of threads, of kswapds and of CPUs. */
	SWS_SWEEPS_TASKS_MAX = 64,
	/* Maximum number of nodes. */
	SWS_SWEEPS_NODES_MAX = 8,
	/* Maximum number of sweeps of a thread. */
	SWS_SWEEPS_MAX = 1000,
	/* Maximum number of pages of all threads, of memory, and of slots. */
	SWS_SWEEPS_PAGES_MAX = 1048576,
	/* Maximum number of pages of a list. */
	SWS_SWEEPS_LIST_MAX = 512,
	/* Maximum time of an access and of a fault. */
	SWS_SWEEPS_NS_MAX = 1000000,
	/* A factor of 1. */
	SWS_SWEEPS_ONE = 1000000,
	/* Maximum factor. */
	SWS_SWEEPS_FACTOR_MAX = 20000000,
};

/* Threads, their memory, their CPUs, and the times of an access and of a fault. */
struct sws_sweeps_config {
	/* Threads, 1 .. SWS_SWEEPS_TASKS_MAX; thread t allocates from node t % nodes first. */
	uint32_t threads;
	/* How often each thread goes over its share, 1 .. SWS_SWEEPS_MAX. */
	uint32_t sweeps;
	/* Pages of all threads, threads .. SWS_SWEEPS_PAGES_MAX; the first have one more. */
	uint32_t pages;
	/* Nodes that share the memory, 1 .. SWS_SWEEPS_NODES_MAX; default 1. */
	uint32_t nodes;
	/* Pages of memory, 16 * nodes .. SWS_SWEEPS_PAGES_MAX; the first nodes have one more. */
	uint32_t memory;
	/* Slots of the device, 1 .. SWS_SWEEPS_PAGES_MAX; a run that needs more ends there. */
	uint32_t slots;
	/* Pages that reclaim takes from a list at a time, 1 .. SWS_SWEEPS_LIST_MAX; default 1. */
	uint32_t list_pages;
	/* Active pages per inactive one above which active pages are deactivated, at least 1. */
	uint32_t active_per_inactive;
	/* CPUs that threads and kswapds share evenly, 1 .. SWS_SWEEPS_TASKS_MAX. */
	uint32_t cpus;
	/* Tasks that also run while any thread faults, 0 .. SWS_SWEEPS_TASKS_MAX. */
	uint32_t kswapds;
	/* Time of an access, 0 .. SWS_SWEEPS_NS_MAX. */
	uint64_t access_ns;
	/*
	 * CPU time of a fault while 1, 2, ... threads fault, each 1 .. SWS_SWEEPS_NS_MAX; the
	 * caller owns them.
	 */
	const uint64_t *fault_ns;
	/*
	 * Each thread's times by SWS_SWEEPS_ONE, each 1 .. SWS_SWEEPS_FACTOR_MAX; the caller owns
	 * them.
	 */
	const uint32_t *factors;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* What a run took; until its end if no slot was left. */
struct sws_sweeps_result {
	/* Time until the last thread has ended. */
	uint64_t elapsed_ns;
	/* CPU time of all faults. */
	uint64_t system_ns;
	/* Accesses of all threads. */
	uint64_t accesses;
	/* Accesses that found their page not in memory. */
	uint64_t faults;
	/* Pages that were swapped out. */
	uint64_t pages_out;
	/* True if a page found no slot, so that the run ended early. */
	bool out_of_swap;
};

/* Writes every default; fields without one are 0 or NULL. Complexity: O(1). */
void sws_sweeps_config_init(struct sws_sweeps_config *config);

/*
 * Runs the threads to their end, or until no slot is left. Complexity: O(accesses * threads + pages
 * scanned). Returns SWS_OK; SWS_ERROR_BAD_CONFIG for a field out of its range; or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_sweeps_run(const struct sws_sweeps_config *config, struct sws_sweeps_result *result);

/* ffi: end */

#endif
