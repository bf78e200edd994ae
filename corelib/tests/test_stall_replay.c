/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/stall_replay.h"

#include "check.h"

#include <string.h>

enum {
	ROWS = 6,
	FILE_PAGE = SWS_STALL_PAGE_FILE,
	FILE_DIRTY = FILE_PAGE | SWS_STALL_PAGE_DIRTY,
	WRITING = FILE_PAGE | SWS_STALL_PAGE_WRITEBACK | SWS_STALL_PAGE_UNDER_WRITEBACK,
	MARKED = WRITING | SWS_STALL_PAGE_RECLAIM | SWS_STALL_PAGE_MARKED,
};

/* The list of the header's example, and after it one with a single page. */
static const uint16_t pages[ROWS] = { FILE_DIRTY, WRITING, FILE_PAGE, 0, 0, FILE_DIRTY };
static const uint8_t steps[ROWS] = {
	SWS_STALL_STEP_DIRTY, SWS_STALL_STEP_WRITEBACK_2, SWS_STALL_STEP_FREED,
	SWS_STALL_STEP_LOCK,  SWS_STALL_STEP_WRITTEN,     SWS_STALL_STEP_DIRTY,
};
static const uint64_t ends[] = { 5, 6 };
static const uint8_t callers[] = { SWS_STALL_KSWAPD, SWS_STALL_KSWAPD };
static const uint8_t priorities[] = { 12, 12 };
static const uint8_t files[] = { true, true };
static const uint32_t taken[] = { 5, 1 };
static const uint32_t nodes[] = { 0, 0 };

static struct sws_stall_rows rows_of_two(void)
{
	return (struct sws_stall_rows){ .page = pages, .step = steps };
}

static struct sws_stall_replay *make(enum sws_stall_set set)
{
	struct sws_stall_replay_config config;
	struct sws_stall_replay *replay = NULL;

	sws_stall_replay_config_init(&config);
	config.set = set;
	CHECK(sws_stall_replay_new(&config, &replay) == SWS_OK);
	return replay;
}

/* Replays two lists with the rules of a set. */
static int run(enum sws_stall_set set, const struct sws_stall_rows *rows, uint64_t n_lists,
	       const struct sws_stall_lists *lists, struct sws_stall_results *results)
{
	struct sws_stall_replay *replay = make(set);
	const char *reason = NULL;
	const int error = sws_stall_replay_lists(replay, rows, n_lists, lists, results);

	CHECK(sws_stall_replay_verify(replay, &reason) == SWS_OK && !reason);
	sws_stall_replay_free(replay);
	return error;
}

/* The flags are carried over by node, starting with the given ones. */
static struct sws_stall_lists two_lists(uint8_t *node_flags)
{
	return (struct sws_stall_lists){
		.ends = ends,
		.caller = callers,
		.priority = priorities,
		.file = files,
		.taken = taken,
		.node = nodes,
		.node_flags = node_flags,
		.n_nodes = 1,
	};
}

static void the_picture_of_the_header_is_what_comes_out(void)
{
	const struct sws_stall_rows rows = rows_of_two();
	uint8_t node_flags = 0;
	const struct sws_stall_lists lists = two_lists(&node_flags);
	struct sws_stall_result found[2];
	uint8_t branches[ROWS];
	struct sws_stall_results results = { .lists = found, .branches = branches };

	CHECK(run(SWS_STALL_6_1, &rows, 2, &lists, &results) == SWS_OK);
	CHECK(found[0].counts.dirty == 2 && found[0].counts.unqueued_dirty == 1);
	CHECK(found[0].counts.writeback == 1 && found[0].counts.taken == 5);
	CHECK(found[0].writes == 1 && found[0].unrecorded == 0);
	CHECK(found[1].decision.acts == 1 && found[1].decision.set == 0);
	CHECK(branches[0] == SWS_STALL_BRANCH_NOT_WRITTEN &&
	      branches[1] == SWS_STALL_BRANCH_CASE_2);
	CHECK(branches[2] == SWS_STALL_BRANCH_GOES_ON && branches[3] == SWS_STALL_BRANCH_UNMET);
	CHECK(branches[4] == SWS_STALL_BRANCH_WRITE);
	CHECK(run(SWS_STALL_SERIES_1, &rows, 2, &lists, &results) == SWS_OK);
	CHECK(found[0].counts.dirty == 2 && found[0].counts.unqueued_dirty == 2);
	/* All of the second list is unqueued: the flag is set for the next list. */
	CHECK(found[1].decision.set == SWS_STALL_TAIL_DIRTY && node_flags == SWS_STALL_TAIL_DIRTY);
}

static void flags_are_led_on_by_node_and_cleared_by_what_clears_them(void)
{
	static const uint8_t clears[] = { 0, 1 << SWS_STALL_CLEAR_BALANCED };
	const struct sws_stall_rows rows = rows_of_two();
	uint8_t node_flags = SWS_STALL_TAIL_DIRTY | SWS_STALL_WRITEBACK;
	struct sws_stall_lists lists = two_lists(&node_flags);
	struct sws_stall_result found[2];
	struct sws_stall_results results = { .lists = found };

	lists.clears = clears;
	CHECK(run(SWS_STALL_SERIES_8, &rows, 2, &lists, &results) == SWS_OK);
	CHECK(found[0].flags_before == (SWS_STALL_TAIL_DIRTY | SWS_STALL_WRITEBACK));
	/* With the flag the dirty page is written, which 6.1 did not do; its result is unknown. */
	CHECK(found[0].writes == 2 && found[0].unrecorded == 1);
	CHECK(found[1].flags_before == SWS_STALL_WRITEBACK && found[1].writes == 0);
	CHECK(found[1].decision.set == SWS_STALL_TAIL_DIRTY);
	CHECK(found[1].decision.sleeps == 1 << SWS_STALL_SLEEP_CONGESTION_WAIT);
}

static void a_page_that_waited_is_in_the_next_row_again(void)
{
	static const uint16_t waiting[] = { MARKED, FILE_DIRTY };
	static const uint8_t way[] = { SWS_STALL_STEP_WRITEBACK_3, SWS_STALL_STEP_DIRTY };
	static const uint64_t end[] = { 2 };
	static const uint8_t legacy[] = { SWS_STALL_MEMCG | SWS_STALL_LEGACY | SWS_STALL_IO |
					  SWS_STALL_FS };
	const struct sws_stall_rows rows = { .page = waiting, .step = way };
	uint8_t node_flags = 0;
	struct sws_stall_lists lists = two_lists(&node_flags);
	struct sws_stall_result found;
	struct sws_stall_results results = { .lists = &found };

	lists.ends = end;
	lists.caller = legacy;
	CHECK(run(SWS_STALL_6_1, &rows, 1, &lists, &results) == SWS_OK);
	CHECK(found.counts.dirty == 2 && found.unrecorded == 0);
	/* In 2013 it goes on from there, and counts once. */
	CHECK(run(SWS_STALL_3_11, &rows, 1, &lists, &results) == SWS_OK);
	CHECK(found.counts.dirty == 1 && found.unrecorded == 0);
	CHECK(run(SWS_STALL_3_9, &rows, 1, &lists, &results) == SWS_OK);
	CHECK(found.counts.dirty == 1 && found.unrecorded == 0);
}

static void a_row_or_a_list_at_fault_is_named(void)
{
	uint16_t bad_page[ROWS];
	uint8_t bad_step[ROWS];
	static const uint32_t no_node[] = { 0, 1 };
	static const uint32_t nothing[] = { 5, 0 };
	uint8_t node_flags = 0;
	struct sws_stall_rows rows = { .page = bad_page, .step = bad_step };
	struct sws_stall_lists lists = two_lists(&node_flags);
	struct sws_stall_result found[2];
	struct sws_stall_results results = { .lists = found };

#define REFUSED(wrong, at_list, at_row)                                                            \
	CHECK(run(SWS_STALL_6_1, &rows, 2, &lists, &results) == SWS_ERROR_BAD_ARGUMENT &&          \
	      results.problem == (wrong) && results.list == (at_list) && results.row == (at_row))

	memcpy(bad_page, pages, sizeof(pages));
	memcpy(bad_step, steps, sizeof(steps));
	bad_page[2] = 1 << 13;
	REFUSED(SWS_STALL_UNKNOWN_PAGE_BITS, 0, 2);
	bad_page[2] = 0;
	bad_step[5] = 20;
	REFUSED(SWS_STALL_UNKNOWN_STEP, 1, 5);
	bad_step[5] = 255;
	REFUSED(SWS_STALL_UNKNOWN_STEP, 1, 5);
	bad_step[5] = SWS_STALL_STEP_WRITEBACK_1;
	REFUSED(SWS_STALL_STEP_WITHOUT_WRITEBACK, 1, 5);
	bad_step[5] = SWS_STALL_STEP_FREED;
	lists.node = no_node;
	REFUSED(SWS_STALL_UNKNOWN_NODE, 1, 5);
	lists.node = nodes;
	lists.taken = nothing;
	REFUSED(SWS_STALL_EMPTY_LIST, 1, 5);
}

static void counters_alone_decide_as_well(void)
{
	static const uint8_t flags[] = { 0, 0 };
	struct sws_stall_counts counts[] = {
		{ .writeback = 4, .taken = 4 },
		{ .dirty = 1, .unqueued_dirty = 2, .taken = 4 },
	};
	const struct sws_stall_summed passes = { callers, priorities, flags, counts };
	struct sws_stall_decision decisions[2];
	enum sws_stall_problem problem = SWS_STALL_NO_PROBLEM;
	uint64_t row = 0;

	CHECK(sws_stall_replay_counts(SWS_STALL_6_1, SWS_STALL_AT_PASS, 2, &passes, decisions, &row,
				      &problem) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(row == 1 && problem == SWS_STALL_UNQUEUED_ABOVE_DIRTY);
	CHECK(decisions[0].set == (SWS_STALL_WRITEBACK | SWS_STALL_TAIL_DIRTY));
	counts[1].dirty = 2;
	CHECK(sws_stall_replay_counts(SWS_STALL_6_1, SWS_STALL_AT_PASS, 2, &passes, decisions, &row,
				      &problem) == SWS_OK);
	CHECK(row == 2 && problem == SWS_STALL_NO_PROBLEM && decisions[1].set == 0);
}

static void a_list_of_more_pages_than_a_byte_counts_is_counted(void)
{
	enum { MANY = 600 };
	uint16_t many_pages[MANY];
	uint8_t many_steps[MANY];
	uint32_t sizes[MANY];
	static const uint64_t end[] = { MANY };
	static const uint32_t many_taken[] = { MANY + 511 };
	const struct sws_stall_rows rows = { many_pages, many_steps, sizes, NULL };
	uint8_t node_flags = SWS_STALL_TAIL_DIRTY;
	struct sws_stall_lists lists = two_lists(&node_flags);
	struct sws_stall_result found;
	struct sws_stall_results results = { .lists = &found };

	for (uint32_t row = 0; row < MANY; row++) {
		many_pages[row] = row % 2 ? FILE_DIRTY : WRITING;
		many_steps[row] =
			row % 2 ? SWS_STALL_STEP_PAGEOUT_KEEP : SWS_STALL_STEP_WRITEBACK_2;
		sizes[row] = row == 1 ? 512 : 1;
	}
	lists.ends = end;
	lists.taken = many_taken;
	CHECK(run(SWS_STALL_SERIES_2, &rows, 1, &lists, &results) == SWS_OK);
	CHECK(found.counts.dirty == MANY && found.counts.unqueued_dirty == MANY / 2);
	CHECK(found.counts.writeback == MANY / 2 && found.writes == MANY / 2);
	/* A huge page counts as 512 in 6.1, where no unmarked page is written. */
	CHECK(run(SWS_STALL_6_1, &rows, 1, &lists, &results) == SWS_OK);
	CHECK(found.counts.dirty == MANY + 511 && found.counts.unqueued_dirty == MANY / 2 + 511);
	CHECK(found.counts.writeback == MANY / 2 && found.writes == 0);
	CHECK(run(SWS_STALL_MMOTM, &rows, 1, &lists, &results) == SWS_OK);
	CHECK(found.counts.dirty == MANY / 2 && found.counts.congested == MANY / 2);
	sizes[599] = 0;
	CHECK(run(SWS_STALL_3_9, &rows, 1, &lists, &results) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(results.problem == SWS_STALL_NO_PAGES && results.row == 599);
}

static int replay_two_lists(const struct sws_allocator *allocator)
{
	const struct sws_stall_replay_config config = { SWS_STALL_SERIES_8, allocator };
	const struct sws_stall_rows rows = rows_of_two();
	uint8_t node_flags = 0;
	const struct sws_stall_lists lists = two_lists(&node_flags);
	struct sws_stall_result found[2];
	struct sws_stall_results results = { .lists = found };
	struct sws_stall_replay *replay = NULL;
	int error = sws_stall_replay_new(&config, &replay);

	CHECK(!error == !!replay);
	if (!error)
		error = sws_stall_replay_lists(replay, &rows, 2, &lists, &results);
	sws_stall_replay_free(replay);
	return error;
}

static void running_out_of_memory_leaks_and_breaks_nothing(void)
{
	const struct sws_stall_replay_config config = { (enum sws_stall_set)99, NULL };
	struct sws_stall_replay *replay = NULL;

	check_each_allocation_failing(replay_two_lists);
	CHECK(sws_stall_replay_new(&config, &replay) == SWS_ERROR_BAD_CONFIG && !replay);
	sws_stall_replay_free(NULL);
}

static void steps_have_the_names_of_the_column(void)
{
	CHECK(!strcmp(sws_stall_step_name(SWS_STALL_STEP_LOCK), "lock"));
	CHECK(!strcmp(sws_stall_step_name(SWS_STALL_STEP_REFERENCE_KEEP), "reference_keep"));
	CHECK(!strcmp(sws_stall_step_name(SWS_STALL_STEP_FREED), "freed"));
	CHECK(!sws_stall_step_name((enum sws_stall_step)(SWS_STALL_STEP_FREED + 1)));
}

int main(void)
{
	RUN(the_picture_of_the_header_is_what_comes_out);
	RUN(flags_are_led_on_by_node_and_cleared_by_what_clears_them);
	RUN(a_page_that_waited_is_in_the_next_row_again);
	RUN(a_row_or_a_list_at_fault_is_named);
	RUN(counters_alone_decide_as_well);
	RUN(a_list_of_more_pages_than_a_byte_counts_is_counted);
	RUN(running_out_of_memory_leaks_and_breaks_nothing);
	RUN(steps_have_the_names_of_the_column);
	return 0;
}
