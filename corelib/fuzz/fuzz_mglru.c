/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_mglru.c - rows of choices and of turns with any counters, sizes and switches, in
 * possible and impossible states, with a user's function that answers what it likes.
 */
#include "input.h"

#include "swapsim/mglru.h"

enum { ROWS = 8, COUNTERS = 40, RISES = 24, SIZES = 8 };

/* The answer of the user's function. */
static int64_t answer;

static int64_t choose(int64_t swappiness, int64_t io, int64_t anon_generations,
		      int64_t file_generations, int64_t anon_refaulted, int64_t anon_total,
		      int64_t file_refaulted, int64_t file_total, int64_t anon_first_refaulted,
		      int64_t anon_first_total, int64_t file_first_refaulted,
		      int64_t file_first_total)
{
	MUST(swappiness >= 0 && swappiness <= SWS_MGLRU_ANON_ONLY && (io == 0 || io == 1));
	MUST(anon_generations >= SWS_MGLRU_GENS_MIN && anon_generations <= SWS_MGLRU_GENS_MAX);
	MUST(file_generations >= SWS_MGLRU_GENS_MIN && file_generations <= SWS_MGLRU_GENS_MAX);
	MUST(anon_first_refaulted <= anon_refaulted && anon_first_total <= anon_total);
	MUST(file_first_refaulted <= file_refaulted && file_first_total <= file_total);
	return answer;
}

/* What both tables have, in columns. */
struct drawn {
	uint64_t max_seq[ROWS], min_seq[2][ROWS];
	int32_t swappiness[ROWS];
	uint32_t numbers[COUNTERS + RISES + 5][ROWS];
	uint8_t bytes[8][ROWS];
	uint64_t pages[2][ROWS];
};

static void draw(struct input *input, struct drawn *drawn)
{
	for (int row = 0; row < ROWS; row++) {
		drawn->max_seq[row] = input_or64(input, 5);
		for (int type = 0; type < 2; type++) {
			drawn->min_seq[type][row] =
				input_or64(input, drawn->max_seq[row] - 1 - input_below(input, 3));
			drawn->pages[type][row] = input_number(input);
		}
		drawn->swappiness[row] =
			(int32_t)input_or(input, input_below(input, SWS_MGLRU_ANON_ONLY + 1));
		for (int at = 0; at < COUNTERS + RISES + 5; at++)
			drawn->numbers[at][row] = input_bit(input) ? input_number32(input) : 0;
		for (int at = 0; at < 8; at++)
			drawn->bytes[at][row] = (uint8_t)input_or(input, input_below(input, 3));
	}
}

static void run_choices(const struct sws_mglru_rules *rules, const struct drawn *drawn)
{
	struct sws_mglru_choice_rows rows = {
		.max_seq = drawn->max_seq,
		.min_seq = { drawn->min_seq[0], drawn->min_seq[1] },
		.swappiness = drawn->swappiness,
		.io = drawn->bytes[0],
		.scan = { drawn->bytes[1], drawn->bytes[2] },
		.result = drawn->numbers[COUNTERS + RISES],
	};
	struct sws_mglru_chosen chosen[ROWS];
	uint64_t at = 0;
	int error = SWS_OK;

	for (int i = 0; i < COUNTERS; i++)
		rows.counters[i] = drawn->numbers[i];
	for (int i = 0; i < RISES; i++)
		rows.more[i] = drawn->numbers[COUNTERS + i];
	for (int i = 0; i < 2; i++) {
		rows.pages[i] = drawn->numbers[COUNTERS + RISES + 1 + i];
		rows.taken[i] = drawn->numbers[COUNTERS + RISES + 3 + i];
	}
	error = sws_mglru_choices(rules, ROWS, &rows, chosen, &at);
	MUST(error == SWS_OK ? at == ROWS : at < ROWS);
	MUST(error != SWS_ERROR_BAD_CONFIG || rules->choose);
	for (uint64_t row = 0; row < at; row++) {
		MUST(chosen[row].type < SWS_MGLRU_NEITHER);
		MUST(chosen[row].first <= SWS_MGLRU_NEITHER);
		MUST(sws_mglru_term_name((enum sws_mglru_term)chosen[row].term));
		MUST(chosen[row].tier < SWS_MGLRU_TIERS);
	}
}

static void run_steps(const struct sws_mglru_rules *rules, const struct drawn *drawn)
{
	struct sws_mglru_step_rows rows = {
		.call = drawn->numbers[SIZES * 2],
		.swappiness = drawn->swappiness,
		.priority = drawn->bytes[0],
		.root = drawn->bytes[1],
		.online = drawn->bytes[2],
		.shielded = drawn->bytes[3],
		.aged = drawn->bytes[4],
		.evicted = drawn->bytes[5],
		.batch = drawn->numbers[SIZES * 2 + 1],
		.scanned = drawn->numbers[SIZES * 2 + 2],
		.stop = drawn->bytes[6],
		.freed = drawn->pages[0],
		.wanted = drawn->pages[1],
		.order = drawn->bytes[7],
	};
	struct sws_mglru_size_rows *const states[2] = { &rows.before, &rows.acts };
	struct sws_mglru_stepped stepped[ROWS];
	uint64_t at = 0;
	int error = SWS_OK;

	for (int state = 0; state < 2; state++) {
		states[state]->max_seq = drawn->max_seq;
		for (int type = 0; type < 2; type++)
			states[state]->min_seq[type] = drawn->min_seq[type];
		for (int i = 0; i < SIZES; i++)
			states[state]->pages[i] = drawn->numbers[SIZES * state + i];
	}
	error = sws_mglru_steps(rules, ROWS, &rows, stepped, &at);
	MUST(error == SWS_OK ? at == ROWS : at < ROWS);
	for (uint64_t row = 0; row < at; row++)
		MUST(stepped[row].low <= stepped[row].high);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct sws_mglru_rules rules;
	struct drawn drawn;

	while (input.left) {
		MUST(sws_mglru_rules_init((enum sws_mglru_set)input_below(&input, 2), &rules) ==
		     SWS_OK);
		rules.controller = input_bit(&input);
		rules.few_refaults = input_or(&input, SWS_MGLRU_BATCH);
		rules.anon_gain = input_or(&input, 0);
		rules.file_gain = input_or(&input, 0);
		answer = (int64_t)input_or64(&input, input_below(&input, 2));
		rules.choose = input_bit(&input) ? choose : NULL;
		draw(&input, &drawn);
		run_choices(&rules, &drawn);
		run_steps(&rules, &drawn);
	}
	return 0;
}
