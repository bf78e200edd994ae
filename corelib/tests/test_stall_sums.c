/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/stall_sums.h"

#include "check.h"

#include <string.h>

/* All pages of a list are under writeback and marked. */
static const struct sws_stall_counts marked = {
	.dirty = 32, .congested = 32, .writeback = 32, .taken = 32
};

static void names_end(void)
{
	CHECK(!strcmp(sws_sums_set_name(SWS_SUMS_7_3_GENERATIONS), "7.3-generations"));
	CHECK(!sws_sums_set_name((enum sws_sums_set)3));
}

static void flushers_are_woken_if_all_are_unqueued(void)
{
	const struct sws_stall_counts counts = { .dirty = 7, .unqueued_dirty = 7, .taken = 7 };
	struct sws_sums_decision decision;

	sws_sums_after_list(SWS_SUMS_7_3_GENERATIONS, 0, 0, &counts, &decision);
	CHECK(decision.wakes && !decision.decides && !decision.sleeps);
	sws_sums_after_list(SWS_SUMS_7_3_GENERATIONS, SWS_STALL_MEMCG | SWS_STALL_LEGACY, 0,
			    &counts, &decision);
	CHECK(decision.wakes && decision.sleeps == 1U << SWS_STALL_SLEEP_WRITEBACK);
}

static void generations_decide_for_cgroups_alone(void)
{
	struct sws_sums_decision decision;

	sws_sums_after_pass(SWS_SUMS_7_3_GENERATIONS, SWS_STALL_KSWAPD, 0, &marked, &decision);
	CHECK(!decision.decides && !decision.set && !decision.sleeps);
	sws_sums_after_pass(SWS_SUMS_7_3_GENERATIONS, SWS_STALL_MEMCG, 0, &marked, &decision);
	CHECK(decision.decides && decision.set == SWS_SUMS_CGROUP_CONGESTED);
	CHECK(decision.sleeps == 1U << SWS_STALL_SLEEP_CONGESTED);
	sws_sums_after_pass(SWS_SUMS_7_3_LISTS, SWS_STALL_KSWAPD, 0, &marked, &decision);
	CHECK(decision.set == (SWS_SUMS_WRITEBACK | SWS_SUMS_NODE_CONGESTED) && !decision.sleeps);
}

static void each_list_decides_once(void)
{
	struct sws_sums_decision decision;

	sws_sums_after_list(SWS_SUMS_EACH_LIST, SWS_STALL_KSWAPD, 0, &marked, &decision);
	CHECK(decision.decides && decision.set);
	sws_sums_after_pass(SWS_SUMS_EACH_LIST, SWS_STALL_KSWAPD, 0, &marked, &decision);
	CHECK(!decision.decides);
}

static void an_unknown_set_decides_nothing(void)
{
	const struct sws_stall_counts counts = { .taken = 1, .dirty = 1, .unqueued_dirty = 1 };
	struct sws_sums_decision decision = { .decides = 1 };

	sws_sums_after_list((enum sws_sums_set)1000, 0, 0, &counts, &decision);
	CHECK(!decision.decides && !decision.wakes);
	decision.decides = 1;
	sws_sums_after_pass((enum sws_sums_set)3, 0, 0, &counts, &decision);
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
	RUN(an_unknown_set_decides_nothing);
	RUN(impossible_rows_are_refused);
	return 0;
}
