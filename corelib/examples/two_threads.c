/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * two_threads.c - what threads may share: nothing that changes, and so they may do
 * all at once. Each thread makes objects of its own, and finds what one alone finds.
 *
 *      thread 0   workbench, machine ----.
 *                                         >  the same, bit for bit
 *      thread 1   workbench, machine ----'
 *
 * ThreadSanitizer watches this program, too (make analyse).
 */
#include "swapsim/machine.h"
#include "swapsim/slot_workbench.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CPUS = 8, SLOTS = 1 << 14, ROUNDS = 500, EVENTS = 100000 };

struct found {
	struct sws_workbench_measures slots;
	uint64_t now_ns;
	struct sws_des_site sites[SWS_SITES];
	int error;
};

static int measure_slots(struct found *found)
{
	struct sws_workbench_config config;
	struct sws_workbench *bench = NULL;
	bool over = false;
	int error = SWS_OK;

	sws_workbench_config_init(&config);
	config.cache.device.slots = SLOTS;
	config.cache.device.trunk_shift = 8;
	config.cache.device.possible_cpus = CPUS;
	config.cache.device.online_cpus = CPUS;
	config.cache.device.address_spaces = CPUS;
	error = sws_workbench_new(&config, &bench);
	if (!error)
		error = sws_workbench_fill(bench, SLOTS / 2, false);
	while (!error && !over)
		error = sws_workbench_run(bench, 1 << 16, &over);
	if (!error)
		error = sws_workbench_churn(bench, ROUNDS);
	for (over = false; !error && !over;)
		error = sws_workbench_run(bench, 1 << 16, &over);
	if (!error)
		sws_workbench_measures(bench, &found->slots);
	sws_workbench_free(bench);
	return error;
}

static int run_machine(struct found *found)
{
	struct sws_machine_config config;
	struct sws_machine *machine = NULL;
	uint64_t *const costs = (uint64_t *)&config.costs;
	uint64_t events = 0;
	bool more = true;
	int error = SWS_OK;

	sws_machine_config_init(&config);
	/* Any will do here. */
	for (size_t cost = 0; cost < sizeof(config.costs) / sizeof(*costs); cost++)
		costs[cost] = 10 * (cost + 1);
	config.device.slots = SLOTS;
	config.writers = CPUS;
	config.walkers = 0;
	config.frames = 8192;
	error = sws_machine_new(&config, &machine);
	if (!error)
		error = sws_machine_run(machine, UINT64_MAX, EVENTS, &more, &events);
	if (!error) {
		found->now_ns = sws_machine_now(machine);
		for (uint32_t site = 0; site < SWS_SITES; site++)
			found->sites[site] = sws_machine_site_of(machine, site);
	}
	sws_machine_free(machine);
	return error;
}

static void *work(void *result)
{
	struct found *found = result;

	found->error = measure_slots(found);
	if (!found->error)
		found->error = run_machine(found);
	return NULL;
}

int main(void)
{
	static struct found alone, beside[2];
	pthread_t threads[2];

	work(&alone);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &beside[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (alone.error) {
		fprintf(stderr, "%s\n", sws_strerror(alone.error));
		return 1;
	}
	for (int i = 0; i < 2; i++)
		printf("thread %d: %s\n", i,
		       memcmp(&beside[i], &alone, sizeof(alone)) ? "something else"
								 : "as one alone");
	return 0;
}
