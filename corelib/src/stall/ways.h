/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/ways.h - all ways that a page of the columns can go, worked out beforehand: two looks
 * into tables for a page, and no branch.
 *
 *      page  ->  accounts[page]            what it counts at the top     and  what else is asked
 *                                          0 D | 1 U | 2 C              of it: 4 bits
 *      those 4 bits, its step,
 *      two flags, is it waited for?  ->  ways[...]                what becomes of it
 *                                          0 W | 1 I | 2 D late | 3 C late | 4 written |
 *                                          5 untold | 6 what follows | 7 its fate
 *
 * Both give bytes that stand side by side in a word, so that one addition counts all of them;
 * 255 pages fit before a byte is full. A table of ways belongs to a kind of caller: whether
 * there are cases 1 and 3 for it, and whether it may write. There are 16 kinds at most, two
 * or three in a recording, and each is worked out when its first list comes.
 */
#ifndef SWAPSIM_STALL_WAYS_H
#define SWAPSIM_STALL_WAYS_H

#include "stall/parts.h"
#include "swapsim/stall_replay.h"

enum {
	STALL_ACCOUNTS = SWS_STALL_PAGE_BITS + 1,
	/* What the tests after the accounting ask of a page. */
	STALL_ASKED_FILE = 1,
	STALL_ASKED_UNDER_WRITEBACK = 2,
	STALL_ASKED_MARKED = 4,
	STALL_ASKED_CAME_BACK = 8,
	STALL_ASKED_BITS = 15,
	/* The index of a way: 4 bits asked, 5 of the step, 2 of flags, 1 if the page has waited. */
	STALL_WAY_STEP = 4,
	STALL_WAY_FLAGS = 9,
	STALL_WAY_WAITED = 11,
	STALL_WAYS = 1 << 12,
	STALL_STEP_BITS = 31,
	/* Flags that a way depends on. */
	STALL_WAY_FLAG_BITS = SWS_STALL_TAIL_DIRTY | SWS_STALL_WRITEBACK,
	STALL_CALLERS = 16,
	/* Rows after which a byte may be full. */
	STALL_BYTE_ROWS = 255,
};

/* Of an account: where the bits asked stand, above its three bytes. */
enum { STALL_ACCOUNT_ASKED = 24, STALL_ACCOUNT_WRONG = 28 };
#define STALL_ACCOUNT_BYTES UINT32_C(0x00ffffff)

/* Of a way: where things stand. */
enum {
	STALL_WAY_COUNTS_AT_TOP = 48, /* it is accounted */
	STALL_WAY_WAITS = 49, /* the next row is the same page */
	STALL_WAY_CLEARS = 50, /* a case 1 has slept */
	STALL_WAY_WRONG = 51,
	STALL_WAY_FATE = 56,
};
#define STALL_WAY_BYTES UINT64_C(0x0000ffffffffffff)

/* Bytes of a way. */
enum stall_way_byte {
	STALL_BYTE_WRITEBACK = 0,
	STALL_BYTE_FIRST = 1, /* case 1: counted, or slept in */
	STALL_BYTE_LATE = 2,
	STALL_BYTE_KEPT = 3,
	STALL_BYTE_WRITES = 4,
	STALL_BYTE_UNTOLD = 5,
};

struct sws_stall_replay {
	struct sws_allocator allocator;
	enum sws_stall_set set;
	const struct sws_stall_rules *rules;
	uint32_t *accounts;
	/* By kind of caller, STALL_WAYS each; which of them are there. */
	uint64_t *ways;
	bool worked_out[STALL_CALLERS];
};

static inline uint32_t stall_byte(uint64_t bytes, uint32_t place)
{
	return (uint32_t)(bytes >> (8 * place)) & 0xff;
}

/* Fills the table of accounts. */
void sws_stall__fill_accounts(struct sws_stall_replay *self);

/* The ways of such a caller, worked out if they are not yet. */
const uint64_t *sws_stall__ways(struct sws_stall_replay *self, uint8_t caller, uint8_t priority);

/* Is this step a case of the writeback test? */
bool sws_stall__is_case(uint8_t step);

#endif
