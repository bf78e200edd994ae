/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/rules.c - the rows of stall_rules.h in the order of the series, so that the changes of a
 * patch are the differences between two rows. Tests that several sets share have a name.
 */
#include "swapsim/stall_rules.h"

#include <stddef.h>

#define SET(flag, scope, test, number, of)                                                         \
	{ SWS_STALL_DOES_SET,    SWS_STALL_##flag,     SWS_STALL_FOR_##scope,                      \
	  SWS_STALL_TEST_##test, SWS_STALL_N_##number, SWS_STALL_N_##of }
#define SLEEP(sleep, scope, test, number, of)                                                      \
	{ SWS_STALL_DOES_SLEEP,  SWS_STALL_SLEEP_##sleep, SWS_STALL_FOR_##scope,                   \
	  SWS_STALL_TEST_##test, SWS_STALL_N_##number,    SWS_STALL_N_##of }

/* All dirty pages are on a congested device. */
#define CONGESTED_IF_ALL SET(CONGESTED, GLOBAL, SOME_EQUAL, DIRTY, CONGESTED)

/* A share of the isolated pages is under writeback: all at priority 12, a quarter at 10. */
#define WRITEBACK_IF_SHARE SET(WRITEBACK, ANY, SOME_AT_LEAST, WRITEBACK, SHARE)
#define WRITEBACK_IF_ALL   SET(WRITEBACK, ANY, SOME_EQUAL, WRITEBACK, TAKEN)
#define WAIT_IF_SHARE      SLEEP(WAIT_IFF_CONGESTED, ANY, SOME_AT_LEAST, WRITEBACK, SHARE)

#define DIRTY_IF_SHARE SET(TAIL_DIRTY, GLOBAL, SOME_AT_LEAST, UNQUEUED_DIRTY, SHARE)
#define DIRTY_IF_ALL   SET(TAIL_DIRTY, GLOBAL, EQUAL, UNQUEUED_DIRTY, TAKEN)

/* The forced stall. */
#define STALL_IF_DIRTY SLEEP(CONGESTION_WAIT, GLOBAL, EQUAL, UNQUEUED_DIRTY, TAKEN)
#define STALL_IF_DIRTY_OR_IMMEDIATE                                                                \
	SLEEP(CONGESTION_WAIT, GLOBAL, EQUAL_OR_IMMEDIATE, UNQUEUED_DIRTY, TAKEN)

/* The flusher threads, in 6.1. */
#define WAKE_IF_DIRTY                                                                              \
	{ SWS_STALL_DOES_WAKE,        0,                                                           \
	  SWS_STALL_FOR_ANY,          SWS_STALL_TEST_EQUAL,                                        \
	  SWS_STALL_N_UNQUEUED_DIRTY, SWS_STALL_N_TAKEN }

/* The throttle of direct reclaim after a list, or after a round with too little progress. */
#define WAIT_IF_DIRECT SLEEP(WAIT_IFF_CONGESTED, DIRECT, ALWAYS, NONE, NONE)
#define NAP            { SLEEP(WAIT_IFF_CONGESTED, DIRECT, IN_TROUBLE, NONE, NONE) }

/* From series-5 on all decisions are in one place, shrink_inactive_list. */
#define ONE_PLACE(set_writeback)                                                                   \
	{ set_writeback, CONGESTED_IF_ALL, DIRTY_IF_ALL, STALL_IF_DIRTY_OR_IMMEDIATE,              \
	  WAIT_IF_DIRECT }

#define CLEARS_OF_2013                                                                             \
	{ [SWS_STALL_CLEAR_BALANCED] = SWS_STALL_TAIL_DIRTY | SWS_STALL_CONGESTED,                 \
	  [SWS_STALL_CLEAR_SHRUNK] = SWS_STALL_WRITEBACK }
/* Until series-2: case 1 sleeps, and then tests again whether it still applies. */
#define CLEARS_IN_CASE_1                                                                           \
	{ [SWS_STALL_CLEAR_BALANCED] = SWS_STALL_TAIL_DIRTY | SWS_STALL_CONGESTED,                 \
	  [SWS_STALL_CLEAR_SHRUNK] = SWS_STALL_WRITEBACK,                                          \
	  [SWS_STALL_CLEAR_IMMEDIATE] = SWS_STALL_WRITEBACK }

static const struct sws_stall_rules rows[] = {
	[SWS_STALL_3_9] = {
		.counted = SWS_STALL_COUNTED_LATE,
		.congested_by = SWS_STALL_BY_PAGEOUT_KEEP,
		.case_1 = SWS_STALL_CASE_1_NONE,
		.writes = SWS_STALL_WRITES_BELOW_10,
		.acts = { [SWS_STALL_AT_LIST] = { CONGESTED_IF_ALL, WAIT_IF_SHARE },
			  [SWS_STALL_AT_ROUND] = NAP },
		.clears = { [SWS_STALL_CLEAR_BALANCED] = SWS_STALL_CONGESTED },
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_MMOTM] = {
		.counted = SWS_STALL_COUNTED_LATE,
		.congested_by = SWS_STALL_BY_PAGEOUT_KEEP,
		.case_1 = SWS_STALL_CASE_1_SLEEP_LOCKED,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = { CONGESTED_IF_ALL, WAIT_IF_SHARE,
						  WRITEBACK_IF_SHARE, DIRTY_IF_SHARE },
			  [SWS_STALL_AT_ROUND] = NAP },
		.clears = CLEARS_IN_CASE_1,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_1] = {
		.counted = SWS_STALL_COUNTED_LATE,
		.congested_by = SWS_STALL_BY_PAGEOUT_KEEP,
		.case_1 = SWS_STALL_CASE_1_SLEEP_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = { CONGESTED_IF_ALL, WAIT_IF_SHARE,
						  WRITEBACK_IF_SHARE, DIRTY_IF_SHARE },
			  [SWS_STALL_AT_ROUND] = NAP },
		.clears = CLEARS_IN_CASE_1,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_2] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE,
		.case_1 = SWS_STALL_CASE_1_SLEEP_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = { CONGESTED_IF_ALL, WAIT_IF_SHARE,
						  WRITEBACK_IF_SHARE, STALL_IF_DIRTY,
						  DIRTY_IF_ALL },
			  [SWS_STALL_AT_ROUND] = NAP },
		.clears = CLEARS_IN_CASE_1,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_3] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = { CONGESTED_IF_ALL, WAIT_IF_SHARE,
						  WRITEBACK_IF_SHARE, DIRTY_IF_ALL,
						  STALL_IF_DIRTY_OR_IMMEDIATE },
			  [SWS_STALL_AT_ROUND] = NAP },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_4] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = { CONGESTED_IF_ALL, WRITEBACK_IF_SHARE,
						  WAIT_IF_SHARE, DIRTY_IF_ALL,
						  STALL_IF_DIRTY_OR_IMMEDIATE },
			  [SWS_STALL_AT_ROUND] = NAP },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_5] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = ONE_PLACE(WRITEBACK_IF_SHARE)  },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_6] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE | SWS_STALL_BY_MARK,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = ONE_PLACE(WRITEBACK_IF_SHARE)  },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
	},
	[SWS_STALL_SERIES_7] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE | SWS_STALL_BY_MARK,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = ONE_PLACE(WRITEBACK_IF_SHARE)  },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
		.asks_buffers = true,
	},
	[SWS_STALL_SERIES_8] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE | SWS_STALL_BY_MARK,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = ONE_PLACE(WRITEBACK_IF_SHARE)  },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
		.asks_buffers = true,
		.asks_nfs = true,
	},
	[SWS_STALL_3_11] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_DEVICE | SWS_STALL_BY_MARK,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.writes = SWS_STALL_WRITES_FLAGGED,
		.acts = { [SWS_STALL_AT_LIST] = ONE_PLACE(WRITEBACK_IF_ALL)  },
		.clears = CLEARS_OF_2013,
		.isolated = SWS_STALL_SLEEP_CONGESTION_WAIT,
		.asks_buffers = true,
		.asks_nfs = true,
	},
	[SWS_STALL_6_1] = {
		.counted = SWS_STALL_COUNTED_AT_TOP,
		.congested_by = SWS_STALL_BY_MARK,
		.counts_base_pages = true,
		.asks_buffers = true,
		.asks_nfs = true,
		.case_1 = SWS_STALL_CASE_1_COUNT_AND_ACTIVATE,
		.activates = true,
		.waits_for_legacy = true,
		.waits_entering_fs = true,
		.retries = true,
		.writes = SWS_STALL_WRITES_FLAGGED_AND_MARKED,
		.decides = SWS_STALL_AT_PASS,
		.acts = {
			[SWS_STALL_AT_LIST] = {
				WAKE_IF_DIRTY,
				SLEEP(WRITEBACK, LEGACY_MEMCG, EQUAL, UNQUEUED_DIRTY, TAKEN),
			},
			[SWS_STALL_AT_PASS] = {
				SET(WRITEBACK, KSWAPD, SOME_EQUAL, WRITEBACK, TAKEN),
				SET(TAIL_DIRTY, KSWAPD, EQUAL, UNQUEUED_DIRTY, FILE_TAKEN),
				SLEEP(WRITEBACK, KSWAPD, SOME, IMMEDIATE, NONE),
				SET(CONGESTED, KSWAPD_OR_SANE_MEMCG, SOME_EQUAL, DIRTY, CONGESTED),
				SLEEP(CONGESTED, THROTTLED_DIRECT, FLAGGED, NONE, NONE),
			},
			[SWS_STALL_AT_ROUND] = {
				SLEEP(NOPROGRESS, GLOBAL_DIRECT, NO_PROGRESS, NONE, NONE),
			},
		},
		.clears = { [SWS_STALL_CLEAR_BALANCED] = SWS_STALL_FLAGS,
			    [SWS_STALL_CLEAR_DIRECT] = SWS_STALL_CONGESTED },
		.isolated = SWS_STALL_SLEEP_ISOLATED,
	},
};

const struct sws_stall_rules *sws_stall_rules_of(enum sws_stall_set set)
{
	return (size_t)set < sizeof(rows) / sizeof(*rows) ? &rows[set] : NULL;
}

uint8_t sws_stall_clears(enum sws_stall_set set, enum sws_stall_clear why)
{
	const struct sws_stall_rules *rules = sws_stall_rules_of(set);

	return rules && (unsigned int)why < SWS_STALL_CLEARS ? rules->clears[why] : 0;
}

const char *sws_stall_set_name(enum sws_stall_set set)
{
	static const char *const names[] = {
		[SWS_STALL_3_9] = "3.9",           [SWS_STALL_MMOTM] = "mmotm",
		[SWS_STALL_SERIES_1] = "series-1", [SWS_STALL_SERIES_2] = "series-2",
		[SWS_STALL_SERIES_3] = "series-3", [SWS_STALL_SERIES_4] = "series-4",
		[SWS_STALL_SERIES_5] = "series-5", [SWS_STALL_SERIES_6] = "series-6",
		[SWS_STALL_SERIES_7] = "series-7", [SWS_STALL_SERIES_8] = "series-8",
		[SWS_STALL_3_11] = "3.11",         [SWS_STALL_6_1] = "6.1",
	};

	return (size_t)set < sizeof(names) / sizeof(*names) ? names[set] : NULL;
}

const char *sws_stall_sleep_name(enum sws_stall_sleep sleep)
{
	static const char *const names[] = {
		[SWS_STALL_SLEEP_WRITEBACK] = "writeback",
		[SWS_STALL_SLEEP_ISOLATED] = "isolated",
		[SWS_STALL_SLEEP_NOPROGRESS] = "noprogress",
		[SWS_STALL_SLEEP_CONGESTED] = "congested",
		[SWS_STALL_SLEEP_CONGESTION_WAIT] = "congestion_wait",
		[SWS_STALL_SLEEP_WAIT_IFF_CONGESTED] = "wait_iff_congested",
	};

	return (size_t)sleep < sizeof(names) / sizeof(*names) ? names[sleep] : NULL;
}
