/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_workbench.h - tasks that swap out and in on many CPUs with one device, and the measures by
 * which the policies of slot_base.h are compared.
 *
 * Models
 *   mm/vmscan.c, mm/swap_state.c, mm/memory.c (6.1), for the effects on slots:
 *   add_to_swap, try_to_unmap, __remove_mapping; do_swap_page, folio_free_swap;
 *   clear_shadow_from_swap_cache.
 *
 *   round 1     CPU 1: a out, begin      CPU 0: b out, begin      CPU 2: ...
 *   round 2     CPU 0: b finish; c in    CPU 2: ...               CPU 1: a finish; d in
 *
 * Time passes in rounds. In each round every task does one step, in a new random order. A page that
 * enters the swap cache in one round leaves it in the next one, so other tasks act in between, as
 * they do while a page is written.
 *
 *   step                effect on the slot              the trunk's lock (4.8: the device's)
 *   swap out: begin     get, duplicate                  1: add to the swap cache
 *   swap out: finish    uncache                         1: delete
 *   swap in, sync.      drop, put                       none: the swap cache is bypassed
 *   swap in, async.     cache, drop                     1: add
 *     unless it retains
 *     its slot          uncache, put                    1: delete
 *   a call tries a
 *     cached slot       uncache, put                    1: delete
 *   slot back to the
 *     device (6.1)      free                            1: clear the shadow, under si->lock
 *
 * A task may change its CPU during a churn. The base, the cached slots and the position of its
 * former CPU remain there; the task continues with those of a CPU without a task:
 *
 *      CPU        0         1         2 (no task)      3 (no task)
 *      base       9000      9100      52000            130
 *      task       a         b
 *      later                b         a scans from 52000: a and b are apart again
 *
 * Phases: fill (swap out only), thin (free random pages, as MADV_DONTNEED does, which leaves few or
 * no clusters free), churn (each task swaps a page out and a random page of its address space in;
 * when asynchronous, and while less than half of the device is in use, the page retains its slot),
 * replay (the requests of a trace; no page retains its slot).
 *
 * Modelled: the locks that each CPU takes at each slot. Left out: durations; a page that is swapped
 * in below half full, retains its slot and is swapped out to it again; readahead; a page that moves
 * to another CPU.
 *
 * Memory: in addition to the device, half a byte per slot with up to 16 address spaces, a byte with
 * up to 256, none with one; 16 bytes per trunk; at most 16 MB of counts.
 */
#ifndef SWAPSIM_SLOT_WORKBENCH_H
#define SWAPSIM_SLOT_WORKBENCH_H

#include "swapsim/slot_cache.h"

/* ffi: begin */

enum {
	/* Maximum number of tasks. */
	SWS_WORKBENCH_TASKS_MAX = 65536,
	/* Maximum number of address spaces that own pages. */
	SWS_WORKBENCH_SPACES_MAX = 256,
	/* Maximum of overlap_calls. */
	SWS_WORKBENCH_CALLS_MAX = 4096,
};

/* The CPU on which a task runs and the address space whose pages it handles. */
struct sws_workbench_task {
	/* The CPU. */
	uint32_t cpu;
	/* The address space, -1 for a kernel thread. */
	int32_t mm;
};

/* The configuration of a workbench. */
struct sws_workbench_config {
	/* The caches and their device; the observer is set by the workbench. */
	struct sws_slot_cache_config cache;
	/*
	 * The tasks, copied by new; NULL puts task t on CPU t, in address space t % address_spaces.
	 */
	const struct sws_workbench_task *tasks;
	/* The number of tasks, 1 .. SWS_WORKBENCH_TASKS_MAX; with tasks NULL one per online CPU. */
	uint32_t n_tasks;
	/* True if pages are swapped in through the swap cache; default false. */
	bool asynchronous;
	/*
	 * The mean number of pages that a task swaps out on one CPU in a churn; then it moves to a
	 * random online CPU without a task, if there is one. 0 means that it stays on its CPU;
	 * default 0.
	 */
	uint64_t pages_a_cpu;
	/*
	 * The number of latest calls that tested_again refers to, 1 .. SWS_WORKBENCH_CALLS_MAX;
	 * default 64.
	 */
	uint32_t overlap_calls;
	/*
	 * Two acquisitions of a lock are close if at most so many acquisitions are between them;
	 * default 64.
	 */
	uint64_t lock_window;
	/* The number of writes over which a span is measured, at least 1; default 1024. */
	uint64_t span_window;
};

/* The code that acquires a trunk's lock. */
enum sws_workbench_site {
	/* Adding a page to the swap cache. */
	SWS_WORKBENCH_ADD = 0,
	/* Deleting a page from the swap cache. */
	SWS_WORKBENCH_DELETE = 1,
	/* Clearing the shadow of a freed slot. */
	SWS_WORKBENCH_FREE = 2,
	/* The number of sites. */
	SWS_WORKBENCH_SITES = 3,
};

/* Counts of the acquisitions at one site. */
struct sws_workbench_locks {
	/* All acquisitions. */
	uint64_t acquisitions;
	/* Acquisitions of a lock whose previous acquisition was on another CPU. */
	uint64_t moved;
	/*
	 * Those of moved whose previous acquisition is within the last lock_window acquisitions of
	 * any trunk.
	 */
	uint64_t close;
};

/* Counts since sws_workbench_begin_measures. */
struct sws_workbench_measures {
	/* The work of the caches and the device. */
	struct sws_slot_cache_work work;
	/* Rounds. */
	uint64_t rounds;
	/* Pages that got a slot. */
	uint64_t pages_out;
	/* Pages that freed their slot. */
	uint64_t pages_in;
	/* Pages that got no slot because the device was full. */
	uint64_t without_slot;
	/* Times that a task changed its CPU. */
	uint64_t changes;
	/* Pages whose slot is in the trunk of the last slot of another CPU with a task. */
	uint64_t pages_met;
	/* Slots tested by scans, as far as the trails of the calls record them. */
	uint64_t on_trails;
	/* Slots of on_trails that another CPU tested within the last overlap_calls calls. */
	uint64_t tested_again;
	/* Rounds after which the last slots of two CPUs with a task were in one trunk. */
	uint64_t rounds_met;
	/* Sum over the rounds of the pairs of such CPUs. */
	uint64_t pair_rounds;
	/* Times that a pair came together, including the pairs of the first round. */
	uint64_t meetings;
	/* Runs of adjacent slots that one address space got in sequence. */
	uint64_t runs;
	/* Writes that are not adjacent to the previous write of any CPU. */
	uint64_t seeks;
	/* Sum of the distances of those writes, in slots. */
	uint64_t seek_slots;
	/* Complete windows of span_window writes. */
	uint64_t spans;
	/* Sum of the slots that each window spans. */
	uint64_t span_slots;
	/* Acquisitions of trunk locks, by enum sws_workbench_site. */
	struct sws_workbench_locks locks[SWS_WORKBENCH_SITES];
};

/* The rows of a trace, ordered by task; the caller owns them and retains them during the replay. */
struct sws_workbench_rows {
	/* The first row of each task, and at the end the number of rows. */
	const uint64_t *first;
	/* -1 if the task swaps a page out; else the task whose page it swaps in. */
	const int32_t *owner;
	/* The number of the swap-out of that task, from 0, which names the page. */
	const uint32_t *ordinal;
};

/* A workbench; only the functions below read it. */
struct sws_workbench;

/* Writes every default. Complexity: O(1). */
void sws_workbench_config_init(struct sws_workbench_config *config);

/*
 * Creates an empty device, its caches, and idle tasks. The caller owns *out and frees it by
 * sws_workbench_free. Complexity: O(slots). Returns SWS_OK; SWS_ERROR_BAD_CONFIG for a field out of
 * its range, or a task on a CPU that is not online or in an unknown address space; or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_workbench_new(const struct sws_workbench_config *config, struct sws_workbench **out);

/* Frees a workbench; accepts NULL. */
void sws_workbench_free(struct sws_workbench *self);

/* Returns the device and its caches for reading; the workbench owns them. */
struct sws_slot_cache *sws_workbench_cache(struct sws_workbench *self);

/*
 * Begins a phase, which sws_workbench_run then runs; the current phase is abandoned. All return
 * SWS_OK, SWS_ERROR_BAD_ARGUMENT or SWS_ERROR_NO_MEMORY.
 *
 * fill: tasks swap out until the given number of pages is out, the device is full or, with
 * clusters_alone, no cluster of an SSD is free. In a device that is filled to the last slot all
 * bases meet.
 */
int sws_workbench_fill(struct sws_workbench *self, uint64_t pages, bool clusters_alone);
/*
 * thin: frees random pages until the given number is left. BAD_ARGUMENT with a kernel thread or
 * more than 256 address spaces.
 */
int sws_workbench_thin(struct sws_workbench *self, uint64_t pages);
/*
 * churn: runs rounds in which a swap-out begins, ends in the next round, and is followed by a
 * swap-in. BAD_ARGUMENT as for thin.
 */
int sws_workbench_churn(struct sws_workbench *self, uint64_t rounds);
/*
 * replay: runs the rows of each task in order; a swap-in waits for its swap-out. The counts begin
 * after `skipped` rows. BAD_ARGUMENT if first decreases, an owner is unknown, or an ordinal is
 * never reached.
 */
int sws_workbench_replay(struct sws_workbench *self, const struct sws_workbench_rows *rows,
			 uint64_t skipped);

/*
 * Continues the phase until it is over or the effort is spent: 1 for each slot tested by a scan, 8
 * for each slot whose page is read, and 256 for each step of a task. *over is true if the phase is
 * over. Complexity: O(effort). Returns SWS_OK, SWS_ERROR_OUT_OF_ORDER if the rows of a replay wait
 * for each other, or SWS_ERROR_NOT_FOUND for a row that swaps a page in twice.
 */
int sws_workbench_run(struct sws_workbench *self, uint64_t effort, bool *over);

/* Sets the counts to zero; the positions of CPUs, locks and writes are retained. */
void sws_workbench_begin_measures(struct sws_workbench *self);

/* Returns the counts so far. */
void sws_workbench_measures(const struct sws_workbench *self, struct sws_workbench_measures *out);

/* Writes for each online CPU the slots tested for it, and the pages that got a slot on it. */
void sws_workbench_cpus(const struct sws_workbench *self, uint64_t *tested, uint64_t *pages);

/*
 * Returns the last slot that an address space got, or kernel threads with mm -1; 0 for none, for an
 * unknown address space, and if there are more than SWS_WORKBENCH_SPACES_MAX. Complexity: O(1).
 */
uint32_t sws_workbench_last_slot(const struct sws_workbench *self, int64_t mm);

/*
 * Recomputes every invariant, those of the caches and the device included. Complexity: O(slots).
 * Returns SWS_OK, or SWS_ERROR_BROKEN and the *reason, a constant string.
 */
int sws_workbench_verify(const struct sws_workbench *self, const char **reason);

/* ffi: end */

#endif
