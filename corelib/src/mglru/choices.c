/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mglru/choices.c - the choices of a recording, compared row by row. */
#include "swapsim/mglru.h"

enum {
	TIERS = SWS_MGLRU_TIERS,
	/* Columns of one counter. */
	EACH = 2 * TIERS,
	/* Counters in the columns, and among those that rose. */
	AVG_REFAULTED = 0,
	AVG_TOTAL = EACH,
	PROTECTED = 2 * EACH,
	EVICTED = 3 * EACH,
	REFAULTED = 4 * EACH,
	PROTECTED_MORE = 0,
	EVICTED_MORE = EACH,
	REFAULTED_MORE = 2 * EACH,
	/* As an address of a list that was not scanned. */
	NONE = SWS_MGLRU_NEITHER,
};

static void read_side(const struct sws_mglru_choice_rows *rows, uint64_t row, int type,
		      struct sws_mglru_side *side)
{
	for (int tier = 0; tier < TIERS; tier++) {
		const int at = type * TIERS + tier;

		side->refaulted[tier] = (uint64_t)rows->counters[AVG_REFAULTED + at][row] +
					rows->counters[REFAULTED + at][row];
		side->evicted[tier] = (uint64_t)rows->counters[AVG_TOTAL + at][row] +
				      rows->counters[EVICTED + at][row];
		side->protected_pages[tier] = rows->counters[PROTECTED + at][row];
	}
}

static void read_state(const struct sws_mglru_choice_rows *rows, uint64_t row,
		       struct sws_mglru_state *state)
{
	for (int type = 0; type < 2; type++) {
		read_side(rows, row, type, &state->sides[type]);
		state->min_seq[type] = rows->min_seq[type][row];
	}
	state->max_seq = rows->max_seq[row];
	state->swappiness = rows->swappiness[row];
	state->io = rows->io[row] != 0;
}

/* Whether evicted or refaulted rose during the call. */
static bool moved(const struct sws_mglru_choice_rows *rows, uint64_t row)
{
	uint32_t any = 0;

	for (int at = EVICTED_MORE; at < REFAULTED_MORE + EACH; at++)
		any |= rows->more[at][row];
	return any != 0;
}

/*
 * The extreme values between those before and after. Of each counter that may have risen, either
 * refaulted or evicted is raised: the choice is monotonic in both.
 */
enum corner {
	/* File pages are as likely as can be: anonymous pages refaulted, file pages were evicted. */
	FAVOURS_FILE,
	/* Anonymous pages are. */
	FAVOURS_ANON,
	/* The tier index is as low as can be: the first tiers were evicted, the others refaulted. */
	LOWEST_TIER,
	/* It is as high. */
	HIGHEST_TIER,
	CORNERS,
};

static void raise(const struct sws_mglru_choice_rows *rows, uint64_t row, enum corner corner,
		  struct sws_mglru_state *state)
{
	for (int at = 0; at < EACH; at++) {
		const int type = at / TIERS;
		const int tier = at % TIERS;
		const bool refaults[CORNERS] = {
			[FAVOURS_FILE] = type == SWS_MGLRU_ANON,
			[FAVOURS_ANON] = type == SWS_MGLRU_FILE,
			[LOWEST_TIER] = tier > 0,
			[HIGHEST_TIER] = tier == 0,
		};

		if (refaults[corner])
			state->sides[type].refaulted[tier] += rows->more[REFAULTED_MORE + at][row];
		else
			state->sides[type].evicted[tier] += rows->more[EVICTED_MORE + at][row];
	}
}

static bool two_left(const struct sws_mglru_state *state, int type)
{
	return state->max_seq - state->min_seq[type] + 1 == SWS_MGLRU_GENS_MIN;
}

/*
 * The list that a turn of isolate_folios scans, from this type on: a type with two generations
 * yields nothing, at once. *turns is how many turns are left, and becomes fewer by those passed.
 */
static int next_list(const struct sws_mglru_state *state, int type, int *turns)
{
	while (*turns > 0) {
		(*turns)--;
		if (!two_left(state, type))
			return type;
		type = !type;
	}
	return NONE;
}

/*
 * Whether the lists of a row are those that follow from a first type:
 *
 *      file    scanned 64, isolated 0     6.12: anon is next; 7.3: file again
 *      anon    two generations            no scan: the other type, if a turn is left
 */
static bool follows(const struct sws_mglru_rules *rules, const struct sws_mglru_choice_rows *rows,
		    uint64_t row, const struct sws_mglru_state *state, int type)
{
	int turns = state->swappiness == 0 || state->swappiness == SWS_MGLRU_ANON_ONLY ? 1 : 2;
	int list = next_list(state, type, &turns);

	for (int scan = 0; scan < 2; scan++) {
		const int seen = rows->scan[scan][row];
		const bool last = scan == 1 || rows->scan[1][row] == NONE;

		if (seen != list)
			return false;
		if (seen == NONE || rows->taken[scan][row] != 0)
			return last || seen == NONE;
		/* 6.12 ends, too, if it had no more to scan: the call's result says so. */
		if (!rules->retries_type && last && rows->result[row] != 0)
			return true;
		if (!rules->retries_type || rows->pages[scan][row] == 0)
			list = !list;
		list = next_list(state, list, &turns);
	}
	return list == NONE;
}

/* The first tier of a type of which pages were spared by its index, TIERS if none were. */
static int first_spared(const struct sws_mglru_rules *rules,
			const struct sws_mglru_choice_rows *rows, uint64_t row, int type)
{
	const int tiers = rules->spares_last ? TIERS - 1 : TIERS;
	int tier = 0;

	while (tier < tiers && rows->more[PROTECTED_MORE + type * TIERS + tier][row] == 0)
		tier++;
	return tier < tiers ? tier : TIERS;
}

/* The tiers of the lists that were scanned. Those above the index may be spared, no others. */
static uint8_t compare_tiers(const struct sws_mglru_rules *rules,
			     const struct sws_mglru_choice_rows *rows, uint64_t row,
			     const struct sws_mglru_choice *choices, int n)
{
	uint8_t equal = SWS_MGLRU_NOT_COMPARED;

	for (int type = 0; type < 2; type++) {
		const int spared = first_spared(rules, rows, row, type);
		int low = TIERS;
		int high = 0;

		if (spared == TIERS)
			continue;
		for (int i = 0; i < n; i++) {
			low = choices[i].tier[type] < low ? choices[i].tier[type] : low;
			high = choices[i].tier[type] > high ? choices[i].tier[type] : high;
		}
		if (spared <= low)
			return SWS_MGLRU_DIFFERS;
		if (spared <= high)
			equal = SWS_MGLRU_AMBIGUOUS;
		else if (equal == SWS_MGLRU_NOT_COMPARED)
			equal = SWS_MGLRU_EQUAL;
	}
	return equal;
}

/* Returns whether each choice is a type, which a user's function may not return. */
static bool choose_row(const struct sws_mglru_rules *rules,
		       const struct sws_mglru_choice_rows *rows, uint64_t row,
		       struct sws_mglru_chosen *chosen)
{
	/* By the counters before, then those of each corner. */
	struct sws_mglru_choice choices[1 + CORNERS];
	struct sws_mglru_state state;
	int turns = 2;
	int n = 1;
	bool unsure = false;
	bool typed = false;

	read_state(rows, row, &state);
	sws_mglru_choose(rules, &state, &choices[0]);
	typed = choices[0].type != SWS_MGLRU_NEITHER;
	for (int corner = 0; corner < CORNERS && moved(rows, row); corner++, n++) {
		struct sws_mglru_state extreme = state;

		raise(rows, row, (enum corner)corner, &extreme);
		sws_mglru_choose(rules, &extreme, &choices[n]);
		typed &= choices[n].type != SWS_MGLRU_NEITHER;
		unsure |= choices[n].type != choices[0].type;
	}
	if (!typed)
		return false;
	*chosen = (struct sws_mglru_chosen){
		.type = (uint8_t)choices[0].type,
		.term = (uint8_t)choices[0].term,
		.tier_equal = compare_tiers(rules, rows, row, choices, n),
	};
	if (!follows(rules, rows, row, &state, (int)choices[0].type))
		chosen->type_equal = unsure ? SWS_MGLRU_AMBIGUOUS : SWS_MGLRU_DIFFERS;
	else if (!follows(rules, rows, row, &state, !choices[0].type))
		chosen->type_equal = unsure ? SWS_MGLRU_AMBIGUOUS : SWS_MGLRU_EQUAL;
	if (state.swappiness == 0 || state.swappiness == SWS_MGLRU_ANON_ONLY)
		turns = 1;
	chosen->first = (uint8_t)next_list(&state, (int)choices[0].type, &turns);
	chosen->tier = chosen->first == NONE ? 0 : choices[0].tier[chosen->first];
	return true;
}

static bool possible(const struct sws_mglru_choice_rows *rows, uint64_t row)
{
	bool found = rows->swappiness[row] >= 0 && rows->swappiness[row] <= SWS_MGLRU_ANON_ONLY;

	for (int type = 0; type < 2; type++) {
		const uint64_t left = rows->max_seq[row] - rows->min_seq[type][row] + 1;

		found &= left >= SWS_MGLRU_GENS_MIN && left <= SWS_MGLRU_GENS_MAX;
	}
	return found;
}

int sws_mglru_choices(const struct sws_mglru_rules *rules, uint64_t n,
		      const struct sws_mglru_choice_rows *rows, struct sws_mglru_chosen *chosen,
		      uint64_t *row)
{
	for (*row = 0; *row < n; (*row)++) {
		if (!possible(rows, *row))
			return SWS_ERROR_BAD_ARGUMENT;
		if (!choose_row(rules, rows, *row, &chosen[*row]))
			return SWS_ERROR_BAD_CONFIG;
	}
	return SWS_OK;
}
