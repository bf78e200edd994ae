/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall_sums.h - how reclaim of 7.3 stalls, by the counts of each list and their sums over a pass.
 *
 * Models, in mm/vmscan.c of 7.3
 *   lists    handle_reclaim_writeback, of MGLRU and of the two lists alike
 *   passes   shrink_node
 *
 *      list   list   list       U == T: the flushers are woken; cgroup v1: throttle for writeback
 *         \    |    /
 *        sums of a pass         with MGLRU and for all of memory the pass ends here
 *              |
 *      W > 0 and W == T         kswapd: the node gets WRITEBACK
 *      I > 0                    kswapd: throttle for writeback
 *      D > 0 and D == C         the lruvec gets CGROUP_CONGESTED for a cgroup of v2, and
 *                               NODE_CONGESTED by kswapd
 *      a CONGESTED flag         direct reclaim: throttle for congestion
 *
 * Capitals are the counts of stall.h. The rule sets differ in who decides, and when:
 *
 *   rules             decides for               after
 *   7.3-generations   a cgroup                  a pass
 *   7.3-lists         a cgroup, all of memory   a pass   7.3 with its two lists
 *   each-list         a cgroup, all of memory   a list   no kernel: the list's counts are the sums
 *
 * They differ from 6.1 (stall_rules.h) in that: reclaim writes no dirty file page, so the flag for
 * it is gone; the flag of congestion has a bit for each that sets it; and MGLRU returns before a
 * decision for all of memory, though its lists are counted and wake the flushers.
 *
 *   operation          lock   work
 *   sws_sums_decide    none   flags are changed one by one; other tasks read and clear them
 *
 * Left out: the counting of folios; who skips a requested sleep, and how long it takes (stall.h has
 * 6.1's, which are the same); reclaim of the root cgroup by memory.reclaim.
 */
#ifndef SWAPSIM_STALL_SUMS_H
#define SWAPSIM_STALL_SUMS_H

#include "swapsim/stall_replay.h"

/* ffi: begin */

/* The rule sets. The numbers may change between versions; store the names. */
enum sws_sums_set {
	/* 7.3 with MGLRU. */
	SWS_SUMS_7_3_GENERATIONS = 0,
	/* 7.3 with its two lists. */
	SWS_SUMS_7_3_LISTS = 1,
	/* As 7.3-lists, after each list. */
	SWS_SUMS_EACH_LIST = 2,
};

/* The flags, as bits. */
enum sws_sums_flag {
	/* PGDAT_WRITEBACK of the node: kswapd counts marked pages under writeback as immediate. */
	SWS_SUMS_WRITEBACK = 1,
	/* LRUVEC_CGROUP_CONGESTED of the lruvec that reclaim aims at. */
	SWS_SUMS_CGROUP_CONGESTED = 2,
	/* LRUVEC_NODE_CONGESTED of this lruvec. */
	SWS_SUMS_NODE_CONGESTED = 4,
	/* All flags. */
	SWS_SUMS_FLAGS = 7,
};

/* Returns the name of a rule set; NULL past the last. */
const char *sws_sums_set_name(enum sws_sums_set set);

/* The decision after a list or a pass. */
struct sws_sums_decision {
	/* 1 if flags and throttles are decided here. */
	uint8_t decides;
	/* 1 if the flushers are woken. */
	uint8_t wakes;
	/* Flags that are set, as bits. */
	uint8_t set;
	/* Throttles that are requested, as bits 1 << enum sws_stall_sleep. */
	uint8_t sleeps;
};

/*
 * Decides at AT_LIST, by each row's counts, or at AT_PASS, by the sums over its lists. A row's caller
 * has bits of enum sws_stall_caller, its flags are those before; its priority is not read. Models:
 * handle_reclaim_writeback, shrink_node. Complexity: O(n). Locks: none. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown set or place, or with the row that has
 * unknown bits, more unqueued dirty or congested pages than dirty ones, or more of any than taken.
 */
int sws_sums_decide(enum sws_sums_set set, enum sws_stall_place place, uint64_t n,
		    const struct sws_stall_summed *rows, struct sws_sums_decision *decisions,
		    uint64_t *row);

/* ffi: end */

#endif
