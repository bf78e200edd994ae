/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/page.h - the tests of one page, branch-free on bits that are 0 or 1; used for lists that
 * are processed page by page and for lists in columns.
 *
 * The parts of a row of rules, the caller and the priority that are the same for all pages of a
 * list are computed once, as masks. An example is a page of series-7 with buffer heads that is
 * dirty while all its buffers are clean, and the same page with series-6:
 *
 *      callbacks   page & callbacks   from                      dirty   D U
 *      BUFFERS     BUFFERS            FS_DIRTY, FS_WRITEBACK    0       0 0
 *      0           0                  DIRTY, WRITEBACK          1       1 1
 */
#ifndef SWAPSIM_STALL_PAGE_H
#define SWAPSIM_STALL_PAGE_H

#include "swapsim/stall.h"

/* All members except the pointer and the bits are 0 or 1. */
struct stall_masks {
	const struct sws_stall_rules *rules;
	/* The page bits of the callbacks that are called. */
	uint16_t callbacks;
	/* 1 if pages are counted at the accounting, 0 if at the dirty test. */
	uint32_t at_top;
	uint32_t by_device;
	uint32_t by_mark;
	uint32_t by_pageout;
	/*
	 * 1 if case 1 is possible, and if case 3 is possible for an anonymous [0] or a file page
	 * [1].
	 */
	uint32_t case_1;
	uint32_t case_3[2];
	/*
	 * 1 if this caller may write file pages, given these flags of the zone and these bits of
	 * the page.
	 */
	uint32_t writes;
	uint8_t write_flags;
	uint16_t write_bits;
};

static inline uint32_t stall_bit(uint32_t word, uint32_t bit)
{
	return (word & bit) != 0;
}

static inline struct stall_masks stall_masks_of(const struct sws_stall_rules *rules, uint8_t caller,
						uint8_t priority)
{
	const bool kswapd = caller & SWS_STALL_KSWAPD;
	const bool io = caller & (rules->waits_entering_fs ? SWS_STALL_FS : SWS_STALL_IO);
	/* A page of the swap cache needs IO but not FS. */
	const bool swap_io =
		caller & (SWS_STALL_IO | (rules->waits_entering_fs ? SWS_STALL_FS : 0));
	const bool waits = caller & (rules->waits_for_legacy ? SWS_STALL_LEGACY : SWS_STALL_MEMCG);
	const bool flagged = rules->writes != SWS_STALL_WRITES_BELOW_10;
	const bool marked = rules->writes == SWS_STALL_WRITES_FLAGGED_AND_MARKED;

	return (struct stall_masks){
		.rules = rules,
		.callbacks = (uint16_t)((rules->asks_buffers ? SWS_STALL_PAGE_BUFFERS : 0) |
					(rules->asks_nfs ? SWS_STALL_PAGE_NFS : 0)),
		.at_top = rules->counted == SWS_STALL_COUNTED_AT_TOP,
		.by_device = stall_bit(rules->congested_by, SWS_STALL_BY_DEVICE),
		.by_mark = stall_bit(rules->congested_by, SWS_STALL_BY_MARK),
		.by_pageout = stall_bit(rules->congested_by, SWS_STALL_BY_PAGEOUT_KEEP),
		.case_1 = kswapd && rules->case_1 != SWS_STALL_CASE_1_NONE,
		.case_3 = { waits && swap_io, waits && io },
		.writes = kswapd && (flagged || priority < SWS_STALL_TROUBLE),
		.write_flags = flagged ? SWS_STALL_TAIL_DIRTY : 0,
		.write_bits = marked ? SWS_STALL_PAGE_MARKED : 0,
	};
}

/* Returns the base pages of a page as they count. */
static inline uint32_t stall_weight(const struct stall_masks *masks, uint32_t base_pages)
{
	return masks->rules->counts_base_pages ? base_pages : 1;
}

/* Runs the accounting. Models: page_check_dirty_writeback and the counts by its result. */
static inline void stall_account(const struct stall_masks *masks, uint32_t page, uint32_t weight,
				 struct sws_stall_counts *counts)
{
	const uint32_t by_callback = stall_bit(page, masks->callbacks);
	const uint32_t files =
		stall_bit(page, SWS_STALL_PAGE_FILE) & !stall_bit(page, SWS_STALL_PAGE_LAZYFREE);
	const uint32_t dirty = files & stall_bit(page, by_callback ? SWS_STALL_PAGE_FS_DIRTY
								   : SWS_STALL_PAGE_DIRTY);
	const uint32_t writeback = files & stall_bit(page, by_callback ? SWS_STALL_PAGE_FS_WRITEBACK
								       : SWS_STALL_PAGE_WRITEBACK);
	const uint32_t device = masks->by_device & stall_bit(page, SWS_STALL_PAGE_DEVICE_CONGESTED);
	const uint32_t mark = masks->by_mark & writeback & stall_bit(page, SWS_STALL_PAGE_RECLAIM);

	counts->dirty += weight * (masks->at_top & (dirty | writeback));
	counts->unqueued_dirty += weight * (masks->at_top & dirty & !writeback);
	counts->congested += weight * (device | mark);
}

/* Runs the writeback test; returns GOES_ON or one of the cases. */
static inline enum sws_stall_branch stall_case(const struct stall_masks *masks, uint32_t page,
					       uint8_t flags)
{
	const uint32_t under = stall_bit(page, SWS_STALL_PAGE_UNDER_WRITEBACK);
	const uint32_t marked = stall_bit(page, SWS_STALL_PAGE_MARKED);
	const uint32_t first =
		under & marked & masks->case_1 & stall_bit(flags, SWS_STALL_WRITEBACK);
	const uint32_t third =
		under & marked & !first & masks->case_3[stall_bit(page, SWS_STALL_PAGE_FILE)];

	return (enum sws_stall_branch)(
		SWS_STALL_BRANCH_GOES_ON +
		under * (SWS_STALL_BRANCH_CASE_2 - SWS_STALL_BRANCH_GOES_ON) + third - first);
}

/* Counts a page that is dirty at the dirty test. */
static inline void stall_count_late(const struct stall_masks *masks, uint32_t under_writeback,
				    uint32_t weight, struct sws_stall_counts *counts)
{
	counts->dirty += weight * !masks->at_top;
	counts->unqueued_dirty += weight * (!masks->at_top & !under_writeback);
}

/* Runs the dirty test; returns WRITE or NOT_WRITTEN. */
static inline enum sws_stall_branch stall_may_write(const struct stall_masks *masks, uint32_t page,
						    uint8_t flags)
{
	const uint32_t allowed = masks->writes &
				 ((flags & masks->write_flags) == masks->write_flags) &
				 ((page & masks->write_bits) == masks->write_bits);
	const uint32_t writes = stall_bit(~page, SWS_STALL_PAGE_FILE) | allowed;

	return writes ? SWS_STALL_BRANCH_WRITE : SWS_STALL_BRANCH_NOT_WRITTEN;
}

/* check.c: returns the problem of a page's bits. */
enum sws_stall_problem sws_stall__check_page(uint32_t page);

/* check.c: as sws_stall_check, for a known rule set. */
enum sws_stall_problem sws_stall__check_caller(uint8_t caller, uint8_t priority, uint8_t flags);

/* decide.c: runs the program of a place; the context and the counts have been checked. */
void sws_stall__decide(const struct sws_stall_context *context, enum sws_stall_place place,
		       const struct sws_stall_counts *counts, struct sws_stall_decision *decision);

#endif
