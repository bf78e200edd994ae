/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/cluster_rules.h"

#include "check.h"

#include <string.h>

static struct sws_cluster_rules rules_of(enum sws_cluster_rule_set set)
{
	struct sws_cluster_rules rules;

	CHECK(sws_cluster_rules_init(set, &rules) == SWS_OK);
	return rules;
}

static void each_rule_set_has_a_name(void)
{
	CHECK(!strcmp(sws_cluster_rule_set_name(SWS_CLUSTER_RULES_6_11), "6.11"));
	CHECK(!strcmp(sws_cluster_rule_set_name(SWS_CLUSTER_RULES_6_12), "6.12"));
	CHECK(!strcmp(sws_cluster_rule_set_name(SWS_CLUSTER_RULES_6_12_NONFULL_FIRST),
		      "6.12-nonfull-first"));
	CHECK(!strcmp(sws_cluster_rule_set_name(SWS_CLUSTER_RULES_7_3), "7.3"));
	CHECK(!sws_cluster_rule_set_name((enum sws_cluster_rule_set)4));
}

static void an_unknown_rule_set_is_refused(void)
{
	struct sws_cluster_rules rules;

	CHECK(sws_cluster_rules_init((enum sws_cluster_rule_set)4, &rules) ==
	      SWS_ERROR_BAD_ARGUMENT);
}

static void the_sets_around_6_12_differ_in_the_rules_of_their_names(void)
{
	struct sws_cluster_rules rules = rules_of(SWS_CLUSTER_RULES_6_11);
	const struct sws_cluster_rules middle = rules_of(SWS_CLUSTER_RULES_6_12);

	CHECK(rules.large_from_free_only && !middle.large_from_free_only);
	rules.large_from_free_only = false;
	CHECK(!memcmp(&rules, &middle, sizeof(rules)));
	rules = rules_of(SWS_CLUSTER_RULES_6_12_NONFULL_FIRST);
	CHECK(rules.nonfull_first && rules.full_before_frag);
	rules.nonfull_first = false;
	rules.full_before_frag = false;
	CHECK(!memcmp(&rules, &middle, sizeof(rules)));
}

static void only_7_3_takes_clusters_off_their_lists(void)
{
	for (int set = SWS_CLUSTER_RULES_6_11; set <= SWS_CLUSTER_RULES_7_3; set++) {
		const struct sws_cluster_rules rules = rules_of((enum sws_cluster_rule_set)set);

		CHECK(rules.isolates == (set == SWS_CLUSTER_RULES_7_3));
		CHECK(rules.credit_first != rules.isolates);
	}
}

static void no_kernel_has_the_alternatives(void)
{
	for (int set = SWS_CLUSTER_RULES_6_11; set <= SWS_CLUSTER_RULES_7_3; set++) {
		const struct sws_cluster_rules rules = rules_of((enum sws_cluster_rule_set)set);

		CHECK(!rules.own_by_task);
		CHECK(rules.frag_all == (set != SWS_CLUSTER_RULES_7_3));
	}
}

int main(void)
{
	RUN(each_rule_set_has_a_name);
	RUN(an_unknown_rule_set_is_refused);
	RUN(the_sets_around_6_12_differ_in_the_rules_of_their_names);
	RUN(only_7_3_takes_clusters_off_their_lists);
	RUN(no_kernel_has_the_alternatives);
	return 0;
}
