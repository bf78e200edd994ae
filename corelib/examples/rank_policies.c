/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank_policies.c - compares two policies with a base per CPU for the scan of a free slot: V1 of
 * patch D, which always continues from the base, and the merged version, which draws a new base
 * when it leaves its trunk.
 *
 * Sixteen tasks fill a small device, where all bases meet at the last slot, and free a random 40 %
 * of it, so that slots have to be searched. Then they swap random pages in and out for a thousand
 * rounds. Two figures are compared:
 *
 *      tested again   slots that a scan tested although another CPU had just done
 *                     so: duplicate work under the device's lock
 *      close          acquisitions of a trunk's lock that another CPU had a moment
 *                     before: a cache line that is transferred
 *
 * These are not times; a round is one step of each task. Fewer is better.
 */
#include "swapsim/slot_workbench.h"

#include <inttypes.h>
#include <stdio.h>

enum { CPUS = 16, SLOTS = 1 << 18, PAGES = SLOTS / 10 * 6, ROUNDS = 1000 };

/* Runs a phase to its end; each call has a limited effort, so a caller could stop in between. */
static int run(struct sws_workbench *bench)
{
	bool over = false;
	int error = SWS_OK;

	while (!error && !over)
		error = sws_workbench_run(bench, 1 << 20, &over);
	return error;
}

/* Brings the device to its state after long use. */
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
	/* 256 slots per trunk: as many trunks as a device of 64 GB has. */
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

/* Returns the close acquisitions of the mappings' locks at all sites. */
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
