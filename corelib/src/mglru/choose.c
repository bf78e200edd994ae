/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mglru/choose.c - one choice of a type with its tier indices, and one aging. */
#include "swapsim/mglru.h"

enum { ANON = SWS_MGLRU_ANON, FILE_PAGES = SWS_MGLRU_FILE };

/* A position of the controller: struct ctrl_pos. */
struct position {
	uint64_t refaulted;
	uint64_t total;
	uint64_t gain;
};

/* read_ctrl_pos: tiers first .. last of one type. */
static struct position read_tiers(const struct sws_mglru_rules *rules,
				  const struct sws_mglru_side *side, int first, int last,
				  uint64_t gain)
{
	struct position found = { .gain = gain };

	for (int tier = first; tier <= last; tier++) {
		found.refaulted += side->refaulted[tier];
		found.total += side->evicted[tier];
		if (tier > 0 || rules->protects_first)
			found.total += side->protected_pages[tier];
	}
	return found;
}

/* positive_ctrl_err, whose products wrap as the kernel's unsigned long does. */
static bool takes(const struct sws_mglru_rules *rules, struct position set, struct position is)
{
	const uint64_t left = is.refaulted * (set.total + SWS_MGLRU_BATCH) * set.gain;
	const uint64_t right = (set.refaulted + 1) * is.total * is.gain;

	return is.refaulted < rules->few_refaults || left <= right;
}

/* get_tier_idx, or the second half of 6.12's get_type_to_scan. */
static uint8_t tier_index(const struct sws_mglru_rules *rules, const struct sws_mglru_side *side,
			  struct position set, uint64_t gain)
{
	int tier = 1;

	while (tier < SWS_MGLRU_TIERS &&
	       takes(rules, set, read_tiers(rules, side, tier, tier, gain)))
		tier++;
	return (uint8_t)(tier - 1);
}

/* The type by a user's function. */
static enum sws_mglru_type ask(const struct sws_mglru_rules *rules,
			       const struct sws_mglru_state *state)
{
	/* Protected pages of the first tier count, then they do not. */
	const struct sws_mglru_rules all = { .protects_first = true };
	const struct sws_mglru_rules first = { .protects_first = false };
	struct position sums[2];
	struct position firsts[2];
	int64_t left[2];
	int64_t answer = 0;

	for (int type = 0; type < 2; type++) {
		const struct sws_mglru_side *side = &state->sides[type];

		sums[type] = read_tiers(&all, side, 0, SWS_MGLRU_TIERS - 1, 0);
		firsts[type] = read_tiers(&first, side, 0, 0, 0);
		left[type] = (int64_t)(state->max_seq - state->min_seq[type]) + 1;
	}
	answer = rules->choose(state->swappiness, state->io, left[ANON], left[FILE_PAGES],
			       (int64_t)sums[ANON].refaulted, (int64_t)sums[ANON].total,
			       (int64_t)sums[FILE_PAGES].refaulted, (int64_t)sums[FILE_PAGES].total,
			       (int64_t)firsts[ANON].refaulted, (int64_t)firsts[ANON].total,
			       (int64_t)firsts[FILE_PAGES].refaulted,
			       (int64_t)firsts[FILE_PAGES].total);
	if (answer != ANON && answer != FILE_PAGES)
		return SWS_MGLRU_NEITHER;
	return (enum sws_mglru_type)answer;
}

static void choose_type(const struct sws_mglru_rules *rules, const struct sws_mglru_state *state,
			const struct position *sides, struct sws_mglru_choice *choice)
{
	const int32_t swappiness = state->swappiness;
	bool file = true;

	if (rules->choose) {
		choice->term = SWS_MGLRU_BY_USER;
		choice->type = ask(rules, state);
		return;
	}
	choice->term = SWS_MGLRU_BY_SWAPPINESS;
	if (swappiness == 0) {
		/* File pages are all that may be taken. */
	} else if (rules->older_first && state->min_seq[ANON] < state->min_seq[FILE_PAGES]) {
		choice->term = SWS_MGLRU_BY_AGE;
		file = false;
	} else if (swappiness == 1 || swappiness >= SWS_MGLRU_SWAPPINESS_MAX) {
		file = swappiness == 1;
	} else if (rules->io_first && !state->io) {
		choice->term = SWS_MGLRU_BY_IO;
	} else if (!rules->controller) {
		file = sides[ANON].gain <= sides[FILE_PAGES].gain;
	} else {
		choice->term = sides[FILE_PAGES].refaulted < rules->few_refaults
				       ? SWS_MGLRU_BY_FEW
				       : SWS_MGLRU_BY_RATES;
		file = takes(rules, sides[ANON], sides[FILE_PAGES]);
	}
	choice->type = file ? SWS_MGLRU_FILE : SWS_MGLRU_ANON;
}

void sws_mglru_choose(const struct sws_mglru_rules *rules, const struct sws_mglru_state *state,
		      struct sws_mglru_choice *choice)
{
	const int last = rules->all_tiers ? SWS_MGLRU_TIERS - 1 : 0;
	const uint64_t swappiness =
		(uint64_t)(state->swappiness < SWS_MGLRU_SWAPPINESS_MAX ? state->swappiness
									: SWS_MGLRU_SWAPPINESS_MAX);
	const uint64_t gains[2] = {
		rules->anon_gain != 0 ? rules->anon_gain : swappiness,
		rules->file_gain != 0 ? rules->file_gain : SWS_MGLRU_SWAPPINESS_MAX - swappiness,
	};
	struct position sides[2];

	for (int type = 0; type < 2; type++)
		sides[type] = read_tiers(rules, &state->sides[type], 0, last, gains[type]);
	choose_type(rules, state, sides, choice);
	for (int type = 0; type < 2; type++) {
		const bool by_rates =
			choice->term == SWS_MGLRU_BY_FEW || choice->term == SWS_MGLRU_BY_RATES;
		const struct sws_mglru_side *side = &state->sides[type];

		if (rules->other_first_tier && by_rates && type == (int)choice->type)
			choice->tier[type] = tier_index(
				rules, side,
				read_tiers(rules, &state->sides[!type], 0, 0, gains[!type]),
				gains[type]);
		else
			choice->tier[type] = tier_index(
				rules, side, read_tiers(rules, side, 0, 0, rules->tier_gain),
				rules->tier_gain_of_others);
	}
}

/* min_type and max_type: the types that a swappiness allows. */
static int first_type(int32_t swappiness)
{
	return swappiness == 0 ? FILE_PAGES : ANON;
}

static int last_type(int32_t swappiness)
{
	return swappiness < SWS_MGLRU_ANON_ONLY ? FILE_PAGES : ANON;
}

/* The generations of a type; never more than there may be, whatever the numbers are. */
static uint64_t generations(const struct sws_mglru_sizes *sizes, int type)
{
	const uint64_t number = sizes->max_seq - sizes->min_seq[type] + 1;

	return number < SWS_MGLRU_GENS_MAX ? number : SWS_MGLRU_GENS_MAX;
}

/*
 * 6.12, with three generations or fewer:
 *
 *      max_seq        5    young    ages if young * 2 > total
 *      max_seq - 2    3    old      ages if old * 4 < total
 */
static bool badly_spread(const struct sws_mglru_sizes *sizes, int32_t swappiness)
{
	uint64_t young = 0;
	uint64_t old = 0;
	uint64_t total = 0;

	for (int type = first_type(swappiness); type <= FILE_PAGES; type++)
		for (uint64_t nth = 0; nth < generations(sizes, type); nth++) {
			const uint64_t seq = sizes->min_seq[type] + nth;
			const uint64_t pages = sizes->pages[type][seq % SWS_MGLRU_GENS_MAX];

			total += pages;
			if (seq == sizes->max_seq)
				young += pages;
			else if (seq + SWS_MGLRU_GENS_MIN == sizes->max_seq)
				old += pages;
		}
	return young * SWS_MGLRU_GENS_MIN > total || old * (SWS_MGLRU_GENS_MIN + 2) < total;
}

/* Whether the oldest generation that a swappiness allows cannot be scanned any more. */
static bool out_of_cold(const struct sws_mglru_rules *rules, const struct sws_mglru_sizes *sizes,
			int32_t swappiness, uint64_t *left)
{
	uint64_t oldest = sizes->min_seq[first_type(swappiness)];
	const uint64_t other = sizes->min_seq[last_type(swappiness)];

	/* 6.12 keeps that of anonymous pages the older one. */
	if (!rules->ages_by_spread && other < oldest)
		oldest = other;
	*left = sizes->max_seq - oldest;
	return *left < SWS_MGLRU_GENS_MIN;
}

bool sws_mglru_ages(const struct sws_mglru_rules *rules, const struct sws_mglru_sizes *sizes,
		    int32_t swappiness, uint32_t priority)
{
	const bool gentle = priority == SWS_MGLRU_PRIORITY_MAX;
	uint64_t left = 0;

	if (out_of_cold(rules, sizes, swappiness, &left))
		return !rules->ages_by_spread || !gentle;
	if (gentle || left > SWS_MGLRU_GENS_MIN)
		return false;
	return !rules->ages_by_spread || badly_spread(sizes, swappiness);
}

uint64_t sws_mglru_scan_size(const struct sws_mglru_rules *rules,
			     const struct sws_mglru_sizes *sizes, int32_t swappiness,
			     uint32_t priority, bool online)
{
	uint64_t left = 0;
	uint64_t total = 0;

	if (!rules->sizes_once && out_of_cold(rules, sizes, swappiness, &left))
		return 0;
	for (int type = first_type(swappiness); type <= last_type(swappiness); type++)
		for (uint64_t nth = 0; nth < generations(sizes, type); nth++)
			total += sizes->pages[type]
					     [(sizes->min_seq[type] + nth) % SWS_MGLRU_GENS_MAX];
	if (!online)
		return total;
	return priority <= SWS_MGLRU_PRIORITY_MAX ? total >> priority : 0;
}
