/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/stall.h"

#include "check.h"

enum {
	KSWAPD = SWS_STALL_KSWAPD | SWS_STALL_IO | SWS_STALL_FS,
	DIRECT = SWS_STALL_IO | SWS_STALL_FS,
	FILE_DIRTY = SWS_STALL_PAGE_FILE | SWS_STALL_PAGE_DIRTY,
	WRITING = SWS_STALL_PAGE_WRITEBACK | SWS_STALL_PAGE_UNDER_WRITEBACK,
	FILE_WRITING = SWS_STALL_PAGE_FILE | WRITING,
	MARKED = FILE_WRITING | SWS_STALL_PAGE_RECLAIM | SWS_STALL_PAGE_MARKED,
};

static void verify(const struct sws_stall_list *list)
{
	const char *reason = NULL;

	CHECK(sws_stall_verify(list, &reason) == SWS_OK && !reason);
}

static struct sws_stall_list begin(enum sws_stall_set set, uint8_t caller, uint8_t priority,
				   uint8_t flags)
{
	const struct sws_stall_context context = { set, caller, priority, flags };
	struct sws_stall_list list;

	CHECK(sws_stall_begin(&context, true, 32, &list) == SWS_OK);
	verify(&list);
	return list;
}

static void meet(struct sws_stall_list *list, uint16_t page, enum sws_stall_state state)
{
	CHECK(sws_stall_meet(list, page, 1) == SWS_OK);
	CHECK(list->state == state);
	verify(list);
}

static struct sws_stall_decision end(struct sws_stall_list *list)
{
	struct sws_stall_decision decision;

	CHECK(sws_stall_end(list, &decision) == SWS_OK);
	CHECK(list->state == SWS_STALL_STATE_ENDED && list->flags == decision.flags_after);
	verify(list);
	return decision;
}

static void case_1_of_mmotm_goes_on_with_a_page_that_is_still_being_written(void)
{
	struct sws_stall_list list = begin(SWS_STALL_MMOTM, KSWAPD, 12, SWS_STALL_WRITEBACK);

	meet(&list, MARKED, SWS_STALL_STATE_ASLEEP);
	CHECK(list.branch == SWS_STALL_BRANCH_CASE_1 && list.slept == 1);
	CHECK(sws_stall_end(&list, &(struct sws_stall_decision){ 0 }) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_stall_slept(&list, true) == SWS_OK);
	verify(&list);
	CHECK(list.state == SWS_STALL_STATE_GOES_ON && list.under_writeback);
	CHECK(list.flags == 0 && list.cleared == SWS_STALL_WRITEBACK);
	/* No test prevents it from being freed. */
	CHECK(sws_stall_left(&list) == SWS_OK);
	/* The flag is cleared: the next page is case 2. */
	meet(&list, MARKED, SWS_STALL_STATE_PAGE);
	CHECK(list.branch == SWS_STALL_BRANCH_CASE_2 && list.counts.writeback == 1 && list.marks);
	CHECK(end(&list).cleared == SWS_STALL_WRITEBACK);
}

static void patch_1_keeps_that_page(void)
{
	struct sws_stall_list list = begin(SWS_STALL_SERIES_1, KSWAPD, 12, SWS_STALL_WRITEBACK);

	meet(&list, MARKED, SWS_STALL_STATE_ASLEEP);
	CHECK(sws_stall_slept(&list, true) == SWS_OK);
	CHECK(list.state == SWS_STALL_STATE_PAGE && !list.under_writeback && !list.activates);
	CHECK(sws_stall_left(&list) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(end(&list).flags_after == 0);
}

static void patch_3_counts_it_and_stalls_when_the_list_is_over(void)
{
	struct sws_stall_list list = begin(SWS_STALL_SERIES_3, KSWAPD, 12, SWS_STALL_WRITEBACK);
	struct sws_stall_decision decision;

	meet(&list, MARKED, SWS_STALL_STATE_PAGE);
	CHECK(list.counts.immediate == 1 && list.counts.writeback == 0 && !list.activates);
	decision = end(&list);
	CHECK(decision.sleeps == 1 << SWS_STALL_SLEEP_CONGESTION_WAIT);
	CHECK(decision.set == 0 && decision.flags_after == SWS_STALL_WRITEBACK);
}

static void case_3_waits_and_goes_on_or_meets_the_page_anew(void)
{
	struct sws_stall_list list = begin(SWS_STALL_3_11, DIRECT | SWS_STALL_MEMCG, 12, 0);

	meet(&list, MARKED, SWS_STALL_STATE_WAITING);
	CHECK(sws_stall_waited(&list) == SWS_OK && list.state == SWS_STALL_STATE_GOES_ON);
	CHECK(sws_stall_left(&list) == SWS_OK);
	list = begin(SWS_STALL_6_1, DIRECT | SWS_STALL_MEMCG, 12, 0);
	meet(&list, MARKED, SWS_STALL_STATE_PAGE);
	CHECK(list.branch == SWS_STALL_BRANCH_CASE_2 && list.activates);
	list = begin(SWS_STALL_6_1, DIRECT | SWS_STALL_MEMCG | SWS_STALL_LEGACY, 12, 0);
	meet(&list, MARKED, SWS_STALL_STATE_WAITING);
	CHECK(sws_stall_waited(&list) == SWS_OK && list.state == SWS_STALL_STATE_PAGE);
	CHECK(sws_stall_waited(&list) == SWS_ERROR_BAD_ARGUMENT);
	/* Counted again. */
	meet(&list, FILE_DIRTY, SWS_STALL_STATE_GOES_ON);
	CHECK(list.counts.dirty == 2);
}

static void dirty_pages_are_counted_late_or_at_the_top(void)
{
	struct sws_stall_list late = begin(SWS_STALL_3_9, KSWAPD, 9, 0);
	struct sws_stall_list top = begin(SWS_STALL_SERIES_2, KSWAPD, 9, 0);

	meet(&late, SWS_STALL_PAGE_DIRTY, SWS_STALL_STATE_GOES_ON);
	CHECK(late.counts.dirty == 0);
	CHECK(sws_stall_dirty(&late) == SWS_OK && late.state == SWS_STALL_STATE_PAGEOUT);
	CHECK(late.counts.dirty == 1 && late.counts.unqueued_dirty == 1);
	CHECK(sws_stall_paged_out(&late, true) == SWS_OK && late.counts.congested == 1);
	meet(&top, SWS_STALL_PAGE_DIRTY, SWS_STALL_STATE_GOES_ON);
	CHECK(sws_stall_dirty(&top) == SWS_OK);
	CHECK(sws_stall_paged_out(&top, true) == SWS_OK);
	CHECK(top.counts.dirty == 0 && top.counts.congested == 0);
	meet(&top, FILE_DIRTY, SWS_STALL_STATE_GOES_ON);
	CHECK(top.counts.dirty == 1 && top.counts.unqueued_dirty == 1);
	/* Without the flag it is not written, but marked and kept. */
	CHECK(sws_stall_dirty(&top) == SWS_OK && top.state == SWS_STALL_STATE_PAGE);
	CHECK(top.branch == SWS_STALL_BRANCH_NOT_WRITTEN && top.marks && !top.activates);
	CHECK(sws_stall_dirty(&top) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_stall_paged_out(&top, false) == SWS_ERROR_BAD_ARGUMENT);
}

static void a_huge_page_counts_as_one_until_6_1_counts_its_pages(void)
{
	struct sws_stall_list list = begin(SWS_STALL_3_11, KSWAPD, 12, 0);

	CHECK(sws_stall_meet(&list, FILE_DIRTY, 512) == SWS_OK && list.counts.dirty == 1);
	list = begin(SWS_STALL_6_1, KSWAPD, 12, 0);
	CHECK(sws_stall_meet(&list, FILE_DIRTY, 512) == SWS_OK && list.counts.dirty == 512);
}

static struct sws_stall_decision decide(enum sws_stall_set set, enum sws_stall_place place,
					uint8_t caller, struct sws_stall_counts counts)
{
	const struct sws_stall_context context = { set, caller, 12, 0 };
	struct sws_stall_decision decision;

	CHECK(sws_stall_decide(&context, place, &counts, &decision) == SWS_OK);
	return decision;
}

static void a_pass_of_6_1_is_decided_by_sums(void)
{
	const struct sws_stall_counts nothing = { .taken = 32 };
	const struct sws_stall_counts writing = { .writeback = 30, .taken = 30 };
	const struct sws_stall_counts cycling = {
		.dirty = 3, .congested = 3, .immediate = 1, .taken = 32, .file_taken = 32
	};
	struct sws_stall_decision decision =
		decide(SWS_STALL_6_1, SWS_STALL_AT_PASS, KSWAPD, nothing);

	/* 0 of 0 file pages are unqueued: the flag is set. */
	CHECK(decision.set == SWS_STALL_TAIL_DIRTY && decision.sleeps == 0);
	decision = decide(SWS_STALL_6_1, SWS_STALL_AT_PASS, KSWAPD, writing);
	CHECK(decision.set == (SWS_STALL_TAIL_DIRTY | SWS_STALL_WRITEBACK));
	decision = decide(SWS_STALL_6_1, SWS_STALL_AT_PASS, KSWAPD, cycling);
	CHECK(decision.set == SWS_STALL_CONGESTED);
	CHECK(decision.sleeps == 1 << SWS_STALL_SLEEP_WRITEBACK);
	decision = decide(SWS_STALL_6_1, SWS_STALL_AT_PASS, DIRECT, cycling);
	CHECK(decision.set == 0 && decision.sleeps == 0);
	decision = decide(SWS_STALL_6_1, SWS_STALL_AT_PASS, DIRECT | SWS_STALL_MEMCG, cycling);
	CHECK(decision.set == SWS_STALL_CONGESTED);
	CHECK(decision.sleeps == 1 << SWS_STALL_SLEEP_CONGESTED);
	/* The older sets do not decide there. */
	decision = decide(SWS_STALL_3_11, SWS_STALL_AT_PASS, KSWAPD, cycling);
	CHECK(decision.set == 0 && decision.acts == 0);
}

static void a_round_ends_in_a_nap_or_with_noprogress(void)
{
	struct sws_stall_context context = { SWS_STALL_SERIES_4, DIRECT, 9, 0 };
	struct sws_stall_round round = { .scanned = 100, .reclaimed = 3, .wanted = 32 };
	struct sws_stall_decision decision;

	CHECK(sws_stall_decide_round(&context, &round, &decision) == SWS_OK);
	CHECK(decision.sleeps == 1 << SWS_STALL_SLEEP_WAIT_IFF_CONGESTED);
	context.set = SWS_STALL_SERIES_5;
	CHECK(sws_stall_decide_round(&context, &round, &decision) == SWS_OK);
	CHECK(decision.sleeps == 0);
	context.set = SWS_STALL_6_1;
	context.priority = 1;
	CHECK(sws_stall_decide_round(&context, &round, &decision) == SWS_OK);
	CHECK(decision.sleeps == 0);
	round.reclaimed = 0;
	CHECK(sws_stall_decide_round(&context, &round, &decision) == SWS_OK);
	CHECK(decision.sleeps == 1 << SWS_STALL_SLEEP_NOPROGRESS);
}

static void throttles_may_be_skipped(void)
{
	struct sws_stall_sleeper sleeper = { .reclaimable = 100, .write_pending = 51, .hz = 250 };
	enum sws_stall_skip skipped = SWS_STALL_SLEEPS;
	uint64_t us = 0;

	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_WRITEBACK, &sleeper, &us, &skipped));
	CHECK(us == 100000);
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_ISOLATED, &sleeper, &us, &skipped));
	CHECK(us == 20000);
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_CONGESTED, &sleeper, &us, &skipped));
	CHECK(us == 4000 && skipped == SWS_STALL_SLEEPS);
	sleeper.write_pending = 50;
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_NOPROGRESS, &sleeper, &us, &skipped));
	CHECK(us == 0 && skipped == SWS_STALL_SKIPPED_FEW_WRITES);
	sleeper.kthread = true;
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_WRITEBACK, &sleeper, &us, &skipped));
	CHECK(us == 0 && skipped == SWS_STALL_SKIPPED_KTHREAD);
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_CONGESTION_WAIT, &sleeper, &us, &skipped));
	CHECK(us == 100000 && skipped == SWS_STALL_SLEEPS);
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_WAIT_IFF_CONGESTED, &sleeper, &us, &skipped));
	CHECK(us == 0 && skipped == SWS_STALL_SKIPPED_NO_DEVICE);
	sleeper.congested_devices = 1;
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_WAIT_IFF_CONGESTED, &sleeper, &us, &skipped));
	CHECK(us == 0 && skipped == SWS_STALL_SKIPPED_NO_FLAG);
	sleeper.flags = SWS_STALL_CONGESTED;
	CHECK(!sws_stall_sleep_length(SWS_STALL_SLEEP_WAIT_IFF_CONGESTED, &sleeper, &us, &skipped));
	CHECK(us == 100000 && skipped == SWS_STALL_SLEEPS);
	sleeper.hz = 0;
	CHECK(sws_stall_sleep_length(SWS_STALL_SLEEP_WRITEBACK, &sleeper, &us, &skipped) ==
	      SWS_ERROR_BAD_ARGUMENT);
}

static void what_cannot_be_is_named(void)
{
	struct sws_stall_context context = { SWS_STALL_6_1, KSWAPD, 13, 0 };
	struct sws_stall_list list = begin(SWS_STALL_6_1, KSWAPD, 12, 0);

	CHECK(sws_stall_check(&context) == SWS_STALL_BAD_PRIORITY);
	context.priority = 12;
	context.flags = 8;
	CHECK(sws_stall_check(&context) == SWS_STALL_UNKNOWN_FLAGS);
	context.flags = 0;
	context.caller = SWS_STALL_LEGACY;
	CHECK(sws_stall_check(&context) == SWS_STALL_LEGACY_WITHOUT_MEMCG);
	context.set = (enum sws_stall_set)99;
	CHECK(sws_stall_check(&context) == SWS_STALL_UNKNOWN_SET);
	CHECK(sws_stall_begin(&context, true, 32, &list) == SWS_ERROR_BAD_ARGUMENT);
	context.set = SWS_STALL_6_1;
	context.caller = KSWAPD;
	CHECK(sws_stall_begin(&context, true, 0, &list) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_stall_meet(&list, 1 << 13, 1) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_stall_meet(&list, FILE_DIRTY, 0) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_stall_meet(&list, SWS_STALL_PAGE_BUFFERS | SWS_STALL_PAGE_NFS, 1) ==
	      SWS_ERROR_BAD_ARGUMENT);
	list.counts.unqueued_dirty = 1;
	CHECK(sws_stall_verify(&list, &(const char *){ NULL }) == SWS_ERROR_BROKEN);
}

/* The caller owns context and list: an unknown set would be read past the table, a shift be undefined. */
static void an_unknown_set_or_priority_is_refused_everywhere(void)
{
	const struct sws_stall_context good = { .set = SWS_STALL_6_1, .priority = 12 };
	const struct sws_stall_counts counts = { .taken = 1 };
	static const enum sws_stall_state states[] = {
		SWS_STALL_STATE_PAGE,    SWS_STALL_STATE_ASLEEP,  SWS_STALL_STATE_WAITING,
		SWS_STALL_STATE_GOES_ON, SWS_STALL_STATE_PAGEOUT,
	};

	for (int i = 0; i < 2; i++) {
		struct sws_stall_list list;
		struct sws_stall_decision decision;
		struct sws_stall_context bad = good;

		if (i)
			bad.priority = SWS_STALL_PRIORITY_MAX + 1;
		else
			bad.set = (enum sws_stall_set)1000;
		if (!i)
			CHECK(sws_stall_check_counts(&bad, SWS_STALL_AT_LIST, &counts) ==
			      SWS_STALL_UNKNOWN_SET);
		CHECK(sws_stall_begin(&good, true, 1, &list) == SWS_OK);
		list.context = bad;
		for (unsigned int n = 0; n < sizeof(states) / sizeof(*states); n++) {
			list.state = states[n];
			CHECK(sws_stall_meet(&list, 0, 1) == SWS_ERROR_BAD_ARGUMENT);
			CHECK(sws_stall_slept(&list, false) == SWS_ERROR_BAD_ARGUMENT);
			CHECK(sws_stall_waited(&list) == SWS_ERROR_BAD_ARGUMENT);
			CHECK(sws_stall_dirty(&list) == SWS_ERROR_BAD_ARGUMENT);
			CHECK(sws_stall_paged_out(&list, true) == SWS_ERROR_BAD_ARGUMENT);
			CHECK(sws_stall_end(&list, &decision) == SWS_ERROR_BAD_ARGUMENT);
		}
	}
}

static void counters_that_contradict_each_other_are_refused(void)
{
	const struct sws_stall_context context = { SWS_STALL_6_1, KSWAPD, 12, 0 };
	const struct sws_stall_context device = { SWS_STALL_3_11, KSWAPD, 12, 0 };
	const struct sws_stall_context legacy = { SWS_STALL_6_1,
						  DIRECT | SWS_STALL_MEMCG | SWS_STALL_LEGACY, 12,
						  0 };
	const struct sws_stall_counts empty = { 0 };
	const struct sws_stall_counts unqueued = { .unqueued_dirty = 2, .dirty = 1, .taken = 9 };
	const struct sws_stall_counts dirty = { .dirty = 10, .taken = 9 };
	const struct sws_stall_counts congested = { .congested = 1, .taken = 9 };
	const struct sws_stall_counts cases = { .writeback = 5, .immediate = 5, .taken = 9 };
	const struct sws_stall_counts files = { .taken = 9, .file_taken = 10 };
	struct sws_stall_decision decision;

#define PROBLEM(context, counts) sws_stall_check_counts(&(context), SWS_STALL_AT_LIST, &(counts))
	CHECK(PROBLEM(context, empty) == SWS_STALL_EMPTY_LIST);
	CHECK(PROBLEM(context, unqueued) == SWS_STALL_UNQUEUED_ABOVE_DIRTY);
	CHECK(PROBLEM(context, dirty) == SWS_STALL_DIRTY_ABOVE_TAKEN);
	CHECK(PROBLEM(context, congested) == SWS_STALL_CONGESTED_ABOVE_DIRTY);
	CHECK(PROBLEM(context, cases) == SWS_STALL_WRITEBACK_ABOVE_TAKEN);
	CHECK(PROBLEM(context, files) == SWS_STALL_FILE_ABOVE_TAKEN);
	/*
	 * A clean page on a congested device counts in 3.11; one that is tested again counts twice.
	 */
	CHECK(PROBLEM(device, congested) == SWS_STALL_NO_PROBLEM);
	CHECK(PROBLEM(legacy, dirty) == SWS_STALL_NO_PROBLEM);
	/* A pass may have isolated no pages. */
	CHECK(sws_stall_decide(&context, SWS_STALL_AT_PASS, &empty, &decision) == SWS_OK);
	CHECK(sws_stall_decide(&context, SWS_STALL_AT_LIST, &empty, &decision) ==
	      SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_stall_decide(&context, SWS_STALL_AT_ROUND, &empty, &decision) ==
	      SWS_ERROR_BAD_ARGUMENT);
}

static void nfs_answers_for_its_pages(void)
{
	const uint16_t dirty = SWS_STALL_PAGE_FS_DIRTY;
	const uint16_t writeback = SWS_STALL_PAGE_FS_WRITEBACK;

	CHECK(sws_stall_ask_nfs(false, false, false, true, true) == writeback);
	CHECK(sws_stall_ask_nfs(false, false, false, false, true) == dirty);
	CHECK(sws_stall_ask_nfs(false, false, true, true, true) == 0);
	CHECK(sws_stall_ask_nfs(true, true, true, false, false) == (dirty | writeback));
}

int main(void)
{
	RUN(case_1_of_mmotm_goes_on_with_a_page_that_is_still_being_written);
	RUN(patch_1_keeps_that_page);
	RUN(patch_3_counts_it_and_stalls_when_the_list_is_over);
	RUN(case_3_waits_and_goes_on_or_meets_the_page_anew);
	RUN(dirty_pages_are_counted_late_or_at_the_top);
	RUN(a_huge_page_counts_as_one_until_6_1_counts_its_pages);
	RUN(a_pass_of_6_1_is_decided_by_sums);
	RUN(a_round_ends_in_a_nap_or_with_noprogress);
	RUN(throttles_may_be_skipped);
	RUN(what_cannot_be_is_named);
	RUN(an_unknown_set_or_priority_is_refused_everywhere);
	RUN(counters_that_contradict_each_other_are_refused);
	RUN(nfs_answers_for_its_pages);
	return 0;
}
