/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_workbench.h - tasks that swap out and in on many CPUs over one device, and
 * the measures by which the policies of slot_base.h are compared.
 *
 * Models
 *   mm/vmscan.c, mm/swap_state.c, mm/memory.c (6.1), as far as they touch a slot:
 *   add_to_swap, try_to_unmap, __remove_mapping; do_swap_page, folio_free_swap;
 *   clear_shadow_from_swap_cache.
 *
 *   round 1     CPU 1: a out, begin      CPU 0: b out, begin      CPU 2: ...
 *   round 2     CPU 0: b finish; c in    CPU 2: ...               CPU 1: a finish; d in
 *
 * Time is rounds: in each, every task does one step, in an order drawn anew. A page
 * that enters the swap cache in one round leaves it in the next, so the other tasks
 * come in between, as they do while the page is written.
 *
 *   step                of a slot                       the trunk's lock (4.8: the device's)
 *   swap out: begin     get, duplicate                  1: add to the swap cache
 *   swap out: finish    uncache                         1: delete
 *   swap in, sync.      drop, put                       none: the cache is passed by
 *   swap in, async.     cache, drop                     1: add
 *     unless it keeps
 *     its slot          uncache, put                    1: delete
 *   a call tries a
 *     cached slot       uncache, put                    1: delete
 *   slot back to the
 *     device (6.1)      free                            1: clear the shadow, under si->lock
 *
 * A task may change CPU during a churn. Its base, its slots in the caches and its place stay
 * behind, and it goes on with those of a CPU where no task is:
 *
 *      CPU        0         1         2 (no task)      3 (no task)
 *      base       9000      9100      52000            130
 *      task       a         b
 *      later                b         a scans from 52000: a and b are apart again
 *
 * Phases: fill (swap out only), thin (free pages at random, as MADV_DONTNEED does: it
 * leaves few or no clusters free), churn (each task swaps a page out and one of its
 * address space, at random, in; asynchronous, while less than half of the device is in
 * use, the page keeps its slot), replay (the requests of a trace; no page keeps its slot).
 *
 * Kept: who takes which lock at which slot. Dropped: how long anything takes; a page
 * swapped in below half full that keeps its slot and is swapped out to it again;
 * readahead; a page that moves to another CPU.
 *
 * Memory: beside the device half a byte a slot up to 16 address spaces, a byte up
 * to 256, none for one; 16 bytes a trunk; at most 16 MB of counts.
 */
#ifndef SWAPSIM_SLOT_WORKBENCH_H
#define SWAPSIM_SLOT_WORKBENCH_H

#include "swapsim/slot_cache.h"

/* ffi: begin */

enum {
	SWS_WORKBENCH_TASKS_MAX = 65536,
	/* Address spaces that own pages. */
	SWS_WORKBENCH_SPACES_MAX = 256,
	/* Of overlap_calls. */
	SWS_WORKBENCH_CALLS_MAX = 4096,
};

/* Where a task runs and whose pages it handles; mm -1 for a kernel thread. */
struct sws_workbench_task {
	uint32_t cpu;
	int32_t mm;
};

struct sws_workbench_config {
	/* Its observer is the workbench's own. */
	struct sws_slot_cache_config cache;
	/* Copied; NULL: task t on CPU t, in address space t % address_spaces. */
	const struct sws_workbench_task *tasks;
	/* 1 .. SWS_WORKBENCH_TASKS_MAX; without tasks one an online CPU. */
	uint32_t n_tasks;
	/* Swap in through the cache; default false. */
	bool asynchronous;
	/*
	 * Pages that a task swaps out in a churn on one CPU, on average; then it goes to an online
	 * CPU without a task, each as likely, if there is one. 0: it stays; default 0.
	 */
	uint64_t pages_a_cpu;
	/* Calls that tested_again looks back on, 1 .. SWS_WORKBENCH_CALLS_MAX; default 64. */
	uint32_t overlap_calls;
	/* Acquisitions within which two are close; default 64. */
	uint64_t lock_window;
	/* Writes whose span is taken, from 1; default 1024. */
	uint64_t span_window;
};

/* Whose acquisition of a trunk's lock. */
enum sws_workbench_site {
	SWS_WORKBENCH_ADD = 0,
	SWS_WORKBENCH_DELETE = 1,
	/* The shadow of a freed slot. */
	SWS_WORKBENCH_FREE = 2,
	SWS_WORKBENCH_SITES = 3,
};

struct sws_workbench_locks {
	uint64_t acquisitions;
	/* Those of a lock that was last taken on another CPU. */
	uint64_t moved;
	/* And that within the last lock_window acquisitions of any trunk's. */
	uint64_t close;
};

/* Counts since sws_workbench_begin_measures; a ratio of two is the caller's. */
struct sws_workbench_measures {
	struct sws_slot_cache_work work;
	uint64_t rounds;
	/* Pages that got a slot, pages that let theirs go, and pages that a full device gave none. */
	uint64_t pages_out;
	uint64_t pages_in;
	uint64_t without_slot;
	/* Times that a task changed CPU. */
	uint64_t changes;
	/* Pages whose slot is in the trunk of the last slot of another CPU with a task. */
	uint64_t pages_met;
	/* Slots tested by scans, as far as the calls' trails tell. */
	uint64_t on_trails;
	/* Of those, slots that another CPU tested within the last overlap_calls. */
	uint64_t tested_again;
	/* Rounds after which the last slots of two CPUs with a task were in one trunk. */
	uint64_t rounds_met;
	/* Pairs of such CPUs, summed over the rounds. */
	uint64_t pair_rounds;
	/* Times that a pair came together; those of the first round included. */
	uint64_t meetings;
	/* Runs of adjacent slots, handed to one address space in sequence. */
	uint64_t runs;
	/* Writes not adjacent to the one before, over all CPUs, and how many slots off, summed. */
	uint64_t seeks;
	uint64_t seek_slots;
	/* Whole windows of span_window writes, and the slots that each spans, summed. */
	uint64_t spans;
	uint64_t span_slots;
	struct sws_workbench_locks locks[SWS_WORKBENCH_SITES];
};

/* Rows of a trace, task by task; the caller keeps them while they are replayed. */
struct sws_workbench_rows {
	/* Where the rows of each task begin: one more than there are tasks. */
	const uint64_t *first;
	/* -1: the task swaps a page out. Else it swaps one of this task's in, */
	const int32_t *owner;
	/* which is the page of that task's swap-out number 0, 1, 2 ... */
	const uint32_t *ordinal;
};

struct sws_workbench;

/* Writes every default. */
void sws_workbench_config_init(struct sws_workbench_config *config);

/*
 * Makes an empty device, its caches, and tasks at rest. The caller frees it.
 * Returns SWS_ERROR_BAD_CONFIG for a field out of its range, or a task on a CPU that is not
 * online or in an address space that the device does not have.
 */
int sws_workbench_new(const struct sws_workbench_config *config, struct sws_workbench **out);

/* Frees all of it; takes NULL. */
void sws_workbench_free(struct sws_workbench *self);

/* The device and its caches; borrowed, to look at. */
struct sws_slot_cache *sws_workbench_cache(struct sws_workbench *self);

/*
 * What sws_workbench_run does next; a phase that is under way is given up.
 * fill: tasks swap out until so many pages are out, the device is full or, if clusters alone are
 * to be filled, no cluster of an SSD is free. Filled to the last slot, all bases meet there.
 * thin: frees pages, each as likely as another, until so many are left.
 * churn: so many rounds; a swap-out begins in one, ends in the next, and a swap-in follows it.
 * replay: row after row; a swap-in waits for its swap-out. The counts begin after `skipped` rows.
 * Return SWS_ERROR_BAD_ARGUMENT: thin and churn for a kernel thread or more than 256 address
 * spaces; replay for rows that begin out of order, an unknown owner, or an ordinal that its owner
 * never reaches; and SWS_ERROR_NO_MEMORY.
 */
int sws_workbench_fill(struct sws_workbench *self, uint64_t pages, bool clusters_alone);
int sws_workbench_thin(struct sws_workbench *self, uint64_t pages);
int sws_workbench_churn(struct sws_workbench *self, uint64_t rounds);
int sws_workbench_replay(struct sws_workbench *self, const struct sws_workbench_rows *rows,
			 uint64_t skipped);

/*
 * Goes on with the phase until it is over, or for about so much effort: slots tested, 8
 * for each looked at for its page, and 256 for each step of a task.
 * Returns SWS_ERROR_OUT_OF_ORDER if the rows of a replay wait for one another,
 * SWS_ERROR_NOT_FOUND for a row that swaps a page in twice.
 */
int sws_workbench_run(struct sws_workbench *self, uint64_t effort, bool *over);

/* Sets the counts to zero. Where the CPUs, locks and writes are stays known. */
void sws_workbench_begin_measures(struct sws_workbench *self);

/* The counts so far. */
void sws_workbench_measures(const struct sws_workbench *self, struct sws_workbench_measures *out);

/* Per online CPU: the slots tested for it, and the pages that got a slot on it. */
void sws_workbench_cpus(const struct sws_workbench *self, uint64_t *tested, uint64_t *pages);

/* Re-derives every invariant, those below included; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_workbench_verify(const struct sws_workbench *self, const char **reason);

/* ffi: end */

#endif
