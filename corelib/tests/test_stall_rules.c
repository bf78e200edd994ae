/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/stall_rules.h"

#include "check.h"

#include <string.h>

static const struct sws_stall_rules *row(enum sws_stall_set set)
{
	const struct sws_stall_rules *rules = sws_stall_rules_of(set);

	CHECK(rules);
	return rules;
}

/*
 * The letters of a list's program, in order: flags D W C, w for wait_iff_congested, s for a forced
 * stall.
 */
static void spell(const struct sws_stall_act *acts, char *letters)
{
	for (; acts->does; acts++) {
		if (acts->does == SWS_STALL_DOES_SET)
			*letters = acts->what == SWS_STALL_TAIL_DIRTY  ? 'D'
				   : acts->what == SWS_STALL_WRITEBACK ? 'W'
								       : 'C';
		else if (acts->does == SWS_STALL_DOES_SLEEP)
			*letters = acts->what == SWS_STALL_SLEEP_WAIT_IFF_CONGESTED ? 'w' : 's';
		else
			*letters = 'f';
		letters++;
	}
	*letters = '\0';
}

static void each_set_has_a_name_a_row_and_programs_that_end(void)
{
	uint32_t sets = 0;

	for (; sws_stall_set_name((enum sws_stall_set)sets); sets++)
		for (uint32_t place = 0; place < SWS_STALL_PLACES; place++)
			for (uint32_t i = 0; i < SWS_STALL_ACTS_MAX; i++) {
				const struct sws_stall_act *act =
					&row((enum sws_stall_set)sets)->acts[place][i];

				CHECK(act->does <= SWS_STALL_DOES_WAKE);
				CHECK(act->test <= SWS_STALL_TEST_NO_PROGRESS);
				CHECK(act->number <= SWS_STALL_N_SHARE);
				CHECK(act->of <= SWS_STALL_N_SHARE);
				CHECK(!act->does == !act->scope);
			}
	CHECK(sets == SWS_STALL_6_1 + 1);
	CHECK(!sws_stall_rules_of((enum sws_stall_set)sets));
	CHECK(!strcmp(sws_stall_set_name(SWS_STALL_MMOTM), "mmotm"));
	CHECK(!strcmp(sws_stall_sleep_name(SWS_STALL_SLEEP_CONGESTION_WAIT), "congestion_wait"));
	CHECK(!sws_stall_sleep_name((enum sws_stall_sleep)6));
}

static void each_patch_of_the_series_moves_what_its_diff_moves(void)
{
	static const char *const programs[] = {
		[SWS_STALL_3_9] = "Cw",         [SWS_STALL_MMOTM] = "CwWD",
		[SWS_STALL_SERIES_1] = "CwWD",  [SWS_STALL_SERIES_2] = "CwWsD",
		[SWS_STALL_SERIES_3] = "CwWDs", [SWS_STALL_SERIES_4] = "CWwDs",
		[SWS_STALL_SERIES_5] = "WCDsw", [SWS_STALL_SERIES_6] = "WCDsw",
		[SWS_STALL_SERIES_7] = "WCDsw", [SWS_STALL_SERIES_8] = "WCDsw",
		[SWS_STALL_3_11] = "WCDsw",     [SWS_STALL_6_1] = "fs",
	};
	char letters[SWS_STALL_ACTS_MAX + 1];

	for (uint32_t set = 0; set <= SWS_STALL_6_1; set++) {
		const struct sws_stall_act *acts = row((enum sws_stall_set)set)->acts[0];
		struct sws_stall_act program[SWS_STALL_ACTS_MAX + 1] = { 0 };

		memcpy(program, acts, SWS_STALL_ACTS_MAX * sizeof(*acts));
		spell(program, letters);
		CHECK(!strcmp(letters, programs[set]));
	}
}

static void flags_are_cleared_where_each_kernel_clears_them(void)
{
	const uint8_t both = SWS_STALL_TAIL_DIRTY | SWS_STALL_CONGESTED;

	CHECK(sws_stall_clears(SWS_STALL_3_9, SWS_STALL_CLEAR_BALANCED) == SWS_STALL_CONGESTED);
	CHECK(sws_stall_clears(SWS_STALL_3_9, SWS_STALL_CLEAR_SHRUNK) == 0);
	for (uint32_t set = SWS_STALL_MMOTM; set <= SWS_STALL_3_11; set++) {
		const enum sws_stall_set it = (enum sws_stall_set)set;
		const uint8_t by_case_1 = set <= SWS_STALL_SERIES_2 ? SWS_STALL_WRITEBACK : 0;

		CHECK(sws_stall_clears(it, SWS_STALL_CLEAR_BALANCED) == both);
		CHECK(sws_stall_clears(it, SWS_STALL_CLEAR_SHRUNK) == SWS_STALL_WRITEBACK);
		CHECK(sws_stall_clears(it, SWS_STALL_CLEAR_IMMEDIATE) == by_case_1);
		CHECK(sws_stall_clears(it, SWS_STALL_CLEAR_DIRECT) == 0);
	}
	CHECK(sws_stall_clears(SWS_STALL_6_1, SWS_STALL_CLEAR_BALANCED) == SWS_STALL_FLAGS);
	CHECK(sws_stall_clears(SWS_STALL_6_1, SWS_STALL_CLEAR_SHRUNK) == 0);
	CHECK(sws_stall_clears(SWS_STALL_6_1, SWS_STALL_CLEAR_DIRECT) == SWS_STALL_CONGESTED);
	CHECK(sws_stall_clears(SWS_STALL_6_1, (enum sws_stall_clear)SWS_STALL_CLEARS) == 0);
	CHECK(sws_stall_clears((enum sws_stall_set)99, SWS_STALL_CLEAR_BALANCED) == 0);
}

int main(void)
{
	RUN(each_set_has_a_name_a_row_and_programs_that_end);
	RUN(each_patch_of_the_series_moves_what_its_diff_moves);
	RUN(flags_are_cleared_where_each_kernel_clears_them);
	return 0;
}
