/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/mglru.h"

#include "check.h"

#include <string.h>

static struct sws_mglru_rules rules_of(enum sws_mglru_set set)
{
	struct sws_mglru_rules rules;

	CHECK(sws_mglru_rules_init(set, &rules) == SWS_OK);
	return rules;
}

static void names_and_sets_end(void)
{
	struct sws_mglru_rules rules;

	CHECK(!strcmp(sws_mglru_set_name(SWS_MGLRU_7_3), "7.3"));
	CHECK(!sws_mglru_set_name((enum sws_mglru_set)2));
	CHECK(!sws_mglru_type_name((enum sws_mglru_type)3));
	CHECK(!sws_mglru_term_name((enum sws_mglru_term)6));
	CHECK(sws_mglru_rules_init((enum sws_mglru_set)2, &rules) == SWS_ERROR_BAD_ARGUMENT);
}

/* Of both types 1,000 pages were evicted; so many of the first tier refaulted. */
static struct sws_mglru_state state_of(uint64_t anon, uint64_t file, int32_t swappiness)
{
	struct sws_mglru_state state = {
		.max_seq = 5, .min_seq = { 3, 3 }, .swappiness = swappiness, .io = true
	};

	state.sides[0].evicted[0] = state.sides[1].evicted[0] = 1000;
	state.sides[0].refaulted[0] = anon;
	state.sides[1].refaulted[0] = file;
	return state;
}

static void each_term_decides_its_cases(void)
{
	const struct {
		uint64_t anon, file;
		int32_t swappiness;
		enum sws_mglru_type type;
		enum sws_mglru_term term;
	} cases[] = {
		{ 100, 240, 60, SWS_MGLRU_ANON, SWS_MGLRU_BY_RATES },
		{ 500, 200, 60, SWS_MGLRU_FILE, SWS_MGLRU_BY_RATES },
		{ 100, 240, 10, SWS_MGLRU_FILE, SWS_MGLRU_BY_RATES },
		{ 0, 63, 199, SWS_MGLRU_FILE, SWS_MGLRU_BY_FEW },
		{ 0, 900, 1, SWS_MGLRU_FILE, SWS_MGLRU_BY_SWAPPINESS },
		{ 900, 0, 200, SWS_MGLRU_ANON, SWS_MGLRU_BY_SWAPPINESS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t set = 0; set < 2; set++) {
			const struct sws_mglru_rules rules = rules_of((enum sws_mglru_set)set);
			const struct sws_mglru_state state =
				state_of(cases[i].anon, cases[i].file, cases[i].swappiness);
			struct sws_mglru_choice choice;

			sws_mglru_choose(&rules, &state, &choice);
			CHECK(choice.type == cases[i].type);
			CHECK(choice.term == cases[i].term);
		}
}

static void the_kernels_differ_in_age_and_io(void)
{
	const struct sws_mglru_rules old = rules_of(SWS_MGLRU_6_12);
	const struct sws_mglru_rules new = rules_of(SWS_MGLRU_7_3);
	struct sws_mglru_state state = state_of(500, 200, 60);
	struct sws_mglru_choice choice;

	state.min_seq[SWS_MGLRU_ANON] = 2;
	sws_mglru_choose(&old, &state, &choice);
	CHECK(choice.type == SWS_MGLRU_ANON && choice.term == SWS_MGLRU_BY_AGE);
	sws_mglru_choose(&new, &state, &choice);
	CHECK(choice.type == SWS_MGLRU_FILE && choice.term == SWS_MGLRU_BY_RATES);
}

/* Answers file at one swappiness, and with no type at any other. */
static int64_t file_or_nothing(int64_t swappiness, int64_t io, int64_t anon_generations,
			       int64_t file_generations, int64_t anon_refaulted, int64_t anon_total,
			       int64_t file_refaulted, int64_t file_total,
			       int64_t anon_first_refaulted, int64_t anon_first_total,
			       int64_t file_first_refaulted, int64_t file_first_total)
{
	CHECK(io == 1 && anon_generations == 3 && file_generations == 3);
	CHECK(anon_refaulted == 500 && anon_total == 1007 && anon_first_refaulted == 500);
	CHECK(file_refaulted == 200 && file_total == 1000 && file_first_refaulted == 200);
	CHECK(anon_first_total == 1000 && file_first_total == 1000);
	return swappiness == 60 ? SWS_MGLRU_FILE : -1;
}

static void a_users_function_chooses_in_place_of_the_rules(void)
{
	struct sws_mglru_rules rules = rules_of(SWS_MGLRU_7_3);
	struct sws_mglru_state state = state_of(500, 200, 60);
	struct sws_mglru_choice choice;

	state.sides[SWS_MGLRU_ANON].protected_pages[0] = 7;
	rules.choose = file_or_nothing;
	sws_mglru_choose(&rules, &state, &choice);
	CHECK(choice.type == SWS_MGLRU_FILE && choice.term == SWS_MGLRU_BY_USER);
	state.swappiness = 61;
	sws_mglru_choose(&rules, &state, &choice);
	CHECK(choice.type == SWS_MGLRU_NEITHER);
}

static void aging_waits_for_two_generations_or_a_bad_spread(void)
{
	const struct sws_mglru_rules old = rules_of(SWS_MGLRU_6_12);
	const struct sws_mglru_rules new = rules_of(SWS_MGLRU_7_3);
	struct sws_mglru_sizes sizes = { .max_seq = 5, .min_seq = { 3, 3 } };

	sizes.pages[0][5 % 4] = sizes.pages[0][4 % 4] = sizes.pages[0][3] = 100;
	CHECK(sws_mglru_ages(&new, &sizes, 60, 11));
	CHECK(!sws_mglru_ages(&new, &sizes, 60, 12));
	CHECK(!sws_mglru_ages(&old, &sizes, 60, 11));
	sizes.pages[0][5 % 4] = 400;
	CHECK(sws_mglru_ages(&old, &sizes, 60, 11));
	CHECK(sws_mglru_scan_size(&new, &sizes, 60, 1, true) == 300);
	CHECK(sws_mglru_scan_size(&new, &sizes, 60, 1, false) == 600);
	/* A shift by 64 would be undefined. */
	CHECK(sws_mglru_scan_size(&new, &sizes, 60, 64, true) == 0);
	/* The last number that there is: found by the fuzzer. */
	sizes.max_seq = UINT64_MAX;
	sizes.min_seq[0] = sizes.min_seq[1] = UINT64_MAX - 2;
	CHECK(sws_mglru_scan_size(&new, &sizes, 60, 0, false) == 500);
	CHECK(!sws_mglru_ages(&old, &sizes, 60, 11));
}

/* One turn; all columns but those of the sizes and of the order are 0. */
static void an_order_that_no_kernel_has_is_refused(void)
{
	const struct sws_mglru_rules rules = rules_of(SWS_MGLRU_7_3);
	static const uint64_t zeros[1];
	const uint8_t *bytes = (const uint8_t *)zeros;
	const uint32_t *words = (const uint32_t *)zeros;
	const uint64_t max_seq = 5;
	const uint64_t min_seq = 3;
	const int32_t swappiness = 60;
	uint8_t order = 31;
	struct sws_mglru_size_rows sizes = { .max_seq = &max_seq,
					     .min_seq = { &min_seq, &min_seq } };
	struct sws_mglru_step_rows rows = {
		.call = words,
		.swappiness = &swappiness,
		.priority = bytes,
		.root = bytes,
		.online = bytes,
		.shielded = bytes,
		.aged = bytes,
		.evicted = bytes,
		.batch = words,
		.scanned = words,
		.stop = bytes,
		.freed = zeros,
		.wanted = zeros,
		.order = &order,
	};
	struct sws_mglru_stepped stepped;
	uint64_t row = 0;

	for (int i = 0; i < 2 * SWS_MGLRU_GENS_MAX; i++)
		sizes.pages[i] = (const void *)zeros;
	rows.before = rows.acts = sizes;
	CHECK(sws_mglru_steps(&rules, 1, &rows, &stepped, &row) == SWS_OK);
	order = 64;
	CHECK(sws_mglru_steps(&rules, 1, &rows, &stepped, &row) == SWS_ERROR_BAD_ARGUMENT);
}

int main(void)
{
	RUN(names_and_sets_end);
	RUN(each_term_decides_its_cases);
	RUN(the_kernels_differ_in_age_and_io);
	RUN(a_users_function_chooses_in_place_of_the_rules);
	RUN(aging_waits_for_two_generations_or_a_bad_spread);
	RUN(an_order_that_no_kernel_has_is_refused);
	return 0;
}
