/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall_replay.h - runs recorded lists, given as columns, through the rules of stall.h.
 *
 * The columns come from a kernel that records for each page its state at its tests, and the step at
 * which the path of the page ended:
 *
 *      row   page                 step                    6.1        series-1
 *       0    file dirty           dirty                   D U        D U      (not written)
 *       1    file writeback       writeback_2             D   W      W
 *       2    file                 freed                   -          -
 *       3    -                    lock                    -          -        (in T only)
 *       4    anon                 written                 -          D U      (dirtied by unmap)
 *      list: T 5                                          D 2 U 1    D 2 U 2
 *
 * With the rules of the recording kernel the result is exactly what that kernel counted and
 * decided. With other rules the result is what those rules decide about the same pages. A recording
 * of 6.1 has all inputs of the older rules except three: whether a device was congested (6.1 has no
 * such state, the bit is 0); the result of pageout for a page that 6.1 did not write; and the
 * further path of a page that 6.1 stopped in case 1 or 2, where the older rules go on: mmotm in
 * case 1, all rules of 2013 in case 3 for a cgroup of v2. Pages with one of the last two are
 * counted per list as unrecorded. Steps between the tests, references, swap and unmapping, are
 * those of 6.1 for all sets.
 *
 * The flags of the zone come with the rows or with the lists, as recorded; or they are carried from
 * list to list of a node, as the rules would have set and cleared them.
 *
 * Locks: none.
 */
#ifndef SWAPSIM_STALL_REPLAY_H
#define SWAPSIM_STALL_REPLAY_H

#include "swapsim/stall.h"

/* ffi: begin */

/*
 * The step at which the path of a page ended in the recording kernel, in the order of the kernel's
 * code.
 */
enum sws_stall_step {
	/* Another task holds the page lock. */
	SWS_STALL_STEP_LOCK = 0,
	/* The page is not evictable. */
	SWS_STALL_STEP_EVICTABLE = 1,
	/* The page is mapped and may not be unmapped. */
	SWS_STALL_STEP_MAPPED = 2,
	/* The page is case 1 of the writeback test. */
	SWS_STALL_STEP_WRITEBACK_1 = 3,
	/* The page is case 2 of the writeback test. */
	SWS_STALL_STEP_WRITEBACK_2 = 4,
	/*
	 * The page is case 3 of the writeback test; the next row is the same page after the wait.
	 */
	SWS_STALL_STEP_WRITEBACK_3 = 5,
	/* The reference test activated the page. */
	SWS_STALL_STEP_REFERENCE_ACTIVATE = 6,
	/* The reference test kept the page. */
	SWS_STALL_STEP_REFERENCE_KEEP = 7,
	/* The page was demoted to another memory tier. */
	SWS_STALL_STEP_DEMOTE = 8,
	/* No swap slot was available. */
	SWS_STALL_STEP_SWAP = 9,
	/* The page could not be unmapped. */
	SWS_STALL_STEP_UNMAP = 10,
	/* The page is pinned for DMA. */
	SWS_STALL_STEP_PINNED = 11,
	/* A dirty file page that this caller may not write. */
	SWS_STALL_STEP_DIRTY = 12,
	/* A dirty page that no caller could write at this moment. */
	SWS_STALL_STEP_NO_WRITE = 13,
	/* pageout kept the page. */
	SWS_STALL_STEP_PAGEOUT_KEEP = 14,
	/* pageout activated the page. */
	SWS_STALL_STEP_PAGEOUT_ACTIVATE = 15,
	/* pageout wrote the page. */
	SWS_STALL_STEP_WRITTEN = 16,
	/*
	 * Past the dirty test, the private data was not released; the page was clean or came back
	 * clean.
	 */
	SWS_STALL_STEP_RELEASE = 17,
	/* The page could not be removed from its mapping. */
	SWS_STALL_STEP_REMOVE = 18,
	/* The page was freed. */
	SWS_STALL_STEP_FREED = 19,
};

/* Returns the name of a step in the column step, such as "reference_keep"; NULL past the last. */
const char *sws_stall_step_name(enum sws_stall_step step);

/* Pages as columns of one length; the pages of a list are in the order of their tests. */
struct sws_stall_rows {
	/* Bits of enum sws_stall_page. */
	const uint16_t *page;
	/* enum sws_stall_step */
	const uint8_t *step;
	/* Base pages of each page; NULL means 1 each. */
	const uint32_t *base_pages;
	/*
	 * Flags of the zone at the page's tests; NULL means those of the list, as the rules change
	 * them.
	 */
	const uint8_t *flags;
};

/* Lists as columns of one length. */
struct sws_stall_lists {
	/* One past the last row of each list; list i starts at the end of list i - 1. */
	const uint64_t *ends;
	/* Bits of enum sws_stall_caller. */
	const uint8_t *caller;
	/* The priority of reclaim. */
	const uint8_t *priority;
	/* 1 for a list of file pages, 0 for a list of anonymous pages. */
	const uint8_t *file;
	/* Base pages isolated. */
	const uint32_t *taken;
	/*
	 * Flags at the beginning of each list; NULL means those of its node, as the rules have left
	 * them.
	 */
	const uint8_t *flags;
	/* With flags NULL: the node of each list. */
	const uint32_t *node;
	/*
	 * With flags NULL: events since the last list of the node that clear flags, as bits 1 <<
	 * enum sws_stall_clear; NULL means no events.
	 */
	const uint8_t *clears;
	/* With flags NULL: the flags of each node; read and written. */
	uint8_t *node_flags;
	/* With flags NULL: the number of nodes. */
	uint32_t n_nodes;
};

/* The result of a list. */
struct sws_stall_result {
	/* The counts of the list. */
	struct sws_stall_counts counts;
	/* The decision at its end. */
	struct sws_stall_decision decision;
	/* The flags at its beginning. */
	uint8_t flags_before;
	/* Number of sleeps of case 1. */
	uint32_t slept;
	/* Pages given to pageout. */
	uint32_t writes;
	/*
	 * Pages whose path goes on with these rules where the recording ends, so that their result
	 * is unknown.
	 */
	uint32_t unrecorded;
};

/* The memory for results; it belongs to the caller. */
struct sws_stall_results {
	/* One result for each list. */
	struct sws_stall_result *lists;
	/* enum sws_stall_branch for each row; NULL if not needed. */
	uint8_t *branches;
	/* Written on an error: the list at fault. */
	uint64_t list;
	/* Written on an error: the row at fault. */
	uint64_t row;
	/* Written on an error: the problem. */
	enum sws_stall_problem problem;
};

/* The configuration of a replay. */
struct sws_stall_replay_config {
	/* The rules; default: those of 6.1. */
	enum sws_stall_set set;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* A replay with its tables; only the functions below read it. */
struct sws_stall_replay;

/* Writes every default. */
void sws_stall_replay_config_init(struct sws_stall_replay_config *config);

/*
 * Creates a replay and its table of page states. The caller owns *out and frees it by
 * sws_stall_replay_free. Complexity: about 10,000 table entries here, and 4096 more for each kind
 * of caller when its first list comes. Returns SWS_OK, SWS_ERROR_BAD_CONFIG or SWS_ERROR_NO_MEMORY.
 */
int sws_stall_replay_new(const struct sws_stall_replay_config *config,
			 struct sws_stall_replay **out);

/* Frees a replay; accepts NULL. */
void sws_stall_replay_free(struct sws_stall_replay *self);

/*
 * Replays lists. Complexity: O(rows), with two table look-ups each. Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT with the problem, its list and its row; the lists before it are done.
 */
int sws_stall_replay_lists(struct sws_stall_replay *self, const struct sws_stall_rows *rows,
			   uint64_t n_lists, const struct sws_stall_lists *lists,
			   struct sws_stall_results *results);

/* Lists, or passes, with known counts, as columns of one length. */
struct sws_stall_summed {
	/* Bits of enum sws_stall_caller. */
	const uint8_t *caller;
	/* The priority of reclaim. */
	const uint8_t *priority;
	/* Flags at the beginning. */
	const uint8_t *flags;
	/* The counts. */
	const struct sws_stall_counts *counts;
};

/*
 * Decides at AT_LIST or AT_PASS for each of n rows. Complexity: O(n). Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT with the problem and its row; the rows before it are done.
 */
int sws_stall_replay_counts(enum sws_stall_set set, enum sws_stall_place place, uint64_t n,
			    const struct sws_stall_summed *lists,
			    struct sws_stall_decision *decisions, uint64_t *row,
			    enum sws_stall_problem *problem);

/*
 * Recomputes each table entry. Complexity: O(table entries). Returns SWS_OK, or SWS_ERROR_BROKEN
 * and the *reason, a constant string.
 */
int sws_stall_replay_verify(const struct sws_stall_replay *self, const char **reason);

/* ffi: end */

#endif
