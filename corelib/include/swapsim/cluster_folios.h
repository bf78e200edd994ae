/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_folios.h - anonymous memory of processes, in folios that are swapped out to clusters.h
 * and in again: a closed loop, because a folio that obtains no run of slots is split, and its pages
 * go out, and come in, one by one from then on.
 *
 * Models: mm/memory.c (do_anonymous_page, alloc_anon_folio, do_swap_page, alloc_swap_folio,
 * can_swapin_thp), mm/madvise.c (MADV_DONTNEED, MADV_PAGEOUT), mm/vmscan.c (shrink_folio_list, for
 * one anonymous folio), mm/swap_slots.c (6.12), mm/swapfile.c by cluster_rules.h; with a device
 * whose writes and reads are synchronous (zram), so that no folio stays in the swap cache.
 *
 * A row is a step of a process on a CPU:
 *
 *      pages of a process      0      16     32     48
 *                              |......|RRRRRR|SSSSSS|.        R resident, S swapped out
 *      access 16..31 order 4          nothing to do
 *      out    16..31                  a run of 16 slots, or: fallback, 16 single slots
 *      access 33                      the largest window around page 33 comes in whole, whose pages
 *                                     have slots one after the other, aligned like the pages
 *      drop   16..31                  slots and pages are free
 *
 *   step     page is empty                    resident           swapped out
 *   access   a folio of the row's order if    -                  swapped in, whole if swap_in_orders
 *            its window is empty and in the                      has the order, and the slots fit
 *            row, else a page
 *   out      -                                one run, or split  -
 *   drop     -                                freed              slots are freed, runs at once
 *
 * With slot_cache (6.12) single slots come from caches of 64 of a CPU, and slots of swapped-in
 * pages go through its cache of 64 returns; runs of at least two dropped pages do not.
 *
 * Modelled: orders 0 to 9, several processes and CPUs, one device. A folio of which a part is dropped
 * or goes out is split first. Left out: what else memory is used for, failed allocations of memory,
 * calls that overlap, the swap cache, reclaim by age (rows say what goes out).
 *
 * Locks: those of clusters.h, counted in sws_clusters_work. Memory: that of clusters.h, and 5 bytes
 * for each page of each process.
 */
#ifndef SWAPSIM_CLUSTER_FOLIOS_H
#define SWAPSIM_CLUSTER_FOLIOS_H

#include "swapsim/cluster_replay.h"

/* ffi: begin */

enum {
	/* Maximum of processes. */
	SWS_CLUSTER_FOLIOS_PROCESSES_MAX = 4096,
	/* Maximum of pages. */
	SWS_CLUSTER_FOLIOS_PAGES_MAX = 1 << 24,
};

/* What a process does with a range of its pages. */
enum sws_cluster_folios_step {
	/* Writes each page. */
	SWS_CLUSTER_FOLIOS_ACCESS = 0,
	/* Gives the pages back: MADV_DONTNEED, munmap, exit. */
	SWS_CLUSTER_FOLIOS_DROP = 1,
	/* The resident pages are swapped out in the order of addresses: MADV_PAGEOUT. */
	SWS_CLUSTER_FOLIOS_OUT = 2,
	/* The number of steps. */
	SWS_CLUSTER_FOLIOS_STEPS = 3,
};

/* The reason why a row is refused. */
enum sws_cluster_folios_problem {
	/* No problem. */
	SWS_CLUSTER_FOLIOS_NO_PROBLEM = 0,
	/* The process is unknown. */
	SWS_CLUSTER_FOLIOS_BAD_PROCESS = 1,
	/* The CPU is unknown. */
	SWS_CLUSTER_FOLIOS_BAD_CPU = 2,
	/* The step is unknown. */
	SWS_CLUSTER_FOLIOS_BAD_STEP = 3,
	/* A cluster of the device cannot hold a folio of this order. */
	SWS_CLUSTER_FOLIOS_BAD_ORDER = 4,
	/* n is 0, or a page is beyond those of a process. */
	SWS_CLUSTER_FOLIOS_BAD_PAGES = 5,
	/* The number of problems. */
	SWS_CLUSTER_FOLIOS_PROBLEMS = 6,
};

/* The configuration. */
struct sws_cluster_folios_config {
	/* The rules and the device; n_devices has to be 1. */
	struct sws_clusters_config clusters;
	/* Processes, 1 .. SWS_CLUSTER_FOLIOS_PROCESSES_MAX; default 1. */
	uint32_t processes;
	/* Pages of each process, 1 .. SWS_CLUSTER_FOLIOS_PAGES_MAX; default 0, so it has to be set. */
	uint32_t pages;
	/*
	 * Bit n: a run of order n may be swapped in as one folio, n below 9; default 0, where each
	 * page comes in alone (before 6.12).
	 */
	uint32_t swap_in_orders;
	/* With slot_cache: freed slots do not wait in a cache (6.14); default false. */
	bool no_return_cache;
};

/* A chunk of rows as columns of one length. */
struct sws_cluster_folios_rows {
	/* The process, 0 .. processes - 1. */
	const uint32_t *process;
	/* The CPU, 0 .. cpus - 1. */
	const uint16_t *cpu;
	/* enum sws_cluster_folios_step */
	const uint8_t *step;
	/*
	 * The order of folios for empty pages, and the largest for pages that are swapped in; a step
	 * other than access does not read it.
	 */
	const uint8_t *order;
	/* The first page. */
	const uint32_t *page;
	/* The number of pages, at least 1. */
	const uint32_t *n;
};

/* Counts since sws_cluster_folios_new; arrays are by order. */
struct sws_cluster_folios_totals {
	/* Rows. */
	uint64_t rows;
	/* Folios of empty pages. */
	uint64_t mapped[10];
	/* Folios swapped in. */
	uint64_t swapped_in[10];
	/* Folios swapped out whole (swpout of sysfs); order 0: pages. */
	uint64_t swapped_out[10];
	/* Folios split because they obtained no run of slots (swpout_fallback of sysfs). */
	uint64_t fallbacks[10];
	/* Pages that stayed resident, because no slot was free. */
	uint64_t stayed;
};

/* Memory of processes; only the functions below read it. */
struct sws_cluster_folios;

/* Returns the name of a step in tables; NULL for an unknown one. */
const char *sws_cluster_folios_step_name(uint32_t step);
/* Returns the problem of a row as the end of a sentence; NULL for an unknown problem. */
const char *sws_cluster_folios_problem_text(uint32_t problem);

/* Writes every default. Complexity: O(1). */
void sws_cluster_folios_config_init(struct sws_cluster_folios_config *config);

/*
 * Creates empty memory and an empty device. The caller owns *out and frees it by
 * sws_cluster_folios_free. Complexity: O(slots + pages). Returns the codes of sws_clusters_new, and
 * SWS_ERROR_BAD_CONFIG for a field out of its range.
 */
int sws_cluster_folios_new(const struct sws_cluster_folios_config *config,
			   struct sws_cluster_folios **out);

/* Frees the memory and its device; accepts NULL. */
void sws_cluster_folios_free(struct sws_cluster_folios *self);

/*
 * Runs count rows. Complexity: O(pages of the row), and O(cluster) for each visit. Returns SWS_OK,
 * or SWS_ERROR_BAD_ARGUMENT for a row that is refused; the rows before it have been run, and
 * sws_cluster_folios_problem returns the reason.
 */
int sws_cluster_folios_feed(struct sws_cluster_folios *self,
			    const struct sws_cluster_folios_rows *rows, uint64_t count);

/* Returns the problem (enum sws_cluster_folios_problem) of a row, and its number from 0 on. */
uint32_t sws_cluster_folios_problem(const struct sws_cluster_folios *self, uint64_t *row);

/* Copies the totals. */
void sws_cluster_folios_totals(const struct sws_cluster_folios *self,
			       struct sws_cluster_folios_totals *out);

/* Returns the device, which the memory owns. */
const struct sws_clusters *sws_cluster_folios_clusters(const struct sws_cluster_folios *self);

/*
 * Returns the slot of a page that is swapped out, 0 for another one; *order is that of a resident
 * folio, and UINT32_MAX for a page that is not resident.
 */
uint32_t sws_cluster_folios_slot(const struct sws_cluster_folios *self, uint32_t process,
				 uint32_t page, uint32_t *order);

/* Returns the slots that wait in caches of CPUs. */
uint64_t sws_cluster_folios_cached(const struct sws_cluster_folios *self);

/*
 * Recomputes every invariant. Complexity: O(slots + pages). Returns SWS_OK, or SWS_ERROR_BROKEN or
 * SWS_ERROR_NO_MEMORY, and the *reason, a constant string.
 */
int sws_cluster_folios_verify(const struct sws_cluster_folios *self, const char **reason);

/* ffi: end */

#endif
