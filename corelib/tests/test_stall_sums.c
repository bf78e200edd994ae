/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/stall_sums.h"

#include "check.h"

#include <string.h>

/* All pages of a list are under writeback and marked. */
static const struct sws_stall_counts marked = {
	.dirty = 32, .congested = 32, .writeback = 32, .taken = 32
};

static struct sws_sums_decision after(enum sws_stall_place place, enum sws_sums_set set,
				      uint8_t caller, const struct sws_stall_counts *counts)
{
	const uint8_t no_flags = 0;
	const struct sws_stall_summed row = { .caller = &caller,
					      .flags = &no_flags,
					      .counts = counts };
	struct sws_sums_decision decision;
	uint64_t at = 0;

	CHECK(sws_sums_decide(set, place, 1, &row, &decision, &at) == SWS_OK);
	return decision;
}

static void names_end(void)
{
	CHECK(!strcmp(sws_sums_set_name(SWS_SUMS_7_3_GENERATIONS), "7.3-generations"));
	CHECK(!sws_sums_set_name((enum sws_sums_set)3));
}

static void flushers_are_woken_if_all_are_unqueued(void)
{
	const struct sws_stall_counts counts = { .dirty = 7, .unqueued_dirty = 7, .taken = 7 };
	struct sws_sums_decision decision;

	decision = after(SWS_STALL_AT_LIST, SWS_SUMS_7_3_GENERATIONS, 0, &counts);
	CHECK(decision.wakes && !decision.decides && !decision.sleeps);
	decision = after(SWS_STALL_AT_LIST, SWS_SUMS_7_3_GENERATIONS,
			 SWS_STALL_MEMCG | SWS_STALL_LEGACY, &counts);
	CHECK(decision.wakes && decision.sleeps == 1U << SWS_STALL_SLEEP_WRITEBACK);
}

static void generations_decide_for_cgroups_alone(void)
{
	struct sws_sums_decision decision;

	decision = after(SWS_STALL_AT_PASS, SWS_SUMS_7_3_GENERATIONS, SWS_STALL_KSWAPD, &marked);
	CHECK(!decision.decides && !decision.set && !decision.sleeps);
	decision = after(SWS_STALL_AT_PASS, SWS_SUMS_7_3_GENERATIONS, SWS_STALL_MEMCG, &marked);
	CHECK(decision.decides && decision.set == SWS_SUMS_CGROUP_CONGESTED);
	CHECK(decision.sleeps == 1U << SWS_STALL_SLEEP_CONGESTED);
	decision = after(SWS_STALL_AT_PASS, SWS_SUMS_7_3_LISTS, SWS_STALL_KSWAPD, &marked);
	CHECK(decision.set == (SWS_SUMS_WRITEBACK | SWS_SUMS_NODE_CONGESTED) && !decision.sleeps);
}

static void each_list_decides_once(void)
{
	struct sws_sums_decision decision;

	decision = after(SWS_STALL_AT_LIST, SWS_SUMS_EACH_LIST, SWS_STALL_KSWAPD, &marked);
	CHECK(decision.decides && decision.set);
	decision = after(SWS_STALL_AT_PASS, SWS_SUMS_EACH_LIST, SWS_STALL_KSWAPD, &marked);
	CHECK(!decision.decides);
}

static void impossible_rows_are_refused(void)
{
	const struct sws_stall_counts bad[] = {
		{ .dirty = 2, .taken = 1 },
		{ .dirty = 1, .unqueued_dirty = 2, .taken = 2 },
		{ .dirty = 1, .congested = 2, .taken = 2 },
		{ .writeback = 1, .immediate = 1, .taken = 1 },
	};
	const uint8_t zero[2] = { 0 };
	const uint8_t unknown[2] = { 0, 128 };
	struct sws_sums_decision decisions[2];
	struct sws_stall_counts counts[2] = { { .taken = 1 } };
	struct sws_stall_summed rows = { .caller = zero, .flags = zero, .counts = counts };
	uint64_t row = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		counts[1] = bad[i];
		CHECK(sws_sums_decide(SWS_SUMS_7_3_LISTS, SWS_STALL_AT_LIST, 2, &rows, decisions,
				      &row) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(row == 1);
	}
	counts[1] = counts[0];
	rows.flags = unknown;
	CHECK(sws_sums_decide(SWS_SUMS_7_3_LISTS, SWS_STALL_AT_PASS, 2, &rows, decisions, &row) ==
	      SWS_ERROR_BAD_ARGUMENT);
	rows.flags = zero;
	CHECK(sws_sums_decide(SWS_SUMS_7_3_LISTS, SWS_STALL_AT_PASS, 2, &rows, decisions, &row) ==
	      SWS_OK);
	CHECK(sws_sums_decide(SWS_SUMS_7_3_LISTS, SWS_STALL_AT_ROUND, 2, &rows, decisions, &row) ==
	      SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_sums_decide((enum sws_sums_set)3, SWS_STALL_AT_PASS, 2, &rows, decisions, &row) ==
	      SWS_ERROR_BAD_ARGUMENT);
}

int main(void)
{
	RUN(names_end);
	RUN(flushers_are_woken_if_all_are_unqueued);
	RUN(generations_decide_for_cgroups_alone);
	RUN(each_list_decides_once);
	RUN(impossible_rows_are_refused);
	return 0;
}
