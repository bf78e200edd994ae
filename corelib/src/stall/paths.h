/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/paths.h - all paths that a page of the columns can take, computed in advance: a page needs
 * two table look-ups and no branch.
 *
 *      page  ->  accounts[page]            its counts at the top     and  its inputs to later
 *                                          0 D | 1 U | 2 C              tests: 4 bits
 *      those 4 bits, its step,
 *      two flags, has it waited?     ->  paths[...]               its result
 *                                          0 W | 1 I | 2 D late | 3 C late | 4 written |
 *                                          5 unrecorded | 6 next row | 7 its outcome
 *
 * Both tables have byte counters side by side in a word, so that one addition updates all of them;
 * a byte holds 255 pages. A table of paths belongs to a kind of caller: whether cases 1 and 3 are
 * possible, and whether it may write. There are at most 16 kinds, of which a recording has two or
 * three; each table is computed when the first list of its kind is replayed.
 */
#ifndef SWAPSIM_STALL_PATHS_H
#define SWAPSIM_STALL_PATHS_H

#include "stall/page.h"
#include "swapsim/stall_replay.h"

enum {
	STALL_ACCOUNTS = SWS_STALL_PAGE_BITS + 1,
	/* The inputs of the tests after the accounting. */
	STALL_INPUT_FILE = 1,
	STALL_INPUT_UNDER_WRITEBACK = 2,
	STALL_INPUT_MARKED = 4,
	STALL_INPUT_CAME_BACK = 8,
	STALL_INPUT_BITS = 15,
	/*
	 * The index of a path: 4 input bits, 5 bits of the step, 2 of flags, 1 if the page has
	 * waited.
	 */
	STALL_PATH_STEP = 4,
	STALL_PATH_FLAGS = 9,
	STALL_PATH_WAITED = 11,
	STALL_PATHS = 1 << 12,
	STALL_STEP_BITS = 31,
	/* The flags that a path depends on. */
	STALL_PATH_FLAG_BITS = SWS_STALL_TAIL_DIRTY | SWS_STALL_WRITEBACK,
	STALL_CALLERS = 16,
	/* Number of rows that a byte counter can hold. */
	STALL_BYTE_ROWS = 255,
};

/* The input bits of an account are above its three bytes. */
enum { STALL_ACCOUNT_INPUT = 24, STALL_ACCOUNT_WRONG = 28 };
#define STALL_ACCOUNT_BYTES UINT32_C(0x00ffffff)

/* The bits of a path above its byte counters. */
enum {
	/* The page is accounted. */
	STALL_PATH_COUNTS_AT_TOP = 48,
	/* The next row is the same page. */
	STALL_PATH_WAITS = 49,
	/* Case 1 has slept. */
	STALL_PATH_CLEARS = 50,
	STALL_PATH_WRONG = 51,
	STALL_PATH_BRANCH = 56,
};
#define STALL_PATH_BYTES UINT64_C(0x0000ffffffffffff)

/* The byte counters of a path. */
enum stall_path_byte {
	STALL_BYTE_WRITEBACK = 0,
	/* Case 1: counted, or slept in. */
	STALL_BYTE_FIRST = 1,
	STALL_BYTE_LATE = 2,
	STALL_BYTE_KEPT = 3,
	STALL_BYTE_WRITES = 4,
	STALL_BYTE_UNRECORDED = 5,
};

struct sws_stall_replay {
	struct sws_allocator allocator;
	enum sws_stall_set set;
	const struct sws_stall_rules *rules;
	uint32_t *accounts;
	/*
	 * The tables of paths, STALL_PATHS entries for each kind of caller, and which are computed.
	 */
	uint64_t *paths;
	bool computed[STALL_CALLERS];
};

static inline uint32_t stall_byte(uint64_t bytes, uint32_t place)
{
	return (uint32_t)(bytes >> (8 * place)) & 0xff;
}

/* Fills the table of accounts. */
void sws_stall__fill_accounts(struct sws_stall_replay *self);

/* Returns the paths of a caller; computes them if necessary. */
const uint64_t *sws_stall__paths(struct sws_stall_replay *self, uint8_t caller, uint8_t priority);

/* Returns true if a step is a case of the writeback test. */
bool sws_stall__is_case(uint8_t step);

#endif
