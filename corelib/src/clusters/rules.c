/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/rules.c - the table of rule sets, and the names of choices. */
#include "swapsim/cluster_rules.h"

/* The switches that 6.11 and 6.12 share. */
#define RULES_6_12                                                                                 \
	.columns = true, .frag_all = true, .turns_each_call = true, .credit_first = true,          \
	.ends_at_device = true, .discards_in_device = true, .slot_cache = true

static const struct {
	const char *name;
	struct sws_cluster_rules rules;
} sets[] = {
	[SWS_CLUSTER_RULES_6_11] = { "6.11", { RULES_6_12, .large_from_free_only = true } },
	[SWS_CLUSTER_RULES_6_12] = { "6.12", { RULES_6_12 } },
	[SWS_CLUSTER_RULES_6_12_NONFULL_FIRST] = { "6.12-nonfull-first",
						   { RULES_6_12, .nonfull_first = true,
						     .full_before_frag = true } },
	[SWS_CLUSTER_RULES_7_3] = { "7.3",
				    { .nonfull_first = true,
				      .isolates = true,
				      .trylock = true,
				      .full_before_frag = true,
				      .shared_next = true,
				      .checks_own = true,
				      .global_next = true } },
};

static bool known(enum sws_cluster_rule_set set)
{
	return (unsigned int)set < sizeof(sets) / sizeof(sets[0]);
}

const char *sws_cluster_rule_set_name(enum sws_cluster_rule_set set)
{
	return known(set) ? sets[set].name : NULL;
}

int sws_cluster_rules_init(enum sws_cluster_rule_set set, struct sws_cluster_rules *rules)
{
	if (!known(set))
		return SWS_ERROR_BAD_ARGUMENT;
	*rules = sets[set].rules;
	return SWS_OK;
}

const char *sws_cluster_choice_name(uint32_t choice)
{
	static const char *const names[SWS_CLUSTER_CHOICES] = {
		[SWS_CLUSTER_CHOOSE_FREE] = "FREE",     [SWS_CLUSTER_CHOOSE_NONFULL] = "NONFULL",
		[SWS_CLUSTER_CHOOSE_FRAG] = "FRAG",     [SWS_CLUSTER_CHOOSE_FULL] = "FULL",
		[SWS_CLUSTER_CHOOSE_LARGER] = "LARGER", [SWS_CLUSTER_CHOOSE_END] = "END",
	};

	return choice < SWS_CLUSTER_CHOICES ? names[choice] : NULL;
}
