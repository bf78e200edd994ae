/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall_replay.h - whole lists, as columns, through the rules of stall.h.
 *
 * Models nothing of the kernel but who wrote the columns: a kernel that notes for each page
 * what it was when its tests came, and the step at which its way ended.
 *
 *      row   page                 step                    6.1        series-1
 *       0    file dirty           dirty                   D U        D U      (not written)
 *       1    file writeback       writeback_2             D   W      W
 *       2    file                 freed                   -          -
 *       3    -                    lock                    -          -        (in T alone)
 *       4    anon                 written                 -          D U      (dirtied by unmap)
 *      list: T 5                                          D 2 U 1    D 2 U 2
 *
 * The columns of a kernel by its own rules give what that kernel counted and decided, exactly.
 * By other rules they give what those would have made of the same pages. A 6.1 recording tells
 * an older set all but this: whether a device was congested (6.1 has no such thing, the bit
 * is 0); what pageout would have said of a page that 6.1 did not write; and how the way of a
 * page would have gone on that 6.1 stopped in case 1 or 2, where the older set leads it on:
 * mmotm in case 1, all of 2013 in case 3 for a group of cgroup v2. The last two are counted
 * as untold, for each list. What lies between the tests, references, swap and unmapping, is 6.1's
 * own for all sets.
 *
 * Flags of the zone may come with the rows or with the lists, as they were; or they are led
 * on from list to list by node, as the rules would have had them: a history of their own.
 * Locks: none.
 */
#ifndef SWAPSIM_STALL_REPLAY_H
#define SWAPSIM_STALL_REPLAY_H

#include "swapsim/stall.h"

/* ffi: begin */

/* Where a page's way ended in the kernel that wrote the columns. */
enum sws_stall_step {
	SWS_STALL_STEP_LOCK = 0, /* somebody has it locked */
	SWS_STALL_STEP_EVICTABLE = 1,
	SWS_STALL_STEP_MAPPED = 2, /* and may not be unmapped */
	SWS_STALL_STEP_WRITEBACK_1 = 3, /* the three cases */
	SWS_STALL_STEP_WRITEBACK_2 = 4,
	SWS_STALL_STEP_WRITEBACK_3 = 5, /* the next row is the same page, after the wait */
	SWS_STALL_STEP_REFERENCE_ACTIVATE = 6,
	SWS_STALL_STEP_REFERENCE_KEEP = 7,
	SWS_STALL_STEP_DEMOTE = 8,
	SWS_STALL_STEP_SWAP = 9,
	SWS_STALL_STEP_UNMAP = 10,
	SWS_STALL_STEP_PINNED = 11,
	SWS_STALL_STEP_DIRTY = 12, /* a dirty file page that this caller may not write */
	SWS_STALL_STEP_NO_WRITE = 13, /* one that nobody could write now */
	SWS_STALL_STEP_PAGEOUT_KEEP = 14,
	SWS_STALL_STEP_PAGEOUT_ACTIVATE = 15,
	SWS_STALL_STEP_WRITTEN = 16,
	SWS_STALL_STEP_RELEASE = 17, /* past the dirty test: clean, or come back clean */
	SWS_STALL_STEP_REMOVE = 18,
	SWS_STALL_STEP_FREED = 19,
};

/* A step's name, as the column step has it: "reference_keep". NULL past the last. */
const char *sws_stall_step_name(enum sws_stall_step step);

/* Pages as columns of one length, each list's in the order in which they are met. */
struct sws_stall_rows {
	/* Bits of enum sws_stall_page. */
	const uint16_t *page;
	/* enum sws_stall_step */
	const uint8_t *step;
	/* Base pages; NULL: 1 each. */
	const uint32_t *base_pages;
	/* Flags of the zone as the page's tests saw them; NULL: the list's, as the rules leave them. */
	const uint8_t *flags;
};

/* Lists as columns: list i is the rows from the end of list i - 1 to ends[i]. */
struct sws_stall_lists {
	const uint64_t *ends;
	/* Bits of enum sws_stall_caller. */
	const uint8_t *caller;
	const uint8_t *priority;
	const uint8_t *file;
	const uint32_t *taken;
	/* Flags as the list begins; NULL: those of its node, as the rules have left them. */
	const uint8_t *flags;
	/* With flags NULL: the node, and what has cleared flags of it since the last list there: */
	const uint32_t *node;
	/* bits 1 << enum sws_stall_clear. NULL: nothing. */
	const uint8_t *clears;
	/* Flags by node, read and written. */
	uint8_t *node_flags;
	uint32_t n_nodes;
};

/* What a list came to. */
struct sws_stall_result {
	struct sws_stall_counts counts;
	struct sws_stall_decision decision;
	/* Flags as it began. */
	uint8_t flags_before;
	/* Sleeps of case 1. */
	uint32_t slept;
	/* Given to pageout. */
	uint32_t writes;
	/* Pages that these rules lead on from where the columns end: what came then, nobody knows. */
	uint32_t untold;
};

/* Where results go. */
struct sws_stall_results {
	/* One for each list. */
	struct sws_stall_result *lists;
	/* enum sws_stall_fate for each row; NULL: not wanted. */
	uint8_t *fates;
	/* Written on an error: the list and the row at fault, and what is wrong. */
	uint64_t list;
	uint64_t row;
	enum sws_stall_problem problem;
};

struct sws_stall_replay_config {
	/* By whose rules; default 6.1. */
	enum sws_stall_set set;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

struct sws_stall_replay;

/* Writes every default. */
void sws_stall_replay_config_init(struct sws_stall_replay_config *config);

/*
 * Works out what becomes of each page that a row can tell. The caller frees it.
 * Complexity: some 10,000 pages beforehand, and for each kind of caller that comes.
 * Returns SWS_ERROR_BAD_CONFIG, SWS_ERROR_NO_MEMORY.
 */
int sws_stall_replay_new(const struct sws_stall_replay_config *config,
			 struct sws_stall_replay **out);

/* Takes NULL. */
void sws_stall_replay_free(struct sws_stall_replay *self);

/*
 * Whole lists. Complexity: O(rows), two looks into tables each. Returns
 * SWS_ERROR_BAD_ARGUMENT with the problem, its list and its row; lists before it are done.
 */
int sws_stall_replay_lists(struct sws_stall_replay *self, const struct sws_stall_rows *rows,
			   uint64_t n_lists, const struct sws_stall_lists *lists,
			   struct sws_stall_results *results);

/* Lists, or passes, of which the counters are known: columns of one length. */
struct sws_stall_summed {
	const uint8_t *caller;
	const uint8_t *priority;
	const uint8_t *flags;
	const struct sws_stall_counts *counts;
};

/*
 * What is decided of each at AT_LIST or AT_PASS. Returns SWS_ERROR_BAD_ARGUMENT, with the
 * problem and its row; rows before it are done.
 */
int sws_stall_replay_counts(enum sws_stall_set set, enum sws_stall_place place, uint64_t n,
			    const struct sws_stall_summed *lists,
			    struct sws_stall_decision *decisions, uint64_t *row,
			    enum sws_stall_problem *problem);

/* Re-derives each table entry; SWS_ERROR_BROKEN and a reason if one is another. */
int sws_stall_replay_verify(const struct sws_stall_replay *self, const char **reason);

/* ffi: end */

#endif
