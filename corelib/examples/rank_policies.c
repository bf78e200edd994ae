/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank_policies.c - each CPU has a base of its own for its search of a free slot:
 * is it enough to walk on from there, as V1 of patch D did, or should the base be
 * drawn anew when it leaves its trunk, as the version that was merged does?
 *
 * Sixteen tasks fill a small device, where all bases meet at the last slot, and let
 * go of 40 % of it here and there, so slots have to be searched. Then they swap
 * pages in and out at random for a thousand rounds. Two figures tell:
 *
 *      tested again   slots that a scan looked at although another CPU had just
 *                     done so: work done twice, under the device's lock
 *      close          times that a trunk's lock came from another CPU, and from one
 *                     that had it a moment ago: a cache line that travels
 *
 * Nothing here is time; a round is a step of each task. Fewer is better.
 */
#include "swapsim/slot_workbench.h"

#include <inttypes.h>
#include <stdio.h>

enum { CPUS = 16, SLOTS = 1 << 18, PAGES = SLOTS / 10 * 6, ROUNDS = 1000 };

/* Leads a phase to its end; a call takes a bounded effort, so a caller could stop in between. */
static int run(struct sws_workbench *bench)
{
	bool over = false;
	int error = SWS_OK;

	while (!error && !over)
		error = sws_workbench_run(bench, 1 << 20, &over);
	return error;
}

/* The device as long use leaves it. */
static int wear(struct sws_workbench *bench)
{
	int error = sws_workbench_fill(bench, SLOTS, false);

	if (!error)
		error = run(bench);
	if (!error)
		error = sws_workbench_thin(bench, PAGES);
	return error ? error : run(bench);
}

static int measure(enum sws_base_policy policy, struct sws_workbench_measures *found)
{
	struct sws_workbench_config config;
	struct sws_workbench *bench = NULL;
	int error = SWS_OK;

	sws_workbench_config_init(&config);
	config.cache.device.kernel = SWS_KERNEL_5_8;
	config.cache.device.policy = policy;
	config.cache.device.slots = SLOTS;
	/* 256 slots a trunk: as many trunks as a device of 64 GB has. */
	config.cache.device.trunk_shift = 8;
	config.cache.device.possible_cpus = CPUS;
	config.cache.device.online_cpus = CPUS;
	config.cache.device.address_spaces = CPUS;
	error = sws_workbench_new(&config, &bench);
	if (!error)
		error = wear(bench);
	if (!error)
		error = sws_workbench_churn(bench, ROUNDS);
	if (!error) {
		sws_workbench_begin_measures(bench);
		error = run(bench);
	}
	if (!error)
		sws_workbench_measures(bench, found);
	else
		fprintf(stderr, "%s: %s\n", sws_base_policy_name(policy), sws_strerror(error));
	sws_workbench_free(bench);
	return error;
}

/* How close the locks of the mappings are, over all sites that take them. */
static uint64_t close_locks(const struct sws_workbench_measures *found)
{
	uint64_t close = 0;

	for (int site = 0; site < SWS_WORKBENCH_SITES; site++)
		close += found->locks[site].close;
	return close;
}

int main(void)
{
	static const enum sws_base_policy policies[] = { SWS_BASE_PERCPU,
							 SWS_BASE_PERCPU_RERANDOMISE };
	struct sws_workbench_measures found[2];

	printf("%-20s %10s %14s %10s\n", "policy", "pages out", "tested again", "close");
	for (int i = 0; i < 2; i++) {
		if (measure(policies[i], &found[i]))
			return 1;
		printf("%-20s %10" PRIu64 " %14" PRIu64 " %10" PRIu64 "\n",
		       sws_base_policy_name(policies[i]), found[i].pages_out, found[i].tested_again,
		       close_locks(&found[i]));
	}
	printf("the better one: %s\n",
	       sws_base_policy_name(policies[close_locks(&found[1]) < close_locks(&found[0])]));
	return 0;
}
