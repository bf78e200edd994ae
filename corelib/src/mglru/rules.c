/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mglru/rules.c - the table of rule sets, and names. */
#include "swapsim/mglru.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *name;
	struct sws_mglru_rules rules;
} sets[] = {
	[SWS_MGLRU_6_12] = { "6.12",
			     { .older_first = true,
			       .io_first = true,
			       .other_first_tier = true,
			       .spares_last = true,
			       .controller = true,
			       .ages_by_spread = true,
			       .tier_gain = 1,
			       .tier_gain_of_others = 2,
			       .few_refaults = SWS_MGLRU_BATCH } },
	[SWS_MGLRU_7_3] = { "7.3",
			    { .all_tiers = true,
			      .protects_first = true,
			      .retries_type = true,
			      .controller = true,
			      .sizes_once = true,
			      .aborts_cgroups = true,
			      .tier_gain = 2,
			      .tier_gain_of_others = 3,
			      .few_refaults = SWS_MGLRU_BATCH } },
};

static bool known(enum sws_mglru_set set)
{
	return (unsigned int)set < COUNT(sets);
}

const char *sws_mglru_set_name(enum sws_mglru_set set)
{
	return known(set) ? sets[set].name : NULL;
}

const char *sws_mglru_type_name(enum sws_mglru_type type)
{
	static const char *const names[] = {
		[SWS_MGLRU_ANON] = "anon",
		[SWS_MGLRU_FILE] = "file",
		[SWS_MGLRU_NEITHER] = "neither",
	};

	return (unsigned int)type < COUNT(names) ? names[type] : NULL;
}

const char *sws_mglru_term_name(enum sws_mglru_term term)
{
	static const char *const names[] = {
		[SWS_MGLRU_BY_SWAPPINESS] = "swappiness",
		[SWS_MGLRU_BY_AGE] = "older generation",
		[SWS_MGLRU_BY_IO] = "no IO",
		[SWS_MGLRU_BY_FEW] = "few refaults",
		[SWS_MGLRU_BY_RATES] = "refault rates",
		[SWS_MGLRU_BY_USER] = "own rule",
	};

	return (unsigned int)term < COUNT(names) ? names[term] : NULL;
}

int sws_mglru_rules_init(enum sws_mglru_set set, struct sws_mglru_rules *rules)
{
	if (!known(set))
		return SWS_ERROR_BAD_ARGUMENT;
	*rules = sets[set].rules;
	return SWS_OK;
}
